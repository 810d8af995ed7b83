//! Failures of requests, with the names that JMeter gives them.

use std::fmt::Write as _;
use std::io;

use busyhour_limits::Limit;
use busyhour_program::body_memory::BodyMemory;
use busyhour_program::result::SampleResult;
use busyhour_sample::DataType;

/// A request without a complete response. The names are those of the Java exceptions that JMeter would have recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Class of the Java exception.
    pub class: &'static str,
    /// Its message.
    pub message: String,
    /// The limit that the response exceeded, if that is the cause.
    pub limit: Option<Limit>,
}

/// The maximum capacity of a body buffer that is retained for the next body.
const BODY_CAPACITY_RETAINED_MAX: usize = 16 * 1024;

impl Failure {
    /// Creates a failure of this class.
    pub fn new(class: &'static str, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), limit: None }
    }

    /// The server closed the connection without a response.
    pub fn no_response(authority: &str) -> Self {
        Self::new("org.apache.http.NoHttpResponseException", format!("{authority} failed to respond"))
    }

    /// No data arrived within the response timeout.
    pub fn read_timeout() -> Self {
        Self::new("java.net.SocketTimeoutException", "Read timed out")
    }

    /// The request was aborted.
    pub fn interrupted() -> Self {
        Self::new("java.net.SocketException", "Socket closed")
    }

    /// The response is not HTTP.
    pub fn protocol() -> Self {
        // HttpClient wraps the reason and leaves the message of the outer exception empty.
        Self::new("org.apache.http.client.ClientProtocolException", "null")
    }

    /// The name could not be resolved. `reason` is that of the system; `None` if the system found no address.
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

    /// An error while connecting to `authority`; `addresses` are those that were tried, in Java's format.
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

    /// Writes the failure into a result like JMeter's `errorResult`.
    pub fn write_to(&self, result: &mut SampleResult, keep_body: bool) {
        result.content.data_type = DataType::Text;
        result.outcome.success = false;
        result.outcome.code.clear();
        let _ = write!(result.outcome.code, "Non HTTP response code: {}", self.class);
        result.outcome.message.clear();
        let _ = write!(result.outcome.message, "Non HTTP response message: {}", self.message);
        result.body.clear();
        // The memory of a body that exceeded a limit is released now, not with the user's next sample.
        result.body.shrink_to(BODY_CAPACITY_RETAINED_MAX);
        result.body_memory = BodyMemory::default();
        if keep_body {
            // JMeter stores the stack trace here; plans search its first line.
            result.body.extend_from_slice(self.class.as_bytes());
            // For an exception without a message, Java writes "null" in one place and nothing in another.
            if self.message != "null" {
                result.body.extend_from_slice(b": ");
                result.body.extend_from_slice(self.message.as_bytes());
            }
        }
    }
}

/// The system's message without Rust's "(os error 5)".
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}
