//! Connections from a process to the servers behind it, and how many of them await a response.
//!
//! The kernel records when a connection last sent and received data. After a request, the last data was sent; after the response,
//! it was received. This needs no knowledge of the protocol. It does not recognize several requests at once on a connection (HTTP/2),
//! which count as one, and a server that keeps a request open until something happens looks like a slow one.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use rustc_hash::FxHashSet;

use busyhour_series::Metric;

use crate::budget::Budget;
use crate::declared::LabelledSeries;
use crate::proc_root::ProcRoot;
use crate::reading::Reading;
use crate::sock_diag::{DiagSocket, DiagTcpSocket, Family, TcpState, TcpStates, TcpTraffic, WithTraffic};
use crate::socket_owners::{SOCKETS_MAX, sockets_of};

/// The largest number of servers that are recorded.
const PEERS_MAX: usize = 32;

/// A connection that has never received anything, and is this old, sends data that nobody answers, such as log lines.
const UNANSWERED_MS: u32 = 30_000;

static METRICS: [Metric; 2] = [
    Metric::gauge("process_outgoing_connections", "Established connections to a server."),
    Metric::gauge(
        "process_connections_awaiting_response",
        "Connections to a server that sent data after the last data that they received.",
    ),
];

/// Reads the outgoing connections of a process and its descendants. Connections to a port on which the same machine listens are
/// outgoing at one end only: the local port of the other end is the one that listens.
#[derive(Debug)]
pub(super) struct OutgoingReader {
    /// `None` until the first reading.
    diag: Option<Result<DiagSocket, String>>,
    series: LabelledSeries,
    /// Servers with their latest numbers of connections and of those that await a response.
    peers: BTreeMap<SocketAddr, (u32, u32)>,
    /// Sockets of the processes, and of others.
    own: FxHashSet<u32>,
    others: FxHashSet<u32>,
    budget: Budget,
}

impl Default for OutgoingReader {
    /// Uses at most 1/2,000 of a core, because the kernel visits all its sockets.
    fn default() -> OutgoingReader {
        OutgoingReader {
            diag: None,
            series: LabelledSeries::new(&METRICS, "peer", PEERS_MAX),
            peers: BTreeMap::new(),
            own: FxHashSet::default(),
            others: FxHashSet::default(),
            budget: Budget::new(0, 2_000),
        }
    }
}

impl OutgoingReader {
    /// Another process has replaced the observed one.
    pub(super) fn restart(&mut self) {
        self.diag = None;
        self.own.clear();
        self.others.clear();
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>, root: &ProcRoot, pids: &[u32]) {
        let Some(first) = pids.first() else { return };
        let diag = self.diag.get_or_insert_with(|| open(root, *first));
        let diag = match diag {
            Ok(diag) => diag,
            Err(reason) => return METRICS.iter().for_each(|metric| reading.unavailable(metric, reason)),
        };
        let (own, others, peers) = (&mut self.own, &mut self.others, &mut self.peers);
        let result = self.budget.run(reading.time(), || {
            let sockets = outgoing(diag).map_err(|error| format!("sock_diag: {error}"))?;
            find_own(&sockets, own, others, || sockets_of(root, pids)).map_err(|error| {
                format!("cannot read /proc/PID/fd of the processes: {error}: run as their user or as root")
            })?;
            count(&sockets, own, peers);
            Ok::<(), String>(())
        });
        match result {
            None => {}
            Some(Ok(())) => {
                for (peer, (connections, awaiting)) in peers {
                    if let Some(series) = self.series.of(reading, peer.to_string().as_bytes()) {
                        let (all, waiting) = (series[0], series[1]);
                        reading.set(all, f64::from(*connections));
                        reading.set(waiting, f64::from(*awaiting));
                    }
                }
            }
            Some(Err(reason)) => METRICS.iter().for_each(|metric| reading.unavailable(metric, &reason)),
        }
    }
}

/// Opens a socket in the network namespace of a process.
fn open(root: &ProcRoot, pid: u32) -> Result<DiagSocket, String> {
    if !root.is_live() {
        return Err(String::from("a recorded system contains no sockets"));
    }
    let own = root.network_namespace("self");
    if own.is_some() && own == root.network_namespace(&pid.to_string()) {
        return DiagSocket::open().map_err(|error| format!("sock_diag: {error}"));
    }
    DiagSocket::open_in_namespace_of(pid)
        .map_err(|error| format!("cannot enter the network namespace of process {pid}: {error}: run as root"))
}

/// Established connections whose local port is not one on which the machine listens.
fn outgoing(diag: &mut DiagSocket) -> io::Result<Vec<DiagTcpSocket>> {
    let (mut listening, mut established) = (FxHashSet::default(), Vec::new());
    for family in [Family::Ipv4, Family::Ipv6] {
        let mut found = |socket: DiagTcpSocket| match socket.state {
            TcpState::Listen => drop(listening.insert(socket.local.port())),
            _ => established.push(socket),
        };
        diag.tcp_sockets(family, TcpStates::IN_USE, WithTraffic::Yes, SOCKETS_MAX, &mut found)?;
    }
    established.retain(|socket| !listening.contains(&socket.local.port()));
    Ok(established)
}

