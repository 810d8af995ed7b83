//! The server: connections, their limits, and the thread they run on.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderValue};
use http::{StatusCode, request::Parts};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tokio_rustls::TlsAcceptor;

use crate::body::Body;
use crate::request::Request;
use crate::tls::ServerTls;

/// Maximum length of a request's head in bytes.
const HEAD_MAX: usize = 16 << 10;

/// Maximum length of a request's body in bytes.
const BODY_MAX: usize = 4 << 10;

/// Maximum number of connections at the same time. One more connection replaces the oldest connection whose request is
/// not complete, so that clients that send slowly do not block others. If all requests are complete, it replaces the
/// connection that has received events for the longest time. The client of that connection may have stopped reading,
/// which the system's buffers hide for minutes; a browser connects again. If no connection receives events, the new
/// connection is refused.
const CONNECTIONS_MAX: usize = 32;

/// Time for a client to send its request.
const REQUEST_MAX: Duration = Duration::from_secs(10);

/// Time without progress after which a client that does not receive its response is disconnected.
const STALL_MAX: Duration = Duration::from_secs(5);

/// Time for connections to end when the server ends.
const SHUTDOWN_MAX: Duration = Duration::from_secs(1);

/// Delay before the next attempt to accept a connection when the system has no file descriptors left.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

/// A response.
pub type Response = http::Response<Body>;

/// Handles requests on the thread of the server; it must not block for long.
pub type Handler = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

/// A response with a content type and a body.
#[must_use]
pub fn respond(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// The server; it ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves a listener on a thread with the given name.
    ///
    /// # Errors
    /// The thread cannot be started, or the listener cannot be set to non-blocking mode.
    pub fn start(listener: std::net::TcpListener, name: &str, handler: Handler) -> io::Result<Server> {
        Server::start_with(listener, name, None, handler)
    }

    /// Like [`start`](Self::start), for HTTPS.
    ///
    /// # Errors
    /// The thread cannot be started, or the listener cannot be set to non-blocking mode.
    pub fn start_tls(
        listener: std::net::TcpListener,
        name: &str,
        tls: &ServerTls,
        handler: Handler,
    ) -> io::Result<Server> {
        Server::start_with(listener, name, Some(tls.acceptor()), handler)
    }

    fn start_with(
        listener: std::net::TcpListener,
        name: &str,
        tls: Option<TlsAcceptor>,
        handler: Handler,
    ) -> io::Result<Server> {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = {
            let _context = runtime.enter();
            TcpListener::from_std(listener)?
        };
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || runtime.block_on(accept(listener, tls, &handler, stopped)))?;
        Ok(Server { address, stop: Some(stop), thread: Some(thread) })
    }

    /// The address of the listener.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Connections that may be replaced, oldest first.
#[derive(Debug, Default)]
struct Replaceable {
    /// Connections whose requests are not complete.
    incomplete: VecDeque<(u64, AbortHandle)>,
    /// Connections that receive events.
    events: VecDeque<(u64, AbortHandle)>,
}

#[derive(Debug, Default)]
struct Connections(Mutex<Replaceable>);

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Replaceable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the connection that a new connection will replace, and returns its handle.
    fn next_replaced(&self) -> Option<AbortHandle> {
        let mut all = self.lock();
        let next = all.incomplete.pop_front().or_else(|| all.events.pop_front());
        next.map(|(_, handle)| handle)
    }

    /// Records that the request of a connection is complete.
    fn complete(&self, number: u64, receives_events: bool) {
        let mut all = self.lock();
        let Some(at) = all.incomplete.iter().position(|(known, _)| *known == number) else { return };
        let connection = all.incomplete.remove(at);
        if receives_events {
            all.events.extend(connection);
        }
    }

    fn remove(&self, number: u64) {
        let mut all = self.lock();
        all.incomplete.retain(|(known, _)| *known != number);
        all.events.retain(|(known, _)| *known != number);
    }
}

