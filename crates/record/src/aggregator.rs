//! The totals of a run in progress, and its time series.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::error_kinds::ErrorKinds;
use crate::group_totals::{GroupTotals, LabelParts};
use crate::label_rows::{LabelRows, row_label};
use crate::labels::Labels;
use crate::over_time::{OverTime, RowSecond};
use crate::recorder_event::RecorderEvent;
use crate::run_totals::RunTotals;
use crate::sample::{LabelId, Nanos, Sample, SampleFlags, SampleKind};
use crate::second_point::{SecondPoint, SecondTimes};
use crate::slowest::Slowest;
use crate::starts::SecondCounts;
use crate::totals::{LabelTotals, OutsideWindow, Totals, TotalsSettings};

/// Seconds that stay open for cores that report late. If another one is needed, the oldest is closed without them.
const OPEN_SECONDS_MAX: usize = 30;

/// Computes totals and time series from samples.
pub(crate) struct Aggregator {
    labels: Labels,
    settings: TotalsSettings,
    rows: LabelRows,
    /// The totals of each row.
    row_parts: Vec<LabelParts>,
    /// Parts of all rows: one for each thread group of a row.
    parts: usize,
    other_samples: u64,
    errors: ErrorKinds,
    warmup: u64,
    late: u64,
    /// The open seconds, without gaps; the first one has the number `open_from`.
    open: VecDeque<Second>,
    open_from: u64,
    /// Cleared seconds, whose memory is reused.
    spare: Vec<Second>,
    closed: VecDeque<Second>,
    points: Vec<SecondPoint>,
    watermark: Nanos,
    /// Times of the second that is being closed; its memory is reused.
    times: Vec<u64>,
    over_time: OverTime,
    slowest: Slowest,
    /// `None` when start times are too far apart to be counted by second.
    started: Option<SecondCounts>,
    offered: Option<SecondCounts>,
    outside: OutsideWindow,
}

/// The samples of one second.
#[derive(Default)]
pub(crate) struct Second {
    pub(crate) number: u64,
    pub(crate) requests: u64,
    errors: u64,
    bytes: u64,
    sent_bytes: u64,
    users: u32,
    service_ns: u128,
    response_ns: u128,
    /// By index of the aggregator's row. Empty for sub-results.
    pub(crate) rows: Vec<RowSecond>,
}

impl Second {
    fn clear(&mut self, number: u64) {
        let mut rows = std::mem::take(&mut self.rows);
        for row in &mut rows {
            row.times.clear();
            *row = RowSecond { times: std::mem::take(&mut row.times), ..RowSecond::default() };
        }
        *self = Second { number, rows, ..Second::default() };
    }

    fn add(&mut self, row: usize, sample: &Sample<'_>, request: bool) {
        if self.rows.len() <= row {
            self.rows.resize_with(row + 1, RowSecond::default);
        }
        let row = &mut self.rows[row];
        row.samples += u64::from(sample.sample_count);
        row.errors += u64::from(sample.error_count);
        let (service, response) = (sample.service_ns(), sample.response_ns());
        row.times.push((service / 1_000, response / 1_000));
        if !request {
            return;
        }
        row.is_request = true;
        self.requests += u64::from(sample.sample_count);
        self.errors += u64::from(sample.error_count);
        self.bytes = self.bytes.saturating_add(sample.bytes);
        self.sent_bytes = self.sent_bytes.saturating_add(sample.sent_bytes);
        self.users = self.users.max(sample.users.all);
        self.service_ns += u128::from(service);
        self.response_ns += u128::from(response);
    }

    /// Copies the times of the requests, chosen by `of`, into `into`.
    fn times_of_requests(&self, of: impl Fn(&(u64, u64)) -> u64, into: &mut Vec<u64>) {
        into.clear();
        for row in self.rows.iter().filter(|row| row.is_request) {
            into.extend(row.times.iter().map(&of));
        }
    }
}

/// Adds to the second of `at`. Sets the counts to `None` if the time is too far from the others.
fn count_at(counts: &mut Option<SecondCounts>, at: Nanos, count: u64) {
    if let Some(known) = counts
        && !known.add(at.second(), count)
    {
        *counts = None;
    }
}

impl Aggregator {
    pub(crate) fn new(labels: Labels, settings: TotalsSettings) -> Aggregator {
        Aggregator {
            labels,
            settings,
            rows: LabelRows::default(),
            row_parts: Vec::new(),
            parts: 0,
            other_samples: 0,
            errors: ErrorKinds::default(),
            warmup: 0,
            late: 0,
            open: VecDeque::new(),
            open_from: 0,
            spare: Vec::new(),
            closed: VecDeque::new(),
            points: Vec::new(),
            watermark: Nanos::ZERO,
            times: Vec::new(),
            over_time: OverTime::new(),
            slowest: Slowest::default(),
            started: Some(SecondCounts::default()),
            offered: Some(SecondCounts::default()),
            outside: OutsideWindow::default(),
        }
    }

