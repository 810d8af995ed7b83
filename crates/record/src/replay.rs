//! Adding up a run again from its record.

use std::path::Path;

use crate::book::Book;
use crate::live::IntervalCounts;
use crate::recorder::RunNames;
use crate::sample::Nanos;
use crate::samples_file::{SamplesEnd, SamplesError, SamplesReader};
use crate::totals::RunTotals;

/// What a record adds up to.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The numbers.
    pub totals: RunTotals,
    /// How the record ended.
    pub end: SamplesEnd,
    /// The names in it.
    pub names: RunNames,
    /// Start of the run in ms since 1970.
    pub wall_anchor_ms: i64,
}

pub(crate) fn replay(path: &Path) -> Result<Replay, SamplesError> {
    let reader = SamplesReader::open(path)?;
    let mut book = Book::new(reader.labels().clone());
    let (end, names, _) = reader.read(|_, sample| {
        book.add(sample);
        // Nobody waits for the histograms of a second here.
        while let Some(second) = book.next_closed() {
            book.recycle(second);
        }
    })?;
    book.close_all();
    Ok(Replay {
        totals: book.finish(Vec::new()),
        end,
        names: names.names,
        wall_anchor_ms: names.wall_anchor_ms,
    })
}

impl RunTotals {
    /// The numbers of the whole run as a summariser line has them, over `length`.
    #[must_use]
    pub fn summary_counts(&self, length: Nanos) -> IntervalCounts {
        IntervalCounts {
            samples: self.total.samples,
            errors: self.total.errors,
            elapsed: self.total.elapsed,
            since: Nanos::ZERO,
            until: length,
        }
    }
}
