//! The smallest effects that a design can show, before its first trial.

use serde::{Deserialize, Serialize};

use super::contrasts::{INTERACTIONS_MAX, interactions_count};
use super::power::smallest_effect;
use crate::design::{CaseSet, DesignKind};
use crate::scale::ResponseScale;

/// The smallest main effect of a factor that an experiment can be expected to show.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlannedEffect {
    /// The factor, as an index.
    pub factor: usize,
    /// The smallest increase that is found in 9 of 10 experiments, in percent or in percentage points; `None` if it is not finite.
    pub smallest: Option<f64>,
}

/// The smallest main effects of all factors with `blocks` blocks, if trials of one case have the standard deviation `trial_sd`
/// within a block: a coefficient of variation for ratios, a difference for shares.
///
/// In a full factorial, each side of a main effect is the mean of several trials of a block. The effects are tested as in the
/// analysis, at the level of Holm's first step, which is cautious if there are several effects. `error` is that of the analysis.
#[must_use]
pub fn planned_effects(
    cases: &CaseSet,
    scale: ResponseScale,
    blocks: u32,
    trial_sd: f64,
    error: f64,
) -> Vec<PlannedEffect> {
    let main: usize = cases.factors().iter().map(|factor| factor.levels.len() - 1).sum();
    let interactions = match cases.kind() {
        DesignKind::FullFactorial => {
            Some(interactions_count(cases)).filter(|count| *count <= INTERACTIONS_MAX)
        }
        DesignKind::OneAtATime | DesignKind::Paired => None,
    };
    let confidence = 1.0 - error / (main + interactions.unwrap_or(0)) as f64;
    let planned = cases.factors().iter().enumerate().map(|(factor, levels)| {
        let trials_per_side = match cases.kind() {
            DesignKind::FullFactorial => cases.count() as usize / levels.levels.len(),
            DesignKind::OneAtATime | DesignKind::Paired => 1,
        };
        let sd = trial_sd * (2.0 / trials_per_side as f64).sqrt();
        PlannedEffect { factor, smallest: smallest_effect(scale, blocks as usize, sd, confidence) }
    });
    planned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DesignFactor;

    fn planned(kind: DesignKind, levels: &[usize], blocks: u32) -> Vec<f64> {
        let factors = levels.iter().enumerate().map(|(at, levels)| DesignFactor {
            name: at.to_string(),
            levels: (0..*levels).map(|level| level.to_string()).collect(),
            base: 0,
        });
        let cases = CaseSet::new(kind, factors.collect(), 1_000).unwrap();
        let planned = planned_effects(&cases, ResponseScale::Ratio, blocks, 0.03, 0.05);
        planned.into_iter().map(|effect| effect.smallest.unwrap()).collect()
    }

    #[test]
    fn a_factorial_uses_every_trial_for_every_factor() {
        let single = planned(DesignKind::OneAtATime, &[2, 2, 2], 6);
        let full = planned(DesignKind::FullFactorial, &[2, 2, 2], 6);
        // The standard deviation is half as large with 4 trials on each side, but there are 3 more tests.
        assert!(full.iter().all(|effect| *effect < 0.7 * single[0] && *effect > 0.5 * single[0]), "{full:?}");
    }

    #[test]
    fn two_cases_are_tested_without_correction() {
        let sd = 0.03 * 2.0_f64.sqrt();
        let expected = smallest_effect(ResponseScale::Ratio, 6, sd, 0.95).unwrap();
        assert_eq!(planned(DesignKind::Paired, &[2], 6), [expected]);
    }
}
