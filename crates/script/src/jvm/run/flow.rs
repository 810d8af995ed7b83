//! How statements end.

use super::super::value::V;

/// How a statement ended.
pub(super) enum Flow {
    Next(V),
    Break,
    Continue,
    Return(V),
}
