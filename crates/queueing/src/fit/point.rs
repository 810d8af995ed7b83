//! Measurements at one load.

use serde::{Deserialize, Serialize};

/// One measurement: a number of users and the results.
///
/// All values are per request: the throughput in requests, the response time, and the think time (the time between
/// the end of a request and the start of the next one).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LoadPoint {
    /// Name for reports: the path of a run, or a line of a file.
    pub name: String,
    /// Number of users N.
    pub users: f64,
    /// Throughput X per second.
    pub throughput_per_s: f64,
    /// Response time R in seconds; `None` if it was not measured.
    pub response_s: Option<f64>,
    /// Standard error of the throughput per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput_error: Option<f64>,
    /// Standard error of the response time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_error_s: Option<f64>,
    /// Think time Z in seconds; `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think_s: Option<f64>,
    /// Share of failed requests, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_share: Option<f64>,
    /// Duration of the measurement in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Mean number of requests in the system, measured independently.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_system: Option<f64>,
    /// Utilization of resources, 0 to 1 each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub utilization: Vec<Utilization>,
}

/// The utilization of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Utilization {
    /// Name of the resource.
    pub resource: String,
    /// Share of the time in which the servers of the resource were busy, 0 to 1.
    pub share: f64,
}

impl LoadPoint {
    /// The number of users by Little's law of the whole loop, N = X(R + Z). `None` if R or Z is unknown.
    #[must_use]
    pub fn users_by_law(&self) -> Option<f64> {
        Some(self.throughput_per_s * (self.response_s? + self.think_s?))
    }

    /// The utilization of a resource.
    #[must_use]
    pub fn utilization_of(&self, resource: &str) -> Option<f64> {
        self.utilization.iter().find(|found| found.resource == resource).map(|found| found.share)
    }

    /// Whether all numbers are positive and finite.
    pub(crate) fn is_sound(&self) -> bool {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        positive(self.users) && positive(self.throughput_per_s) && self.response_s.is_none_or(positive)
    }
}
