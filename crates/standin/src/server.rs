//! The listening side: one thread per connection, every request written down before it is answered.

use std::io::{self, BufReader, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::answers::{Answer, State};
use crate::request::Request;

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

/// A recording HTTP server on a loopback port of its own; it stops when dropped.
///
/// What it answers depends on the path alone (see the `answers` module), never on time or chance, so that
/// two clients that send the same get the same bytes.
pub struct StandIn {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Starts listening on a free loopback port.
    ///
    /// The port has five digits, so that lengths that include it (a `Host` header) do not vary.
    ///
    /// # Errors
    /// Fails when no port can be had.
    pub fn start() -> io::Result<Self> {
        let mut short = Vec::new();
        let listener = loop {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            if listener.local_addr()?.port() >= 10_000 {
                break listener;
            }
            // Held until the search ends: a port given back at once would be offered again.
            short.push(listener);
        };
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared::default());
        let acceptor = {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("standin".into()).spawn(move || accept(&listener, &shared))?
        };
        Ok(Self { port, shared, acceptor: Some(acceptor) })
    }

    /// The port that the server listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Everything received so far, in the order of arrival; the record starts anew.
    #[must_use]
    pub fn take_record(&self) -> Vec<Received> {
        std::mem::take(&mut lock(&self.shared.record).received)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // The acceptor sleeps in accept(): a connection wakes it, and it sees the flag.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
        if let Some(acceptor) = self.acceptor.take() {
            drop(acceptor.join());
        }
        for socket in lock(&self.shared.sockets).drain(..) {
            drop(socket.shutdown(Shutdown::Both));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopping.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if let Ok(socket) = stream.try_clone() {
            lock(&shared.sockets).push(socket);
        }
        let shared = Arc::clone(shared);
        thread::spawn(move || {
            // A broken connection is the client's affair: what it sent until then is in the record.
            drop(serve(&stream, &shared));
            drop(stream.shutdown(Shutdown::Both));
        });
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    let mut number = None;
    while let Some(request) = Request::read(&mut reader)? {
        {
            let mut record = lock(&shared.record);
            let connection = *number.get_or_insert_with(|| {
                record.connections += 1;
                record.connections
            });
            record.received.push(Received { connection, request: request.clone() });
        }
        let Answer { bytes, close, delay } = shared.state.answer(&request);
        if let Some(delay) = delay {
            thread::sleep(delay);
        }
        (&*stream).write_all(&bytes)?;
        if close {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

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
