//! Makes snapshots from samples.

use std::collections::{BTreeMap, VecDeque};

use super::row::{FailureCount, OutcomeTimes, SnapshotRow};
use super::second::{ArrivalsInSecond, SecondUsers, Snapshot};
use super::time_counts::TimeCounts;
use crate::arrival::{ArrivalOutcome, ArrivalRecord};
use crate::label_rows::{LabelRows, row_label};
use crate::labels::Labels;
use crate::live_arrivals::LiveArrivals;
use crate::nanos::Nanos;
use crate::sample::{LabelId, Sample};
use crate::sample_flags::{SampleFlags, SampleKind};
use crate::user_counts::UserChange;

/// Number of seconds that stay open for cores that report late, as in [`crate::seconds::OpenSeconds`].
const OPEN_SECONDS_MAX: u64 = 30;

/// Maximum number of consecutive empty seconds that are sent individually.
const EMPTY_SECONDS_MAX: u64 = 60;

/// Collects the samples of open seconds, and passes a snapshot of each closed second to the caller.
///
/// The maker closes a second as soon as the responsive cores have reported it, because live figures and thresholds cannot wait
/// for a core that hangs. [`crate::aggregator::Aggregator`], in contrast, waits for all cores, so that each sample is counted in
/// its own second of the results. Therefore the two have separate seconds.
pub struct SnapshotMaker {
    labels: Labels,
    rows: LabelRows,
    /// The open seconds, from number `next` on.
    open: VecDeque<OpenSecond>,
    /// The first second that has not been closed.
    next: u64,
    spare: Vec<OpenSecond>,
    /// Whether there was an arrival of an open workload.
    has_arrivals: bool,
    /// Number of active users at the end of the last closed second; `None` before the first change.
    users: Option<i64>,
    /// Changes of the number of active users in seconds that are not closed yet.
    user_changes: BTreeMap<u64, i64>,
}

/// The rows and users of a second that is not complete yet.
#[derive(Default)]
pub struct OpenSecond {
    rows: Vec<Option<OpenRow>>,
    users: Option<SecondUsers>,
    /// The last end of a sample, and the number of active users at that time.
    last_users: (Nanos, u32),
    arrivals: ArrivalsInSecond,
    late: u64,
}

struct OpenRow {
    /// Counts and response codes, without times.
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

    /// Returns the counted times and clears the lists.
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
        let used = self.rows.iter_mut().flatten().filter(|row| !row.response.is_empty());
        let rows = used.map(|row| {
            let empty = SnapshotRow::new(row.counts.label.as_str(), row.counts.kind);
            let mut closed = std::mem::replace(&mut row.counts, empty);
            closed.service = row.service.close();
            closed.response = row.response.close();
            closed
        });
        let mut rows: Vec<SnapshotRow> = rows.collect();
        // Rows are numbered in the order of the samples, which differs between files of the same run.
        rows.sort_by(|a, b| (&a.label, a.kind as u8).cmp(&(&b.label, b.kind as u8)));
        let at_end = std::mem::take(&mut self.last_users).1;
        Snapshot {
            rows,
            users: self.users.take().map(|users| SecondUsers { at_end, ..users }),
            late_samples: std::mem::take(&mut self.late),
            ..Snapshot::default()
        }
    }
}

/// The row of a sample in `rows`; `None` if snapshots do not include the sample.
pub fn counted_row(rows: &mut LabelRows, sample: &Sample<'_>) -> Option<CountedRow> {
    let kind = SampleKind::of(sample.flags);
    let elsewhere = sample.flags.contains(SampleFlags::LISTENERS_ONLY)
        || sample.flags.contains(SampleFlags::WARMUP)
        || kind == SampleKind::SubResult;
    if elsewhere {
        return None;
    }
    let number = rows.of(sample.label, kind).0;
    rows.get(number).map(|(label, kind)| CountedRow { number, label, kind })
}

/// The number and name of a sample's row.
#[derive(Debug, Clone, Copy)]
pub struct CountedRow {
    number: usize,
    label: LabelId,
    kind: SampleKind,
}

impl OpenSecond {
    /// Adds a sample to its row.
    pub fn sample(&mut self, row: CountedRow, labels: &Labels, sample: &Sample<'_>) {
        if self.rows.len() <= row.number {
            self.rows.resize_with(row.number + 1, || None);
        }
        let row = self.rows[row.number].get_or_insert_with(|| {
            let counts = SnapshotRow::new(&*row_label(labels, row.label), row.kind);
            OpenRow { counts, service: OpenTimes::default(), response: OpenTimes::default() }
        });
        row.add(sample);
        let users = SecondUsers::one(sample.users.all);
        self.users.get_or_insert(SecondUsers { samples: 0, sum: 0, ..users }).merge(&users);
        self.last_users = self.last_users.max((sample.times.end, sample.users.all));
    }

