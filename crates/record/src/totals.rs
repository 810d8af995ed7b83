//! What a run adds up to: counts, exact sums, histograms and the kinds of error.

use serde::{Deserialize, Serialize};

use crate::aggregator_settings::AggregatorSettings;
use crate::over_time::LabelSeries;
use crate::sample::{Nanos, Sample, SampleFlags};
use crate::time_histogram::TimeHistogram;

/// Most labels (of each kind of sample) that have numbers of their own; the samples of the others are counted together
/// under [`OTHER_LABELS`]. Histograms take some 100 KiB per label: a plan that puts a number into its labels would
/// use up the memory otherwise.
pub const LABELS_MAX: usize = 1_000;

/// The name under which samples of further labels are counted.
pub const OTHER_LABELS: &str = "(other labels)";

/// The distribution of one of the two clocks: service time or response time.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Values in µs, cut to whole ones.
    pub histogram: TimeHistogram,
    /// Exact sum in ns.
    pub sum_ns: u128,
    /// Exact sum of squares in ns².
    pub sum_squares_ns2: u128,
    /// Least value in ns; `u64::MAX` when there is none.
    pub min_ns: u64,
    /// Largest value in ns.
    pub max_ns: u64,
}

impl Clock {
    fn new() -> Clock {
        Clock {
            histogram: TimeHistogram::default(),
            sum_ns: 0,
            sum_squares_ns2: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    fn add(&mut self, ns: u64) {
        self.histogram.add(ns / 1_000);
        self.sum_ns += u128::from(ns);
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(u128::from(ns) * u128::from(ns));
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn merge(&mut self, other: &Clock) {
        self.histogram.merge(&other.histogram);
        self.sum_ns += other.sum_ns;
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(other.sum_squares_ns2);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Number of values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// Mean in ms from the exact sum; 0 without values.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.sum_ns as f64 / self.count() as f64 / 1e6 }
    }

    /// Standard deviation of the sample (divisor n − 1) in ms; 0 for fewer than two values.
    #[must_use]
    pub fn stddev_ms(&self) -> f64 {
        let n = self.count();
        if n < 2 {
            return 0.0;
        }
        // n·Σx² − (Σx)² in integers: no cancellation.
        let n = u128::from(n);
        let squares = n.checked_mul(self.sum_squares_ns2).zip(self.sum_ns.checked_mul(self.sum_ns));
        let spread = match squares {
            Some((left, right)) => left.saturating_sub(right) as f64,
            None => (n as f64 * self.sum_squares_ns2 as f64 - (self.sum_ns as f64).powi(2)).max(0.0),
        };
        (spread / (n as f64 * (n - 1) as f64)).sqrt() / 1e6
    }

    /// The quantile `q` (0..=1) in ms: the least histogram value that at least `⌈q·n⌉` samples do not exceed, never
    /// outside the exact extremes; 0 without values.
    #[must_use]
    pub fn quantile_ms(&self, q: f64) -> f64 {
        if self.count() == 0 {
            return 0.0;
        }
        let us = self.histogram.quantile_us(q);
        ((us as f64) / 1e3).clamp(self.min_ms(), self.max_ms())
    }

    /// Least value in ms; 0 without values.
    #[must_use]
    pub fn min_ms(&self) -> f64 {
        if self.count() == 0 { 0.0 } else { self.min_ns as f64 / 1e6 }
    }

    /// Largest value in ms.
    #[must_use]
    pub fn max_ms(&self) -> f64 {
        self.max_ns as f64 / 1e6
    }
}

/// JMeter's view of the times: `elapsed` in whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElapsedMs {
    /// Sum over the rows.
    pub sum: i64,
    /// Least; `i64::MAX` when there is none.
    pub min: i64,
    /// Largest; `i64::MIN` when there is none.
    pub max: i64,
}

impl ElapsedMs {
    pub(crate) const fn new() -> ElapsedMs {
        ElapsedMs { sum: 0, min: i64::MAX, max: i64::MIN }
    }

    pub(crate) fn add(&mut self, ms: i64) {
        self.sum += ms;
        self.min = self.min.min(ms);
        self.max = self.max.max(ms);
    }
}

/// Counts and times of one label, or of the whole run.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Samples (a row can stand for more than one).
    pub samples: u64,
    /// Failed samples.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// End − actual start.
    pub service: Clock,
    /// End − intended start.
    pub response: Clock,
    /// JMeter's elapsed.
    pub elapsed: ElapsedMs,
    /// Samples that passed within the first of [`RunTotals::apdex`]'s limits.
    pub satisfied: u64,
    /// Samples that passed within the second, but not the first.
    pub tolerated: u64,
    /// Least start stamp.
    pub first_start: Nanos,
    /// Largest end stamp.
    pub last_end: Nanos,
}

impl Totals {
    pub(crate) fn new() -> Totals {
        Totals {
            samples: 0,
            errors: 0,
            bytes: 0,
            sent_bytes: 0,
            service: Clock::new(),
            response: Clock::new(),
            elapsed: ElapsedMs::new(),
            satisfied: 0,
            tolerated: 0,
            first_start: Nanos::MAX,
            last_end: Nanos::ZERO,
        }
    }

