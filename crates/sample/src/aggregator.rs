//! The totals of a run in progress, and its time series.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error_kinds::ErrorKinds;
use crate::group_totals::{GroupTotals, LabelParts};
use crate::label_rows::{LabelRows, row_label};
use crate::labels::{Labels, OTHER_LABELS};
use crate::nanos::Nanos;
use crate::recorder_event::RecorderEvent;
use crate::run_totals::RunTotals;
use crate::sample::{LabelId, Sample};
use crate::sample_flags::{SampleFlags, SampleKind};
use crate::second_point::SecondPoint;
use crate::seconds::{ClosedSeconds, OpenSeconds, Second};
use crate::slowest::Slowest;
use crate::starts::SecondCounts;
use crate::totals::{LabelTotals, OutsideWindow, Totals, TotalsSettings};
use crate::user_counts::{UserChange, UserCounts, UsersOverTime};

/// Computes totals and time series from samples.
pub struct Aggregator {
    labels: Labels,
    settings: TotalsSettings,
    rows: LabelRows,
    /// The totals of each row.
    row_parts: Vec<LabelParts>,
    /// Number of parts of all rows: one part for each thread group of a row.
    parts: usize,
    other_samples: u64,
    errors: ErrorKinds,
    warmup: u64,
    seconds: OpenSeconds,
    slowest: Slowest,
    /// Number of requests that started in each second; `None` if start times are too far apart to be counted by second.
    started: Option<SecondCounts>,
    offered: Option<SecondCounts>,
    outside: OutsideWindow,
    /// The earliest start of any sample; `Nanos::MAX` without samples.
    first_start: Nanos,
    users: UserCounts,
}

/// Adds `count` to the second of `at`. Sets the counts to `None` if the time is too far from the others.
fn count_at(counts: &mut Option<SecondCounts>, at: Nanos, count: u64) {
    if let Some(known) = counts
        && !known.add(at.second(), count)
    {
        *counts = None;
    }
}

impl Aggregator {
    /// An empty aggregator for samples with these labels.
    pub fn new(labels: Labels, settings: TotalsSettings) -> Aggregator {
        Aggregator {
            labels,
            settings,
            rows: LabelRows::default(),
            row_parts: Vec::new(),
            parts: 0,
            other_samples: 0,
            errors: ErrorKinds::default(),
            warmup: 0,
            seconds: OpenSeconds::new(settings.only_actual_starts),
            slowest: Slowest::default(),
            started: Some(SecondCounts::default()),
            offered: Some(SecondCounts::default()),
            outside: OutsideWindow::default(),
            first_start: Nanos::MAX,
            users: UserCounts::default(),
        }
    }

    /// Adds `sample`; returns whether it is included in the run's total.
    pub fn add(&mut self, sample: &Sample<'_>) -> bool {
        if sample.flags.contains(SampleFlags::LISTENERS_ONLY) {
            return false;
        }
        if sample.flags.contains(SampleFlags::WARMUP) {
            self.warmup += u64::from(sample.sample_count);
            return false;
        }
        self.first_start = self.first_start.min(sample.times.start);
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
        self.seconds.add(row, sample, request);
        self.users.sample(sample, request);
        if request {
            let count = u64::from(sample.sample_count);
            count_at(&mut self.started, sample.times.start, count);
        }
        if !(request && counts) {
            return false;
        }
        self.slowest.add(sample, &self.labels);
        if !sample.outcome.success {
            self.errors.add(sample, &self.labels);
        }
        true
    }

    /// Counts an arrival of an open workload that was scheduled for `at`.
    pub fn offer(&mut self, at: Nanos) {
        count_at(&mut self.offered, at, 1);
    }

    /// The label and kind of a row.
    pub fn row_name(&self, row: usize) -> Option<(Arc<str>, SampleKind)> {
        self.rows.get(row).map(|(label, kind)| (row_label(&self.labels, label), kind))
    }

    /// Adds changes of the number of active users, by second.
    pub fn change_users(&mut self, changes: &[UserChange]) {
        self.users.change(changes);
    }

