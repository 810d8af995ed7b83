//! The server. It has one thread per connection, and records every request before it sends the response.

use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::proxy::TUNNEL_OPENED;
use crate::request::ReceivedRequest;
use crate::response::WireResponse;
use crate::responses::State;
use crate::tls::{self, ClientCertificates};
use crate::websocket;

/// A received request, with the number of its connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The number of the connection; connections are numbered from 1 in the order of their first request.
    pub connection: usize,
    /// The request.
    pub request: ReceivedRequest,
}

#[derive(Default)]
struct Shared {
    stopping: AtomicBool,
    record: Mutex<Record>,
    sockets: Mutex<Vec<TcpStream>>,
    state: State,
}

#[derive(Default)]
struct Record {
    connections: usize,
    received: Vec<Received>,
}

/// A recording HTTP server on two loopback ports, one for plain HTTP and one for TLS. It stops when it is dropped. It also
/// echoes UDP packets that are sent to the plain port.
///
/// Responses depend only on the request (see the `responses` module), never on time or random values. Clients that send the
/// same requests therefore receive the same bytes.
pub struct StandIn {
    port: u16,
    tls_port: u16,
    shared: Arc<Shared>,
    acceptors: Vec<JoinHandle<()>>,
}

impl StandIn {
    /// Starts listening on free loopback ports.
    ///
    /// The ports have five digits, so that the length of data that contain them (such as a `Host` header) does not vary.
    ///
    /// # Errors
    /// No port is available.
    pub fn start() -> io::Result<Self> {
        Self::start_with(State::default(), ClientCertificates::Requested)
    }

    /// Like [`StandIn::start`], but rejects TLS clients without a certificate.
    ///
    /// # Errors
    /// No port is available.
    pub fn start_requiring_client_certificates() -> io::Result<Self> {
        Self::start_with(State::default(), ClientCertificates::Required)
    }

    /// Like [`StandIn::start`], but simulates an application that responds to every path with pages, JSON and a session cookie
    /// (see the `application` module).
    ///
    /// # Errors
    /// No port is available.
    pub fn start_application() -> io::Result<Self> {
        Self::start_with(State::application(), ClientCertificates::Requested)
    }

    fn start_with(state: State, clients: ClientCertificates) -> io::Result<Self> {
        let shared = Arc::new(Shared { state, ..Shared::default() });
        let mut acceptors = Vec::new();
        let mut listen = |tls: Option<Arc<ServerConfig>>| -> io::Result<u16> {
            let listener = listen()?;
            let port = listener.local_addr()?.port();
            let shared = Arc::clone(&shared);
            let acceptor = thread::Builder::new().name("standin".into());
            acceptors.push(acceptor.spawn(move || accept(&listener, tls.as_ref(), &shared))?);
            Ok(port)
        };
        let port = listen(None)?;
        let tls_port = listen(Some(tls::server_config(clients)?))?;
        // The UDP socket uses the same port number if it is free.
        if let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) {
            let shared = Arc::clone(&shared);
            acceptors
                .push(thread::Builder::new().name("standin".into()).spawn(move || echo(&socket, &shared))?);
        }
        Ok(Self { port, tls_port, shared, acceptors })
    }

    /// The port on which the server listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The TLS port; its certificate is self-signed.
    #[must_use]
    pub fn tls_port(&self) -> u16 {
        self.tls_port
    }

    /// Returns all requests since the last call, in the order in which they were received, and clears the list.
    #[must_use]
    pub fn take_requests(&self) -> Vec<Received> {
        std::mem::take(&mut lock(&self.shared.record).received)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The accepting threads block in accept(). A connection wakes them, so that they check the flag.
        for port in [self.port, self.tls_port] {
            drop(TcpStream::connect((Ipv4Addr::LOCALHOST, port)));
        }
        if let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)) {
            drop(socket.send_to(b"stop", (Ipv4Addr::LOCALHOST, self.port)));
        }
        for acceptor in self.acceptors.drain(..) {
            drop(acceptor.join());
        }
        for socket in lock(&self.shared.sockets).drain(..) {
            drop(socket.shutdown(Shutdown::Both));
        }
    }
}

/// Sends packets back to their sender, except for those that begin with `silent`.
fn echo(socket: &UdpSocket, shared: &Shared) {
    let mut buffer = [0; 65_536];
    loop {
        let Ok((count, from)) = socket.recv_from(&mut buffer) else { continue };
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        if !buffer[..count].starts_with(b"silent") {
            drop(socket.send_to(&buffer[..count], from));
        }
    }
}

