//! Searches for further parts of the system under test while the load is running: servers whose addresses the plan
//! computes, and processes to which a server connects only under load.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_observe::Watch;
use busyhour_program::clock::{Clock, monotonic_ns};

use crate::local;
use crate::request::ObservationRequest;
use crate::selected::Selected;
use crate::sources_file;

/// When to search, since the start of the run: first when connections are open, then when connection pools have grown.
const TIMES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// If the first search took longer than this, there is no second one. On a machine with very many sockets, it would
/// disturb the load.
const SEARCH_MAX: Duration = Duration::from_millis(500);

/// Receives the lines of sources that are found during the run, and errors.
pub type LineSink = Box<dyn FnMut(&str) + Send>;

/// The thread of the search. Dropping this value ends the thread.
#[derive(Debug)]
pub(crate) struct SearchThread {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state of a search.
pub(crate) struct Search {
    pub(crate) request: ObservationRequest,
    pub(crate) selected: Selected,
    pub(crate) watch: Arc<Watch>,
    pub(crate) clock: Clock,
    pub(crate) sink: LineSink,
}

impl SearchThread {
    /// Starts the thread.
    pub(crate) fn start(search: Search) -> io::Result<SearchThread> {
        let (stop, stopped) = channel();
        let thread =
            std::thread::Builder::new().name("observe-search".into()).spawn(move || search.run(&stopped))?;
        Ok(SearchThread { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for SearchThread {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by the panic hook; the run does not depend on the search.
            let _ = thread.join();
        }
    }
}

impl Search {
    fn run(mut self, stopped: &Receiver<()>) {
        for time in TIMES {
            let wait = time.saturating_sub(Duration::from_nanos(self.clock.now().0));
            if stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let before = monotonic_ns();
            self.look();
            if Duration::from_nanos(monotonic_ns().saturating_sub(before)) > SEARCH_MAX {
                return;
            }
        }
    }

    fn look(&mut self) {
        let known = self.selected.lines.len();
        local::look_again(&self.request, &self.clock, &mut self.selected);
        for probe in self.selected.probes.drain(..) {
            if let Err(error) = self.watch.add(probe) {
                (self.sink)(&format!("warning: cannot watch a source: {error}"));
            }
        }
        if let Some(run_dir) = &self.selected.run_dir
            && self.selected.lines.len() > known
            && let Err(error) = sources_file::write(run_dir, &self.selected.lines)
        {
            (self.sink)(&format!("warning: cannot write the list of sources: {error}"));
        }
        for line in self.selected.lines[known..].iter().filter(|line| line.is_watched()) {
            (self.sink)(&line.to_string());
        }
    }
}
