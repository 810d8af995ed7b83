//! Solves a [`QueueingNetwork`](crate::network::QueueingNetwork) without simulating it.
//!
//! Closed networks are solved by [`crate::mva`], open networks by [`crate::birth_death`], and mixed networks by both: open
//! classes use their part of each station's speed, and closed classes share the rest.
//!
//! A network without product form is solved exactly if it has only one queue with a known solution ([`one_queue`],
//! [`closed_queue`]). Otherwise the result is an error with the list of broken assumptions. With
//! [`SolveSettings::approximate`] the network is solved as if they held, and the solution lists them.

mod assumptions;
pub mod bounds;
mod closed_queue;
mod error;
mod method;
mod one_queue;
mod product_form;
mod solution;
mod visits;

pub use assumptions::BrokenAssumption;
pub use error::{Saturated, SolveError};
pub use method::{Effort, Method, SolveSettings};
pub use solution::{
    ClassSolution, MethodUsed, QUANTILES, Quantile, Solution, StationClassSolution, StationSolution,
};
pub use visits::visits;

use crate::network::QueueingNetwork;

/// The effort of an exact solution. `None` if the network is invalid, if it has a saturated station or no closed class, or if an
/// exact solution is too large.
#[must_use]
pub fn exact_effort(network: &QueueingNetwork) -> Option<Effort> {
    let (visits, _) = check_assumptions(network).ok()?;
    product_form::effort(network, &visits)
}

/// The assumptions of product form that a network breaks. The list is empty if the product-form solution is exact.
///
/// # Errors
/// The network is invalid, or customers never leave it.
pub fn broken_assumptions(network: &QueueingNetwork) -> Result<Vec<BrokenAssumption>, SolveError> {
    check_assumptions(network).map(|(_, broken)| broken)
}

/// Visits by class and station, and the broken assumptions.
fn check_assumptions(
    network: &QueueingNetwork,
) -> Result<(Vec<Vec<f64>>, Vec<BrokenAssumption>), SolveError> {
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
    let broken = assumptions::broken_assumptions(network, &visits);
    Ok((visits, broken))
}

/// Solves a network.
///
/// # Errors
/// See [`SolveError`].
pub fn solve(network: &QueueingNetwork, settings: SolveSettings) -> Result<Solution, SolveError> {
    let (visits, broken) = check_assumptions(network)?;
    if !broken.is_empty() {
        if let Some(solution) = one_queue::solve(network, &visits, &broken) {
            return solution;
        }
        if let Some(solution) = closed_queue::solve(network, &visits, &broken, settings.approximate) {
            return Ok(solution);
        }
        if !settings.approximate || !broken.iter().all(BrokenAssumption::can_be_ignored) {
            return Err(SolveError::NoProductForm(broken));
        }
    }
    product_form::solve(network, &visits, settings.method, broken)
}
