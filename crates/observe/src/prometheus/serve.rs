//! Serves the latest values of a watch as a page of metrics.

use std::collections::HashMap;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use busyhour_program::clock::Clock;
use busyhour_series::{LatestValue, MetricKind};
use busyhour_server::exposition::{
    CONTENT_TYPE, ExpositionFamily, ExpositionSample, ExpositionType, write_exposition,
};
use busyhour_server::http::{Method, StatusCode};
use busyhour_server::{Request, Response, Server, ServerTls, respond, single_header};
use subtle::ConstantTimeEq as _;

use crate::store::SeriesStore;

/// The label that names the source of a series.
const SOURCE_LABEL: &str = "source";

/// Options for serving a watch.
#[derive(Clone)]
pub struct MetricsServerOptions {
    /// The token that requests must send as `Authorization: Bearer`; with `None`, requests need no token.
    pub token: Option<String>,
    /// The certificate and key for HTTPS; `None` serves HTTP.
    pub tls: Option<ServerTls>,
    /// Values older than this are left out: their source ended or fails.
    pub age_max: Duration,
}

impl Default for MetricsServerOptions {
    fn default() -> Self {
        Self { token: None, tls: None, age_max: Duration::from_secs(60) }
    }
}

impl std::fmt::Debug for MetricsServerOptions {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MetricsServerOptions").field("age_max", &self.age_max).finish_non_exhaustive()
    }
}

/// Serves `/metrics`; ends when it is dropped.
#[derive(Debug)]
pub struct MetricsServer {
    server: Server,
}

impl MetricsServer {
    /// Serves the latest values of `store`, whose times are those of `clock`, on a separate thread.
    ///
    /// # Errors
    /// The thread cannot be started, or the listener cannot be set to non-blocking mode.
    pub fn start(
        listener: TcpListener,
        store: SeriesStore,
        clock: Clock,
        options: MetricsServerOptions,
    ) -> io::Result<Self> {
        let tls = options.tls.clone();
        let handler = Arc::new(move |request: &Request| answer(request, &store, &clock, &options));
        let name = "observe-serve";
        let server = match tls {
            Some(tls) => Server::start_tls(listener, name, &tls, handler),
            None => Server::start(listener, name, handler),
        };
        Ok(Self { server: server? })
    }

    /// The address of the listener.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.server.address()
    }
}

fn answer(request: &Request, store: &SeriesStore, clock: &Clock, options: &MetricsServerOptions) -> Response {
    let plain = "text/plain; charset=utf-8";
    if let Some(token) = &options.token
        && !is_authorized(request, token)
    {
        let mut response =
            respond(StatusCode::UNAUTHORIZED, plain, "send the token as Authorization: Bearer TOKEN\n");
        let scheme = busyhour_server::http::HeaderValue::from_static("Bearer");
        response.headers_mut().insert(busyhour_server::http::header::WWW_AUTHENTICATE, scheme);
        return response;
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/metrics") => {
            let oldest = clock.now().0.saturating_sub(options.age_max.as_nanos() as u64);
            let mut values = store.latest();
            values.retain(|value| value.time.0 >= oldest);
            respond(StatusCode::OK, CONTENT_TYPE, exposition_text(&values))
        }
        (&Method::GET, _) => respond(StatusCode::NOT_FOUND, plain, "the metrics are at /metrics\n"),
        _ => respond(StatusCode::METHOD_NOT_ALLOWED, plain, "GET /metrics\n"),
    }
}

/// Whether the request has the token. The comparison takes the same time wherever the tokens differ.
fn is_authorized(request: &Request, token: &str) -> bool {
    let sent = single_header(request, "Authorization").and_then(|value| {
        let (scheme, sent) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("Bearer").then(|| sent.trim())
    });
    sent.is_some_and(|sent| bool::from(sent.as_bytes().ct_eq(token.as_bytes())))
}

/// The latest values of a watch in Prometheus's text format. Each series has the label `source`, unless it has one of this
/// name already.
#[must_use]
pub fn exposition_text(values: &[LatestValue]) -> String {
    let mut families: Vec<ExpositionFamily<'_>> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for value in values {
        let at = *known.entry(&value.name).or_insert_with(|| {
            families.push(ExpositionFamily {
                name: &value.name,
                family_type: match value.kind {
                    MetricKind::Counter => ExpositionType::Counter,
                    MetricKind::Gauge => ExpositionType::Gauge,
                },
                help: &value.help,
                samples: Vec::new(),
            });
            families.len() - 1
        });
        let mut labels: Vec<(&str, &str)> =
            value.labels.iter().map(|(name, text)| (&**name, &**text)).collect();
        if !labels.iter().any(|(name, _)| *name == SOURCE_LABEL) {
            labels.push((SOURCE_LABEL, &value.source));
        }
        families[at].samples.push(ExpositionSample { labels, value: value.value.into(), stamp_ms: None });
    }
    let mut text = String::new();
    write_exposition(&families, &mut text);
    text
}
