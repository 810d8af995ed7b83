//! The findings of checks.

use std::fmt;

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file and line, or the package.
    pub place: String,
    /// The violation, its reason, and how to fix it.
    pub what: String,
}

impl Finding {
    /// Creates a finding at `place`.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
