//! XPath 1.0: evaluation over a document.

use crate::error::XmlError;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use busyhour_limits::{Limit, exceeded};
use busyhour_slices::tick;
use uppsala::{CompiledXPath, Document, NodeId, XPathValue, budget};

use super::document::XmlDocument;

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

/// How deep an expression may nest.
const DEPTH_MAX: u32 = 50;

/// Compiled expressions that one thread keeps.
const CACHED_MAX: usize = 400;

type Compiled = Rc<Result<CompiledXPath, XmlError>>;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Compiled>> = RefCell::default();
}

/// The compiled expression, from the cache if it is there.
fn compiled(text: &str) -> Compiled {
    COMPILED.with_borrow_mut(|cache| {
        if let Some(expression) = cache.get(text) {
            return Rc::clone(expression);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let expression = if text.trim().is_empty() {
            Err(XmlError::from("the expression is empty"))
        } else {
            CompiledXPath::compile(text, DEPTH_MAX).map_err(message)
        };
        let expression = Rc::new(expression);
        cache.insert(text.to_owned(), Rc::clone(&expression));
        expression
    })
}

/// The library's message without the prefix that names its kind.
fn message(error: uppsala::XmlError) -> XmlError {
    match error {
        uppsala::XmlError::XPath(error) => error.message.into(),
        error => error.to_string().into(),
    }
}

/// Evaluates an expression over a document; `prefixes` are known in it.
///
/// # Errors
/// When the text is no expression, or a prefix, function or variable is not known.
pub fn evaluate(
    document: &XmlDocument<'_>,
    expression: &str,
    prefixes: &[(String, String)],
) -> Result<Answer, XmlError> {
    evaluate_within(document, expression, prefixes, STEPS_MAX)
}

/// [`evaluate`] with at most `steps` steps.
pub(super) fn evaluate_within(
    document: &XmlDocument<'_>,
    expression: &str,
    prefixes: &[(String, String)],
    steps: u64,
) -> Result<Answer, XmlError> {
    let compiled = compiled(expression);
    let compiled = compiled.as_ref().as_ref().map_err(Clone::clone)?;
    let mut namespaces: HashMap<String, String> =
        prefixes.iter().filter(|(prefix, _)| !prefix.is_empty()).cloned().collect();
    namespaces.insert("xml".to_owned(), "http://www.w3.org/XML/1998/namespace".to_owned());
    if let Some(unknown) = compiled.prefixes().iter().find(|&prefix| !namespaces.contains_key(prefix)) {
        return Err(format!("Prefix must resolve to a namespace: {unknown}").into());
    }
    let tree = &document.tree;
    let (value, is_used_up) =
        budget::with_steps(steps, tick, || compiled.evaluate(tree, tree.root(), &namespaces));
    if is_used_up {
        exceeded(Limit::XPathSteps);
        return Err(format!("the XPath expression needs more than {steps} steps on this document").into());
    }
    Ok(match value.map_err(message)? {
        XPathValue::NodeSet(nodes) => Answer::Nodes(nodes),
        XPathValue::Boolean(flag) => Answer::Bool(flag),
        XPathValue::String(text) => Answer::Text(text),
        number @ XPathValue::Number(_) => Answer::Number(number.to_string_value(tree)),
    })
}

/// The mistake of an expression, if it has one. The expression is evaluated on an empty document in which all its
/// prefixes are bound.
pub fn problem(expression: &str) -> Option<String> {
    let prefixes: Vec<_> = match compiled(expression).as_ref() {
        Ok(compiled) => {
            compiled.prefixes().iter().cloned().map(|name| (name, "urn:unknown".to_owned())).collect()
        }
        Err(mistake) => return Some(mistake.to_string()),
    };
    let empty = XmlDocument { tree: Document::new(), declared: Vec::new() };
    evaluate(&empty, expression, &prefixes).err().map(|error| error.to_string())
}
