//! The exchanges that scripts request, as with Java's `HttpURLConnection`.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use busyhour_limits::{Limit, count_exceeded};
use busyhour_program::clock::Clock;
use busyhour_program::user::Thrown;
use busyhour_request::{UrlClient, UrlRequest, UrlResponse};
use busyhour_slices::wait_for;

use crate::connection::Connection;
use crate::dial::ConnectOptions;
use crate::failure::Failure;
use crate::limits::BODY_BYTES_RETAINED_MAX;
use crate::origin::Origin;
use crate::plain::connect_plainly;
use crate::proxy::java_uses_proxy;
use crate::response::{ResponseReader, Sink};
use crate::settings::SharedHttp;
use crate::sink::latin;
use crate::url_target::Target;

/// The maximum time of one exchange with its redirects, unless the script sets timeouts.
pub const URL_DEADLINE: Duration = Duration::from_secs(60);

/// The number of redirects that Java follows.
const REDIRECTS_MAX: u32 = 20;

/// The number of idle connections to one server that Java retains. The constant below is their lifetime if the server does not
/// specify one.
const IDLE_PER_ORIGIN_MAX: usize = 5;
const IDLE_MS: u64 = 5_000;

/// The maximum number of idle connections of a core.
const IDLE_MAX: usize = 64;

/// The User-Agent of Java 17.
const USER_AGENT: &str = "Java/17.0.15";
const ACCEPT: &str = "text/html, image/gif, image/jpeg, */*; q=0.2";

thread_local! {
    /// The idle connections of a core; in Java all threads share them.
    static IDLE: RefCell<Vec<Connection>> = const { RefCell::new(Vec::new()) };
}

/// Performs the exchanges that scripts request.
#[derive(Debug)]
pub struct UrlConnections {
    shared: Arc<SharedHttp>,
}

impl UrlConnections {
    /// Creates a client with the TLS policy of a run.
    #[must_use]
    pub fn new(shared: Arc<SharedHttp>) -> Self {
        Self { shared }
    }
}

impl UrlClient for UrlConnections {
    fn exchange(&self, clock: &Clock, request: UrlRequest) -> Result<UrlResponse, Thrown> {
        let target = Target::parse(&request.url)?;
        if java_uses_proxy(&self.shared, target.host.trim_matches(['[', ']'])) {
            return Err(Thrown {
                class: "java.lang.UnsupportedOperationException",
                message: "a URL connection through a proxy is not supported".to_owned(),
            });
        }
        let clock = clock.clone();
        let shared = Arc::clone(&self.shared);
        let exchange = Box::pin(within_deadline(Arc::clone(&shared), clock.clone(), request.clone()));
        wait_for(exchange).unwrap_or_else(|not_begun| {
            drop(not_begun);
            on_another_thread(shared, clock, request)
        })
    }
}

/// Performs the exchange on another thread if the core cannot run other users meanwhile.
fn on_another_thread(
    shared: Arc<SharedHttp>,
    clock: Clock,
    request: UrlRequest,
) -> Result<UrlResponse, Thrown> {
    let failed = |error: &dyn std::fmt::Display| Thrown {
        class: "java.lang.OutOfMemoryError",
        message: format!("unable to create native thread: {error}"),
    };
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let outcome = match runtime {
            Ok(runtime) => runtime.block_on(within_deadline(shared, clock, request)),
            Err(error) => Err(failed(&error)),
        };
        IDLE.take();
        outcome
    };
    match std::thread::Builder::new().name("url".to_owned()).spawn(work) {
        Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        Err(error) => Err(failed(&error)),
    }
}

async fn within_deadline(
    shared: Arc<SharedHttp>,
    clock: Clock,
    request: UrlRequest,
) -> Result<UrlResponse, Thrown> {
    let has_timeouts = request.connect_timeout.is_some() || request.read_timeout.is_some();
    let exchange = follow(&shared, &clock, request);
    if has_timeouts {
        return exchange.await;
    }
    match tokio::time::timeout(URL_DEADLINE, exchange).await {
        Ok(outcome) => outcome,
        Err(_) => Err(thrown(Failure::read_timeout())),
    }
}

