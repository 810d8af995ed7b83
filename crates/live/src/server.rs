//! The page's server: the page, its events, and orders.

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

/// After so long without an event a line is sent, which tells whether anybody still listens.
const QUIET_MAX: Duration = Duration::from_secs(10);

/// What answers have in common: nobody keeps them, guesses what they are or shows them inside of something else.
const HEADERS: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
     Content-Security-Policy: frame-ancestors 'none'\r\nCross-Origin-Resource-Policy: same-origin\r\n";

/// What the page is to say of the run.
#[derive(Debug, Clone, Default)]
pub struct PageSettings {
    /// The run's name.
    pub title: String,
    /// The load that was asked for, in words.
    pub asked: String,
    /// Why the rate cannot be changed; `None` when it can.
    pub fixed_rate: Option<String>,
    /// Where the report will lie.
    pub report: String,
    /// Whether others than this machine may be listened to.
    pub allow_remote: bool,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address that means nothing.
    #[error("{address} is no address of the form HOST:PORT")]
    Address {
        /// As it was given.
        address: String,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// Others than this machine would hear.
    #[error(
        "{0} can be reached from other machines, whose users could steer the run if they saw the page's address"
    )]
    Remote(SocketAddr),
    /// Without a token anybody could steer the run.
    #[error("the system has no random numbers for the page's token")]
    Token(#[source] rand::rand_core::OsError),
    /// It cannot be listened at.
    #[error("cannot listen at {address}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// The system's words.
        #[source]
        source: io::Error,
    },
}

/// What the threads of the server share.
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

/// Serves the page of a run until it is told that the run has ended.
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
    /// The address is none, cannot be had, or is of other machines, too, and nobody allowed that.
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

    /// The page's address with its token: whoever has it can see and steer the run.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.server.address(), self.shared.access.token.as_str())
    }

    /// Notes how many results could not be written so far.
    pub fn note_unwritten(&self, count: u64) {
        self.shared.unwritten.store(count, Ordering::Relaxed);
    }

    /// Tells pages how things stand, before the next second does.
    pub fn tell_state(&self) {
        let course = lock(&self.shared.course);
        let event = events::tell("tell", &course, &self.shared.steering.state(), self.shared.unwritten());
        self.shared.tell_all(&course, &event);
    }

    /// Tells pages that the run has ended, and ends.
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

/// Sends events until there are no more, or the client is gone.
fn send_events(shared: &Shared, stream: &mut TcpStream) -> io::Result<()> {
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n{HEADERS}\r\n");
    stream.write_all(head.as_bytes())?;
    let events = {
        // In this order everywhere: the course, then the hub.
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
