//! The result of discovery.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::cgroup::{CgroupPath, CgroupProbe};
use crate::network::NetworkProbe;
use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::process::{ProcessProbe, WatchedProcesses};

use super::kind::ServerKind;

/// How an entry was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryOrigin {
    /// It is a target of the run.
    Target {
        /// The host as the plan names it.
        host: String,
        /// The port.
        port: u16,
    },
    /// The user named the process.
    Named {
        /// Its process ID.
        pid: u32,
    },
    /// Another process has connections to it.
    ConnectionOf {
        /// The process.
        pid: u32,
        /// The name of its command.
        command: String,
        /// Open connections from the process and its descendants.
        connections: usize,
    },
}

/// Where a target or dependency is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A process of this machine.
    Process(Box<FoundProcess>),
    /// A process of this machine whose user is known, but not its process ID, because there is no permission to read
    /// its file descriptors.
    Hidden {
        /// Its user ID.
        uid: u32,
    },
    /// The address belongs to this machine, but nothing listens on the port.
    NothingListens,
    /// The address belongs to another machine, or to a network namespace that is not visible.
    Remote,
    /// The name of the host has no address.
    Unresolved {
        /// Why.
        reason: String,
    },
}

/// A network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkNamespace {
    /// The namespace of Busyhour itself.
    Own,
    /// Another one, with its number.
    Other(u64),
}

/// The program that runs a container, as far as the name of its cgroup shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerRuntime {
    /// Docker.
    Docker,
    /// containerd, also below Kubernetes.
    Containerd,
    /// CRI-O.
    CriO,
    /// Podman.
    Podman,
    /// Another one.
    Unknown,
}

/// A container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The program that runs it.
    pub runtime: ContainerRuntime,
    /// Its identifier: 64 hexadecimal digits.
    pub id: String,
}

/// A process that listens for connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundProcess {
    /// Its process ID.
    pub pid: u32,
    /// The name of the command: at most 15 bytes.
    pub command: String,
    /// The program's file; `None` without permission.
    pub program: Option<PathBuf>,
    /// The kind of server.
    pub kind: ServerKind,
    /// Its descendants.
    pub descendants: Vec<u32>,
    /// All TCP addresses on which it or its descendants listen.
    pub listens_on: Vec<SocketAddr>,
    /// Its cgroup; `None` if it has none that can be read.
    pub cgroup: Option<CgroupPath>,
    /// Its container, if it is in one.
    pub container: Option<Container>,
    /// Its network namespace.
    pub namespace: NetworkNamespace,
}

/// Whether a source can be watched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceAvailability {
    /// Completely.
    Available,
    /// Some metrics are missing.
    Limited {
        /// What is missing, and why.
        missing: String,
        /// What would enable it.
        advice: String,
    },
    /// Not at all.
    Unavailable {
        /// Why.
        reason: String,
        /// What would enable it.
        advice: String,
    },
}

/// A source of an entry. Its `Display` is one line for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservableSource {
    /// The name of the probe's source, such as `process:4711`. If there is no probe, only the kind of source.
    pub name: String,
    /// Whether it can be watched.
    pub availability: SourceAvailability,
}

impl fmt::Display for ObservableSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.availability {
            SourceAvailability::Available => write!(f, "{}: watched", self.name),
            SourceAvailability::Limited { missing, advice } => {
                write!(f, "{}: watched, without {missing}; {advice}", self.name)
            }
            SourceAvailability::Unavailable { reason, advice } => {
                write!(f, "{}: not watched, because {reason}; {advice}", self.name)
            }
        }
    }
}

/// A target of the run, or a process or address behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscoveredEntry {
    /// How it was reached; at least one.
    pub origins: Vec<EntryOrigin>,
    /// The address at which it was found.
    pub address: Option<SocketAddr>,
    /// Where it is.
    pub location: Location,
    /// The sources of the entry: which can be watched, and why others cannot be watched and what would enable them.
    pub sources: Vec<ObservableSource>,
}

impl DiscoveredEntry {
    pub(super) fn add_origin(&mut self, origin: EntryOrigin) {
        if !self.origins.contains(&origin) {
            self.origins.push(origin);
        }
    }

    /// The process, if it is visible.
    #[must_use]
    pub fn process(&self) -> Option<&FoundProcess> {
        match &self.location {
            Location::Process(process) => Some(process),
            _ => None,
        }
    }

    /// The probes of the operating system for this entry: of the process, its cgroup and its network namespace. Errors are those
    /// of sources that disappeared since the discovery.
    #[must_use]
    pub fn probes(&self, root: &ProcRoot) -> (Vec<Box<dyn Probe>>, Vec<ProbeError>) {
        self.probes_listed_in(root, &WatchedProcesses::default())
    }

    /// The probes like [`Self::probes`]; that of the process is added to a list.
    #[must_use]
    pub fn probes_listed_in(
        &self,
        root: &ProcRoot,
        watched: &WatchedProcesses,
    ) -> (Vec<Box<dyn Probe>>, Vec<ProbeError>) {
        let (mut probes, mut errors): (Vec<Box<dyn Probe>>, Vec<ProbeError>) = (Vec::new(), Vec::new());
        let Some(process) = self.process() else { return (probes, errors) };
        match ProcessProbe::new(root, process.pid, &process.listens_on) {
            Ok(probe) => probes.push(Box::new(probe.listed_in(watched))),
            Err(error) => errors.push(error),
        }
        if let Some(cgroup) = process.cgroup.as_ref().filter(|cgroup| !cgroup.is_root()) {
            probes.push(Box::new(CgroupProbe::new(cgroup)));
        }
        if process.namespace != NetworkNamespace::Own {
            probes.push(Box::new(NetworkProbe::new(root, process.pid)));
        }
        (probes, errors)
    }
}
