//! Makes snapshots from samples.

use std::collections::VecDeque;

use super::row::{FailureCount, OutcomeTimes, SnapshotRow};
use super::second::{SecondArrivals, SecondUsers, Snapshot};
use super::time_counts::TimeCounts;
use crate::arrival::{ArrivalOutcome, ArrivalRecord};
use crate::label_rows::{LabelRows, row_label};
use crate::labels::Labels;
use crate::live_arrivals::LiveArrivals;
use crate::sample::{Nanos, Sample, SampleFlags, SampleKind};

/// Seconds that stay open for cores that report late, as in [`crate::aggregator::Aggregator`].
const OPEN_SECONDS_MAX: u64 = 30;

/// Most consecutive empty seconds that are sent individually.
const EMPTY_SECONDS_MAX: u64 = 60;

/// Collects the samples of the seconds that are still open.
///
/// It closes a second as soon as the responsive cores have reported it, because live figures and thresholds cannot wait
/// for a core that hangs; [`crate::aggregator::Aggregator`] waits for all cores, so that each sample counts in its own
/// second of the results. Otherwise both would share their seconds.
pub(crate) struct SnapshotMaker {
    labels: Labels,
    rows: LabelRows,
    /// The open seconds, from number `next` on.
    open: VecDeque<OpenSecond>,
    /// The first second that has not been closed.
    next: u64,
    spare: Vec<OpenSecond>,
    /// Whether there was an arrival of an open workload.
    has_arrivals: bool,
}

#[derive(Default)]
struct OpenSecond {
    rows: Vec<OpenRow>,
    users: Option<SecondUsers>,
    arrivals: SecondArrivals,
    late: u64,
}

struct OpenRow {
    /// Counts and codes, without times.
    counts: SnapshotRow,
    service: OpenTimes,
    response: OpenTimes,
}

/// Times in ns, of successful and of failed samples.
#[derive(Default)]
struct OpenTimes {
    passed: Vec<u64>,
    failed: Vec<u64>,
}

impl OpenTimes {
    fn push(&mut self, ns: u64, passed: bool) {
        if passed { &mut self.passed } else { &mut self.failed }.push(ns);
    }

    fn is_empty(&self) -> bool {
        self.passed.is_empty() && self.failed.is_empty()
    }

    /// Counts the times and clears them.
    fn close(&mut self) -> OutcomeTimes {
        let times = OutcomeTimes {
            passed: TimeCounts::of(&mut self.passed),
            failed: TimeCounts::of(&mut self.failed),
        };
        self.passed.clear();
        self.failed.clear();
        times
    }
}

impl OpenSecond {
    /// Makes a snapshot and clears the second.
    fn close(&mut self) -> Snapshot {
        let used = self.rows.iter_mut().filter(|row| !row.response.is_empty());
        let rows = used.map(|row| {
            let empty = SnapshotRow::new(row.counts.label.as_str(), row.counts.kind);
            let mut closed = std::mem::replace(&mut row.counts, empty);
            closed.service = row.service.close();
            closed.response = row.response.close();
            closed
        });
        Snapshot {
            rows: rows.collect(),
            users: self.users.take(),
            late_samples: std::mem::take(&mut self.late),
            ..Snapshot::default()
        }
    }
}

impl SnapshotMaker {
    pub(crate) fn new(labels: Labels) -> SnapshotMaker {
        SnapshotMaker {
            labels,
            rows: LabelRows::default(),
            open: VecDeque::new(),
            next: 0,
            spare: Vec::new(),
            has_arrivals: false,
        }
    }

