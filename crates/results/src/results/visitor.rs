//! The callbacks of a reader.

use busyhour_sample::{ArrivalRecord, Sample};

/// Callbacks for what is read.
pub(crate) struct Visitor<'h> {
    pub(crate) sample: &'h mut dyn FnMut(&Sample<'_>),
    /// Called with each arrival of an open workload; its group is the index in its own record.
    pub(crate) arrival: &'h mut dyn FnMut(&ArrivalRecord),
}
