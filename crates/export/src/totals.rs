//! The totals of a run so far, by label.

use std::collections::BTreeMap;

use busyhour_sample::{ArrivalsInSecond, SampleKind, Snapshot, SnapshotRow};

/// The totals of all seconds so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunSoFar {
    pub(crate) rows: BTreeMap<(String, SampleKind), SnapshotRow>,
    pub(crate) arrivals: Option<ArrivalsInSecond>,
    /// Number of active users at the end of the last second for which the number is known.
    pub(crate) users: Option<u32>,
    pub(crate) cov: Option<f64>,
    pub(crate) second: Option<u64>,
}

impl RunSoFar {
    pub(crate) fn add(&mut self, snapshot: &Snapshot) {
        for row in &snapshot.rows {
            let key = (row.label.clone(), row.kind);
            self.rows.entry(key).or_insert_with(|| SnapshotRow::new(row.label.as_str(), row.kind)).merge(row);
        }
        if let Some(arrivals) = &snapshot.arrivals {
            self.arrivals.get_or_insert_default().merge(arrivals);
        }
        self.users = snapshot.users.map(|users| users.at_end).or(self.users);
        self.cov = snapshot.regularity.map(|regularity| regularity.cov);
        self.second = Some(snapshot.second);
    }

    /// The sum of all requests.
    pub(crate) fn total(&self) -> SnapshotRow {
        let mut total = SnapshotRow::new("Total", SampleKind::Request);
        self.rows.values().filter(|row| row.kind == SampleKind::Request).for_each(|row| total.merge(row));
        total
    }
}
