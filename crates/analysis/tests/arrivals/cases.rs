//! Tests with logs whose faults are not visible in a single measure.

use std::num::NonZeroU64;

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalRating, Finding, LatenessTally, RequestedProcess, Resolution, SameUserGaps,
    TallySettings, judge,
};
use busyhour_stats::Decision;
use rand::Rng as _;
use rand_distr::{Distribution as _, Exp1, LogNormal};

use crate::stalls::{paused, stalled};
use crate::streams::{generator, in_milliseconds, observe, poisson, stamps, verdict};
use crate::study::{equal_per_second, periodic};

const CLOSED: RequestedProcess =
    RequestedProcess::Closed { users: Some(100.0), response_s: Some(0.005), think_s: None };

/// Poisson arrivals with three rates: 200/s, 600/s, 200/s.
fn rate_step(seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    let mut all = Vec::new();
    for (rate, from, to) in [(200.0, 0.0, 8.0), (600.0, 8.0, 13.0), (200.0, 13.0, 19.0)] {
        let mut at = from;
        loop {
            at += random.sample::<f64, _>(Exp1) / rate;
            if at > to {
                break;
            }
            all.push((at * 1e9) as u64);
        }
    }
    all
}

#[test]
fn equal_counts_are_found_in_a_short_log() {
    for seed in 0..10 {
        let log = in_milliseconds(&equal_per_second(400, 20, seed));
        let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
        assert_eq!(found.finding, Finding::CountsTooEven, "{seed}: {}", found.line);
    }
    let log = in_milliseconds(&equal_per_second(400, 20, 1));
    let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
    insta::assert_snapshot!(found.line, @"Arrivals: 400.0/s, CoV 0.99 ± 0.02: Poisson up to 10 ms, more even over 1 s (dispersion 0.00)");
}

#[test]
fn a_rate_step_is_part_of_the_verdict() {
    for seed in 0..10 {
        let log = in_milliseconds(&rate_step(seed));
        let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
        assert_eq!(found.decision, Decision::Outside, "{seed}: {}", found.line);
        let rates = found.observed.rates.unwrap();
        assert!(
            (180.0..215.0).contains(&rates.low_per_s) && (560.0..640.0).contains(&rates.high_per_s),
            "{rates:?}"
        );
        assert!(found.line.contains("the rate varied from about"), "{seed}: {}", found.line);
        // The reported rate is that of all arrivals: 5,800 in 19 s.
        assert!((290.0..320.0).contains(&found.observed.whole_rate_per_s.unwrap()), "{}", found.line);
    }
    let found = verdict(&in_milliseconds(&rate_step(1)), Resolution::Millisecond, RequestedProcess::Unknown);
    insta::assert_snapshot!(found.line, @"Arrivals: 305.8/s: Poisson in 7.5 of 19 s (CoV 1.02 ± 0.06, 1,518 arrivals); the rate varied from about 190 to 620/s");
    assert_eq!(found.mark(), ArrivalRating::Warning("the rate varied"));
    insta::assert_snapshot!(found.caveats[0].message, @"gaps and counts were judged only in the 7.5 s of 19 s in which the rate was steady");
}

#[test]
fn only_the_matching_measure_is_described_as_poisson() {
    let deviation = 2_f64.ln().sqrt();
    let law = LogNormal::new(-(60_f64.ln()) - deviation * deviation / 2.0, deviation).unwrap();
    let mut random = generator(1);
    let log = in_milliseconds(&stamps((0..8_000).map(|_| law.sample(&mut random))));
    let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
    assert!(found.observed.tests.lilliefors.unwrap().p_value < 0.01);
    insta::assert_snapshot!(found.line, @"Arrivals: 59.34/s, CoV 1.00 ± 0.04 without stalls: CoV as in a Poisson process, more even over 10 ms (dispersion 0.76); in addition, a stall of 0.3 s at 02:07 (1 s and 47 arrivals left out)");
    // Nothing is known about the sender of the requests, so no text may mention a generator.
    assert!(found.caveats.iter().all(|caveat| !caveat.message.contains("generator")), "{:?}", found.caveats);
    assert!(!found.details().join("\n").contains("property of the delivery"));
}

