//! The limit of a search.

/// Maximum number of steps of a search: about a third of a second.
pub(crate) const STEPS_MAX: u64 = 50_000_000;

/// The search exceeded the maximum number of steps.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression needs more than {STEPS_MAX} steps on this text")]
pub struct SearchLimit;
