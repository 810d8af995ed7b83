//! Error rates of the verdict. The tables of docs/offered-load.md are printed by
//! `ERROR_RATE_LOGS=400 cargo test -p busyhour-analysis --test arrivals -- --nocapture error_rates::table`.

use std::io::Write as _;

use busyhour_analysis::arrivals::{ArrivalVerdict, RequestedProcess, Resolution};
use busyhour_stats::Decision;

use crate::stalls::{paused, spaced, stalled};
use crate::streams::{mmpp, poisson, renewal, verdict};

/// Numbers of logs that were judged Poisson, not Poisson, and undecided.
fn decisions(logs: u64, make: impl Fn(u64) -> Vec<u64>) -> [usize; 3] {
    let mut decisions = [0; 3];
    for seed in 0..logs {
        let found = verdict(&make(seed), Resolution::Nanosecond, RequestedProcess::Unknown);
        decisions[found.decision as usize] += 1;
    }
    decisions
}

fn has_stall_at(found: &ArrivalVerdict, at_s: f64) -> bool {
    found.observed.stalls.iter().any(|stall| (stall.at_s - at_s).abs() < 0.5)
}

#[test]
fn a_thousand_poisson_arrivals_are_mostly_recognised() {
    let [inside, outside, _] = decisions(200, |seed| poisson(100.0, 1_000, seed));
    // At most 3 % may be rejected. Then the probability that 13 or more of 200 are rejected is below 1 %.
    assert!(inside >= 150 && outside <= 12, "{inside} {outside}");
}

#[test]
fn a_thousand_arrivals_suffice_to_reject_renewal_processes() {
    for cov in [0.8, 1.25] {
        let [inside, outside, _] = decisions(100, |seed| renewal(100.0, cov, 1_000, seed));
        assert!(outside >= 85 && inside <= 3, "CoV {cov}: {inside} {outside}");
    }
}

#[test]
fn stalls_are_detected_without_false_alarms() {
    let log = |seed: u64| poisson(100.0, 6_000, seed);
    let judged = |stamps: &[u64]| verdict(stamps, Resolution::Nanosecond, RequestedProcess::Unknown);
    let found = (0..50).filter(|seed| has_stall_at(&judged(&stalled(&log(*seed), 20.0, 0.5)), 20.0)).count();
    assert!(found >= 49, "{found}");
    let false_alarms = (0..100).filter(|seed| !judged(&log(*seed)).observed.stalls.is_empty()).count();
    assert_eq!(false_alarms, 0);
}

/// Prints the tables of the documentation; by default with two logs each.
#[test]
fn table() {
    let logs = option_env!("ERROR_RATE_LOGS").and_then(|number| number.parse().ok()).unwrap_or(2_u64);
    let mut out = std::io::stderr();
    let numbers = [200, 500, 1_000, 2_000, 5_000, 10_000];
    type Make = Box<dyn Fn(usize, u64) -> Vec<u64>>;
    let processes: Vec<(&str, Make)> = vec![
        ("Poisson", Box::new(|n, seed| poisson(100.0, n, seed))),
        ("renewal, CoV 0.5", Box::new(|n, seed| renewal(100.0, 0.5, n, seed))),
        ("renewal, CoV 0.8", Box::new(|n, seed| renewal(100.0, 0.8, n, seed))),
        ("renewal, CoV 0.9", Box::new(|n, seed| renewal(100.0, 0.9, n, seed))),
        ("renewal, CoV 1.1", Box::new(|n, seed| renewal(100.0, 1.1, n, seed))),
        ("renewal, CoV 1.25", Box::new(|n, seed| renewal(100.0, 1.25, n, seed))),
        ("MMPP, 50/s and 200/s", Box::new(|n, seed| mmpp([50.0, 200.0], [0.4, 0.2], n, seed))),
        ("Poisson, 1 ms per request", Box::new(|n, seed| spaced(&poisson(100.0, n, seed), 1_000_000))),
    ];
    for (name, make) in &processes {
        for n in numbers {
            let [inside, outside, open] = decisions(logs, |seed| make(n, seed));
            writeln!(out, "{name}, {n}: Poisson {inside}, not {outside}, undecided {open} of {logs}")
                .unwrap();
        }
    }
    let judged = |stamps: &[u64]| verdict(stamps, Resolution::Nanosecond, RequestedProcess::Unknown);
    for rate in [100.0, 1_000.0] {
        let log = |seed: u64| poisson(rate, (rate * 60.0) as usize, seed);
        for length_s in [0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0] {
            let mut counts = [0; 4];
            for seed in 0..logs {
                let (delayed, lost) = (
                    judged(&stalled(&log(seed), 20.0, length_s)),
                    judged(&paused(&log(seed), 20.0, length_s)),
                );
                counts[0] += usize::from(has_stall_at(&delayed, 20.0));
                counts[1] += usize::from(delayed.decision == Decision::Inside);
                counts[2] += usize::from(has_stall_at(&lost, 20.0));
                counts[3] += usize::from(lost.decision == Decision::Inside);
            }
            let [found, called, found_lost, called_lost] = counts;
            writeln!(
                out,
                "{rate}/s, stall of {length_s} s: found {found}, called Poisson {called}; lost instead of delayed: found \
                                 {found_lost}, called Poisson {called_lost} of {logs}"
            )
            .unwrap();
        }
        let false_alarms =
            (0..2 * logs).filter(|seed| !judged(&log(10_000 + seed)).observed.stalls.is_empty()).count();
        writeln!(out, "{rate}/s without a stall: found in {false_alarms} of {} logs", 2 * logs).unwrap();
    }
}
