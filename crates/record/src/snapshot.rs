//! One second of a run, for those who follow it while it goes on.
//!
//! [`RecorderConfig::observers`](crate::RecorderConfig::observers) takes the sending ends of [`snapshot_channel`]s. When
//! a second of the run closes, the recorder's thread sends each of them the same [`Snapshot`]. Everything in it can be
//! merged, with other seconds and with the same second of other generators; [`read_snapshots`] makes the same of a
//! record.

mod channel;
mod maker;
mod of_record;
mod time_counts;

use serde::{Deserialize, Serialize};

pub use channel::{RunOver, SnapshotReceiver, SnapshotSender, snapshot_channel};
pub(crate) use maker::SnapshotMaker;
pub use of_record::{RecordReading, SnapshotSource, read_snapshots, run_start_ms};
pub use time_counts::TimeCounts;

use crate::live_arrivals::LiveArrivals;
use crate::totals::SampleKind;

/// One second of a run: the samples that ended in it, and its arrivals.
///
/// Snapshots come in the order of their seconds. A long time in which nothing ended may be told by its last second alone:
/// seconds that are missing between two snapshots were empty. Sub-results (redirects, embedded resources) are not in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Number of the second, from 0.
    pub second: u64,
    /// The second went by whole: false for the last one of a run, which its end cut short.
    pub whole: bool,
    /// By label and kind, those that had samples.
    pub rows: Vec<SnapshotRow>,
    /// Active users that samples which ended in this second saw; `None` when none ended.
    pub users: Option<SecondUsers>,
    /// Arrivals of open workloads; `None` when none has been heard of in the whole run so far.
    pub arrivals: Option<SecondArrivals>,
    /// How regular the arrivals of the last ten seconds were; `None` while there are too few.
    pub regularity: Option<LiveArrivals>,
    /// Samples among those in `rows` whose own second had been closed before the recorder heard of them.
    pub late_samples: u64,
}

/// What ended in one second under one label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRow {
    /// The label.
    pub label: String,
    /// Requests or transactions.
    pub kind: SampleKind,
    /// Samples (a row of a result file can stand for more than one).
    pub samples: u64,
    /// Failed samples.
    pub errors: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// End − actual start.
    pub service: OutcomeTimes,
    /// End − intended start.
    pub response: OutcomeTimes,
    /// Sum of the times to the first byte, in ns.
    pub latency_sum_ns: u64,
    /// Sum of the times to connect, in ns.
    pub connect_sum_ns: u64,
    /// Samples by response code.
    pub codes: Vec<CodeCount>,
    /// Failed samples by response code and message.
    pub failures: Vec<FailureCount>,
}

/// The times of one clock, of samples that passed and of those that failed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeTimes {
    /// Of samples that passed.
    pub passed: TimeCounts,
    /// Of samples that failed.
    pub failed: TimeCounts,
}

impl OutcomeTimes {
    /// Both together.
    #[must_use]
    pub fn all(&self) -> TimeCounts {
        let mut all = self.passed.clone();
        all.merge(&self.failed);
        all
    }

    /// Adds another's times.
    pub fn merge(&mut self, other: &OutcomeTimes) {
        self.passed.merge(&other.passed);
        self.failed.merge(&other.failed);
    }
}

/// The samples of one response code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeCount {
    /// The response code; [`OTHER_CODES`] for those beyond the limit.
    pub code: String,
    /// Samples.
    pub samples: u64,
    /// Failed ones among them.
    pub errors: u64,
}

/// The failed samples of one response code and message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureCount {
    /// The response code; [`OTHER_CODES`] for those beyond the limit.
    pub code: String,
    /// The first failed assertion's message, or the response message when no assertion failed.
    pub message: String,
    /// An assertion failed.
    pub assertion: bool,
    /// Failed samples.
    pub errors: u64,
}

/// How many users were active, as samples saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondUsers {
    /// Fewest.
    pub min: u32,
    /// Most.
    pub max: u32,
    /// Sum over the samples.
    pub sum: u64,
    /// How many samples.
    pub samples: u64,
}

impl SecondUsers {
    pub(crate) const fn one(users: u32) -> SecondUsers {
        SecondUsers { min: users, max: users, sum: users as u64, samples: 1 }
    }

    /// Mean over the samples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.samples.max(1) as f64
    }

    /// Adds what samples of the same generator saw.
    pub fn merge(&mut self, other: &SecondUsers) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.samples += other.samples;
    }

    /// Adds the users of another generator, who are there at the same time.
    fn beside(self, other: SecondUsers) -> SecondUsers {
        // Means add up; the sum is over the samples of both.
        let samples = self.samples + other.samples;
        let sum = ((self.mean() + other.mean()) * samples as f64).round() as u64;
        SecondUsers {
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
            sum,
            samples,
        }
    }
}

/// Most response codes (and kinds of failure) kept apart in one row of one second.
pub const CODES_MAX: usize = 100;

