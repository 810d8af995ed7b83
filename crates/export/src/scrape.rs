//! An HTTP endpoint for scrapes.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_record::Snapshot;

use crate::{ExportError, Exporter, Exposition};

/// Longest head of a request that is read.
const HEAD_MAX: usize = 16 << 10;

/// How long a scraper may take over its request and its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves `/metrics`; ends when it is dropped.
#[derive(Debug)]
pub struct ScrapeServer {
    address: SocketAddr,
    shared: Arc<Mutex<Exposition>>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Gives a [`ScrapeServer`] what it shows.
#[derive(Debug)]
pub struct ScrapeExporter(Arc<Mutex<Exposition>>);

impl ScrapeServer {
    /// Listens at `address` (port 0 takes a free one) and shows a run of `plan`.
    ///
    /// # Errors
    /// The address cannot be listened at.
    pub fn start(address: impl ToSocketAddrs, plan: &str) -> io::Result<(ScrapeServer, ScrapeExporter)> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Mutex::new(Exposition::new(plan)));
        let stopping = Arc::new(AtomicBool::new(false));
        let (shown, stop) = (Arc::clone(&shared), Arc::clone(&stopping));
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                // A scraper that goes away, or sends rubbish, is no concern of the run.
                let _ = stream.and_then(|stream| answer(stream, &shown));
            }
        })?;
        let exporter = ScrapeExporter(Arc::clone(&shared));
        Ok((ScrapeServer { address, shared, stopping, thread: Some(thread) }, exporter))
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a scrape shows now.
    #[must_use]
    pub fn text(&self) -> String {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

impl Drop for ScrapeServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::SeqCst);
        // The thread sleeps in accept().
        drop(TcpStream::connect_timeout(&self.address, PATIENCE));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Exporter for ScrapeExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).second(snapshot)
    }
}

fn answer(mut stream: TcpStream, shown: &Mutex<Exposition>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut head, mut chunk) = (Vec::new(), [0; 2_048]);
    let target = loop {
        let read = stream.read(&mut chunk)?;
        if read == 0 || head.len() + read > HEAD_MAX {
            return Ok(());
        }
        head.extend_from_slice(&chunk[..read]);
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut request = httparse::Request::new(&mut headers);
        match request.parse(&head) {
            Ok(httparse::Status::Complete(_)) => {
                break (request.method == Some("GET"), request.path.map(str::to_owned));
            }
            Ok(httparse::Status::Partial) => {}
            Err(_) => break (false, None),
        }
    };
    let path = target.1.as_deref().map(|path| path.split('?').next().unwrap_or_default().to_owned());
    let (status, kind, body) = match (target.0, path.as_deref()) {
        (true, Some("/metrics")) => {
            let text = shown.lock().unwrap_or_else(PoisonError::into_inner).clone().text();
            ("200 OK", "text/plain; version=0.0.4; charset=utf-8", text)
        }
        (true, _) => ("404 Not Found", "text/plain", "the metrics are at /metrics\n".to_owned()),
        _ => ("400 Bad Request", "text/plain", "GET /metrics\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}
