//! What can go wrong with a request, under the names JMeter gives it.

use std::fmt::Write as _;
use std::io;

use busyhour_limits::Limit;
use busyhour_program::body_memory::BodyMemory;
use busyhour_program::result::SampleResult;
use busyhour_record::DataType;

/// A request that got no (whole) response. The names are those of the Java exceptions JMeter would have recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Class of the exception.
    pub class: &'static str,
    /// Its message.
    pub message: String,
    /// The limit that the response exceeded, if that is what went wrong.
    pub limit: Option<Limit>,
}

/// Bytes of a buffer for bodies that are kept for the next one.
const BODY_CAPACITY_KEPT: usize = 16 * 1024;

impl Failure {
    /// A failure of this class.
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), limit: None }
    }

    /// The server closed the connection without a response.
    pub fn no_response(authority: &str) -> Self {
        Self::new("org.apache.http.NoHttpResponseException", format!("{authority} failed to respond"))
    }

    /// Nothing arrived for longer than the response timeout.
    pub fn read_timeout() -> Self {
        Self::new("java.net.SocketTimeoutException", "Read timed out")
    }

    /// The request was aborted.
    pub fn interrupted() -> Self {
        Self::new("java.net.SocketException", "Socket closed")
    }

    /// The response is no HTTP.
    pub fn protocol() -> Self {
        // HttpClient wraps the reason and leaves the message of the outer exception empty.
        Self::new("org.apache.http.client.ClientProtocolException", "null")
    }

    /// The name could not be resolved; the system's reason, or `None` when it found nothing.
    pub fn unknown_host(host: &str, reason: Option<&str>) -> Self {
        let message = reason.map_or_else(|| host.to_owned(), |reason| format!("{host}: {reason}"));
        Self::new("java.net.UnknownHostException", message)
    }

    /// An error of a connected socket.
    pub fn socket(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::ConnectionReset => Self::new("java.net.SocketException", "Connection reset"),
            io::ErrorKind::BrokenPipe => Self::new("java.net.SocketException", "Broken pipe"),
            io::ErrorKind::TimedOut => Self::new("java.net.SocketTimeoutException", "Read timed out"),
            _ => Self::new("java.net.SocketException", plain(error)),
        }
    }

    /// An error while connecting to `authority`, one of whose addresses (as Java prints them) was tried last.
    pub fn connect(error: &io::Error, authority: &str, addresses: &str) -> Self {
        const ADDRESS_NOT_AVAILABLE: i32 = 99;
        const TOO_MANY_OPEN_FILES: i32 = 24;
        const NETWORK_UNREACHABLE: i32 = 101;
        const NO_ROUTE: i32 = 113;
        match error.raw_os_error() {
            Some(ADDRESS_NOT_AVAILABLE) => {
                return Self::new("java.net.NoRouteToHostException", "Cannot assign requested address");
            }
            Some(NO_ROUTE) => return Self::new("java.net.NoRouteToHostException", "No route to host"),
            Some(TOO_MANY_OPEN_FILES) => {
                return Self::new("java.net.SocketException", "Too many open files");
            }
            _ => {}
        }
        let (class, reason) = match error.kind() {
            io::ErrorKind::TimedOut => {
                ("org.apache.http.conn.ConnectTimeoutException", "Connect timed out".into())
            }
            io::ErrorKind::ConnectionRefused => {
                ("org.apache.http.conn.HttpHostConnectException", "Connection refused".into())
            }
            io::ErrorKind::ConnectionReset => {
                return Self::new("java.net.SocketException", "Connection reset");
            }
            _ if error.raw_os_error() == Some(NETWORK_UNREACHABLE) => {
                ("org.apache.http.conn.HttpHostConnectException", "Network is unreachable".into())
            }
            _ => ("org.apache.http.conn.HttpHostConnectException", plain(error)),
        };
        Self::new(class, format!("Connect to {authority} {addresses} failed: {reason}"))
    }

    /// Writes the failure into a result, as JMeter's `errorResult` does.
    pub fn write_to(&self, result: &mut SampleResult, keep_body: bool) {
        result.data_type = DataType::Text;
        result.success = false;
        result.code.clear();
        let _ = write!(result.code, "Non HTTP response code: {}", self.class);
        result.message.clear();
        let _ = write!(result.message, "Non HTTP response message: {}", self.message);
        result.body.clear();
        // What was kept of a body that is too long is not held until the user's next sample.
        result.body.shrink_to(BODY_CAPACITY_KEPT);
        result.body_memory = BodyMemory::default();
        if keep_body {
            // JMeter keeps the stack trace here; its first line is what plans look for.
            result.body.extend_from_slice(self.class.as_bytes());
            // An exception without a message: Java writes "null" for it in one place and nothing in the other.
            if self.message != "null" {
                result.body.extend_from_slice(b": ");
                result.body.extend_from_slice(self.message.as_bytes());
            }
        }
    }
}

/// The system's words without Rust's "(os error 5)".
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
