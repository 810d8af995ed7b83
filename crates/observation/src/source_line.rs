//! One line for each source: whether it is watched, and what would enable it if not.

use std::fmt;

/// Receives the lines of sources that are found or fail during the run, and errors.
pub type LineSink = Box<dyn FnMut(&str) + Send>;

/// Whether a source is watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineState {
    /// It is watched completely.
    Observed,
    /// It is watched, but some metrics are missing.
    Limited {
        /// The part that is missing.
        missing: String,
        /// How to enable it.
        advice: String,
    },
    /// It is not watched.
    NotObserved {
        /// The reason, as a clause that follows `because`.
        reason: String,
        /// How to enable it.
        advice: String,
    },
}

/// A source as it is shown to the user. `Display` writes one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The name of the source, as in the series file: `process:4711`. If it is not watched, it may only be the kind of source.
    pub name: String,
    /// The kind of source, and how it was found: `java (JVM), target 127.0.0.1:8080`. May be empty.
    pub about: String,
    /// Whether it is watched.
    pub state: LineState,
}

impl SourceLine {
    /// The line of a source that is watched.
    pub(crate) fn watched(name: impl Into<String>, about: impl Into<String>) -> SourceLine {
        SourceLine { name: name.into(), about: about.into(), state: LineState::Observed }
    }

    /// The line of a source that is not watched.
    pub(crate) fn not_watched(
        name: impl Into<String>,
        reason: impl Into<String>,
        advice: impl Into<String>,
    ) -> SourceLine {
        let state = LineState::NotObserved { reason: reason.into(), advice: advice.into() };
        SourceLine { name: name.into(), about: String::new(), state }
    }

    /// Whether at least a part of the source is watched.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        match self.state {
            LineState::Observed | LineState::Limited { .. } => true,
            LineState::NotObserved { .. } => false,
        }
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.about.is_empty() {
            write!(f, " ({})", self.about)?;
        }
        match &self.state {
            LineState::Observed => write!(f, ": watched"),
            LineState::Limited { missing, advice } => write!(f, ": watched, without {missing}; {advice}"),
            LineState::NotObserved { reason, advice } if advice.is_empty() => {
                write!(f, ": not watched, because {reason}")
            }
            LineState::NotObserved { reason, advice } => {
                write!(f, ": not watched, because {reason}; {advice}")
            }
        }
    }
}
