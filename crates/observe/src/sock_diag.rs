//! Sockets of a network namespace by netlink (`sock_diag(7)`), without special permission.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};

/// Length of a netlink header.
const HEADER: usize = 16;
/// Length of `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
/// Length of `struct inet_diag_msg`.
const MESSAGE: usize = 72;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_DUMP: u16 = 0x300;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const IPPROTO_TCP: u8 = 6;
/// Attribute with `struct tcp_info`.
const INET_DIAG_INFO: u16 = 2;
/// The kernel sends at most 32 KiB at once.
const BUFFER: usize = 1 << 16;

/// IPv4 or IPv6. An IPv6 socket may also accept IPv4 connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Ipv4 = 2,
    Ipv6 = 10,
}

/// States of TCP connections, with the kernel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TcpState {
    Established = 1,
    SynSent,
    SynReceived,
    FinWait1,
    FinWait2,
    TimeWait,
    Close,
    CloseWait,
    LastAck,
    Listen,
    Closing,
    NewSynReceived,
}

impl TcpState {
    /// All states with the names that node_exporter uses.
    pub(crate) const ALL: [(TcpState, &'static str); 12] = [
        (Self::Established, "established"),
        (Self::SynSent, "syn_sent"),
        (Self::SynReceived, "syn_recv"),
        (Self::FinWait1, "fin_wait1"),
        (Self::FinWait2, "fin_wait2"),
        (Self::TimeWait, "time_wait"),
        (Self::Close, "close"),
        (Self::CloseWait, "close_wait"),
        (Self::LastAck, "last_ack"),
        (Self::Listen, "listen"),
        (Self::Closing, "closing"),
        (Self::NewSynReceived, "new_syn_recv"),
    ];

    /// The state with the kernel's number.
    pub(crate) fn from_number(number: u64) -> Option<TcpState> {
        let position = usize::try_from(number).ok()?.checked_sub(1)?;
        Self::ALL.get(position).map(|(state, _)| *state)
    }
}

/// A set of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpStates(u32);

impl TcpStates {
    pub(crate) const LISTEN: TcpStates = TcpStates(1 << TcpState::Listen as u32);
    /// Listening and established sockets.
    pub(crate) const IN_USE: TcpStates = TcpStates(Self::LISTEN.0 | 1 << TcpState::Established as u32);
    /// All states; bits beyond the last one are ignored.
    pub(crate) const ALL: TcpStates = TcpStates(0x1ffe);
}

/// A TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiagTcpSocket {
    pub(crate) state: TcpState,
    pub(crate) local: SocketAddr,
    pub(crate) remote: SocketAddr,
    /// Inode of the socket, as in `/proc/PID/fd`; 0 if no process owns it.
    pub(crate) inode: u32,
    /// Bytes to be read; of a listening socket, connections to be accepted.
    pub(crate) receive_queue: u32,
    /// Bytes not acknowledged; of a listening socket, the limit of connections to be accepted.
    pub(crate) send_queue: u32,
    /// Traffic of the connection; `None` if it was not requested.
    pub(crate) traffic: Option<TcpTraffic>,
}

/// The last data of a connection, from `struct tcp_info`. Ages are times before the reading, in the kernel's ticks of up to 10 ms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpTraffic {
    /// Segments that were sent and not acknowledged.
    pub(crate) unacknowledged: u32,
    /// Age of the last data that was sent, in ms.
    pub(crate) sent_ms: u32,
    /// Age of the last data that was received, in ms; before any data, that of the connection.
    pub(crate) received_ms: u32,
    /// Age of the last acknowledgement that was received, in ms.
    pub(crate) acknowledged_ms: u32,
    /// Bytes that were received.
    pub(crate) received_bytes: u64,
}

/// Whether a request includes the traffic of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithTraffic {
    No,
    Yes,
}

/// A netlink socket, which belongs to the namespace in which it was opened.
#[derive(Debug)]
pub(crate) struct DiagSocket {
    socket: OwnedFd,
    sequence: u32,
    buffer: Vec<u8>,
}

