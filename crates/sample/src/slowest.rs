//! The slowest requests of a run.

use std::cmp::Reverse;

use crate::labels::Labels;
use crate::nanos::Nanos;
use crate::sample::{LabelId, Sample};

/// Number of requests in the list.
pub const SLOWEST_MAX: usize = 20;

/// Maximum length of a message in bytes; longer messages are truncated.
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

impl SlowRequest {
    const fn key(&self) -> (u64, Reverse<Nanos>) {
        (self.response_ns, Reverse(self.start))
    }
}

/// Collects the slowest requests. A request that is not slower than the fastest one in a full list is ignored, so most samples
/// cost one comparison.
#[derive(Debug, Default)]
pub(crate) struct Slowest {
    /// The requests in ascending order of response time; for equal times, in descending order of start.
    requests: Vec<(LabelId, SlowRequest)>,
}

impl Slowest {
    #[inline]
    pub(crate) fn add(&mut self, sample: &Sample<'_>, labels: &Labels) {
        let key = (sample.response_ns(), Reverse(sample.times.start));
        if self.requests.len() == SLOWEST_MAX
            && self.requests.first().is_some_and(|(_, last)| key < last.key())
        {
            return;
        }
        self.insert(sample, labels);
    }

    #[cold]
    fn insert(&mut self, sample: &Sample<'_>, labels: &Labels) {
        let message =
            if sample.failure_message.is_empty() { sample.outcome.message } else { sample.failure_message };
        let end = (0..=MESSAGE_BYTES_MAX.min(message.len())).rev().find(|at| message.is_char_boundary(*at));
        let request = SlowRequest {
            label: String::new(),
            start: sample.times.start,
            response_ns: sample.response_ns(),
            service_ns: sample.service_ns(),
            code: sample.outcome.code.to_owned(),
            message: message[..end.unwrap_or(0)].to_owned(),
            success: sample.outcome.success,
        };
        // Requests with equal times have a fixed order, so that the list does not depend on the order of the samples.
        let order = |label: LabelId, request: &SlowRequest| {
            let texts = (labels.name(label), request.code.clone(), request.message.clone());
            (request.key(), Reverse(texts))
        };
        let own = order(sample.label, &request);
        let at = self.requests.partition_point(|(label, known)| {
            known.key() < own.0 || (known.key() == own.0 && order(*label, known) < own)
        });
        self.requests.insert(at, (sample.label, request));
        if self.requests.len() > SLOWEST_MAX {
            self.requests.remove(0);
        }
    }

    /// The list in descending order of response time.
    pub(crate) fn finish(self, name: impl Fn(LabelId) -> String) -> Vec<SlowRequest> {
        let named = |(label, request)| SlowRequest { label: name(label), ..request };
        self.requests.into_iter().rev().map(named).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::SampleOutcome;
    use crate::sample::SampleTimes;

    #[test]
    fn the_slowest_requests_are_listed() {
        let mut slowest = Slowest::default();
        let labels = Labels::new();
        (0..1_000).for_each(|ms| {
            let _ = labels.intern(&ms.to_string());
        });
        let message = "é".repeat(400);
        for ms in (0..1_000).map(|at| at * 7 % 1_000) {
            let sample = Sample {
                label: LabelId(ms as u32),
                times: SampleTimes { end: Nanos::from_millis(ms), ..SampleTimes::default() },
                outcome: SampleOutcome::new("", &message, true),
                ..Sample::default()
            };
            slowest.add(&sample, &labels);
        }
        let kept = slowest.finish(|label| label.0.to_string());
        let expected: Vec<String> = (980..1_000).rev().map(|ms| ms.to_string()).collect();
        assert_eq!(kept.iter().map(|request| request.label.clone()).collect::<Vec<_>>(), expected);
        assert_eq!((kept[0].response_ns, kept[0].message.len()), (999_000_000, 500));
    }
}
