//! A process and its descendants.

mod cpu_clock;
mod identity;
mod members;
mod memory;
mod metrics;
mod outgoing;
mod rebased;
mod threads;

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

const SECOND: u64 = 1_000_000_000;

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
        })
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
