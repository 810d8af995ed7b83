//! The result of one sample while it is being made and processed.

use busyhour_record::{DataType, HttpDetail, Nanos};

/// Outcome of one assertion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssertionResult {
    /// Name of the assertion.
    pub name: String,
    /// The assertion says the sample failed.
    pub failure: bool,
    /// The assertion itself could not be evaluated.
    pub error: bool,
    /// Why.
    pub message: String,
    /// The message is there although it is empty: result files tell that from none.
    pub blank_message: bool,
}

impl AssertionResult {
    /// The message, if there is one.
    pub fn message(&self) -> Option<&str> {
        (self.blank_message || !self.message.is_empty()).then_some(self.message.as_str())
    }
}

/// What the processors of a plan need a sampler to keep; what nobody needs is counted, not kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keep {
    /// Response body.
    pub body: bool,
    /// Response headers as text.
    pub response_headers: bool,
    /// Request headers and data as text.
    pub request: bool,
    /// What HTTP result files show apart ([`HttpDetail`]).
    pub http: bool,
}

/// What the files that a sample goes to show beyond its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetailWish {
    /// What was received.
    pub body: bool,
    /// What was received, if the sample failed.
    pub body_on_error: bool,
}

impl DetailWish {
    /// What either wants.
    pub fn union(self, other: DetailWish) -> DetailWish {
        DetailWish { body: self.body || other.body, body_on_error: self.body_on_error || other.body_on_error }
    }
}

impl Keep {
    /// Everything.
    pub const ALL: Keep = Keep { body: true, response_headers: true, request: true, http: true };

    /// What either needs.
    pub fn union(self, other: Keep) -> Keep {
        Keep {
            body: self.body || other.body,
            response_headers: self.response_headers || other.response_headers,
            request: self.request || other.request,
            http: self.http || other.http,
        }
    }
}

/// One sample's result. A user has one and uses its buffers again; sub-results are rare and own theirs.
#[derive(Clone, Debug, Default)]
pub struct SampleResult {
    /// Label as rendered.
    pub label: String,
    /// When the sample was meant to start.
    pub intended: Nanos,
    /// When it started.
    pub start: Nanos,
    /// When its last byte was read.
    pub end: Nanos,
    /// Time to connect, TLS handshake included, in nanoseconds.
    pub connect_ns: u64,
    /// Time to the first byte of the response, in nanoseconds.
    pub latency_ns: u64,
    /// Time within the sample that does not count, in nanoseconds.
    pub idle_ns: u64,
    /// `200`, or `Non HTTP response code: …`.
    pub code: String,
    /// `OK`, or `Non HTTP response message: …`.
    pub message: String,
    /// Whether text, binary or unknown.
    pub data_type: DataType,
    /// Encoding of the data, as the response names it; empty: unknown.
    pub encoding: String,
    /// Value of the Content-Type header.
    pub content_type: String,
    /// Whether the sample succeeded so far.
    pub success: bool,
    /// Outcomes of the assertions that ran.
    pub assertions: Vec<AssertionResult>,
    /// Bytes of headers received.
    pub header_bytes: u64,
    /// Bytes of body received, as on the wire.
    pub body_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// URL requested (the last one after redirects).
    pub url: String,
    /// Headers sent, one `Name: value` per line (kept when asked for).
    pub request_headers: String,
    /// Request line and data as JMeter shows them (kept when asked for).
    pub request_data: String,
    /// Status line and headers received, as JMeter shows them (kept when asked for).
    pub response_headers: String,
    /// Response body, decoded (kept when asked for).
    pub body: Vec<u8>,
    /// An HTTP sampler's own (kept when asked for).
    pub http: Option<Box<HttpDetail>>,
    /// The file that the body was saved in, if it was.
    pub file_name: Option<Box<str>>,
    /// Results this one is made of (redirects, embedded resources, samples of a transaction).
    pub sub_results: Vec<SampleResult>,
    /// A transaction's own sample.
    pub is_transaction: bool,
    /// Not to be recorded.
    pub ignore: bool,
    /// Stop this user after the sample.
    pub stop_user: bool,
    /// Stop the test after the sample, letting others finish theirs.
    pub stop_test: bool,
    /// Stop the test at once.
    pub stop_test_now: bool,
    /// Users active in this user's group when the sample ended.
    pub users_group: u32,
    /// Users active in all groups when the sample ended.
    pub users_all: u32,
    /// Nobody wrote the thread's name into it: JMeter leaves out the first of results deep inside others.
    pub unnamed_thread: bool,
}

