//! Tests that Poisson stages and their shares, rescaled by Λ, are a Poisson process with rate 1.

use busyhour_arrivals::{ArrivalProcess, LoadShare};

use super::p_values::{PValues, SEEDS};
use super::parse;

/// Number of windows for the counts.
const WINDOWS: usize = 120;

struct Verdicts {
    gaps: PValues,
    places: PValues,
    dispersion: PValues,
    independence: PValues,
}

/// The p-values of all statistical tests of a share of a process.
fn judge(process: &ArrivalProcess, share: &LoadShare) -> Verdicts {
    let end = process.expected_count() * share.size();
    let mut verdicts = Verdicts {
        gaps: PValues::default(),
        places: PValues::default(),
        dispersion: PValues::default(),
        independence: PValues::default(),
    };
    for seed in SEEDS {
        let rescaled: Vec<f64> = process
            .schedule(seed)
            .share(share.clone())
            // Start times are rounded down to a nanosecond, which is negligible at these rates.
            .map(|arrival| process.cumulative(arrival.at_ns) * share.size())
            .collect();
        // Uses a fixed number of gaps. The gaps that end before a fixed time are too short on average.
        let considered = (end * 0.8) as usize;
        let mut last = 0.0;
        let gaps = rescaled.iter().take(considered).map(|at| {
            let gap = at - last;
            last = *at;
            -libm::expm1(-gap)
        });
        let gaps: Vec<f64> = gaps.collect();
        assert_eq!(gaps.len(), considered);
        verdicts.independence.independence(&gaps);
        verdicts.gaps.uniform(gaps);
        let mut counts = vec![0; WINDOWS];
        for at in &rescaled {
            counts[((at / end * WINDOWS as f64) as usize).min(WINDOWS - 1)] += 1;
        }
        verdicts.dispersion.dispersion(&counts, end / WINDOWS as f64);
        verdicts.places.uniform(rescaled.iter().map(|at| at / end).collect());
    }
    verdicts
}

#[track_caller]
fn assert_poisson(text: &str, share: &LoadShare) {
    let verdicts = judge(&parse(text), share);
    verdicts.gaps.assert_uniform(&format!("{text} {share}: gaps"));
    verdicts.places.assert_uniform(&format!("{text} {share}: places"));
    verdicts.dispersion.assert_uniform(&format!("{text} {share}: dispersion"));
    verdicts.independence.assert_uniform(&format!("{text} {share}: independence"));
}

#[test]
fn a_constant_rate_is_poisson() {
    assert_poisson("poisson(100/s) for 15s", &LoadShare::WHOLE);
}

#[test]
fn ramps_from_and_to_zero_are_poisson() {
    assert_poisson("ramp(0/s → 200/s) over 8s, ramp(200/s → 0/s) over 8s", &LoadShare::WHOLE);
}

#[test]
fn several_stages_with_a_pause_are_poisson() {
    assert_poisson(
        "poisson(100/s) for 3s, ramp(100/s → 20/s) over 5s, pause 10s, poisson(30/min) for 1min, 800/s for 1s",
        &LoadShare::WHOLE,
    );
}

#[test]
fn a_third_of_a_poisson_process_is_poisson() {
    assert_poisson("poisson(300/s) for 15s", &LoadShare::part(1, 3).unwrap());
}

#[test]
fn a_seventh_of_a_ramp_is_poisson() {
    let share = &LoadShare::cut(&[(3, 7), (4, 7)]).unwrap()[1];
    assert_poisson("ramp(0/s → 1000/s) over 14s", share);
}

/// The statistical tests have power: other laws with the same rate are detected.
#[test]
fn other_laws_are_detected() {
    let verdicts = |text| judge(&parse(text), &LoadShare::WHOLE);
    verdicts("jittered(100/s) for 12s").gaps.assert_not_uniform("jitter in the gaps");
    verdicts("gamma(100/s, cov 0.9) for 12s").gaps.assert_not_uniform("gamma gaps");
    let fixed = verdicts("mmpp(80/s for 1s, 120/s for 1s) for 12s");
    fixed.dispersion.assert_not_uniform("bursts in the counts");
}
