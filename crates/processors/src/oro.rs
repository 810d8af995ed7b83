//! Patterns of elements: compiled once when nothing in them varies, else kept for the texts seen last.

use std::sync::Arc;

use busyhour_oro::{Cached, cached};
pub use busyhour_oro::{Groups, Pattern, PatternError, SearchLimit};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::refusal::Refusal;

/// A pattern as an element of the plan holds it.
#[derive(Clone, Debug)]
pub enum PatternText {
    /// It is constant.
    Fixed {
        /// The pattern, or ORO's error: an element with a malformed pattern runs in JMeter too.
        pattern: Result<Arc<Pattern>, PatternError>,
        /// The text in the plan.
        source: Box<str>,
    },
    /// It contains variables or functions.
    Varying(Template),
}

impl PatternText {
    /// Takes a pattern out of the plan. `groups`: the element uses the pattern's groups.
    ///
    /// # Errors
    /// For patterns whose matches are not promised.
    pub fn new(template: Template, groups: bool) -> Result<Self, Refusal> {
        let Some(text) = template.as_literal() else { return Ok(Self::Varying(template)) };
        let pattern = Pattern::compile(text).and_then(|pattern| {
            if groups {
                pattern.groups_are_sure()?;
            }
            Ok(Arc::new(pattern))
        });
        if let Err(PatternError::Unsupported(why)) = &pattern {
            return Err(Refusal::unsupported(format!("has the regular expression `{text}` with {why}")));
        }
        Ok(Self::Fixed { pattern, source: text.into() })
    }

    /// The pattern for this user now.
    pub fn get(&self, user: &mut UserState) -> Ready<'_> {
        match self {
            Self::Fixed { pattern, source } => Ready::Shared(pattern, source),
            Self::Varying(template) => {
                let text = template.text(user).into_owned();
                Ready::Own(cached(&text), text)
            }
        }
    }
}

/// A pattern ready for use.
#[derive(Debug)]
pub enum Ready<'s> {
    /// Of the plan, with its text.
    Shared(&'s Result<Arc<Pattern>, PatternError>, &'s str),
    /// Of this thread, with its text.
    Own(Cached, String),
}

impl Ready<'_> {
    /// The pattern.
    ///
    /// # Errors
    /// Why it is missing.
    pub fn pattern(&self) -> Result<&Pattern, &PatternError> {
        match self {
            Self::Shared(pattern, _) => pattern.as_deref(),
            Self::Own(pattern, _) => pattern.as_deref(),
        }
    }

    /// The pattern's text.
    pub fn source(&self) -> &str {
        match self {
            Self::Shared(_, source) => source,
            Self::Own(_, source) => source,
        }
    }
}

/// Whether a text matches a pattern as a whole; `None` when there is no such pattern.
pub fn matches_whole(pattern: &str, text: &str) -> Option<bool> {
    cached(pattern).ok()?.matches(text).ok()
}

/// JMeter's text for a pattern its cache could not compile.
pub(crate) fn bad_expression(source: &str, error: &PatternError) -> String {
    format!("Invalid expression: {source}\n{error}")
}
