//! Repetitions until intervals are narrow enough, with the error of repeated looks controlled.

use super::analysis::{ExperimentAnalysis, RankedFactor};

/// The factor between the numbers of blocks of two looks.
const GROWTH: f64 = 1.4;

/// The numbers of blocks at which the intervals are computed, and the error of each look.
///
/// The error is divided over the looks in advance, so that the probability of a wrong statement at *any* of them is at most the
/// total (alpha spending: Lan and DeMets, Biometrika 70, 1983, page 659; repeated confidence intervals: Jennison and Turnbull,
/// Journal of the Royal Statistical Society B 51, 1989, page 305). The shares follow ln(1 + (e − 1)·t) of Lan and DeMets, where t
/// is the share of the largest number of blocks. The looks are combined with Bonferroni's inequality, so that the bound holds for
/// any reason to stop and with Student's t for few blocks, where boundaries for known variances are too narrow.
#[derive(Debug, Clone, PartialEq)]
pub struct LookPlan {
    looks: Vec<Look>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Look {
    blocks: u32,
    error: f64,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LooksError {
    /// The numbers of blocks are not possible.
    #[error(
        "repetitions from {min} to {max} are not possible: at least 2 are needed, and not fewer than the smallest number"
    )]
    Blocks {
        /// The smallest number.
        min: u32,
        /// The largest number.
        max: u32,
    },
    /// The total error is not above 0 and below 1.
    #[error("the error {0} is not above 0 and below 1")]
    Error(f64),
}

/// What to do after a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LookDecision {
    /// Execute blocks until there are this many.
    Continue {
        /// Number of blocks of the next look.
        blocks: u32,
    },
    /// All intervals are narrow enough. They have this error.
    NarrowEnough {
        /// The error of the family of intervals at this look.
        error: f64,
    },
    /// The largest number of blocks is reached, and an interval is too wide.
    TooWide {
        /// The error of the family of intervals at this look.
        error: f64,
    },
}

impl LookPlan {
    /// The looks from `min` to `max` blocks with a total error, for example 0.05.
    ///
    /// # Errors
    /// The numbers of blocks or the error are not possible.
    pub fn new(min: u32, max: u32, error: f64) -> Result<LookPlan, LooksError> {
        if min < 2 || max < min {
            return Err(LooksError::Blocks { min, max });
        }
        if !(error > 0.0 && error < 1.0) {
            return Err(LooksError::Error(error));
        }
        let mut looks = Vec::new();
        let (mut blocks, mut spent) = (min, 0.0);
        loop {
            let share = (1.0 + (std::f64::consts::E - 1.0) * f64::from(blocks) / f64::from(max)).ln();
            looks.push(Look { blocks, error: error * (share - spent) });
            spent = share;
            if blocks == max {
                return Ok(LookPlan { looks });
            }
            let next = (f64::from(blocks) * GROWTH).ceil() as u32;
            // A look shortly before the last one would use a part of the error without benefit.
            blocks = if f64::from(next) * (1.0 + GROWTH) / 2.0 > f64::from(max) { max } else { next };
        }
    }

    /// The numbers of blocks of the looks, with the error of each.
    pub fn looks(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.looks.iter().map(|look| (look.blocks, look.error))
    }

