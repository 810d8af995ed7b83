//! The result of one sample while it is being created and processed.

use std::any::Any;
use std::fmt;

use busyhour_sample::{
    ActiveUsers, AssertionResult, Detail, SampleContent, SampleOutcome, SampleSizes, SampleTimes, reset_text,
};

use crate::body_memory::BodyMemory;
use crate::logical_action::LogicalAction;

/// The parts of a response that a plan's elements read. A sampler retains these; other parts are only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Response body.
    pub body: bool,
    /// Response headers as text.
    pub response_headers: bool,
    /// Request headers and data as text.
    pub request: bool,
    /// The fields that only this protocol has ([`ProtocolDetail`]).
    pub protocol_detail: bool,
}

/// The details of a sample that result files show in addition to its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownDetails {
    /// The response body.
    pub body: bool,
    /// The response body, if the sample failed.
    pub body_on_error: bool,
}

impl ShownDetails {
    /// The details that `self` or `other` contains.
    pub fn union(self, other: ShownDetails) -> ShownDetails {
        ShownDetails {
            body: self.body || other.body,
            body_on_error: self.body_on_error || other.body_on_error,
        }
    }
}

impl Retention {
    /// All parts.
    pub const ALL: Retention =
        Retention { body: true, response_headers: true, request: true, protocol_detail: true };

    /// The parts that `self` or `other` contains.
    pub fn union(self, other: Retention) -> Retention {
        Retention {
            body: self.body || other.body,
            response_headers: self.response_headers || other.response_headers,
            request: self.request || other.request,
            protocol_detail: self.protocol_detail || other.protocol_detail,
        }
    }
}

/// The fields of a sample that only its protocol has and that result files show. The sampler of the protocol creates this
/// value if [`Retention::protocol_detail`] is set; the program and the engine only copy it.
pub trait ProtocolDetail: Any + fmt::Debug + Send + Sync {
    /// A copy of the fields, for a copy of the result.
    fn copy(&self) -> Box<dyn ProtocolDetail>;

    /// Writes the fields into the detail of the recorded sample.
    fn write_to(&self, detail: &mut Detail);
}

impl Clone for Box<dyn ProtocolDetail> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}

/// The result of one sample. Each user has one and reuses its buffers. Sub-results are rare, and each of them has its own
/// buffers.
#[derive(Clone, Debug, Default)]
pub struct SampleResult {
    /// Evaluated label.
    pub label: String,
    /// Times of the sample.
    pub times: SampleTimes,
    /// Success, code and message of the sample so far.
    pub outcome: SampleOutcome<String>,
    /// Type and encoding of the response data.
    pub content: SampleContent<String>,
    /// Value of the Content-Type header.
    pub content_type: String,
    /// Outcomes of the assertions that ran.
    pub assertions: Vec<AssertionResult>,
    /// Sizes of the request and the response.
    pub sizes: SampleSizes,
    /// URL requested (the last one after redirects).
    pub url: String,
    /// Headers sent, one `Name: value` per line (retained if needed).
    pub request_headers: String,
    /// Request line and data in JMeter's format (retained if needed).
    pub request_data: String,
    /// Status line and headers received, in JMeter's format (retained if needed).
    pub response_headers: String,
    /// Response body, decoded (retained if needed).
    pub body: Vec<u8>,
    /// The share of `body` in the memory for all bodies.
    pub body_memory: BodyMemory,
    /// Fields that only the protocol has (retained if needed).
    pub protocol_detail: Option<Box<dyn ProtocolDetail>>,
    /// The file in which the body was saved.
    pub file_name: Option<Box<str>>,
    /// Results inside this one (redirects, embedded resources, samples of a transaction).
    pub sub_results: Vec<SampleResult>,
    /// How the result is recorded.
    pub marks: RecordMarks,
    /// What the user does after the sample.
    pub after: AfterSample,
    /// The active users when the sample ended.
    pub users: ActiveUsers,
}

/// How a result is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordMarks {
    /// Whether it is a transaction's own sample.
    pub is_transaction: bool,
    /// Whether the result is not recorded.
    pub ignore: bool,
    /// Whether the result has no thread name. JMeter sets the name near the top level; deeper down, the first nested result has
    /// none.
    pub unnamed_thread: bool,
}

/// The next steps of a user after a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AfterSample {
    /// The next step of the user.
    pub next: LogicalAction,
    /// Whether this user stops.
    pub stop_user: bool,
    /// Whether the test stops after the samples in flight have finished.
    pub stop_test: bool,
    /// Whether the test stops immediately.
    pub stop_test_now: bool,
}

/// Buffers above this size in bytes are freed after a sample, so that one large body does not occupy memory in each user.
const RETAINED_CAPACITY_MAX: usize = 16 * 1024;

impl SampleResult {
    /// Clears the result for a new sample; buffers are reused unless they are large.
    pub fn reset(&mut self) {
        for text in [
            &mut self.label,
            &mut self.content_type,
            &mut self.url,
            &mut self.request_headers,
            &mut self.request_data,
            &mut self.response_headers,
        ] {
            reset_text(text, RETAINED_CAPACITY_MAX);
        }
        self.outcome.reset(RETAINED_CAPACITY_MAX);
        self.content.reset(RETAINED_CAPACITY_MAX);
        self.body.clear();
        if self.body.capacity() > RETAINED_CAPACITY_MAX {
            self.body = Vec::new();
        }
        self.body_memory = BodyMemory::default();
        self.assertions.clear();
        self.sub_results.clear();
        self.times = SampleTimes::default();
        self.sizes = SampleSizes::default();
        self.marks = RecordMarks::default();
        self.after = AfterSample::default();
        self.users = ActiveUsers::default();
        self.protocol_detail = None;
        self.file_name = None;
    }

    /// Number of bytes received: headers and body.
    pub fn bytes(&self) -> u64 {
        self.sizes.bytes()
    }

    /// Service time in whole milliseconds as in JMeter: both times are truncated to milliseconds first (the
    /// run starts at a whole millisecond of the wall clock).
    pub fn elapsed_ms(&self) -> u64 {
        (self.times.end.0 / 1_000_000)
            .saturating_sub(self.times.start.0 / 1_000_000)
            .saturating_sub(self.times.idle_ns / 1_000_000)
    }

    /// The body as text. It is decoded as UTF-8 if the response declares UTF-8 or no encoding, otherwise as ISO-8859-1.
    pub fn body_text(&self) -> std::borrow::Cow<'_, str> {
        // Decoding one byte takes about a sixteenth of the time that other work on a text takes.
        busyhour_slices::run_on_other_thread(self.body.len() / 16, || self.decode_body())
    }

    fn decode_body(&self) -> std::borrow::Cow<'_, str> {
        let latin = {
            let name = self.content.encoding.trim();
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

    /// The first assertion message. It may be empty and may belong to an assertion that passed, as in JMeter's CSV files.
    pub fn failure_message(&self) -> &str {
        self.assertions.iter().find_map(AssertionResult::message).unwrap_or_default()
    }
}
