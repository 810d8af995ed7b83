//! Settings of fits.

use super::checks::CheckSettings;

/// A system counts as near saturation if the utilization of its bottleneck is at least this.
pub(crate) const NEAR_SATURATION: f64 = 0.7;

/// The choice of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// Demands by the utilization law if utilization is recorded, otherwise queues by least squares, or the best throughput if
    /// there are too few measurements.
    #[default]
    Auto,
    /// Queues by least squares.
    Queue,
    /// The Universal Scalability Law.
    Usl,
    /// One queue whose capacity is the best measured throughput.
    Best,
}

/// Settings of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitSettings {
    /// Settings of the checks.
    pub check: CheckSettings,
    /// The choice of the model.
    pub choice: ModelChoice,
    /// Number of servers of the queue, if known.
    pub servers: Option<u32>,
    /// Squared coefficient of variation of the service time of one server, if known.
    pub service_scv: Option<f64>,
    /// Limit of the mean response time in seconds, for [`Headroom::users_within_response`](super::Headroom).
    pub response_max_s: Option<f64>,
}

impl Default for FitSettings {
    fn default() -> FitSettings {
        FitSettings {
            check: CheckSettings::default(),
            choice: ModelChoice::Auto,
            servers: None,
            service_scv: None,
            response_max_s: None,
        }
    }
}
