//! One second of a run as observers receive it.

use serde::{Deserialize, Serialize};

use super::row::SnapshotRow;
use crate::live_arrivals::LiveArrivals;
use crate::sample_flags::SampleKind;

/// One second of a run: the samples that ended in it, and its arrivals.
///
/// Snapshots are sent in the order of their seconds. For a long period without samples, only the last second may be sent:
/// seconds that are missing between two snapshots were empty. Sub-results (redirects, embedded resources) are not included.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Number of the second, from 0.
    pub second: u64,
    /// Whether the second is complete. It is false for the last second of a run.
    pub whole: bool,
    /// The samples of each label and kind.
    pub rows: Vec<SnapshotRow>,
    /// Active users; `None` if they are unknown.
    pub users: Option<SecondUsers>,
    /// Arrivals of open workloads; `None` if there were none in the run so far.
    pub arrivals: Option<ArrivalsInSecond>,
    /// Regularity of the arrivals in the last ten seconds; `None` while there are too few arrivals.
    pub regularity: Option<LiveArrivals>,
    /// Number of samples in `rows` that reached the recorder after their own second was closed.
    pub late_samples: u64,
}

/// Numbers of active users: users that have started and not yet ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondUsers {
    /// Number at the end of the second, or of the last second if several were merged.
    pub at_end: u32,
    /// Minimum.
    pub min: u32,
    /// Maximum.
    pub max: u32,
    /// Sum of the numbers of active users at the ends of the samples.
    pub sum: u64,
    /// Number of samples.
    pub samples: u64,
}

impl SecondUsers {
    /// The numbers according to one sample.
    pub const fn one(users: u32) -> SecondUsers {
        SecondUsers { at_end: users, min: users, max: users, sum: users as u64, samples: 1 }
    }

    /// The numbers of a second with `at_end` users at its end. `of_samples` are the numbers according to the samples that ended
    /// in it.
    pub fn with_end(at_end: u32, of_samples: Option<SecondUsers>) -> SecondUsers {
        let Some(users) = of_samples else { return SecondUsers::one(at_end) };
        SecondUsers { at_end, min: users.min.min(at_end), max: users.max.max(at_end), ..users }
    }

    /// Mean number of active users at the ends of the samples.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.samples.max(1) as f64
    }

    /// Adds the numbers of further samples, or of a later second, of the same generator.
    pub fn merge(&mut self, other: &SecondUsers) {
        self.at_end = other.at_end;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.sum += other.sum;
        self.samples += other.samples;
    }

    /// Adds the users of another generator in the same second.
    fn with_generator(self, other: SecondUsers) -> SecondUsers {
        // The means are added; `sum` is over the samples of both.
        let samples = self.samples + other.samples;
        let sum = ((self.mean() + other.mean()) * samples as f64).round() as u64;
        SecondUsers {
            at_end: self.at_end.saturating_add(other.at_end),
            min: self.min.saturating_add(other.min),
            max: self.max.saturating_add(other.max),
            sum,
            samples,
        }
    }
}

/// Arrivals of open workloads in one second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ArrivalsInSecond {
    /// Number of arrivals scheduled in this second. If an arrival waited so long for a user that its second was already closed,
    /// it is counted in the second in which it was reported.
    pub scheduled: u64,
    /// Number of sessions that were started in this second.
    pub begun: u64,
    /// Number of started sessions that had waited for a free user.
    pub waited: u64,
    /// Number of arrivals that were discarded because no user was free.
    pub dropped: u64,
}

impl ArrivalsInSecond {
    /// The counts with the names that exporters use.
    #[must_use]
    pub const fn outcomes_so_far(&self) -> [(&'static str, u64); 4] {
        [
            ("scheduled", self.scheduled),
            ("begun", self.begun),
            ("waited", self.waited),
            ("dropped", self.dropped),
        ]
    }

    /// Adds the counts of another second or generator.
    pub fn merge(&mut self, other: &ArrivalsInSecond) {
        self.scheduled += other.scheduled;
        self.begun += other.begun;
        self.waited += other.waited;
        self.dropped += other.dropped;
    }
}

impl Snapshot {
    /// The sum over all requests. Transactions are excluded, because they contain requests.
    #[must_use]
    pub fn total(&self) -> SnapshotRow {
        let mut total = SnapshotRow::new("Total", SampleKind::Request);
        self.rows.iter().filter(|row| row.kind == SampleKind::Request).for_each(|row| total.merge(row));
        total
    }

    /// Adds the same second of another generator. The numbers of users are added; the regularity of the merged arrivals is
    /// unknown.
    pub fn merge(&mut self, other: &Snapshot) {
        for row in &other.rows {
            match self.rows.iter_mut().find(|own| own.kind == row.kind && own.label == row.label) {
                Some(own) => own.merge(row),
                None => self.rows.push(row.clone()),
            }
        }
        self.users = match (self.users, other.users) {
            (Some(own), Some(others)) => Some(own.with_generator(others)),
            (own, others) => own.or(others),
        };
        if let Some(others) = &other.arrivals {
            self.arrivals.get_or_insert_default().merge(others);
        }
        self.regularity = None;
        self.late_samples += other.late_samples;
    }
}
