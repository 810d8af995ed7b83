//! Identifies the watched process and its successor.

use std::fmt;
use std::net::SocketAddr;

use crate::probe::ProbeError;
use crate::proc_root::{ProcRoot, read_bounded};
use crate::process_stat::{ProcessList, read_process};
use crate::socket_owners::find_listener;

/// Bytes of a command line that are compared.
const COMMAND_LINE_MAX: usize = 1 << 16;

/// The properties that identify a process, now and after a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) pid: u32,
    /// Start in ticks since the start of the machine.
    pub(super) start: u64,
    /// The name of the command: at most 15 bytes.
    command: Box<str>,
    /// Program and arguments. They may contain secrets and are only compared.
    command_line: Vec<u8>,
    listens_on: Vec<SocketAddr>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} ({})", self.pid, self.command)
    }
}

impl Identity {
    /// The name of the command.
    pub(super) fn command(&self) -> &str {
        &self.command
    }

    pub(super) fn read(root: &ProcRoot, pid: u32, listens_on: &[SocketAddr]) -> Result<Identity, ProbeError> {
        let entry =
            read_process(root, pid).ok_or_else(|| ProbeError::Ended { what: format!("process {pid}") })?;
        Ok(Identity {
            pid,
            start: entry.stat.start,
            command: entry.command,
            command_line: command_line(root, pid),
            listens_on: listens_on.to_vec(),
        })
    }

    /// Whether the process still runs.
    pub(super) fn is_running(&self, root: &ProcRoot) -> bool {
        read_process(root, self.pid)
            .is_some_and(|entry| entry.stat.start == self.start && !matches!(entry.stat.state, b'Z' | b'X'))
    }

    /// The successor of this process, which has ended.
    pub(super) fn find_successor(&self, root: &ProcRoot) -> Option<Identity> {
        let list = ProcessList::read(root).ok()?;
        let listener = self.listens_on.iter().find_map(|address| find_listener(root, &list, *address));
        let pid = listener.or_else(|| {
            let same = |pid| !self.command_line.is_empty() && command_line(root, pid) == self.command_line;
            // `>=`, because a quick restart may happen within the same tick (10 ms).
            let candidates = list.entries.iter().filter(|entry| {
                (entry.pid, entry.stat.start) != (self.pid, self.start)
                    && entry.stat.start >= self.start
                    && entry.command == self.command
                    && same(entry.pid)
            });
            // The one that started first is the parent of the others.
            candidates.min_by_key(|entry| entry.stat.start).map(|entry| entry.pid)
        })?;
        let successor = Identity::read(root, pid, &self.listens_on).ok()?;
        // The process that is watched may still be on the list while it ends.
        ((successor.pid, successor.start) != (self.pid, self.start)).then_some(successor)
    }
}

/// Program and arguments; empty for threads of the kernel and ended processes.
fn command_line(root: &ProcRoot, pid: u32) -> Vec<u8> {
    read_bounded(&root.process(pid, "cmdline"), COMMAND_LINE_MAX).unwrap_or_default()
}
