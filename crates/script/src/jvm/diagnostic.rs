//! Errors and warnings of the parser, with their place in the script.

use crate::TextPlace;
pub(super) use crate::error::{syntax, unsupported};

/// A construct that JMeter accepts when it compiles the script, but that fails when it is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// A description of the construct.
    pub what: String,
    /// Its place in the script.
    pub place: TextPlace,
}
