//! Records sessions of a database server: counts of sessions, and sessions that begin to block others.

use std::collections::{HashMap, HashSet};

use busyhour_series::{Mark, MarkKind, Metric};

use crate::reading::Reading;
use crate::series_id::SeriesId;

/// A gauge with a series for each combination of label values. A series to which no session belongs any more is set to 0.
pub(super) struct SessionCounts<const N: usize> {
    metric: &'static Metric,
    labels: [&'static str; N],
    series: HashMap<[String; N], SeriesId>,
}

impl<const N: usize> SessionCounts<N> {
    pub(super) fn new(metric: &'static Metric, labels: [&'static str; N]) -> Self {
        Self { metric, labels, series: HashMap::new() }
    }

    /// Whether nothing was recorded yet.
    pub(super) fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    pub(super) fn record(&mut self, reading: &mut Reading<'_>, counts: Vec<([String; N], f64)>) {
        let mut absent: HashSet<SeriesId> = self.series.values().copied().collect();
        for (key, count) in counts {
            let (metric, names) = (self.metric, self.labels);
            let series = *self.series.entry(key).or_insert_with_key(|values| {
                let labels: [(&str, &str); N] = std::array::from_fn(|at| (names[at], values[at].as_str()));
                reading.series(metric, &labels)
            });
            absent.remove(&series);
            reading.set(series, count);
        }
        for series in absent {
            reading.set(series, 0.0);
        }
    }
}

/// A session that holds a lock for which others wait.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocker {
    /// The server's number of the session; `0` for a prepared transaction, which has no session.
    pub(super) id: String,
    /// Further facts about the session, such as its application or its user.
    pub(super) who: String,
    pub(super) state: String,
    /// Sessions that wait for it.
    pub(super) waiting: f64,
}

/// The sessions that blocked others at the previous reading.
#[derive(Default)]
pub(super) struct KnownBlockers {
    ids: HashSet<String>,
}

impl KnownBlockers {
    /// Marks sessions that begin to block others.
    pub(super) fn mark(&mut self, reading: &mut Reading<'_>, blockers: &[Blocker]) {
        for blocker in blockers.iter().filter(|blocker| !self.ids.contains(&blocker.id)) {
            let Blocker { id, who, state, waiting } = blocker;
            let who = match id.as_str() {
                "0" => "a prepared transaction".to_owned(),
                id => format!("session {id} ({who}, {state})"),
            };
            let (from, text) = (reading.time(), format!("{who} blocks {waiting} sessions"));
            reading.mark(Mark { kind: MarkKind::Other, from, to: from, text });
        }
        self.ids = blockers.iter().map(|blocker| blocker.id.clone()).collect();
    }
}
