//! The live page's server: the page, its events, and orders.

use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use busyhour_export::{HttpAnswer, HttpRequest, HttpServer};
use busyhour_record::ChangedFrom;
use busyhour_report::{EVENTS_PATH, LivePage, live_html};

use crate::access::{Access, Token};
use crate::course::Course;
use crate::events;
use crate::follow::{Follower, lock};
use crate::hub::Hub;
use crate::slices::Grown;
use crate::steering::{Order, Steering};

/// Interval without events after which a line is sent to detect disconnected clients.
const QUIET_MAX: Duration = Duration::from_secs(10);

/// Headers of all responses: no caching, no type sniffing, no framing.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
     Content-Security-Policy: frame-ancestors 'none'\r\nCross-Origin-Resource-Policy: same-origin\r\n";

/// What the page shows of the run's settings.
#[derive(Debug, Clone, Default)]
pub struct PageSettings {
    /// The run's name.
    pub title: String,
    /// The requested load, as text.
    pub asked: String,
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
    course: Arc<Mutex<Course>>,
    steering: Arc<dyn Steering>,
    unwritten: AtomicU64,
}

impl Shared {
    fn unwritten(&self) -> u64 {
        self.unwritten.load(Ordering::Relaxed)
    }

    fn tell_all(&self, course: &Course, event: &Arc<str>) {
        self.hub.tell(event, || events::whole(course, &self.steering.state(), self.unwritten()));
    }
}

/// Serves the page of a run until the run has ended.
pub struct PageServer {
    shared: Arc<Shared>,
    server: HttpServer,
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
            asked: &settings.asked,
            fixed_rate: settings.fixed_rate.as_deref(),
            report: &settings.report,
        };
        let shared = Arc::new(Shared {
            access: Access { token: Token::new().map_err(ServeError::Token)?, address: bound },
            html: live_html(&page),
            hub: Hub::default(),
            course: follower.shared(),
            steering,
            unwritten: AtomicU64::new(0),
        });
        let (answering, telling) = (Arc::clone(&shared), Arc::clone(&shared));
        let handler =
            move |request: &HttpRequest, stream: &mut TcpStream| answer(&answering, request, stream);
        let server = HttpServer::start(listener, "live page", Arc::new(handler)).map_err(cannot)?;
        follower.on_second(Box::new(move |course, grown| {
            let (state, unwritten) = (telling.steering.state(), telling.unwritten());
            let event = match grown {
                Grown::Last => events::second(course, &state, unwritten),
                Grown::All => Some(events::whole(course, &state, unwritten)),
            };
            if let Some(event) = event {
                telling.tell_all(course, &event);
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
    pub fn tell_state(&self) {
        let course = lock(&self.shared.course);
        let event = events::tell("tell", &course, &self.shared.steering.state(), self.shared.unwritten());
        self.shared.tell_all(&course, &event);
    }

    /// Sends the end of the run to pages, and stops.
    pub fn finish(self) {
        let course = lock(&self.shared.course);
        let event = events::tell("end", &course, &self.shared.steering.state(), self.shared.unwritten());
        drop(course);
        self.shared.hub.end(&event);
        drop(self.server);
    }
}

fn answer(shared: &Arc<Shared>, request: &HttpRequest, stream: &mut TcpStream) -> io::Result<()> {
    let refuse = |stream: &mut TcpStream, status: &str, body: &str| {
        let (kind, body) = ("text/plain; charset=utf-8", body.as_bytes());
        HttpAnswer { status, kind, headers: HEADERS, body }.send(stream)
    };
    let is_let_in = match request.method.as_str() {
        "GET" => shared.access.may_read(request),
        "POST" => shared.access.may_steer(request),
        _ => return refuse(stream, "405 Method Not Allowed", "GET and POST\n"),
    };
    if !is_let_in {
        return refuse(
            stream,
            "403 Forbidden",
            "the address that the run has printed, token included, is needed\n",
        );
    }
    match (request.method.as_str(), request.path()) {
        ("GET", "/") => {
            let (kind, body) = ("text/html; charset=utf-8", shared.html.as_bytes());
            HttpAnswer { status: "200 OK", kind, headers: HEADERS, body }.send(stream)
        }
        ("GET", EVENTS_PATH) => send_events(shared, stream),
        ("POST", "/order") => match serde_json::from_slice::<Order>(&request.body) {
            Ok(order) => match shared.steering.order(order, ChangedFrom::Page) {
                Ok(()) => {
                    let course = lock(&shared.course);
                    let event = events::tell("tell", &course, &shared.steering.state(), shared.unwritten());
                    shared.tell_all(&course, &event);
                    drop(course);
                    refuse(stream, "200 OK", "done\n")
                }
                Err(why) => refuse(stream, "409 Conflict", &why),
            },
            Err(error) => refuse(stream, "400 Bad Request", &format!("this is no order: {error}\n")),
        },
        _ => refuse(stream, "404 Not Found", "there is only the page\n"),
    }
}

/// Sends events until the last one, or until the client disconnects.
fn send_events(shared: &Shared, stream: &mut TcpStream) -> io::Result<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{HEADERS}\r\n");
    stream.write_all(head.as_bytes())?;
    let events = {
        // Lock order everywhere: the run's state, then the hub.
        let course = lock(&shared.course);
        shared.hub.listen(|| events::whole(&course, &shared.steering.state(), shared.unwritten()))
    };
    loop {
        match events.recv_timeout(QUIET_MAX) {
            Ok(event) => stream.write_all(event.as_bytes())?,
            Err(RecvTimeoutError::Timeout) => stream.write_all(b": still here\n\n")?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