impl DiagSocket {
    /// Opens a socket in the namespace of the calling thread.
    ///
    /// # Errors
    /// The kernel has no `sock_diag`, or a sandbox forbids it.
    pub(crate) fn open() -> io::Result<DiagSocket> {
        let socket =
            socket_with(AddressFamily::NETLINK, SocketType::DGRAM, SocketFlags::CLOEXEC, Some(SOCK_DIAG))?;
        set_socket_timeout(&socket, Timeout::Recv, Some(std::time::Duration::from_secs(1)))?;
        Ok(DiagSocket { socket, sequence: 0, buffer: vec![0; BUFFER] })
    }

    /// Opens a socket in the network namespace of a process, on a separate thread that enters the namespace and ends.
    ///
    /// # Errors
    /// The process does not exist, or permission to enter its namespace is missing.
    pub(crate) fn open_in_namespace_of(pid: u32) -> io::Result<DiagSocket> {
        use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
        use std::os::fd::AsFd;

        let namespace = std::fs::File::open(format!("/proc/{pid}/ns/net"))?;
        let thread =
            std::thread::Builder::new().name(String::from("observe-namespace")).spawn(move || {
                move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?;
                DiagSocket::open()
            })?;
        thread.join().map_err(|_| io::Error::other("the thread in the namespace failed"))?
    }

    /// Calls `found` for each TCP socket in one of the states; at most `sockets_max` times.
    ///
    /// # Errors
    /// The kernel refuses the request, or its answer is not in the documented format.
    pub(crate) fn tcp_sockets(
        &mut self,
        family: Family,
        states: TcpStates,
        traffic: WithTraffic,
        sockets_max: usize,
        found: &mut dyn FnMut(DiagTcpSocket),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let request = request(family, states, traffic, self.sequence);
        sendto(&self.socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
        let mut count = 0;
        loop {
            let (read, _) = match recv(&self.socket, &mut self.buffer[..], RecvFlags::empty()) {
                Err(rustix::io::Errno::INTR) => continue,
                result => result?,
            };
            let is_done = parse_answer(&self.buffer[..read], self.sequence, &mut |socket| {
                count += 1;
                if count <= sockets_max {
                    found(socket);
                }
            })?;
            if is_done {
                return Ok(());
            }
        }
    }
}

/// A request for all sockets of a family in certain states.
fn request(family: Family, states: TcpStates, traffic: WithTraffic, sequence: u32) -> [u8; HEADER + REQUEST] {
    let mut request = [0; HEADER + REQUEST];
    request[0..4].copy_from_slice(&((HEADER + REQUEST) as u32).to_ne_bytes());
    request[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    request[8..12].copy_from_slice(&sequence.to_ne_bytes());
    request[HEADER] = family as u8;
    request[HEADER + 1] = IPPROTO_TCP;
    if traffic == WithTraffic::Yes {
        request[HEADER + 2] = 1 << (INET_DIAG_INFO - 1);
    }
    request[HEADER + 4..HEADER + 8].copy_from_slice(&states.0.to_ne_bytes());
    request
}

/// Parses the messages of one datagram; returns true if the answer ends with it. Messages for earlier requests are skipped.
fn parse_answer(mut bytes: &[u8], sequence: u32, found: &mut dyn FnMut(DiagTcpSocket)) -> io::Result<bool> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "an answer of sock_diag is too short");
    if bytes.is_empty() {
        return Err(invalid());
    }
    while !bytes.is_empty() {
        let header = bytes.first_chunk::<HEADER>().ok_or_else(invalid)?;
        let length = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]) as usize;
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let is_ours = header[8..12] == sequence.to_ne_bytes();
        let message = bytes.get(HEADER..length).ok_or_else(invalid)?;
        match kind {
            NLMSG_DONE if is_ours => return Ok(true),
            NLMSG_ERROR if is_ours => {
                let code = message.first_chunk::<4>().ok_or_else(invalid)?;
                return Err(io::Error::from_raw_os_error(i32::from_ne_bytes(*code).saturating_neg()));
            }
            SOCK_DIAG_BY_FAMILY if is_ours => {
                let (message, attributes) = message.split_first_chunk::<MESSAGE>().ok_or_else(invalid)?;
                if let Some(socket) = parse_message(message) {
                    found(DiagTcpSocket { traffic: parse_traffic(attributes), ..socket });
                }
            }
            _ => {}
        }
        // Messages begin at multiples of four.
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// Parses `struct inet_diag_msg`; `None` for states and families of later kernels.
fn parse_message(message: &[u8; MESSAGE]) -> Option<DiagTcpSocket> {
    let word = |at: usize| word(message, at).unwrap_or_default();
    let address = |at: usize, port: usize| {
        let ip = match message[0] {
            2 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(&message[at..at + 4]).ok()?)),
            10 => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(&message[at..at + 16]).ok()?)),
            _ => return None,
        };
        Some(SocketAddr::new(ip, u16::from_be_bytes([message[port], message[port + 1]])))
    };
    Some(DiagTcpSocket {
        state: TcpState::from_number(u64::from(message[1]))?,
        local: address(8, 4)?,
        remote: address(24, 6)?,
        inode: word(68),
        receive_queue: word(56),
        send_queue: word(60),
        traffic: None,
    })
}