async fn accept(
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    handler: &Handler,
    mut stopped: oneshot::Receiver<()>,
) {
    let replaceable = Arc::new(Connections::default());
    let mut connections = JoinSet::new();
    for number in 0.. {
        let accepted = loop {
            tokio::select! {
                biased;
                _ = &mut stopped => break None,
                Some(_) = connections.join_next() => {}
                accepted = listener.accept() => match accepted {
                    Ok((stream, _)) => break Some(stream),
                    Err(_) => sleep(ACCEPT_AGAIN).await,
                },
            }
        };
        let Some(stream) = accepted else { break };
        if connections.len() >= CONNECTIONS_MAX {
            let Some(oldest) = replaceable.next_replaced() else {
                // A client of HTTPS would not understand an unencrypted response.
                if tls.is_none() {
                    refuse(&stream);
                }
                continue;
            };
            oldest.abort();
        }
        let serving = serve(stream, tls.clone(), Arc::clone(handler), Arc::clone(&replaceable), number);
        // The task of the connection runs on this thread, so it cannot start before the connection is in the list.
        let handle = connections.spawn(serving);
        replaceable.lock().incomplete.push_back((number, handle));
    }
    drop(listener);
    let _ = timeout(SHUTDOWN_MAX, async { while connections.join_next().await.is_some() {} }).await;
    connections.shutdown().await;
}

/// Refuses a client; the response may be lost.
fn refuse(stream: &TcpStream) {
    let _ = stream
        .try_write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

async fn serve(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    handler: Handler,
    replaceable: Arc<Connections>,
    number: u64,
) {
    match tls {
        None => exchange(stream, handler, Arc::clone(&replaceable), number).await,
        Some(acceptor) => {
            if let Ok(Ok(stream)) = timeout(REQUEST_MAX, acceptor.accept(stream)).await {
                exchange(stream, handler, Arc::clone(&replaceable), number).await;
            }
        }
    }
    replaceable.remove(number);
}

/// Reads the request of a connection and sends the response.
async fn exchange<S: AsyncRead + AsyncWrite>(
    stream: S,
    handler: Handler,
    replaceable: Arc<Connections>,
    number: u64,
) {
    let (complete, is_complete) = oneshot::channel();
    let complete: Mutex<Option<oneshot::Sender<()>>> = Mutex::new(Some(complete));
    let finish = |receives_events| {
        replaceable.complete(number, receives_events);
        drop(complete.lock().unwrap_or_else(PoisonError::into_inner).take());
    };
    let service = service_fn(|request: http::Request<Incoming>| async {
        let (parts, body) = request.into_parts();
        let received = Limited::new(body, BODY_MAX).collect().await;
        let response = received.map_or_else(|_| too_long(), |body| handle(&handler, parts, body.to_bytes()));
        finish(response.body().is_events());
        Ok::<_, Infallible>(response)
    });
    let mut io = TimeoutWriter::new(stream);
    io.set_timeout(Some(STALL_MAX));
    let mut connection = pin!(
        hyper::server::conn::http1::Builder::new()
            .keep_alive(false)
            // A client may close its half of the connection after the request.
            .half_close(true)
            .max_buf_size(HEAD_MAX)
            .serve_connection(TokioIo::new(Box::pin(io)), service)
    );
    let is_served = tokio::select! {
        _ = &mut connection => true,
        _ = is_complete => false,
        () = sleep(REQUEST_MAX) => true,
    };
    if !is_served {
        let _ = connection.await;
    }
}

fn handle(handler: &Handler, parts: Parts, body: Bytes) -> Response {
    handler(&Request::from_parts(parts, body))
}

fn too_long() -> Response {
    respond(
        StatusCode::BAD_REQUEST,
        "text/plain; charset=utf-8",
        "the body of the request is incomplete or longer than 4 KiB\n",
    )
}

#[cfg(test)]
mod tests;
