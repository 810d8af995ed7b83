//! Finds the system behind hosts and ports: processes, their cgroups and containers, and the processes they depend on.
//!
//! Discovery only reads `/proc` and `/sys`; it starts nothing and sends nothing. Without root, it sees only processes of its user.

mod advice;
mod connections;
mod container;
mod found;
mod kind;
mod named;
mod view;

use std::collections::VecDeque;
use std::net::{SocketAddr, ToSocketAddrs};

use rustc_hash::FxHashMap;

use crate::proc_root::ProcRoot;

use advice::sources_elsewhere;
use connections::outgoing;
use view::{Place, SystemView};

pub use found::{
    Container, ContainerRuntime, DiscoveredEntry, EntryOrigin, FoundProcess, Location, NetworkNamespace,
    ObservableSource, SourceAvailability,
};
pub use kind::ServerKind;
pub use named::find_processes;

/// The largest number of processes and addresses that are reported.
const FOUND_MAX: usize = 64;

/// The largest number of connections in sequence that are followed from a target to the processes behind it.
const DEPTH_MAX: usize = 5;

/// Where a search for the system begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiscoveryStart<'a> {
    /// At a host and port.
    Target {
        /// The host, a name or an address.
        host: &'a str,
        /// The port.
        port: u16,
    },
    /// At a process.
    Process(u32),
    /// At the processes to which this process has connections. The process itself is not part of the result.
    PeersOf(u32),
}

/// An address whose process is to be found.
struct Step {
    address: SocketAddr,
    /// The network namespace from which the address is reached: each namespace has separate loopback addresses.
    namespace: usize,
    origin: EntryOrigin,
    depth: usize,
}

/// Finds the processes behind hosts and ports, and the processes they have connections to. Entries are in the order of discovery:
/// the process of a target precedes the processes behind it. A process that is reached in several ways is one entry with several
/// origins.
///
/// Connections that are not open at the moment and Unix sockets are not followed.
#[must_use]
pub fn discover(root: &ProcRoot, targets: &[(&str, u16)]) -> Vec<DiscoveredEntry> {
    let starts: Vec<_> =
        targets.iter().map(|(host, port)| DiscoveryStart::Target { host, port: *port }).collect();
    discover_from(root, &starts)
}

/// Finds the system from several starts, as [`discover`] does.
#[must_use]
pub fn discover_from(root: &ProcRoot, starts: &[DiscoveryStart<'_>]) -> Vec<DiscoveredEntry> {
    let view = SystemView::read(root);
    let mut search =
        Search { root, view: &view, found: Vec::new(), known: FxHashMap::default(), steps: VecDeque::new() };
    for start in starts {
        match start {
            DiscoveryStart::Target { host, port } => search.start_at_target(host, *port),
            DiscoveryStart::Process(pid) => {
                search.add_process(*pid, &Place::Remote, EntryOrigin::Named { pid: *pid }, None, 0);
            }
            DiscoveryStart::PeersOf(pid) => {
                if let Some(entry) = view.describe(root, *pid, &Place::Remote)
                    && let Some(process) = entry.process()
                {
                    search.known.insert(*pid, None);
                    search.follow(process, 0);
                }
            }
        }
    }
    search.run();
    search.found
}

struct Search<'s> {
    root: &'s ProcRoot,
    view: &'s SystemView,
    found: Vec<DiscoveredEntry>,
    /// The position in `found` by process ID; `None` for processes that are not part of the result.
    known: FxHashMap<u32, Option<usize>>,
    steps: VecDeque<Step>,
}

impl Search<'_> {
    fn start_at_target(&mut self, host: &str, port: u16) {
        let origin = EntryOrigin::Target { host: host.to_owned(), port };
        match resolve(host, port) {
            Ok(addresses) => {
                let address = choose(self.view, &addresses);
                self.steps.extend(address.map(|address| Step { address, namespace: 0, origin, depth: 0 }));
            }
            Err(reason) => {
                self.found.push(elsewhere(self.view, origin, None, Location::Unresolved { reason }));
            }
        }
    }

    fn run(&mut self) {
        while let Some(step) = self.steps.pop_front() {
            if self.found.len() >= FOUND_MAX {
                break;
            }
            let place = self.view.locate(step.address, step.namespace);
            match place {
                Place::Listener { pid, .. } => {
                    self.add_process(pid, &place, step.origin, Some(step.address), step.depth);
                }
                other => add_elsewhere(self.view, &mut self.found, &step, other),
            }
        }
    }

    /// Adds a process. If it is known, adds only the origin to its entry.
    fn add_process(
        &mut self,
        pid: u32,
        place: &Place,
        origin: EntryOrigin,
        address: Option<SocketAddr>,
        depth: usize,
    ) {
        if let Some(known) = self.known.get(&pid) {
            // A process may have connections to itself.
            let is_own = matches!(origin, EntryOrigin::ConnectionOf { pid: from, .. } if from == pid);
            if let Some(position) = known.filter(|_| !is_own) {
                self.found[position].add_origin(origin);
            }
            return;
        }
        let Some(mut entry) = self.view.describe(self.root, pid, place) else { return };
        entry.add_origin(origin);
        entry.address = address;
        self.known.insert(pid, Some(self.found.len()));
        if let Some(process) = entry.process()
            && depth < DEPTH_MAX
        {
            self.follow(process, depth + 1);
        }
        self.found.push(entry);
    }

    /// Continues with the processes to which a process has connections.
    fn follow(&mut self, process: &FoundProcess, depth: usize) {
        let peers = outgoing(self.view, process);
        self.steps.extend(peers.into_iter().map(|peer| Step {
            address: peer.address,
            namespace: peer.namespace,
            origin: EntryOrigin::ConnectionOf {
                pid: process.pid,
                command: process.command.clone(),
                connections: peer.connections,
            },
            depth,
        }));
    }
}

/// An entry without a visible process.
fn elsewhere(
    view: &SystemView,
    origin: EntryOrigin,
    address: Option<SocketAddr>,
    location: Location,
) -> DiscoveredEntry {
    let sources = sources_elsewhere(&location, view.limit_reached());
    DiscoveredEntry { origins: vec![origin], address, location, sources }
}

/// Adds an address without a visible process; several origins share an entry.
fn add_elsewhere(view: &SystemView, found: &mut Vec<DiscoveredEntry>, step: &Step, place: Place) {
    let location = match place {
        Place::Hidden { uid } => Location::Hidden { uid },
        Place::Nothing => Location::NothingListens,
        Place::Listener { .. } | Place::Remote => Location::Remote,
    };
    let known =
        found.iter_mut().find(|entry| entry.address == Some(step.address) && entry.location == location);
    match known {
        Some(entry) => entry.add_origin(step.origin.clone()),
        None => found.push(elsewhere(view, step.origin.clone(), Some(step.address), location)),
    }
}

/// The addresses of a host.
fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<_> =
        (host, port).to_socket_addrs().map_err(|error| error.to_string())?.take(16).collect();
    if addresses.is_empty() { Err(String::from("the host has no address")) } else { Ok(addresses) }
}

/// The first address on which something listens; otherwise the first one.
fn choose(view: &SystemView, addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let listens = |address: &&SocketAddr| {
        matches!(view.locate(**address, 0), Place::Listener { .. } | Place::Hidden { .. })
    };
    addresses.iter().find(listens).or(addresses.first()).copied()
}
