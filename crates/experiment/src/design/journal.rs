//! The journal of an experiment: the outcomes of its trials, and the next trial.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::schedule::{Design, Trial};
use super::trial_id::TrialId;

/// Largest number of an attempt, which only a damaged journal exceeds.
const ATTEMPT_MAX: u32 = 1_000_000;

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum TrialOutcome {
    /// The trial is part of the analysis.
    Finished,
    /// The trial could not be executed: the system did not become ready, or ended.
    Failed {
        /// Why.
        reason: String,
    },
    /// The trial was executed under conditions that invalidate it: a stalled generator, load that was not delivered.
    Spoiled {
        /// Why.
        reason: String,
    },
    /// The experiment ended during the trial. It is repeated, and does not count as an attempt.
    Interrupted,
}

/// A trial and its outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// The trial.
    pub trial: TrialId,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextTrial {
    /// Execute this trial.
    Trial(Trial),
    /// All trials of the requested blocks are finished or given up.
    Done,
}

/// A block and case without a result, because all attempts since the last continuation failed or were spoiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// The block.
    pub block: u32,
    /// The case.
    pub case: u32,
    /// Number of failed attempts.
    pub failed: u32,
    /// Number of spoiled attempts.
    pub spoiled: u32,
}

/// Why an entry does not belong to the experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EntryError {
    /// The trial is not part of the design.
    #[error("the trial {0} is not part of the experiment; the experiment was changed after its first trial")]
    Unknown(TrialId),
    /// The trial was recorded before.
    #[error("the trial {0} was recorded twice")]
    Repeated(TrialId),
    /// The block and case has a result.
    #[error("the trial {0} follows a finished attempt of the same block and case")]
    AfterFinished(TrialId),
}

/// The attempts of a block and case.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// Number of the last attempt.
    last: u32,
    finished: Option<u32>,
    failed: u32,
    spoiled: u32,
    interrupted: u32,
    /// Number of failed and spoiled attempts since the last continuation.
    tried: u32,
}

impl Cell {
    fn is_closed(&self, attempts_max: u32) -> bool {
        self.finished.is_some() || self.is_given_up(attempts_max)
    }

    fn is_given_up(&self, attempts_max: u32) -> bool {
        self.finished.is_none() && self.tried >= attempts_max.max(1)
    }
}

/// The outcomes of the trials of a design.
#[derive(Debug, Clone)]
pub struct Journal<'d> {
    design: &'d Design,
    cells: BTreeMap<(u32, u32), Cell>,
    /// Number of closed cells of each block.
    closed: BTreeMap<u32, u32>,
    warm_up: BTreeMap<(u32, u32), TrialOutcome>,
    /// How often the experiment was continued after an interruption.
    continuations: u32,
}