    /// Closes the seconds before `watermark`; returns whether closed seconds are available.
    pub fn advance(&mut self, watermark: Nanos) -> bool {
        self.seconds.advance(watermark)
    }

    /// Closes every second.
    pub fn close_all(&mut self) {
        self.seconds.close_all();
    }

    /// The next closed second. The caller returns its memory with [`Aggregator::recycle`].
    pub fn next_closed(&mut self) -> Option<Second> {
        self.seconds.next_closed()
    }

    /// Takes back the memory of a closed second for reuse.
    pub fn recycle(&mut self, second: Second) {
        self.seconds.recycle(second);
    }

    /// The last closed second in which a request ended.
    pub fn last_second(&self) -> Option<SecondPoint> {
        self.seconds.done().points.last().copied()
    }

    /// Number of samples that were added after their second was closed.
    pub const fn late(&self) -> u64 {
        self.seconds.late
    }

    /// The earliest start of any sample; `None` without samples.
    pub fn first_start(&self) -> Option<Nanos> {
        (self.first_start < Nanos::MAX).then_some(self.first_start)
    }

    /// Replaces the series by those of another reading of the same samples in the same order.
    pub fn replace_series(&mut self, series: ClosedSeconds) {
        self.seconds.replace(series);
    }

    /// The totals of all samples; `events` are the errors of the recorder.
    pub fn finish(self, events: Vec<RecorderEvent>) -> RunTotals {
        let labels = self.labels;
        let name = |id: LabelId| row_label(&labels, id).to_string();
        let (errors, errors_other) = self.errors.finish(name);
        let late = self.seconds.late;
        let series = self.seconds.into_done();
        let mut over_time = series.over_time;
        let mut rows: Vec<_> = self.row_parts.into_iter().enumerate().collect();
        // Rows are sorted by the first start, in whole milliseconds as in a result file. A run directory and its result file
        // thus list labels in the same order, whatever the order of their rows. A transaction precedes its first request.
        rows.sort_by_cached_key(|(row, parts)| {
            let (label, kind) = self.rows.get(*row).unwrap_or((LabelId(0), SampleKind::Request));
            let kind_order = match kind {
                SampleKind::Transaction => 0,
                SampleKind::Request => 1,
                SampleKind::SubResult => 2,
            };
            let name = row_label(&labels, label);
            (&*name == OTHER_LABELS, parts.first_start().0 / 1_000_000, kind_order, name)
        });
        // The total is merged from the rows: adding each sample to it as well would double the cost.
        let mut total = Totals::new();
        let mut groups: BTreeMap<u32, GroupTotals> = BTreeMap::new();
        let mut labels = Vec::new();
        for (row, parts) in rows {
            let Some((label, kind)) = self.rows.get(row) else { continue };
            let (mut totals, parts) = parts.finish();
            // A row without samples in the window exists only for its time series.
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
                group.labels.push(LabelTotals {
                    name: name.clone(),
                    kind,
                    totals: part,
                    series: None,
                    slices: None,
                });
            }
            totals.finish(&self.settings);
            let (series, slices) = over_time.take_row(row).unzip();
            labels.push(LabelTotals { name, kind, totals, series, slices });
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
            seconds: series.points,
            heat: over_time.heat(),
            slowest: self.slowest.finish(name),
            started: self.started,
            users: UsersOverTime::of(std::slice::from_ref(&self.users)),
            first_start: self.first_start,
            offered: self.offered.filter(|offered| !offered.counts.is_empty()),
            apdex: self.settings.apdex,
            window: self.settings.window.map(|_| self.outside),
            warmup_samples: self.warmup,
            late_samples: late,
            other_label_samples: self.other_samples,
            events,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::labels::LABELS_MAX;
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
        // This core reports a day later.
        aggregator.add(&at(86_400));
        aggregator.add(&at(1));
        aggregator.close_all();
        let totals = aggregator.finish(Vec::new());
        assert_eq!(totals.late_samples, 1);
        assert_eq!(totals.seconds.iter().map(|point| point.requests).sum::<u64>(), 4);
    }
}
