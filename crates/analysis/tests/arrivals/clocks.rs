//! Arrivals of several generators whose clocks are not known exactly.

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalVerdict, Finding, RequestedProcess, Resolution, TallySettings, judge,
};
use busyhour_stats::Decision;
use rand::Rng as _;

use crate::streams::{generator, observe, poisson};

fn judged(stamps: &[u64], bound_ns: u64, requested: RequestedProcess) -> ArrivalVerdict {
    let settings = TallySettings::new(Resolution::Nanosecond).with_clock_bound(bound_ns);
    judge(observe(stamps, settings), requested, &ArrivalContext::default())
}

/// The stamps of generators that take arrivals in turn, each with an error of its clock of at most half of `bound_ns`.
fn with_clock_errors(stamps: &[u64], agents: usize, bound_ns: u64, seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    let errors: Vec<u64> = (0..agents).map(|_| random.random_range(0..=bound_ns)).collect();
    let mut moved: Vec<u64> = stamps.iter().enumerate().map(|(i, at)| at + errors[i % agents]).collect();
    moved.sort_unstable();
    moved
}

#[test]
fn a_verdict_that_is_finer_than_the_clocks_is_refused() {
    let found = judged(&poisson(4_000.0, 60_000, 1), 500_000, RequestedProcess::Poisson);
    assert_eq!((found.decision, found.finding), (Decision::Inconclusive, Finding::StampsTooCoarse));
    assert!(
        found
            .line
            .ends_with("the clocks of the agents agree within 500 µs, which is too coarse for this rate"),
        "{}",
        found.line
    );
    assert!(found.caveats[0].message.contains("cannot be judged"), "{}", found.caveats[0].message);
    assert_eq!(found.observed.clock_bound_s, Some(0.0005));
}

#[test]
fn a_verdict_that_is_coarser_than_the_clocks_is_given() {
    let is_inside = |bound_ns: u64, seed: u64| {
        let stamps = with_clock_errors(&poisson(300.0, 30_000, seed), 5, bound_ns, seed);
        judged(&stamps, bound_ns, RequestedProcess::Poisson).decision == Decision::Inside
    };
    let count = |bound_ns: u64| (0..200).filter(|seed| is_inside(bound_ns, *seed)).count();
    let (exact, with_errors) = (count(0), count(500_000));
    assert!(exact >= 190 && with_errors >= 190, "{exact} and {with_errors} of 200");
}

/// Even arrivals look uneven because of the clocks: that must not be called a fault of the generators.
#[test]
fn errors_of_clocks_are_not_attributed_to_the_generators() {
    for seed in 0..200 {
        let even: Vec<u64> = (0..60_000_u64).map(|n| n * 250_000).collect();
        let stamps = with_clock_errors(&even, 5, 500_000, seed);
        let exact = judged(&stamps, 0, RequestedProcess::Even);
        assert_eq!(exact.decision, Decision::Outside, "{seed}: {}", exact.line);
        let found = judged(&stamps, 500_000, RequestedProcess::Even);
        assert_eq!(found.decision, Decision::Inconclusive, "{seed}: {}", found.line);
    }
}

/// Bunches that are much longer than the errors of the clocks are found.
#[test]
fn bunches_longer_than_the_clock_errors_are_found() {
    let bunched: Vec<u64> = (0..60_000_u64).map(|n| n / 1_000 * 250_000_000 + n % 1_000 * 1_000).collect();
    let found = judged(&bunched, 500_000, RequestedProcess::Poisson);
    assert_eq!(found.decision, Decision::Outside, "{}", found.line);
}
