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
mod error;
mod method;
mod one_queue;
mod product_form;
mod solution;
mod visits;

pub use assumptions::Broken;
pub use error::{Saturated, SolveError};
pub use method::{Effort, Method, Settings};
pub use solution::{
    ClassSolution, MethodUsed, QUANTILES, Quantile, Solution, StationClassSolution, StationSolution,
};
pub use visits::visits;

use crate::network::QueueingNetwork;

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
