//! The times of the searches for further sources.

use std::time::Duration;

/// When to search for processes, since the start of the run: first when connections are open, then when connection pools have grown.
const PROCESS_TIMES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// If the first search for processes used more CPU time than this, there is no second one. On a machine with very many sockets, it would
/// disturb the load.
const PROCESS_SEARCH_MAX: Duration = Duration::from_millis(500);

/// Shortest time between two searches for JVMs.
const JVM_INTERVAL: Duration = Duration::from_secs(5);

/// The time between two searches for JVMs is at least this many times the CPU time of the last search. The searches therefore use at
/// most 0.1 % of a core.
const JVM_SEARCH_SHARE: u32 = 1_000;

/// The targets of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchKind {
    /// Processes behind the targets, for `auto`.
    Processes,
    /// JVMs that started after the observation.
    Jvms,
}

/// The times of the next searches.
#[derive(Debug)]
pub(crate) struct SearchTimes {
    processes: &'static [Duration],
    jvms: Option<Duration>,
}

impl SearchTimes {
    /// The times of the requested searches, since the start of the run.
    pub(crate) fn new(has_processes: bool, has_jvms: bool) -> SearchTimes {
        SearchTimes {
            processes: if has_processes { &PROCESS_TIMES } else { &[] },
            jvms: has_jvms.then_some(JVM_INTERVAL),
        }
    }

    /// The next search; `None` if there is no further one.
    pub(crate) fn next(&self) -> Option<(Duration, SearchKind)> {
        let processes = self.processes.first().map(|time| (*time, SearchKind::Processes));
        let jvms = self.jvms.map(|time| (time, SearchKind::Jvms));
        processes.into_iter().chain(jvms).min_by_key(|(time, _)| *time)
    }

    /// Plans the search that follows one that ended at `now` and used this CPU time.
    pub(crate) fn follow(&mut self, kind: SearchKind, now: Duration, cost: Duration) {
        match kind {
            SearchKind::Processes if cost > PROCESS_SEARCH_MAX => self.processes = &[],
            SearchKind::Processes => self.processes = self.processes.get(1..).unwrap_or_default(),
            SearchKind::Jvms => {
                self.jvms = Some(now.saturating_add(JVM_INTERVAL.max(cost.saturating_mul(JVM_SEARCH_SHARE))));
            }
        }
    }

    /// Ends the searches of a kind.
    pub(crate) fn end(&mut self, kind: SearchKind) {
        match kind {
            SearchKind::Processes => self.processes = &[],
            SearchKind::Jvms => self.jvms = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn processes_are_searched_twice_unless_the_search_is_slow() {
        let mut times = SearchTimes::new(true, false);
        assert_eq!(times.next(), Some((2_000 * MS, SearchKind::Processes)));
        times.follow(SearchKind::Processes, 2_100 * MS, 100 * MS);
        assert_eq!(times.next(), Some((10_000 * MS, SearchKind::Processes)));
        times.follow(SearchKind::Processes, 10_100 * MS, 100 * MS);
        assert_eq!(times.next(), None);
        let mut times = SearchTimes::new(true, false);
        times.follow(SearchKind::Processes, 2_600 * MS, 600 * MS);
        assert_eq!(times.next(), None);
    }

    #[test]
    fn the_time_between_searches_for_jvms_bounds_their_cost() {
        let mut times = SearchTimes::new(true, true);
        times.follow(SearchKind::Processes, 2_100 * MS, 100 * MS);
        assert_eq!(times.next(), Some((5_000 * MS, SearchKind::Jvms)));
        times.follow(SearchKind::Jvms, 5_002 * MS, 2 * MS);
        assert_eq!(times.next(), Some((10_000 * MS, SearchKind::Processes)));
        times.follow(SearchKind::Processes, 10_000 * MS, MS);
        assert_eq!(times.next(), Some((10_002 * MS, SearchKind::Jvms)));
        times.follow(SearchKind::Jvms, 10_032 * MS, 30 * MS);
        assert_eq!(times.next(), Some((40_032 * MS, SearchKind::Jvms)));
        times.end(SearchKind::Jvms);
        assert_eq!(times.next(), None);
    }
}
