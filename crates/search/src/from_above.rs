//! Hysteresis: how far the half-pass load falls after an overload.

use crate::posterior::{Posterior, Quantiles};

/// The shift of the half-pass load: from a rise by a factor of 1.5 to a fall by a factor of 3.
const SHIFT_MIN: f64 = -0.405;
const SHIFT_MAX: f64 = 1.099;
const SHIFTS: usize = 151;

/// Scale of the prior of the shift, which is a Laplace distribution around 0.
const PRIOR_SCALE: f64 = 0.1;

/// Curves with less weight are left out.
const WEIGHT_MIN: f64 = 1e-5;

/// The outcome of a trial that began with an overload.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FromAbove {
    /// Logarithm of the load.
    pub x: f64,
    /// Whether it passed.
    pub passed: bool,
}

/// The median and the 95 % interval of the fall of the half-pass load: the logarithm of the half-pass load of trials that start
/// without an overload minus that of trials from above. It includes the uncertainty of the pass curve.
pub(crate) fn shift(posterior: &Posterior, outcomes: &[FromAbove]) -> Quantiles {
    let mut weights = vec![0.0; SHIFTS];
    for curve in posterior.curves().iter().filter(|curve| curve.weight > WEIGHT_MIN) {
        for (at, weight) in weights.iter_mut().enumerate() {
            let likelihood: f64 = outcomes
                .iter()
                .map(|outcome| {
                    let passes = curve.pass_probability(outcome.x + shift_at(at), 1.0);
                    if outcome.passed { passes } else { 1.0 - passes }
                })
                .product();
            *weight += curve.weight * likelihood;
        }
    }
    for (at, weight) in weights.iter_mut().enumerate() {
        *weight *= (-shift_at(at).abs() / PRIOR_SCALE).exp();
    }
    let total: f64 = weights.iter().sum();
    let quantile = |wanted: f64| {
        let mut below = 0.0;
        let at = weights.iter().position(|weight| {
            below += weight / total;
            below >= wanted
        });
        shift_at(at.unwrap_or(SHIFTS - 1))
    };
    Quantiles::of(quantile)
}

fn shift_at(at: usize) -> f64 {
    SHIFT_MIN + (SHIFT_MAX - SHIFT_MIN) * at as f64 / (SHIFTS - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::{Observation, Prior};

    #[test]
    fn failures_from_above_at_loads_that_pass_from_below_are_hysteresis() {
        let at = |load: f64, passed: bool| Observation { x: load.ln(), share: 1.0, passed };
        let mut observations = vec![at(98.0, true); 8];
        observations.extend([at(102.0, false); 8]);
        let prior = Prior { low: 0.0, high: 10.0, guess: None };
        let posterior = Posterior::new(&prior, &observations);
        let from_above = |outcomes: &[(f64, bool)]| -> Vec<FromAbove> {
            outcomes.iter().map(|(load, passed)| FromAbove { x: load.ln(), passed: *passed }).collect()
        };
        let none = shift(&posterior, &from_above(&[(98.0, true), (98.0, true), (102.0, false)]));
        assert!(none.low < 0.0 && none.high < 0.05, "{none:?}");
        let lower =
            shift(&posterior, &from_above(&[(98.0, false), (90.0, false), (80.0, true), (85.0, true)]));
        assert!(lower.low > 0.08 && lower.high < 0.2, "{lower:?}");
    }
}
