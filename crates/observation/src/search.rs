//! Searches for further parts of the system under test while the load is running: servers whose addresses the plan
//! computes, processes to which a server connects only under load, and JVMs that start during the observation.

use std::collections::BTreeSet;
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use busyhour_observe::Watch;
use busyhour_program::clock::{Clock, monotonic_ns, thread_cpu_ns};

use crate::local;
use crate::request::ObservationRequest;
use crate::search_times::{SearchKind, SearchTimes};
use crate::selected::Selected;
use crate::source_failures::RunningLines;
#[cfg(test)]
use crate::source_line::SourceLine;

/// The thread of the search. Dropping this value ends the search without waiting for it: a search in progress, which may resolve
/// names of hosts, ends later, and its result is discarded.
#[derive(Debug)]
pub(crate) struct SearchThread {
    /// The thread waits for its next search until this is dropped.
    _stop: Sender<()>,
    has_ended: Arc<Mutex<bool>>,
}

/// The state of a search.
pub(crate) struct Search {
    request: ObservationRequest,
    selected: Selected,
    /// A search in progress does not keep the watch alive.
    watch: Weak<Watch>,
    clock: Clock,
    lines: RunningLines,
    /// The unknown JVMs of the previous search.
    seen_jvms: BTreeSet<u32>,
    /// Searches for processes; tests replace it.
    add_new_processes: fn(&ObservationRequest, &Clock, &mut Selected),
}

impl SearchThread {
    /// Starts the thread.
    pub(crate) fn start(search: Search, times: SearchTimes) -> io::Result<SearchThread> {
        let (stop, stopped) = channel();
        let has_ended = Arc::new(Mutex::new(false));
        let ended = has_ended.clone();
        std::thread::Builder::new()
            .name("observe-search".into())
            .spawn(move || search.run(times, &stopped, &ended))?;
        Ok(SearchThread { _stop: stop, has_ended })
    }
}

impl Drop for SearchThread {
    fn drop(&mut self) {
        // Waits only while the result of a search is added to the watch.
        *self.has_ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl Search {
    /// A search that adds what it finds to the watch, and prints their lines.
    pub(crate) fn new(
        request: ObservationRequest,
        selected: Selected,
        watch: Weak<Watch>,
        clock: Clock,
        lines: RunningLines,
    ) -> Search {
        let (seen_jvms, add_new_processes) = (BTreeSet::new(), local::add_new_processes);
        Search { request, selected, watch, clock, lines, seen_jvms, add_new_processes }
    }

    fn run(mut self, mut times: SearchTimes, stopped: &Receiver<()>, has_ended: &Mutex<bool>) {
        let now = |clock: &Clock| Duration::from_nanos(clock.now().0);
        while let Some((time, kind)) = times.next() {
            let wait = time.saturating_sub(now(&self.clock));
            if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let (before, known) = (search_cost_ns(), self.selected.lines.len());
            let continues = self.look(kind);
            let cost = Duration::from_nanos(search_cost_ns().saturating_sub(before));
            if !self.add_unless(has_ended, known, kind) {
                return;
            }
            match continues {
                true => times.follow(kind, now(&self.clock), cost),
                false => times.end(kind),
            }
        }
    }

    /// Searches once; returns whether another search of this kind makes sense.
    fn look(&mut self, kind: SearchKind) -> bool {
        match kind {
            SearchKind::Processes => {
                (self.add_new_processes)(&self.request, &self.clock, &mut self.selected);
                true
            }
            SearchKind::Jvms => local::look_for_jvms(&self.request, &mut self.seen_jvms, &mut self.selected),
        }
    }

    /// Adds what was found to the watch, unless the observation has ended; returns whether it continues. `known` is the number of
    /// sources that were reported before.
    fn add_unless(&mut self, has_ended: &Mutex<bool>, known: usize, kind: SearchKind) -> bool {
        // The observation cannot end while the lock is held, so that this thread never has the last reference to the watch.
        let ended = has_ended.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(watch) = self.watch.upgrade().filter(|_| !*ended) else { return false };
        for probe in self.selected.probes.drain(..) {
            if let Err(error) = watch.add(probe) {
                self.lines.print(&format!("warning: cannot watch a source: {error}"));
            }
        }
        if self.selected.lines.len() > known
            && let Err(error) = self.lines.replace(&self.selected.lines)
        {
            self.lines.print(&format!("warning: cannot write the list of sources: {error}"));
        }
        // Why a process behind a target cannot be watched is part of the list of sources only.
        for line in &self.selected.lines[known..] {
            if !line.is_watched() && kind != SearchKind::Jvms {
                continue;
            }
            self.lines.print(&line.to_string());
        }
        true
    }
}

/// CPU time of this thread, because a search that waits for a JVM or for a CPU does not disturb the load. Where the system does not
/// provide it: the time that has passed.
fn search_cost_ns() -> u64 {
    thread_cpu_ns().unwrap_or_else(monotonic_ns)
}

#[cfg(test)]
mod tests {
    use busyhour_observe::{SeriesStore, WatchOptions};

    use super::*;

    /// A search that lasts until the test ends it, and finds a source.
    static SLOW: Mutex<Option<(Sender<()>, Receiver<()>)>> = Mutex::new(None);

    fn look_slowly(_request: &ObservationRequest, _clock: &Clock, selected: &mut Selected) {
        let (begun, go_on) = SLOW.lock().unwrap().take().unwrap();
        begun.send(()).unwrap();
        go_on.recv().unwrap();
        selected.refuse(SourceLine::watched("late", ""));
    }

    #[test]
    fn the_end_does_not_wait_for_a_search_and_discards_its_result() {
        let clock = Clock::manual(0);
        clock.advance(Duration::from_secs(20));
        let watch =
            Watch::start(clock.clone(), SeriesStore::in_memory(), WatchOptions::default(), Vec::new());
        let watch = Arc::new(watch.unwrap());
        let (lines, printed) = channel();
        let sink = Box::new(move |line: &str| lines.send(line.to_owned()).unwrap());
        let running = RunningLines::new(Vec::new(), None, Some(sink));
        let request = ObservationRequest::default();
        let mut search = Search::new(request, Selected::default(), Arc::downgrade(&watch), clock, running);
        search.add_new_processes = look_slowly;
        let ((begun, has_begun), (finish, go_on)) = (channel(), channel());
        *SLOW.lock().unwrap() = Some((begun, go_on));
        let thread = SearchThread::start(search, SearchTimes::new(true, false)).unwrap();
        has_begun.recv().unwrap();
        // The search is in progress until `finish` is used.
        drop(thread);
        assert!(Arc::try_unwrap(watch).is_ok(), "the search has no reference to the watch");
        finish.send(()).unwrap();
        // The thread ends, and with it the sink.
        assert!(printed.recv().is_err(), "nothing is printed after the end");
    }
}