/// Updates the sets of own and other sockets, so that they contain all of `sockets`. The descriptors of the processes are read only if
/// there are new sockets.
fn find_own(
    sockets: &[DiagTcpSocket],
    own: &mut FxHashSet<u32>,
    others: &mut FxHashSet<u32>,
    read: impl FnOnce() -> io::Result<FxHashSet<u32>>,
) -> io::Result<()> {
    if sockets.iter().any(|socket| !own.contains(&socket.inode) && !others.contains(&socket.inode)) {
        *own = read()?;
        *others = sockets.iter().map(|socket| socket.inode).filter(|inode| !own.contains(inode)).collect();
    }
    Ok(())
}

/// Counts the process's own sockets by server. Servers without connections remain, with a count of 0.
fn count(sockets: &[DiagTcpSocket], own: &FxHashSet<u32>, peers: &mut BTreeMap<SocketAddr, (u32, u32)>) {
    peers.values_mut().for_each(|counts| *counts = (0, 0));
    for socket in sockets.iter().filter(|socket| own.contains(&socket.inode)) {
        let peer = SocketAddr::new(socket.remote.ip().to_canonical(), socket.remote.port());
        if peers.len() > PEERS_MAX && !peers.contains_key(&peer) {
            continue;
        }
        let (connections, awaiting) = peers.entry(peer).or_default();
        *connections += 1;
        *awaiting += u32::from(socket.traffic.is_some_and(|traffic| awaits_response(&traffic)));
    }
}

/// Whether the last data of a connection was sent. If a request followed a response within a tick of the kernel's clock, both have
/// the same age; then the peer's acknowledgement of the request, or its absence, shows that a request was sent last.
fn awaits_response(traffic: &TcpTraffic) -> bool {
    if traffic.received_bytes == 0 && traffic.received_ms > UNANSWERED_MS {
        return false;
    }
    traffic.sent_ms < traffic.received_ms
        || traffic.sent_ms == traffic.received_ms
            && (traffic.unacknowledged > 0 || traffic.acknowledged_ms < traffic.received_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(sent_ms: u32, received_ms: u32, acknowledged_ms: u32, unacknowledged: u32) -> TcpTraffic {
        TcpTraffic { unacknowledged, sent_ms, received_ms, acknowledged_ms, received_bytes: 100 }
    }

    #[test]
    fn a_connection_awaits_a_response_if_it_sent_last() {
        assert!(awaits_response(&traffic(10, 50, 8, 0)));
        assert!(!awaits_response(&traffic(50, 10, 10, 0)));
        assert!(!awaits_response(&traffic(50, 50, 50, 0)), "a fast response");
        assert!(
            awaits_response(&traffic(50, 50, 10, 0)),
            "a request after a response, then its acknowledgement"
        );
        assert!(awaits_response(&traffic(0, 0, 40, 1)), "a request that is not acknowledged yet");
        let push = |received_ms| TcpTraffic { received_bytes: 0, ..traffic(1, received_ms, 1, 0) };
        assert!(awaits_response(&push(500)) && !awaits_response(&push(40_000)), "log lines");
    }

    #[test]
    fn own_connections_are_counted_by_server() {
        let socket = |inode: u32, remote: &str, sent_ms| DiagTcpSocket {
            state: TcpState::Established,
            local: "127.0.0.1:50000".parse().unwrap(),
            remote: remote.parse().unwrap(),
            inode,
            receive_queue: 0,
            send_queue: 0,
            traffic: Some(traffic(sent_ms, 20, 5, 0)),
        };
        let mut sockets = vec![
            socket(1, "127.0.0.1:5432", 10),
            socket(2, "[::ffff:127.0.0.1]:5432", 30),
            socket(3, "127.0.0.1:5432", 10),
        ];
        let (mut own, mut others, mut peers) = Default::default();
        let mut reads = 0;
        let mut read = |inodes: &[u32]| {
            reads += 1;
            Ok(inodes.iter().copied().collect())
        };
        find_own(&sockets, &mut own, &mut others, || read(&[1, 2, 9])).unwrap();
        count(&sockets, &own, &mut peers);
        assert_eq!(peers, BTreeMap::from([("127.0.0.1:5432".parse().unwrap(), (2, 1))]));
        sockets.remove(0);
        find_own(&sockets, &mut own, &mut others, || read(&[])).unwrap();
        sockets.push(socket(4, "10.0.0.1:80", 10));
        find_own(&sockets, &mut own, &mut others, || read(&[4])).unwrap();
        count(&sockets, &own, &mut peers);
        let expected = [("10.0.0.1:80", (1, 1)), ("127.0.0.1:5432", (0, 0))];
        assert_eq!(peers, expected.into_iter().map(|(peer, n)| (peer.parse().unwrap(), n)).collect());
        assert_eq!(reads, 2, "not without new sockets");
    }
}
