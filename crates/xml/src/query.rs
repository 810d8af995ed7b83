//! XPath 1.0: evaluation over a document.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use sxd_document::{Package, dom};
use sxd_xpath::nodeset::Node;
use sxd_xpath::{Context, Factory, Value, XPath, budget};
use uppsala::{Document, NodeId, NodeKind, QName};

use super::document::XmlDocument;
use super::expression::{prefixes_of, too_complex};
use busyhour_limits::{Limit, exceeded};
use busyhour_slices::tick;

/// What an expression gives.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Nodes in the document's order.
    Nodes(Vec<NodeId>),
    /// A truth value.
    Bool(bool),
    /// A number, as text.
    Number(String),
    /// A text.
    Text(String),
}

/// Steps that one evaluation may take: nodes that are looked at, or 64 bytes of text.
const STEPS_MAX: u64 = 10_000_000;

/// Expressions kept per thread.
const KEPT_MAX: usize = 400;

type Kept = Rc<Result<XPath, String>>;

/// Steps for each node that is copied for an evaluation.
const STEPS_PER_COPY: usize = 16;

thread_local! {
    static KEPT: RefCell<HashMap<String, Kept>> = RefCell::default();
}

fn kept_expression(text: &str) -> Kept {
    KEPT.with_borrow_mut(|kept| {
        if let Some(expression) = kept.get(text) {
            return Rc::clone(expression);
        }
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        let built = too_complex(text)
            .map_or_else(|| Factory::new().build(text).map_err(|error| error.to_string()), Err);
        let built = match built {
            Ok(Some(expression)) => Ok(expression),
            Ok(None) => Err("the expression is empty".to_owned()),
            Err(error) => Err(error),
        };
        let built = Rc::new(built);
        kept.insert(text.to_owned(), Rc::clone(&built));
        built
    })
}

/// Evaluates an expression over a document; `prefixes` are known in it.
///
/// # Errors
/// When the text is no expression, or a prefix, function or variable is not known.
pub fn evaluate(
    document: &XmlDocument<'_>,
    expression: &str,
    prefixes: &[(String, String)],
) -> Result<Answer, String> {
    evaluate_within(document, expression, prefixes, STEPS_MAX)
}

/// The same with so many steps.
pub(super) fn evaluate_within(
    document: &XmlDocument<'_>,
    expression: &str,
    prefixes: &[(String, String)],
    steps: u64,
) -> Result<Answer, String> {
    let built = kept_expression(expression);
    let built = built.as_ref().as_ref().map_err(Clone::clone)?;
    let is_known = |wanted: &String| wanted == "xml" || prefixes.iter().any(|(prefix, _)| prefix == wanted);
    if let Some(unknown) = prefixes_of(expression).iter().find(|prefix| !is_known(prefix)) {
        return Err(format!("Prefix must resolve to a namespace: {unknown}"));
    }
    let package = Package::new();
    let copy = Copy::of(&document.tree, &package);
    let mut context = Context::new();
    context.set_namespace("xml", "http://www.w3.org/XML/1998/namespace");
    for (prefix, uri) in prefixes.iter().filter(|(prefix, _)| !prefix.is_empty()) {
        context.set_namespace(prefix, uri);
    }
    budget::set(steps);
    budget::on_steps(tick);
    let value = built.evaluate(&context, package.as_document().root());
    if budget::is_used_up() {
        exceeded(Limit::XPathSteps);
        return Err(format!("the XPath expression needs more than {steps} steps on this document"));
    }
    let value = value.map_err(|error| error.to_string())?;
    Ok(match value {
        Value::Nodeset(nodes) => {
            let mut found: Vec<(usize, NodeId)> =
                nodes.iter().filter_map(|node| copy.originals.get(&node).copied()).collect();
            found.sort_unstable_by_key(|(place, _)| *place);
            Answer::Nodes(found.into_iter().map(|(_, node)| node).collect())
        }
        Value::Boolean(flag) => Answer::Bool(flag),
        Value::Number(number) => Answer::Number(number_text(number)),
        Value::String(text) => Answer::Text(text),
    })
}