/// Performs the exchange, and follows redirects.
async fn follow(shared: &SharedHttp, clock: &Clock, mut request: UrlRequest) -> Result<UrlResponse, Thrown> {
    let mut redirects = 0;
    loop {
        let target = Target::parse(&request.url)?;
        let response = exchange_once(shared, clock, &request, &target).await?;
        let Some(next) = redirection(&request, &target, &response)? else { return Ok(response) };
        redirects += 1;
        if redirects >= REDIRECTS_MAX {
            let message = format!("Server redirected too many  times ({REDIRECTS_MAX})");
            return Err(Thrown { class: "java.net.ProtocolException", message });
        }
        if request.method == "POST" && response.code != 307 {
            request.method = "GET".to_owned();
            request.body = None;
            // Java also drops the headers of the script.
            request.headers.clear();
        }
        request.url = next;
    }
}

/// The target of a redirect; `None` if Java does not follow it.
fn redirection(
    request: &UrlRequest,
    target: &Target,
    response: &UrlResponse,
) -> Result<Option<String>, Thrown> {
    let redirects = matches!(response.code, 300..=305 | 307) && response.code != 304;
    if !request.follows_redirects || !redirects {
        return Ok(None);
    }
    let location = response.headers.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("location"));
    location.map_or(Ok(None), |(_, location)| target.redirected(location))
}

/// Performs one exchange. It is repeated once if the server closes the connection without a response.
async fn exchange_once(
    shared: &SharedHttp,
    clock: &Clock,
    request: &UrlRequest,
    target: &Target,
) -> Result<UrlResponse, Thrown> {
    let origin = Origin::new(target.is_secure, &target.host, target.port);
    let bytes = render_request(request, target);
    let mut idle = take_idle(&origin, clock);
    let mut has_failed = false;
    loop {
        let mut connection = match idle.take() {
            Some(connection) => connection,
            None => open_connection(shared, clock, request, &origin).await.map_err(thrown)?,
        };
        let mut reader = ResponseReader::new(request.method == "HEAD");
        let mut sink = ResponseCollector { response: UrlResponse::default() };
        let outcome = match connection.send(&bytes).await {
            Ok(()) => connection.receive(&mut reader, &mut sink, clock, request.read_timeout).await,
            Err(failure) => Err(failure),
        };
        let ResponseCollector { mut response } = sink;
        match outcome {
            Ok(_) => {
                if reader.keeps_alive {
                    let ms = reader.keep_alive_s.map_or(IDLE_MS, |seconds| seconds.saturating_mul(1_000));
                    connection.limit_idle_time(clock.now(), ms);
                    keep_idle(connection);
                }
            }
            Err(failure) if response.code == 0 => {
                let is_silent = reader.is_untouched()
                    && matches!(
                        failure.class,
                        "org.apache.http.NoHttpResponseException" | "java.net.SocketException"
                    );
                if is_silent && !has_failed {
                    has_failed = true;
                    continue;
                }
                return Err(thrown(failure));
            }
            // In Java, a truncated body is not an error if its length was specified.
            Err(failure)
                if failure.class.ends_with(".ConnectionClosedException")
                    && reader.content_length.is_some() => {}
            Err(failure) => response.failure = Some(thrown(failure)),
        }
        response.url.clone_from(&request.url);
        response.method.clone_from(&request.method);
        return Ok(response);
    }
}

fn take_idle(origin: &Arc<Origin>, clock: &Clock) -> Option<Connection> {
    IDLE.with_borrow_mut(|all| {
        while let Some(at) = all.iter().rposition(|idle| idle.origin == *origin) {
            let mut connection = all.remove(at);
            if connection.is_usable(clock.now()) {
                return Some(connection);
            }
        }
        None
    })
}

fn keep_idle(connection: Connection) {
    IDLE.with_borrow_mut(|all| {
        let of_origin = all.iter().filter(|idle| idle.origin == connection.origin).count();
        if of_origin >= IDLE_PER_ORIGIN_MAX {
            return;
        }
        if all.len() >= IDLE_MAX {
            all.remove(0);
        }
        all.push(connection);
    });
}

