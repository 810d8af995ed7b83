//! Network namespaces: interfaces, TCP counters, states of connections, queues of listening sockets.

mod counters;
mod interfaces;
mod listeners;
mod states;

use std::time::Duration;

use crate::budget::Budget;
use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::reading::Reading;
use crate::sock_diag::DiagSocket;

use counters::CounterReader;
use interfaces::InterfaceReader;
use listeners::ListenerReader;
use states::StateReader;

/// Reads one network namespace.
#[derive(Debug)]
pub(crate) struct NetworkReader {
    interfaces: InterfaceReader,
    counters: CounterReader,
    listeners: ListenerReader,
    states: StateReader,
    /// Interfaces and counters are read at each time, unless they would take more than 1/2,000 of a core.
    counter_budget: Budget,
    /// Reads sockets with netlink; otherwise the reason why that is not possible.
    diag: Result<DiagSocket, String>,
}

impl NetworkReader {
    /// Reads the namespace of Busyhour itself.
    pub(crate) fn of_own_namespace(root: &ProcRoot) -> NetworkReader {
        let diag = if root.is_live() {
            DiagSocket::open().map_err(|error| format!("sock_diag: {error}"))
        } else {
            Err(String::from("a recorded system contains no sockets"))
        };
        NetworkReader::new(root, "/proc/net", diag)
    }

    fn new(root: &ProcRoot, directory: &str, diag: Result<DiagSocket, String>) -> NetworkReader {
        NetworkReader {
            interfaces: InterfaceReader::new(root, directory),
            counters: CounterReader::new(root, directory),
            listeners: ListenerReader::new(root, directory),
            states: StateReader::default(),
            counter_budget: Budget::new(0, 2_000),
            diag,
        }
    }

    pub(crate) fn read(&mut self, reading: &mut Reading<'_>) {
        self.counter_budget.run(reading.time(), || {
            self.interfaces.read(reading);
            self.counters.read(reading);
        });
        self.listeners.read(reading, self.diag.as_mut());
        self.states.read(reading, self.diag.as_mut());
    }
}

/// Reads the network namespace of a process that is not in the namespace of Busyhour; source `network:PID`.
#[derive(Debug)]
pub struct NetworkProbe {
    source: String,
    pid: u32,
    root: ProcRoot,
    reader: NetworkReader,
}

impl NetworkProbe {
    /// A probe of the namespace of a process. Queues and states of sockets need permission to enter the namespace (root);
    /// interfaces and counters do not.
    #[must_use]
    pub fn new(root: &ProcRoot, pid: u32) -> NetworkProbe {
        let diag = if root.is_live() {
            DiagSocket::open_in_namespace_of(pid).map_err(|error| {
                format!("cannot enter the network namespace of process {pid}: {error}; run as root")
            })
        } else {
            Err(String::from("a recorded system contains no sockets"))
        };
        NetworkProbe {
            source: format!("network:{pid}"),
            pid,
            root: root.clone(),
            reader: NetworkReader::new(root, &format!("/proc/{pid}/net"), diag),
        }
    }
}

impl Probe for NetworkProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        // Files that are already open can still be read after the end of the process, because they belong to the namespace.
        if !self.root.process(self.pid, "").exists() {
            return Err(ProbeError::Ended { what: format!("process {}", self.pid) });
        }
        self.reader.read(reading);
        Ok(())
    }
}
