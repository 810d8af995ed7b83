//! The trials of an experiment and their order.

use serde::{Deserialize, Serialize};

use super::case_set::{CaseCount, CaseSet, CasesError, DesignFactor, DesignKind};
use super::order::TrialOrder;
use super::seeds::{Purpose, SplitMix64};
use super::trial_id::TrialId;

/// The largest number of trials of an experiment.
pub const TRIALS_MAX: u64 = 100_000;

/// The plan of the trials of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesignPlan {
    /// Number of blocks. If trials end when an interval is narrow enough, the largest number.
    pub blocks: u32,
    /// Order of the trials.
    pub order: TrialOrder,
    /// Number of warm-up trials before the first block.
    pub warm_up: u32,
    /// Seed of the orders and of the arrivals.
    pub seed: u64,
    /// Largest number of attempts of a trial that fails or is spoiled.
    pub attempts_max: u32,
    /// Largest number of trials, at most [`TRIALS_MAX`].
    pub trials_max: u64,
}

/// The design of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Design {
    cases: CaseSet,
    plan: DesignPlan,
}

/// A trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trial {
    /// The identifier.
    pub id: TrialId,
    /// Seed of the arrivals. All cases of a block, and repeated attempts, have the same.
    pub arrivals_seed: u64,
}

/// Why a design is not possible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum DesignError {
    /// The factors do not give cases.
    #[error(transparent)]
    Cases(#[from] CasesError),
    /// There are no blocks.
    #[error(
        "an experiment needs at least 2 repetitions, because intervals come from the variation between them; {0} was given"
    )]
    FewBlocks(u32),
    /// There are too many trials.
    #[error(
        "the experiment has {trials} trials ({cases} cases, {blocks} repetitions, {warm_up} warm-up trials), more than the limit of {limit}"
    )]
    TooManyTrials {
        /// The number of trials, in digits or as a power of ten.
        trials: String,
        /// The number of cases.
        cases: String,
        /// The number of repetitions.
        blocks: u32,
        /// The number of warm-up trials.
        warm_up: u32,
        /// The limit.
        limit: u64,
    },
}

impl Design {
    /// The design with the cases of `factors`.
    ///
    /// # Errors
    /// The factors do not allow the design, or there are too many trials.
    pub fn new(
        kind: DesignKind,
        factors: Vec<DesignFactor>,
        plan: DesignPlan,
    ) -> Result<Design, DesignError> {
        if plan.blocks < 2 {
            return Err(DesignError::FewBlocks(plan.blocks));
        }
        let limit = plan.trials_max.min(TRIALS_MAX);
        let count = CaseCount::of(kind, factors.iter().map(|factor| factor.levels.len()));
        let trials = count.times(u64::from(plan.blocks)).plus(u64::from(plan.warm_up));
        let is_valid = factors.iter().all(|factor| !factor.levels.is_empty());
        if is_valid && !trials.is_at_most(limit) {
            return Err(DesignError::TooManyTrials {
                trials: trials.to_string(),
                cases: count.to_string(),
                blocks: plan.blocks,
                warm_up: plan.warm_up,
                limit,
            });
        }
        Ok(Design { cases: CaseSet::new(kind, factors, limit)?, plan })
    }

    /// The cases.
    #[must_use]
    pub fn cases(&self) -> &CaseSet {
        &self.cases
    }

    /// The plan of the trials.
    #[must_use]
    pub fn plan(&self) -> &DesignPlan {
        &self.plan
    }

    /// Number of trials with all blocks, without repeated attempts.
    #[must_use]
    pub fn trials_count(&self) -> u64 {
        u64::from(self.cases.count()) * u64::from(self.plan.blocks) + u64::from(self.plan.warm_up)
    }

