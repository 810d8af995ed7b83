//! A query to a DNS server for the IPv4 addresses of a name (RFC 1035, over UDP).

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;

/// The timeout of a server, as in dnsjava.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum size of a response over UDP without extensions.
const RESPONSE_BYTES_MAX: usize = 512;

/// The size of the header.
const HEADER_BYTES: usize = 12;

/// Type A, class IN.
const ADDRESS: [u8; 4] = [0, 1, 0, 1];

/// Queries one server.
///
/// # Errors
/// If there is an I/O error or a timeout. A response without addresses is not an error, but an empty list.
pub(crate) async fn addresses(server: SocketAddr, host: &str, id: u16) -> io::Result<Vec<Ipv4Addr>> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "the name cannot be queried");
    let query = encode_query(host, id).ok_or_else(invalid)?;
    let local: SocketAddr = if server.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
    let socket = UdpSocket::bind(local).await?;
    // A connected socket receives packets only from this server.
    socket.connect(server).await?;
    socket.send(&query).await?;
    let answered = async {
        let mut buffer = [0; RESPONSE_BYTES_MAX];
        loop {
            let count = socket.recv(&mut buffer).await?;
            if let Some(addresses) = parse_response(&buffer[..count], &query) {
                return Ok(addresses);
            }
        }
    };
    tokio::time::timeout(RESPONSE_TIMEOUT, answered)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// Encodes a query; `None` if the host is not a valid DNS name.
fn encode_query(host: &str, id: u16) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + host.len() + 6);
    bytes.extend(id.to_be_bytes());
    // Recursion desired; one query.
    bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    let host = host.strip_suffix('.').unwrap_or(host);
    for label in host.split('.') {
        let length = u8::try_from(label.len()).ok().filter(|length| (1..64).contains(length))?;
        bytes.push(length);
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes.extend(ADDRESS);
    (host.len() < 254 && host.is_ascii()).then_some(bytes)
}

/// Parses the addresses in the response to `query`; `None` if the message is not a response to it.
fn parse_response(bytes: &[u8], query: &[u8]) -> Option<Vec<Ipv4Addr>> {
    let header = bytes.get(..HEADER_BYTES)?;
    let repeated = bytes.get(HEADER_BYTES..query.len())?;
    let is_response = header[..2] == query[..2] && header[2] & 0x80 != 0;
    if !is_response || !repeated.eq_ignore_ascii_case(&query[HEADER_BYTES..]) {
        return None;
    }
    let mut addresses = Vec::new();
    let mut rest = &bytes[query.len()..];
    for _ in 0..u16::from_be_bytes([header[6], header[7]]) {
        let Some(record) = skip_name(rest) else { break };
        let Some((fixed, data)) = record.split_at_checked(10) else { break };
        let length = usize::from(u16::from_be_bytes([fixed[8], fixed[9]]));
        let Some((data, next)) = data.split_at_checked(length) else { break };
        // Responses for aliases contain other records, too; only addresses are used.
        if fixed[..4] == ADDRESS
            && let Ok(octets) = <[u8; 4]>::try_from(data)
        {
            addresses.push(octets.into());
        }
        rest = next;
    }
    Some(addresses)
}

/// Skips a name: labels up to an empty one, or to a pointer.
fn skip_name(mut bytes: &[u8]) -> Option<&[u8]> {
    loop {
        let (length, rest) = bytes.split_first()?;
        match length {
            0 => return Some(rest),
            0xc0.. => return rest.get(1..),
            length => bytes = rest.get(usize::from(*length)..)?,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A response to a query, followed by these records.
    fn reply(query: &[u8], count: u8, records: &[u8]) -> Vec<u8> {
        let mut bytes = query.to_vec();
        bytes[2] |= 0x80;
        bytes[7] = count;
        bytes.extend(records);
        bytes
    }

    const RECORDS: &[u8] = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01z\xc0\x0c\
        \x01z\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x05\
        \xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x06";

    #[test]
    fn queries_consist_of_labels() {
        let query = encode_query("a.example.", 0x1234).unwrap();
        assert_eq!(query, b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x07example\0\0\x01\0\x01");
        for none in ["", "a..b", &"x".repeat(64), &"x.".repeat(130), "é"] {
            assert_eq!(encode_query(none, 1), None, "{none}");
        }
    }

    #[test]
    fn addresses_are_found_after_aliases() {
        let query = encode_query("h.test", 7).unwrap();
        let found = parse_response(&reply(&query, 3, RECORDS), &query);
        assert_eq!(found, Some(vec![Ipv4Addr::new(127, 0, 0, 5), Ipv4Addr::new(127, 0, 0, 6)]));
        assert_eq!(parse_response(&reply(&query, 0, b""), &query), Some(Vec::new()));
        assert_eq!(parse_response(&query, &query), None, "a query is not a response");
        assert_eq!(
            parse_response(&reply(&encode_query("h.test", 8).unwrap(), 0, b""), &query),
            None,
            "the response to another query"
        );
        assert_eq!(parse_response(&reply(&query, 9, &RECORDS[..20]), &query), Some(Vec::new()), "cut off");
    }

    #[test]
    fn a_server_is_queried() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let found = runtime.block_on(async {
            let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = server.local_addr().unwrap();
            let serve = async {
                let mut buffer = [0; 512];
                let (count, from) = server.recv_from(&mut buffer).await.unwrap();
                let query = &buffer[..count];
                // A response of another sender arrives first.
                let mut wrong = reply(query, 3, RECORDS);
                wrong[0] ^= 1;
                server.send_to(&wrong, from).await.unwrap();
                server.send_to(&reply(query, 3, RECORDS), from).await.unwrap();
            };
            let (found, ()) = tokio::join!(addresses(address, "h.test", 99), serve);
            found.unwrap()
        });
        assert_eq!(found.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_can_be_parsed(bytes in proptest::collection::vec(0_u8.., 0..80)) {
            let query = encode_query("h.test", 7).unwrap();
            let _ = parse_response(&bytes, &query);
            let _ = parse_response(&reply(&query, 5, &bytes), &query);
        }
    }
}