#[test]
fn a_period_of_users_is_found_in_a_log_and_attributed_to_their_timer() {
    for seed in 0..5 {
        let log = in_milliseconds(&periodic(100, 0.25, 24_000, seed));
        let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
        assert_eq!(found.finding, Finding::PeriodicStarts, "{seed}: {}", found.line);
        let repetition = found.observed.repetition.unwrap();
        assert!((repetition.period_s - 0.25).abs() < 1e-3, "{repetition:?}");
    }
    let log = in_milliseconds(&periodic(100, 0.25, 24_000, 1));
    let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
    insta::assert_snapshot!(found.line, @"Arrivals: 400.1/s, CoV 1.021 ± 0.005: in a pattern that repeats every 250 ms, unlike independent users");
    let closed = RequestedProcess::Closed { users: Some(100.0), response_s: Some(0.005), think_s: None };
    let observed = observe(&log, TallySettings::new(Resolution::Millisecond));
    let context =
        ArrivalContext { rate_timers: vec!["Constant Throughput Timer".into()], ..ArrivalContext::default() };
    let found = judge(observed, closed, &context);
    insta::assert_snapshot!(found.line, @"Arrivals: 400.1/s, CoV 1.021 ± 0.005: closed load of 100 users: the same starts every 250 ms, paced by the plan's Constant Throughput Timer");
    insta::assert_snapshot!(found.advice.clone().unwrap(), @"for independent users: --ignore-rate-timers --arrivals 'poisson(400/s) for TIME' (one arrival is a whole session)");
    assert_eq!(found.mark(), ArrivalRating::Neutral("closed load of 100 users".into()));
    assert_eq!(found.caveats, []);
}

/// A ramp of 50 ms per user before a timer of 250 ms gives five groups of twenty users that start together.
#[test]
fn users_that_a_timer_starts_together_are_counted() {
    let mut random = generator(1);
    let mut all: Vec<u64> = (0..12_000_u64)
        .map(|at| {
            at / 100 * 250_000_000
                + at % 5 * 50_000_000
                + at % 100 / 5 * 40_000
                + random.random_range(0..40_000)
        })
        .collect();
    all.sort_unstable();
    let context =
        ArrivalContext { rate_timers: vec!["Constant Throughput Timer".into()], ..ArrivalContext::default() };
    let found = judge(observe(&all, TallySettings::default()), CLOSED, &context);
    insta::assert_snapshot!(found.line, @"Arrivals: 400.6/s, CoV 4.29 ± 0.01: closed load of 100 users: the same starts every 50 ms, about 20 together, paced by the plan's Constant Throughput Timer");
    assert!(!found.line.contains("burst"), "{}", found.line);
}

#[test]
fn a_load_whose_measures_are_all_below_poisson_is_not_called_bursty() {
    // Groups of two or three requests at nearly even distances.
    let mut random = generator(1);
    let mut all: Vec<u64> = (0..20_000_u64)
        .flat_map(|at| {
            let start = at * 5_000_000 + random.random_range(0..5_000_000);
            let group = if random.random::<f64>() < 0.15 { 2 } else { 1 };
            (0..group).map(move |request| start + request * 60_000)
        })
        .collect();
    all.sort_unstable();
    for requested in [RequestedProcess::Unknown, CLOSED] {
        let found = verdict(&all, Resolution::Nanosecond, requested);
        assert!(found.observed.cov.unwrap().value < 1.0);
        assert!(found.line.contains("in small groups"), "{}", found.line);
        let mut same_user = SameUserGaps::default();
        // The requests of a group, 60 µs apart, belong to the same user.
        let mut user = 1;
        for (at, start) in all.iter().enumerate() {
            user += u64::from(at == 0 || start - all[at - 1] != 60_000);
            same_user.add(*start, NonZeroU64::new(user));
        }
        let context = ArrivalContext { same_user: Some(same_user), ..ArrivalContext::default() };
        let found = judge(observe(&all, TallySettings::default()), requested, &context);
        let is_closed = matches!(requested, RequestedProcess::Closed { .. });
        assert_eq!(found.line.contains("pages with several requests"), is_closed, "{}", found.line);
        assert!(!found.line.contains("burst"), "{}", found.line);
    }
}

#[test]
fn the_summary_of_a_closed_load_estimates_requests_not_sent_in_a_stall() {
    let all = paused(&poisson(990.0, 20_000, 1), 10.0, 2.0);
    let found = verdict(&all, Resolution::Nanosecond, CLOSED);
    insta::assert_snapshot!(found.line, @"Arrivals: 896.2/s, CoV 1.00 ± 0.02 without stalls: closed load of 100 users: like independent users up to 10 ms; a stall of 2 s at 00:10, in which about 2,000 requests were not sent");
    assert_eq!(found.decision, Decision::Inside);
}

#[test]
fn a_closed_load_that_started_late_is_marked() {
    let mut late = LatenessTally::new();
    (0..10_000).for_each(|at| late.add(0, at * 5_000));
    let context = ArrivalContext { lateness: late.finish(), ..ArrivalContext::default() };
    let observed = observe(&poisson(400.0, 10_000, 1), TallySettings::default());
    let found = judge(observed, CLOSED, &context);
    insta::assert_snapshot!(found.line, @"Arrivals: 401.8/s, CoV 1.01 ± 0.02: closed load of 100 users, started later than the plan asks (49.5 ms at p99): like independent users up to 10 ms");
    assert_eq!(found.mark(), ArrivalRating::Warning("started later than the plan asks"));
}

