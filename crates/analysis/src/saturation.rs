//! The resource of the system that saturates first, and the load at which it saturates.

use serde::{Deserialize, Serialize};

/// The resources of a run, and the loads at which they saturate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Saturation {
    /// The finding in a sentence.
    pub sentence: String,
    /// Requests per second in the blocks of the measured part with the highest rate.
    pub highest_per_s: f64,
    /// The observed resources; the one that saturates first is the first one.
    pub resources: Vec<ResourceLoad>,
}

/// The use of a resource, and the load at which it saturates if its use grows with the load as observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResourceLoad {
    /// The resource, such as `disk vda`.
    pub resource: String,
    /// The source that shows it, such as `os`.
    pub source: String,
    /// Share of the resource that was in use at the highest rate, from 0 to 1.
    pub utilization: f64,
    /// Share of the resource that is in use without load; 0 if the rate varied too little to distinguish it from the use by
    /// requests.
    pub background: f64,
    /// Time for which a request uses the whole resource, in ms (the utilization law: D = U/X); `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_ms: Option<f64>,
    /// Requests per second at which the resource is fully used; `None` if it is used too little, or independently of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saturation_per_s: Option<f64>,
    /// The 95 % confidence interval of `saturation_per_s`; without an upper end if the data do not determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval_per_s: Option<(f64, Option<f64>)>,
    /// Why there is no load of saturation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