    /// Number of blocks of the first look.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.looks.first().map_or(0, |look| look.blocks)
    }

    /// The error for an analysis after `blocks` blocks, even if the experiment ends between two looks: the analysis
    /// then replaces the next look. After the last look, it has the error of the last look.
    #[must_use]
    pub fn error_at(&self, blocks: u32) -> f64 {
        let at = self.looks.partition_point(|look| look.blocks < blocks);
        self.looks.get(at).or(self.looks.last()).map_or(0.0, |look| look.error)
    }

    /// Decides after `blocks` blocks, from the analysis of these blocks with the error [`error_at`](Self::error_at). The intervals of
    /// all main effects must be narrow enough. `half_width` is the largest half width: a share of the ratio, or a difference of
    /// shares.
    #[must_use]
    pub fn decide(&self, blocks: u32, analysis: &ExperimentAnalysis, half_width: f64) -> LookDecision {
        let error = self.error_at(blocks);
        let at = self.looks.partition_point(|look| look.blocks <= blocks);
        let is_look = at > 0 && self.looks[at - 1].blocks == blocks;
        let largest = analysis.scale.from_percent(100.0 * half_width);
        let is_narrow = |ranked: &RankedFactor| ranked.widest.is_some_and(|half_width| half_width <= largest);
        if is_look && !analysis.factors.is_empty() && analysis.factors.iter().all(is_narrow) {
            return LookDecision::NarrowEnough { error };
        }
        match self.looks.get(at) {
            Some(next) => LookDecision::Continue { blocks: next.blocks },
            None => LookDecision::TooWide { error },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{CaseSet, DesignFactor, DesignKind};
    use crate::effects::analysis::{AnalysisSettings, analyse};
    use crate::effects::table::{ResponseTable, TrialValue};
    use crate::scale::ResponseScale;

    #[test]
    fn the_errors_of_all_looks_sum_to_the_total() {
        for (min, max) in [(2, 2), (2, 3), (4, 30), (3, 1_000), (29, 30)] {
            let plan = LookPlan::new(min, max, 0.05).unwrap();
            let looks: Vec<(u32, f64)> = plan.looks().collect();
            let sum: f64 = looks.iter().map(|(_, error)| error).sum();
            assert!((sum - 0.05).abs() < 1e-12 && looks.iter().all(|(_, error)| *error > 0.0), "{looks:?}");
            assert_eq!((looks[0].0, looks[looks.len() - 1].0), (min, max));
            assert!(looks.windows(2).all(|pair| pair[0].0 < pair[1].0), "{looks:?}");
        }
        let blocks: Vec<u32> = LookPlan::new(4, 30, 0.05).unwrap().looks().map(|look| look.0).collect();
        assert_eq!(blocks, [4, 6, 9, 13, 19, 30]);
        assert!(LookPlan::new(1, 5, 0.05).is_err() && LookPlan::new(5, 4, 0.05).is_err());
        assert!(LookPlan::new(2, 4, 0.0).is_err() && LookPlan::new(2, 4, f64::NAN).is_err());
    }

    fn analysed(rows: &[[f64; 3]], error: f64) -> ExperimentAnalysis {
        let factor = DesignFactor {
            name: "f".to_owned(),
            levels: ["0", "1", "2"].map(str::to_owned).to_vec(),
            base: 0,
        };
        let cases = CaseSet::new(DesignKind::OneAtATime, vec![factor], 10).unwrap();
        let values = rows.iter().zip(1..).flat_map(|(row, block)| {
            row.iter().zip(1..).map(move |(value, case)| TrialValue { block, case, value: *value })
        });
        let table = ResponseTable::new(3, ResponseScale::Ratio, values).unwrap();
        analyse(&cases, &table, AnalysisSettings { error })
    }

    #[test]
    fn repetitions_end_when_all_intervals_are_narrow() {
        let plan = LookPlan::new(4, 30, 0.05).unwrap();
        let decide =
            |blocks, rows: &[[f64; 3]]| plan.decide(blocks, &analysed(rows, plan.error_at(blocks)), 0.05);
        let narrow = [[10.0, 11.0, 12.0], [10.0, 11.01, 12.01], [10.0, 11.0, 11.99], [10.0, 10.99, 12.0]];
        let wide = narrow.map(|[base, one, two]| [base, one, two + 300.0 * (one - 11.0)]);
        assert!(matches!(decide(4, &narrow), LookDecision::NarrowEnough { .. }));
        assert_eq!(decide(4, &wide), LookDecision::Continue { blocks: 6 });
        assert_eq!(decide(4, &narrow[..1]), LookDecision::Continue { blocks: 6 });
        assert_eq!(decide(5, &narrow), LookDecision::Continue { blocks: 6 });
        assert_eq!(decide(0, &[]), LookDecision::Continue { blocks: 4 });
        assert!(matches!(decide(30, &wide), LookDecision::TooWide { .. }));
    }

    #[test]
    fn an_analysis_between_looks_replaces_the_next_look() {
        let plan = LookPlan::new(4, 30, 0.05).unwrap();
        assert_eq!(plan.error_at(5), plan.error_at(6));
        assert_ne!(plan.error_at(4), plan.error_at(5));
        assert_eq!(plan.error_at(99), plan.error_at(30));
    }
}
