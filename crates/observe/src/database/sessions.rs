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

/// A session that holds a lock for which others wait, and does not wait itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Blocker {
    /// The server's number of the session; `0` for a prepared transaction, which has no session.
    pub(super) id: String,
    /// Further facts about the session, such as its application or its user.
    pub(super) who: String,
    pub(super) state: String,
    /// Sessions that wait for it, directly or because they wait for one that waits for it.
    pub(super) waiting: f64,
}

/// Maximum number of blockers of one reading.
const BLOCKERS_MAX: usize = 20;

/// A transaction that waits for another one.
#[derive(Clone, Debug)]
pub(super) struct LockWait {
    /// The transaction that waits.
    pub(super) waiter: String,
    /// The transaction that holds the lock, or waits for it and is ahead in the queue.
    pub(super) blocker: String,
    /// Whether the server says that the blocker does not wait itself.
    pub(super) is_holder: bool,
    /// The session of the blocker, without the number of sessions that wait.
    pub(super) session: Blocker,
}

/// The sessions that block others and do not wait themselves, with the number of all that wait for them. Those that block most come
/// first.
pub(super) fn blockers_of(waits: Vec<LockWait>) -> Vec<Blocker> {
    let mut waiters: HashMap<String, HashSet<String>> = HashMap::new();
    for wait in &waits {
        waiters.entry(wait.blocker.clone()).or_default().insert(wait.waiter.clone());
    }
    let waiting: HashSet<String> = waits.iter().map(|wait| wait.waiter.clone()).collect();
    let mut blockers = HashMap::new();
    for wait in waits.into_iter().filter(|wait| wait.is_holder && !waiting.contains(&wait.blocker)) {
        blockers.entry(wait.blocker).or_insert(wait.session);
    }
    let mut blockers: Vec<Blocker> = blockers
        .into_iter()
        .map(|(blocker, session)| Blocker { waiting: count_waiting(&waiters, &blocker) as f64, ..session })
        .collect();
    blockers.sort_by(|a, b| b.waiting.total_cmp(&a.waiting).then_with(|| a.id.cmp(&b.id)));
    blockers.truncate(BLOCKERS_MAX);
    blockers
}

/// The number of transactions that wait for a blocker, directly or indirectly.
fn count_waiting(waiters: &HashMap<String, HashSet<String>>, blocker: &str) -> usize {
    let mut found: HashSet<&str> = HashSet::new();
    let mut open = vec![blocker];
    while let Some(next) = open.pop() {
        let new = waiters.get(next).into_iter().flatten().filter(|waiter| found.insert(waiter));
        open.extend(new.map(String::as_str));
    }
    found.len()
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
            let noun = if *waiting == 1.0 { "session" } else { "sessions" };
            let (from, text) = (reading.time(), format!("{who} blocks {waiting} {noun}"));
            reading.mark(Mark { kind: MarkKind::Other, from, to: from, text });
        }
        self.ids = blockers.iter().map(|blocker| blocker.id.clone()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(waiter: &str, blocker: &str, is_holder: bool) -> LockWait {
        let session = Blocker {
            id: format!("session of {blocker}"),
            who: "shop".into(),
            state: "active".into(),
            waiting: 0.0,
        };
        LockWait { waiter: waiter.into(), blocker: blocker.into(), is_holder, session }
    }

    fn found(waits: Vec<LockWait>) -> Vec<(String, f64)> {
        blockers_of(waits).into_iter().map(|blocker| (blocker.id, blocker.waiting)).collect()
    }

    #[test]
    fn only_sessions_that_do_not_wait_are_blockers() {
        // b and c wait for a row of a; the server lists b as a blocker of c. d waits for another row of c.
        let waits = vec![
            wait("b", "a", true),
            wait("c", "a", true),
            wait("c", "b", false),
            wait("d", "c", false),
            wait("f", "e", true),
        ];
        let expected = [("session of a".to_owned(), 3.0), ("session of e".to_owned(), 1.0)];
        assert_eq!(found(waits), expected);
    }

    #[test]
    fn sessions_that_wait_for_each_other_have_no_blocker() {
        // A deadlock, seen before the server resolves it. The states may be older than the waits.
        assert_eq!(found(vec![wait("a", "b", true), wait("b", "a", true), wait("c", "b", true)]), []);
    }
}
