//! A server in this process that sends the responses of the current case.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// The first byte of a TLS handshake.
const HANDSHAKE: u8 = 0x16;

/// The read timeout, which ends the threads of idle connections.
const IDLE_MAX: Duration = Duration::from_secs(5);

/// A response, and whether the connection is closed after it.
pub struct Response {
    pub wire: Vec<u8>,
    pub closes: bool,
}

/// The behaviour of the server during one case, and its counters.
#[derive(Default)]
pub struct Script {
    pub responses: VecDeque<Response>,
    pub tls: Option<Arc<rustls::ServerConfig>>,
    pub requests: usize,
    pub sent_bytes: u64,
}

/// The script of one case.
pub type SharedScript = Arc<Mutex<Script>>;

/// The server for all cases: one port per case would exhaust the ports during fuzzing.
pub struct Peer {
    pub port: u16,
    current: Arc<Mutex<SharedScript>>,
}

impl Peer {
    /// The server of this process.
    pub fn shared() -> &'static Self {
        static PEER: OnceLock<Peer> = OnceLock::new();
        PEER.get_or_init(Self::start)
    }

    /// Uses this script for all new connections.
    pub fn use_script(&self, script: Script) -> SharedScript {
        let script = Arc::new(Mutex::new(script));
        *self.current.lock().unwrap() = Arc::clone(&script);
        script
    }

    fn start() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let current = Arc::<Mutex<SharedScript>>::default();
        let shared = Arc::clone(&current);
        std::thread::spawn(move || {
            for tcp in listener.incoming().flatten() {
                let script = Arc::clone(&shared.lock().unwrap());
                std::thread::spawn(move || accept(tcp, &script));
            }
        });
        Self { port, current }
    }
}

/// Serves a connection; closes it if it uses TLS and the script does not, or vice versa.
fn accept(mut tcp: TcpStream, script: &SharedScript) {
    let _ = tcp.set_nodelay(true);
    let _ = tcp.set_read_timeout(Some(IDLE_MAX));
    let mut byte = [0];
    let is_secure = matches!(tcp.peek(&mut byte), Ok(1)) && byte[0] == HANDSHAKE;
    let tls = script.lock().unwrap().tls.clone();
    match tls {
        Some(config) if is_secure => {
            let Ok(session) = rustls::ServerConnection::new(config) else { return };
            let mut wire = rustls::StreamOwned::new(session, tcp);
            serve(&mut wire, script);
            wire.conn.send_close_notify();
            let _ = wire.flush();
        }
        None if !is_secure => serve(&mut tcp, script),
        Some(_) | None => {}
    }
}

fn serve(wire: &mut (impl Read + Write), script: &SharedScript) {
    while read_head(wire).is_some() {
        let response = {
            let mut script = script.lock().unwrap();
            script.requests += 1;
            let response = script.responses.pop_front().unwrap_or_else(|| Response {
                wire: b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_vec(),
                closes: false,
            });
            script.sent_bytes += response.wire.len() as u64;
            response
        };
        if wire.write_all(&response.wire).and_then(|()| wire.flush()).is_err() || response.closes {
            return;
        }
    }
}

/// Reads to the end of a request without a body; `None` if the client has closed the connection.
fn read_head(wire: &mut impl Read) -> Option<()> {
    let mut head = Vec::new();
    let mut piece = [0; 4096];
    while !head.ends_with(b"\r\n\r\n") {
        let count = wire.read(&mut piece).ok().filter(|count| *count > 0)?;
        head.extend_from_slice(&piece[..count]);
    }
    Some(())
}
