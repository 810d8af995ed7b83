//! Servers with scripted behaviour, on separate threads and ports that the system assigns.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// A received request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The number of its connection, from 0.
    pub connection: usize,
    /// The request line and headers, without the empty line.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The request line.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        found.into_iter().find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// Both directions of a connection, plain or encrypted.
pub trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

/// One connection at the server.
pub struct Peer {
    /// Its number, from 0.
    pub connection: usize,
    wire: Box<dyn Wire>,
    tcp: TcpStream,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Peer {
    /// The next request; `None` when the client has closed the connection.
    pub fn request(&mut self) -> Option<Request> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if self.wire.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().trim_end().to_owned();
        let mut request = Request { connection: self.connection, head, body: Vec::new() };
        let length = request.header("Content-Length").map_or(0, |length| length.parse().unwrap());
        request.body = vec![0; length];
        self.wire.read_exact(&mut request.body).ok()?;
        self.seen.lock().unwrap().push(request.clone());
        Some(request)
    }

    /// Reads one byte of a request.
    pub fn read_byte(&mut self) {
        let _ = self.wire.read(&mut [0]);
    }

    /// Sends bytes; ignores that the client has disconnected.
    pub fn send(&mut self, bytes: &[u8]) {
        let _ = self.wire.write_all(bytes);
        let _ = self.wire.flush();
    }

    /// Closes the connection without the close_notify of TLS.
    pub fn close(self) {
        let _ = self.tcp.shutdown(std::net::Shutdown::Write);
    }

    /// Starts TLS.
    pub fn secure(self) -> Self {
        self.secure_with(tls_config())
    }

    /// Starts TLS with this configuration.
    pub fn secure_with(self, config: Arc<rustls::ServerConfig>) -> Self {
        let session = rustls::ServerConnection::new(config).unwrap();
        let wire = Box::new(rustls::StreamOwned::new(session, self.tcp.try_clone().unwrap()));
        Self { wire, ..self }
    }
}

/// A server; it runs until the process ends.
pub struct Server {
    /// The port on which it listens.
    pub port: u16,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Serves each connection on a separate thread.
    pub fn start(serve: impl Fn(Peer) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::<Mutex<Vec<Request>>>::default();
        let (all, serve) = (Arc::clone(&seen), Arc::new(serve));
        std::thread::spawn(move || {
            for (connection, tcp) in listener.incoming().enumerate() {
                let Ok(tcp) = tcp else { continue };
                let _ = tcp.set_nodelay(true);
                let (serve, seen) = (Arc::clone(&serve), Arc::clone(&all));
                std::thread::spawn(move || {
                    let wire = Box::new(tcp.try_clone().unwrap());
                    serve(Peer { connection, wire, tcp, seen });
                });
            }
        });
        Self { port, seen }
    }

    /// Responds to every request with the result of the closure.
    pub fn responding(respond: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start(move |mut peer| serve_all(&mut peer, &respond))
    }

    /// Like [`Server::responding`], over TLS.
    pub fn responding_securely(respond: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::start(move |peer| serve_all(&mut peer.secure(), &respond))
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// The connections of the requests so far.
    pub fn connections(&self) -> Vec<usize> {
        self.requests().iter().map(|request| request.connection).collect()
    }
}

/// Responds to requests until the client disconnects.
pub fn serve_all(peer: &mut Peer, respond: &impl Fn(&Request) -> Vec<u8>) {
    while let Some(request) = peer.request() {
        peer.send(&respond(&request));
    }
}

/// A response with a length and further header lines, each with its line end.
pub fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// `200 OK` with a body.
pub fn ok(body: &[u8]) -> Vec<u8> {
    response("200 OK", "", body)
}

/// The self-signed certificate of this workspace's stand-in server.
fn tls_config() -> Arc<rustls::ServerConfig> {
    const CERTIFICATE: &[u8] = include_bytes!("../../../standin/tls/certificate.pem");
    const KEY: &[u8] = include_bytes!("../../../standin/tls/key.pem");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![CertificateDer::from_pem_slice(CERTIFICATE).unwrap()],
            PrivateKeyDer::from_pem_slice(KEY).unwrap(),
        );
    Arc::new(config.unwrap())
}