impl<'d> Journal<'d> {
    /// An empty journal.
    #[must_use]
    pub fn new(design: &'d Design) -> Journal<'d> {
        Journal {
            design,
            cells: BTreeMap::new(),
            closed: BTreeMap::new(),
            warm_up: BTreeMap::new(),
            continuations: 0,
        }
    }

    /// Continues the experiment after an interruption. The warm-up trials are executed again, because the machine may
    /// have been restarted or used for other tasks in the meantime. Trials without a result have all of their attempts again, because
    /// the cause of their failures may have been removed.
    pub fn continue_after_interruption(&mut self) {
        self.continuations = self.continuations.saturating_add(1);
        let attempts_max = self.design.plan().attempts_max;
        for ((block, _), cell) in &mut self.cells {
            if cell.is_given_up(attempts_max)
                && let Some(closed) = self.closed.get_mut(block)
            {
                *closed = closed.saturating_sub(1);
            }
            cell.tried = 0;
        }
    }

    /// Records the outcome of a trial. Blocks after the last one of the design are accepted, because the number of repetitions may
    /// be reduced after some of them were executed.
    ///
    /// # Errors
    /// The trial is not part of the design, or has an outcome already.
    pub fn record(&mut self, entry: &JournalEntry) -> Result<(), EntryError> {
        let id = entry.trial;
        let plan = self.design.plan();
        if id.case == 0 || id.case > self.design.cases().count() || id.attempt > ATTEMPT_MAX {
            return Err(EntryError::Unknown(id));
        }
        if id.is_warm_up() {
            let executions = self.continuations.saturating_add(1);
            let rounds = self.design.warm_up_rounds().saturating_mul(executions);
            return if id.attempt > rounds {
                Err(EntryError::Unknown(id))
            } else if self.warm_up.insert((id.attempt, id.case), entry.outcome.clone()).is_some() {
                Err(EntryError::Repeated(id))
            } else {
                Ok(())
            };
        }
        let cell = self.cells.entry((id.block, id.case)).or_default();
        if id.attempt <= cell.last {
            return Err(EntryError::Repeated(id));
        }
        if cell.finished.is_some() {
            return Err(EntryError::AfterFinished(id));
        }
        let was_closed = cell.is_closed(plan.attempts_max);
        cell.last = id.attempt;
        match entry.outcome {
            TrialOutcome::Finished => cell.finished = Some(id.attempt),
            TrialOutcome::Failed { .. } => (cell.failed, cell.tried) = (cell.failed + 1, cell.tried + 1),
            TrialOutcome::Spoiled { .. } => (cell.spoiled, cell.tried) = (cell.spoiled + 1, cell.tried + 1),
            TrialOutcome::Interrupted => cell.interrupted += 1,
        }
        if !was_closed && cell.is_closed(plan.attempts_max) {
            *self.closed.entry(id.block).or_default() += 1;
        }
        Ok(())
    }

    /// The next trial of the first `blocks` blocks. Warm-up trials come first, unless all blocks are complete. They are not repeated
    /// before the experiment is continued after an interruption. A trial without a result is repeated after the other trials of its
    /// block.
    #[must_use]
    pub fn next(&self, blocks: u32) -> NextTrial {
        match (self.next_of_blocks(blocks), self.open_warm_up_trials().next()) {
            (NextTrial::Trial(_), Some(warm_up)) => NextTrial::Trial(warm_up),
            (next, _) => next,
        }
    }

    /// The warm-up trials that are open since the start, or since the last continuation.
    fn open_warm_up_trials(&self) -> impl Iterator<Item = Trial> + '_ {
        let is_open = |trial: &Trial| !self.warm_up.contains_key(&(trial.id.attempt, trial.id.case));
        self.design.warm_up_trials(self.continuations).filter(is_open)
    }

    /// Number of warm-up trials with an outcome, and of open ones.
    #[must_use]
    pub fn warm_up_count(&self) -> u64 {
        (self.warm_up.len() + self.open_warm_up_trials().count()) as u64
    }

    fn next_of_blocks(&self, blocks: u32) -> NextTrial {
        let blocks = blocks.min(self.design.plan().blocks);
        let attempts_max = self.design.plan().attempts_max;
        let cases = self.design.cases().count();
        let is_complete = |block: u32| self.closed.get(&block).is_some_and(|closed| *closed >= cases);
        for group in 0..self.design.groups_count(blocks) {
            if self.design.block_of_group(group).is_some_and(is_complete) {
                continue;
            }
            let open = self
                .design
                .group(group, blocks)
                .into_iter()
                .map(|(block, case)| (self.cell(block, case), block, case))
                .filter(|(cell, ..)| !cell.is_closed(attempts_max));
            if let Some((cell, block, case)) = open.min_by_key(|(cell, ..)| cell.last) {
                return NextTrial::Trial(self.design.trial(TrialId { block, case, attempt: cell.last + 1 }));
            }
        }
        NextTrial::Done
    }

    fn cell(&self, block: u32, case: u32) -> Cell {
        self.cells.get(&(block, case)).copied().unwrap_or_default()
    }