#[test]
fn a_poisson_schedule_that_was_not_delivered_is_reported() {
    let schedule = poisson(300.0, 10_000, 1);
    let planned = observe(&schedule, TallySettings::default());
    let context = ArrivalContext { schedule: Some(&planned), ..ArrivalContext::default() };
    let judged = |delivered: &[u64]| {
        judge(observe(delivered, TallySettings::default()), RequestedProcess::Poisson, &context)
    };
    // The generator runs for 1 ms of every 10 ms.
    let busy: Vec<u64> = schedule.iter().map(|at| at.div_ceil(10_000_000) * 10_000_000).collect();
    insta::assert_snapshot!(judged(&busy).line, @"Arrivals: 301.4/s, CoV 1.53 ± 0.02: Poisson was requested and scheduled (CoV 1.01), and not delivered: CoV 1.53, dispersion 3.69 over 1 ms, expected 0.79 to 1.28");
    assert_eq!(judged(&busy).mark(), ArrivalRating::Warning("not as requested"));
    // One arrival in twenty is missing.
    let mut at = 0;
    let fewer: Vec<u64> = schedule
        .iter()
        .copied()
        .filter(|_| {
            at += 1;
            at % 20 != 0
        })
        .collect();
    insta::assert_snapshot!(judged(&fewer).line, @"Arrivals: 286.3/s, CoV 1.00 ± 0.02: Poisson was requested and scheduled (CoV 1.01), and not delivered: a rate 5 % below the scheduled one");
    insta::assert_snapshot!(judged(&schedule).line, @"Arrivals: 301.4/s, CoV 1.01 ± 0.02: Poisson");
}

#[test]
fn a_schedule_that_is_even_by_chance_is_judged_by_its_delivery() {
    // Some of the schedules of the first seeds differ from most Poisson schedules of 12 s by chance.
    let unusual = (0..400).map(|seed| poisson(300.0, 3_600, seed)).find(|schedule| {
        let planned = observe(schedule, TallySettings::default());
        judge(planned, RequestedProcess::Unknown, &ArrivalContext::default()).finding
            == Finding::CountsTooEven
    });
    let schedule = unusual.unwrap();
    let planned = observe(&schedule, TallySettings::default());
    let context = ArrivalContext { schedule: Some(&planned), ..ArrivalContext::default() };
    let found = judge(planned.clone(), RequestedProcess::Poisson, &context);
    assert_eq!(found.mark(), ArrivalRating::Good("as requested"));
    insta::assert_snapshot!(found.line, @"Arrivals: 298.6/s, CoV 0.99 ± 0.03: Poisson, as scheduled; this seed's schedule is more even than most over 0.1 s (dispersion 0.69)");
}

#[test]
fn a_backlog_in_a_log_with_milliseconds_is_in_one_millisecond() {
    let all = poisson(100.0, 6_400, 1);
    // The stall ends at the start of a millisecond, so all delayed arrivals have the same start time.
    let at_s = 42.0 - (all[0] % 1_000_000) as f64 / 1e9;
    let log = in_milliseconds(&stalled(&all, at_s + 1e-6, 2.0));
    let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown);
    assert!(found.caveats[0].message.ends_with("in the same millisecond"), "{}", found.caveats[0].message);
}

#[test]
fn a_stall_in_which_all_users_waited_has_no_advice_about_the_generator() {
    let schedule: Vec<u64> = poisson(1_000.0, 20_000, 1);
    let planned = observe(&schedule, TallySettings::default());
    let (mut waits, mut late) = (LatenessTally::new(), LatenessTally::new());
    waits.add(0, 1_900_000_000);
    (0..1_000).for_each(|at| late.add(0, at * 5_000));
    let context = ArrivalContext {
        schedule: Some(&planned),
        requested_per_s: Some(1_000.0),
        lateness: late.finish(),
        waited: Some(2_000),
        waits: waits.finish(),
        ..ArrivalContext::default()
    };
    let delivered = stalled(&schedule, 8.0, 2.0);
    let found = judge(observe(&delivered, TallySettings::default()), RequestedProcess::Poisson, &context);
    assert!(
        found.caveats[0].advice.starts_with("all users waited for the system under test"),
        "{:?}",
        found.caveats
    );
    for wrong in ["busy generator", "too few users", "more cores", "busy machine"] {
        assert!(
            found.caveats.iter().all(|caveat| !caveat.advice.contains(wrong)),
            "{wrong}: {:?}",
            found.caveats
        );
    }
}
