//! Finds the processes that have descriptors of sockets.

use std::io;
use std::net::{IpAddr, SocketAddr};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::proc_root::ProcRoot;
use crate::process_stat::ProcessList;
use crate::sock_diag::TcpState;
use crate::tcp_table::{TcpRow, TcpTable, read_tcp_table};

/// The largest number of descriptors of one process that are read.
const DESCRIPTORS_MAX: usize = 65_536;

/// The largest number of descriptors that are read, over all processes.
const ALL_DESCRIPTORS_MAX: usize = 2_000_000;

/// The largest number of sockets of a network namespace that are read.
pub(crate) const SOCKETS_MAX: usize = 200_000;

/// Processes by socket.
#[derive(Debug, Default)]
pub(crate) struct SocketOwners {
    by_inode: FxHashMap<u64, Vec<u32>>,
    /// Whether there were more descriptors than the limit.
    pub(crate) is_truncated: bool,
}

impl SocketOwners {
    /// Reads the descriptors of all processes. Only sockets in `wanted` are kept.
    pub(crate) fn read(root: &ProcRoot, list: &ProcessList, wanted: &FxHashSet<u64>) -> SocketOwners {
        let mut owners = SocketOwners::default();
        let mut left = ALL_DESCRIPTORS_MAX;
        for entry in &list.entries {
            if left == 0 {
                owners.is_truncated = true;
                break;
            }
            owners.read_process(root, entry.pid, wanted, &mut left);
        }
        owners
    }

    fn read_process(&mut self, root: &ProcRoot, pid: u32, wanted: &FxHashSet<u64>, left: &mut usize) {
        // Without permission, the owner of a socket remains unknown. Its user is known from the table of sockets.
        let Ok(descriptors) = std::fs::read_dir(root.process(pid, "fd")) else { return };
        for descriptor in descriptors.flatten().take(DESCRIPTORS_MAX.min(*left)) {
            *left -= 1;
            let target = std::fs::read_link(descriptor.path()).ok();
            let inode = target.as_deref().and_then(|target| parse_socket(target.to_str()?));
            if let Some(inode) = inode.filter(|inode| wanted.contains(inode)) {
                let pids = self.by_inode.entry(inode).or_default();
                if pids.last() != Some(&pid) {
                    pids.push(pid);
                }
            }
        }
    }

    /// The processes that have this socket, in the order of the list of processes.
    pub(crate) fn of(&self, inode: u64) -> &[u32] {
        self.by_inode.get(&inode).map_or(&[], Vec::as_slice)
    }
}