    /// The trials that are part of the analysis, in the order of their blocks and cases.
    pub fn finished(&self) -> impl Iterator<Item = TrialId> + '_ {
        self.cells.iter().filter_map(|((block, case), cell)| {
            cell.finished.map(|attempt| TrialId { block: *block, case: *case, attempt })
        })
    }

    /// The blocks and cases without a result.
    pub fn given_up(&self) -> impl Iterator<Item = GivenUp> + '_ {
        let attempts_max = self.design.plan().attempts_max;
        self.cells.iter().filter(move |(_, cell)| cell.is_given_up(attempts_max)).map(
            |((block, case), cell)| GivenUp {
                block: *block,
                case: *case,
                failed: cell.failed,
                spoiled: cell.spoiled,
            },
        )
    }

    /// Number of attempts of all trials with this outcome, without warm-up trials: finished, failed, spoiled, interrupted.
    #[must_use]
    pub fn counts(&self) -> TrialCounts {
        self.cells.values().fold(TrialCounts::default(), |mut counts, cell| {
            counts.finished += u64::from(cell.finished.is_some());
            counts.failed += u64::from(cell.failed);
            counts.spoiled += u64::from(cell.spoiled);
            counts.interrupted += u64::from(cell.interrupted);
            counts
        })
    }

    /// Number of trials of the first `blocks` blocks that are neither finished nor given up, with open warm-up trials.
    #[must_use]
    pub fn open_count(&self, blocks: u32) -> u64 {
        let blocks = blocks.min(self.design.plan().blocks);
        let attempts_max = self.design.plan().attempts_max;
        let closed = self
            .cells
            .iter()
            .filter(|((block, _), cell)| *block <= blocks && cell.is_closed(attempts_max))
            .count() as u64;
        let cells = u64::from(blocks) * u64::from(self.design.cases().count());
        match cells.saturating_sub(closed) {
            0 => 0,
            open => open + self.open_warm_up_trials().count() as u64,
        }
    }
}

