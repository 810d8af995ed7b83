//! Delays of the stall meter since the last reading.

use std::time::Duration;

use busyhour_sample::Nanos;
use hdrhistogram::Histogram;

/// Longest delay that is distinguished: an hour. Longer delays count as this one.
const DELAY_MAX_NS: u64 = 3_600_000_000_000;

/// The largest number of stalls that are remembered between two readings.
const STALLS_MAX: usize = 100;

/// Collects delays.
#[derive(Debug)]
pub struct StallHistogram {
    /// In µs; `None` if it could not be created, which does not happen with these bounds.
    delays: Option<Histogram<u64>>,
    mark_from_ns: u64,
    stalls: Vec<(Nanos, Nanos)>,
    stalls_omitted: u64,
    interval: Duration,
    cpu_ns: Option<u64>,
    error: Option<String>,
}

/// Delays between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StallSummary {
    /// The figures of the delays; `None` if no delay was measured, because the thread did not run.
    pub delays: Option<DelayStatistics>,
    /// Stalls as intervals, from the time at which the thread was due to run to the time at which it ran.
    pub stalls: Vec<(Nanos, Nanos)>,
    /// The number of stalls beyond those that are remembered.
    pub stalls_omitted: u64,
    /// The interval of the thread; shorter stalls are not noticed.
    pub interval: Duration,
    /// CPU time of the thread so far, in ns.
    pub cpu_ns: Option<u64>,
}

/// Figures of delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayStatistics {
    /// Number of delays, including those filled in for missed intervals.
    pub count: u64,
    /// Longest delay in ns.
    pub max_ns: u64,
    /// 99th percentile in ns.
    pub p99_ns: u64,
}

impl StallHistogram {
    /// An empty histogram. Delays of at least `mark_from` are returned as stalls.
    #[must_use]
    pub fn new(mark_from: Duration) -> StallHistogram {
        StallHistogram {
            delays: Histogram::new_with_bounds(1, DELAY_MAX_NS / 1_000, 3).ok(),
            mark_from_ns: u64::try_from(mark_from.as_nanos()).unwrap_or(u64::MAX),
            stalls: Vec::new(),
            stalls_omitted: 0,
            interval: Duration::ZERO,
            cpu_ns: None,
            error: None,
        }
    }

    /// Records that the thread, which is due to run once per `interval`, ran at `actual` instead of `expected`.
    ///
    /// A delay of several intervals hides the delays of the later intervals within it. They are filled in, each shorter by one
    /// interval than the one before, as HdrHistogram's correction for coordinated omission does.
    pub fn record(&mut self, expected: Nanos, actual: Nanos, interval: Duration) {
        self.interval = interval;
        let delay_ns = actual.0.saturating_sub(expected.0).min(DELAY_MAX_NS);
        if let Some(delays) = &mut self.delays {
            // Values are within the bounds.
            let interval_us = u64::try_from(interval.as_micros()).unwrap_or(u64::MAX).max(1);
            let _ = delays.record_correct((delay_ns / 1_000).max(1), interval_us);
        }
        if delay_ns >= self.mark_from_ns {
            if self.stalls.len() < STALLS_MAX {
                self.stalls.push((expected, actual));
            } else {
                self.stalls_omitted += 1;
            }
        }
    }

    pub(super) fn set_cpu_ns(&mut self, cpu_ns: Option<u64>) {
        self.cpu_ns = cpu_ns;
    }

    pub(super) fn fail(&mut self, error: String) {
        self.error = Some(error);
    }

    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the delays that were recorded since the last call, and clears the histogram.
    pub fn take(&mut self) -> StallSummary {
        let delays = self.delays.as_mut().filter(|delays| !delays.is_empty()).map(|delays| {
            let found = DelayStatistics {
                count: delays.len(),
                max_ns: delays.max() * 1_000,
                p99_ns: delays.value_at_quantile(0.99) * 1_000,
            };
            delays.reset();
            found
        });
        StallSummary {
            delays,
            stalls: std::mem::take(&mut self.stalls),
            stalls_omitted: std::mem::take(&mut self.stalls_omitted),
            interval: self.interval,
            cpu_ns: self.cpu_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const INTERVAL: Duration = Duration::from_millis(1);

    #[test]
    fn missed_intervals_are_filled_in() {
        let mut histogram = StallHistogram::new(Duration::from_millis(20));
        // A second in which the thread ran on time, except for one stall of 100 ms.
        let mut at = 0;
        for _ in 0..900 {
            at += MS;
            histogram.record(Nanos(at), Nanos(at + 10_000), INTERVAL);
        }
        histogram.record(Nanos(at), Nanos(at + 100 * MS), INTERVAL);
        let summary = histogram.take();
        let delays = summary.delays.unwrap();
        // 100 ms, 99 ms, … 1 ms; without them the 99th percentile would be 10 µs.
        assert_eq!(delays.count, 900 + 100);
        assert!(delays.max_ns.abs_diff(100 * MS) <= MS / 10, "{delays:?}");
        assert!(delays.p99_ns.abs_diff(90 * MS) <= MS, "{delays:?}");
        assert_eq!(summary.stalls, [(Nanos(at), Nanos(at + 100 * MS))]);
        assert_eq!(histogram.take(), StallSummary { interval: INTERVAL, ..StallSummary::default() });
    }

    #[test]
    fn many_and_very_long_stalls_are_bounded() {
        let mut histogram = StallHistogram::new(Duration::from_millis(20));
        for at in 0..150 {
            histogram.record(Nanos(at), Nanos(at + 30 * MS), INTERVAL);
        }
        histogram.record(Nanos(0), Nanos(u64::MAX), INTERVAL);
        histogram.record(Nanos(10), Nanos(5), INTERVAL);
        let summary = histogram.take();
        assert_eq!((summary.stalls.len(), summary.stalls_omitted), (STALLS_MAX, 51));
        assert!(summary.delays.unwrap().max_ns >= DELAY_MAX_NS);
        // An hour is filled in by its milliseconds.
        assert!(summary.delays.unwrap().count > 3_600_000);
    }
}
