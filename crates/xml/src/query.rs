//! Evaluates XPath 1.0 expressions over a document.

use crate::error::XmlError;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_slices::tick;
use uppsala::{CompiledXPath, Document, NodeId, XPathValue, budget};

use super::document::XmlDocument;

/// The result of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum XPathResult {
    /// Nodes in document order.
    Nodes(Vec<NodeId>),
    /// A boolean.
    Bool(bool),
    /// A number, as text.
    Number(String),
    /// A string.
    Text(String),
}

/// Maximum number of steps per evaluation. A visited node counts as one step, and so do 64 bytes of text.
const STEPS_MAX: u64 = 10_000_000;

/// Maximum nesting depth of an expression.
const DEPTH_MAX: u32 = 50;

/// Number of compiled expressions that each thread caches.
const CACHED_MAX: usize = 400;

type Compiled = Rc<Result<CompiledXPath, XmlError>>;

thread_local! {
    static COMPILED: RefCell<HashMap<String, Compiled>> = RefCell::default();
}

/// The compiled expression, from the cache if possible.
fn compiled(text: &str) -> Compiled {
    COMPILED.with_borrow_mut(|cache| {
        if let Some(expression) = cache.get(text) {
            return Rc::clone(expression);
        }
        if cache.len() >= CACHED_MAX {
            cache.clear();
        }
        let expression = if text.trim().is_empty() {
            Err(XmlError::EmptyExpression)
        } else {
            CompiledXPath::compile(text, DEPTH_MAX).map_err(XmlError::of_expression)
        };
        let expression = Rc::new(expression);
        cache.insert(text.to_owned(), Rc::clone(&expression));
        expression
    })
}

/// Evaluates an expression over a document. `prefixes` are pairs of a prefix and its namespace.
///
/// # Errors
/// The text is not a valid expression, or uses an unknown prefix, function or variable, or the evaluation exceeds the limit
/// of steps.
pub fn evaluate(
    document: &XmlDocument<'_>,
    expression: &str,
    prefixes: &[(String, String)],
) -> Result<XPathResult, XmlError> {
    evaluate_within(document, expression, prefixes, STEPS_MAX)
}

/// [`evaluate`] with at most `steps` steps.
pub(super) fn evaluate_within(
    document: &XmlDocument<'_>,
    expression: &str,
    prefixes: &[(String, String)],
    steps: u64,
) -> Result<XPathResult, XmlError> {
    let compiled = compiled(expression);
    let compiled = compiled.as_ref().as_ref().map_err(Clone::clone)?;
    let mut namespaces: HashMap<String, String> =
        prefixes.iter().filter(|(prefix, _)| !prefix.is_empty()).cloned().collect();
    namespaces.insert("xml".to_owned(), "http://www.w3.org/XML/1998/namespace".to_owned());
    if let Some(unknown) = compiled.prefixes().iter().find(|&prefix| !namespaces.contains_key(prefix)) {
        return Err(XmlError::UnknownPrefix(unknown.clone()));
    }
    let tree = &document.tree;
    let (value, is_used_up) =
        budget::with_steps(steps, tick, || compiled.evaluate(tree, tree.root(), &namespaces));
    if is_used_up {
        count_exceeded(Limit::XPathSteps);
        return Err(XmlError::XPathSteps(steps));
    }
    Ok(match value.map_err(XmlError::of_expression)? {
        XPathValue::NodeSet(nodes) => XPathResult::Nodes(nodes),
        XPathValue::Boolean(flag) => XPathResult::Bool(flag),
        XPathValue::String(text) => XPathResult::Text(text),
        number @ XPathValue::Number(_) => XPathResult::Number(number.to_string_value(tree)),
    })
}

/// The error in an expression, if any. The expression is evaluated on an empty document in which all its prefixes are
/// bound.
pub fn expression_error(expression: &str) -> Option<String> {
    let prefixes: Vec<_> = match compiled(expression).as_ref() {
        Ok(compiled) => {
            compiled.prefixes().iter().cloned().map(|name| (name, "urn:unknown".to_owned())).collect()
        }
        Err(error) => return Some(error.to_string()),
    };
    let empty = XmlDocument { tree: Document::new(), declared: Vec::new() };
    evaluate(&empty, expression, &prefixes).err().map(|error| error.to_string())
}
