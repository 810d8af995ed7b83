//! TCP sockets of a network namespace from `/proc/PID/net/tcp` and `tcp6`, which also work for other namespaces.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use crate::fields::{fields, hex, number, split_once};
use crate::sock_diag::TcpState;

/// Longest line that is read.
const LINE_MAX: u64 = 1024;

/// A TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpRow {
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    pub(crate) state: TcpState,
    /// Bytes to be read; of a listening socket, connections to be accepted.
    pub(crate) receive_queue: u32,
    pub(crate) uid: u32,
    /// Inode of the socket, as in `/proc/PID/fd`; 0 if no process owns it.
    pub(crate) inode: u64,
}

/// A table of sockets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpTable {
    pub(crate) rows: Vec<TcpRow>,
    /// Whether there were more sockets than the limit.
    pub(crate) is_truncated: bool,
}

/// Reads at most `rows_max` sockets. Lines that are not understood are skipped.
pub(crate) fn read_tcp_table(path: &Path, rows_max: usize) -> io::Result<TcpTable> {
    parse_tcp_table(BufReader::with_capacity(1 << 16, File::open(path)?), rows_max)
}

/// Parses a table from a reader.
pub(crate) fn parse_tcp_table(mut input: impl BufRead, rows_max: usize) -> io::Result<TcpTable> {
    let mut table = TcpTable::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(LINE_MAX).read_until(b'\n', &mut line)? == 0 {
            return Ok(table);
        }
        if let Some(row) = parse_row(&line) {
            if table.rows.len() == rows_max {
                table.is_truncated = true;
                return Ok(table);
            }
            table.rows.push(row);
        }
    }
}

/// Parses `0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000 1000 0 4711 …`.
fn parse_row(line: &[u8]) -> Option<TcpRow> {
    let mut fields = fields(line);
    let local = parse_address(fields.nth(1)?)?;
    let remote = parse_address(fields.next()?)?;
    let state = TcpState::from_number(hex(fields.next()?)?)?;
    let (_, receive_queue) = split_once(fields.next()?, b':')?;
    let receive_queue = u32::try_from(hex(receive_queue)?).ok()?;
    let uid = u32::try_from(number(fields.nth(2)?)?).ok()?;
    let inode = number(fields.nth(1)?)?;
    Some(TcpRow { local, remote, state, receive_queue, uid, inode })
}

/// Parses an address: 32-bit words of the address in the byte order of the machine, and the port.
fn parse_address(field: &[u8]) -> Option<SocketAddr> {
    let (address, port) = split_once(field, b':')?;
    let port = u16::try_from(hex(port)?).ok()?;
    let word = |part: &[u8]| Some(u32::try_from(hex(part)?).ok()?.to_ne_bytes());
    let ip = match address.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(address)?)),
        32 => {
            let mut bytes = [0; 16];
            for (bytes, part) in bytes.chunks_mut(4).zip(address.chunks(8)) {
                bytes.copy_from_slice(&word(part)?);
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000  1000        0 4711 1 000000006eb489b2 100 0 0 10 0
   1: 00000000000000000000000001000000:0050 0000000000000000FFFF00000200000A:D431 01 00000000:00000000 00:00000000 00000000     0        0 1634 1 0
   2: 0100007F:1F90 0100007F:D431 06 00000000:00000000 03:000017A0 00000000     0        0 0 3 0
 a line that nobody understands
";

    #[test]
    #[cfg(target_endian = "little")]
    fn rows_are_parsed() {
        let table = parse_tcp_table(TABLE.as_bytes(), 10).unwrap();
        assert_eq!(table.rows.len(), 3);
        let row = table.rows[0];
        assert_eq!((row.local.to_string(), row.state), ("127.0.0.1:8080".into(), TcpState::Listen));
        assert_eq!((row.receive_queue, row.uid, row.inode), (3, 1000, 4711));
        assert_eq!(table.rows[1].local.to_string(), "[::1]:80");
        assert_eq!(table.rows[1].remote.to_string(), "[::ffff:10.0.0.2]:54321");
        assert_eq!(table.rows[2].state, TcpState::TimeWait);
        assert!(!table.is_truncated);
        let cut = parse_tcp_table(TABLE.as_bytes(), 2).unwrap();
        assert!(cut.is_truncated && cut.rows.len() == 2);
    }

    #[test]
    fn long_and_odd_lines_are_skipped() {
        let long = "x".repeat(100_000) + "\n" + TABLE;
        assert_eq!(parse_tcp_table(long.as_bytes(), 10).unwrap().rows.len(), 3);
        for odd in ["0: 0100007F 0:0 0A", "0: ZZ:1 0:0 0A 0:0", "0:", ":::::"] {
            assert_eq!(parse_row(odd.as_bytes()), None, "{odd}");
        }
    }
}
