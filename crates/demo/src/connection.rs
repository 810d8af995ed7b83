//! Serves one connection. Its requests are answered in order.

use std::io::{self, IoSlice};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;

use crate::http::framing::{self, BodyLength, FramingError, Head};
use crate::http::request::{self, Method, Request};
use crate::http::response::{self, Body, Response, ResponseOptions};
use crate::shop::SharedShop;

const READ_BYTES: usize = 4096;
/// Responses to pipelined requests are buffered up to this size before they are written.
const BUFFERED_BYTES_MAX: usize = 64 * 1024;
/// Maximum size of the buffer that an idle connection retains.
const RETAINED_BYTES_MAX: usize = 16 * 1024;
/// Limits for the time and the data that a client can still send after the shop has started to close the connection.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The response to a client that expects `100 Continue`.
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The result of processing the bytes at the start of the buffer.
enum Step {
    /// A request was answered: the number of bytes of the request, whether the connection stays open, and a body that still
    /// has to be sent.
    Answered { consumed: usize, stays: bool, rest: Option<Bytes> },
    /// More bytes are needed; `wanted`: whether the client expects `100 Continue`.
    More { wanted: bool },
    /// The request was invalid. The error response was written, and the connection is closed.
    Refused,
}

/// Serves a connection until the client closes it, a response requires its end, or the shop closes.
pub(crate) async fn run(stream: TcpStream, shop: Arc<SharedShop>, closed: watch::Receiver<bool>) {
    // An error means that the client has disconnected.
    let _ = serve_requests(stream, &shop, closed).await;
}

async fn serve_requests(
    mut stream: TcpStream,
    shop: &SharedShop,
    mut closed: watch::Receiver<bool>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut inbound: Vec<u8> = Vec::new();
    let mut outbound: Vec<u8> = Vec::new();
    let mut continued = false;
    loop {
        let step = if inbound.is_empty() {
            Step::More { wanted: false }
        } else {
            answer_next(&inbound, shop, continued, &mut outbound)
        };
        match step {
            Step::Answered { consumed, stays, rest } => {
                continued = false;
                inbound.drain(..consumed);
                shop.wait_for_backend().await;
                if rest.is_some() || !stays || inbound.is_empty() || outbound.len() > BUFFERED_BYTES_MAX {
                    write_all(&mut stream, &outbound, rest.as_deref().unwrap_or_default()).await?;
                    outbound.clear();
                }
                if !stays {
                    return stream.shutdown().await;
                }
            }
            Step::More { wanted } => {
                if wanted && !continued {
                    continued = true;
                    outbound.extend_from_slice(CONTINUE);
                }
                if !outbound.is_empty() {
                    write_all(&mut stream, &outbound, &[]).await?;
                    outbound.clear();
                }
                release_large_buffer(&mut outbound);
                if inbound.is_empty() {
                    release_large_buffer(&mut inbound);
                }
                inbound.reserve(READ_BYTES);
                let is_idle = inbound.is_empty();
                let idle_end = async {
                    match shop.idle_timeout().filter(|_| is_idle) {
                        Some(timeout) => tokio::time::sleep(timeout).await,
                        None => std::future::pending().await,
                    }
                };
                let read = tokio::select! {
                    biased;
                    read = stream.read_buf(&mut inbound) => read?,
                    _ = closed.changed() => return stream.shutdown().await,
                    () = idle_end => return stream.shutdown().await,
                };
                if read == 0 {
                    return Ok(());
                }
            }
            Step::Refused => {
                write_all(&mut stream, &outbound, &[]).await?;
                stream.shutdown().await?;
                return linger(stream, inbound).await;
            }
        }
    }
}

/// Releases the memory of a large message: there may be thousands of connections that are idle for a long time.
fn release_large_buffer(buffer: &mut Vec<u8>) {
    if buffer.capacity() > RETAINED_BYTES_MAX {
        *buffer = Vec::new();
    }
}