/// Stands for the response codes beyond [`CODES_MAX`].
pub const OTHER_CODES: &str = "(other codes)";

/// Arrivals of open workloads in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SecondArrivals {
    /// Arrivals scheduled in this second. One that waited for a user longer than seconds are kept open counts in the second
    /// in which it was heard of.
    pub scheduled: u64,
    /// Sessions that began in it.
    pub begun: u64,
    /// Those among them that had waited for a free user.
    pub waited: u64,
    /// Arrivals given up because no user was free.
    pub dropped: u64,
}

impl SecondArrivals {
    /// What became of them, by name, as exporters tell it.
    #[must_use]
    pub const fn fates(&self) -> [(&'static str, u64); 4] {
        [
            ("scheduled", self.scheduled),
            ("begun", self.begun),
            ("waited", self.waited),
            ("dropped", self.dropped),
        ]
    }

    /// Adds another second's, or another generator's.
    pub fn merge(&mut self, other: &SecondArrivals) {
        self.scheduled += other.scheduled;
        self.begun += other.begun;
        self.waited += other.waited;
        self.dropped += other.dropped;
    }
}

impl SnapshotRow {
    /// A row without samples.
    #[must_use]
    pub fn new(label: impl Into<String>, kind: SampleKind) -> SnapshotRow {
        SnapshotRow {
            label: label.into(),
            kind,
            samples: 0,
            errors: 0,
            bytes: 0,
            sent_bytes: 0,
            service: OutcomeTimes::default(),
            response: OutcomeTimes::default(),
            latency_sum_ns: 0,
            connect_sum_ns: 0,
            codes: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Adds what `other` counted. The label and the kind stay.
    pub fn merge(&mut self, other: &SnapshotRow) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.sent_bytes += other.sent_bytes;
        self.service.merge(&other.service);
        self.response.merge(&other.response);
        self.latency_sum_ns = self.latency_sum_ns.saturating_add(other.latency_sum_ns);
        self.connect_sum_ns = self.connect_sum_ns.saturating_add(other.connect_sum_ns);
        for code in &other.codes {
            self.count_code(&code.code, code.samples, code.errors);
        }
        for failure in &other.failures {
            self.count_failure(failure);
        }
    }

    pub(crate) fn count_code(&mut self, code: &str, samples: u64, errors: u64) {
        let known = self.codes.iter().position(|known| known.code == code);
        let at = known.unwrap_or_else(|| {
            let full = self.codes.len() >= CODES_MAX;
            let other = || self.codes.iter().position(|known| known.code == OTHER_CODES);
            if full && let Some(other) = other() {
                return other;
            }
            let code = if full { OTHER_CODES } else { code }.to_owned();
            self.codes.push(CodeCount { code, samples: 0, errors: 0 });
            self.codes.len() - 1
        });
        self.codes[at].samples += samples;
        self.codes[at].errors += errors;
    }

    pub(crate) fn count_failure(&mut self, failure: &FailureCount) {
        let same = |known: &FailureCount, wanted: &FailureCount| {
            known.code == wanted.code
                && known.message == wanted.message
                && known.assertion == wanted.assertion
        };
        let (code, message) = (OTHER_CODES.to_owned(), String::new());
        let other = FailureCount { code, message, assertion: false, errors: 0 };
        let full = self.failures.len() >= CODES_MAX;
        let known = self.failures.iter().position(|known| same(known, failure));
        let known = known.or_else(|| self.failures.iter().position(|known| full && same(known, &other)));
        let at = known.unwrap_or_else(|| {
            self.failures.push(if full { other } else { FailureCount { errors: 0, ..failure.clone() } });
            self.failures.len() - 1
        });
        self.failures[at].errors += failure.errors;
    }
}

impl Snapshot {
    /// All requests together: without transactions, which hold them.
    #[must_use]
    pub fn total(&self) -> SnapshotRow {
        let mut total = SnapshotRow::new("Total", SampleKind::Request);
        self.rows.iter().filter(|row| row.kind == SampleKind::Request).for_each(|row| total.merge(row));
        total
    }

    /// Adds the same second of another generator. Users add up; how regular the arrivals of both together are is not
    /// known from either.
    pub fn merge(&mut self, other: &Snapshot) {
        for row in &other.rows {
            match self.rows.iter_mut().find(|own| own.kind == row.kind && own.label == row.label) {
                Some(own) => own.merge(row),
                None => self.rows.push(row.clone()),
            }
        }
        self.users = match (self.users, other.users) {
            (Some(own), Some(others)) => Some(own.beside(others)),
            (own, others) => own.or(others),
        };
        if let Some(others) = &other.arrivals {
            self.arrivals.get_or_insert_default().merge(others);
        }
        self.regularity = None;
        self.late_samples += other.late_samples;
    }
}

#[cfg(test)]
mod tests;
