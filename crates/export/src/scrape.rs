//! An HTTP endpoint for scrapes.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_sample::Snapshot;
use busyhour_server::http::{Method, StatusCode};
use busyhour_server::{Request, Response, Server, exposition, respond, single_header};

use crate::{ExportError, Exporter, Exposition, LatestSeries, exposition_protobuf};

/// Serves `/metrics` until it is dropped.
#[derive(Debug)]
pub struct ScrapeServer {
    server: Server,
    shared: Arc<Mutex<Exposition>>,
}

/// Updates the metrics of a [`ScrapeServer`].
#[derive(Debug)]
pub struct ScrapeExporter(Arc<Mutex<Exposition>>);

impl ScrapeServer {
    /// Starts a server at `address` (with port 0, at a free port) for a run of `plan`.
    ///
    /// # Errors
    /// If the server cannot listen at the address.
    pub fn start(address: impl ToSocketAddrs, plan: &str) -> io::Result<(ScrapeServer, ScrapeExporter)> {
        let shared = Arc::new(Mutex::new(Exposition::new(plan)));
        let shown = Arc::clone(&shared);
        let handler = move |request: &Request| answer(request, &shown);
        let server = Server::start(TcpListener::bind(address)?, "metrics", Arc::new(handler))?;
        let exporter = ScrapeExporter(Arc::clone(&shared));
        Ok((ScrapeServer { server, shared }, exporter))
    }

    /// The address of the server.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// The current response to a scrape in text format.
    #[must_use]
    pub fn text(&self) -> String {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

impl ScrapeExporter {
    /// Adds the observed series of the system under test to each scrape.
    pub fn set_series(&self, series: LatestSeries) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).set_series(series);
    }
}

impl Exporter for ScrapeExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).second(snapshot)
    }
}

fn answer(request: &Request, shown: &Mutex<Exposition>) -> Response {
    let collected = || shown.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics")
            if single_header(request, "Accept").is_some_and(exposition_protobuf::is_accepted) =>
        {
            respond(StatusCode::OK, exposition_protobuf::CONTENT_TYPE, collected().protobuf())
        }
        (&Method::GET, "/metrics") => respond(StatusCode::OK, exposition::CONTENT_TYPE, collected().text()),
        (&Method::GET, _) => respond(StatusCode::NOT_FOUND, "text/plain", "the metrics are at /metrics\n"),
        _ => respond(StatusCode::BAD_REQUEST, "text/plain", "GET /metrics\n"),
    }
}
