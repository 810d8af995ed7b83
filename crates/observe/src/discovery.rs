//! Finds the system behind hosts and ports: processes, their cgroups and containers, and the processes they depend on.
//!
//! Nothing is started, attached or sent: discovery reads `/proc` and `/sys`. Without root, it sees the processes of the own user.

mod advice;
mod connections;
mod container;
mod found;
mod kind;
mod view;

use std::net::{SocketAddr, ToSocketAddrs};

use rustc_hash::FxHashMap;

use crate::proc_root::ProcRoot;

use advice::sources_elsewhere;
use connections::outgoing;
use view::{Place, SystemView};

pub use found::{
    Container, ContainerRuntime, Found, FoundProcess, Location, NetworkNamespace, ObservableSource, Origin,
    SourceAvailability,
};
pub use kind::ServerKind;

/// Processes and addresses that are reported.
const FOUND_MAX: usize = 64;

/// Connections from a target to processes behind it that are followed in sequence.
const DEPTH_MAX: usize = 5;

/// What is to be located next.
struct Step {
    address: SocketAddr,
    /// The namespace from which it is reached: loopback addresses are different in each.
    namespace: usize,
    origin: Origin,
    depth: usize,
}

/// Finds the processes behind hosts and ports, and the processes they have connections to. Entries are in the order of discovery: those
/// of a target precede those behind it. A process that is reached in several ways is one entry with several origins.
///
/// Connections that are not open at the moment and Unix sockets are not followed.
#[must_use]
pub fn discover(root: &ProcRoot, targets: &[(&str, u16)]) -> Vec<Found> {
    let view = SystemView::read(root);
    let mut found = Vec::new();
    let mut steps: std::collections::VecDeque<Step> = std::collections::VecDeque::new();
    for (host, port) in targets {
        let origin = Origin::Target { host: (*host).to_owned(), port: *port };
        match resolve(host, *port) {
            Ok(addresses) => {
                let address = choose(&view, &addresses);
                steps.extend(address.map(|address| Step { address, namespace: 0, origin, depth: 0 }));
            }
            Err(reason) => found.push(elsewhere(origin, None, Location::Unresolved { reason })),
        }
    }
    let mut known: FxHashMap<u32, usize> = FxHashMap::default();
    while let Some(step) = steps.pop_front() {
        if found.len() == FOUND_MAX {
            break;
        }
        let place = view.locate(step.address, step.namespace);
        let pid = match place {
            Place::Listener { pid, .. } => pid,
            other => {
                add_elsewhere(&mut found, &step, other);
                continue;
            }
        };
        if let Some(entry) = known.get(&pid) {
            found[*entry].add_origin(step.origin);
            continue;
        }
        let Some(mut entry) = view.describe(root, pid, &place) else { continue };
        entry.add_origin(step.origin);
        entry.address = Some(step.address);
        known.insert(pid, found.len());
        if let Location::Process(process) = &entry.location
            && step.depth < DEPTH_MAX
        {
            for peer in outgoing(&view, process) {
                steps.push_back(Step {
                    address: peer.address,
                    namespace: peer.namespace,
                    origin: Origin::ConnectionOf {
                        pid,
                        command: process.command.clone(),
                        connections: peer.connections,
                    },
                    depth: step.depth + 1,
                });
            }
        }
        found.push(entry);
    }
    found
}

/// An entry without a visible process.
fn elsewhere(origin: Origin, address: Option<SocketAddr>, location: Location) -> Found {
    let sources = sources_elsewhere(&location);
    Found { origins: vec![origin], address, location, sources }
}

/// Adds an address without a visible process; several origins share an entry.
fn add_elsewhere(found: &mut Vec<Found>, step: &Step, place: Place) {
    let location = match place {
        Place::Hidden { uid } => Location::Hidden { uid },
        Place::Nothing => Location::NothingListens,
        Place::Listener { .. } | Place::Remote => Location::Remote,
    };
    let known =
        found.iter_mut().find(|entry| entry.address == Some(step.address) && entry.location == location);
    match known {
        Some(entry) => entry.add_origin(step.origin.clone()),
        None => found.push(elsewhere(step.origin.clone(), Some(step.address), location)),
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
