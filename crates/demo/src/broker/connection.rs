//! Serves one connection on its own thread.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::time::Instant;

use super::front::Broker;
use super::options::PATIENCE;
use super::reply::Reply;
use crate::http::framing::{self, BodyLength, FramingError, Head};

const READ_BYTES: usize = 4_096;

/// Serves requests until the client closes the connection, is idle for too long, or sends something invalid.
pub(super) fn serve(broker: &Broker, stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut inbound = Vec::new();
    while let Some(head) = read_head(stream, &mut inbound)? {
        let (reply, keep_alive, has_body) = match head {
            Ok(head) => {
                let (reply, keep_alive) = answer(broker, &inbound, &head);
                let is_head = &inbound[head.method.clone()] == b"HEAD";
                inbound.drain(..head.bytes);
                (reply, keep_alive, !is_head)
            }
            Err(error) => (refusal(error), false, true),
        };
        send(stream, &reply.head(keep_alive), if has_body { &reply.body } else { &[] })?;
        if !keep_alive {
            break;
        }
    }
    Ok(())
}

/// Reads up to the end of the next head; `None` if the client has closed the connection.
fn read_head(
    mut stream: &TcpStream,
    inbound: &mut Vec<u8>,
) -> io::Result<Option<Result<Head, FramingError>>> {
    let end = Instant::now() + PATIENCE;
    let mut buffer = [0; READ_BYTES];
    loop {
        match framing::parse_head(inbound) {
            Ok(Some(head)) => return Ok(Some(Ok(head))),
            Ok(None) => {}
            Err(error) => return Ok(Some(Err(error))),
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(None),
            Ok(length) => inbound.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The response to a request, and whether the connection stays open.
fn answer(broker: &Broker, inbound: &[u8], head: &Head) -> (Reply, bool) {
    let text = |range: &Range<usize>| std::str::from_utf8(&inbound[range.clone()]).ok();
    if head.length != BodyLength::Fixed(0) {
        return (Reply::text(400, "requests must not have a body\n"), false);
    }
    let is_known = matches!(&inbound[head.method.clone()], b"GET" | b"HEAD");
    if !is_known {
        return (Reply::text(405, "the methods are GET and HEAD\n"), head.keep_alive);
    }
    match text(&head.target) {
        Some(target) => {
            let accept_encoding = head.accept_encoding.as_ref().and_then(text).unwrap_or_default();
            (broker.answer(target, accept_encoding), head.keep_alive)
        }
        None => (Reply::text(400, "the target of the request is not UTF-8\n"), false),
    }
}

fn refusal(error: FramingError) -> Reply {
    match error {
        FramingError::Malformed => Reply::text(400, "this is not a request in HTTP/1.x\n"),
        FramingError::TooLarge => Reply::text(413, "the request is too large\n"),
        FramingError::Coding => Reply::text(501, "the transfer coding is not supported\n"),
    }
}

/// Sends a head and a body, in one packet if they fit.
fn send(mut stream: &TcpStream, head: &[u8], body: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    while sent < head.len() {
        let parts = [IoSlice::new(&head[sent..]), IoSlice::new(body)];
        match stream.write_vectored(&parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => sent += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    stream.write_all(&body[sent - head.len()..])
}
