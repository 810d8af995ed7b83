//! JSON paths as in Jayway JSONPath 2.8, the library of JMeter's JSON elements.
//!
//! A path is *definite* if it can select at most one value. A definite path that selects nothing is an error; an indefinite path
//! that selects nothing gives an empty list. Constructs whose results in Jayway are irregular are not supported: functions
//! after indefinite paths, paths as arguments of functions, and steps after `..*`.

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

use busyhour_limits::{Limit, count_exceeded};
use cursor::Cursor;
pub use error::{PathError, ReadError};
pub use read::{NotJson, read};
pub use steps::StepBudget;
pub use syntax::JsonPath;
use syntax::Step;
pub use value::Value;

impl JsonPath {
    /// Parses a path. If it does not start with `$` or `@`, `$.` is prepended.
    ///
    /// # Errors
    /// The text is not a valid path, or the path is not supported.
    pub fn compile(text: &str) -> Result<Self, PathError> {
        if text.trim().is_empty() {
            return Err(PathError::Invalid("json can not be null or empty".to_owned()));
        }
        let text = text.trim_end();
        let full = if text.starts_with(['$', '@']) { text.to_owned() } else { format!("$.{text}") };
        if full.ends_with('.') {
            return Err(PathError::Invalid("Path must not end with a '.' or '..'".to_owned()));
        }
        let steps = parse::steps(&mut Cursor::after_root(&full))?;
        Self::from_steps(text, steps, false)
    }

    /// Returns all values that the path selects, as for JMeter's JSON Extractor. The list is empty if there are none.
    ///
    /// # Errors
    /// The path has a function, which Jayway does not allow with the extractor's options, or the evaluation failed.
    pub fn find_all<'v>(&self, document: &'v Value) -> Result<Vec<Cow<'v, Value>>, ReadError> {
        if matches!(self.steps.last(), Some(Step::Function(_))) {
            return Err(ReadError::Failed(
                "Options AS_PATH_LIST and ALWAYS_RETURN_LIST are not allowed when using path functions!"
                    .to_owned(),
            ));
        }
        match count_limit(eval::select(self, document, document, &StepBudget::full())) {
            Err(ReadError::NotFound(_)) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Returns the value that the path selects, as for JMeter's JSON Assertion. For an indefinite path it is an array.
    ///
    /// # Errors
    /// A definite path selects nothing, or the evaluation failed.
    pub fn find<'v>(&self, document: &'v Value) -> Result<Cow<'v, Value>, ReadError> {
        let budget = StepBudget::full();
        let mut found = count_limit(eval::select(self, document, document, &budget))?;
        if self.definite
            && let Some(value) = found.pop()
        {
            return Ok(value);
        }
        // A copied value costs eight steps, because it takes memory besides time.
        if !found.iter().all(|value| budget.spend(value.size().saturating_mul(8))) {
            return count_limit(Err(ReadError::Limit));
        }
        Ok(Cow::Owned(Value::Array(found.into_iter().map(Cow::into_owned).collect())))
    }
}

/// Records the exceeded limit if the evaluation ran out of steps.
fn count_limit<T>(found: Result<T, ReadError>) -> Result<T, ReadError> {
    if matches!(found, Err(ReadError::Limit)) {
        count_exceeded(Limit::JsonPathSteps);
    }
    found
}

#[cfg(test)]
mod tests;
