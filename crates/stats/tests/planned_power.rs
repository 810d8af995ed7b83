//! Tests that the planned number of runs reaches the requested power in the tests of a comparison.

use busyhour_stats::{Contrast, MeanWithError, select, values_needed_welch};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Number of measures that are tested together, and the false discovery rate.
const MEASURES: usize = 7;
const FALSE_RATE: f64 = 0.05;

#[test]
fn the_planned_number_of_runs_reaches_the_requested_power() {
    let confidence = 1.0 - FALSE_RATE / MEASURES as f64;
    // Only the first measure differs, by 5 %.
    let shift = 0.05_f64.ln_1p();
    for (sd, wanted) in [(0.02, 0.8), (0.03, 0.8), (0.03, 0.9), (0.06, 0.8)] {
        let n = values_needed_welch(shift, sd, wanted, confidence).unwrap();
        let seen = (0..1_000)
            .filter(|seed| {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
                let mut side = |shift: f64| -> MeanWithError {
                    let values: Vec<f64> =
                        (0..n).map(|_| shift + sd * random.sample::<f64, _>(StandardNormal)).collect();
                    MeanWithError::of_values(&values).unwrap()
                };
                let p_values: Vec<f64> = (0..MEASURES)
                    .map(|at| {
                        let (base, new) = (side(0.0), side(if at == 0 { shift } else { 0.0 }));
                        Contrast::between(&base, &new).p_value()
                    })
                    .collect();
                p_values[0] <= 1.0 - select(&p_values, FALSE_RATE).confidence
            })
            .count();
        let reached = seen as f64 / 1_000.0;
        // The power may be three standard errors of the simulation below the requested power, and must not be much above it.
        assert!(reached > wanted - 0.04 && reached < wanted + 0.15, "sd {sd}: {n} runs reach {reached}");
    }
}
