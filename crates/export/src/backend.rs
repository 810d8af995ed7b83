//! The common parts of JMeter's two backend listeners.

use std::collections::BTreeMap;
use std::sync::Arc;

use busyhour_sample::{
    FailureCount, OutcomeTimes, SampleKind, SecondUsers, Snapshot, SnapshotRow, TimeCounts,
};

/// Returns how many users have started and finished so far; `None` if this is not known.
pub type UsersSoFar = Arc<dyn Fn() -> Option<(u64, u64)> + Send + Sync>;

/// Selects the labels that have their own metrics.
#[derive(Debug, Clone)]
pub enum SamplerFilter {
    /// The labels with these names.
    Named(Vec<String>),
    /// The labels that contain a match of the pattern.
    Find(regex::Regex),
}

impl SamplerFilter {
    /// Selects every label.
    #[must_use]
    pub fn all() -> SamplerFilter {
        SamplerFilter::Find(
            regex::Regex::new("").unwrap_or_else(|_| unreachable!("an empty pattern is valid")),
        )
    }

    fn takes(&self, label: &str) -> bool {
        match self {
            SamplerFilter::Named(names) => names.iter().any(|name| name == label),
            SamplerFilter::Find(pattern) => pattern.is_match(label),
        }
    }
}

/// The settings that both listeners have.
#[derive(Clone)]
pub struct BackendSettings {
    /// Whether only the metrics of all samples together are sent.
    pub summary_only: bool,
    /// The labels that have their own metrics, unless `summary_only`.
    pub samplers: SamplerFilter,
    /// Percentiles, as numbers from 0 to 100.
    pub percentiles: Vec<f64>,
    /// Seconds between two sets of metrics.
    pub interval_s: u64,
    /// Number of users started and finished.
    pub users: UsersSoFar,
}

impl std::fmt::Debug for BackendSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BackendSettings")
            .field("summary_only", &self.summary_only)
            .field("samplers", &self.samplers)
            .field("percentiles", &self.percentiles)
            .field("interval_s", &self.interval_s)
            .finish_non_exhaustive()
    }
}

impl BackendSettings {
    /// Parses percentiles as JMeter does: numbers separated by semicolons. Anything that is not a number from 0 to 100 is
    /// ignored.
    #[must_use]
    pub fn percentiles_of(text: &str) -> Vec<f64> {
        text.split(';')
            .filter_map(|text| text.trim().parse().ok())
            .filter(|p| (0.0..=100.0).contains(p))
            .collect()
    }
}

/// The metrics of one interval.
#[derive(Debug, Default)]
pub(crate) struct Interval {
    seconds: u64,
    /// Number of the last second in the interval.
    pub(crate) last: u64,
    pub(crate) labels: BTreeMap<String, Metric>,
    pub(crate) all: Metric,
    pub(crate) users: Option<SecondUsers>,
}

/// The metrics of one label, or of all samples.
#[derive(Debug, Default)]
pub(crate) struct Metric {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    /// Number of samples. In the metrics of all samples, only requests are counted.
    pub(crate) hits: u64,
    pub(crate) received: u64,
    pub(crate) sent: u64,
    /// JMeter's `elapsed`, which counts from the actual start.
    pub(crate) elapsed: OutcomeTimes,
    pub(crate) failures: Vec<FailureCount>,
}

impl Metric {
    pub(crate) const fn total(&self) -> u64 {
        self.passed + self.failed
    }

    pub(crate) fn all_times(&self) -> TimeCounts {
        self.elapsed.all()
    }

    fn add(&mut self, row: &SnapshotRow, cumulated: bool) {
        self.passed += row.samples.saturating_sub(row.errors);
        self.failed += row.errors;
        self.elapsed.merge(&row.service);
        // The requests of a transaction are already counted themselves.
        if !cumulated || row.kind == SampleKind::Request {
            self.hits += row.samples;
            self.received += row.bytes;
            self.sent += row.sent_bytes;
        }
        for failure in &row.failures {
            let same = |known: &&mut FailureCount| {
                known.code == failure.code
                    && known.message == failure.message
                    && known.assertion == failure.assertion
            };
            match self.failures.iter_mut().find(same) {
                Some(known) => known.errors += failure.errors,
                None => self.failures.push(failure.clone()),
            }
        }
    }
}

impl Interval {
    /// Adds a second; returns the interval if this second completes it.
    pub(crate) fn second(&mut self, snapshot: &Snapshot, settings: &BackendSettings) -> Option<Interval> {
        for row in &snapshot.rows {
            if !settings.summary_only && settings.samplers.takes(&row.label) {
                self.labels.entry(row.label.clone()).or_default().add(row, false);
            }
            // As in JMeter, the sum of all samples includes transactions.
            self.all.add(row, true);
        }
        if let Some(users) = &snapshot.users {
            self.users.get_or_insert(SecondUsers { sum: 0, samples: 0, ..*users }).merge(users);
        }
        self.last = snapshot.second;
        self.seconds += 1;
        (self.seconds >= settings.interval_s.max(1)).then(|| std::mem::take(self))
    }

    /// Returns the incomplete interval at the end of a run.
    pub(crate) fn rest(&mut self) -> Option<Interval> {
        (self.seconds > 0).then(|| std::mem::take(self))
    }
}