/// Listens on a free port of five digits.
fn listen() -> io::Result<TcpListener> {
    let mut rejected = Vec::new();
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        if listener.local_addr()?.port() >= 10_000 {
            return Ok(listener);
        }
        // The rejected ports remain open during the search, because a closed port could be assigned again.
        rejected.push(listener);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, tls: Option<&Arc<ServerConfig>>, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let Ok(socket) = stream.try_clone() else { continue };
        lock(&shared.sockets).push(socket);
        let shared = Arc::clone(shared);
        let tls = tls.cloned();
        thread::spawn(move || {
            // Errors of a connection are ignored. Everything that the client sent before the error is recorded.
            drop(serve_connection(&stream, tls, &shared));
            drop(stream.shutdown(Shutdown::Both));
        });
    }
}

fn serve_connection(stream: &TcpStream, tls: Option<Arc<ServerConfig>>, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut number = None;
    let config = match tls {
        Some(config) => config,
        None if serve_requests(stream, shared, &mut number)? == End::Tunnel => {
            tls::server_config(ClientCertificates::Requested)?
        }
        None => return Ok(()),
    };
    let session = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut secure = StreamOwned::new(session, stream);
    serve_requests(&mut secure, shared, &mut number)?;
    secure.conn.send_close_notify();
    secure.conn.write_tls(&mut &*stream)?;
    Ok(())
}

/// The reason why the server stopped reading HTTP requests from a connection.
#[derive(PartialEq, Eq)]
enum End {
    /// One side has closed the connection.
    Closed,
    /// A tunnel was opened. The following bytes are TLS, and this server is also the other end of the tunnel.
    Tunnel,
}

/// A connection whose client may have sent a certificate.
trait ClientStream: Read + Write {
    /// The client's certificate in DER; `None` without one.
    fn client_certificate(&self) -> Option<&[u8]>;
}

impl ClientStream for &TcpStream {
    fn client_certificate(&self) -> Option<&[u8]> {
        None
    }
}

impl ClientStream for &mut StreamOwned<ServerConnection, &TcpStream> {
    fn client_certificate(&self) -> Option<&[u8]> {
        Some(self.conn.peer_certificates()?.first()?)
    }
}

fn serve_requests(stream: impl ClientStream, shared: &Shared, number: &mut Option<usize>) -> io::Result<End> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = ReceivedRequest::read(&mut reader)? {
        {
            let mut record = lock(&shared.record);
            let connection = *number.get_or_insert_with(|| {
                record.connections += 1;
                record.connections
            });
            record.received.push(Received { connection, request: request.clone() });
        }
        if let Some(response) = websocket::accept_upgrade(&request) {
            reader.get_mut().write_all(&response)?;
            websocket::serve_frames(&mut reader, |frame| {
                let connection = number.unwrap_or_default();
                lock(&shared.record).received.push(Received { connection, request: frame });
            })?;
            break;
        }
        let WireResponse { bytes, close, delay } =
            shared.state.respond(&request, reader.get_ref().client_certificate());
        if let Some(delay) = delay {
            thread::sleep(delay);
        }
        reader.get_mut().write_all(&bytes)?;
        reader.get_mut().flush()?;
        if close {
            break;
        }
        if request.method() == "CONNECT" && bytes.starts_with(TUNNEL_OPENED) {
            return Ok(End::Tunnel);
        }
    }
    Ok(End::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_numbered_and_requests_recorded_in_order() {
        let server = StandIn::start().unwrap();
        assert!(server.port() >= 10_000);
        let send_request = |socket: &mut TcpStream, path: &str| {
            write!(socket, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut response = Vec::new();
            let end = format!("\r\n\r\nGET {path}");
            while !response.ends_with(end.as_bytes()) {
                let mut byte = [0];
                socket.read_exact(&mut byte).unwrap();
                response.extend(byte);
            }
        };
        let mut a = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        send_request(&mut a, "/one");
        let mut b = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        send_request(&mut b, "/two");
        send_request(&mut a, "/three");
        let record = server.take_requests();
        let received: Vec<_> = record.iter().map(|r| (r.connection, r.request.target())).collect();
        assert_eq!(received, [(1, "/one".into()), (2, "/two".into()), (1, "/three".into())]);
        assert!(server.take_requests().is_empty());
    }
}
