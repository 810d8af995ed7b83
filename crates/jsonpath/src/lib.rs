//! JSON paths as in Jayway JSONPath 2.8, the library of JMeter's JSON elements.
//!
//! A path is *definite* when it can select at most one value: a missing value is then an error, for other paths an
//! empty list. Constructs whose results in Jayway are irregular are refused: functions behind indefinite paths, paths
//! as arguments of functions, steps behind `..*`.

mod change;
mod compare;
mod cursor;
mod error;
mod eval;
mod functions;
mod literals;
mod parse;
mod read;
mod steps;
mod syntax;
mod value;

use std::borrow::Cow;

use busyhour_limits::{Limit, exceeded};
use cursor::Cursor;
pub use error::{PathError, ReadError};
pub use read::{NotJson, read};
pub use steps::Steps;
pub use syntax::JsonPath;
use syntax::Step;
pub use value::Value;

impl JsonPath {
    /// Parses a path. Without `$` at its start, `$.` is put before it.
    ///
    /// # Errors
    /// When it is not a path, or not supported.
    pub fn compile(text: &str) -> Result<Self, PathError> {
        if text.trim().is_empty() {
            return Err(PathError::Invalid("json can not be null or empty".to_owned()));
        }
        let text = text.trim_end();
        let full = if text.starts_with(['$', '@']) { text.to_owned() } else { format!("$.{text}") };
        if full.ends_with('.') {
            return Err(PathError::Invalid("Path must not end with a '.' or '..'".to_owned()));
        }
        let steps = parse::steps(&mut Cursor::behind_root(&full))?;
        Self::from_steps(text, steps, false)
    }

    /// All values that the path selects, as for JMeter's JSON extractor: without any, an empty list.
    ///
    /// # Errors
    /// With a function in the path, as Jayway does not allow one then; or when the evaluation failed.
    pub fn find_all<'v>(&self, document: &'v Value) -> Result<Vec<Cow<'v, Value>>, ReadError> {
        if matches!(self.steps.last(), Some(Step::Function(_))) {
            return Err(ReadError::Failed(
                "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!"
                    .to_owned(),
            ));
        }
        match counted(eval::select(self, document, document, &Steps::full())) {
            Err(ReadError::NotFound(_)) => Ok(Vec::new()),
            other => other,
        }
    }

    /// The value that the path selects, as for JMeter's JSON assertion: for an indefinite path an array.
    ///
    /// # Errors
    /// When a definite path selects nothing.
    pub fn find<'v>(&self, document: &'v Value) -> Result<Cow<'v, Value>, ReadError> {
        let steps = Steps::full();
        let mut found = counted(eval::select(self, document, document, &steps))?;
        if self.definite
            && let Some(value) = found.pop()
        {
            return Ok(value);
        }
        // A copy takes memory besides time.
        if !found.iter().all(|value| steps.spend(value.size().saturating_mul(8))) {
            return counted(Err(ReadError::Limit));
        }
        Ok(Cow::Owned(Value::Array(found.into_iter().map(Cow::into_owned).collect())))
    }
}

/// Counts the limit when following a path exceeded it.
fn counted<T>(found: Result<T, ReadError>) -> Result<T, ReadError> {
    if matches!(found, Err(ReadError::Limit)) {
        exceeded(Limit::JsonPathSteps);
    }
    found
}

#[cfg(test)]
mod tests;