    /// Adds `sample`; returns whether it counts in the run's total.
    pub(crate) fn add(&mut self, sample: &Sample<'_>) -> bool {
        if sample.flags.contains(SampleFlags::LISTENERS_ONLY) {
            return false;
        }
        if sample.flags.contains(SampleFlags::WARMUP) {
            self.warmup += u64::from(sample.sample_count);
            return false;
        }
        let kind = SampleKind::of(sample.flags);
        let (row, is_other) = self.rows.of(sample.label, kind);
        self.other_samples += u64::from(is_other);
        if self.row_parts.len() <= row {
            self.row_parts.push(LabelParts::default());
        }
        let request = kind == SampleKind::Request;
        let counts = self.settings.window.is_none_or(|window| self.outside.admits(window, sample, request));
        if counts {
            self.row_parts[row].add(sample, &self.settings, &mut self.parts);
        }
        if kind == SampleKind::SubResult {
            return false;
        }
        self.second(sample.times.end.second()).add(row, sample, request);
        if request {
            let count = u64::from(sample.sample_count);
            count_at(&mut self.started, sample.times.start, count);
        }
        if !(request && counts) {
            return false;
        }
        self.slowest.add(sample);
        if !sample.success {
            self.errors.add(sample);
        }
        true
    }

    /// Counts an arrival of an open workload that was scheduled for `at`.
    pub(crate) fn offer(&mut self, at: Nanos) {
        count_at(&mut self.offered, at, 1);
    }

    /// The label and kind of a row.
    pub(crate) fn row_name(&self, row: usize) -> Option<(Arc<str>, SampleKind)> {
        self.rows.get(row).map(|(label, kind)| (row_label(&self.labels, label), kind))
    }

    fn second(&mut self, number: u64) -> &mut Second {
        if number < self.open_from {
            self.late += 1;
        }
        // Limits the number of open seconds, also after a long gap.
        while !self.open.is_empty() && number >= self.open_from.saturating_add(OPEN_SECONDS_MAX as u64) {
            self.close_one();
            if self.open.iter().all(|second| second.rows.iter().all(|row| row.times.is_empty())) {
                self.spare.extend(self.open.drain(..));
            }
        }
        if self.open.is_empty() && number > self.open_from {
            self.open_from = number;
        }
        let at = number.saturating_sub(self.open_from) as usize;
        while self.open.len() <= at {
            let mut second = self.spare.pop().unwrap_or_default();
            second.clear(self.open_from + self.open.len() as u64);
            self.open.push_back(second);
        }
        &mut self.open[at]
    }

    fn close_one(&mut self) {
        let Some(second) = self.open.pop_front() else { return };
        self.open_from = second.number + 1;
        self.over_time.add(second.number, &second.rows);
        if second.requests > 0 {
            second.times_of_requests(|(_, response)| *response, &mut self.times);
            let response = SecondTimes::of(&mut self.times, second.response_ns);
            let service = if self.settings.one_clock {
                response
            } else {
                second.times_of_requests(|(service, _)| *service, &mut self.times);
                SecondTimes::of(&mut self.times, second.service_ns)
            };
            self.points.push(SecondPoint {
                second: second.number,
                requests: second.requests,
                errors: second.errors,
                bytes: second.bytes,
                sent_bytes: second.sent_bytes,
                service,
                response,
                users: second.users,
            });
        }
        self.closed.push_back(second);
    }

    /// Closes the seconds before `watermark`; returns whether closed seconds are available.
    pub(crate) fn advance(&mut self, watermark: Nanos) -> bool {
        self.watermark = self.watermark.max(watermark);
        while !self.open.is_empty() && self.open_from < self.watermark.second() {
            self.close_one();
        }
        if self.open.is_empty() {
            self.open_from = self.open_from.max(self.watermark.second());
        }
        !self.closed.is_empty()
    }

    /// Closes every second.
    pub(crate) fn close_all(&mut self) {
        while !self.open.is_empty() {
            self.close_one();
        }
    }

    /// The next closed second; return it with [`Aggregator::recycle`].
    pub(crate) fn next_closed(&mut self) -> Option<Second> {
        self.closed.pop_front()
    }

    pub(crate) fn recycle(&mut self, second: Second) {
        if self.spare.len() < 4 {
            self.spare.push(second);
        }
    }

    pub(crate) fn last_second(&self) -> Option<SecondPoint> {
        self.points.last().copied()
    }

