//! A small HTTP server on threads, for a handful of clients: scrapes, and the page of a run that goes on.
//!
//! It answers one request per connection. What a request means is the business of its handler.

use std::collections::VecDeque;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Longest head of a request that is read.
const HEAD_MAX: usize = 16 << 10;

/// Longest body.
const BODY_MAX: usize = 4 << 10;

/// Connections at once. Further ones take the place of the oldest connection whose request has not come whole yet:
/// clients that send slowly do not keep others out.
const CONNECTIONS_MAX: usize = 32;

/// Connections at once while those that were sent away end; further ones are refused.
const ENDING_MAX: usize = 2 * CONNECTIONS_MAX;

/// How long a client may take over a part of its request, or to take a part of its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long connections may take to end when the server ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// Its method.
    pub method: String,
    /// Path and query, as they came.
    pub target: String,
    headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// The path without the query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// A value of the query as it stands there; nothing is decoded.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(known, _)| *known == name))
            .map(|(_, v)| v)
    }

    /// A header; `None` when it is missing or given more than once.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        match (found.next(), found.next()) {
            (Some((_, value)), None) => Some(value),
            _ => None,
        }
    }

    /// Whether a header is there at all.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }
}

/// An answer that is known as a whole.
#[derive(Debug, Clone, Copy)]
pub struct HttpAnswer<'a> {
    /// Status and reason, `200 OK`.
    pub status: &'a str,
    /// `Content-Type`.
    pub kind: &'a str,
    /// Further header lines, each ended by `\r\n`.
    pub headers: &'a str,
    /// The body.
    pub body: &'a [u8],
}

impl HttpAnswer<'_> {
    /// Sends it.
    ///
    /// # Errors
    /// The client is gone.
    pub fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n",
            self.status,
            self.kind,
            self.body.len(),
            self.headers
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(self.body)
    }
}

/// Answers requests; called on a thread of the connection's own.
pub type HttpHandler = Arc<dyn Fn(&HttpRequest, &mut TcpStream) -> io::Result<()> + Send + Sync>;

/// The connections there are, and who waits for them to end.
#[derive(Debug, Default)]
struct Connections {
    open: Mutex<OpenConnections>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct OpenConnections {
    count: usize,
    /// Number of the next connection.
    next: u64,
    /// Those whose requests have not come whole yet, oldest first.
    reading: VecDeque<(u64, TcpStream)>,
}

struct Connection {
    all: Arc<Connections>,
    number: u64,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a connection in, if need be in the place of one that is still sending its request.
    fn begin(self: &Arc<Self>, stream: &TcpStream) -> Option<Connection> {
        let mut open = self.lock();
        if open.count >= ENDING_MAX {
            return None;
        }
        let reading = stream.try_clone().ok()?;
        if open.count >= CONNECTIONS_MAX {
            let (_, slowest) = open.reading.pop_front()?;
            // Its thread finds the end of the request, and ends.
            let _ = slowest.shutdown(std::net::Shutdown::Both);
        }
        open.count += 1;
        let number = open.next;
        open.next += 1;
        open.reading.push_back((number, reading));
        Some(Connection { all: Arc::clone(self), number })
    }

    fn wait_for_none(&self) {
        // Whoever does not end in time is left to the end of the process.
        drop(self.ended.wait_timeout_while(self.lock(), FAREWELL, |open| open.count > 0));
    }
}

impl Connection {
    /// The request has come whole: the connection keeps its place.
    fn has_request(&self) {
        self.all.lock().reading.retain(|(number, _)| *number != self.number);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.has_request();
        self.all.lock().count -= 1;
        self.all.ended.notify_all();
    }
}

/// The server; ends when it is dropped.
#[derive(Debug)]
pub struct HttpServer {
    address: SocketAddr,
    stopping: Arc<AtomicBool>,
    connections: Arc<Connections>,
    thread: Option<JoinHandle<()>>,
}

impl HttpServer {
    /// Serves a listener; `name` is that of its threads.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(listener: TcpListener, name: &str, handler: HttpHandler) -> io::Result<HttpServer> {
        let address = listener.local_addr()?;
        let (stopping, connections) = (Arc::new(AtomicBool::new(false)), Arc::new(Connections::default()));
        let (stop, all, of_connections) = (Arc::clone(&stopping), Arc::clone(&connections), name.to_owned());
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(mut stream) = stream else { continue };
                let Some(connection) = all.begin(&stream) else {
                    let _ = too_many(&mut stream);
                    continue;
                };
                let handler = Arc::clone(&handler);
                // A client that goes away, or sends rubbish, is no concern of the run; nor is one without a thread.
                let _ = std::thread::Builder::new().name(of_connections.clone()).spawn(move || {
                    let _ = serve(&mut stream, &handler, &connection);
                    drop(connection);
                });
            }
        })?;
        Ok(HttpServer { address, stopping, connections, thread: Some(thread) })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The thread sleeps in accept(). Who listens at all addresses is found at this machine's own.
        let mut own = self.address;
        if own.ip().is_unspecified() {
            own.set_ip(match own {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        drop(TcpStream::connect_timeout(&own, PATIENCE));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.connections.wait_for_none();
    }
}

fn too_many(stream: &mut TcpStream) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let body = b"too many connections\n";
    HttpAnswer { status: "503 Service Unavailable", kind: "text/plain", headers: "", body }.send(stream)
}

