//! A snapshot of all processes, network namespaces and sockets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::cgroup::CgroupPath;
use crate::fields::{fields, hex, lines, text};
use crate::proc_root::ProcRoot;
use crate::process_stat::ProcessList;
use crate::sock_diag::TcpState;
use crate::socket_owners::{SocketOwners, first_owner, listeners_of, read_sockets};
use crate::tcp_table::{TcpRow, TcpTable};

use super::advice::sources_of_process;
use super::container::container_of;
use super::found::{DiscoveredEntry, FoundProcess, Location, NetworkNamespace};
use super::kind::ServerKind;

/// The largest number of network namespaces that are read.
const NAMESPACES_MAX: usize = 256;

/// Bytes of the list of routes from which local addresses are taken.
const ROUTES_MAX: usize = 1 << 22;

/// Where an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A process listens there.
    Listener { pid: u32, namespace: usize },
    /// Some process listens there, which is not visible.
    Hidden { uid: u32 },
    /// The address is local, but nothing listens.
    Nothing,
    /// The address is not local.
    Remote,
}

#[derive(Debug)]
struct Namespace {
    id: NetworkNamespace,
    addresses: FxHashSet<IpAddr>,
    table: TcpTable,
}

/// All processes, network namespaces and sockets at one time. The first namespace is that of Busyhour itself.
#[derive(Debug)]
pub(super) struct SystemView {
    list: ProcessList,
    namespaces: Vec<Namespace>,
    /// Position in `namespaces` by process ID. A process whose namespace cannot be read has no entry; position 0 is assumed.
    of_process: FxHashMap<u32, usize>,
    owners: SocketOwners,
}

impl SystemView {
    pub(super) fn read(root: &ProcRoot) -> SystemView {
        let list = ProcessList::read(root).unwrap_or_default();
        let mut namespaces = vec![Namespace::read(root, NetworkNamespace::Own, None)];
        let own = root.network_namespace("self");
        let mut positions: FxHashMap<u64, usize> = own.map(|own| (own, 0)).into_iter().collect();
        let mut of_process = FxHashMap::default();
        for entry in &list.entries {
            let Some(id) = root.network_namespace(&entry.pid.to_string()) else { continue };
            if !positions.contains_key(&id) && namespaces.len() < NAMESPACES_MAX {
                positions.insert(id, namespaces.len());
                namespaces.push(Namespace::read(root, NetworkNamespace::Other(id), Some(entry.pid)));
            }
            of_process.extend(positions.get(&id).map(|position| (entry.pid, *position)));
        }
        let inodes = namespaces.iter().flat_map(|namespace| &namespace.table.rows).map(|row| row.inode);
        let wanted: FxHashSet<u64> = inodes.filter(|inode| *inode != 0).collect();
        let owners = SocketOwners::read(root, &list, &wanted);
        SystemView { list, namespaces, of_process, owners }
    }

    /// Where an address is, as seen from a namespace.
    pub(super) fn locate(&self, address: SocketAddr, from: usize) -> Place {
        let ip = address.ip().to_canonical();
        let here = ip.is_loopback() || ip.is_unspecified();
        let others = (0..self.namespaces.len()).filter(|other| *other != from && !here);
        let mut is_local = false;
        for position in [from].into_iter().chain(others) {
            let namespace = &self.namespaces[position];
            if !here && !namespace.addresses.contains(&ip) {
                continue;
            }
            is_local = true;
            let listeners = listeners_of(&namespace.table, address);
            let pids: Vec<u32> =
                listeners.iter().flat_map(|row| self.owners_of(row.inode)).copied().collect();
            if let Some(pid) = first_owner(&self.list, &pids) {
                return Place::Listener { pid, namespace: position };
            }
            if let Some(row) = listeners.first() {
                return Place::Hidden { uid: row.uid };
            }
        }
        if is_local { Place::Nothing } else { Place::Remote }
    }

