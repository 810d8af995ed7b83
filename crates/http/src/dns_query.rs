//! One question to a DNS server: the IPv4 addresses of a name (RFC 1035, over UDP).

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::net::UdpSocket;

/// Timeout of a server, as in dnsjava.
const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Bytes of the largest answer over UDP without extensions.
const ANSWER_BYTES_MAX: usize = 512;

/// Bytes of the header.
const HEADER_BYTES: usize = 12;

/// Type A, class IN.
const ADDRESS: [u8; 4] = [0, 1, 0, 1];

/// Queries one server.
///
/// # Errors
/// An I/O error or a timeout; a response without addresses is an empty list.
pub(crate) async fn addresses(server: SocketAddr, host: &str, id: u16) -> io::Result<Vec<Ipv4Addr>> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidInput, "the name cannot be queried");
    let question = question(host, id).ok_or_else(invalid)?;
    let local: SocketAddr = if server.is_ipv4() { ([0; 4], 0).into() } else { ([0; 16], 0).into() };
    let socket = UdpSocket::bind(local).await?;
    // A connected socket receives only from this server.
    socket.connect(server).await?;
    socket.send(&question).await?;
    let answered = async {
        let mut buffer = [0; ANSWER_BYTES_MAX];
        loop {
            let count = socket.recv(&mut buffer).await?;
            if let Some(addresses) = answer(&buffer[..count], &question) {
                return Ok(addresses);
            }
        }
    };
    tokio::time::timeout(SILENCE_MAX, answered).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// `None`: no name of DNS has these parts.
fn question(host: &str, id: u16) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(HEADER_BYTES + host.len() + 6);
    bytes.extend(id.to_be_bytes());
    // Recursion desired; one question.
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

/// The addresses in an answer to `question`; `None`: it is no answer to it.
fn answer(bytes: &[u8], question: &[u8]) -> Option<Vec<Ipv4Addr>> {
    let header = bytes.get(..HEADER_BYTES)?;
    let asked = bytes.get(HEADER_BYTES..question.len())?;
    let is_answer = header[..2] == question[..2] && header[2] & 0x80 != 0;
    if !is_answer || !asked.eq_ignore_ascii_case(&question[HEADER_BYTES..]) {
        return None;
    }
    let mut addresses = Vec::new();
    let mut rest = &bytes[question.len()..];
    for _ in 0..u16::from_be_bytes([header[6], header[7]]) {
        let Some(record) = skip_name(rest) else { break };
        let Some((fixed, data)) = record.split_at_checked(10) else { break };
        let length = usize::from(u16::from_be_bytes([fixed[8], fixed[9]]));
        let Some((data, behind)) = data.split_at_checked(length) else { break };
        // Responses for aliases contain both; only addresses are used.
        if fixed[..4] == ADDRESS
            && let Ok(octets) = <[u8; 4]>::try_from(data)
        {
            addresses.push(octets.into());
        }
        rest = behind;
    }
    Some(addresses)
}

/// What follows a name: labels up to an empty one, or to a pointer.
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

    /// An answer to a question, with these records behind it.
    fn reply(question: &[u8], count: u8, records: &[u8]) -> Vec<u8> {
        let mut bytes = question.to_vec();
        bytes[2] |= 0x80;
        bytes[7] = count;
        bytes.extend(records);
        bytes
    }

    const RECORDS: &[u8] = b"\xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01z\xc0\x0c\
        \x01z\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x05\
        \xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\x7f\0\0\x06";

    #[test]
    fn questions_are_made_of_labels() {
        let asked = question("a.example.", 0x1234).unwrap();
        assert_eq!(asked, b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x07example\0\0\x01\0\x01");
        for none in ["", "a..b", &"x".repeat(64), &"x.".repeat(130), "é"] {
            assert_eq!(question(none, 1), None, "{none}");
        }
    }

    #[test]
    fn addresses_are_found_behind_other_names() {
        let asked = question("h.test", 7).unwrap();
        let found = answer(&reply(&asked, 3, RECORDS), &asked);
        assert_eq!(found, Some(vec![Ipv4Addr::new(127, 0, 0, 5), Ipv4Addr::new(127, 0, 0, 6)]));
        assert_eq!(answer(&reply(&asked, 0, b""), &asked), Some(Vec::new()));
        assert_eq!(answer(&asked, &asked), None, "a question is no answer");
        assert_eq!(answer(&reply(&question("h.test", 8).unwrap(), 0, b""), &asked), None, "another's answer");
        assert_eq!(answer(&reply(&asked, 9, &RECORDS[..20]), &asked), Some(Vec::new()), "cut off");
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
                let asked = &buffer[..count];
                // A response of another sender arrives first.
                let mut wrong = reply(asked, 3, RECORDS);
                wrong[0] ^= 1;
                server.send_to(&wrong, from).await.unwrap();
                server.send_to(&reply(asked, 3, RECORDS), from).await.unwrap();
            };
            let (found, ()) = tokio::join!(addresses(address, "h.test", 99), serve);
            found.unwrap()
        });
        assert_eq!(found.len(), 2);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_an_answer_or_none(bytes in proptest::collection::vec(0_u8.., 0..80)) {
            let asked = question("h.test", 7).unwrap();
            let _ = answer(&bytes, &asked);
            let _ = answer(&reply(&asked, 5, &bytes), &asked);
        }
    }
}
