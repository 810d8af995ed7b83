//! Why a network has no solution.

use serde::Serialize;
use thiserror::Error;

use crate::network::Finding;
use crate::solve::assumptions::Broken;

/// A station that cannot keep up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saturated {
    /// The station.
    pub station: String,
    /// The load of the open classes relative to its full speed: at least 1.
    pub utilization: f64,
}

/// Why there is no solution.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SolveError {
    /// The network makes no sense.
    #[error("the model makes no sense: {}", list(.0))]
    Invalid(Vec<Finding>),
    /// Its equations have no exact solution here, and approximation was not allowed or makes no sense.
    #[error("the model has no product form: {}", list(.0))]
    NoProductForm(Vec<Broken>),
    /// Queues grow without end.
    #[error("{}", saturated(.0))]
    Saturated(Vec<Saturated>),
    /// A class never comes back outside.
    #[error("customers of the class {class:?} never leave the network")]
    NeverLeaves {
        /// The class.
        class: String,
    },
    /// A closed class goes round in no time at all.
    #[error("the class {class:?} neither thinks nor is served: its throughput would be infinite")]
    NoTime {
        /// The class.
        class: String,
    },
    /// The exact solution needs too much memory or time.
    #[error("an exact solution goes through {populations:.3e} populations; that is too many{}", if *.linearizer { "" } else { ", and the approximations do not support load-dependent speeds (such as those of servers that open and closed classes share)" })]
    TooLarge {
        /// How many.
        populations: f64,
        /// Whether Linearizer could do it.
        linearizer: bool,
    },
}

fn list(items: &[impl ToString]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn saturated(stations: &[Saturated]) -> String {
    let reported: Vec<String> = stations
        .iter()
        .map(|at| format!("station {:?} is saturated: U = {:.4}", at.station, at.utilization))
        .collect();
    reported.join("; ")
}