    /// Why a process may be missing although it exists: a limit was reached.
    pub(super) fn limit_reached(&self) -> Option<&'static str> {
        let tables_are_cut = self.namespaces.iter().any(|namespace| namespace.table.is_truncated);
        if self.list.is_truncated {
            Some("only the first 10,000 processes were examined")
        } else if self.owners.is_truncated {
            Some("only the first 2,000,000 descriptors were examined")
        } else if tables_are_cut {
            Some("only the first 200,000 sockets of a network namespace were examined")
        } else if self.namespaces.len() == NAMESPACES_MAX {
            Some("only the first 256 network namespaces were examined")
        } else {
            None
        }
    }

    /// The processes that have a descriptor of a socket.
    pub(super) fn owners_of(&self, inode: u64) -> &[u32] {
        self.owners.of(inode)
    }

    /// The sockets of a namespace.
    pub(super) fn sockets(&self, namespace: usize) -> &[TcpRow] {
        &self.namespaces[namespace].table.rows
    }

    /// The position of a namespace.
    pub(super) fn namespace_of(&self, id: NetworkNamespace) -> Option<usize> {
        self.namespaces.iter().position(|namespace| namespace.id == id)
    }

    /// Describes a process; `None` if it is not on the list.
    pub(super) fn describe(&self, root: &ProcRoot, pid: u32, place: &Place) -> Option<DiscoveredEntry> {
        let group = self.list.with_descendants(pid);
        let (first, descendants) = group.split_first()?;
        let namespace = match place {
            Place::Listener { namespace, .. } => *namespace,
            _ => self.of_process.get(&pid).copied().unwrap_or(0),
        };
        let pids: FxHashSet<u32> = group.iter().map(|entry| entry.pid).collect();
        let of_group = |row: &&TcpRow| {
            row.state == TcpState::Listen && self.owners_of(row.inode).iter().any(|pid| pids.contains(pid))
        };
        let mut listens_on: Vec<SocketAddr> =
            self.sockets(namespace).iter().filter(of_group).map(|row| row.local).collect();
        listens_on.sort_unstable();
        listens_on.dedup();
        let program = std::fs::read_link(root.process(pid, "exe")).ok();
        let cgroup = CgroupPath::of_process(root, pid);
        let container = cgroup.as_ref().ok().and_then(|cgroup| container_of(cgroup.name()));
        let process = FoundProcess {
            pid,
            command: first.command.to_string(),
            kind: ServerKind::of_process(root, pid, program.as_deref(), &first.command),
            program,
            descendants: descendants.iter().map(|entry| entry.pid).collect(),
            listens_on,
            cgroup: cgroup.as_ref().ok().cloned(),
            container,
            namespace: self.namespaces[namespace].id,
        };
        let sources = sources_of_process(root, &process, cgroup.err().as_ref());
        let location = Location::Process(Box::new(process));
        Some(DiscoveredEntry { origins: Vec::new(), address: None, location, sources })
    }
}

impl Namespace {
    fn read(root: &ProcRoot, id: NetworkNamespace, pid: Option<u32>) -> Namespace {
        let read = |file: &str, bytes_max| {
            let path = match pid {
                Some(pid) => root.process(pid, &format!("net/{file}")),
                None => root.path(format!("/proc/net/{file}")),
            };
            crate::proc_root::read_bounded(&path, bytes_max).unwrap_or_default()
        };
        let mut addresses = parse_local_ipv4(&read("fib_trie", ROUTES_MAX));
        addresses.extend(parse_local_ipv6(&read("if_inet6", 1 << 18)));
        Namespace { id, addresses, table: read_sockets(root, pid).unwrap_or_default() }
    }
}

/// Local addresses in `net/fib_trie`: a line `|-- 10.0.0.1` followed by `/32 host LOCAL`.
fn parse_local_ipv4(bytes: &[u8]) -> FxHashSet<IpAddr> {
    let mut found = FxHashSet::default();
    let mut address = None;
    for line in lines(bytes) {
        let mut fields = fields(line);
        match (fields.next(), fields.next(), fields.next()) {
            (Some(b"|--"), Some(ip), _) => address = text(ip).parse::<Ipv4Addr>().ok(),
            (Some(b"/32"), Some(b"host"), Some(b"LOCAL")) => found.extend(address.map(IpAddr::V4)),
            _ => {}
        }
    }
    found
}

/// Local addresses in `net/if_inet6`: 32 hexadecimal digits at the start of each line.
fn parse_local_ipv6(bytes: &[u8]) -> impl Iterator<Item = IpAddr> {
    lines(bytes).filter_map(|line| {
        let address = fields(line).next().filter(|field| field.len() == 32)?;
        let (high, low) = (hex(&address[..16])?, hex(&address[16..])?);
        Some(IpAddr::V6(Ipv6Addr::from(u128::from(high) << 64 | u128::from(low))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_addresses_are_found() {
        let trie = b"Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     |-- 10.0.0.255\n        /32 link BROADCAST\n\
                     Local:\n     |-- 10.0.0.7\n        /32 host LOCAL\n     |-- 127.0.0.1\n        /32 host LOCAL\n     |-- x\n        /32 host LOCAL\n";
        let found = parse_local_ipv4(trie);
        let expected: FxHashSet<IpAddr> =
            ["10.0.0.7", "127.0.0.1"].iter().map(|ip| ip.parse().unwrap()).collect();
        assert_eq!(found, expected);
        let inet6 = b"00000000000000000000000000000001 01 80 10 80       lo\nfe8 02\nfe80000000000000505400fffe123456 02 40 20 80 eth0\n";
        let found: Vec<String> = parse_local_ipv6(inet6).map(|ip| ip.to_string()).collect();
        assert_eq!(found, ["::1", "fe80::5054:ff:fe12:3456"]);
    }
}
