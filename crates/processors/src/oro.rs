//! Patterns of elements. Constant patterns are compiled once; patterns with variables are compiled at use and cached.

use std::sync::Arc;

use busyhour_oro::{Cached, cached};
pub use busyhour_oro::{Groups, Pattern, PatternError, SearchLimit};
use busyhour_program::template::Template;
use busyhour_program::user::UserState;

use crate::refusal::Refusal;

/// The pattern of an element.
#[derive(Clone, Debug)]
pub enum PatternText {
    /// A constant pattern.
    Constant {
        /// The pattern, or ORO's error: JMeter also runs an element with a malformed pattern.
        pattern: Result<Arc<Pattern>, PatternError>,
        /// The text in the plan.
        source: Box<str>,
    },
    /// A pattern with variables or functions.
    Varying(Template),
}

impl PatternText {
    /// Compiles the pattern of an element. `groups` is true if the element uses the pattern's groups.
    ///
    /// # Errors
    /// The pattern may match differently than in JMeter.
    pub fn new(template: Template, groups: bool) -> Result<Self, Refusal> {
        let Some(text) = template.as_literal() else { return Ok(Self::Varying(template)) };
        let pattern = Pattern::compile(text).and_then(|pattern| {
            if groups {
                pattern.check_groups()?;
            }
            Ok(Arc::new(pattern))
        });
        if let Err(PatternError::Unsupported(why)) = &pattern {
            return Err(Refusal::unsupported(format!("has the regular expression `{text}` with {why}")));
        }
        Ok(Self::Constant { pattern, source: text.into() })
    }

    /// Resolves the pattern for the current variables of a user.
    pub fn get(&self, user: &mut UserState) -> ResolvedPattern<'_> {
        match self {
            Self::Constant { pattern, source } => ResolvedPattern::Constant(pattern, source),
            Self::Varying(template) => {
                let text = template.text(user).into_owned();
                ResolvedPattern::Cached(cached(&text), text)
            }
        }
    }
}

/// A compiled pattern, or its error, with its text.
#[derive(Debug)]
pub enum ResolvedPattern<'s> {
    /// A constant pattern of the plan.
    Constant(&'s Result<Arc<Pattern>, PatternError>, &'s str),
    /// A pattern from the cache of this thread.
    Cached(Cached, String),
}

impl ResolvedPattern<'_> {
    /// The compiled pattern.
    ///
    /// # Errors
    /// The pattern cannot be compiled.
    pub fn pattern(&self) -> Result<&Pattern, &PatternError> {
        match self {
            Self::Constant(pattern, _) => pattern.as_deref(),
            Self::Cached(pattern, _) => pattern.as_deref(),
        }
    }

    /// The text of the pattern.
    pub fn source(&self) -> &str {
        match self {
            Self::Constant(_, source) => source,
            Self::Cached(_, source) => source,
        }
    }
}

/// Whether the whole text matches a pattern; `None` if the pattern is invalid or the search exceeds a limit.
pub fn matches_whole(pattern: &str, text: &str) -> Option<bool> {
    cached(pattern).ok()?.matches(text).ok()
}

/// JMeter's message for a pattern that cannot be compiled.
pub(crate) fn malformed_pattern(source: &str, error: &PatternError) -> String {
    format!("Invalid expression: {source}\n{error}")
}
