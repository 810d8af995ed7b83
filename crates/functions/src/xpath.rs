//! `__XPath`: the nodes that an expression selects in a file, one per call.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_limits::files::{TEXT_FILE_BYTES, read_in_run};
use busyhour_program::run::Level;
use busyhour_program::template::{Function, Template};
use busyhour_program::user::UserState;
use busyhour_xml::{ReadOptions, XPathResult, decode, evaluate, first_value, read};

use crate::arguments::{Arguments, Made};
use busyhour_program::ElementError;

/// Results of a run by file and expression; all users share the sequence of nodes.
#[derive(Debug, Default)]
struct Found(Mutex<HashMap<(String, String), Values>>);

#[derive(Debug)]
struct Values {
    values: Vec<String>,
    next: usize,
}

#[derive(Debug)]
struct XPath {
    file: Template,
    expression: Template,
}

/// `${__XPath(file, expression)}`
pub(crate) fn xpath(arguments: &mut Arguments<'_, '_>) -> Made {
    if let Some(why) = arguments.literal(1).and_then(busyhour_xml::expression_error) {
        return Err(arguments.invalid(why, "an XPath 1.0 expression that selects nodes is expected"));
    }
    Ok(Arc::new(XPath { file: arguments.take(0), expression: arguments.take(1) }))
}

impl Function for XPath {
    fn evaluate(&self, user: &mut UserState, out: &mut String) {
        let file = self.file.text(user).into_owned();
        let expression = self.expression.text(user).into_owned();
        let shared = user.run.shared::<Found>();
        let mut found = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (file, expression);
        let values = match found.get_mut(&key) {
            Some(values) => values,
            None => match values(&key.0, &key.1) {
                Ok(values) => found.entry(key.clone()).or_insert(Values { values, next: 0 }),
                Err(why) => {
                    user.log(Level::Warn, &format!("{}: {why}", key.0));
                    user.log(Level::Error, "XPathFileContainer is null!");
                    return;
                }
            },
        };
        let Some(value) = values.values.get(values.next) else {
            let (file, expression) = &key;
            user.log(Level::Warn, &format!("XPathFileContainer has no nodes: {file} {expression}"));
            return;
        };
        out.push_str(value);
        values.next = (values.next + 1) % values.values.len();
    }
}

/// The text of each node; JMeter writes `null` for a node without text.
fn values(file: &str, expression: &str) -> Result<Vec<String>, ElementError> {
    let bytes = read_in_run(Path::new(file), TEXT_FILE_BYTES).map_err(|error| error.to_string())?;
    let text = decode(&bytes);
    let document =
        read(&text, ReadOptions { sorted: true, ..ReadOptions::default() }).map_err(String::from)?;
    match evaluate(&document, expression, &document.declared).map_err(String::from)? {
        XPathResult::Nodes(nodes) => {
            let value = |node| first_value(&document.tree, node).unwrap_or("null").to_owned();
            Ok(nodes.into_iter().map(value).collect())
        }
        XPathResult::Bool(_) | XPathResult::Number(_) | XPathResult::Text(_) => {
            Err(format!("{expression} selects no nodes").into())
        }
    }
}
