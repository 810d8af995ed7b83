//! A connection: sending requests and receiving responses.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;
use tokio::io::{AsyncRead, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::allowed_hosts;
use crate::dial;
use crate::dial::ConnectOptions;
use crate::failure::Failure;
use crate::origin::Origin;
use crate::proxy_address::ProxyAddress;
use crate::response::{ResponseProgress, ResponseReader, Sink};

/// The maximum number of bytes of one read.
const READ_BYTES: usize = 64 * 1024;

/// The maximum number of bytes of one read if the body is not retained: unread data does not have to be copied, see
/// [`poll_skip`].
const READ_BYTES_SKIPPING: usize = 16 * 1024;

/// A body that is not retained is discarded in the kernel if at least this many bytes are still to come.
const SKIP_BYTES_MIN: u64 = 8 * 1024;

/// The maximum number of bytes that one call discards.
const SKIP_BYTES_MAX: usize = 1 << 20;

/// JMeter's default of `httpclient4.time_to_live`: the age at which a connection is no longer reused, in milliseconds.
const TIME_TO_LIVE_MS: u64 = 60_000;

thread_local! {
    /// The read buffer of all connections of a thread.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Calls `read` with the thread's read buffer, shortened to `bytes`.
fn with_buffer<R>(bytes: usize, read: impl FnOnce(&mut [u8]) -> R) -> R {
    // The buffer is taken out, because decompressing may be suspended and another user may read meanwhile.
    let mut buffer = BUFFER.take();
    if buffer.len() < bytes {
        // A large buffer takes only address space: fresh pages are zero and take no memory until they are
        // written to, which the kernel never does when it discards data.
        buffer = vec![0; if bytes <= READ_BYTES { READ_BYTES } else { SKIP_BYTES_MAX }];
    }
    let result = read(&mut buffer[..bytes]);
    BUFFER.set(buffer);
    result
}

enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// A connection to an origin, perhaps through a proxy.
pub(crate) struct Connection {
    stream: Stream,
    /// The server.
    pub(crate) origin: Arc<Origin>,
    /// The proxy.
    pub(crate) proxy: Option<Arc<ProxyAddress>>,
    /// The local address from the plan.
    pub(crate) source: Option<IpAddr>,
    expires: Nanos,
}

impl Connection {
    /// Connects to `origin`, or to its proxy. Without a proxy this includes the TLS handshake; through a proxy the
    /// handshake takes place in a tunnel, see [`Connection::secured`].
    pub(crate) async fn open(
        origin: &Arc<Origin>,
        proxy: Option<&Arc<ProxyAddress>>,
        addresses: Option<&[SocketAddr]>,
        options: &ConnectOptions<'_>,
    ) -> Result<Self, Failure> {
        // With a proxy, the server is not resolved here.
        allowed_hosts::check(origin.bare_host())?;
        let (host, port) = match proxy {
            Some(proxy) => (proxy.host.as_str(), proxy.port),
            None => (origin.bare_host(), origin.port),
        };
        let stream = Stream::Plain(dial::connect(host, port, addresses, options).await?);
        let most_ms = options.shared.connection_ms_max.unwrap_or(TIME_TO_LIVE_MS);
        let expires = options.clock.now() + Nanos::from_millis(most_ms).0;
        let opened = Self {
            stream,
            origin: Arc::clone(origin),
            proxy: proxy.cloned(),
            source: options.source,
            expires,
        };
        if origin.secure && proxy.is_none() { opened.secured(options).await } else { Ok(opened) }
    }

    /// Creates a connection from a stream to `origin`, before a TLS handshake.
    pub(crate) fn from_stream(stream: TcpStream, origin: &Arc<Origin>, now: Nanos) -> Self {
        Self {
            stream: Stream::Plain(stream),
            origin: Arc::clone(origin),
            proxy: None,
            source: None,
            expires: now + Nanos::from_millis(TIME_TO_LIVE_MS).0,
        }
    }

    /// Performs the TLS handshake with the server.
    pub(crate) async fn secured(mut self, options: &ConnectOptions<'_>) -> Result<Self, Failure> {
        if let Stream::Plain(stream) = self.stream {
            self.stream = Stream::Tls(Box::new(handshake(stream, &self.origin, options).await?));
        }
        Ok(self)
    }

    /// Whether an idle connection can be used for another request: it is neither too old nor closed by the server.
    pub(crate) fn is_usable(&mut self, now: Nanos) -> bool {
        if now >= self.expires {
            return false;
        }
        let mut byte = [0];
        match &mut self.stream {
            // Queries the kernel only after an event of the reactor.
            Stream::Plain(stream) => {
                matches!(stream.try_read(&mut byte), Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            Stream::Tls(stream) => {
                let mut context = Context::from_waker(Waker::noop());
                Pin::new(&mut **stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte)).is_pending()
            }
        }
    }

    /// Limits the idle time of the connection to this many milliseconds, which the server or the properties specify.
    pub(crate) fn limit_idle_time(&mut self, now: Nanos, ms: u64) {
        self.expires = self.expires.min(now + Nanos::from_millis(ms).0);
    }

    /// Sends a rendered request.
    pub(crate) async fn send(&mut self, request: &[u8]) -> Result<(), Failure> {
        let sent = match &mut self.stream {
            Stream::Plain(stream) => {
                // One write is sufficient for nearly every request; the slower call handles the rest.
                match write_once(stream, request) {
                    Ok(written) if written == request.len() => return Ok(()),
                    Ok(written) => stream.write_all(&request[written..]).await,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        stream.write_all(request).await
                    }
                    Err(error) => Err(error),
                }
            }
            Stream::Tls(stream) => match stream.write_all(request).await {
                Ok(()) => stream.flush().await,
                Err(error) => Err(error),
            },
        };
        sent.map_err(|error| Failure::socket(&error))
    }

    /// Reads the response to its end. Returns the times of its first and its last byte, if there was any; `timeout` is
    /// the maximum time between two reads.
    pub(crate) async fn receive(
        &mut self,
        reader: &mut ResponseReader,
        sink: &mut impl Sink,
        clock: &Clock,
        timeout: Option<Duration>,
    ) -> Result<Option<(Nanos, Nanos)>, Failure> {
        let mut first = None;
        loop {
            let read = poll_fn(|cx| self.poll_step(cx, reader, sink));
            let step = match timeout {
                None => read.await,
                Some(timeout) => match tokio::time::timeout(timeout, read).await {
                    Ok(step) => step,
                    Err(_) => Err(Failure::read_timeout()),
                },
            };
            match step {
                Ok(Step::Read(progress)) => {
                    let done = progress == ResponseProgress::Done;
                    match first {
                        None => {
                            let now = clock.now();
                            first = Some(now);
                            if done {
                                return Ok(Some((now, now)));
                            }
                        }
                        Some(first) if done => return Ok(Some((first, clock.now()))),
                        Some(_) => {}
                    }
                }
                Ok(Step::Closed) => {
                    reader.end(&self.origin.with_port())?;
                    return Ok(first.map(|first| (first, clock.now())));
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    fn poll_step(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut ResponseReader,
        sink: &mut impl Sink,
    ) -> Poll<Result<Step, Failure>> {
        let failed = |error: io::Error| {
            // A TLS connection closed without close_notify ends a body like a plain connection.
            if error.kind() == io::ErrorKind::UnexpectedEof {
                Ok(Step::Closed)
            } else {
                Err(Failure::socket(&error))
            }
        };
        if let Stream::Plain(stream) = &mut self.stream
            && sink.ignores_body()
            && reader.skippable() >= SKIP_BYTES_MIN
        {
            return poll_skip(stream, cx, reader).map(|skipped| match skipped {
                Ok(0) => Ok(Step::Closed),
                Ok(bytes) => Ok(Step::Read(reader.skipped(bytes))),
                Err(error) => failed(error),
            });
        }
        let most = if sink.ignores_body() { READ_BYTES_SKIPPING } else { READ_BYTES };
        with_buffer(most, |buffer| {
            let mut read = ReadBuf::new(buffer);
            let polled = match &mut self.stream {
                Stream::Plain(stream) => Pin::new(stream).poll_read(cx, &mut read),
                Stream::Tls(stream) => Pin::new(&mut **stream).poll_read(cx, &mut read),
            };
            match polled {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(error)) => Poll::Ready(failed(error)),
                Poll::Ready(Ok(())) if read.filled().is_empty() => Poll::Ready(Ok(Step::Closed)),
                Poll::Ready(Ok(())) => Poll::Ready(reader.feed(read.filled(), sink).map(Step::Read)),
            }
        })
    }
}

enum Step {
    Read(ResponseProgress),
    Closed,
}

/// Discards bytes of a body without copying them from the kernel (`MSG_TRUNC` on TCP).
#[cfg(target_os = "linux")]
fn poll_skip(stream: &TcpStream, cx: &mut Context<'_>, reader: &ResponseReader) -> Poll<io::Result<u64>> {
    use rustix::net::{RecvFlags, recv};
    use tokio::io::Interest;
    // One byte more than expected: a shorter read means that the socket is empty.
    let want = usize::try_from(reader.skippable()).unwrap_or(usize::MAX).min(SKIP_BYTES_MAX - 1) + 1;
    loop {
        std::task::ready!(stream.poll_read_ready(cx))?;
        let skipped = with_buffer(want, |buffer| {
            stream.try_io(Interest::READABLE, || {
                let (_, bytes) = recv(stream, &mut *buffer, RecvFlags::TRUNC)?;
                Ok(bytes)
            })
        });
        match skipped {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Poll::Ready(Err(error)),
            Ok(bytes) => {
                if bytes > 0 && bytes < want {
                    // Marks the socket as empty in the reactor, as its own reads do, so that the next read waits
                    // for an event.
                    let _ =
                        stream.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
                }
                return Poll::Ready(Ok(bytes as u64));
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn poll_skip(stream: &mut TcpStream, cx: &mut Context<'_>, reader: &ResponseReader) -> Poll<io::Result<u64>> {
    let want = usize::try_from(reader.skippable()).unwrap_or(usize::MAX).min(READ_BYTES);
    with_buffer(want, |buffer| {
        let mut read = ReadBuf::new(buffer);
        Pin::new(stream).poll_read(cx, &mut read).map_ok(|()| read.filled().len() as u64)
    })
}

async fn handshake(
    stream: TcpStream,
    origin: &Origin,
    options: &ConnectOptions<'_>,
) -> Result<TlsStream<TcpStream>, Failure> {
    let failed = |message: String| Failure::new("javax.net.ssl.SSLHandshakeException", message);
    let name = rustls::pki_types::ServerName::try_from(origin.bare_host().to_owned())
        .map_err(|error| failed(error.to_string()))?;
    let client_tls =
        options.shared.client_tls(options.key_alias).map_err(|error| failed(error.to_string()))?;
    let shake = TlsConnector::from(Arc::clone(&client_tls.config)).connect(name, stream);
    let shaken = match options.timeout {
        None => shake.await,
        Some(timeout) => match tokio::time::timeout(timeout, shake).await {
            Ok(shaken) => shaken,
            Err(_) => return Err(Failure::read_timeout()),
        },
    };
    if let Some(failure) = client_tls.missing_key_failure() {
        return Err(failure);
    }
    shaken.map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => failed("Remote host terminated the handshake".into()),
        io::ErrorKind::ConnectionReset => Failure::socket(&error),
        _ => match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidMessage(_)) => {
                Failure::new("javax.net.ssl.SSLException", "Unsupported or unrecognized SSL message")
            }
            _ => failed(error.to_string()),
        },
    })
}

/// Writes once, without the overhead of the C library for cancellation points.
#[cfg(target_os = "linux")]
fn write_once(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    use rustix::net::{SendFlags, send};
    stream.try_io(tokio::io::Interest::WRITABLE, || Ok(send(stream, bytes, SendFlags::NOSIGNAL)?))
}

#[cfg(not(target_os = "linux"))]
fn write_once(stream: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    stream.try_write(bytes)
}