/// Finds and parses `struct tcp_info` in the attributes of a message. Kernels before 4.2 have a shorter one, which is ignored.
fn parse_traffic(mut attributes: &[u8]) -> Option<TcpTraffic> {
    loop {
        let header = attributes.first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([header[0], header[1]]));
        let content = attributes.get(4..length)?;
        if u16::from_ne_bytes([header[2], header[3]]) == INET_DIAG_INFO {
            return Some(TcpTraffic {
                unacknowledged: word(content, 24)?,
                sent_ms: word(content, 44)?,
                received_ms: word(content, 52)?,
                acknowledged_ms: word(content, 56)?,
                received_bytes: u64::from_ne_bytes(*content.get(128..)?.first_chunk()?),
            });
        }
        // Attributes begin at multiples of four.
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

/// A 32-bit word in the byte order of the machine.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(&((HEADER + payload.len()) as u32).to_ne_bytes());
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(&[0; 2]);
        bytes.extend_from_slice(&sequence.to_ne_bytes());
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(payload);
        bytes
    }

    #[test]
    fn answers_are_parsed() {
        let mut payload = [0; MESSAGE];
        (payload[0], payload[1]) = (2, 10);
        payload[4..6].copy_from_slice(&8080u16.to_be_bytes());
        payload[8..12].copy_from_slice(&[127, 0, 0, 1]);
        payload[56..60].copy_from_slice(&3u32.to_ne_bytes());
        payload[60..64].copy_from_slice(&128u32.to_ne_bytes());
        payload[68..72].copy_from_slice(&4711u32.to_ne_bytes());
        let mut bytes = message(SOCK_DIAG_BY_FAMILY, 6, &payload);
        bytes.extend(message(SOCK_DIAG_BY_FAMILY, 7, &payload));
        let mut found = Vec::new();
        assert!(!parse_answer(&bytes, 7, &mut |socket| found.push(socket)).unwrap());
        let expected = DiagTcpSocket {
            state: TcpState::Listen,
            local: "127.0.0.1:8080".parse().unwrap(),
            remote: "0.0.0.0:0".parse().unwrap(),
            inode: 4711,
            receive_queue: 3,
            send_queue: 128,
            traffic: None,
        };
        assert_eq!(found, [expected], "the answer to request 6 is skipped");
        bytes.extend(message(NLMSG_DONE, 7, &[0; 4]));
        assert!(parse_answer(&bytes, 7, &mut |_| {}).unwrap());
    }

    #[test]
    fn errors_and_short_answers_are_refused() {
        let error =
            parse_answer(&message(NLMSG_ERROR, 1, &(-2i32).to_ne_bytes()), 1, &mut |_| {}).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        for bytes in [
            message(SOCK_DIAG_BY_FAMILY, 1, &[0; 10]),
            message(NLMSG_ERROR, 1, &[0; 2]),
            vec![1; 7],
            Vec::new(),
            {
                let mut bytes = message(NLMSG_DONE, 1, &[]);
                bytes[0..4].copy_from_slice(&8u32.to_ne_bytes());
                bytes
            },
            {
                let mut bytes = message(NLMSG_DONE, 1, &[]);
                bytes[0..4].copy_from_slice(&u32::MAX.to_ne_bytes());
                bytes
            },
        ] {
            let error = parse_answer(&bytes, 1, &mut |_| {}).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{bytes:?}");
        }
    }

    #[test]
    fn states_have_the_numbers_of_the_kernel() {
        for (state, name) in TcpState::ALL {
            assert_eq!(TcpState::from_number(state as u64), Some(state), "{name}");
        }
        assert_eq!(TcpState::from_number(0), None);
        assert_eq!(TcpState::from_number(13), None);
        assert_eq!(TcpState::Listen as u8, 10);
    }

    #[test]
    fn a_listening_socket_of_this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let local = listener.local_addr().unwrap();
        let _waiting = std::net::TcpStream::connect(local).unwrap();
        let mut found = None;
        let mut diag = DiagSocket::open().unwrap();
        let mut look = |socket: DiagTcpSocket| {
            if socket.local == local {
                found = Some(socket);
            }
        };
        diag.tcp_sockets(Family::Ipv4, TcpStates::LISTEN, WithTraffic::No, usize::MAX, &mut look).unwrap();
        let found = found.unwrap();
        assert_eq!((found.state, found.receive_queue), (TcpState::Listen, 1));
        assert!(found.send_queue >= 1, "{found:?}");
    }

    #[test]
    fn attributes_are_skipped_until_the_traffic() {
        let attribute = |kind: u16, content: &[u8]| {
            let mut bytes = ((content.len() + 4) as u16).to_ne_bytes().to_vec();
            bytes.extend(kind.to_ne_bytes());
            bytes.extend(content);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        };
        let mut info = [0; 160];
        info[24] = 1;
        info[44..48].copy_from_slice(&20u32.to_ne_bytes());
        info[52..56].copy_from_slice(&30u32.to_ne_bytes());
        info[56..60].copy_from_slice(&25u32.to_ne_bytes());
        info[128..136].copy_from_slice(&(1u64 << 40).to_ne_bytes());
        let mut bytes = attribute(8, &[0]);
        bytes.extend(attribute(INET_DIAG_INFO, &info));
        let expected = TcpTraffic {
            unacknowledged: 1,
            sent_ms: 20,
            received_ms: 30,
            acknowledged_ms: 25,
            received_bytes: 1 << 40,
        };
        assert_eq!(parse_traffic(&bytes), Some(expected));
        assert_eq!(parse_traffic(&attribute(INET_DIAG_INFO, &info[..128])), None, "an old kernel");
        for invalid in [&bytes[..100], &[0, 0, 8, 0], &[3, 0, 8, 0], &[255, 255, 2, 0], &[]] {
            assert_eq!(parse_traffic(invalid), None, "{invalid:?}");
        }
    }

    #[test]
    fn the_traffic_of_a_connection_shows_who_sent_last() {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(b"ping").unwrap();
        let mut ping = [0; 4];
        server.read_exact(&mut ping).unwrap();
        let mut diag = DiagSocket::open().unwrap();
        let mut found = None;
        let local = client.local_addr().unwrap();
        let mut look = |socket: DiagTcpSocket| {
            if socket.local == local {
                found = Some(socket);
            }
        };
        diag.tcp_sockets(Family::Ipv4, TcpStates::IN_USE, WithTraffic::Yes, usize::MAX, &mut look).unwrap();
        let found = found.unwrap();
        assert_eq!(Some(found.remote), client.peer_addr().ok());
        assert!(found.inode > 0, "{found:?}");
        let traffic = found.traffic.unwrap();
        assert!(traffic.received_bytes == 0 && traffic.sent_ms <= traffic.received_ms, "{traffic:?}");
    }
}