    pub(crate) fn finish(self, events: Vec<RecorderEvent>) -> RunTotals {
        let labels = self.labels;
        let name = |id: LabelId| row_label(&labels, id).to_string();
        let (errors, errors_other) = self.errors.finish(name);
        let over_time = self.over_time;
        let mut rows: Vec<_> = self.row_parts.into_iter().enumerate().collect();
        rows.sort_by_key(|(row, _)| self.rows.get(*row));
        // The total is merged from the rows: adding each sample to it as well would double the cost.
        let mut total = Totals::new();
        let mut groups: BTreeMap<u32, GroupTotals> = BTreeMap::new();
        let mut labels = Vec::new();
        for (row, parts) in rows {
            let Some((label, kind)) = self.rows.get(row) else { continue };
            let (mut totals, parts) = parts.finish();
            // Such a row exists only for its time series.
            if self.settings.window.is_some() && totals.response.count() == 0 {
                continue;
            }
            let name = name(label);
            if kind == SampleKind::Request {
                total.merge(&totals);
            }
            for (group, mut part) in parts.into_iter().filter(|_| kind != SampleKind::SubResult) {
                let group = groups.entry(group).or_insert_with(|| GroupTotals::new(group));
                if kind == SampleKind::Request {
                    group.total.merge(&part);
                }
                part.finish(&self.settings);
                group.labels.push(LabelTotals { name: name.clone(), kind, totals: part, series: None });
            }
            totals.finish(&self.settings);
            labels.push(LabelTotals { name, kind, totals, series: over_time.row(row) });
        }
        total.finish(&self.settings);
        let active_groups = groups.keys().copied().collect();
        let mut groups: Vec<GroupTotals> = groups.into_values().collect();
        groups.iter_mut().for_each(|group| group.total.finish(&self.settings));
        RunTotals {
            total,
            labels,
            groups,
            active_groups,
            errors,
            errors_other,
            seconds: self.points,
            heat: over_time.heat(),
            slowest: self.slowest.finish(name),
            started: self.started,
            offered: self.offered.filter(|offered| !offered.counts.is_empty()),
            apdex: self.settings.apdex,
            window: self.settings.window.map(|_| self.outside),
            warmup_samples: self.warmup,
            late_samples: self.late,
            other_label_samples: self.other_samples,
            events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::{LABELS_MAX, OTHER_LABELS};
    use crate::sample::SampleTimes;

    #[test]
    fn labels_beyond_the_limit_are_counted_together() {
        let labels = Labels::new();
        let mut aggregator = Aggregator::new(labels.clone(), TotalsSettings::default());
        let further = 50u64;
        for i in 0..LABELS_MAX as u64 + further {
            let label = labels.intern(&format!("item {i}"));
            for _ in 0..2 {
                aggregator.add(&Sample {
                    label,
                    times: SampleTimes { end: Nanos(1_000_000), ..SampleTimes::default() },
                    ..Sample::default()
                });
            }
        }
        aggregator.close_all();
        let totals = aggregator.finish(Vec::new());
        assert_eq!(totals.total.samples, 2 * (LABELS_MAX as u64 + further));
        assert_eq!((totals.labels.len(), totals.other_label_samples), (LABELS_MAX + 1, 2 * further));
        let other = totals.labels.last().unwrap();
        assert_eq!((other.name.as_str(), other.totals.samples), (OTHER_LABELS, 2 * further));
        assert_eq!(totals.seconds[0].requests, totals.total.samples);
    }

    #[test]
    fn a_transaction_with_a_requests_name_is_not_in_the_total() {
        let labels = Labels::new();
        let label = labels.intern("login");
        let mut aggregator = Aggregator::new(labels, TotalsSettings::default());
        let sample = Sample {
            label,
            times: SampleTimes { end: Nanos::from_millis(10), ..SampleTimes::default() },
            ..Sample::default()
        };
        assert!(aggregator.add(&sample));
        let end = Nanos::from_millis(900);
        assert!(!aggregator.add(&Sample {
            flags: SampleFlags::TRANSACTION,
            times: SampleTimes { end, ..sample.times },
            ..sample
        }));
        aggregator.close_all();
        let totals = aggregator.finish(Vec::new());
        assert_eq!((totals.total.samples, totals.labels.len()), (1, 2));
        assert!((totals.seconds[0].response.max - 10.0).abs() < 0.1);
    }

    #[test]
    fn seconds_close_after_the_slowest_core_and_across_gaps() {
        let mut aggregator = Aggregator::new(Labels::new(), TotalsSettings::default());
        let at = |s| Sample {
            times: SampleTimes { end: Nanos::from_secs(s), ..SampleTimes::default() },
            ..Sample::default()
        };
        aggregator.add(&at(0));
        aggregator.add(&at(2));
        assert!(aggregator.advance(Nanos::from_secs(2)));
        assert_eq!(aggregator.last_second().unwrap().second, 0);
        // A core that reports a day later.
        aggregator.add(&at(86_400));
        aggregator.add(&at(1));
        aggregator.close_all();
        let totals = aggregator.finish(Vec::new());
        assert_eq!(totals.late_samples, 1);
        assert_eq!(totals.seconds.iter().map(|point| point.requests).sum::<u64>(), 4);
    }
}
