//! States of sources.

/// Whether a source can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// It is being read.
    Watching,
    /// The last reading failed, for this reason.
    Failed(String),
    /// It is not read any more, for this reason.
    Ended(String),
}
