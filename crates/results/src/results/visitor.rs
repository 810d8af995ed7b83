//! The callbacks of a reader.

use busyhour_sample::{ArrivalRecord, Sample};

/// Callbacks that a reader calls while it reads.
pub(crate) struct Visitor<'h> {
    pub(crate) sample: &'h mut dyn FnMut(&Sample<'_>),
    /// Called with each arrival of an open workload. The group of the arrival is its index in the input's own samples file.
    pub(crate) arrival: &'h mut dyn FnMut(&ArrivalRecord),
}