/// Buffers larger than this are given back after a sample, so that one large body does not stay with each user.
const KEEP_CAPACITY: usize = 16 * 1024;

impl SampleResult {
    /// Makes the result empty for a new sample; buffers stay unless they have grown large.
    pub fn reset(&mut self) {
        for text in [
            &mut self.label,
            &mut self.code,
            &mut self.message,
            &mut self.encoding,
            &mut self.content_type,
            &mut self.url,
            &mut self.request_headers,
            &mut self.request_data,
            &mut self.response_headers,
        ] {
            text.clear();
            if text.capacity() > KEEP_CAPACITY {
                *text = String::new();
            }
        }
        self.body.clear();
        if self.body.capacity() > KEEP_CAPACITY {
            self.body = Vec::new();
        }
        self.assertions.clear();
        self.sub_results.clear();
        self.intended = Nanos::default();
        self.start = Nanos::default();
        self.end = Nanos::default();
        self.connect_ns = 0;
        self.latency_ns = 0;
        self.idle_ns = 0;
        self.data_type = DataType::Unknown;
        self.success = false;
        self.header_bytes = 0;
        self.body_bytes = 0;
        self.sent_bytes = 0;
        self.is_transaction = false;
        self.ignore = false;
        self.stop_user = false;
        self.stop_test = false;
        self.stop_test_now = false;
        self.users_group = 0;
        self.users_all = 0;
        self.unnamed_thread = false;
        self.http = None;
        self.file_name = None;
    }

    /// Bytes received: headers, body, and those of the sub-results when this result has none of its own.
    pub fn bytes(&self) -> u64 {
        self.header_bytes + self.body_bytes
    }

    /// Service time in whole milliseconds as JMeter counts it: both stamps are cut to milliseconds first (the
    /// run's start lies on a whole millisecond of the wall clock).
    pub fn elapsed_ms(&self) -> u64 {
        (self.end.0 / 1_000_000)
            .saturating_sub(self.start.0 / 1_000_000)
            .saturating_sub(self.idle_ns / 1_000_000)
    }

    /// Body as text in its encoding: UTF-8 when it says so or names none, else ISO-8859-1 byte by byte.
    pub fn body_text(&self) -> std::borrow::Cow<'_, str> {
        // Looking for the end of each character takes about as long as 16 bytes of other work on a text.
        busyhour_slices::away(self.body.len() / 16, || self.decode_body())
    }

    fn decode_body(&self) -> std::borrow::Cow<'_, str> {
        let latin = {
            let name = self.encoding.trim();
            name.eq_ignore_ascii_case("iso-8859-1")
                || name.eq_ignore_ascii_case("latin1")
                || name.eq_ignore_ascii_case("windows-1252")
        };
        if latin {
            if self.body.is_ascii() {
                return String::from_utf8_lossy(&self.body);
            }
            return self.body.iter().map(|&byte| char::from(byte)).collect::<String>().into();
        }
        String::from_utf8_lossy(&self.body)
    }

    /// The first message of an assertion, be it an empty one of an assertion that holds, as JMeter's CSV files have it.
    pub fn failure_message(&self) -> &str {
        self.assertions.iter().find_map(AssertionResult::message).unwrap_or_default()
    }
}
