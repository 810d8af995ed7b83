//! Queues of listening sockets: connections that wait to be accepted, and the limit.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rustc_hash::FxHashMap;

use busyhour_series::Metric;

use crate::declared::LabelledSeries;
use crate::proc_root::ProcRoot;
use crate::reading::Reading;
use crate::sock_diag::{DiagSocket, Family, TcpState, TcpStates, WithTraffic};
use crate::tcp_table::read_tcp_table;

const LISTENERS_MAX: usize = 64;

/// The largest number of listening sockets that are read.
const SOCKETS_MAX: usize = 16_384;

static METRICS: [Metric; 2] = [
    Metric::gauge(
        "busyhour_tcp_listen_queue_length",
        "Connections that wait until the process accepts them.",
    ),
    Metric::gauge("busyhour_tcp_listen_queue_limit", "Length at which further connections are dropped."),
];

#[derive(Debug)]
pub(super) struct ListenerReader {
    root: ProcRoot,
    directory: String,
    series: LabelledSeries,
    /// Length and limit of the queues by address; several sockets may share an address. The order is fixed, so that the same
    /// addresses are recorded at each reading if there are too many.
    queues: BTreeMap<SocketAddr, (u64, Option<u64>)>,
    /// The addresses as texts, for labels.
    names: FxHashMap<SocketAddr, String>,
}

impl ListenerReader {
    pub(super) fn new(root: &ProcRoot, directory: &str) -> ListenerReader {
        ListenerReader {
            root: root.clone(),
            directory: directory.to_owned(),
            series: LabelledSeries::new(&METRICS, "address", LISTENERS_MAX),
            queues: BTreeMap::new(),
            names: FxHashMap::default(),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>, diag: Result<&mut DiagSocket, &mut String>) {
        self.queues.clear();
        let queues = &mut self.queues;
        let mut add = |address: SocketAddr, length: u64, limit: Option<u64>| {
            let queue = queues.entry(address).or_insert((0, limit.map(|_| 0)));
            queue.0 += length;
            queue.1 = queue.1.zip(limit).map(|(one, other)| one + other);
        };
        let result = match diag {
            Ok(diag) => diag_listeners(diag, &mut add),
            Err(reason) => {
                reading.unavailable(&METRICS[1], reason);
                table_listeners(&self.root, &self.directory, &mut add)
            }
        };
        if let Err(error) = result {
            reading.unavailable(&METRICS[0], &error);
        }
        for (address, (length, limit)) in &self.queues {
            if self.names.len() >= SOCKETS_MAX && !self.names.contains_key(address) {
                continue;
            }
            let name = self.names.entry(*address).or_insert_with(|| address.to_string());
            if let Some(series) = self.series.of(reading, name.as_bytes()) {
                let (length_series, limit_series) = (series[0], series[1]);
                reading.set(length_series, *length as f64);
                reading.set_if(limit_series, limit.map(|limit| limit as f64));
            }
        }
    }
}

fn diag_listeners(
    diag: &mut DiagSocket,
    add: &mut dyn FnMut(SocketAddr, u64, Option<u64>),
) -> Result<(), String> {
    for family in [Family::Ipv4, Family::Ipv6] {
        diag.tcp_sockets(family, TcpStates::LISTEN, WithTraffic::No, SOCKETS_MAX, &mut |socket| {
            add(socket.local, u64::from(socket.receive_queue), Some(u64::from(socket.send_queue)));
        })
        .map_err(|error| format!("sock_diag: {error}"))?;
    }
    Ok(())
}

/// Listening sockets from `net/tcp` and `net/tcp6`, which do not contain the limit.
fn table_listeners(
    root: &ProcRoot,
    directory: &str,
    add: &mut dyn FnMut(SocketAddr, u64, Option<u64>),
) -> Result<(), String> {
    for file in ["tcp", "tcp6"] {
        let path = root.path(format!("{directory}/{file}"));
        let rows = match read_tcp_table(&path, SOCKETS_MAX) {
            Ok(table) => table.rows,
            // Machines without IPv6 have no tcp6.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && file == "tcp6" => continue,
            Err(error) => return Err(format!("cannot read {}: {error}", path.display())),
        };
        for row in rows.iter().filter(|row| row.state == TcpState::Listen) {
            add(row.local, u64::from(row.receive_queue), None);
        }
    }
    Ok(())
}
