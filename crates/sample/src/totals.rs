//! Counts and times of samples: of one label, of one thread group or of the whole run.

use crate::apdex_limits::ApdexLimits;
use crate::nanos::Nanos;
use crate::over_time::{LabelSeries, LabelSlices};
use crate::sample::Sample;
use crate::sample_flags::SampleKind;
use crate::time_distribution::{ElapsedMs, TimeDistribution};

/// How samples are counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct TotalsSettings {
    /// Whether intended starts are unknown. Response times then equal service times and are counted only once.
    pub only_actual_starts: bool,
    /// The limits of the Application Performance Index.
    pub apdex: ApdexLimits,
    /// The window, from its start (inclusive) to its end (exclusive): only samples that start in it are counted. `None` if all
    /// samples are counted. Time series and heat map contain all samples.
    pub window: Option<(Nanos, Nanos)>,
}

/// Counts and times of one label, of one thread group or of the whole run.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Number of samples (a row can represent more than one).
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Number of bytes received.
    pub bytes: u64,
    /// Number of bytes sent.
    pub sent_bytes: u64,
    /// Service times (end − actual start).
    pub service: TimeDistribution,
    /// Response times (end − intended start).
    pub response: TimeDistribution,
    /// JMeter's `elapsed`.
    pub elapsed: ElapsedMs,
    /// Number of successful samples within the first limit of [`crate::RunTotals::apdex`].
    pub satisfied: u64,
    /// Number of successful samples within the second limit but not the first.
    pub tolerated: u64,
    /// Earliest start.
    pub first_start: Nanos,
    /// Latest end.
    pub last_end: Nanos,
}

impl Default for Totals {
    fn default() -> Self {
        Totals::new()
    }
}

impl Totals {
    /// Totals without samples.
    pub fn new() -> Totals {
        Totals {
            samples: 0,
            errors: 0,
            bytes: 0,
            sent_bytes: 0,
            service: TimeDistribution::new(),
            response: TimeDistribution::new(),
            elapsed: ElapsedMs::new(),
            satisfied: 0,
            tolerated: 0,
            first_start: Nanos::MAX,
            last_end: Nanos::ZERO,
        }
    }

    /// Counts a sample.
    pub fn add(&mut self, sample: &Sample<'_>, settings: &TotalsSettings) {
        self.samples += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count);
        // A damaged result file can contain any number.
        self.bytes = self.bytes.saturating_add(sample.sizes.bytes());
        self.sent_bytes = self.sent_bytes.saturating_add(sample.sizes.sent_bytes);
        let response_ns = sample.response_ns();
        if !settings.only_actual_starts {
            self.service.add(sample.service_ns());
        }
        self.response.add(response_ns);
        if sample.outcome.success {
            let count = u64::from(sample.sample_count);
            let satisfied = response_ns <= settings.apdex.satisfied_ns;
            self.satisfied += if satisfied { count } else { 0 };
            self.tolerated +=
                if !satisfied && response_ns <= settings.apdex.tolerated_ns { count } else { 0 };
        }
        self.elapsed.add(sample.elapsed_ms());
        self.first_start = self.first_start.min(sample.times.start);
        self.last_end = self.last_end.max(sample.times.end);
    }

    /// If only response times were counted, copies them to the service times.
    pub fn finish(&mut self, settings: &TotalsSettings) {
        if settings.only_actual_starts {
            self.service = self.response.clone();
        }
    }

    /// Adds the totals of `other`.
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

/// The totals of one label.
#[derive(Debug, Clone)]
pub struct LabelTotals {
    /// The label.
    pub name: String,
    /// The kind of the samples.
    pub kind: SampleKind,
    /// The counts and times.
    pub totals: Totals,
    /// The time series of the label; `None` for sub-results, and if no sample ended.
    pub series: Option<LabelSeries>,
    /// The times of the label in slices, which the search for incidents uses first; `None` in the same cases as `series`.
    pub slices: Option<LabelSlices>,
}

/// The numbers of requests outside the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OutsideWindow {
    /// The window, from its start (inclusive) to its end (exclusive).
    pub window: (Nanos, Nanos),
    /// Number of requests that started before the window.
    pub before: u64,
    /// Number of requests that started after the window.
    pub after: u64,
}

impl OutsideWindow {
    /// Returns whether `sample` is in `window`. Otherwise counts it as outside if it is a request.
    pub fn admits(&mut self, window: (Nanos, Nanos), sample: &Sample<'_>, is_request: bool) -> bool {
        self.window = window;
        let count = if is_request { u64::from(sample.sample_count) } else { 0 };
        if sample.times.start < window.0 {
            self.before += count;
        } else if sample.times.start >= window.1 {
            self.after += count;
        } else {
            return true;
        }
        false
    }
}
