//! How a capacity model is fitted.

use super::checks::CheckSettings;

/// A bottleneck that was busy for less than this is not near saturation.
pub(crate) const NEAR_SATURATION: f64 = 0.7;

/// Which model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ModelChoice {
    /// Demands by the utilization law where utilization is recorded, else queues by least squares, else by the best throughput.
    #[default]
    Auto,
    /// Queues by least squares.
    Queue,
    /// The Universal Scalability Law.
    Usl,
    /// The bound that the best measured throughput sets, and no more.
    Best,
}

/// How a model is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct FitSettings {
    /// How the measurements are checked.
    pub check: CheckSettings,
    /// Which model.
    pub choice: ModelChoice,
    /// Servers of the queue, where they are known.
    pub servers: Option<u32>,
    /// Squared coefficient of variation of the service time of one server, where it is known.
    pub service_scv: Option<f64>,
    /// A response time that shall not be exceeded, in seconds: up to how many users?
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
