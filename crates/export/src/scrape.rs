//! An HTTP endpoint for scrapes.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_record::Snapshot;

use crate::{ExportError, Exporter, Exposition, HttpAnswer, HttpRequest, HttpServer, exposition_protobuf};

/// Serves `/metrics`; ends when it is dropped.
#[derive(Debug)]
pub struct ScrapeServer {
    server: HttpServer,
    shared: Arc<Mutex<Exposition>>,
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
        let shared = Arc::new(Mutex::new(Exposition::new(plan)));
        let shown = Arc::clone(&shared);
        let handler = move |request: &HttpRequest, stream: &mut TcpStream| answer(request, stream, &shown);
        let server = HttpServer::start(TcpListener::bind(address)?, "metrics", Arc::new(handler))?;
        let exporter = ScrapeExporter(Arc::clone(&shared));
        Ok((ScrapeServer { server, shared }, exporter))
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// What a scrape shows now.
    #[must_use]
    pub fn text(&self) -> String {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

impl Exporter for ScrapeExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).second(snapshot)
    }
}

fn answer(request: &HttpRequest, stream: &mut TcpStream, shown: &Mutex<Exposition>) -> io::Result<()> {
    let collected = || shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (status, kind, body) = match (request.method.as_str(), request.path()) {
        ("GET", "/metrics") if request.header("Accept").is_some_and(exposition_protobuf::is_accepted) => {
            ("200 OK", exposition_protobuf::CONTENT_TYPE, collected().protobuf())
        }
        ("GET", "/metrics") => {
            ("200 OK", "text/plain; version=0.0.4; charset=utf-8", collected().text().into_bytes())
        }
        ("GET", _) => ("404 Not Found", "text/plain", b"the metrics are at /metrics\n".to_vec()),
        _ => ("400 Bad Request", "text/plain", b"GET /metrics\n".to_vec()),
    };
    HttpAnswer { status, kind, headers: "", body: &body }.send(stream)
}
