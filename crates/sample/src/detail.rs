//! The data of a sample that XML files contain in addition to those of a CSV row: assertions, headers, data and sub-results.
//!
//! Only XML files and files of response data need these data. They are therefore sent alongside the packed batch, and built
//! only for samples that such a listener receives.

use crate::labels::Labels;
use crate::sample::{ActiveUsers, Sample, SampleContent, SampleOutcome, SampleSizes, SampleTimes};
use crate::sample_flags::SampleFlags;

/// A result with everything that a result file may contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail {
    /// The label.
    pub label: String,
    /// Its times.
    pub times: SampleTimes,
    /// The outcome.
    pub outcome: SampleOutcome<String>,
    /// Type and encoding of the response data.
    pub content: SampleContent<String>,
    /// Its sizes.
    pub sizes: SampleSizes,
    /// The numbers of active users when it ended.
    pub users: ActiveUsers,
    /// Whether the result has no thread name, like deeply nested results in JMeter.
    pub unnamed_thread: bool,
    /// Number of samples that it represents.
    pub sample_count: u32,
    /// Number of these samples that failed.
    pub error_count: u32,
    /// The URL, or `None`.
    pub url: Option<String>,
    /// HTTP details; `None` for other samplers.
    pub http: Option<Box<HttpDetail>>,
    /// Results of the assertions.
    pub assertions: Vec<AssertionResult>,
    /// Status line and headers received.
    pub response_headers: String,
    /// Headers sent.
    pub request_headers: String,
    /// The sampler data (`samplerData`), or `None`.
    pub sampler_data: Option<String>,
    /// The response body, if a file contains it.
    pub body: Vec<u8>,
    /// The file in which the response was saved; empty if it was not saved.
    pub file_name: String,
    /// Sub-results.
    pub children: Vec<Detail>,
}

/// Details of an HTTP sampler's result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpDetail {
    /// Method; `None` when the URL could not be built.
    pub method: Option<String>,
    /// Cookies sent.
    pub cookies: String,
    /// Body sent.
    pub query_string: String,
    /// The target of a redirect.
    pub redirect_location: Option<String>,
}

/// Outcome of one assertion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssertionResult {
    /// Name of the assertion.
    pub name: String,
    /// Whether the assertion failed the sample.
    pub failure: bool,
    /// Whether the assertion could not be evaluated.
    pub error: bool,
    /// Message of the failure or error.
    pub message: String,
    /// Whether the message exists although it is empty. Result files distinguish an empty message from a missing one.
    pub blank_message: bool,
}

impl AssertionResult {
    /// The message, if there is one.
    pub fn message(&self) -> Option<&str> {
        (self.blank_message || !self.message.is_empty()).then_some(self.message.as_str())
    }
}

impl Detail {
    /// A detail that contains only the data of a CSV row.
    pub fn of_sample(sample: &Sample<'_>, labels: &Labels) -> Detail {
        Detail {
            label: labels.name(sample.label).to_string(),
            times: sample.times,
            outcome: sample.outcome.to_strings(),
            content: sample.content.to_strings(),
            sizes: sample.sizes,
            users: sample.users,
            sample_count: sample.sample_count,
            error_count: sample.error_count,
            url: (!sample.flags.contains(SampleFlags::NO_URL)).then(|| sample.url.to_owned()),
            ..Detail::default()
        }
    }

    /// Approximate size in memory, in bytes.
    pub fn size(&self) -> usize {
        let texts = self.label.len()
            + self.outcome.message.len()
            + self.response_headers.len()
            + self.request_headers.len()
            + self.body.len()
            + self.sampler_data.as_ref().map_or(0, String::len)
            + self.http.as_ref().map_or(0, |http| http.query_string.len() + http.cookies.len());
        size_of::<Detail>() + texts + self.children.iter().map(Detail::size).sum::<usize>()
    }
}
