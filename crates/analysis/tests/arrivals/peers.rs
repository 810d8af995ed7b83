//! Arrivals of other load generators, as observed at a server. The CoV alone does not distinguish them from Poisson arrivals.

use busyhour_analysis::arrivals::{Finding, RequestedProcess, Resolution};
use busyhour_stats::Decision;
use rand::Rng;
use rand_distr::Exp1;

use crate::streams::{generator, stamps, verdict};

#[test]
fn the_bursts_of_hey_are_detected() {
    // Observed: CoV 6.8, dispersion 0 per 100 ms. Fifty workers each send a request every 50 ms, all at the same time.
    let mut random = generator(1);
    let mut all = Vec::new();
    for burst in 0..400_u64 {
        let mut together: Vec<u64> =
            (0..50).map(|_| burst * 50_000_000 + random.random_range(0..600_000)).collect();
        together.sort_unstable();
        all.extend(together);
    }
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
    let cov = found.observed.cov.unwrap().value;
    assert!((6.5..7.1).contains(&cov), "{cov}");
    let per_100_ms = found.observed.dispersion.iter().find(|row| row.scale_s == 0.1).unwrap().index;
    assert!(per_100_ms.high < 0.1, "{per_100_ms:?}");
    insta::assert_snapshot!(found.line, @"Arrivals: 1,002.4/s, CoV 6.93 ± 0.03: burstier than independent users (97 % of the gaps are below 50 µs, 4.9 % expected), but counts per 0.1 s are too even (dispersion 0.06), in a pattern that repeats every 50 ms, about 50 together");
    assert_eq!((found.decision, found.finding), (Decision::Outside, Finding::Bunched));
}

#[test]
fn the_constant_counts_of_wrk2_are_detected() {
    // Observed: CoV 0.95, dispersion 0.03 per 100 ms, 23 to 35 % of the gaps below 50 µs. Each interval of 10 ms contains the
    // same number of arrivals, with gaps of all lengths.
    let mut random = generator(2);
    let mut all = Vec::new();
    for interval in 0..2_000 {
        let mut within: Vec<f64> =
            (0..7).map(|i| (f64::from(i / 2) + random.random::<f64>()) * 2.45e6).collect();
        // Some requests are sent right after the preceding one.
        let pairs: Vec<f64> = (0..3).map(|i| within[i] + 20_000.0 * random.random::<f64>()).collect();
        within.extend(pairs);
        within.sort_unstable_by(f64::total_cmp);
        all.extend(within.iter().map(|at| 10_000_000 * interval + *at as u64));
    }
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
    let (cov, short) = (found.observed.cov.unwrap().value, found.observed.short_gaps.unwrap().share.value);
    let per_100_ms = found.observed.dispersion.iter().find(|row| row.scale_s == 0.1).unwrap().index.value;
    assert!((0.85..1.05).contains(&cov) && per_100_ms < 0.05 && short > 0.2, "{cov} {per_100_ms} {short}");
    insta::assert_snapshot!(found.line, @"Arrivals: 1,000.1/s, CoV 1.02 ± 0.01: in small groups (31 % of the gaps are below 50 µs, 4.9 % expected), otherwise more even than independent users (dispersion 0.42 per 10 ms)");
    assert_eq!(found.decision, Decision::Outside);
}

#[test]
fn a_timer_with_a_resolution_of_a_millisecond_is_detected() {
    // Observed: CoV 1.27, half of the gaps below 50 µs. Poisson arrivals at 1,000/s are delayed to the next tick of a timer.
    let mut random = generator(3);
    let mut intended_ns = 0.0;
    let mut before = 0;
    let all: Vec<u64> = (0..30_000)
        .map(|_| {
            intended_ns += random.sample::<f64, _>(Exp1) * 1e6;
            let tick = (intended_ns as u64 / 1_000_000 + 1) * 1_000_000 + random.random_range(0..30_000);
            before = tick.max(before + 2_000);
            before
        })
        .collect();
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
    assert_eq!(found.finding, Finding::PeriodicStarts, "{}", found.line);
    insta::assert_snapshot!(found.line, @"Arrivals: 1,004.0/s, CoV 1.08 ± 0.01: in steps of 1 ms, as with a timer of this resolution");
}

#[test]
fn the_advice_for_a_closed_load_with_long_response_times_is_principle_a() {
    // Run 2100 of the paper: 159.16/s, CoV 1.17, R = 253 ms, Z = 1 s.
    let mut random = generator(4);
    let all = stamps((0..60_000).map(|_| {
        let slow = random.random::<f64>() < 0.8;
        random.sample::<f64, _>(Exp1) / 159.16 * if slow { 0.8 } else { 1.8 }
    }));
    let requested =
        RequestedProcess::Closed { users: Some(200.0), response_s: Some(0.25338), think_s: Some(1.0) };
    let found = verdict(&all, Resolution::Nanosecond, requested);
    insta::assert_snapshot!(found.line, @"Arrivals: 160.0/s, CoV 1.16 ± 0.01: closed load of 200 users: gaps that vary more than those of independent users; R/(R+Z) 0.20: a slower server would lower this load");
    let advice: Vec<String> =
        found.caveats.iter().map(|caveat| format!("{}: {}", caveat.message, caveat.advice)).collect();
    insta::assert_snapshot!(advice.join("\n"), @"users spend 20 % of their cycle waiting for responses, R/(R+Z): a slower server would lower this load: use --arrivals to keep the load constant, or more users with longer think times, keeping N/Z constant (Principle A in docs/offered-load.md)");
}
