//! A process and its descendants.

mod cpu_clock;
mod identity;
mod members;
mod memory;
mod metrics;
mod outgoing;
mod rebased;
mod threads;
mod watched;

use std::net::SocketAddr;
use std::time::Duration;

use busyhour_sample::Nanos;
use busyhour_series::{Mark, MarkKind, Metric};

use crate::budget::Budget;
use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::process_stat::ProcessList;
use crate::reading::Reading;

use identity::Identity;
use members::Members;
use memory::MemoryPass;
use metrics::ProcessSeries;
use outgoing::OutgoingReader;
use threads::ThreadPass;

pub(crate) use cpu_clock::process_cpu_ns;
pub use watched::WatchedProcesses;

const SECOND: u64 = 1_000_000_000;

/// The inverse of the share of a core that the search for a successor may use. It is only needed while nothing can be read.
const SUCCESSOR_SHARE: u64 = 200;

static INFO: Metric =
    Metric::gauge("process_info", "The name and the number of the watched process; always 1.");

/// Reads a process with all its descendants; source `process:PID`. Values are sums over all of them.
///
/// If the process ends, the probe searches for its successor: the process that listens on the same address, or one with
/// the same program and arguments that started later. A successor is recorded as a mark, and counters restart at 0.
///
/// Costly parts are read less often: the list of descendants, times of threads, proportional memory.
#[derive(Debug)]
pub struct ProcessProbe {
    source: String,
    root: ProcRoot,
    identity: Identity,
    members: Members,
    series: ProcessSeries,
    threads: ThreadPass,
    memory: MemoryPass,
    outgoing: OutgoingReader,
    scan: Budget,
    member_pass: Budget,
    /// The time of the last reading at which the process was alive.
    seen: Nanos,
    has_ended: bool,
    watched: WatchedProcesses,
}

impl ProcessProbe {
    /// A probe of a process. `listens_on` are the addresses by which a successor is found.
    ///
    /// # Errors
    /// The process does not exist.
    pub fn new(root: &ProcRoot, pid: u32, listens_on: &[SocketAddr]) -> Result<ProcessProbe, ProbeError> {
        let identity = Identity::read(root, pid, listens_on)?;
        Ok(ProcessProbe {
            source: format!("process:{pid}"),
            root: root.clone(),
            members: Members::new(root, &identity),
            identity,
            series: ProcessSeries::default(),
            threads: ThreadPass::default(),
            memory: MemoryPass::default(),
            outgoing: OutgoingReader::default(),
            scan: Budget::new(SECOND, 2_000),
            member_pass: Budget::new(0, 500),
            seen: Nanos(0),
            has_ended: false,
            watched: WatchedProcesses::default(),
        })
    }

    /// Adds the process, and its successors, to the list of watched processes.
    #[must_use]
    pub fn listed_in(mut self, watched: &WatchedProcesses) -> ProcessProbe {
        self.watched = watched.clone();
        self.watched.set(&self.source, &self.identity);
        self
    }

    /// The process ID of the process that is being watched. It changes with a restart.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.identity.pid
    }

    /// Switches to the successor of the process, which has ended. Returns an error while there is no successor.
    fn follow(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let now = reading.time();
        if !self.has_ended {
            self.has_ended = true;
            // The successor may already run.
            self.scan.reset();
        } else {
            // A restart takes seconds, so that the first search usually fails.
            self.scan.hasten(SUCCESSOR_SHARE);
        }
        let (root, identity) = (&self.root, &self.identity);
        let Some(successor) = self.scan.run(now, || identity.find_successor(root)).flatten() else {
            let what = self.identity.to_string();
            let advice =
                "it has ended; a process with the same listening address or the same command will be watched";
            return Err(ProbeError::Missing { what, advice: advice.to_owned() });
        };
        reading.mark(Mark {
            kind: MarkKind::Restart,
            from: self.seen,
            to: now,
            text: format!("{} ended, {successor} took its place", self.identity),
        });
        self.identity = successor;
        self.watched.set(&self.source, &self.identity);
        self.members = Members::new(&self.root, &self.identity);
        self.series.restart();
        self.threads = ThreadPass::default();
        self.memory = MemoryPass::default();
        self.outgoing.restart();
        self.has_ended = false;
        self.scan.reset();
        Ok(())
    }
}

impl Probe for ProcessProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let now = reading.time();
        if !self.members.leader_is_alive() {
            if !self.has_ended {
                let text = format!("{} ended", self.identity);
                reading.mark(Mark { kind: MarkKind::End, from: self.seen, to: now, text });
            }
            self.follow(reading)?;
        }
        self.seen = now;
        let (root, members, pid) = (&self.root, &mut self.members, self.identity.pid);
        if members.have_new_children() {
            self.scan.hasten(200);
        }
        if let Some(Ok(list)) = self.scan.run(now, || ProcessList::read(root)) {
            members.update(root, &list, pid);
            if list.is_truncated {
                self.series.report_truncated_list(reading);
            }
        }
        let info = reading.series(&INFO, &[("name", self.identity.command()), ("pid", &pid.to_string())]);
        reading.set(info, 1.0);
        if let Some(totals) = self.member_pass.run(now, || members.read(root)) {
            self.series.set(reading, &totals);
        }
        let pids = self.members.pids();
        self.threads.read(reading, root, &pids);
        self.memory.read(reading, root, &pids);
        self.outgoing.read(reading, root, &pids);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use busyhour_program::clock::Clock;

    use super::*;
    use crate::runner::ProbeRunner;
    use crate::store::SeriesStore;

    /// Adds a process to a recorded tree. Processes with higher IDs start later.
    pub(super) fn add_process(dir: &std::path::Path, pid: u32, command: &str) {
        let process = dir.join(format!("proc/{pid}"));
        std::fs::create_dir_all(&process).unwrap();
        let zeros = "0 ".repeat(17);
        std::fs::write(process.join("stat"), format!("{pid} ({command}) S 1 {zeros}{pid} 0 0")).unwrap();
        std::fs::write(process.join("cmdline"), format!("{command}\0--port\x0080\0")).unwrap();
    }

    #[test]
    fn the_search_for_a_successor_is_repeated_soon_after_it_failed() {
        let dir = tempfile::tempdir().unwrap();
        add_process(dir.path(), 7, "shop");
        let mut probe = ProcessProbe::new(&ProcRoot::recorded(dir.path()), 7, &[]).unwrap();
        std::fs::remove_dir_all(dir.path().join("proc/7")).unwrap();
        // A search failed at 1 s, after 5 ms of CPU time.
        probe.has_ended = true;
        probe.scan.delay(Nanos(SECOND), SECOND / 200);
        add_process(dir.path(), 8, "shop");
        let (store, clock) = (SeriesStore::in_memory(), Clock::manual(0));
        let mut runner = ProbeRunner::new(&store, Box::new(probe));
        clock.advance(Duration::from_millis(2_100));
        runner.read(&clock);
        let (marks, _) = store.marks_since(0);
        let texts: Vec<&str> = marks.iter().map(|mark| mark.mark.text.as_str()).collect();
        assert_eq!(texts, ["process 7 (shop) ended, process 8 (shop) took its place"]);
    }
}
