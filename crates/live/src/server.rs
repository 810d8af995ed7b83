//! The server of the live page: the page, its events, and commands.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use busyhour_launch::{Command, CommandHandler, CommandSource, RunEvent, RunInfo};
use busyhour_report::{EVENTS_PATH, LivePage, live_html};
use busyhour_server::http::{HeaderValue, Method, StatusCode};
use busyhour_server::{Body, Request, Response, Server, respond};

use crate::access::{Access, Token};
use crate::events;
use crate::follow::{Changed, LiveView, lock};
use crate::hub::Hub;
use crate::live_run::LiveRun;
use crate::slices::SliceChange;

/// Headers of all responses: no caching, no type sniffing, no framing.
const HEADERS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("content-security-policy", "frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// The settings of the run that the page shows.
#[derive(Debug, Clone, Default)]
pub struct PageSettings {
    /// The run's name.
    pub title: String,
    /// The requested load as a text.
    pub requested: String,
    /// The reason why the rate cannot be changed; `None` if it can be changed.
    pub fixed_rate: Option<String>,
    /// The path at which the report will be after the run.
    pub report: String,
    /// Whether other machines may connect.
    pub allow_remote: bool,
}

/// The reason why the page cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is not valid.
    #[error("{address} is not an address of the form HOST:PORT")]
    Address {
        /// The address as given.
        address: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// Other machines could connect, which is not allowed.
    #[error(
        "{0} can be reached from other machines, whose users could steer the run if they saw the page's address"
    )]
    Remote(SocketAddr),
    /// No token can be created. Without a token, anyone could control the run.
    #[error("cannot create the token of the page: the system provides no random numbers")]
    Token(#[source] rand::rand_core::OsError),
    /// The server cannot listen.
    #[error("cannot listen at {address}")]
    Listen {
        /// The address at which the server should listen.
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
    control: Arc<dyn CommandHandler>,
    unwritten: AtomicU64,
}

impl PageSettings {
    /// The page settings for a run.
    #[must_use]
    pub fn of_run(run: &RunInfo, allow_remote: bool) -> PageSettings {
        let requested =
            if run.processes.is_empty() { "Users of the plan".into() } else { run.processes.join(" + ") };
        PageSettings {
            title: run.title.clone(),
            requested,
            fixed_rate: run.fixed_rate.clone(),
            report: run.report.display().to_string(),
            allow_remote,
        }
    }
}

impl Shared {
    fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }

    /// Sends a change to all connected pages.
    fn send(&self, run: &LiveRun, changed: Changed<'_>) {
        if let Changed::Event(RunEvent::FileLost { failures }) = changed {
            self.unwritten.store(*failures as u64, Ordering::Relaxed);
        }
        let (state, unwritten) = (self.control.state(), self.unwritten());
        let event = match changed {
            Changed::Second(SliceChange::Last) => events::second(run, &state, unwritten),
            Changed::Second(SliceChange::All) => Some(events::model(run, &state, unwritten)),
            Changed::Event(
                RunEvent::FileLost { .. } | RunEvent::PhaseChanged(_) | RunEvent::LoadChanged(_),
            ) => Some(events::status("status", run, &state, unwritten)),
            Changed::Event(_) => None,
        };
        if let Some(event) = event {
            self.broadcast(run, &event);
        }
    }

    fn broadcast(&self, run: &LiveRun, event: &Arc<str>) {
        self.hub.broadcast(event, || events::model(run, &self.control.state(), self.unwritten()));
    }
}

/// Serves the live page until the run has ended.
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
    /// Listens at `address` and shows the run of `view`. Port 0 selects a free port.
    ///
    /// # Errors
    /// If the address is invalid or not available, or if other machines could connect and `allow_remote` is not set.
    pub fn start(
        address: &str,
        settings: &PageSettings,
        view: &LiveView,
        control: Arc<dyn CommandHandler>,
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
            run: view.shared(),
            control,
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
        view.on_change(Box::new(move |run, changed| sending.send(run, changed)));
        Ok(PageServer { shared, server })
    }

    /// The page's address with its token. Anyone with this address can view and control the run.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.server.address(), self.shared.access.token.as_str())
    }

    /// Sends the end of the run to the pages, and stops the server.
    pub fn finish(self) {
        let run = lock(&self.shared.run);
        let event = events::status("end", &run, &self.shared.control.state(), self.shared.unwritten());
        drop(run);
        self.shared.hub.end(&event);
        drop(self.server);
    }
}

fn answer(shared: &Shared, request: &Request) -> Response {
    let text = |status, body: String| respond(status, "text/plain; charset=utf-8", body);
    // Browsers request the icon without the token.
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
            let command = match serde_json::from_slice::<Command>(request.body()) {
                Ok(command) => command,
                Err(error) => return text(StatusCode::BAD_REQUEST, format!("invalid command: {error}\n")),
            };
            if let Err(why) = shared.control.execute(command, CommandSource::Page) {
                return text(StatusCode::CONFLICT, why.to_string());
            }
            let run = lock(&shared.run);
            let event = events::status("status", &run, &shared.control.state(), shared.unwritten());
            shared.broadcast(&run, &event);
            text(StatusCode::OK, "done\n".into())
        }
        _ => text(StatusCode::NOT_FOUND, "there is no such page\n".into()),
    }
}

/// The event stream of a new client: from a complete model to the end of the run.
fn subscribe(shared: &Shared) -> Body {
    // All code locks the run's state before the hub.
    let run = lock(&shared.run);
    Body::events(shared.hub.listen(|| events::model(&run, &shared.control.state(), shared.unwritten())))
}

#[cfg(test)]
mod tests;
