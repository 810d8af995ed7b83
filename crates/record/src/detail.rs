//! What result files show of a sample beyond its row: assertions, headers, data, the results inside it.
//!
//! Only XML files (and the few that save what was received) ask for it, so it travels beside the packed samples and is
//! made only where such a listener hears the sample.

use crate::labels::Labels;
use crate::sample::{DataType, Nanos, Sample, SampleFlags};

/// A result with all that a result file may show of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail {
    /// Label.
    pub label: String,
    /// When it started.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// Time to connect, in ns.
    pub connect_ns: u64,
    /// Time to the first byte, in ns.
    pub latency_ns: u64,
    /// Time inside the sample that does not count, in ns.
    pub idle_ns: u64,
    /// Response code.
    pub code: String,
    /// Response message.
    pub message: String,
    /// Text or binary.
    pub data_type: DataType,
    /// Encoding of the response's text, empty when unknown.
    pub encoding: String,
    /// Whether it passed.
    pub success: bool,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes of headers among them.
    pub header_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Active users of the group.
    pub users_group: u32,
    /// Active users of all groups.
    pub users_all: u32,
    /// Nobody wrote the thread's name into it (results deep inside others).
    pub unnamed_thread: bool,
    /// How many samples it stands for.
    pub sample_count: u32,
    /// How many of them failed.
    pub error_count: u32,
    /// The URL, if one is set.
    pub url: Option<String>,
    /// What an HTTP sampler's result has beyond another's; `None`: it is another's.
    pub http: Option<Box<HttpDetail>>,
    /// Outcomes of the assertions.
    pub assertions: Vec<AssertionDetail>,
    /// Status line and headers received.
    pub response_headers: String,
    /// Headers sent.
    pub request_headers: String,
    /// What the sampler tells of its request; `None`: nothing was set.
    pub sampler_data: Option<String>,
    /// What was received, when a file wants it.
    pub body: Vec<u8>,
    /// The file that it was saved in, or empty.
    pub file_name: String,
    /// Results inside it.
    pub children: Vec<Detail>,
}

/// What an HTTP sampler's result has beyond another's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpDetail {
    /// Method; `None` when not even the URL could be made.
    pub method: Option<String>,
    /// Cookies sent.
    pub cookies: String,
    /// Body sent.
    pub query_string: String,
    /// Where the response redirects to.
    pub redirect_location: Option<String>,
}

/// Outcome of one assertion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AssertionDetail {
    /// Name of the assertion.
    pub name: String,
    /// It failed.
    pub failure: bool,
    /// It could not be evaluated.
    pub error: bool,
    /// Why; `None` when nothing was said.
    pub message: Option<String>,
}

impl Detail {
    /// What a row alone tells.
    pub(crate) fn of_sample(sample: &Sample<'_>, labels: &Labels) -> Detail {
        Detail {
            label: labels.name(sample.label).to_string(),
            start: sample.start,
            end: sample.end,
            connect_ns: sample.connect_ns,
            latency_ns: sample.latency_ns,
            idle_ns: sample.idle_ns,
            code: sample.code.to_owned(),
            message: sample.message.to_owned(),
            data_type: sample.data_type,
            encoding: sample.encoding.to_owned(),
            success: sample.success,
            bytes: sample.bytes,
            sent_bytes: sample.sent_bytes,
            users_group: sample.users_group,
            users_all: sample.users_all,
            sample_count: sample.sample_count,
            error_count: sample.error_count,
            url: (!sample.flags.contains(SampleFlags::NO_URL)).then(|| sample.url.to_owned()),
            ..Detail::default()
        }
    }

    /// JMeter's `elapsed` in ms, from stamps that were each cut to whole milliseconds.
    pub(crate) const fn elapsed_ms(&self) -> i64 {
        (self.end.0 / 1_000_000) as i64
            - (self.start.0 / 1_000_000) as i64
            - (self.idle_ns / 1_000_000) as i64
    }

    /// About how many bytes it takes in memory.
    pub(crate) fn size(&self) -> usize {
        let texts = self.label.len()
            + self.message.len()
            + self.response_headers.len()
            + self.request_headers.len()
            + self.body.len()
            + self.sampler_data.as_ref().map_or(0, String::len)
            + self.http.as_ref().map_or(0, |http| http.query_string.len() + http.cookies.len());
        size_of::<Detail>() + texts + self.children.iter().map(Detail::size).sum::<usize>()
    }
}
