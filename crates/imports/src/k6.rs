//! The common parts of k6's JSON and CSV files, in which each row is one value of one metric.

use crate::sample::{ImportNotes, ImportedSample};
use crate::stamps::duration_ns;

/// The meaning of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum K6Metric {
    /// The time of a request in ms, without the time for opening a connection.
    RequestDuration,
    /// The number of active users.
    Users,
    /// Iterations that the schedule required and that no user was free to run.
    DroppedIterations,
}

/// The meaning of a metric; `None` for metrics that are not needed.
pub(crate) fn metric(name: &[u8]) -> Option<K6Metric> {
    match name {
        b"http_req_duration" | b"grpc_req_duration" => Some(K6Metric::RequestDuration),
        b"vus" => Some(K6Metric::Users),
        b"dropped_iterations" => Some(K6Metric::DroppedIterations),
        _ => None,
    }
}

/// The number of users, and notes, as far as they were read.
#[derive(Debug, Default)]
pub(crate) struct K6State {
    pub(crate) users: u32,
    pub(crate) notes: ImportNotes,
}

impl K6State {
    /// Adds a value of a metric that is not the time of a request.
    pub(crate) fn add(&mut self, metric: K6Metric, value: f64) {
        match metric {
            K6Metric::Users => self.users = value as u32,
            K6Metric::DroppedIterations => {
                self.notes.dropped = self.notes.dropped.saturating_add(value as u64);
            }
            K6Metric::RequestDuration => {}
        }
    }
}

/// Sets the times of a request that ended at `end_ns` and took `ms`. Returns false if `ms` is not a duration.
pub(crate) fn set_times(sample: &mut ImportedSample, end_ns: i64, ms: f64) -> bool {
    let Some(duration_ns) = duration_ns(ms, 1e6) else { return false };
    sample.duration_ns = duration_ns;
    sample.start_ns = end_ns.saturating_sub_unsigned(duration_ns);
    true
}

/// Whether a request was successful: as k6 expects the response, otherwise by its status. gRPC has statuses below 100, of which 0
/// is success; an HTTP request without a response has the status 0, too, and an error code.
pub(crate) fn is_success(expected: &[u8], status: &[u8], error_code: &[u8]) -> bool {
    match expected {
        b"true" => true,
        b"false" => false,
        _ => {
            let status = std::str::from_utf8(status).ok().and_then(|status| status.parse::<u32>().ok());
            error_code.is_empty() && status.is_none_or(|status| status == 0 || (100..400).contains(&status))
        }
    }
}
