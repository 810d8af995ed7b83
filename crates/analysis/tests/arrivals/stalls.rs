//! Stalls are reported separately from the verdict on the remaining arrivals; short gaps are attributed to the delivery.

use std::sync::Arc;

use busyhour_analysis::arrivals::{
    ArrivalContext, Finding, KnownRate, LatenessTally, RequestedProcess, Resolution, StallRule,
    TallySettings, judge,
};
use busyhour_stats::Decision;

use crate::streams::{even, in_milliseconds, observe, poisson, verdict};

/// Delays the arrivals between `at_s` and `at_s + length_s` to the end of that interval, 5 µs apart.
pub fn stalled(all: &[u64], at_s: f64, length_s: f64) -> Vec<u64> {
    let from = all[0] + (at_s * 1e9) as u64;
    let to = from + (length_s * 1e9) as u64;
    let mut delayed = 0;
    let mut stamps: Vec<u64> = all
        .iter()
        .map(|&stamp| {
            if stamp < from || stamp >= to {
                return stamp;
            }
            delayed += 1;
            to + delayed * 5_000
        })
        .collect();
    stamps.sort_unstable();
    stamps
}

/// Removes the arrivals between `at_s` and `at_s + length_s`.
pub fn paused(all: &[u64], at_s: f64, length_s: f64) -> Vec<u64> {
    let from = all[0] + (at_s * 1e9) as u64;
    let to = from + (length_s * 1e9) as u64;
    all.iter().copied().filter(|stamp| !(from..to).contains(stamp)).collect()
}

/// Delays arrivals so that consecutive arrivals are at least `busy_ns` apart.
pub fn spaced(all: &[u64], busy_ns: u64) -> Vec<u64> {
    let mut free = 0;
    all.iter()
        .map(|&stamp| {
            let sent = stamp.max(free);
            free = sent + busy_ns;
            sent
        })
        .collect()
}

#[test]
fn poisson_arrivals_with_a_stall_are_poisson_except_for_the_stall() {
    let judged = |stamps: &[u64]| verdict(stamps, Resolution::Nanosecond, RequestedProcess::Unknown);
    let found = judged(&stalled(&poisson(100.0, 6_400, 1), 42.0, 2.0));
    insta::assert_snapshot!(found.line, @"Arrivals: 100.4/s, CoV 1.01 ± 0.02 without stalls: Poisson, except a stall of 2 s at 00:42 (2.1 s and 217 arrivals left out)");
    assert_eq!((found.decision, found.finding), (Decision::Outside, Finding::ExceptStalls));
    let reported = format!("{}: {}", found.caveats[0].message, found.caveats[0].advice);
    assert!(
        reported.starts_with("no request started for 2 s at 00:42, and then 199 started within 995 µs: "),
        "{reported}"
    );
    assert!(reported.contains("find out what stopped the generator"), "{reported}");
    let found = judged(&paused(&poisson(100.0, 6_400, 1), 42.0, 2.0));
    assert!(found.line.contains(": Poisson, except a stall of 2 s at 00:42 ("), "{}", found.line);
    // Two stalls, in whole milliseconds.
    let twice = stalled(&stalled(&poisson(100.0, 6_400, 1), 42.0, 2.0), 10.0, 1.0);
    let found = verdict(&in_milliseconds(&twice), Resolution::Millisecond, RequestedProcess::Unknown);
    let end = ": Poisson, except 2 stalls of 3 s in total, the longest of 2 s at 00:42";
    assert!(found.line.contains(end), "{}", found.line);
}

