//! An incident and its cause.

use serde::{Deserialize, Serialize};

/// A part of the run that differs from the rest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Start, in seconds from the start of the run.
    pub from_s: f64,
    /// End in seconds; `None` for a change that lasts to the end of the searched part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_s: Option<f64>,
    /// Factor of the 95th percentile of the response time, compared with the usual one; `None` if it did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_factor: Option<f64>,
    /// The 95th percentile in ms; like `p95_factor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_ms: Option<f64>,
    /// The 95th percentile outside of incidents in ms; like `p95_factor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_p95_ms: Option<f64>,
    /// Failed requests in per cent of those that ended; `None` if they did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_percent: Option<f64>,
    /// The same outside of incidents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_error_percent: Option<f64>,
    /// Code and message of the most frequent error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_error: Option<String>,
    /// Completed requests per second in relation to the usual rate; `None` if they did not decrease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_factor: Option<f64>,
    /// Completed requests per second; like `rate_factor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Completed requests per second outside of incidents; like `rate_factor`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_rate_per_s: Option<f64>,
    /// The longest time without a completed request, in whole seconds; `None` if there was no pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause_s: Option<f64>,
    /// The longest response time right after the pause, in ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_ms: Option<f64>,
    /// The label whose percentiles and errors are given; `None` for those of all requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_label: Option<String>,
    /// The affected labels, most requests first; empty if all are affected, or unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Whether all labels are affected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_labels: bool,
    /// Why it is not an incident of the system under test; `None` if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<IncidentCause>,
}

/// A cause outside of the system under test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum IncidentCause {
    /// The generator, or one of its cores, did not run.
    GeneratorStalled {
        /// For how long.
        seconds: f64,
    },
    /// The generator started requests late: response times rose, service times hardly.
    GeneratorLate {
        /// Mean response time in ms.
        response_ms: f64,
        /// Mean service time in ms.
        service_ms: f64,
    },
    /// Arrivals waited for a free user: response times rose, service times hardly.
    WaitedForUsers {
        /// Mean response time in ms.
        response_ms: f64,
        /// Mean service time in ms.
        service_ms: f64,
    },
}
