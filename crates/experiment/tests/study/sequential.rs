//! Simulated experiments that end when an interval is narrow enough, or when an effect is found.

use busyhour_experiment::{BlockContrast, DesignKind, LookDecision, LookPlan, ResponseScale};

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

/// The differences of all blocks between two cases.
fn differences(noise: Noise, seed: u64, slower: f64) -> Vec<f64> {
    let simulated = Simulated::interleaved(noise, MAX);
    let design = simulated.design(DesignKind::Paired, &[2], seed);
    let values = simulated.values(&design, seed, |case| if case == 2 { slower } else { 1.0 });
    table(design.cases(), &values).differences(2, 1)
}

pub fn repeat_until_narrow(noise: Noise, seed: u64) -> Repeated {
    let differences = differences(noise, seed, SLOWER);
    let plan = LookPlan::new(MIN, MAX, ERROR).unwrap();
    let mut blocks = plan.first();
    loop {
        let contrast = BlockContrast::of(&differences[..blocks as usize]);
        let (is_narrow, error) = match plan.decide(blocks, ResponseScale::Ratio, &[contrast], HALF_WIDTH) {
            LookDecision::Continue { blocks: next } => {
                blocks = next;
                continue;
            }
            LookDecision::NarrowEnough { error } => (true, error),
            LookDecision::TooWide { error } => (false, error),
        };
        let contrast = contrast.unwrap();
        let excludes_truth = (contrast.mean() - SLOWER.ln()).abs() > contrast.half_width(1.0 - error);
        return Repeated { blocks, is_narrow, excludes_truth };
    }
}

/// Whether an experiment without an effect claims one at any look: with the errors of the plan, or with 5 % at every block.
pub fn stop_when_found(noise: Noise, seed: u64, is_planned: bool) -> bool {
    let differences = differences(noise, seed, 1.0);
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
