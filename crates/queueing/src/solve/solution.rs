//! The solution of a network.

use serde::Serialize;

use super::assumptions::Broken;
use super::bounds::Bounds;

/// The quantiles that are given where they are known.
pub const QUANTILES: [f64; 4] = [0.5, 0.9, 0.95, 0.99];

/// How a network was solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodUsed {
    /// Open classes only: product form, exact.
    Open,
    /// Exact mean value analysis.
    ExactMva,
    /// Exact, by convolution.
    Convolution,
    /// Linearizer.
    Linearizer,
    /// Bard and Schweitzer.
    Schweitzer,
    /// Bard and Schweitzer with PDQ's stopping rule.
    Pdq,
    /// M/G/1 by Pollaczek and Khinchine, exact.
    PollaczekKhinchine,
    /// M/G/1 with priorities by Cobham, exact.
    Priorities,
    /// M/M/m/K, exact.
    Loss,
    /// M/G/1//N by its busy periods, exact.
    BusyPeriods,
}

impl MethodUsed {
    /// Whether its mean values are those of the model, not near them.
    #[must_use]
    pub fn is_exact(self) -> bool {
        !matches!(self, Self::Linearizer | Self::Schweitzer | Self::Pdq)
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
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
            Self::BusyPeriods => "M/G/1//N by its busy periods, exact",
        }
    }
}

/// The mean values of a network in equilibrium.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solution {
    /// How they were found.
    pub method: MethodUsed,
    /// Assumptions of the method that the network breaks and that were ignored: then nothing is exact.
    pub ignored: Vec<Broken>,
    /// The classes, in the model's order.
    pub classes: Vec<ClassSolution>,
    /// The stations, in the model's order.
    pub stations: Vec<StationSolution>,
    /// By how much all open classes together can grow until a station is saturated; `None` without open classes.
    pub open_growth_max: Option<f64>,
}

/// What a class gets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassSolution {
    /// Its name.
    pub name: String,
    /// Customers N of a closed class.
    pub users: Option<u64>,
    /// Think time Z of a closed class in seconds.
    pub think_s: Option<f64>,
    /// Arrivals of an open class per second.
    pub arrivals_per_s: Option<f64>,
    /// Throughput X in passes per second that were served to their end.
    pub throughput_per_s: f64,
    /// Response time R of a pass in seconds; `None` for a class without customers.
    pub response_s: Option<f64>,
    /// Customers in the network without thinking ones: Q = XR.
    pub in_system: f64,
    /// Service demand D of a pass in seconds: its response time if it never waited.
    pub demand_s: f64,
    /// Passes per second that end because a station was full; `None` where no station drops.
    pub lost_per_s: Option<f64>,
    /// The same as a share of arrivals.
    pub lost_share: Option<f64>,
    /// Quantiles of the response time, where they are known exactly.
    pub quantiles: Vec<Quantile>,
    /// Bounds, for a closed class that is alone.
    pub bounds: Option<Bounds>,
}

/// A response time that is not exceeded by a share of passes.
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

/// What happens at a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationSolution {
    /// Its name.
    pub name: String,
    /// How fast it works at most, in servers; `None` for a delay.
    pub servers: Option<f64>,
    /// Share of that which is used; `None` for a delay.
    pub utilization: Option<f64>,
    /// Customers at the station, waiting and in service.
    pub queue: f64,
    /// Each class, in the model's order; those that never come are left out.
    pub classes: Vec<StationClassSolution>,
}

/// What a class gets at a station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StationClassSolution {
    /// The class.
    pub class: String,
    /// Visits of a pass.
    pub visits: f64,
    /// Mean service time of a visit in seconds.
    pub service_s: f64,
    /// Visits per second.
    pub throughput_per_s: f64,
    /// Share of the station's full speed that the class uses; `None` for a delay.
    pub utilization: Option<f64>,
    /// Customers of the class at the station.
    pub queue: f64,
    /// Response time of a visit in seconds; `None` without visits.
    pub response_s: Option<f64>,
    /// Residence time of a pass in seconds: visits × response time.
    pub residence_s: Option<f64>,
}

impl StationClassSolution {
    /// Waiting time of a visit in seconds: what the response is longer than the service.
    #[must_use]
    pub fn waiting_s(&self) -> Option<f64> {
        self.response_s.map(|response_s| (response_s - self.service_s).max(0.0))
    }
}
