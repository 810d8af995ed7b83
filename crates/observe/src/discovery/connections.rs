//! Connections from a process to others.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rustc_hash::FxHashSet;

use crate::sock_diag::TcpState;

use super::found::FoundProcess;
use super::view::SystemView;

/// The largest number of peers of a process that are followed.
const PEERS_MAX: usize = 32;

/// The other end of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    pub(super) address: SocketAddr,
    /// Position of the network namespace of the process that opened the connections.
    pub(super) namespace: usize,
    pub(super) connections: usize,
}

/// The addresses to which a process or its descendants have opened connections, those with the most connections first. A
/// connection with a local port on which the process listens was accepted, not opened.
pub(super) fn outgoing(view: &SystemView, process: &FoundProcess) -> Vec<Peer> {
    let pids: FxHashSet<u32> = process.descendants.iter().copied().chain([process.pid]).collect();
    let listening: FxHashSet<u16> = process.listens_on.iter().map(SocketAddr::port).collect();
    let Some(namespace) = view.namespace_of(process.namespace) else { return Vec::new() };
    let mut peers: BTreeMap<SocketAddr, usize> = BTreeMap::new();
    for row in view.sockets(namespace) {
        let is_open = matches!(row.state, TcpState::Established | TcpState::SynSent | TcpState::CloseWait);
        if is_open
            && !listening.contains(&row.local.port())
            && view.owners_of(row.inode).iter().any(|pid| pids.contains(pid))
        {
            let remote = SocketAddr::new(row.remote.ip().to_canonical(), row.remote.port());
            *peers.entry(remote).or_default() += 1;
        }
    }
    let mut peers: Vec<Peer> =
        peers.into_iter().map(|(address, connections)| Peer { address, namespace, connections }).collect();
    peers.sort_by_key(|peer| std::cmp::Reverse(peer.connections));
    peers.truncate(PEERS_MAX);
    peers
}
