//! What a check found.

use std::fmt;

/// One thing that is out of order.
#[derive(Debug, PartialEq, Eq)]
pub struct Finding {
    /// The file and line, or the package.
    pub place: String,
    /// What is out of order, why it matters, and what to do.
    pub what: String,
}

impl Finding {
    /// A finding at `place`.
    pub fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { place: place.into(), what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