/// Numbers of attempts by their outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCounts {
    /// Finished trials.
    pub finished: u64,
    /// Failed attempts.
    pub failed: u64,
    /// Spoiled attempts.
    pub spoiled: u64,
    /// Interrupted attempts.
    pub interrupted: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::order::TrialOrder;
    use super::super::schedule::tests::design;
    use super::*;

    fn next(journal: &Journal<'_>, blocks: u32) -> Option<TrialId> {
        match journal.next(blocks) {
            NextTrial::Trial(trial) => Some(trial.id),
            NextTrial::Done => None,
        }
    }

    fn record(journal: &mut Journal<'_>, trial: TrialId, outcome: TrialOutcome) {
        journal.record(&JournalEntry { trial, outcome }).unwrap();
    }

    fn spoiled() -> TrialOutcome {
        TrialOutcome::Spoiled { reason: "the generator stalled".to_owned() }
    }

    #[test]
    fn trials_follow_the_design_if_all_finish() {
        for order in [TrialOrder::Interleaved, TrialOrder::Mirrored, TrialOrder::Sequential] {
            let design = design(order, &[2, 2], 3, 3);
            let mut journal = Journal::new(&design);
            for (done, trial) in design.trials().enumerate() {
                assert_eq!(journal.open_count(3), 15 - done as u64);
                assert_eq!(journal.next(3), NextTrial::Trial(trial));
                record(&mut journal, trial.id, TrialOutcome::Finished);
            }
            assert_eq!((journal.next(3), journal.finished().count()), (NextTrial::Done, 12));
        }
    }

    #[test]
    fn a_spoiled_trial_is_repeated_at_the_end_of_its_block_and_counted() {
        let design = design(TrialOrder::Interleaved, &[3], 2, 0);
        let mut journal = Journal::new(&design);
        let first = next(&journal, 2).unwrap();
        record(&mut journal, first, spoiled());
        for _ in 0..2 {
            let id = next(&journal, 2).unwrap();
            assert!(id.block == 1 && id.case != first.case && id.attempt == 1);
            record(&mut journal, id, TrialOutcome::Finished);
        }
        let again = next(&journal, 2).unwrap();
        assert_eq!(again, TrialId { attempt: 2, ..first });
        record(&mut journal, again, TrialOutcome::Finished);
        assert_eq!(next(&journal, 2).unwrap().block, 2);
        assert_eq!(journal.counts(), TrialCounts { finished: 3, spoiled: 1, ..TrialCounts::default() });
    }

    #[test]
    fn a_trial_is_given_up_after_its_attempts() {
        let design = design(TrialOrder::Interleaved, &[2], 2, 0);
        let mut journal = Journal::new(&design);
        let mut ids = Vec::new();
        while let Some(id) = next(&journal, 2) {
            let failed = TrialOutcome::Failed { reason: "not ready".to_owned() };
            record(&mut journal, id, if id.case == 2 { failed } else { TrialOutcome::Finished });
            ids.push(id);
        }
        assert_eq!(ids.len(), 2 + 2 * 3);
        let given_up: Vec<GivenUp> = journal.given_up().collect();
        assert_eq!(given_up[1], GivenUp { block: 2, case: 2, failed: 3, spoiled: 0 });
        assert_eq!((given_up.len(), journal.open_count(2)), (2, 0));
    }

    #[test]
    fn a_trial_that_was_given_up_has_new_attempts_after_a_continuation() {
        let design = design(TrialOrder::Interleaved, &[2], 2, 0);
        let mut journal = Journal::new(&design);
        let failed = || TrialOutcome::Failed { reason: "not ready".to_owned() };
        while let Some(id) = next(&journal, 2) {
            record(&mut journal, id, if id.block == 1 { failed() } else { TrialOutcome::Finished });
        }
        assert_eq!((journal.given_up().count(), journal.open_count(2)), (2, 0));
        journal.continue_after_interruption();
        assert_eq!((journal.given_up().count(), journal.open_count(2)), (0, 2));
        let again = next(&journal, 2).unwrap();
        assert_eq!((again.block, again.attempt), (1, 4));
        record(&mut journal, again, failed());
        while let Some(id) = next(&journal, 2) {
            record(&mut journal, id, TrialOutcome::Finished);
        }
        assert_eq!((journal.given_up().count(), journal.finished().count()), (0, 4));
        assert_eq!(journal.counts().failed, 7);
    }

    #[test]
    fn interruptions_do_not_count_as_attempts() {
        let design = design(TrialOrder::Interleaved, &[2], 2, 0);
        let mut journal = Journal::new(&design);
        for attempt in 1..=10 {
            let id = next(&journal, 2).unwrap();
            assert_eq!(id.block, 1);
            if id.attempt > 1 || attempt == 1 {
                record(&mut journal, id, TrialOutcome::Interrupted);
            } else {
                record(&mut journal, id, TrialOutcome::Finished);
            }
        }
        assert_eq!(journal.given_up().count(), 0);
        assert_eq!(journal.counts().interrupted, 9);
    }

    #[test]
    fn the_warm_up_is_repeated_when_the_experiment_is_continued() {
        let design = design(TrialOrder::Mirrored, &[2], 2, 3);
        let mut journal = Journal::new(&design);
        let execute = |journal: &mut Journal<'_>, count: usize| -> Vec<String> {
            let ids = (0..count).map_while(|_| {
                let id = next(journal, 2)?;
                record(journal, id, TrialOutcome::Finished);
                Some(id.to_string())
            });
            ids.collect()
        };
        let first = execute(&mut journal, 4);
        assert!(
            first[..3].iter().all(|id| id.starts_with("b00")) && first[3].starts_with("b01"),
            "{first:?}"
        );
        journal.continue_after_interruption();
        assert_eq!((journal.open_count(2), journal.warm_up_count()), (3 + 3, 6));
        let second = execute(&mut journal, 9);
        assert_eq!(second.len(), 6, "{second:?}");
        let attempts: Vec<&str> = second[..3].iter().map(|id| &id[8..]).collect();
        assert!(second[..3].iter().all(|id| id.starts_with("b00")), "{second:?}");
        assert_eq!(attempts, ["a3", "a3", "a4"]);
        // A complete experiment has no warm-up.
        journal.continue_after_interruption();
        assert_eq!((journal.next(2), journal.open_count(2)), (NextTrial::Done, 0));
    }

    #[test]
    fn an_experiment_continues_with_more_blocks() {
        let design = design(TrialOrder::Interleaved, &[2], 4, 0);
        let mut journal = Journal::new(&design);
        while let Some(id) = next(&journal, 2) {
            record(&mut journal, id, TrialOutcome::Finished);
        }
        assert_eq!(next(&journal, 3).map(|id| id.block), Some(3));
        assert_eq!(next(&journal, 99).map(|id| id.block), Some(3));
    }

    #[test]
    fn blocks_of_a_longer_plan_are_kept() {
        for order in [TrialOrder::Interleaved, TrialOrder::Mirrored, TrialOrder::Sequential] {
            let design = design(order, &[2], 2, 0);
            let mut journal = Journal::new(&design);
            for text in ["b03-c01-a1", "b03-c02-a1", "b04-c01-a1", "b01-c01-a1"] {
                record(&mut journal, text.parse().unwrap(), TrialOutcome::Finished);
            }
            let mut executed = Vec::new();
            while let Some(id) = next(&journal, 9) {
                record(&mut journal, id, TrialOutcome::Finished);
                executed.push(id.to_string());
            }
            executed.sort();
            assert_eq!(executed, ["b01-c02-a1", "b02-c01-a1", "b02-c02-a1"]);
            assert_eq!(journal.finished().count(), 7);
        }
    }

    #[test]
    fn entries_that_do_not_belong_are_refused() {
        let design = design(TrialOrder::Interleaved, &[2], 2, 1);
        let mut journal = Journal::new(&design);
        let mut error = |text: &str, outcome| {
            let entry = JournalEntry { trial: text.parse().unwrap(), outcome };
            journal.record(&entry).err().map(|error| error.to_string())
        };
        let finished = || TrialOutcome::Finished;
        let texts: Vec<String> = [
            error("b01-c03-a1", finished()),
            error("b00-c01-a2", finished()),
            error("b01-c01-a4294967295", spoiled()),
            error("b01-c01-a1", spoiled()),
            error("b01-c01-a1", spoiled()),
            error("b01-c01-a2", finished()),
            error("b01-c01-a3", finished()),
        ]
        .into_iter()
        .map(|error| error.unwrap_or_else(|| "recorded".to_owned()))
        .collect();
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn entries_are_lines_of_json() {
        let entry = JournalEntry { trial: "b01-c02-a1".parse().unwrap(), outcome: spoiled() };
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(text, r#"{"trial":"b01-c02-a1","outcome":"spoiled","reason":"the generator stalled"}"#);
        assert_eq!(serde_json::from_str::<JournalEntry>(&text).unwrap(), entry);
        let finished: JournalEntry =
            serde_json::from_str(r#"{"trial":"b00-c01-a1","outcome":"finished"}"#).unwrap();
        assert_eq!(finished.outcome, TrialOutcome::Finished);
    }
    proptest! {
        #[test]
        fn every_trial_ends_after_any_outcomes(
            outcomes in prop::collection::vec(0_u8..4, 0..200), order in 0_usize..3, warm_up in 0_u32..5,
        ) {
            let order = [TrialOrder::Interleaved, TrialOrder::Mirrored, TrialOrder::Sequential][order];
            let design = design(order, &[2, 2], 3, warm_up);
            let mut journal = Journal::new(&design);
            let mut outcomes = outcomes.into_iter().chain(std::iter::repeat(0));
            let mut executed = std::collections::BTreeSet::new();
            while let Some(id) = next(&journal, 3) {
                let outcome = match outcomes.next().unwrap_or(0) {
                    0 => TrialOutcome::Finished,
                    1 => TrialOutcome::Failed { reason: String::new() },
                    2 => spoiled(),
                    _ => TrialOutcome::Interrupted,
                };
                prop_assert!(executed.insert(id), "{id} is repeated");
                record(&mut journal, id, outcome);
                prop_assert!(executed.len() < 400);
            }
            prop_assert_eq!(journal.finished().count() + journal.given_up().count(), 12);
            prop_assert_eq!(journal.open_count(3), 0);
        }
    }
}
