//! What can be seen of a run while it goes on.

use serde::{Deserialize, Serialize};

use crate::live_arrivals::LiveArrivals;
use crate::sample::{Nanos, Sample};
use crate::time_histogram::band_end;
use crate::totals::ElapsedMs;

/// One second of the run, over the requests that ended in it. Times in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SecondPoint {
    /// Number of the second, from 0.
    pub second: u64,
    /// Requests that ended.
    pub requests: u64,
    /// Failed ones among them.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Service time (end − actual start).
    pub service: SecondTimes,
    /// Response time (end − intended start).
    pub response: SecondTimes,
    /// Most active users seen by a request that ended.
    pub users: u32,
}

/// The times of one second, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SecondTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

impl SecondTimes {
    /// Of times in µs whose exact sum is `sum_ns`; each is the greatest value of its band in a histogram. `times_us` is left in
    /// another order.
    pub(crate) fn of(times_us: &mut [u64], sum_ns: u128) -> SecondTimes {
        let count = times_us.len() as f64;
        let (mut rest, mut passed) = (times_us, 0);
        let mut quantile_ms = |q: f64| {
            let rank = ((q * count).ceil() as usize).saturating_sub(1) - passed;
            // Further quantiles lie behind this one.
            let behind = std::mem::take(&mut rest);
            if rank >= behind.len() {
                return 0.0;
            }
            let us = *behind.select_nth_unstable(rank).1;
            (rest, passed) = (&mut behind[rank..], passed + rank);
            band_end(us) as f64 / 1e3
        };
        let [p50, p95, p99, max] = [0.50, 0.95, 0.99, 1.0].map(&mut quantile_ms);
        SecondTimes { mean: sum_ns as f64 / count.max(1.0) / 1e6, p50, p95, p99, max }
    }
}

/// The numbers of a summariser line: requests only, times as JMeter's `elapsed` in whole ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalCounts {
    /// Samples.
    pub samples: u64,
    /// Failed samples.
    pub errors: u64,
    /// Sum and extremes of elapsed.
    pub elapsed: ElapsedMs,
    /// Where the interval began.
    pub since: Nanos,
    /// When the recorder last saw a sample of it end; `since` when it saw none.
    pub until: Nanos,
}

impl IntervalCounts {
    pub(crate) fn new(since: Nanos) -> IntervalCounts {
        IntervalCounts { samples: 0, errors: 0, elapsed: ElapsedMs::new(), since, until: since }
    }

    pub(crate) fn add(&mut self, sample: &Sample<'_>) {
        self.samples += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count);
        self.elapsed.add(sample.elapsed_ms());
        self.until = self.until.max(sample.end);
    }

    pub(crate) fn merge(&mut self, other: &IntervalCounts) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.elapsed.sum += other.elapsed.sum;
        self.elapsed.min = self.elapsed.min.min(other.elapsed.min);
        self.elapsed.max = self.elapsed.max.max(other.elapsed.max);
        self.until = self.until.max(other.until);
    }

    /// Mean elapsed in whole ms, cut as JMeter's summary cuts it; 0 without samples.
    #[must_use]
    pub fn mean_ms(&self) -> i64 {
        i64::try_from(self.samples).ok().and_then(|n| self.elapsed.sum.checked_div(n)).unwrap_or(0)
    }

    /// Length in ms.
    #[must_use]
    pub fn length_ms(&self) -> u64 {
        self.until.since(self.since) / 1_000_000
    }
}

/// A snapshot of a run that goes on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Live {
    /// The last complete second in which a request ended; `None` in the first.
    pub last_second: Option<SecondPoint>,
    /// From the start of the run.
    pub total: IntervalCounts,
    /// Since the last summariser line.
    pub delta: IntervalCounts,
    /// Largest instant up to which every core has reported.
    pub watermark: Nanos,
    /// How regular the arrivals of the last ten seconds were; `None` while there are too few.
    pub arrivals: Option<LiveArrivals>,
    /// Problems with outputs so far.
    pub events: usize,
}

impl Live {
    pub(crate) fn new() -> Live {
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
