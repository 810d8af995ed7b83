//! The slowest requests of a run.

use crate::sample::{LabelId, Nanos, Sample};

/// Number of requests in the list.
pub const SLOWEST_MAX: usize = 20;

/// Longest message in bytes; longer ones are truncated.
const MESSAGE_BYTES_MAX: usize = 500;

/// One of the slowest requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowRequest {
    /// Its label.
    pub label: String,
    /// Its actual start.
    pub start: Nanos,
    /// Response time in ns.
    pub response_ns: u64,
    /// Service time in ns.
    pub service_ns: u64,
    /// Response code.
    pub code: String,
    /// The first failed assertion's message, or the response message when no assertion failed.
    pub message: String,
    /// Whether it passed.
    pub success: bool,
}

/// Collects the slowest requests. A request as slow as the fastest one in a full list is not added, so that most
/// samples cost one comparison.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    /// In ascending order of response time.
    requests: Vec<(LabelId, SlowRequest)>,
}

impl Slowest {
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample<'_>) {
        let response_ns = sample.response_ns();
        let full = self.requests.len() == SLOWEST_MAX;
        if full && self.requests.first().is_some_and(|(_, fastest)| response_ns <= fastest.response_ns) {
            return;
        }
        self.insert(sample, response_ns);
    }

    #[cold]
    fn insert(&mut self, sample: &Sample<'_>, response_ns: u64) {
        // Reuses the memory of the entry that is removed.
        let mut entry = if self.requests.len() == SLOWEST_MAX {
            self.requests.remove(0)
        } else {
            let request = SlowRequest {
                label: String::new(),
                start: Nanos::ZERO,
                response_ns: 0,
                service_ns: 0,
                code: String::new(),
                message: String::new(),
                success: true,
            };
            (sample.label, request)
        };
        entry.0 = sample.label;
        let request = &mut entry.1;
        request.start = sample.times.start;
        request.response_ns = response_ns;
        request.service_ns = sample.service_ns();
        request.success = sample.success;
        request.code.clear();
        request.code.push_str(sample.code);
        let message = if sample.failure_message.is_empty() { sample.message } else { sample.failure_message };
        request.message.clear();
        let end = (0..=MESSAGE_BYTES_MAX.min(message.len())).rev().find(|at| message.is_char_boundary(*at));
        request.message.push_str(&message[..end.unwrap_or(0)]);
        let at = self.requests.partition_point(|(_, known)| known.response_ns < response_ns);
        self.requests.insert(at, entry);
    }

    /// The list in descending order of response time.
    pub(crate) fn finish(self, name: impl Fn(LabelId) -> String) -> Vec<SlowRequest> {
        let named = |(label, request)| SlowRequest { label: name(label), ..request };
        let mut slowest: Vec<SlowRequest> = self.requests.into_iter().map(named).collect();
        slowest.sort_by(|a, b| b.response_ns.cmp(&a.response_ns).then(a.start.cmp(&b.start)));
        slowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::SampleTimes;

    #[test]
    fn the_slowest_requests_are_listed() {
        let mut slowest = Slowest::default();
        let message = "é".repeat(400);
        for ms in (0..1_000).map(|at| at * 7 % 1_000) {
            let sample = Sample {
                label: LabelId(ms as u32),
                times: SampleTimes { end: Nanos::from_millis(ms), ..SampleTimes::default() },
                message: &message,
                ..Sample::default()
            };
            slowest.add(&sample);
        }
        let kept = slowest.finish(|label| label.0.to_string());
        let expected: Vec<String> = (980..1_000).rev().map(|ms| ms.to_string()).collect();
        assert_eq!(kept.iter().map(|request| request.label.clone()).collect::<Vec<_>>(), expected);
        assert_eq!((kept[0].response_ns, kept[0].message.len()), (999_000_000, 500));
    }
}
