//! Sample results that scripts create with `new SampleResult()`.

use busyhour_sample::SampleOutcome;

/// A sample result that a script created, to be added to the result of a sampler.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScriptResult {
    /// The label (`setSampleLabel`).
    pub label: String,
    /// The code, the message and the success (`setResponseCode`, `setResponseMessage` and `setSuccessful`).
    pub outcome: SampleOutcome<String>,
    /// The response body (`setResponseData`).
    pub data: Vec<u8>,
    /// The encoding of the body (`setDataEncoding`); `None` before it is set.
    pub encoding: Option<String>,
    /// The content type (`setContentType`).
    pub content_type: String,
    /// The data type (`setDataType`): `text`, `bin` or empty.
    pub data_type: String,
    /// The request headers (`setRequestHeaders`).
    pub request_headers: String,
    /// The response headers (`setResponseHeaders`).
    pub response_headers: String,
    /// The request data (`setSamplerData`); `None` before it is set.
    pub sampler_data: Option<String>,
    /// The URL (`setURL`); `None` before it is set.
    pub url: Option<String>,
    /// The name of the thread (`setThreadName`).
    pub thread_name: String,
    /// The times of the result.
    pub times: ScriptTimes,
    /// The size of the response in bytes (`setBytes`). It is used if the sizes of headers and body are 0.
    pub bytes: i64,
    /// The size of the headers in bytes (`setHeadersSize`).
    pub headers_size: i64,
    /// The size of the body in bytes (`setBodySize`).
    pub body_size: i64,
    /// The number of bytes sent (`setSentBytes`).
    pub sent_bytes: i64,
    /// Whether the result is ignored (`setIgnore`).
    pub is_ignored: bool,
    /// The results added to this result.
    pub sub_results: Vec<ScriptResult>,
}

/// The times of a result that a script created.
///
/// Points in time are in milliseconds since 1970, durations in milliseconds; 0 is JMeter's value for "not set".
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScriptTimes {
    /// Start of the sample.
    pub start_ms: i64,
    /// End of the sample.
    pub end_ms: i64,
    /// Time from start to end, without the idle time (`getTime()`).
    pub elapsed_ms: i64,
    /// Time between `samplePause` and `sampleResume`.
    pub idle_ms: i64,
    /// Latency (`setLatency`).
    pub latency_ms: i64,
    /// Connect time (`setConnectTime`).
    pub connect_ms: i64,
}

impl ScriptResult {
    /// The result of `getBodySizeAsLong()`, in bytes: the size that was set, or else the size of the data.
    #[must_use]
    pub fn body_bytes(&self) -> i64 {
        if self.body_size == 0 { i64::try_from(self.data.len()).unwrap_or(i64::MAX) } else { self.body_size }
    }

    /// The result of `getBytesAsLong()`: the size of headers and body, or else the size that was set with `setBytes`.
    #[must_use]
    pub fn total_bytes(&self) -> i64 {
        match self.headers_size.saturating_add(self.body_bytes()) {
            0 => self.bytes,
            size => size,
        }
    }

    /// Applies the effect of `addSubResult` on the parent result: extends its end to the end of `sub`, and adds the sizes of
    /// `sub` to its sizes.
    pub fn extend_by(&mut self, sub: &ScriptResult) {
        self.times.end_ms = self.times.end_ms.max(sub.times.end_ms);
        if self.times.start_ms != 0 {
            self.times.elapsed_ms =
                self.times.end_ms.saturating_sub(self.times.start_ms).saturating_sub(self.times.idle_ms);
        }
        self.bytes = self.total_bytes().saturating_add(sub.total_bytes());
        self.body_size = self.body_bytes().saturating_add(sub.body_bytes());
        self.headers_size = self.headers_size.saturating_add(sub.headers_size);
        self.sent_bytes = self.sent_bytes.saturating_add(sub.sent_bytes);
    }
}

/// The label of the next result that is added to a result with the label `parent`, whose sub-results have the labels
/// `taken`. JMeter numbers sub-results from 0.
pub(crate) fn numbered_label(parent: &str, taken: impl Iterator<Item = String>) -> String {
    let numbers = taken.filter_map(|label| {
        label
            .strip_prefix(parent)
            .and_then(|rest| rest.strip_prefix('-'))
            .and_then(|number| number.parse().ok())
    });
    let next = numbers.max().map_or(0, |last: u32| last.saturating_add(1));
    format!("{parent}-{next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sub_result_extends_time_and_sizes() {
        let mut top = ScriptResult {
            times: ScriptTimes { start_ms: 1_900, end_ms: 2_000, elapsed_ms: 100, ..ScriptTimes::default() },
            ..ScriptResult::default()
        };
        let sub = ScriptResult {
            times: ScriptTimes { start_ms: 5_000, end_ms: 5_300, ..ScriptTimes::default() },
            data: b"abc".to_vec(),
            sent_bytes: 7,
            ..ScriptResult::default()
        };
        top.extend_by(&sub);
        assert_eq!(
            (top.times.end_ms, top.times.elapsed_ms, top.total_bytes(), top.sent_bytes),
            (5_300, 3_400, 3, 7)
        );
    }

    #[test]
    fn labels_of_sub_results_are_numbered_from_0() {
        let label = |taken: &[&str]| numbered_label("a", taken.iter().map(|&label| label.to_owned()));
        assert_eq!(label(&[]), "a-0");
        assert_eq!(label(&["a-0", "b-7", "other"]), "a-1");
    }
}
