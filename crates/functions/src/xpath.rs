//! The function `__XPath`: each call returns the next of the nodes that an expression selects in a file.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_limits::files::{TEXT_FILE_BYTES, read_in_run};
use busyhour_program::ElementError;
use busyhour_program::run::LogLevel;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use busyhour_xml::{ReadOptions, XPathResult, decode, evaluate, first_value, read};

use crate::arguments::{Arguments, BuildResult};

/// The results of the expressions in a run, by file and expression. All users share the sequence of nodes.
#[derive(Debug, Default)]
struct SharedResults(Mutex<HashMap<(String, String), NodeTexts>>);

#[derive(Debug)]
struct NodeTexts {
    texts: Vec<String>,
    next: usize,
}

#[derive(Debug)]
struct XPath {
    file: Template,
    expression: Template,
}

/// Builds `${__XPath(file, expression)}`.
pub(crate) fn xpath(arguments: &mut Arguments<'_, '_>) -> BuildResult {
    if let Some(error) = arguments.literal(1).and_then(busyhour_xml::expression_error) {
        return Err(arguments.invalid(error, "an XPath 1.0 expression that selects nodes is expected"));
    }
    Ok(Arc::new(XPath { file: arguments.take(0), expression: arguments.take(1) }))
}

impl Function for XPath {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let file = self.file.text(user).into_owned();
        let expression = self.expression.text(user).into_owned();
        let shared = user.run.shared::<SharedResults>();
        let mut results = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (file, expression);
        let nodes = match results.get_mut(&key) {
            Some(nodes) => nodes,
            None => match node_texts(&key.0, &key.1) {
                Ok(texts) => results.entry(key.clone()).or_insert(NodeTexts { texts, next: 0 }),
                Err(error) => {
                    user.log(LogLevel::Warn, &format!("{}: {error}", key.0));
                    user.log(LogLevel::Error, "XPathFileContainer is null!");
                    return;
                }
            },
        };
        let Some(text) = nodes.texts.get(nodes.next) else {
            let (file, expression) = &key;
            user.log(LogLevel::Warn, &format!("XPathFileContainer has no nodes: {file} {expression}"));
            return;
        };
        out.push_str(text);
        nodes.next = (nodes.next + 1) % nodes.texts.len();
    }
}

/// The text of each selected node. As in JMeter, a node without text gives `null`.
fn node_texts(file: &str, expression: &str) -> Result<Vec<String>, ElementError> {
    let bytes = read_in_run(Path::new(file), TEXT_FILE_BYTES).map_err(ElementError::caused_by)?;
    let text = decode(&bytes);
    let document = read(&text, ReadOptions { sorted: true, ..ReadOptions::default() })
        .map_err(ElementError::caused_by)?;
    match evaluate(&document, expression, &document.declared).map_err(ElementError::caused_by)? {
        XPathResult::Nodes(nodes) => {
            let text = |node| first_value(&document.tree, node).unwrap_or("null").to_owned();
            Ok(nodes.into_iter().map(text).collect())
        }
        XPathResult::Bool(_) | XPathResult::Number(_) | XPathResult::Text(_) => {
            Err(format!("{expression} selects no nodes").into())
        }
    }
}
