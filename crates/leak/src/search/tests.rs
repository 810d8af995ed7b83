//! Searches in rounds whose classes are known.

use super::*;
use crate::rounds::ClassSize;

/// Rounds of 1,000 requests with these classes: name, bytes per instance, instances after each round.
fn report(rounds: u32, classes: &[(&str, u64, fn(f64) -> f64)]) -> LeakReport {
    let mut all = LeakRounds::new();
    for round in 0..rounds {
        let sizes = classes.iter().map(|(class, bytes, instances)| {
            let instances = instances(f64::from(round)) as u64;
            ClassSize { class, module: None, instances, bytes: bytes * instances }
        });
        all.push(1_000, sizes).unwrap();
    }
    all.search(&LeakSettings::default())
}

const CONSTANT: (&str, u64, fn(f64) -> f64) = ("shop.Config", 1_000, |_| 10_000.0);

#[test]
fn own_classes_are_ranked_before_the_larger_arrays_that_they_hold() {
    let found = report(
        10,
        &[
            CONSTANT,
            ("[B", 2_048, |round| 9_000.0 + 1_000.0 * round),
            ("shop.Cart", 24, |round| 50.0 + 1_000.0 * round),
            ("shop.Cache", 24, |round| 100.0 * round.min(3.0)),
        ],
    );
    assert_eq!(found.outcome, LeakOutcome::Leak);
    let names: Vec<&str> = found.suspects.iter().map(|suspect| suspect.class.as_str()).collect();
    assert_eq!(names, ["shop.Cart", "[B"]);
    let cart = &found.suspects[0];
    assert_eq!(cart.instances_per_request, PerRequest { slope: 1.0, low: Some(1.0), high: Some(1.0) });
    assert!(cart.p_adjusted < 2e-5 && cart.bytes_per_request.slope == 24.0, "{cart:?}");
    assert_eq!((found.rounds, found.requests), (9, 8_000.0));
}

#[test]
fn constant_sizes_are_no_leak_and_state_the_smallest_growth_that_would_be_found() {
    let found = report(10, &[CONSTANT, ("shop.Cart", 24, |round| 100.0 + round % 2.0)]);
    let LeakOutcome::NoLeak { smallest_found_bytes_per_request: smallest } = found.outcome else {
        panic!("{found:?}")
    };
    assert!((0.5..0.51).contains(&(smallest / found.material_bytes_per_request)), "{found:?}");
    assert!(found.suspects.is_empty() && found.tested_classes <= 1);
}

#[test]
fn full_caches_are_no_leaks_and_filling_ones_are_undecided() {
    let full = report(16, &[CONSTANT, ("shop.Entry", 24, |round| 500.0 * round.min(6.0))]);
    assert!(matches!(full.outcome, LeakOutcome::NoLeak { .. }), "{full:?}");
    assert_eq!(full.ended[0].class, "shop.Entry");
    let filling = report(10, &[CONSTANT, ("shop.Entry", 24, |round| 5_000.0 * (1.0 - (-round / 4.0).exp()))]);
    let reason = CannotTellReason::SlowsDown;
    assert_eq!(filling.outcome, LeakOutcome::CannotTell { reason, more_rounds: Some(9) }, "{filling:?}");
}

#[test]
fn few_rounds_cannot_tell_and_state_how_many_are_missing() {
    for rounds in [0, 1, 4] {
        let found = report(rounds, &[CONSTANT, ("shop.Cart", 24, |round| 1_000.0 * round)]);
        let LeakOutcome::CannotTell { reason: CannotTellReason::TooFewRounds, more_rounds } = found.outcome
        else {
            panic!("{found:?}")
        };
        let judged = (rounds as usize).saturating_sub(1);
        assert!(more_rounds.is_some_and(|more| (5..=6).contains(&(more + judged))), "{found:?}");
        assert!(found.suspects.is_empty());
    }
}

#[test]
fn variation_that_hides_a_material_growth_is_undecided() {
    let found = report(10, &[("[B", 1_000, |round| 1_000.0 + 400.0 * (round * 7.0 % 5.0))]);
    assert!(
        matches!(found.outcome, LeakOutcome::CannotTell { reason: CannotTellReason::Uncertain, .. }),
        "{found:?}"
    );
}

#[test]
fn classes_that_cannot_be_significant_are_not_tested() {
    let rise = |p_min| Rise { s: 0, p: 1.0, p_min };
    let tested = |p_mins: &[f64]| testable(p_mins.iter().map(|p| rise(*p)).enumerate().collect(), 0.05).len();
    assert_eq!(tested(&[1.0, 1.0]), 0);
    assert_eq!(tested(&[0.001, 0.03, 0.04, 0.04]), 1);
    assert_eq!(tested(&[0.001, 0.002, 0.003]), 3);
    assert_eq!(tested(&[0.04; 5]), 5);
    assert_eq!((rounds_for(1, 0.05), rounds_for(200, 0.05), rounds_for(5_000, 0.05)), (5, 7, 9));
}