    /// The warm-up trials in their order, followed by the first attempts of all trials.
    pub fn trials(&self) -> impl Iterator<Item = Trial> + '_ {
        let groups = 0..self.groups_count(self.plan.blocks);
        let cells = groups.flat_map(|group| self.group(group, self.plan.blocks));
        self.warm_up_trials(0)
            .chain(cells.map(|(block, case)| self.trial(TrialId { block, case, attempt: 1 })))
    }

    /// Number of rounds of warm-up trials, each of which has every case at most once.
    pub(super) fn warm_up_rounds(&self) -> u32 {
        self.plan.warm_up.div_ceil(self.cases.count().max(1))
    }

    /// The warm-up trials in their order: each case once in random order, and so on until there are enough. They are repeated, with
    /// other attempts, after each of the `continuations` of the experiment.
    pub fn warm_up_trials(&self, continuations: u32) -> impl Iterator<Item = Trial> + '_ {
        let rounds = self.warm_up_rounds();
        let first = rounds.saturating_mul(continuations);
        (1..=rounds)
            .flat_map(move |round| {
                let round = first.saturating_add(round);
                let order =
                    SplitMix64::of_block(self.plan.seed, round, Purpose::WarmUp).order(self.cases.count());
                order.into_iter().map(move |case| TrialId { block: 0, case, attempt: round })
            })
            .take(self.plan.warm_up as usize)
            .map(|id| self.trial(id))
    }

    /// The trial with an identifier.
    #[must_use]
    pub fn trial(&self, id: TrialId) -> Trial {
        let mut random = SplitMix64::of_block(self.plan.seed, id.block, Purpose::Arrivals);
        Trial { id, arrivals_seed: random.next() }
    }

    /// Number of groups of the first `blocks` blocks. A group is completed before the next one begins: a block, or with a
    /// sequential order all trials of a case.
    pub(super) fn groups_count(&self, blocks: u32) -> u32 {
        match self.plan.order {
            TrialOrder::Interleaved | TrialOrder::Mirrored => blocks,
            TrialOrder::Sequential => self.cases.count(),
        }
    }

    /// The blocks and cases of a group in their order. Groups are counted from 0.
    pub(super) fn group(&self, group: u32, blocks: u32) -> Vec<(u32, u32)> {
        let number = group + 1;
        match self.plan.order {
            TrialOrder::Interleaved | TrialOrder::Mirrored => {
                let cases = self.plan.order.of_block(self.plan.seed, number, self.cases.count());
                cases.into_iter().map(|case| (number, case)).collect()
            }
            TrialOrder::Sequential => (1..=blocks).map(|block| (block, number)).collect(),
        }
    }

    /// The block that a group consists of; `None` if it consists of the trials of a case.
    pub(super) fn block_of_group(&self, group: u32) -> Option<u32> {
        match self.plan.order {
            TrialOrder::Interleaved | TrialOrder::Mirrored => Some(group + 1),
            TrialOrder::Sequential => None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn design(order: TrialOrder, levels: &[usize], blocks: u32, warm_up: u32) -> Design {
        let factors = levels
            .iter()
            .enumerate()
            .map(|(at, levels)| DesignFactor {
                name: format!("f{at}"),
                levels: (0..*levels).map(|level| level.to_string()).collect(),
                base: 0,
            })
            .collect();
        let plan = DesignPlan { blocks, order, warm_up, seed: 42, attempts_max: 3, trials_max: 1_000 };
        Design::new(DesignKind::FullFactorial, factors, plan).unwrap()
    }

    #[test]
    fn blocks_are_complete_and_share_their_arrivals() {
        let design = design(TrialOrder::Interleaved, &[2, 3], 4, 0);
        let trials: Vec<Trial> = design.trials().collect();
        assert_eq!(trials.len() as u64, design.trials_count());
        for (block, trials) in trials.chunks(6).enumerate() {
            let mut cases: Vec<u32> = trials.iter().map(|trial| trial.id.case).collect();
            cases.sort_unstable();
            assert_eq!(cases, [1, 2, 3, 4, 5, 6]);
            assert!(trials.iter().all(|trial| trial.id.block == block as u32 + 1));
            assert!(trials.iter().all(|trial| trial.arrivals_seed == trials[0].arrivals_seed));
        }
        let seeds: std::collections::BTreeSet<u64> = trials.iter().map(|trial| trial.arrivals_seed).collect();
        assert_eq!(seeds.len(), 4);
        let repeated = design.trial(TrialId { attempt: 2, ..trials[3].id });
        assert_eq!(repeated.arrivals_seed, trials[3].arrivals_seed);
    }

    #[test]
    fn warm_up_trials_precede_the_first_block() {
        let design = design(TrialOrder::Interleaved, &[2], 2, 5);
        let ids: Vec<TrialId> = design.trials().map(|trial| trial.id).collect();
        assert_eq!(ids.len(), 9);
        assert!(ids[..5].iter().all(TrialId::is_warm_up) && !ids[5..].iter().any(TrialId::is_warm_up));
        let distinct: std::collections::BTreeSet<_> = ids.iter().collect();
        assert_eq!(distinct.len(), 9);
    }

    #[test]
    fn sequential_order_repeats_a_case_before_the_next() {
        let design = design(TrialOrder::Sequential, &[2], 3, 0);
        let cases: Vec<u32> = design.trials().map(|trial| trial.id.case).collect();
        assert_eq!(cases, [1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn designs_with_too_many_trials_are_refused_with_their_size() {
        let factor = |levels: usize| DesignFactor {
            name: "f".to_owned(),
            levels: (0..levels).map(|level| level.to_string()).collect(),
            base: 0,
        };
        let plan = DesignPlan {
            blocks: 6,
            order: TrialOrder::Interleaved,
            warm_up: 2,
            seed: 1,
            attempts_max: 3,
            trials_max: 500,
        };
        let error = |kind, factors| Design::new(kind, factors, plan.clone()).unwrap_err().to_string();
        let mut texts = Vec::new();
        for factors in [10, 1_000, 100_000, 1_000_000] {
            texts.push(error(DesignKind::FullFactorial, vec![factor(2); factors]));
            texts.push(error(DesignKind::OneAtATime, vec![factor(2); factors.max(100)]));
        }
        for levels in [100, 1_000_000] {
            texts.push(error(DesignKind::FullFactorial, vec![factor(levels)]));
        }
        let few = Design::new(DesignKind::Paired, vec![factor(2)], DesignPlan { blocks: 1, ..plan.clone() });
        texts.push(few.unwrap_err().to_string());
        insta::assert_snapshot!(texts.join("\n"));
    }
}