    /// Adds `sample` if it counts.
    pub(crate) fn sample(&mut self, sample: &Sample<'_>, closed: &mut dyn FnMut(Snapshot)) {
        let kind = SampleKind::of(sample.flags);
        let elsewhere = sample.flags.contains(SampleFlags::LISTENERS_ONLY)
            || sample.flags.contains(SampleFlags::WARMUP)
            || kind == SampleKind::SubResult;
        if elsewhere {
            return;
        }
        let (row, _) = self.rows.of(sample.label, kind);
        let number = sample.times.end.second();
        let late = number < self.next;
        let at = self.open_at(number, closed);
        let second = &mut self.open[at];
        while second.rows.len() <= row {
            let (label, kind) = self.rows.get(second.rows.len()).expect("a row up to a known one");
            second.rows.push(OpenRow {
                counts: SnapshotRow::new(&*row_label(&self.labels, label), kind),
                service: OpenTimes::default(),
                response: OpenTimes::default(),
            });
        }
        let OpenRow { counts, service, response } = &mut second.rows[row];
        let (samples, errors) = (u64::from(sample.sample_count), u64::from(sample.error_count));
        counts.samples += samples;
        counts.errors += errors;
        counts.bytes += sample.bytes;
        counts.sent_bytes += sample.sent_bytes;
        counts.count_code(sample.code, samples, errors);
        if errors > 0 {
            let assertion = !sample.failure_message.is_empty();
            counts.count_failure(&FailureCount {
                code: sample.code.to_owned(),
                message: if assertion { sample.failure_message } else { sample.message }.to_owned(),
                assertion,
                errors,
            });
        }
        counts.latency_sum_ns = counts.latency_sum_ns.saturating_add(sample.times.latency_ns);
        counts.connect_sum_ns = counts.connect_sum_ns.saturating_add(sample.times.connect_ns);
        service.push(sample.service_ns(), sample.success);
        response.push(sample.response_ns(), sample.success);
        let users = SecondUsers::one(sample.users.all);
        second.users.get_or_insert(SecondUsers { samples: 0, sum: 0, ..users }).merge(&users);
        second.late += u64::from(late);
    }

    /// Adds an arrival of an open workload.
    pub(crate) fn arrival(&mut self, arrival: &ArrivalRecord, closed: &mut dyn FnMut(Snapshot)) {
        self.has_arrivals = true;
        let scheduled = self.open_at(arrival.scheduled.second(), closed);
        self.open[scheduled].arrivals.scheduled += 1;
        let at = arrival.started_at().unwrap_or(arrival.scheduled);
        let started = self.open_at(at.second(), closed);
        let counts = &mut self.open[started].arrivals;
        match arrival.outcome {
            ArrivalOutcome::Discarded => counts.dropped += 1,
            ArrivalOutcome::Started { .. } => counts.begun += 1,
            ArrivalOutcome::Waited { .. } => {
                counts.begun += 1;
                counts.waited += 1;
            }
        }
    }

    /// Closes the seconds before `watermark`.
    pub(crate) fn advance(
        &mut self,
        watermark: Nanos,
        regularity: Option<LiveArrivals>,
        closed: &mut dyn FnMut(Snapshot),
    ) {
        self.close_before(watermark.second(), regularity, closed);
    }

    /// Closes all open seconds.
    pub(crate) fn finish(&mut self, regularity: Option<LiveArrivals>, closed: &mut dyn FnMut(Snapshot)) {
        let end = self.next + self.open.len() as u64;
        let mut last = |snapshot: Snapshot| {
            let whole = snapshot.second + 1 < end;
            closed(Snapshot { whole, ..snapshot });
        };
        self.close_before(end, regularity, &mut last);
    }

    fn close_before(&mut self, end: u64, regularity: Option<LiveArrivals>, closed: &mut dyn FnMut(Snapshot)) {
        while self.next < end {
            let mut snapshot = match self.open.pop_front() {
                Some(mut second) => {
                    let mut snapshot = second.close();
                    snapshot.arrivals = Some(std::mem::take(&mut second.arrivals));
                    if (self.spare.len() as u64) < OPEN_SECONDS_MAX {
                        self.spare.push(second);
                    }
                    snapshot
                }
                None => {
                    if end - self.next > EMPTY_SECONDS_MAX {
                        self.next = end - 1;
                    }
                    Snapshot { arrivals: Some(SecondArrivals::default()), ..Snapshot::default() }
                }
            };
            if !self.has_arrivals {
                snapshot.arrivals = None;
            }
            snapshot.second = self.next;
            snapshot.whole = true;
            snapshot.regularity = regularity;
            self.next += 1;
            closed(snapshot);
        }
    }

    /// Index in `open` of second `number`, or of the first open one if that second is closed.
    fn open_at(&mut self, number: u64, closed: &mut dyn FnMut(Snapshot)) -> usize {
        if number >= self.next.saturating_add(OPEN_SECONDS_MAX) {
            self.close_before(number - OPEN_SECONDS_MAX + 1, None, closed);
        }
        let at = number.saturating_sub(self.next) as usize;
        while self.open.len() <= at {
            self.open.push_back(self.spare.pop().unwrap_or_default());
        }
        at
    }
}
