//! Completion of statements.

use super::super::tree::Name;
use super::super::value::V;

/// The way in which a statement completed.
pub(super) enum Flow {
    Next(V),
    Break,
    Continue,
    Return(V),
    /// `break` (true) or `continue` (false) with this label.
    Leave(Name, bool),
}
