//! A stall is reported beside the verdict on the rest; short gaps are a property of the sender.

use std::sync::Arc;

use busyhour_analysis::arrivals::{
    Asked, Circumstances, Finding, KnownRate, LatenessTally, Resolution, StallRule, TallySettings, judge,
};
use busyhour_stats::Decision;

use crate::streams::{even, in_milliseconds, observe, poisson, verdict};

/// `all`, but the arrivals between `at_s` and `at_s + length_s` are delayed to the end and then sent 5 µs apart.
pub fn stalled(all: &[u64], at_s: f64, length_s: f64) -> Vec<u64> {
    let from = all[0] + (at_s * 1e9) as u64;
    let to = from + (length_s * 1e9) as u64;
    let mut held = 0;
    let mut stamps: Vec<u64> = all
        .iter()
        .map(|&stamp| {
            if stamp < from || stamp >= to {
                return stamp;
            }
            held += 1;
            to + held * 5_000
        })
        .collect();
    stamps.sort_unstable();
    stamps
}

/// The same with what was held back never sent.
pub fn paused(all: &[u64], at_s: f64, length_s: f64) -> Vec<u64> {
    let from = all[0] + (at_s * 1e9) as u64;
    let to = from + (length_s * 1e9) as u64;
    all.iter().copied().filter(|stamp| !(from..to).contains(stamp)).collect()
}

/// `all` through a sender that needs `busy_ns` per request.
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
fn poisson_with_a_stall_is_poisson_except_for_it() {
    let judged = |stamps: &[u64]| verdict(stamps, Resolution::Nanosecond, Asked::Unknown);
    let found = judged(&stalled(&poisson(100.0, 6_400, 1), 42.0, 2.0));
    insta::assert_snapshot!(found.line, @"Arrivals: 100.3/s, CoV 1.01 ± 0.02: Poisson, except a stall of 2 s at 00:42");
    assert_eq!((found.decision, found.finding), (Decision::Outside, Finding::ExceptStalls));
    let told = format!("{}: {}", found.caveats[0].message, found.caveats[0].advice);
    assert!(told.starts_with("no request started for 2 s at 00:42, and then 199 within 995 µs: "), "{told}");
    assert!(told.contains("look at what stopped the generator"), "{told}");
    let found = judged(&paused(&poisson(100.0, 6_400, 1), 42.0, 2.0));
    assert!(found.line.ends_with(": Poisson, except a stall of 2 s at 00:42"), "{}", found.line);
    // Two of them, in whole milliseconds.
    let twice = stalled(&stalled(&poisson(100.0, 6_400, 1), 42.0, 2.0), 10.0, 1.0);
    let found = verdict(&in_milliseconds(&twice), Resolution::Millisecond, Asked::Unknown);
    let end = ": Poisson, except 2 stalls of 3 s in all, the longest of 2 s at 00:42";
    assert!(found.line.ends_with(end), "{}", found.line);
}

#[test]
fn an_open_run_with_a_stall_is_what_was_asked_for_except_for_it() {
    let rate = KnownRate::new(Arc::new(|at_ns: u64| at_ns as f64 / 1e6), 60_000_000_000).unwrap();
    let settings = TallySettings::default().with_known_rate(rate);
    let all: Vec<u64> = poisson(1_000.0, 60_000, 2).iter().map(|at| at - 5_000_000_000).collect();
    let stamps = stalled(&all, 20.0, 2.0);
    let found = judge(observe(&stamps, settings.clone()), Asked::Poisson, &Circumstances::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 1,001.7/s, CoV 1.00 ± 0.01: Poisson, except a stall of 2 s at 00:20");
    // The users were all waiting: that is the system under test, and more cores are no help.
    let mut waits = LatenessTally::new();
    waits.add(0, 1_900_000_000);
    let circumstances =
        Circumstances { waited: Some(2_000), waits: waits.finish(), ..Circumstances::default() };
    let found = judge(observe(&stamps, settings.clone()), Asked::Poisson, &circumstances);
    let advice = &found.caveats[0].advice;
    assert!(advice.contains("system under test") && !advice.contains("cores"), "{advice}");
    // Left in, it makes an interval that no longer run would narrow.
    let ignored = settings.with_stall_rule(StallRule::Ignore);
    let found = judge(observe(&stamps, ignored), Asked::Poisson, &Circumstances::default());
    assert!(!found.line.contains("run for"), "{}", found.line);
}

#[test]
fn an_even_run_with_a_stall_is_even_except_for_it() {
    let settings = TallySettings::default().with_stall_rule(StallRule::Even);
    let observed = observe(&stalled(&even(1_000.0, 20_000), 10.0, 0.05), settings);
    let found = judge(observed, Asked::Even, &Circumstances::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 1,000.0/s, CoV 0.00: even, as requested, except a stall of 51 ms at 00:10");
    assert_eq!(found.decision, Decision::Inside, "a stall of 50 ms is mentioned, and no more");
}

#[test]
fn a_sender_that_needs_a_millisecond_does_not_change_the_verdict() {
    let mut recognised = 0;
    for seed in 0..20 {
        let found =
            verdict(&spaced(&poisson(100.0, 6_400, seed), 1_000_000), Resolution::Nanosecond, Asked::Poisson);
        assert_ne!(found.decision, Decision::Outside, "{}", found.line);
        recognised += usize::from(found.finding == Finding::AsAsked);
        let told: Vec<&str> = found.caveats.iter().map(|told| told.message.as_str()).collect();
        let about = "the generator needs about 1 ms per request here: gaps below that are missing";
        assert!(told.contains(&about), "{told:?}");
    }
    assert!(recognised >= 17, "{recognised}");
}

#[test]
fn starts_that_are_held_up_now_and_then_are_a_property_of_the_delivery() {
    // The sender loses the CPU for 1 ms every 50 ms: what was due then comes together.
    for seed in 0..20 {
        let all: Vec<u64> = poisson(1_000.0, 20_000, seed)
            .iter()
            .map(
                |at| if at % 50_000_000 < 1_500_000 { at / 50_000_000 * 50_000_000 + 1_500_000 } else { *at },
            )
            .collect();
        let found = verdict(&all, Resolution::Nanosecond, Asked::Poisson);
        assert_eq!(found.finding, Finding::AsAsked, "{}", found.line);
    }
}

#[test]
fn what_pauses_all_the_time_has_no_stalls() {
    // 100 ms of load and 400 ms of silence, again and again.
    let all: Vec<u64> =
        poisson(1_000.0, 20_000, 3).iter().map(|at| at + at / 100_000_000 * 400_000_000).collect();
    let found = verdict(&all, Resolution::Nanosecond, Asked::Unknown);
    assert_eq!((found.finding, found.observed.stalls.len()), (Finding::Bunched, 0), "{}", found.line);
}