/// Answers the next request in the buffer. `continued`: the client has received `100 Continue` for this request.
fn answer_next(inbound: &[u8], shop: &SharedShop, continued: bool, outbound: &mut Vec<u8>) -> Step {
    let head = match framing::parse_head(inbound) {
        Ok(Some(head)) => head,
        Ok(None) => return Step::More { wanted: false },
        Err(error) => return refuse(error, outbound),
    };
    let after_head = &inbound[head.bytes..];
    let decoded;
    let (body, consumed) = match head.length {
        BodyLength::Fixed(length) if after_head.len() < length => {
            return Step::More { wanted: head.expects_continue };
        }
        BodyLength::Fixed(length) => (&after_head[..length], head.bytes + length),
        BodyLength::Chunked => match framing::decode_chunked(after_head) {
            Ok(Some((body, length))) => {
                decoded = body;
                (decoded.as_slice(), head.bytes + length)
            }
            Ok(None) => return Step::More { wanted: head.expects_continue },
            Err(error) => return refuse(error, outbound),
        },
    };
    let Some(request) = build_request(inbound, &head, body) else {
        return refuse(FramingError::Malformed, outbound);
    };
    if head.expects_continue && !continued {
        // As in TicketMonster's server, this is sent even if the whole body has already been received.
        outbound.extend_from_slice(CONTINUE);
    }
    let answer = shop.answer(&request);
    let options =
        ResponseOptions { keep_alive: head.keep_alive, head_only: &inbound[head.method.clone()] == b"HEAD" };
    let (stays, rest) = response::write(&answer, options, outbound);
    Step::Answered { consumed, stays, rest }
}

fn build_request<'a>(inbound: &'a [u8], head: &Head, body: &'a [u8]) -> Option<Request<'a>> {
    let text = |range: &Range<usize>| std::str::from_utf8(&inbound[range.clone()]).ok();
    // RFC 9112, section 3.2.2: the host of an absolute target takes precedence over the `Host` header.
    let (authority, target) = request::split_target(text(&head.target)?);
    Some(Request {
        method: Method::from_name(text(&head.method)?),
        target,
        host: authority.or_else(|| head.host.as_ref().and_then(text)),
        accept: head.accept.as_ref().and_then(text),
        content_type: head.content_type.as_ref().and_then(text),
        body,
    })
}

fn refuse(error: FramingError, outbound: &mut Vec<u8>) -> Step {
    let status = match error {
        FramingError::Malformed => 400,
        FramingError::TooLarge => 413,
        FramingError::Coding => 501,
    };
    response::write(
        &Response::new(status, Body::Empty),
        ResponseOptions { keep_alive: false, head_only: false },
        outbound,
    );
    Step::Refused
}

/// Discards data that the client still sends. Closing a connection with unread data would reset it, and the client might not
/// receive the response.
async fn linger(mut stream: TcpStream, mut scratch: Vec<u8>) -> io::Result<()> {
    let drain = async {
        let mut total = 0;
        loop {
            scratch.clear();
            scratch.reserve(READ_BYTES);
            match stream.read_buf(&mut scratch).await? {
                0 => return Ok(()),
                read => total += read,
            }
            if total > LINGER_BYTES_MAX {
                return Ok(());
            }
        }
    };
    tokio::time::timeout(LINGER, drain).await.unwrap_or(Ok(()))
}

async fn write_all(stream: &mut TcpStream, mut first: &[u8], mut second: &[u8]) -> io::Result<()> {
    while !first.is_empty() || !second.is_empty() {
        let written = if second.is_empty() {
            stream.write(first).await?
        } else {
            stream.write_vectored(&[IoSlice::new(first), IoSlice::new(second)]).await?
        };
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let of_first = written.min(first.len());
        first = &first[of_first..];
        second = &second[written - of_first..];
    }
    Ok(())
}
