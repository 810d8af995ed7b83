//! Configurable test servers.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

/// Handles a request, given the lines of its head; returns false to end the connection.
type Behaviour = dyn Fn(&mut TcpStream, &[String]) -> bool + Send + Sync;

/// A server on a free loopback port with one thread per connection. Open connections end with the test process.
pub(crate) struct Server {
    port: u16,
    requests: Arc<AtomicUsize>,
    stopping: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(
        behaviour: impl Fn(&mut TcpStream, &[String]) -> bool + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(AtomicUsize::new(0));
        let stopping = Arc::new(AtomicBool::new(false));
        let behaviour: Arc<Behaviour> = Arc::new(behaviour);
        let (count, stop) = (Arc::clone(&requests), Arc::clone(&stopping));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (behaviour, count) = (Arc::clone(&behaviour), Arc::clone(&count));
                std::thread::spawn(move || converse(stream, &*behaviour, &count));
            }
        });
        Self { port, requests, stopping }
    }

    /// Responds immediately to all requests with status 200 and two bytes.
    pub(crate) fn quick() -> Self {
        Self::start(|stream, _| answer(stream))
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The thread is blocked in accept().
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)));
    }
}

fn converse(mut stream: TcpStream, behaviour: &Behaviour, requests: &AtomicUsize) {
    let Ok(copy) = stream.try_clone() else { return };
    let mut lines = BufReader::new(copy).lines();
    loop {
        let mut head = Vec::new();
        loop {
            match lines.next() {
                Some(Ok(line)) if line.is_empty() => break,
                Some(Ok(line)) => head.push(line),
                _ => return,
            }
        }
        requests.fetch_add(1, Ordering::SeqCst);
        if !behaviour(&mut stream, &head) {
            return;
        }
    }
}

/// Sends a small response; returns whether it was sent.
pub(crate) fn answer(stream: &mut TcpStream) -> bool {
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_ok()
}

/// Blocks requests until a test opens it.
#[derive(Clone, Default)]
pub(crate) struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    pub(crate) fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }

    pub(crate) fn wait(&self) {
        let mut open = self.0.0.lock().unwrap();
        while !*open {
            open = self.0.1.wait(open).unwrap();
        }
    }
}

/// A port that refuses connections and is reserved while this exists, because it is bound but not listening.
pub(crate) struct ClosedPort(socket2::Socket);

impl ClosedPort {
    pub(crate) fn new() -> Self {
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&std::net::SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
        Self(socket)
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().as_socket().unwrap().port()
    }
}
