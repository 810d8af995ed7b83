//! What is known of an input beside its samples.

use crate::jtl_scan::LogForm;
use crate::jtl_scan::{BadRow, LogError};
use crate::sample::Nanos;

use super::unpack::Packing;

/// So many of the rows that cannot be understood are named.
pub const BAD_ROWS_NAMED: usize = 3;

/// What is known of an input beside its samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFacts {
    /// As the person calls it.
    pub name: String,
    /// What it is.
    pub form: LogForm,
    /// How it is packed; `None` when it is not.
    pub packing: Option<Packing>,
    /// Samples in it, transactions and results inside others among them.
    pub samples: u64,
    /// Rows that could not be understood, left out.
    pub bad_rows: u64,
    /// The first of them, [`BAD_ROWS_NAMED`] at most.
    pub first_bad: Vec<BadRow>,
    /// Where, in bytes from its (unpacked) beginning, it ends within a row or goes on damaged; what follows is left out.
    /// `None` for a whole one.
    pub cut_at: Option<u64>,
    /// The first and the last end of a sample, from the start of the run; `None` without samples.
    pub ends: Option<(Nanos, Nanos)>,
}

impl InputFacts {
    pub(super) fn new(name: String, form: LogForm, packing: Option<Packing>) -> InputFacts {
        InputFacts {
            name,
            form,
            packing,
            samples: 0,
            bad_rows: 0,
            first_bad: Vec::new(),
            cut_at: None,
            ends: None,
        }
    }

    /// Counts samples, the last of which ended then.
    #[inline]
    pub(super) fn add(&mut self, samples: u64, end: Nanos) {
        self.samples += samples;
        if samples > 0 {
            let (first, last) = self.ends.unwrap_or((end, end));
            self.ends = Some((first.min(end), last.max(end)));
        }
    }

    pub(super) fn bad(&mut self, row: BadRow) {
        self.bad_rows += 1;
        if self.first_bad.len() < BAD_ROWS_NAMED {
            self.first_bad.push(row);
        }
    }

    /// Refuses an input of which nothing could be understood.
    pub(super) fn check(mut self) -> Result<InputFacts, (String, LogError)> {
        if self.samples == 0 && !self.first_bad.is_empty() {
            let first = self.first_bad.swap_remove(0);
            return Err((self.name, LogError::BadRows { bad: self.bad_rows, rows: 0, first }));
        }
        Ok(self)
    }
}
