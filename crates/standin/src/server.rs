//! The listening side: one thread per connection, every request written down before it is answered.

use std::io::{self, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::answers::State;
use crate::proxy::GRANTED;
use crate::request::Request;
use crate::response::Answer;
use crate::tls::{self, ClientCertificates};
use crate::websocket;

/// One request and the connection that brought it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Connections are numbered from 1 in the order of their first request.
    pub connection: usize,
    /// The request.
    pub request: Request,
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

/// A recording HTTP server on two loopback ports, one plain and one with TLS; it stops when dropped. It echoes UDP
/// packets to the plain port.
///
/// Responses depend only on the path (see the `answers` module), never on time or chance, so that clients that send
/// the same requests get the same bytes.
pub struct StandIn {
    port: u16,
    tls_port: u16,
    shared: Arc<Shared>,
    acceptors: Vec<JoinHandle<()>>,
}

impl StandIn {
    /// Starts listening on free loopback ports.
    ///
    /// The ports have five digits, so that lengths that include them (a `Host` header) do not vary.
    ///
    /// # Errors
    /// Fails when no port can be had.
    pub fn start() -> io::Result<Self> {
        Self::with(State::default(), ClientCertificates::Asked)
    }

    /// The same; under TLS clients without a certificate are sent away.
    ///
    /// # Errors
    /// Fails when no port can be had.
    pub fn start_demanding_certificates() -> io::Result<Self> {
        Self::with(State::default(), ClientCertificates::Demanded)
    }

    /// The same, but every path is answered as an application would: pages, JSON, a session cookie (see the `anything`
    /// module).
    ///
    /// # Errors
    /// Fails when no port can be had.
    pub fn start_application() -> io::Result<Self> {
        Self::with(State::application(), ClientCertificates::Asked)
    }

    fn with(state: State, clients: ClientCertificates) -> io::Result<Self> {
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
        // Packets come to the same number, where it is free for them.
        if let Ok(socket) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) {
            let shared = Arc::clone(&shared);
            acceptors
                .push(thread::Builder::new().name("standin".into()).spawn(move || echo(&socket, &shared))?);
        }
        Ok(Self { port, tls_port, shared, acceptors })
    }

    /// The port that the server listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The TLS port; its certificate is self-signed.
    #[must_use]
    pub fn tls_port(&self) -> u16 {
        self.tls_port
    }

    /// Returns all requests so far, in the order of arrival, and clears the record.
    #[must_use]
    pub fn take_record(&self) -> Vec<Received> {
        std::mem::take(&mut lock(&self.shared.record).received)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The acceptors sleep in accept(): a connection wakes them, and they see the flag.
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

/// Sends packets back to where they came from, save those that begin with `silent`.
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
    let mut short = Vec::new();
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        if listener.local_addr()?.port() >= 10_000 {
            return Ok(listener);
        }
        // Held until the search ends: a port given back at once would be offered again.
        short.push(listener);
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
            // A broken connection is the client's affair: what it sent until then is in the record.
            drop(converse(&stream, tls, &shared));
            drop(stream.shutdown(Shutdown::Both));
        });
    }
}

fn converse(stream: &TcpStream, tls: Option<Arc<ServerConfig>>, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut number = None;
    let config = match tls {
        Some(config) => config,
        None if serve(stream, shared, &mut number)? == End::Tunnel => {
            tls::server_config(ClientCertificates::Asked)?
        }
        None => return Ok(()),
    };
    let session = ServerConnection::new(config).map_err(io::Error::other)?;
    let mut secure = StreamOwned::new(session, stream);
    serve(&mut secure, shared, &mut number)?;
    secure.conn.send_close_notify();
    secure.conn.write_tls(&mut &*stream)?;
    Ok(())
}

/// Why the requests of a connection came to an end.
#[derive(PartialEq, Eq)]
enum End {
    /// One side has closed it.
    Closed,
    /// A tunnel was granted: what follows is TLS, and this server itself is at the other end.
    Tunnel,
}

/// A connection that may have a client certificate.
trait Conversation: Read + Write {
    /// The client's own certificate, DER.
    fn client(&self) -> Option<&[u8]>;
}

impl Conversation for &TcpStream {
    fn client(&self) -> Option<&[u8]> {
        None
    }
}

impl Conversation for &mut StreamOwned<ServerConnection, &TcpStream> {
    fn client(&self) -> Option<&[u8]> {
        Some(self.conn.peer_certificates()?.first()?)
    }
}

fn serve(stream: impl Conversation, shared: &Shared, number: &mut Option<usize>) -> io::Result<End> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = Request::read(&mut reader)? {
        {
            let mut record = lock(&shared.record);
            let connection = *number.get_or_insert_with(|| {
                record.connections += 1;
                record.connections
            });
            record.received.push(Received { connection, request: request.clone() });
        }
        if let Some(granted) = websocket::answer(&request) {
            reader.get_mut().write_all(&granted)?;
            websocket::converse(&mut reader, |frame| {
                let connection = number.unwrap_or_default();
                lock(&shared.record).received.push(Received { connection, request: frame });
            })?;
            break;
        }
        let Answer { bytes, close, delay } = shared.state.answer(&request, reader.get_ref().client());
        if let Some(delay) = delay {
            thread::sleep(delay);
        }
        reader.get_mut().write_all(&bytes)?;
        reader.get_mut().flush()?;
        if close {
            break;
        }
        if request.method() == "CONNECT" && bytes.starts_with(GRANTED) {
            return Ok(End::Tunnel);
        }
    }
    Ok(End::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_numbered_and_requests_kept_in_order() {
        let server = StandIn::start().unwrap();
        assert!(server.port() >= 10_000);
        let ask = |socket: &mut TcpStream, path: &str| {
            write!(socket, "GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut answer = Vec::new();
            let end = format!("\r\n\r\nGET {path}");
            while !answer.ends_with(end.as_bytes()) {
                let mut byte = [0];
                socket.read_exact(&mut byte).unwrap();
                answer.extend(byte);
            }
        };
        let mut a = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        ask(&mut a, "/one");
        let mut b = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
        ask(&mut b, "/two");
        ask(&mut a, "/three");
        let record = server.take_record();
        let seen: Vec<_> = record.iter().map(|r| (r.connection, r.request.target())).collect();
        assert_eq!(seen, [(1, "/one".into()), (2, "/two".into()), (1, "/three".into())]);
        assert!(server.take_record().is_empty());
    }
}
