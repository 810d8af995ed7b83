//! How statements end.

use super::super::tree::Name;
use super::super::value::V;

/// How a statement ended.
pub(super) enum Flow {
    Next(V),
    Break,
    Continue,
    Return(V),
    /// `break` (true) or `continue` of the loop with that label.
    Leave(Name, bool),
}