async fn open_connection(
    shared: &SharedHttp,
    clock: &Clock,
    request: &UrlRequest,
    origin: &Arc<Origin>,
) -> Result<Connection, Failure> {
    let stream = connect_plainly(origin.bare_host(), origin.port, request.connect_timeout, clock).await?;
    // With Nagle's algorithm, the second part of a request that is sent in two parts could wait for an acknowledgement.
    let _ = stream.set_nodelay(true);
    let connection = Connection::from_stream(stream, origin, clock.now());
    if !origin.secure {
        return Ok(connection);
    }
    let timeout = request.read_timeout.or(request.connect_timeout);
    connection.secured(&ConnectOptions { shared, clock, timeout, source: None, key_alias: None }).await
}

/// The bytes of the request as Java 17 sends them.
fn render_request(request: &UrlRequest, target: &Target) -> Vec<u8> {
    let mut text = format!("{} {} HTTP/1.1\r\n", request.method, target.file);
    let sets = |name: &str| request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
    let mut add = |name: &str, value: &str| {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push_str("\r\n");
    };
    for (name, value) in &request.headers {
        if !(name.eq_ignore_ascii_case("content-length") && request.body.is_some()) {
            add(name, value);
        }
    }
    let host = target.host_header();
    let usual = [
        ("User-Agent", USER_AGENT),
        ("Host", host.as_str()),
        ("Accept", ACCEPT),
        ("Connection", "keep-alive"),
    ];
    for (name, value) in usual.into_iter().filter(|(name, _)| !sets(name)) {
        add(name, value);
    }
    if let Some(body) = &request.body {
        if request.method != "PUT" && !sets("Content-type") {
            add("Content-type", "application/x-www-form-urlencoded");
        }
        add("Content-Length", &body.len().to_string());
    }
    text.push_str("\r\n");
    // Java writes each character as one byte.
    let byte = |character: char| u8::try_from(u32::from(character)).unwrap_or(b'?');
    let mut bytes: Vec<u8> = text.chars().map(byte).collect();
    bytes.extend_from_slice(request.body.as_deref().unwrap_or_default());
    bytes
}

/// Converts a failure to the exception that Java throws.
fn thrown(failure: Failure) -> Thrown {
    if let Some(limit) = failure.limit {
        count_exceeded(limit);
    }
    let (class, message) = match failure.class {
        "org.apache.http.NoHttpResponseException" => {
            ("java.net.SocketException", "Unexpected end of file from server".to_owned())
        }
        "org.apache.http.client.ClientProtocolException" => {
            ("java.io.IOException", "Invalid Http response".to_owned())
        }
        class if class.starts_with("org.apache.http.") && failure.limit.is_none() => {
            ("java.io.IOException", "Premature EOF".to_owned())
        }
        class if class.starts_with("org.apache.http.") => ("java.io.IOException", failure.message),
        class => (class, failure.message),
    };
    Thrown { class, message }
}

/// Collects the response as it arrives.
struct ResponseCollector {
    response: UrlResponse,
}

impl Sink for ResponseCollector {
    fn head(&mut self, head: &httparse::Response<'_, '_>) -> Result<(), Failure> {
        let response = &mut self.response;
        response.code = head.code.unwrap_or(0);
        response.message = head.reason.unwrap_or_default().to_owned();
        let version = if head.version == Some(0) { "HTTP/1.0" } else { "HTTP/1.1" };
        response.status_line = format!("{version} {:03} {}", response.code, response.message);
        let text = |header: &httparse::Header<'_>| (header.name.to_owned(), latin(header.value).into_owned());
        response.headers = head.headers.iter().map(text).collect();
        Ok(())
    }

    fn body(&mut self, piece: &[u8]) -> Result<(), Failure> {
        let body = &mut self.response.body;
        if body.len() + piece.len() > BODY_BYTES_RETAINED_MAX {
            body.clear();
            body.shrink_to_fit();
            let message = format!("the body is longer than {} MiB", BODY_BYTES_RETAINED_MAX >> 20);
            return Err(Failure::limited(Limit::BodyBytes, "java.io.IOException", message));
        }
        self.response.memory.append(body, piece).map_err(|no_memory| {
            body.clear();
            body.shrink_to_fit();
            Failure::no_memory(no_memory)
        })
    }

    fn ignores_body(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