#[test]
fn an_open_load_with_a_stall_is_as_requested_except_for_the_stall() {
    let rate = KnownRate::new(Arc::new(|at_ns: u64| at_ns as f64 / 1e6), 60_000_000_000).unwrap();
    let settings = TallySettings::default().with_known_rate(rate);
    let all: Vec<u64> = poisson(1_000.0, 60_000, 2).iter().map(|at| at - 5_000_000_000).collect();
    let stamps = stalled(&all, 20.0, 2.0);
    let found =
        judge(observe(&stamps, settings.clone()), RequestedProcess::Poisson, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 1,001.1/s, CoV 1.00 ± 0.01 without stalls: Poisson, except a stall of 2 s at 00:20 (2.1 s and 2,059 arrivals left out)");
    // All users were waiting for the system under test, so more cores would not help.
    let mut waits = LatenessTally::new();
    waits.add(0, 1_900_000_000);
    let context = ArrivalContext { waited: Some(2_000), waits: waits.finish(), ..ArrivalContext::default() };
    let found = judge(observe(&stamps, settings.clone()), RequestedProcess::Poisson, &context);
    let advice = &found.caveats[0].advice;
    assert!(advice.contains("system under test") && !advice.contains("cores"), "{advice}");
    // With the stall, the interval would be so wide that a longer run would not help.
    let ignored = settings.with_stall_rule(StallRule::NoStalls);
    let found = judge(observe(&stamps, ignored), RequestedProcess::Poisson, &ArrivalContext::default());
    assert!(!found.line.contains("run for"), "{}", found.line);
}

#[test]
fn even_arrivals_with_a_short_stall_are_even_except_for_the_stall() {
    let settings = TallySettings::default().with_stall_rule(StallRule::Even);
    let observed = observe(&stalled(&even(1_000.0, 20_000), 10.0, 0.05), settings);
    let found = judge(observed, RequestedProcess::Even, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 1,000.0/s, CoV 0.00 without stalls: even, as requested, except a stall of 51 ms at 00:10 (0.1 s and 131 arrivals left out)");
    assert_eq!(found.decision, Decision::Inside, "a stall of 50 ms does not change the decision");
}

#[test]
fn a_generator_that_needs_a_millisecond_per_request_does_not_change_the_verdict() {
    let mut recognised = 0;
    for seed in 0..20 {
        let found = verdict(
            &spaced(&poisson(100.0, 6_400, seed), 1_000_000),
            Resolution::Nanosecond,
            RequestedProcess::Poisson,
        );
        assert_ne!(found.decision, Decision::Outside, "{}", found.line);
        recognised += usize::from(found.finding == Finding::AsRequested);
        let reported: Vec<&str> = found.caveats.iter().map(|caveat| caveat.message.as_str()).collect();
        let expected = "the generator needs about 1 ms per request here: gaps below that are missing";
        assert!(reported.contains(&expected), "{reported:?}");
    }
    assert!(recognised >= 17, "{recognised}");
}

#[test]
fn starts_that_are_occasionally_delayed_do_not_change_the_verdict() {
    // The generator loses the CPU for 1.5 ms every 50 ms, and then sends the delayed requests together.
    for seed in 0..20 {
        let all: Vec<u64> = poisson(1_000.0, 20_000, seed)
            .iter()
            .map(
                |at| if at % 50_000_000 < 1_500_000 { at / 50_000_000 * 50_000_000 + 1_500_000 } else { *at },
            )
            .collect();
        let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
        assert_eq!(found.finding, Finding::AsRequested, "{}", found.line);
    }
}

#[test]
fn a_stall_of_users_that_start_together_is_found() {
    // Fifty users start together every 50 ms; once, they start only after 2 s.
    let starts = (0..20_000_u64).map(|at| at / 50 * 50_000_000 + at % 50 * 20_000);
    let all: Vec<u64> = starts.map(|at| if at > 10_000_000_000 { at + 1_950_000_000 } else { at }).collect();
    let requested = RequestedProcess::Closed { users: Some(50.0), response_s: Some(0.005), think_s: None };
    let found = verdict(&all, Resolution::Nanosecond, requested);
    insta::assert_snapshot!(found.line, @"Arrivals: 913.2/s, CoV 6.87 ± 0.02 without stalls: closed load of 50 users: the same starts every 50 ms, about 48 together; R/(R+Z) 0.10: a slower server would lower this load; a stall of 2 s at 00:10, in which about 1,900 requests were not sent");
}

#[test]
fn periodic_pauses_are_not_stalls() {
    // 100 ms of load and a pause of 400 ms, repeated.
    let all: Vec<u64> =
        poisson(1_000.0, 20_000, 3).iter().map(|at| at + at / 100_000_000 * 400_000_000).collect();
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Unknown);
    assert_eq!((found.finding, found.observed.stalls.len()), (Finding::Bunched, 0), "{}", found.line);
}