    /// Counts the outcome of an arrival.
    pub fn arrival(&mut self, arrival: &ArrivalRecord) {
        let counts = &mut self.arrivals;
        match arrival.outcome {
            ArrivalOutcome::Discarded => counts.dropped += 1,
            ArrivalOutcome::Started { .. } => counts.begun += 1,
            ArrivalOutcome::Waited { .. } => {
                counts.begun += 1;
                counts.waited += 1;
            }
        }
    }

    /// Counts an arrival that was scheduled in this second.
    pub fn scheduled_arrival(&mut self) {
        self.arrivals.scheduled += 1;
    }
}

impl OpenRow {
    fn add(&mut self, sample: &Sample<'_>) {
        let OpenRow { counts, service, response } = self;
        let (samples, errors) = (u64::from(sample.sample_count), u64::from(sample.error_count));
        counts.samples += samples;
        counts.errors += errors;
        counts.bytes += sample.sizes.bytes();
        counts.sent_bytes += sample.sizes.sent_bytes;
        counts.count_code(sample.outcome.code, samples, errors);
        if errors > 0 {
            let assertion = !sample.failure_message.is_empty();
            counts.count_failure(&FailureCount {
                code: sample.outcome.code.to_owned(),
                message: if assertion { sample.failure_message } else { sample.outcome.message }.to_owned(),
                assertion,
                errors,
            });
        }
        counts.latency_sum_ns = counts.latency_sum_ns.saturating_add(sample.times.latency_ns);
        counts.connect_sum_ns = counts.connect_sum_ns.saturating_add(sample.times.connect_ns);
        service.push(sample.service_ns(), sample.outcome.success);
        response.push(sample.response_ns(), sample.outcome.success);
    }
}

impl SnapshotMaker {
    /// A maker for samples with these labels.
    pub fn new(labels: Labels) -> SnapshotMaker {
        SnapshotMaker {
            labels,
            rows: LabelRows::default(),
            open: VecDeque::new(),
            next: 0,
            spare: Vec::new(),
            has_arrivals: false,
            users: None,
            user_changes: BTreeMap::new(),
        }
    }

    /// Adds `sample` if snapshots include it.
    pub fn sample(&mut self, sample: &Sample<'_>, closed: &mut dyn FnMut(Snapshot)) {
        let Some(row) = counted_row(&mut self.rows, sample) else { return };
        let number = sample.times.end.second();
        let late = number < self.next;
        let at = self.open_at(number, closed);
        let second = &mut self.open[at];
        second.sample(row, &self.labels, sample);
        second.late += u64::from(late);
    }

    /// Adds an arrival of an open workload.
    pub fn arrival(&mut self, arrival: &ArrivalRecord, closed: &mut dyn FnMut(Snapshot)) {
        self.has_arrivals = true;
        let scheduled = self.open_at(arrival.scheduled.second(), closed);
        self.open[scheduled].arrivals.scheduled += 1;
        let at = arrival.started_at().unwrap_or(arrival.scheduled);
        let started = self.open_at(at.second(), closed);
        self.open[started].arrival(arrival);
    }

    /// Adds a complete second, which must not be before any previous one.
    pub fn put(&mut self, number: u64, mut second: OpenSecond, closed: &mut dyn FnMut(Snapshot)) {
        self.has_arrivals |= second.arrivals != ArrivalsInSecond::default();
        self.close_before(number, None, closed);
        let at = self.open_at(number, closed);
        std::mem::swap(&mut self.open[at], &mut second);
    }

    /// Adds changes of the number of active users.
    pub fn change_users(&mut self, changes: &[UserChange]) {
        for UserChange { second, change } in changes {
            let sum = self.user_changes.entry(*second).or_default();
            *sum = sum.saturating_add(*change);
        }
    }

    /// Computes the users of the next second to be closed. `of_samples` are the users according to its samples.
    fn close_users(&mut self, of_samples: Option<SecondUsers>) -> Option<SecondUsers> {
        while let Some(entry) = self.user_changes.first_entry().filter(|entry| *entry.key() <= self.next) {
            self.users = Some(self.users.unwrap_or(0).saturating_add(entry.remove()));
        }
        match self.users {
            Some(users) => {
                Some(SecondUsers::with_end(u32::try_from(users.max(0)).unwrap_or(u32::MAX), of_samples))
            }
            None => of_samples,
        }
    }

    /// Closes the seconds before `watermark`, and passes their snapshots to `closed`.
    pub fn advance(
        &mut self,
        watermark: Nanos,
        regularity: Option<LiveArrivals>,
        closed: &mut dyn FnMut(Snapshot),
    ) {
        self.close_before(watermark.second(), regularity, closed);
    }

    /// Closes all open seconds, and passes their snapshots to `closed`.
    pub fn finish(&mut self, regularity: Option<LiveArrivals>, closed: &mut dyn FnMut(Snapshot)) {
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
                    Snapshot { arrivals: Some(ArrivalsInSecond::default()), ..Snapshot::default() }
                }
            };
            if !self.has_arrivals {
                snapshot.arrivals = None;
            }
            snapshot.users = self.close_users(snapshot.users);
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
