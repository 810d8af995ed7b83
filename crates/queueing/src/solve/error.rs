//! Why a network has no solution.

use serde::Serialize;
use thiserror::Error;

use crate::network::NetworkFinding;
use crate::solve::assumptions::BrokenAssumption;

/// A saturated station.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saturated {
    /// The station.
    pub station: String,
    /// The load of the open classes relative to the full speed of the station, at least 1.
    pub utilization: f64,
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SolveError {
    /// The network is inconsistent.
    #[error("the model is invalid: {}", list(.0))]
    Invalid(Vec<NetworkFinding>),
    /// There is no exact solution, and an approximation was not requested or is not possible.
    #[error("the model has no product form: {}", list(.0))]
    NoProductForm(Vec<BrokenAssumption>),
    /// Queues grow without limit.
    #[error("{}", saturated(.0))]
    Saturated(Vec<Saturated>),
    /// Customers of a class never return to the place outside of all stations.
    #[error("customers of the class {class:?} never leave the network")]
    NeverLeaves {
        /// The class.
        class: String,
    },
    /// A pass of a closed class takes no time.
    #[error("the class {class:?} has no think time and no service: its throughput would be infinite")]
    NoTime {
        /// The class.
        class: String,
    },
    /// The exact solution needs too much memory or time.
    #[error(
        "an exact solution evaluates {populations:.3e} populations, which is too many{}",
        if *.linearizer {
            ""
        } else {
            ", and the approximations do not support load-dependent speeds (such as those of servers that open and closed \
             classes share)"
        }
    )]
    TooLarge {
        /// Number of populations.
        populations: f64,
        /// Whether Linearizer is applicable.
        linearizer: bool,
    },
}

fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn saturated(stations: &[Saturated]) -> String {
    let messages: Vec<String> = stations
        .iter()
        .map(|station| format!("station {:?} is saturated: U = {:.4}", station.station, station.utilization))
        .collect();
    messages.join("; ")
}