/// The sockets of processes, from their descriptors. Processes that have ended have none.
///
/// # Errors
/// Permission is missing for one of the processes.
pub(crate) fn sockets_of(root: &ProcRoot, pids: &[u32]) -> io::Result<FxHashSet<u32>> {
    let mut sockets = FxHashSet::default();
    let mut left = ALL_DESCRIPTORS_MAX;
    for pid in pids {
        let descriptors = match std::fs::read_dir(root.process(*pid, "fd")) {
            Ok(descriptors) => descriptors,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for descriptor in descriptors.flatten().take(DESCRIPTORS_MAX.min(left)) {
            left -= 1;
            let target = std::fs::read_link(descriptor.path()).ok();
            let inode = target.as_deref().and_then(|target| parse_socket(target.to_str()?));
            sockets.extend(inode.and_then(|inode| u32::try_from(inode).ok()));
        }
    }
    Ok(sockets)
}

/// The number of a socket in `socket:[4711]`.
fn parse_socket(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The IPv4 and IPv6 sockets in the network namespace of a process; `None` means Busyhour's own process.
pub(crate) fn read_sockets(root: &ProcRoot, pid: Option<u32>) -> io::Result<TcpTable> {
    let path = |file: &str| match pid {
        Some(pid) => root.process(pid, &format!("net/{file}")),
        None => root.path(format!("/proc/net/{file}")),
    };
    let mut table = read_tcp_table(&path("tcp"), SOCKETS_MAX)?;
    // Machines without IPv6 have no tcp6.
    if let Ok(more) = read_tcp_table(&path("tcp6"), SOCKETS_MAX) {
        table.is_truncated |= more.is_truncated;
        table.rows.extend(more.rows);
    }
    Ok(table)
}

/// The listening sockets that accept connections to an address. Sockets that are bound to this address take precedence over those
/// that are bound to all addresses.
pub(crate) fn listeners_of(table: &TcpTable, address: SocketAddr) -> Vec<&TcpRow> {
    let ip = address.ip().to_canonical();
    let rows = || {
        table.rows.iter().filter(|row| row.state == TcpState::Listen && row.local.port() == address.port())
    };
    let exact: Vec<_> = rows().filter(|row| row.local.ip().to_canonical() == ip).collect();
    if !exact.is_empty() {
        return exact;
    }
    // A socket that is bound to `::` usually accepts IPv4 as well.
    let same_family: Vec<_> =
        rows().filter(|row| row.local.ip().is_unspecified() && row.local.is_ipv4() == ip.is_ipv4()).collect();
    if !same_family.is_empty() || !ip.is_ipv4() {
        return same_family;
    }
    rows().filter(|row| row.local.ip() == IpAddr::V6(std::net::Ipv6Addr::UNSPECIFIED)).collect()
}

/// The process that a socket belongs to: the first one whose parent does not have the socket. Process 1, such as systemd, passes
/// sockets to services and is only chosen if no other process has the socket.
pub(crate) fn first_owner(list: &ProcessList, owners: &[u32]) -> Option<u32> {
    let set: FxHashSet<u32> = owners.iter().copied().filter(|pid| *pid != 1).collect();
    let first =
        list.entries.iter().filter(|entry| set.contains(&entry.pid) && !set.contains(&entry.stat.parent));
    let first = first.min_by_key(|entry| (entry.stat.start, entry.pid)).map(|entry| entry.pid);
    first.or_else(|| owners.contains(&1).then_some(1))
}

/// The process that listens on an address in Busyhour's own network namespace.
pub(crate) fn find_listener(root: &ProcRoot, list: &ProcessList, address: SocketAddr) -> Option<u32> {
    let table = read_sockets(root, None).ok()?;
    let wanted: FxHashSet<u64> = listeners_of(&table, address).iter().map(|row| row.inode).collect();
    if wanted.is_empty() {
        return None;
    }
    let owners = SocketOwners::read(root, list, &wanted);
    let pids: Vec<u32> = wanted.iter().flat_map(|inode| owners.of(*inode)).copied().collect();
    first_owner(list, &pids)
}

#[cfg(test)]
mod tests {
    use crate::process_stat::{ProcessEntry, ProcessStat};

    use super::*;

    fn table(listening: &[&str]) -> TcpTable {
        let rows = listening.iter().enumerate().map(|(number, local)| TcpRow {
            local: local.parse().unwrap(),
            remote: "0.0.0.0:0".parse().unwrap(),
            state: TcpState::Listen,
            receive_queue: 0,
            uid: 0,
            inode: number as u64 + 1,
        });
        TcpTable { rows: rows.collect(), is_truncated: false }
    }

    #[test]
    fn the_most_specific_listener_receives_connections() {
        let found = |listening: &[&str], address: &str| -> Vec<u64> {
            listeners_of(&table(listening), address.parse().unwrap()).iter().map(|row| row.inode).collect()
        };
        assert_eq!(found(&["0.0.0.0:80", "127.0.0.1:80", "[::]:80"], "127.0.0.1:80"), [2]);
        assert_eq!(found(&["0.0.0.0:80", "127.0.0.1:80", "[::]:80"], "10.0.0.1:80"), [1]);
        assert_eq!(found(&["[::]:80", "0.0.0.0:81"], "10.0.0.1:80"), [1]);
        assert_eq!(found(&["[::]:80", "0.0.0.0:80"], "[::1]:80"), [1]);
        assert_eq!(found(&["0.0.0.0:80"], "[::1]:80"), [0u64; 0]);
        assert_eq!(found(&["[::ffff:127.0.0.1]:80"], "127.0.0.1:80"), [1]);
        assert_eq!(found(&["0.0.0.0:80", "0.0.0.0:80"], "1.2.3.4:80"), [1, 2], "SO_REUSEPORT");
    }

    #[test]
    fn workers_belong_to_their_parent_and_services_not_to_the_first_process() {
        let entry = |pid, parent, start| ProcessEntry {
            pid,
            command: "x".into(),
            stat: ProcessStat { parent, start, ..ProcessStat::default() },
        };
        let list = ProcessList {
            entries: vec![entry(1, 0, 0), entry(30, 20, 9), entry(20, 1, 8), entry(40, 1, 7)],
            is_truncated: false,
        };
        assert_eq!(first_owner(&list, &[30, 20]), Some(20));
        assert_eq!(first_owner(&list, &[1, 30, 20]), Some(20));
        assert_eq!(first_owner(&list, &[40, 20]), Some(40), "the older one");
        assert_eq!(first_owner(&list, &[1]), Some(1));
        assert_eq!(first_owner(&list, &[]), None);
        assert_eq!(parse_socket("socket:[4711]"), Some(4711));
        assert_eq!(parse_socket("/dev/null"), None);
    }
}