    pub(crate) fn add(&mut self, sample: &Sample<'_>, settings: &AggregatorSettings) {
        self.samples += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count);
        // A damaged result file can hold any number.
        self.bytes = self.bytes.saturating_add(sample.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(sample.sent_bytes);
        let response_ns = sample.response_ns();
        if !settings.one_clock {
            self.service.add(sample.service_ns());
        }
        self.response.add(response_ns);
        if sample.success {
            let count = u64::from(sample.sample_count);
            let satisfied = response_ns <= settings.apdex.satisfied_ns;
            self.satisfied += if satisfied { count } else { 0 };
            self.tolerated +=
                if !satisfied && response_ns <= settings.apdex.tolerated_ns { count } else { 0 };
        }
        self.elapsed.add(sample.elapsed_ms());
        self.first_start = self.first_start.min(sample.start);
        self.last_end = self.last_end.max(sample.end);
    }

    /// Completes what was kept once.
    pub(crate) fn finish(&mut self, settings: &AggregatorSettings) {
        if settings.one_clock {
            self.service = self.response.clone();
        }
    }

    /// Adds what `other` counted.
    pub fn merge(&mut self, other: &Totals) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(other.sent_bytes);
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.elapsed.sum += other.elapsed.sum;
        self.elapsed.min = self.elapsed.min.min(other.elapsed.min);
        self.elapsed.max = self.elapsed.max.max(other.elapsed.max);
        self.satisfied += other.satisfied;
        self.tolerated += other.tolerated;
        self.first_start = self.first_start.min(other.first_start);
        self.last_end = self.last_end.max(other.last_end);
    }

    /// Seconds from the first start to the last end.
    #[must_use]
    pub fn span_s(&self) -> f64 {
        self.last_end.since(self.first_start) as f64 / 1e9
    }
}

/// What kind of sample a row of the table counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleKind {
    /// A sampler's own sample.
    Request,
    /// The sample of a transaction controller: not in the total, as in JMeter's summary.
    Transaction,
    /// Part of another sample: not in the total.
    SubResult,
}

impl SampleKind {
    /// The kind that a sample's flags say.
    #[must_use]
    pub const fn of(flags: SampleFlags) -> SampleKind {
        if flags.contains(SampleFlags::SUB_RESULT) {
            SampleKind::SubResult
        } else if flags.contains(SampleFlags::TRANSACTION) {
            SampleKind::Transaction
        } else {
            SampleKind::Request
        }
    }
}

/// The totals of one label.
#[derive(Debug, Clone)]
pub struct LabelTotals {
    /// The label.
    pub name: String,
    /// What was counted.
    pub kind: SampleKind,
    /// The counts and times.
    pub totals: Totals,
    /// The label over time; `None` when nothing of it ended, and for sub-results.
    pub series: Option<LabelSeries>,
}

/// What a window leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The window's ends: samples count that start from the first on, and before the second.
    pub window: (Nanos, Nanos),
    /// Requests that started before it.
    pub before: u64,
    /// Requests that started after it.
    pub after: u64,
}

impl LeftOut {
    /// Whether `sample` counts in `window`; when not, it is counted as left out.
    pub(crate) fn takes(&mut self, window: (Nanos, Nanos), sample: &Sample<'_>, is_request: bool) -> bool {
        self.window = window;
        let count = if is_request { u64::from(sample.sample_count) } else { 0 };
        if sample.start < window.0 {
            self.before += count;
        } else if sample.start >= window.1 {
            self.after += count;
        } else {
            return true;
        }
        false
    }
}