/// A number as XPath writes it.
fn number_text(number: f64) -> String {
    if number.is_nan() {
        "NaN".to_owned()
    } else if number.is_infinite() {
        if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if number == 0.0 {
        "0".to_owned()
    } else {
        number.to_string()
    }
}

/// What is wrong with an expression, if something is: it is tried on an empty document, so that prefixes stay open.
pub fn problem(expression: &str) -> Option<String> {
    let unbound = |prefix: String| (prefix, "urn:unknown".to_owned());
    let prefixes: Vec<_> = prefixes_of(expression).into_iter().map(unbound).collect();
    let empty = XmlDocument { tree: Document::new(), declared: Vec::new() };
    evaluate(&empty, expression, &prefixes).err()
}

/// The document as the library that evaluates wants it, and which node stands for which, with its place in the
/// document's order.
struct Copy<'d> {
    originals: HashMap<Node<'d>, (usize, NodeId)>,
}

fn name<'n>(name: &'n QName<'_>) -> sxd_document::QName<'n> {
    sxd_document::QName::with_namespace_uri(name.namespace_uri.as_deref(), &name.local_name)
}

impl<'d> Copy<'d> {
    fn note(&mut self, node: Node<'d>, original: NodeId) {
        self.originals.insert(node, (self.originals.len(), original));
    }

    fn of(tree: &Document<'_>, package: &'d Package) -> Self {
        let document = package.as_document();
        let mut copy = Self { originals: HashMap::new() };
        copy.note(Node::Root(document.root()), tree.root());
        // Nodes to come, with the element they belong into; the last one first.
        let mut open: Vec<(NodeId, Option<dom::Element<'d>>)> =
            tree.children(tree.root()).into_iter().rev().map(|child| (child, None)).collect();
        while let Some((id, parent)) = open.pop() {
            tick(STEPS_PER_COPY);
            let node = match tree.node_kind(id) {
                Some(NodeKind::Element(element)) => {
                    let own = document.create_element(name(&element.name));
                    if let (Some(prefix), Some(uri)) = (&element.name.prefix, &element.name.namespace_uri) {
                        own.set_preferred_prefix(Some(prefix));
                        own.register_prefix(prefix, uri);
                    }
                    copy.note(Node::Element(own), id);
                    for (attribute, &of) in element.attributes.iter().zip(tree.get_attribute_nodes(id)) {
                        let made = own.set_attribute_value(name(&attribute.name), &attribute.value);
                        if let (Some(prefix), Some(uri)) =
                            (&attribute.name.prefix, &attribute.name.namespace_uri)
                        {
                            made.set_preferred_prefix(Some(prefix));
                            own.register_prefix(prefix, uri);
                        }
                        copy.note(Node::Attribute(made), of);
                    }
                    match parent {
                        Some(parent) => parent.append_child(own),
                        None => document.root().append_child(own),
                    }
                    open.extend(tree.children(id).into_iter().rev().map(|child| (child, Some(own))));
                    continue;
                }
                Some(NodeKind::Text(text) | NodeKind::CData(text)) => {
                    let Some(parent) = parent else { continue };
                    let own = document.create_text(text);
                    parent.append_child(own);
                    Node::Text(own)
                }
                Some(NodeKind::Comment(text)) => {
                    let own = document.create_comment(text);
                    match parent {
                        Some(parent) => parent.append_child(own),
                        None => document.root().append_child(own),
                    }
                    Node::Comment(own)
                }
                Some(NodeKind::ProcessingInstruction(instruction)) => {
                    let own = document
                        .create_processing_instruction(&instruction.target, instruction.data.as_deref());
                    match parent {
                        Some(parent) => parent.append_child(own),
                        None => document.root().append_child(own),
                    }
                    Node::ProcessingInstruction(own)
                }
                _ => continue,
            };
            copy.note(node, id);
        }
        copy
    }
}
