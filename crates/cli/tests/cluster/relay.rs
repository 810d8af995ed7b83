//! A TCP relay between processes of a test, which delays, stalls, slows down and cuts connections.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Interval at which a stalled connection checks whether it can go on.
const CHECK: Duration = Duration::from_millis(5);

/// Moves the calling thread into a network namespace.
pub(crate) fn enter_namespace(path: &Path) {
    let namespace = std::fs::File::open(path).unwrap();
    let kind = Some(rustix::thread::LinkNameSpaceType::Network);
    rustix::thread::move_into_link_name_space(namespace.as_fd(), kind).unwrap();
}

/// The properties of the link.
#[derive(Debug, Default)]
pub(crate) struct Link {
    delay: Duration,
    bytes_per_second: Option<u64>,
    is_stalled: AtomicBool,
    connections: Mutex<Vec<TcpStream>>,
    /// Number of connections so far.
    pub(crate) accepted: AtomicU64,
    /// Number of bytes so far, in both directions.
    pub(crate) bytes: AtomicU64,
}

impl Link {
    /// A link that delays every byte, in each direction.
    pub(crate) fn slow(delay: Duration, bytes_per_second: u64) -> Arc<Link> {
        Arc::new(Link { delay, bytes_per_second: Some(bytes_per_second), ..Link::default() })
    }

    /// Stops or continues the transmission; connections stay open.
    pub(crate) fn set_stalled(&self, is_stalled: bool) {
        self.is_stalled.store(is_stalled, Ordering::Relaxed);
    }

    /// Ends all connections; bytes on the way are lost.
    pub(crate) fn cut(&self) {
        for connection in self.connections.lock().unwrap().drain(..) {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }

    /// Relays the connections of a listener to a target, which is in this network namespace or in the one of this process. The
    /// threads end with the process.
    pub(crate) fn relay(
        self: &Arc<Link>,
        listener: TcpListener,
        target: SocketAddr,
        namespace: Option<PathBuf>,
    ) {
        let link = Arc::clone(self);
        let connect = move || {
            if let Some(namespace) = namespace {
                enter_namespace(&namespace);
            }
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(target) else { continue };
                link.accepted.fetch_add(1, Ordering::Relaxed);
                link.join(&client, &server);
                link.join(&server, &client);
                link.connections.lock().unwrap().extend([client, server]);
            }
        };
        std::thread::spawn(connect);
    }

    /// Passes the bytes of one direction on.
    fn join(self: &Arc<Link>, from: &TcpStream, to: &TcpStream) {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let _ = (from.set_nodelay(true), to.set_nodelay(true));
        let (send, receive): (Sender<(Instant, Vec<u8>)>, Receiver<_>) = channel();
        let link = Arc::clone(self);
        std::thread::spawn(move || {
            for (received, bytes) in receive {
                link.wait(received, bytes.len());
                link.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                if to.write_all(&bytes).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
        std::thread::spawn(move || {
            let mut buffer = [0; 4_096];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                if send.send((Instant::now(), buffer[..read].to_vec())).is_err() {
                    break;
                }
            }
            let _ = from.shutdown(Shutdown::Both);
        });
    }

    /// Waits as long as these bytes are on the way.
    fn wait(&self, received: Instant, bytes: usize) {
        std::thread::sleep(self.delay.saturating_sub(received.elapsed()));
        if let Some(rate) = self.bytes_per_second {
            std::thread::sleep(Duration::from_secs_f64(bytes as f64 / rate as f64));
        }
        while self.is_stalled.load(Ordering::Relaxed) {
            std::thread::sleep(CHECK);
        }
    }
}
