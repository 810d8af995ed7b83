//! The limit of a search.

/// Steps that one search over a text may take: about a third of a second.
pub(crate) const STEPS_MAX: u64 = 50_000_000;

/// The search took more steps than one search may take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the regular expression needs more than {STEPS_MAX} steps on this text")]
pub struct SearchLimit;
