//! An incident and its cause.

use serde::{Deserialize, Serialize};

/// A part of the run that differs from the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Start, in seconds from the start of the run.
    pub from_s: f64,
    /// End, in seconds from the start of the run; `None` for a change that lasts to the end of the searched part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_s: Option<f64>,
    /// The 95th percentile of the response time divided by the usual 95th percentile; `None` if it did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_factor: Option<f64>,
    /// The 95th percentile in ms; `None` if it did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    /// The 95th percentile outside of incidents, in ms; `None` if it did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_p95_ms: Option<f64>,
    /// Failed requests in per cent of the completed ones; `None` if their share did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_percent: Option<f64>,
    /// Failed requests outside of incidents, in per cent; `None` if their share did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_error_percent: Option<f64>,
    /// Code and message of the main kind of error; `None` if there is no main kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_error: Option<String>,
    /// The rate of completed requests divided by the usual rate; `None` if it did not decrease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_factor: Option<f64>,
    /// Completed requests per second; `None` if their rate did not decrease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Completed requests per second outside of incidents; `None` if their rate did not decrease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_rate_per_s: Option<f64>,
    /// The longest time without a completed request, in whole seconds; `None` if there was no pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_s: Option<f64>,
    /// The longest response time right after the pause, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ms: Option<f64>,
    /// The label to which the percentiles and errors refer; `None` if they refer to all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_label: Option<String>,
    /// The affected labels, in descending order of their requests; empty if all labels are affected, or if the affected labels
    /// are unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Whether all labels are affected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_labels: bool,
    /// The cause of the incident if it is known to be outside of the system under test; otherwise `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<IncidentCause>,
}

/// A cause outside of the system under test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IncidentCause {
    /// The generator, or one of its cores, did not run.
    GeneratorStalled {
        /// Length of the stalls in seconds.
        seconds: f64,
    },
    /// The generator started requests late: response times increased, but service times hardly changed.
    GeneratorLate {
        /// Mean response time in ms.
        response_ms: f64,
        /// Mean service time in ms.
        service_ms: f64,
    },
    /// Arrivals waited for a free user: response times increased, but service times hardly changed.
    WaitedForUsers {
        /// Mean response time in ms.
        response_ms: f64,
        /// Mean service time in ms.
        service_ms: f64,
    },
}
