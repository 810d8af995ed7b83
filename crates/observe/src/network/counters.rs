//! TCP and UDP counters of a namespace: `net/snmp`, `net/netstat` and `net/sockstat`.

use busyhour_series::Metric;

use crate::declared::{KeyedMetric, KeyedSeries, keyed};
use crate::fields::{fields, lines, number, split_once};
use crate::proc_root::{KeptFile, ProcRoot};
use crate::reading::Reading;

const FILE_MAX: usize = 1 << 16;

/// Columns of `net/snmp`: protocol and name.
static SNMP: [KeyedMetric; 10] = [
    keyed(
        "Tcp_ActiveOpens",
        Metric::counter("node_netstat_Tcp_ActiveOpens", "TCP connections opened from here."),
    ),
    keyed("Tcp_PassiveOpens", Metric::counter("node_netstat_Tcp_PassiveOpens", "TCP connections accepted.")),
    keyed(
        "Tcp_AttemptFails",
        Metric::counter("node_netstat_Tcp_AttemptFails", "Attempts to connect that failed."),
    ),
    keyed(
        "Tcp_EstabResets",
        Metric::counter("node_netstat_Tcp_EstabResets", "TCP connections that were reset."),
    ),
    keyed("Tcp_CurrEstab", Metric::gauge("node_netstat_Tcp_CurrEstab", "Established TCP connections.")),
    keyed("Tcp_InSegs", Metric::counter("node_netstat_Tcp_InSegs", "TCP segments received.")),
    keyed("Tcp_OutSegs", Metric::counter("node_netstat_Tcp_OutSegs", "TCP segments sent.")),
    keyed("Tcp_RetransSegs", Metric::counter("node_netstat_Tcp_RetransSegs", "TCP segments sent again.")),
    keyed("Udp_InErrors", Metric::counter("node_netstat_Udp_InErrors", "UDP packets received with errors.")),
    keyed(
        "Udp_RcvbufErrors",
        Metric::counter("node_netstat_Udp_RcvbufErrors", "UDP packets dropped: buffer full."),
    ),
];

/// Columns of `net/netstat`.
static NETSTAT: [KeyedMetric; 5] = [
    keyed(
        "TcpExt_ListenOverflows",
        Metric::counter(
            "node_netstat_TcpExt_ListenOverflows",
            "Connections refused: the queue of the listening socket was full.",
        ),
    ),
    keyed(
        "TcpExt_ListenDrops",
        Metric::counter("node_netstat_TcpExt_ListenDrops", "Connections dropped by listening sockets."),
    ),
    keyed("TcpExt_TCPTimeouts", Metric::counter("node_netstat_TcpExt_TCPTimeouts", "TCP timeouts.")),
    keyed(
        "TcpExt_TCPSynRetrans",
        Metric::counter("node_netstat_TcpExt_TCPSynRetrans", "Connection requests sent again."),
    ),
    keyed(
        "TcpExt_TCPBacklogDrop",
        Metric::counter(
            "node_netstat_TcpExt_TCPBacklogDrop",
            "Segments dropped, because the receiving process was too slow.",
        ),
    ),
];

/// Values of `net/sockstat`.
static SOCKETS: [KeyedMetric; 4] = [
    keyed("TCP_inuse", Metric::gauge("node_sockstat_TCP_inuse", "TCP sockets in use, IPv4.")),
    keyed("TCP_orphan", Metric::gauge("node_sockstat_TCP_orphan", "TCP sockets without a process.")),
    keyed("TCP_tw", Metric::gauge("node_sockstat_TCP_tw", "TCP sockets in the state TIME_WAIT.")),
    keyed("TCP_alloc", Metric::gauge("node_sockstat_TCP_alloc", "Allocated TCP sockets.")),
];

#[derive(Debug)]
struct File {
    file: KeptFile,
    name: &'static str,
    series: KeyedSeries,
    parse: fn(&[u8], &mut dyn FnMut(&[u8], u64)),
}

#[derive(Debug)]
pub(super) struct CounterReader {
    files: [File; 3],
}

impl CounterReader {
    pub(super) fn new(root: &ProcRoot, directory: &str) -> CounterReader {
        let file = |name: &'static str, rows, parse| File {
            file: KeptFile::new(root.path(format!("{directory}/{name}")), FILE_MAX),
            name,
            series: KeyedSeries::new(rows),
            parse,
        };
        CounterReader {
            files: [
                file("snmp", &SNMP[..], parse_name_and_value_lines),
                file("netstat", &NETSTAT, parse_name_and_value_lines),
                file("sockstat", &SOCKETS, parse_pairs),
            ],
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        for File { file, name, series, parse } in &mut self.files {
            match file.read_for_probe() {
                Ok(bytes) => {
                    parse(bytes, &mut |key, value| series.set(reading, key, value));
                    series.check(reading, name);
                }
                Err(error) => series.unavailable(reading, &error.to_string()),
            }
        }
    }
}

/// Pairs of lines: `Tcp: A B` and `Tcp: 1 2`. Keys are `Tcp_A` and `Tcp_B`. Values that are negative are skipped.
fn parse_name_and_value_lines(bytes: &[u8], found: &mut dyn FnMut(&[u8], u64)) {
    let mut lines = lines(bytes);
    let mut key = Vec::with_capacity(64);
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((protocol, names)), Some((of_values, values))) =
            (split_once(names, b':'), split_once(values, b':'))
        else {
            continue;
        };
        if protocol != of_values {
            continue;
        }
        for (name, value) in fields(names).zip(fields(values)) {
            if let Some(value) = number(value) {
                key.clear();
                key.extend_from_slice(protocol);
                key.push(b'_');
                key.extend_from_slice(name);
                found(&key, value);
            }
        }
    }
}

/// Lines such as `TCP: inuse 1 orphan 0`. Keys are `TCP_inuse` and `TCP_orphan`.
fn parse_pairs(bytes: &[u8], found: &mut dyn FnMut(&[u8], u64)) {
    let mut key = Vec::with_capacity(64);
    for line in lines(bytes) {
        let Some((protocol, rest)) = split_once(line, b':') else { continue };
        let mut fields = fields(rest);
        while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
            if let Some(value) = number(value) {
                key.clear();
                key.extend_from_slice(protocol);
                key.push(b'_');
                key.extend_from_slice(name);
                found(&key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(parse: fn(&[u8], &mut dyn FnMut(&[u8], u64)), text: &str) -> Vec<(String, u64)> {
        let mut found = Vec::new();
        parse(text.as_bytes(), &mut |key, value| found.push((crate::fields::text(key).into_owned(), value)));
        found
    }

    #[test]
    fn names_and_values_are_matched_by_position() {
        let text = "Tcp: RtoMin MaxConn OutSegs\nTcp: 200 -1 7\nUdp: InErrors\nUdp: 3\nlast: line";
        let expected = [("Tcp_RtoMin", 200), ("Tcp_OutSegs", 7), ("Udp_InErrors", 3)];
        let found = parsed(parse_name_and_value_lines, text);
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
        assert_eq!(parsed(parse_name_and_value_lines, "Tcp: A B\nUdp: 1 2\n"), []);
        assert_eq!(parsed(parse_name_and_value_lines, "Tcp: A B\nTcp: 1\n").len(), 1);
    }

    #[test]
    fn pairs_are_split() {
        let found = parsed(parse_pairs, "sockets: used 20\nTCP: inuse 1 orphan 0 tw x mem");
        let expected = [("sockets_used", 20), ("TCP_inuse", 1), ("TCP_orphan", 0)];
        assert_eq!(found, expected.map(|(key, value)| (key.to_owned(), value)));
    }
}
