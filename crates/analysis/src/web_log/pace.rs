//! The time that a series of samples covers, and rates over this time.

use busyhour_sample::LogRow;

/// The first and the last start of a series of samples, and the end of the sample that started last.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// First start, last start, and end of the sample that started last, in ns since 1970; `None` without samples.
    known: Option<(i64, i64, i64)>,
}

impl Pace {
    /// Adds the next sample. Returns the time since the preceding start, in ns.
    pub(super) fn next(&mut self, row: &LogRow) -> Option<u64> {
        let end = row.start_ns.saturating_add(i64::try_from(row.elapsed_ns).unwrap_or(i64::MAX));
        match &mut self.known {
            None => {
                self.known = Some((row.start_ns, row.start_ns, end));
                None
            }
            Some((_, last, last_end)) => {
                let gap = row.start_ns.saturating_sub(*last).max(0);
                // If several samples have the same start, the latest end is used, so that their order does not matter.
                *last_end = if gap == 0 { end.max(*last_end) } else { end };
                *last = row.start_ns;
                Some(gap as u64)
            }
        }
    }

    /// Time from the first start to the end of the sample that started last, in ns.
    pub(super) fn duration_ns(&self) -> Option<u64> {
        self.known.map(|(first, _, end)| end.saturating_sub(first).max(0) as u64)
    }

    /// The rate of `n` values over [`Self::duration_ns`], per second; `None` if the duration is 0 or unknown.
    pub(super) fn per_s(&self, n: u64) -> Option<f64> {
        self.duration_ns().filter(|ns| *ns > 0).map(|ns| n as f64 * 1e9 / ns as f64)
    }
}
