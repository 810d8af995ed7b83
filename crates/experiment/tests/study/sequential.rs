//! Simulated experiments that end when an interval is narrow enough, or when an effect is found.

use busyhour_experiment::{
    AnalysisSettings, BlockContrast, DesignKind, LookDecision, LookPlan, TrialValue, analyse,
};

use super::simulate::{Noise, Simulated, table};

const MIN: u32 = 4;
const MAX: u32 = 30;
const ERROR: f64 = 0.05;

/// The largest half width of the interval.
const HALF_WIDTH: f64 = 0.05;

/// The true effect.
const SLOWER: f64 = 1.1;

/// An experiment that was repeated until its interval was narrow enough.
pub struct Repeated {
    pub blocks: u32,
    pub is_narrow: bool,
    pub excludes_truth: bool,
}

pub fn repeat_until_narrow(noise: Noise, seed: u64) -> Repeated {
    let simulated = Simulated::interleaved(noise, MAX);
    let design = simulated.design(DesignKind::Paired, &[2], seed);
    let values = simulated.values(&design, seed, |case| if case == 2 { SLOWER } else { 1.0 });
    let plan = LookPlan::new(MIN, MAX, ERROR).unwrap();
    let mut blocks = plan.first();
    loop {
        let finished: Vec<TrialValue> =
            values.iter().copied().filter(|value| value.block <= blocks).collect();
        let settings = AnalysisSettings { error: plan.error_at(blocks) };
        let analysis = analyse(design.cases(), &table(design.cases(), &finished), settings);
        let is_narrow = match plan.decide(blocks, &analysis, HALF_WIDTH) {
            LookDecision::Continue { blocks: next } => {
                blocks = next;
                continue;
            }
            LookDecision::NarrowEnough { .. } => true,
            LookDecision::TooWide { .. } => false,
        };
        let interval = analysis.effects[0].interval.unwrap();
        let truth = 100.0 * (SLOWER - 1.0);
        return Repeated { blocks, is_narrow, excludes_truth: truth < interval.low || truth > interval.high };
    }
}

/// Whether an experiment without an effect claims one at any look: with the errors of the plan, or with 5 % at every block.
pub fn stop_when_found(noise: Noise, seed: u64, is_planned: bool) -> bool {
    let simulated = Simulated::interleaved(noise, MAX);
    let design = simulated.design(DesignKind::Paired, &[2], seed);
    let values = simulated.values(&design, seed, |_| 1.0);
    let differences = table(design.cases(), &values).differences(2, 1);
    let is_found = |blocks: u32, error: f64| {
        BlockContrast::of(&differences[..blocks as usize]).is_some_and(|contrast| contrast.p_value() <= error)
    };
    if is_planned {
        let plan = LookPlan::new(MIN, MAX, ERROR).unwrap();
        plan.looks().any(|(blocks, error)| is_found(blocks, error))
    } else {
        (MIN..=MAX).any(|blocks| is_found(blocks, ERROR))
    }
}
