//! The broker: a front end with a fixed number of agents.
//!
//! A request for records waits in a queue for a free agent. The agent waits for the time in `msdelay`, then makes the
//! records. With N agents and a delay of d, the capacity is N/d requests per second, as long as the processor is fast enough;
//! therefore, measurements can be compared with predictions.
//!
//! The two front ends differ only in how requests get to the queue: the thread of the connection puts them there, or it
//! starts a process that asks for the records, as a web server does with CGI.

mod cgi;
mod connection;
mod front;
mod histogram;
mod metrics;
mod options;
mod parameters;
mod pool;
#[cfg_attr(not(unix), path = "broker/process_missing.rs")]
mod process;
mod records;
mod reply;

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use cgi::{CgiRequest, answer_cgi_request};
pub use options::{BROKER_AGENTS_MAX, BROKER_QUEUE_MAX, BrokerFront, BrokerOptions, BrokerProgram};

use front::Broker;
use options::CONNECTIONS_MAX;
use reply::Reply;

/// Stack size of the thread of a connection; there can be thousands.
const STACK_BYTES: usize = 256 * 1024;

/// The pause after a failed `accept`, which would otherwise fail again immediately.
const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// The open connections by number.
type Connections = Mutex<HashMap<u64, Arc<TcpStream>>>;

/// The data that the threads of a broker share.
#[derive(Debug)]
struct Shared {
    broker: Broker,
    connections: Connections,
    is_closing: AtomicBool,
}

impl Shared {
    fn with_connections<T>(&self, work: impl FnOnce(&mut HashMap<u64, Arc<TcpStream>>) -> T) -> T {
        work(&mut self.connections.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A running broker. Dropping this value ends its agents, connections and processes.
#[derive(Debug)]
pub struct BrokerServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    accepting: Option<JoinHandle<()>>,
}

impl BrokerServer {
    /// Starts a broker on a listening socket of [`listen`](crate::listen).
    ///
    /// # Errors
    /// The options exceed a limit, or the system cannot start the threads.
    pub fn start(listener: TcpListener, options: BrokerOptions) -> io::Result<Self> {
        if options.agents.get() > BROKER_AGENTS_MAX || options.queue > BROKER_QUEUE_MAX {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many agents, or too long a queue"));
        }
        if cfg!(not(unix)) && options.front.has_processes() {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a process per request needs Unix"));
        }
        listener.set_nonblocking(false)?;
        let address = listener.local_addr()?;
        let broker = Broker::start(options)?;
        let (connections, is_closing) = (Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { broker, connections, is_closing });
        let accepting = {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name("accept".into()).spawn(move || accept(&listener, &shared))?
        };
        Ok(Self { shared, address, accepting: Some(accepting) })
    }

    /// The address on which the broker listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for BrokerServer {
    fn drop(&mut self) {
        self.shared.is_closing.store(true, Ordering::SeqCst);
        self.shared.broker.pool.close();
        // The thread is blocked in `accept`.
        let port = self.address.port();
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok();
        if let Some(accepting) = self.accepting.take().filter(|_| woken) {
            let _ = accepting.join();
        }
        self.shared.with_connections(|connections| {
            for stream in connections.values() {
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
    }
}

/// Accepts connections until the broker is closing.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for number in 0.. {
        let accepted = listener.accept();
        if shared.is_closing.load(Ordering::SeqCst) {
            return;
        }
        match accepted {
            Ok((stream, _)) => open(stream, number, shared),
            // The usual cause is that there is no free file descriptor.
            Err(_) => shared.broker.pool.wait_until_closed(ACCEPT_PAUSE),
        }
    }
}

/// Serves a connection on a new thread.
fn open(stream: TcpStream, number: u64, shared: &Arc<Shared>) {
    if !shared.broker.metrics.open_connection(CONNECTIONS_MAX) {
        let reply = Reply::text(503, format!("there are {CONNECTIONS_MAX} connections already\n"));
        let _ = (&stream).write_all(&[reply.head(false), reply.body].concat());
        return;
    }
    let guard = OpenConnection { stream: Arc::new(stream), number, shared: Arc::clone(shared) };
    shared.with_connections(|connections| connections.insert(number, Arc::clone(&guard.stream)));
    let thread = std::thread::Builder::new().name("connection".into()).stack_size(STACK_BYTES);
    // If there is no thread, the guard is dropped, which closes the connection.
    let _ = thread.spawn(move || {
        // An error means that the client has disconnected, or took too long.
        let _ = connection::serve(&guard.shared.broker, &guard.stream);
    });
}

/// A connection, which is closed when this is dropped.
struct OpenConnection {
    stream: Arc<TcpStream>,
    number: u64,
    shared: Arc<Shared>,
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.shared.with_connections(|connections| connections.remove(&self.number));
        self.shared.broker.metrics.close_connection();
    }
}
