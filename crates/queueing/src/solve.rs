//! Solves a [`QueueingNetwork`](crate::network::QueueingNetwork) without simulating it.
//!
//! Closed networks go to [`crate::mva`], open ones to the balance of births and deaths ([`crate::birth_death`]), mixed
//! ones to both: open classes take their part of each station's speed, closed ones get what is left. A network that
//! has no product form is not quietly solved as if it had: either there is an exact solution for its one queue
//! ([`one_queue`], [`closed_queue`]), or the answer is the list of what it breaks, and [`Settings::approximate`] has it ignored and
//! named.

mod assumptions;
pub mod bounds;
mod closed_queue;
mod one_queue;
mod product_form;
mod solution;
mod visits;

use serde::Serialize;
use thiserror::Error;

pub use assumptions::Broken;
pub use solution::{
    ClassSolution, MethodUsed, QUANTILES, Quantile, Solution, StationClassSolution, StationSolution,
};
pub use visits::visits;

use crate::network::{Finding, QueueingNetwork};

/// How to solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// Exactly where that is affordable, else by Linearizer.
    #[default]
    Automatic,
    /// Exactly whatever it costs, as long as memory allows.
    Exact,
    /// Linearizer.
    Linearizer,
    /// Bard and Schweitzer until nothing moves.
    Schweitzer,
    /// Bard and Schweitzer with PDQ's stopping rule.
    Pdq,
}

/// What to do with a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// How to solve closed classes.
    pub method: Method,
    /// Whether to ignore broken assumptions that can be ignored.
    pub approximate: bool,
}

/// A station that cannot keep up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Saturated {
    /// The station.
    pub station: String,
    /// What the open classes ask of it, in its full speeds: at least 1.
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
    let told: Vec<String> = stations
        .iter()
        .map(|at| format!("station {:?} is saturated: U = {:.4}", at.station, at.utilization))
        .collect();
    told.join("; ")
}

/// What an exact solution of closed classes takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Populations that it goes through.
    pub populations: f64,
    /// Elementary steps; a core makes some 10⁸ of them in a second.
    pub steps: f64,
    /// Whether Linearizer could be used instead.
    pub linearizer: bool,
}

/// What an exact solution takes; nothing when the network makes no sense, nothing of it is closed, a station is
/// saturated, or an exact solution is too large to be tried.
#[must_use]
pub fn exact_effort(network: &QueueingNetwork) -> Option<Effort> {
    let (visits, _) = assumed(network).ok()?;
    product_form::effort(network, &visits)
}

/// What of product form a network breaks; nothing, when its mean values have an exact solution.
///
/// # Errors
/// What is wrong with the network.
pub fn broken(network: &QueueingNetwork) -> Result<Vec<Broken>, SolveError> {
    assumed(network).map(|(_, broken)| broken)
}

/// Visits by class and station, and the broken assumptions.
fn assumed(network: &QueueingNetwork) -> Result<(Vec<Vec<f64>>, Vec<Broken>), SolveError> {
    let findings = network.validate();
    if !findings.is_empty() {
        return Err(SolveError::Invalid(findings));
    }
    let visits: Vec<Vec<f64>> = network
        .classes
        .iter()
        .map(|class| {
            visits::visits(network, &class.name)
                .ok_or_else(|| SolveError::NeverLeaves { class: class.name.clone() })
        })
        .collect::<Result<_, _>>()?;
    let broken = assumptions::broken(network, &visits);
    Ok((visits, broken))
}

/// Solves a network.
///
/// # Errors
/// [`SolveError`]: what is wrong with the network, or why it has no solution of this kind.
pub fn solve(network: &QueueingNetwork, settings: Settings) -> Result<Solution, SolveError> {
    let (visits, broken) = assumed(network)?;
    if !broken.is_empty() {
        if let Some(solution) = one_queue::solve(network, &visits, &broken) {
            return solution;
        }
        if let Some(solution) = closed_queue::solve(network, &visits, &broken, settings.approximate) {
            return Ok(solution);
        }
        if !settings.approximate || !broken.iter().all(Broken::can_be_ignored) {
            return Err(SolveError::NoProductForm(broken));
        }
    }
    product_form::solve(network, &visits, settings.method, broken)
}
