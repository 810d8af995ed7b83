//! The live page's server: the page, its events, and orders.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use busyhour_record::ChangedFrom;
use busyhour_report::{EVENTS_PATH, LivePage, live_html};
use busyhour_server::http::{HeaderValue, Method, StatusCode};
use busyhour_server::{Body, Request, Response, Server, respond};

use crate::access::{Access, Token};
use crate::events;
use crate::follow::{Follower, lock};
use crate::hub::Hub;
use crate::live_run::LiveRun;
use crate::slices::Grown;
use crate::steering::{Order, Steering};

/// Headers of all responses: no caching, no type sniffing, no framing.
const HEADERS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// What the page shows of the run's settings.
#[derive(Debug, Clone, Default)]
pub struct PageSettings {
    /// The run's name.
    pub title: String,
    /// The requested load, as text.
    pub requested: String,
    /// Why the rate cannot be changed; `None` when it can.
    pub fixed_rate: Option<String>,
    /// Where the report will be written.
    pub report: String,
    /// Whether other machines may connect.
    pub allow_remote: bool,
}

/// Why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not valid.
    #[error("{address} is no address of the form HOST:PORT")]
    Address {
        /// The address as given.
        address: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Other machines could connect.
    #[error(
        "{0} can be reached from other machines, whose users could steer the run if they saw the page's address"
    )]
    Remote(SocketAddr),
    /// No token can be created, and without one anyone could control the run.
    #[error("the system has no random numbers for the page's token")]
    Token(#[source] rand::rand_core::OsError),
    /// The server cannot listen.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        #[source]
        source: io::Error,
    },
}

/// State shared by the threads of the server.
struct Shared {
    access: Access,
    html: String,
    hub: Hub,
    run: Arc<Mutex<LiveRun>>,
    steering: Arc<dyn Steering>,
    unwritten: AtomicU64,
}

impl Shared {
    fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }

    fn broadcast(&self, run: &LiveRun, event: &Arc<str>) {
        self.hub.broadcast(event, || events::model(run, &self.steering.state(), self.unwritten()));
    }
}

/// Serves the page of a run until the run has ended.
pub struct PageServer {
    shared: Arc<Shared>,
    server: Server,
}

impl std::fmt::Debug for PageServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PageServer").field("address", &self.server.address()).finish_non_exhaustive()
    }
}

impl PageServer {
    /// Listens at `address` (port 0 takes a free one) and shows the run that `follower` follows.
    ///
    /// # Errors
    /// The address is not valid or not available, or other machines could connect and that was not allowed.
    pub fn start(
        address: &str,
        settings: &PageSettings,
        follower: &Follower,
        steering: Arc<dyn Steering>,
    ) -> Result<PageServer, ServeError> {
        let no_address = |source| ServeError::Address { address: address.to_owned(), source };
        let found = address.to_socket_addrs().map_err(no_address)?.next();
        let found = found.ok_or_else(|| no_address(io::Error::other("the name has no address")))?;
        if !found.ip().is_loopback() && !settings.allow_remote {
            return Err(ServeError::Remote(found));
        }
        let cannot = |source| ServeError::Listen { address: found, source };
        let listener = TcpListener::bind(found).map_err(cannot)?;
        let bound = listener.local_addr().map_err(cannot)?;
        let page = LivePage {
            title: &settings.title,
            requested: &settings.requested,
            fixed_rate: settings.fixed_rate.as_deref(),
            report: &settings.report,
        };
        let shared = Arc::new(Shared {
            access: Access { token: Token::new().map_err(ServeError::Token)?, address: bound },
            html: live_html(&page),
            hub: Hub::default(),
            run: follower.shared(),
            steering,
            unwritten: AtomicU64::new(0),
        });
        let (answering, sending) = (Arc::clone(&shared), Arc::clone(&shared));
        let handler = move |request: &Request| {
            let mut response = answer(&answering, request);
            let headers = HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value)));
            for (name, value) in headers {
                response.headers_mut().insert(name, value);
            }
            response
        };
        let server = Server::start(listener, "live page", Arc::new(handler)).map_err(cannot)?;
        follower.on_second(Box::new(move |run, grown| {
            let (state, unwritten) = (sending.steering.state(), sending.unwritten());
            let event = match grown {
                Grown::Last => events::second(run, &state, unwritten),
                Grown::All => Some(events::model(run, &state, unwritten)),
            };
            if let Some(event) = event {
                sending.broadcast(run, &event);
            }
        }));
        Ok(PageServer { shared, server })
    }

    /// The page's address with its token, which allows to view and control the run.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.server.address(), self.shared.access.token.as_str())
    }

    /// Sets the number of results that could not be written so far.
    pub fn note_unwritten(&self, count: u64) {
        self.shared.unwritten.store(count, Ordering::Relaxed);
    }

    /// Sends the current state to pages before the next second.
    pub fn publish_state(&self) {
        let run = lock(&self.shared.run);
        let event = events::status("status", &run, &self.shared.steering.state(), self.shared.unwritten());
        self.shared.broadcast(&run, &event);
    }

    /// Sends the end of the run to pages, and stops.
    pub fn finish(self) {
        let run = lock(&self.shared.run);
        let event = events::status("end", &run, &self.shared.steering.state(), self.shared.unwritten());
        drop(run);
        self.shared.hub.end(&event);
        drop(self.server);
    }
}

fn answer(shared: &Shared, request: &Request) -> Response {
    let text = |status, body: String| respond(status, "text/plain; charset=utf-8", body);
    // Browsers ask for it without the token.
    if *request.method() == Method::GET && request.uri().path() == "/favicon.ico" {
        return text(StatusCode::NO_CONTENT, String::new());
    }
    let is_allowed = match *request.method() {
        Method::GET => shared.access.may_read(request),
        Method::POST => shared.access.may_steer(request),
        _ => return text(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are supported\n".into()),
    };
    if !is_allowed {
        let why = "open the complete address that the run has printed; it contains a token\n";
        return text(StatusCode::FORBIDDEN, why.into());
    }
    match (request.method(), request.uri().path()) {
        (&Method::GET, "/") => respond(StatusCode::OK, "text/html; charset=utf-8", shared.html.clone()),
        (&Method::GET, EVENTS_PATH) => respond(StatusCode::OK, "text/event-stream", subscribe(shared)),
        (&Method::POST, "/order") => {
            let order = match serde_json::from_slice::<Order>(request.body()) {
                Ok(order) => order,
                Err(error) => return text(StatusCode::BAD_REQUEST, format!("invalid order: {error}\n")),
            };
            if let Err(why) = shared.steering.order(order, ChangedFrom::Page) {
                return text(StatusCode::CONFLICT, why.into());
            }
            let run = lock(&shared.run);
            let event = events::status("status", &run, &shared.steering.state(), shared.unwritten());
            shared.broadcast(&run, &event);
            text(StatusCode::OK, "done\n".into())
        }
        _ => text(StatusCode::NOT_FOUND, "there is no such page\n".into()),
    }
}

/// The events of a new client, from a complete model to the end of the run.
fn subscribe(shared: &Shared) -> Body {
    // Lock order everywhere: the run's state, then the hub.
    let run = lock(&shared.run);
    Body::events(shared.hub.listen(|| events::model(&run, &shared.steering.state(), shared.unwritten())))
}

#[cfg(test)]
mod tests;
