//! Figures of a run in progress.

use crate::live_arrivals::LiveArrivals;
use crate::nanos::Nanos;
use crate::sample::Sample;
use crate::second_point::SecondPoint;
use crate::time_distribution::ElapsedMs;

/// The figures of a summariser line: requests only, with JMeter's `elapsed` in whole ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalCounts {
    /// Number of samples.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Sum and extremes of `elapsed`.
    pub elapsed: ElapsedMs,
    /// Start of the interval.
    pub since: Nanos,
    /// Latest end of a sample in the interval; `since` without samples.
    pub until: Nanos,
}

impl IntervalCounts {
    /// Counts without samples, for an interval that starts at `since`.
    pub fn new(since: Nanos) -> IntervalCounts {
        IntervalCounts { samples: 0, errors: 0, elapsed: ElapsedMs::new(), since, until: since }
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: &Sample<'_>) {
        self.samples += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count);
        self.elapsed.add(sample.elapsed_ms());
        self.until = self.until.max(sample.times.end);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &IntervalCounts) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.elapsed.sum += other.elapsed.sum;
        self.elapsed.min = self.elapsed.min.min(other.elapsed.min);
        self.elapsed.max = self.elapsed.max.max(other.elapsed.max);
        self.until = self.until.max(other.until);
    }

    /// Mean `elapsed` in whole ms, truncated as in JMeter's summary; 0 without samples.
    #[must_use]
    pub fn mean_ms(&self) -> i64 {
        i64::try_from(self.samples).ok().and_then(|n| self.elapsed.sum.checked_div(n)).unwrap_or(0)
    }

    /// Length of the interval in ms.
    #[must_use]
    pub fn length_ms(&self) -> u64 {
        self.until.since(self.since) / 1_000_000
    }
}

/// The current figures of a run in progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Live {
    /// The last complete second in which a request ended; `None` before the first.
    pub last_second: Option<SecondPoint>,
    /// Counts since the start of the run.
    pub total: IntervalCounts,
    /// Counts since the last summariser line.
    pub delta: IntervalCounts,
    /// Latest time up to which every responsive core has reported.
    pub watermark: Nanos,
    /// Regularity of the arrivals in the last ten seconds; `None` while there are too few arrivals.
    pub arrivals: Option<LiveArrivals>,
    /// Number of output errors so far.
    pub events: usize,
}

impl Default for Live {
    fn default() -> Self {
        Live::new()
    }
}

impl Live {
    /// The figures before the first second.
    pub fn new() -> Live {
        Live {
            last_second: None,
            total: IntervalCounts::new(Nanos::ZERO),
            delta: IntervalCounts::new(Nanos::ZERO),
            watermark: Nanos::ZERO,
            arrivals: None,
            events: 0,
        }
    }
}
