//! Facts about one input of results.

use busyhour_sample::Nanos;

use crate::jtl_scan::{BadRow, LogError, LogForm};

use crate::unpack::Packing;

/// Maximum number of invalid rows that are reported individually.
pub const BAD_ROWS_LISTED_MAX: usize = 3;

/// Facts about one input of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFacts {
    /// Its name in messages.
    pub name: String,
    /// Its format.
    pub form: LogForm,
    /// Its compression; `None` if it is not compressed.
    pub packing: Option<Packing>,
    /// Number of samples, including transactions and sub-results.
    pub samples: u64,
    /// Number of invalid rows, which are ignored.
    pub bad_rows: u64,
    /// The first invalid rows, at most [`BAD_ROWS_LISTED_MAX`].
    pub first_bad: Vec<BadRow>,
    /// Offset in uncompressed bytes at which the input is truncated within a row or damaged; the rest is ignored. `None` if the
    /// input is complete.
    pub cut_at: Option<u64>,
    /// Requests that the tool should have started, but did not, and reported.
    pub dropped: u64,
    /// The earliest and the latest end of a sample, as times of the run; `None` without samples.
    pub ends: Option<(Nanos, Nanos)>,
}

impl InputFacts {
    pub(crate) fn new(name: String, form: LogForm, packing: Option<Packing>) -> InputFacts {
        InputFacts {
            name,
            form,
            packing,
            samples: 0,
            bad_rows: 0,
            first_bad: Vec::new(),
            cut_at: None,
            dropped: 0,
            ends: None,
        }
    }

    /// Adds a number of samples. The last of them ended at `end`.
    #[inline]
    pub(crate) fn add(&mut self, samples: u64, end: Nanos) {
        self.samples += samples;
        if samples > 0 {
            let (first, last) = self.ends.unwrap_or((end, end));
            self.ends = Some((first.min(end), last.max(end)));
        }
    }

    pub(crate) fn add_bad_row(&mut self, row: BadRow) {
        self.bad_rows += 1;
        if self.first_bad.len() < BAD_ROWS_LISTED_MAX {
            self.first_bad.push(row);
        }
    }

    /// Returns an error if the input has rows but no valid one.
    pub(crate) fn check(mut self) -> Result<InputFacts, (String, LogError)> {
        if self.samples == 0 && !self.first_bad.is_empty() {
            let first = self.first_bad.swap_remove(0);
            return Err((self.name, LogError::BadRows { bad: self.bad_rows, rows: 0, first }));
        }
        Ok(self)
    }
}
