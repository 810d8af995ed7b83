//! What a run adds up to: counts, exact sums, histograms and the kinds of error.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::book::BookSettings;
use crate::group_totals::{GroupTotals, name_groups};
use crate::over_time::{Heat, LabelSeries};
use crate::recorder::RunNames;
use crate::sample::{LabelId, Nanos, Sample, SampleFlags};
use crate::slowest::SlowRequest;
use crate::starts::SecondCounts;
use crate::time_histogram::TimeHistogram;

/// Significant digits of every histogram.
pub const HISTOGRAM_DIGITS: u8 = 3;

/// Most kinds of error kept apart; the rest is counted together.
pub const ERROR_KINDS_MAX: usize = 1_000;

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

    pub(crate) fn add(&mut self, sample: &Sample<'_>, settings: &BookSettings) {
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
    pub(crate) fn finish(&mut self, settings: &BookSettings) {
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

/// What response times count for the Application Performance Index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApdexLimits {
    /// Up to here a user is satisfied, in ns.
    pub satisfied_ns: u64,
    /// Up to here a user tolerates it, in ns.
    pub tolerated_ns: u64,
}

impl Default for ApdexLimits {
    /// JMeter's: 500 ms and 1,500 ms (`jmeter.reportgenerator.apdex_satisfied_threshold` and `…_tolerated_threshold`).
    fn default() -> Self {
        ApdexLimits { satisfied_ns: 500_000_000, tolerated_ns: 1_500_000_000 }
    }
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

/// One way in which samples failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorKind {
    /// Response code.
    pub code: String,
    /// The first failed assertion's message, or the response message when no assertion failed.
    pub message: String,
    /// How many samples.
    pub count: u64,
    /// End of the first.
    pub first: Nanos,
    /// End of the last.
    pub last: Nanos,
    /// The label of the first.
    pub example_label: String,
}

/// Bytes of a message by which kinds of error are told apart; longer ones are cut.
const ERROR_TEXT_BYTES_MAX: usize = 1_000;

/// The kinds of error, bounded.
#[derive(Debug, Default)]
pub(crate) struct ErrorKinds {
    by_code: HashMap<String, HashMap<String, (LabelId, ErrorKind)>>,
    kinds: usize,
    other: u64,
}

impl ErrorKinds {
    pub(crate) fn add(&mut self, sample: &Sample<'_>) {
        let reason = if sample.failure_message.is_empty() { sample.message } else { sample.failure_message };
        // Servers choose these texts: a thousand of them must not fill the memory.
        let mut end = reason.len().min(ERROR_TEXT_BYTES_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let reason = &reason[..end];
        let count = u64::from(sample.error_count.max(1));
        if let Some((_, kind)) = self.by_code.get_mut(sample.code).and_then(|m| m.get_mut(reason)) {
            kind.count += count;
            kind.first = kind.first.min(sample.end);
            kind.last = kind.last.max(sample.end);
            return;
        }
        if self.kinds >= ERROR_KINDS_MAX {
            self.other += count;
            return;
        }
        self.kinds += 1;
        let kind = ErrorKind {
            code: sample.code.to_owned(),
            message: reason.to_owned(),
            count,
            first: sample.end,
            last: sample.end,
            example_label: String::new(),
        };
        self.by_code
            .entry(sample.code.to_owned())
            .or_default()
            .insert(reason.to_owned(), (sample.label, kind));
    }

    /// The kinds, most frequent first, and the number of errors of further kinds.
    pub(crate) fn finish(self, name: impl Fn(LabelId) -> String) -> (Vec<ErrorKind>, u64) {
        let mut kinds: Vec<ErrorKind> = self
            .by_code
            .into_values()
            .flat_map(HashMap::into_values)
            .map(|(label, kind)| ErrorKind { example_label: name(label), ..kind })
            .collect();
        kinds.sort_by(|a, b| {
            b.count.cmp(&a.count).then_with(|| a.code.cmp(&b.code)).then_with(|| a.message.cmp(&b.message))
        });
        (kinds, self.other)
    }
}

/// Everything that was added up in a run.
#[derive(Debug, Clone)]
pub struct RunTotals {
    /// All requests: without the samples of transaction controllers and without sub-results.
    pub total: Totals,
    /// Per label and kind, in order of first appearance.
    pub labels: Vec<LabelTotals>,
    /// Per thread group, in the order of their numbers, where requests of several count; empty otherwise.
    pub groups: Vec<GroupTotals>,
    /// Thread groups that samples were of, as [`crate::Sample::group`] numbers them, whether or not they are told apart.
    pub active_groups: Vec<u32>,
    /// The kinds of error among the requests, most frequent first; at most [`ERROR_KINDS_MAX`].
    pub errors: Vec<ErrorKind>,
    /// Errors of kinds beyond that number.
    pub errors_other: u64,
    /// One point per second in which a request ended.
    pub seconds: Vec<crate::SecondPoint>,
    /// Response times of requests over the run; `None` when no request ended.
    pub heat: Option<Heat>,
    /// The slowest requests, slowest first.
    pub slowest: Vec<SlowRequest>,
    /// Requests that started in each second; `None` when stamps lie too far apart for that.
    pub started: Option<SecondCounts>,
    /// Arrivals of open workloads that were scheduled for each second; `None` without such workloads.
    pub offered: Option<SecondCounts>,
    /// By what [`Totals::satisfied`] and [`Totals::tolerated`] were counted.
    pub apdex: ApdexLimits,
    /// The window in which samples count, and what it left out; `None` when all count. Series are of all.
    pub window: Option<LeftOut>,
    /// Samples before the measured part, in no other number.
    pub warmup_samples: u64,
    /// Samples that reached the recorder after their second had been closed; they are in every total, and in the
    /// series under a later second.
    pub late_samples: u64,
    /// Samples that are counted under [`OTHER_LABELS`].
    pub other_label_samples: u64,
    /// What went wrong while writing.
    pub events: Vec<crate::RecorderEvent>,
}

impl RunTotals {
    pub(crate) fn empty() -> RunTotals {
        RunTotals {
            total: Totals::new(),
            labels: Vec::new(),
            groups: Vec::new(),
            active_groups: Vec::new(),
            errors: Vec::new(),
            errors_other: 0,
            seconds: Vec::new(),
            heat: None,
            slowest: Vec::new(),
            started: None,
            offered: None,
            apdex: ApdexLimits::default(),
            window: None,
            warmup_samples: 0,
            late_samples: 0,
            other_label_samples: 0,
            events: Vec::new(),
        }
    }
}

/// Where a run's instants count from.
impl RunTotals {
    /// The first second in which a request started or anything ended.
    pub(crate) fn first_second(&self) -> Option<u64> {
        let started = self.started.as_ref().filter(|started| !started.counts.is_empty());
        let rows = self.labels.iter().filter(|label| label.totals.first_start < Nanos::MAX);
        let starts = rows.map(|label| label.totals.first_start.second());
        let ends = self.seconds.first().map(|point| point.second);
        starts.chain(started.map(|started| started.first)).chain(ends).min()
    }

    /// Gives the thread groups their names; of a single one nothing is kept apart.
    pub(crate) fn name_groups(&mut self, names: &RunNames) {
        self.groups = name_groups(std::mem::take(&mut self.groups), names);
    }

    /// Makes everything count from an instant that is so many seconds later.
    pub(crate) fn move_origin(&mut self, seconds: u64) {
        let ns = Nanos::from_secs(seconds).0;
        let rows = self.labels.iter_mut().map(|label| &mut label.totals);
        let groups = self.groups.iter_mut().flat_map(GroupTotals::all_totals);
        for totals in rows.chain(groups).chain([&mut self.total]) {
            // Without samples they are no instants.
            if totals.first_start < Nanos::MAX {
                totals.first_start = totals.first_start - ns;
            }
            totals.last_end = totals.last_end - ns;
        }
        for series in self.labels.iter_mut().filter_map(|label| label.series.as_mut()) {
            series.from_second = series.from_second.saturating_sub(seconds);
        }
        for error in &mut self.errors {
            (error.first, error.last) = (error.first - ns, error.last - ns);
        }
        for point in &mut self.seconds {
            point.second = point.second.saturating_sub(seconds);
        }
        if let Some(heat) = &mut self.heat {
            heat.from_second = heat.from_second.saturating_sub(seconds);
        }
        for request in &mut self.slowest {
            request.start = request.start - ns;
        }
        for counts in [&mut self.started, &mut self.offered].into_iter().flatten() {
            counts.first = counts.first.saturating_sub(seconds);
        }
        if let Some(left_out) = &mut self.window {
            left_out.window = (left_out.window.0 - ns, left_out.window.1 - ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Labels;

    #[test]
    fn long_messages_are_kept_in_part_and_told_apart_by_it() {
        let label = Labels::new().intern("page");
        let mut kinds = ErrorKinds::default();
        let same = "é".repeat(ERROR_TEXT_BYTES_MAX);
        for end in ["a", "b"] {
            let message = format!("x{same}{end}");
            kinds.add(&Sample { label, code: "500", message: &message, error_count: 1, ..Sample::default() });
        }
        let (kinds, other) = kinds.finish(|_| "page".into());
        assert_eq!((kinds.len(), kinds[0].count, other), (1, 2, 0));
        assert_eq!(kinds[0].message.len(), ERROR_TEXT_BYTES_MAX - 1, "cut between two characters");
    }
}
