//! Requests and answers of the attach protocol.

use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};

use super::deadline::Deadline;
use super::error::AttachError;

/// Version 1 limits each argument to this length (`AttachOperation::arg_length_max`).
const ARGUMENT_BYTES_MAX: usize = 1024;
/// Version 2 limits the request to 256 KiB.
const REQUEST_BYTES_MAX: usize = 256 << 10;
/// A thread dump of 10,000 threads has about 30 MB.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Characters of a refusal that are kept.
const REFUSAL_CHARS_MAX: usize = 2_000;

/// The version of the attach protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProtocolVersion {
    /// JDK 6 and later: an operation and exactly three arguments, each followed by a zero byte.
    One,
    /// JDK 24 and later: the length of the rest, an operation and any number of arguments.
    Two,
}

/// The bytes of a request with at most one argument.
pub(super) fn request(
    operation: &str,
    argument: &str,
    version: ProtocolVersion,
) -> Result<Vec<u8>, AttachError> {
    let limit = match version {
        ProtocolVersion::One => ARGUMENT_BYTES_MAX,
        ProtocolVersion::Two => REQUEST_BYTES_MAX - 64,
    };
    if argument.len() > limit || argument.contains('\0') {
        return Err(AttachError::Request { bytes: argument.len(), limit });
    }
    Ok(match version {
        ProtocolVersion::One => format!("1\0{operation}\0{argument}\0\0\0").into_bytes(),
        ProtocolVersion::Two => {
            let rest = format!("{operation}\0{argument}\0");
            format!("2\0{}\0{rest}", rest.len()).into_bytes()
        }
    })
}

/// Connects to a socket. If its queue is full because other clients are waiting, the connection is tried again.
pub(super) fn connect(path: &Path, deadline: &Deadline) -> Result<UnixStream, AttachError> {
    let failed = |error: Errno| AttachError::Socket { path: path.to_owned(), source: error.into() };
    let address = SocketAddrUnix::new(path).map_err(failed)?;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).map_err(failed)?;
    loop {
        match net::connect(&socket, &address) {
            Ok(()) => return Ok(UnixStream::from(socket)),
            Err(Errno::AGAIN | Errno::INTR) => deadline.pause()?,
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Sends a request and reads the answer up to the end of the stream. The stream does not block.
pub(super) fn exchange(
    mut stream: UnixStream,
    request: &[u8],
    deadline: &Deadline,
    pid: u32,
) -> Result<Vec<u8>, AttachError> {
    let failed = |source| AttachError::Exchange { pid, source };
    let mut sent = 0;
    while sent < request.len() {
        match stream.write(&request[sent..]) {
            Ok(written) => sent += written,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                deadline.wait(stream.as_fd(), PollFlags::OUT, pid)?;
            }
            // The JVM has closed the connection; it may have answered before.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    let mut answer = Vec::new();
    let mut part = vec![0; 64 << 10];
    loop {
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(_) if answer.len() > ANSWER_BYTES_MAX => {
                return Err(AttachError::AnswerTooLong { limit: ANSWER_BYTES_MAX });
            }
            Ok(read) => answer.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                deadline.wait(stream.as_fd(), PollFlags::IN, pid)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // A JVM that ends or closes a connection with unread bytes resets it.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset && answer.is_empty() => break,
            Err(error) => return Err(failed(error)),
        }
    }
    if answer.is_empty() { Err(AttachError::NoAnswer { pid }) } else { Ok(answer) }
}

/// The text of a successful answer.
pub(super) fn parse_answer(answer: &[u8], command: &str) -> Result<String, AttachError> {
    let text = String::from_utf8_lossy(answer);
    let malformed = || AttachError::Answer {
        command: "the request",
        detail: format!("it starts with {:?}, not with a number", text.chars().take(40).collect::<String>()),
    };
    let (code, text) = text.split_once('\n').unwrap_or((&text, ""));
    let code: i32 = code.trim().parse().map_err(|_| malformed())?;
    if code == 0 {
        return Ok(text.to_owned());
    }
    let text = text.trim().chars().take(REFUSAL_CHARS_MAX).collect();
    Err(AttachError::Refused { command: command.to_owned(), code, text })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn requests_of_both_versions_are_encoded() {
        let one = request("jcmd", "GC.run", ProtocolVersion::One).unwrap();
        assert_eq!(one, b"1\0jcmd\0GC.run\0\0\0");
        let two = request("jcmd", "GC.run", ProtocolVersion::Two).unwrap();
        assert_eq!(two, b"2\x0012\0jcmd\0GC.run\0");
        assert_eq!(request("getversion", "", ProtocolVersion::One).unwrap(), b"1\0getversion\0\0\0\0");
        let long = "x".repeat(1025);
        let error = request("jcmd", &long, ProtocolVersion::One).unwrap_err();
        assert!(matches!(error, AttachError::Request { bytes: 1025, limit: 1024 }));
        assert!(request("jcmd", &long, ProtocolVersion::Two).is_ok());
        assert!(request("jcmd", "GC.run\0x", ProtocolVersion::Two).is_err());
    }

    #[test]
    fn answers_are_parsed() {
        assert_eq!(parse_answer(b"0\nabc\n", "x").unwrap(), "abc\n");
        assert_eq!(parse_answer(b"0", "x").unwrap(), "");
        let error = parse_answer(b"-1\nUnknown diagnostic command\n", "x").unwrap_err();
        assert!(
            matches!(&error, AttachError::Refused { code: -1, text, .. } if text == "Unknown diagnostic command")
        );
        assert!(matches!(parse_answer(b"HTTP/1.1 200 OK\r\n", "x"), Err(AttachError::Answer { .. })));
    }

    fn with_peer(peer: impl FnOnce(UnixStream) + Send + 'static) -> Result<Vec<u8>, AttachError> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let thread = std::thread::spawn(move || peer(theirs));
        let result = exchange(ours, b"1\0x\0\0\0\0", &Deadline::after(Duration::from_secs(20)).unwrap(), 1);
        thread.join().unwrap();
        result
    }

    #[test]
    fn an_answer_arrives_in_parts() {
        let answer = with_peer(|mut peer| {
            let mut request = [0; 7];
            peer.read_exact(&mut request).unwrap();
            for part in ["0", "\n", "a", "b"] {
                peer.write_all(part.as_bytes()).unwrap();
            }
        });
        assert_eq!(answer.unwrap(), b"0\nab");
    }

    #[test]
    fn a_closed_connection_is_no_answer() {
        assert!(matches!(with_peer(drop), Err(AttachError::NoAnswer { pid: 1 })));
    }

    #[test]
    fn an_endless_answer_is_cut_off() {
        let result = with_peer(|mut peer| {
            let part = vec![b'x'; 1 << 20];
            while peer.write_all(&part).is_ok() {}
        });
        assert!(matches!(result, Err(AttachError::AnswerTooLong { .. })));
    }

    #[test]
    fn a_silent_peer_causes_a_timeout() {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let deadline = Deadline::after(Duration::from_millis(1)).unwrap();
        assert!(matches!(exchange(ours, b"1\0", &deadline, 1), Err(AttachError::Timeout { .. })));
    }
}
