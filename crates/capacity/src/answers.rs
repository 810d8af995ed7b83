//! The result for one combination of values of a what-if analysis, solved or simulated.

use busyhour_queueing::solve::bounds::Bounds;
use busyhour_queueing::solve::{BrokenAssumption, Solution, SolveError};
use busyhour_simulation::{Ending, SimulationError, SimulationResult};
use busyhour_stats::Estimate;

use crate::numbers::{figure, percent, two_digits};

/// A value, with half the width of its confidence interval if it was simulated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResultValue {
    /// The value.
    pub value: f64,
    /// Half the width of the value's confidence interval; `None` if the value was not simulated.
    pub half: Option<f64>,
}

impl ResultValue {
    fn exact(value: f64) -> Self {
        Self { value, half: None }
    }

    fn estimated(estimate: Estimate) -> Self {
        Self { value: estimate.value, half: Some(estimate.half_width()) }
    }

    /// The value multiplied by `factor`, for another unit.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self { value: self.value * factor, half: self.half.map(|half| half * factor) }
    }

    /// Formats the value, for instance as `205.857` or `208.99 ±0.41`.
    #[must_use]
    pub fn text(self) -> String {
        match self.half {
            None => figure(self.value),
            Some(half) => format!("{} ±{}", figure(self.value), two_digits(half)),
        }
    }
}

/// The results of a class.
pub struct ModelClassResult {
    /// Name of the class.
    pub name: String,
    /// Throughput, per second.
    pub throughput_per_s: Option<ResultValue>,
    /// Mean response time.
    pub response_s: Option<ResultValue>,
    /// Mean number of customers in the system.
    pub customers: Option<ResultValue>,
    /// Bounds on throughput and response time of a closed class; `None` for an open class.
    pub bounds: Option<Bounds>,
}

/// The results of a queue or delay.
pub struct ModelStationResult {
    /// Name of the station.
    pub name: String,
    /// Whether the station has servers, so that it has a utilization.
    pub has_servers: bool,
    /// Mean share of the servers that are busy; `None` if it is unknown.
    pub utilization: Option<ResultValue>,
    /// Mean number of customers at the station.
    pub customers: Option<ResultValue>,
}

/// The results for one combination of values.
pub struct ModelResult {
    /// The method by which the results were computed.
    pub method: String,
    /// The assumptions of the method that the model does not meet, and that were ignored.
    pub ignored: Vec<BrokenAssumption>,
    /// The results of each class of the model.
    pub classes: Vec<ModelClassResult>,
    /// The results of each station of the model.
    pub stations: Vec<ModelStationResult>,
    /// The complete result as JSON.
    pub json: serde_json::Value,
}

impl From<&Solution> for ModelResult {
    fn from(solution: &Solution) -> Self {
        Self {
            method: solution.method.description().to_owned(),
            ignored: solution.ignored.clone(),
            classes: solution
                .classes
                .iter()
                .map(|class| ModelClassResult {
                    name: class.name.clone(),
                    throughput_per_s: Some(ResultValue::exact(class.throughput_per_s)),
                    response_s: class.response_s.map(ResultValue::exact),
                    customers: Some(ResultValue::exact(class.in_system)),
                    bounds: class.bounds,
                })
                .collect(),
            stations: solution
                .stations
                .iter()
                .map(|station| ModelStationResult {
                    name: station.name.clone(),
                    has_servers: station.servers.is_some(),
                    utilization: station.utilization.map(ResultValue::exact),
                    customers: Some(ResultValue::exact(station.queue)),
                })
                .collect(),
            json: serde_json::json!({ "solution": solution }),
        }
    }
}

impl From<&SimulationResult> for ModelResult {
    fn from(found: &SimulationResult) -> Self {
        let caveat = match found.ending {
            Ending::Precise if !found.unconverged.is_empty() => {
                "; some intervals are not valid because moments are infinite"
            }
            Ending::Precise => "",
            Ending::EventsMax | Ending::Stopped => "; not all intervals are as narrow as requested",
            Ending::TooManyCustomers => "; saturated, without a steady state",
        };
        Self {
            method: format!("simulation, ± at {} % confidence{caveat}", figure(found.confidence * 100.0)),
            ignored: Vec::new(),
            classes: found
                .classes
                .iter()
                .map(|class| ModelClassResult {
                    name: class.name.clone(),
                    throughput_per_s: class.throughput_per_s.map(ResultValue::estimated),
                    response_s: class.response_s.map(ResultValue::estimated),
                    customers: class.customers.map(ResultValue::estimated),
                    bounds: None,
                })
                .collect(),
            stations: found
                .stations
                .iter()
                .filter(|station| station.serves)
                .map(|station| ModelStationResult {
                    name: station.name.clone(),
                    has_servers: station.total.utilization.is_some(),
                    utilization: station.total.utilization.map(ResultValue::estimated),
                    customers: station.total.customers.map(ResultValue::estimated),
                })
                .collect(),
            json: serde_json::json!({ "simulation": found }),
        }
    }
}

/// The reason why there is no result for a combination of values.
pub enum NoResult {
    /// The model with these values cannot be simulated.
    Simulation(SimulationError),
    /// The model with these values has no solution.
    Unsolved(SolveError),
}

impl NoResult {
    /// A short text for a cell of a table.
    #[must_use]
    pub fn short(&self) -> String {
        match self {
            Self::Unsolved(SolveError::Saturated(stations)) => stations
                .iter()
                .map(|station| {
                    format!("{} saturated ({} %)", station.station, percent(Some(station.utilization)))
                })
                .collect::<Vec<_>>()
                .join(", "),
            Self::Unsolved(SolveError::NoProductForm(_)) => "no product form".into(),
            Self::Unsolved(SolveError::TooLarge { .. }) => "too large".into(),
            Self::Unsolved(error) => error.to_string(),
            Self::Simulation(error) => error.to_string(),
        }
    }

    /// The full error message.
    #[must_use]
    pub fn long(&self) -> String {
        match self {
            Self::Simulation(error) => error.to_string(),
            Self::Unsolved(error) => error.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_two_digits() {
        let reported = |value, half| ResultValue { value, half: Some(half) }.text();
        assert_eq!(reported(208.991_23, 0.4123), "208.991 ±0.41");
        assert_eq!(reported(1234.5, 37.8), "1234.5 ±38");
        assert_eq!(reported(1.0, f64::INFINITY), "1 ±–");
        assert_eq!(ResultValue::exact(0.05).times(1e3).text(), "50");
    }
}
