//! JSON paths as Jayway JSONPath 2.8 follows them, the library behind JMeter's JSON elements.
//!
//! A path is *definite* when it can lead to one place only: then a missing place is an error, elsewhere it is an
//! empty list. What Jayway does in odd ways that were not looked into is refused: functions behind indefinite
//! paths, paths as arguments of functions, steps behind `..*`.

mod change;
mod eval;
mod filter;
mod path;
mod read;
mod steps;
mod value;

use std::borrow::Cow;

use busyhour_limits::{Limit, exceeded};
use path::{Parser, Step};
pub use read::{NotJson, read};
use steps::STEPS_MAX;
pub use steps::Steps;
pub use value::Value;

/// Why a text is no path for us.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Jayway refuses it too; its own words where they are known.
    #[error("{0}")]
    Invalid(String),
    /// Jayway may take it, but the same results are not promised here.
    #[error("{0}")]
    Unsupported(String),
}

/// Why a path gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// A definite path leads nowhere; Jayway's words.
    #[error("{0}")]
    NotFound(String),
    /// Following it failed; Jayway's words.
    #[error("{0}")]
    Failed(String),
    /// Following it takes too long.
    #[error("the JSON path needs more than {STEPS_MAX} steps on this document")]
    Limit,
}

/// Steps that a path may have: each is followed by recursion.
const PATH_STEPS_MAX: usize = 500;

/// A path, ready to be followed.
#[derive(Clone, Debug)]
pub struct JsonPath {
    text: String,
    steps: Vec<Step>,
    definite: bool,
}

impl JsonPath {
    /// Reads a path. Without `$` at its start, `$.` is put before it.
    ///
    /// # Errors
    /// When it is none, or not supported.
    pub fn compile(text: &str) -> Result<Self, PathError> {
        if text.trim().is_empty() {
            return Err(PathError::Invalid("json can not be null or empty".to_owned()));
        }
        let text = text.trim_end();
        let full = if text.starts_with(['$', '@']) { text.to_owned() } else { format!("$.{text}") };
        if full.ends_with('.') {
            return Err(PathError::Invalid("Path must not end with a '.' or '..'".to_owned()));
        }
        let mut parser = Parser { text: &full, at: 1, inside: false, filter: (0, 0), depth: 0 };
        let steps = parser.steps()?;
        Self::from_steps(text, steps, false)
    }

    fn from_steps(text: &str, steps: Vec<Step>, inside: bool) -> Result<Self, PathError> {
        if steps.len() > PATH_STEPS_MAX {
            return Err(PathError::Unsupported(format!("more than {PATH_STEPS_MAX} steps")));
        }
        let last = steps.len().saturating_sub(1);
        let mut definite = true;
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::Members(names) => definite &= names.len() == 1 || at == last,
                Step::Indexes(indexes) => definite &= indexes.len() == 1,
                Step::Wildcard | Step::Slice(..) | Step::Filter(_) => definite = false,
                Step::Descend => {
                    definite = false;
                    if matches!(steps.get(at + 1), Some(Step::Wildcard)) && at + 1 != last {
                        return Err(PathError::Unsupported("steps behind ..*".to_owned()));
                    }
                    if matches!(steps.get(at + 1), None | Some(Step::Function(_) | Step::Descend)) {
                        return Err(PathError::Unsupported("this use of ..".to_owned()));
                    }
                }
                Step::Function(_) if !definite => {
                    return Err(PathError::Unsupported("a function behind an indefinite path".to_owned()));
                }
                Step::Function(_) if inside && at != last => {
                    return Err(PathError::Unsupported("steps behind a function".to_owned()));
                }
                Step::Function(_) => {}
            }
        }
        Ok(Self { text: text.to_owned(), steps, definite })
    }

    /// The path as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it can lead to one place only.
    pub fn is_definite(&self) -> bool {
        self.definite
    }

    /// All that the path finds, as JMeter's JSON extractor asks for it: nothing is an empty list.
    ///
    /// # Errors
    /// With a function in the path, as Jayway does not allow one then; or when following the path failed.
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

    /// What the path leads to, as JMeter's JSON assertion asks for it: an indefinite path leads to an array.
    ///
    /// # Errors
    /// When a definite path leads nowhere.
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
