//! The planned measured part of trials, and the planned number of blocks.

use busyhour_experiment::{
    AnalysisSettings, Design, Experiment, Journal, LookDecision, LookPlan, NextTrial, Repetitions,
    ResponseTable, analyse,
};

/// The total error of the looks.
const ERROR: f64 = 0.05;

/// The measured part of a trial, in seconds since the start of the run.
pub(crate) fn window_s(experiment: &Experiment) -> (f64, f64) {
    let ramp_up_s = experiment.trials.ramp_up.as_ref().map_or(0.0, |ramp_up| ramp_up.seconds());
    (ramp_up_s, experiment.trials.duration.seconds())
}

/// The number of blocks that are planned after the outcomes so far. `table` returns the values of the first response in the first
/// blocks.
pub(crate) fn planned_blocks(
    experiment: &Experiment,
    design: &Design,
    outcomes: &Journal<'_>,
    table: impl Fn(u32) -> Option<ResponseTable>,
) -> u32 {
    let (half_width, min, max) = match experiment.trials.repetitions() {
        Repetitions::Fixed(repetitions) => return repetitions,
        Repetitions::Until { half_width, min, max } => (half_width, min, max),
    };
    let Ok(looks) = LookPlan::new(min, max, ERROR) else { return max };
    let mut blocks = looks.first();
    while outcomes.next(blocks) == NextTrial::Done {
        let Some(table) = table(blocks) else { return blocks };
        let settings = AnalysisSettings { error: looks.error_at(blocks) };
        match looks.decide(blocks, &analyse(design.cases(), &table, settings), half_width) {
            LookDecision::Continue { blocks: next } => blocks = next,
            LookDecision::NarrowEnough { .. } | LookDecision::TooWide { .. } => return blocks,
        }
    }
    blocks
}