fn serve(stream: &mut TcpStream, handler: &HttpHandler, connection: &Connection) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    match read(stream)? {
        Some(request) => {
            connection.has_request();
            handler(&request, stream)
        }
        None => {
            let body = b"this is no request that can be answered\n";
            HttpAnswer { status: "400 Bad Request", kind: "text/plain", headers: "", body }.send(stream)
        }
    }
}

/// Reads a request; `None` when it is none, or too long.
fn read(stream: &mut TcpStream) -> io::Result<Option<HttpRequest>> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 2_048]);
    let (mut request, head_length, body_length) = loop {
        let read = stream.read(&mut chunk)?;
        if read == 0 || bytes.len() + read > HEAD_MAX + BODY_MAX {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..read]);
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(&bytes) {
            Ok(httparse::Status::Complete(length)) => {
                let mut request = HttpRequest {
                    method: parsed.method.unwrap_or_default().to_owned(),
                    target: parsed.path.unwrap_or_default().to_owned(),
                    ..HttpRequest::default()
                };
                for header in parsed.headers.iter() {
                    let value = String::from_utf8_lossy(header.value).into_owned();
                    request.headers.push((header.name.to_owned(), value));
                }
                let body_length = match request.header("Content-Length").map(str::parse::<usize>) {
                    Some(Ok(length)) if length <= BODY_MAX => length,
                    None if !request.has_header("Content-Length") => 0,
                    _ => return Ok(None),
                };
                break (request, length, body_length);
            }
            Ok(httparse::Status::Partial) => {}
            Err(_) => return Ok(None),
        }
    };
    while bytes.len() < head_length + body_length {
        let read = stream.read(&mut chunk)?;
        if read == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&chunk[..read]);
    }
    request.body = bytes[head_length..head_length + body_length].to_vec();
    Ok(Some(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn echo() -> HttpServer {
        let handler: HttpHandler = Arc::new(|request, stream| {
            let said = format!(
                "{} {} {:?} {:?} {}",
                request.method,
                request.path(),
                request.query("b"),
                request.header("x-a"),
                String::from_utf8_lossy(&request.body)
            );
            HttpAnswer {
                status: "200 OK",
                kind: "text/plain",
                headers: "X-More: 1\r\n",
                body: said.as_bytes(),
            }
            .send(stream)
        });
        HttpServer::start(TcpListener::bind("127.0.0.1:0").unwrap(), "echo", handler).unwrap()
    }

    fn ask(server: &HttpServer, parts: &[&str]) -> String {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        for part in parts {
            stream.write_all(part.as_bytes()).unwrap();
        }
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn a_request_in_pieces_is_read_whole() {
        let server = echo();
        let parts =
            ["POST /p?a=1&b=2 HT", "TP/1.1\r\nHost: x\r\nX-A: y\r\nContent-Le", "ngth: 5\r\n\r\nhe", "llo"];
        let answer = ask(&server, &parts);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("X-More: 1\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nPOST /p Some(\"2\") Some(\"y\") hello"), "{answer}");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let server = echo();
        let long = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(HEAD_MAX + BODY_MAX));
        let bodies = ["70000", "-1", "x"].map(|n| format!("POST / HTTP/1.1\r\nContent-Length: {n}\r\n\r\n"));
        let others = ["rubbish\r\n\r\n", "GET / HTTP/1.1\r\n"].map(str::to_owned);
        for text in bodies.iter().chain(&others) {
            assert!(ask(&server, &[text]).starts_with("HTTP/1.1 400 "), "{text}");
        }
        // What is too long is not read to its end, so the answer may not arrive.
        let mut stream = TcpStream::connect(server.address()).unwrap();
        let _ = stream.write_all(long.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400 "));
        let twice = "GET / HTTP/1.1\r\nX-A: 1\r\nX-A: 2\r\n\r\n";
        assert!(ask(&server, &[twice]).ends_with("None None "), "a header that is given twice is none");
    }

    #[test]
    fn clients_that_send_slowly_keep_nobody_out() {
        let server = echo();
        let slow: Vec<TcpStream> = (0..10 * CONNECTIONS_MAX)
            .filter_map(|_| {
                let mut stream = TcpStream::connect(server.address()).ok()?;
                stream.write_all(b"GET / HT").ok()?;
                Some(stream)
            })
            .collect();
        assert!(slow.len() > CONNECTIONS_MAX);
        // A place is free as soon as the threads of those that were sent away have ended.
        let answered = (0..1_000).any(|_| {
            let Ok(mut stream) = TcpStream::connect(server.address()) else { return false };
            let _ = stream.write_all(b"GET /mine HTTP/1.1\r\nHost: x\r\n\r\n");
            let mut answer = String::new();
            let _ = stream.read_to_string(&mut answer);
            answer.starts_with("HTTP/1.1 200 ")
        });
        assert!(answered);
        drop(slow);
    }

    #[test]
    fn it_ends_although_a_client_says_nothing() {
        let server = echo();
        let silent = TcpStream::connect(server.address()).unwrap();
        let address = server.address();
        drop(server);
        assert!(TcpStream::connect(address).is_err());
        drop(silent);
    }
}
