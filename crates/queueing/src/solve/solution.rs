//! The solution of a network.

use serde::Serialize;

use super::assumptions::BrokenAssumption;
use super::bounds::Bounds;

/// The probabilities of the quantiles in a solution. Quantiles that are not known are omitted.
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// The method by which a network was solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodUsed {
    /// Open classes only: product form, exact.
    Open,
    /// Exact mean value analysis.
    ExactMva,
    /// Exact, by convolution.
    Convolution,
    /// The approximation Linearizer.
    Linearizer,
    /// The approximation by Bard and Schweitzer.
    Schweitzer,
    /// The approximation by Bard and Schweitzer with PDQ's stopping rule.
    Pdq,
    /// M/G/1 by Pollaczek and Khinchine, exact.
    PollaczekKhinchine,
    /// M/G/1 with priorities by Cobham, exact.
    Priorities,
    /// M/M/m/K, exact.
    Loss,
    /// M/G/1//N by busy periods, exact.
    BusyPeriods,
}

impl MethodUsed {
    /// Whether its mean values are exact.
    #[must_use]
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Linearizer | Self::Schweitzer | Self::Pdq)
    }

    /// Description for reports.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Open => "open network, exact",
            Self::ExactMva => "mean value analysis, exact",
            Self::Convolution => "convolution, exact",
            Self::Linearizer => "Linearizer, approximate",
            Self::Schweitzer => "Bard–Schweitzer, approximate",
            Self::Pdq => "Bard–Schweitzer with PDQ's stopping rule, approximate",
            Self::PollaczekKhinchine => "M/G/1 by Pollaczek–Khinchine, exact",
            Self::Priorities => "M/G/1 with priorities by Cobham, exact",
            Self::Loss => "M/M/m/K, exact",
            Self::BusyPeriods => "M/G/1//N by busy periods, exact",
        }
    }
}

/// The mean values of a network in equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// The method.
    pub method: MethodUsed,
    /// Broken assumptions of the method that were ignored. If there are any, no value is exact.
    pub ignored: Vec<BrokenAssumption>,
    /// The classes, in the model's order.
    pub classes: Vec<ClassSolution>,
    /// The stations, in the model's order.
    pub stations: Vec<StationSolution>,
    /// Factor by which the arrival rates of all open classes can grow until a station is saturated; `None` without open
    /// classes.
    pub open_growth_max: Option<f64>,
}

/// The mean values of a class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassSolution {
    /// Name of the class.
    pub name: String,
    /// Customers N of a closed class.
    pub users: Option<u64>,
    /// Think time Z of a closed class in seconds.
    pub think_s: Option<f64>,
    /// Arrivals of an open class per second.
    pub arrivals_per_s: Option<f64>,
    /// Throughput X in completed passes per second.
    pub throughput_per_s: f64,
    /// Response time R of a pass in seconds; `None` for a class without customers.
    pub response_s: Option<f64>,
    /// Mean number of customers at all stations, excluding thinking customers: Q = XR.
    pub in_system: f64,
    /// Service demand D of a pass in seconds, which is its response time without waiting.
    pub demand_s: f64,
    /// Passes per second that end because a station was full; `None` if no station drops customers.
    pub lost_per_s: Option<f64>,
    /// Lost passes as a share of arrivals.
    pub lost_share: Option<f64>,
    /// Quantiles of the response time, where they are known exactly.
    pub quantiles: Vec<Quantile>,
    /// Bounds, for a single closed class.
    pub bounds: Option<Bounds>,
}

/// A response time that a share of passes does not exceed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quantile {
    /// The share.
    pub share: f64,
    /// The response time in seconds.
    pub response_s: f64,
}

impl ClassSolution {
    /// PDQ's stretch factor: R as a multiple of D.
    #[must_use]
    pub fn stretch(&self) -> Option<f64> {
        self.response_s.map(|response_s| response_s / self.demand_s).filter(|stretch| stretch.is_finite())
    }
}

/// The mean values of a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationSolution {
    /// Name of the station.
    pub name: String,
    /// Highest speed, in servers; `None` for a delay.
    pub servers: Option<f64>,
    /// Share of the highest speed that is used; `None` for a delay.
    pub utilization: Option<f64>,
    /// Mean number of customers at the station, waiting and in service.
    pub queue: f64,
    /// The classes that visit the station, in the model's order.
    pub classes: Vec<StationClassSolution>,
}

/// The mean values of a class at a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationClassSolution {
    /// The class.
    pub class: String,
    /// Visits per pass.
    pub visits: f64,
    /// Mean service time of a visit in seconds.
    pub service_s: f64,
    /// Visits per second.
    pub throughput_per_s: f64,
    /// Share of the station's highest speed that the class uses; `None` for a delay.
    pub utilization: Option<f64>,
    /// Mean number of customers of the class at the station.
    pub queue: f64,
    /// Response time of a visit in seconds; `None` without visits.
    pub response_s: Option<f64>,
    /// Residence time of a pass in seconds: visits × response time.
    pub residence_s: Option<f64>,
}

impl StationClassSolution {
    /// Waiting time of a visit in seconds: response time minus service time.
    #[must_use]
    pub fn waiting_s(&self) -> Option<f64> {
        self.response_s.map(|response_s| (response_s - self.service_s).max(0.0))
    }
}
