//! Poisson, even, renewal, bursty arrivals and ramps.

use std::sync::Arc;

use busyhour_analysis::arrivals::{
    ArrivalContext, Finding, KnownRate, Part, RequestedProcess, Resolution, TallySettings, judge,
};
use busyhour_stats::Decision;
use rand::Rng;
use rand_distr::Exp1;

use crate::streams::{even, generator, in_milliseconds, mmpp, observe, poisson, renewal, stamps, verdict};

#[test]
fn poisson_arrivals_are_recognised() {
    let found = verdict(&poisson(1_000.0, 60_000, 1), Resolution::Nanosecond, RequestedProcess::Poisson);
    insta::assert_snapshot!(found.line, @"Arrivals: 998.2/s, CoV 1.00 ± 0.01: Poisson");
    insta::assert_snapshot!(found.details().join("\n"), @r"
    CoV of gaps: 1.001 [0.993, 1.009], band 0.950 to 1.050: inside
    dispersion per 1 ms: 0.996 [0.985, 1.007], band 0.800 to 1.250: inside
    dispersion per 10 ms: 1.004 [0.964, 1.045], band 0.800 to 1.250: inside
    dispersion per 0.1 s: 0.970 [0.845, 1.095], band 0.800 to 1.250: inside
    dispersion per 1 s: 1.180 [0.671, 1.755], band 0.800 to 1.250: too few to decide, but not rejected
    dispersion per 10 s: 2.301 [0.361, 13.844], band 0.800 to 1.250: too few to decide, but not rejected
    share of gaps < 50 µs: 0.049 [0.047, 0.050], band 0.032 to 0.073: inside
    Lilliefors D (exponential gaps): 0.0035, p = 0.697, 30208 gaps
    Anderson-Darling A² (exponential gaps): 0.2476, p = 0.907, 30208 gaps
    Ljung-Box Q (independent gaps): 3.4088, p = 0.637, 30208 gaps
    ");
    assert_eq!(found.caveats, []);
}

#[test]
fn at_least_28_of_30_poisson_runs_are_recognised() {
    let mut decisions = [0; 3];
    for seed in 0..30 {
        let found =
            verdict(&poisson(1_000.0, 20_000, seed), Resolution::Nanosecond, RequestedProcess::Poisson);
        decisions[found.decision as usize] += 1;
    }
    let [inside, outside, _] = decisions;
    assert!(inside >= 28 && outside == 0, "{decisions:?}");
}

#[test]
fn poisson_arrivals_in_a_log_with_milliseconds_are_recognised() {
    for rate_per_s in [20.0, 150.0, 400.0] {
        let log = in_milliseconds(&poisson(rate_per_s, 30_000, 2));
        let found = verdict(&log, Resolution::Millisecond, RequestedProcess::Poisson);
        assert_eq!(found.decision, Decision::Inside, "{}", found.line);
        assert!(found.observed.tests.lilliefors.unwrap().p_value > 0.01, "{rate_per_s}");
        assert_eq!(found.observed.tests.anderson_darling, None);
    }
    let found = verdict(
        &in_milliseconds(&poisson(5_000.0, 100_000, 2)),
        Resolution::Millisecond,
        RequestedProcess::Poisson,
    );
    insta::assert_snapshot!(found.line, @"Arrivals: 5,004.7/s, CoV 2.02 ± 0.01: inconclusive: start times in milliseconds are too coarse for this rate");
    insta::assert_snapshot!(found.caveats[0].message, @"timestamps in whole milliseconds cannot resolve gaps at 5,004.7/s");
}

#[test]
fn even_arrivals_are_accepted_as_even_and_rejected_as_poisson() {
    let all = even(300.0, 30_000);
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Even);
    insta::assert_snapshot!(found.line, @"Arrivals: 300.0/s, CoV 0.00: even, as requested");
    assert_eq!((found.decision, found.caveats.len()), (Decision::Inside, 0));
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
    insta::assert_snapshot!(found.line, @"Arrivals: 300.0/s, CoV 0.00: more even than independent users");
    assert_eq!((found.decision, found.finding), (Decision::Outside, Finding::TooEven));
    // A log in milliseconds contains gaps of 3, 3 and 4 ms.
    let found = verdict(&in_milliseconds(&all), Resolution::Millisecond, RequestedProcess::Even);
    assert_eq!(found.decision, Decision::Inside, "{}", found.line);
    let found = verdict(&poisson(300.0, 30_000, 3), Resolution::Nanosecond, RequestedProcess::Even);
    insta::assert_snapshot!(found.line, @"Arrivals: 301.3/s, CoV 1.00 ± 0.01: even was requested, and not delivered: CoV 1.00, dispersion 0.99 over 0.1 s, expected 0.00 to 0.10");
}

#[test]
fn renewal_processes_are_distinguished_by_their_cov() {
    for (cov, line_end) in [(0.5, "more even than"), (2.0, "burstier than")] {
        let all = renewal(500.0, cov, 40_000, 4);
        let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Renewal { cov });
        assert_eq!(found.decision, Decision::Inside, "{}", found.line);
        let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
        assert!(found.line.contains(line_end) && found.decision == Decision::Outside, "{}", found.line);
    }
}

#[test]
fn bursty_arrivals_differ_at_every_scale() {
    let all = mmpp([200.0, 2_000.0], [0.9, 0.1], 60_000, 5);
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
    insta::assert_snapshot!(found.line, @"Arrivals: 424.9/s, CoV 1.68 ± 0.08: burstier than independent users (11 % of the gaps are below 100 µs, 4.2 % expected)");
    assert_eq!(found.finding, Finding::Bunched);
    // A two-state process has this index of dispersion at infinity (Fischer and Meier-Hellstern, 1993):
    // 1 + 2·(λ1 − λ2)²·r1·r2 / ((r1 + r2)²·(λ1·r2 + λ2·r1)), where λi is the arrival rate in state i and ri the rate of
    // leaving it.
    let (r1, r2) = (1.0 / 0.9, 1.0 / 0.1_f64);
    let limit = 1.0 + 2.0 * 1_800_f64.powi(2) * r1 * r2 / ((r1 + r2).powi(2) * (200.0 * r2 + 2_000.0 * r1));
    let long = found.observed.dispersion.iter().find(|row| row.scale_s == 1.0).unwrap();
    assert!(long.index.low < limit && long.index.value > limit / 2.0, "{limit} {long:?}");
    // The arrivals equal the schedule.
    let schedule = found.observed.clone();
    let context = ArrivalContext { schedule: Some(&schedule), ..ArrivalContext::default() };
    let found = judge(schedule.clone(), RequestedProcess::Bursty, &context);
    insta::assert_snapshot!(found.line, @"Arrivals: 424.9/s, CoV 1.68 ± 0.08: bursty, as requested");
    let found = judge(schedule.clone(), RequestedProcess::Bursty, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 424.9/s, CoV 1.68 ± 0.08: inconclusive: bursty was requested, but there is no schedule to compare with");
}

/// Poisson arrivals whose rate grows from 0 to `peak_per_s` in `length_s`, by inversion of Λ(t) = peak·t²/(2·length).
fn ramp(peak_per_s: f64, length_s: f64, seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    let (mut arrived, mut all) = (0.0, Vec::new());
    loop {
        arrived += random.sample::<f64, _>(Exp1);
        let at_s = (2.0 * arrived * length_s / peak_per_s).sqrt();
        if at_s > length_s {
            return all;
        }
        all.push((at_s * 1e9) as u64);
    }
}

#[test]
fn a_ramp_is_poisson_only_after_rescaling() {
    let all = ramp(2_000.0, 40.0, 6);
    let cumulative = Arc::new(|at_ns: u64| {
        let at_s = at_ns as f64 / 1e9;
        2_000.0 * at_s * at_s / 80.0
    });
    let rate = KnownRate::new(cumulative, 40_000_000_000).unwrap();
    let observed = observe(&all, TallySettings::default().with_known_rate(rate));
    assert_eq!(observed.part, Part::Rescaled);
    let found = judge(observed, RequestedProcess::Poisson, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 1,002.4/s, CoV 0.99 ± 0.01: Poisson");
    assert_eq!(found.caveats, []);
    // Without the known rate the gaps vary too much to be judged.
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Poisson);
    insta::assert_snapshot!(found.line, @"Arrivals: 1,002.4/s: the rate varied from about 270 to 1,600/s and was never steady, so the gaps are not judged");
    assert!(found.observed.cov.unwrap().low > 1.05, "{:?}", found.observed.cov);
    assert_eq!((found.decision, found.observed.part), (Decision::Outside, Part::NeverSteady));
}

#[test]
fn an_even_ramp_is_even_after_rescaling() {
    // The k-th arrival is at Λ(t) = k.
    let all: Vec<u64> = (0..40_000).map(|k| ((f64::from(k) / 25.0).sqrt() * 1e9) as u64).collect();
    let cumulative = Arc::new(|at_ns: u64| 25.0 * (at_ns as f64 / 1e9).powi(2));
    let rate = KnownRate::new(cumulative, 40_000_000_000).unwrap();
    let observed = observe(&all, TallySettings::default().with_known_rate(rate));
    let found = judge(observed, RequestedProcess::Even, &ArrivalContext::default());
    insta::assert_snapshot!(found.line, @"Arrivals: 1,000.0/s, CoV 0.00: even, as requested");
}

/// Arrivals of `users` users, each with a think time uniform on [0, 2Z] and a response time of 5 ms.
fn closed_loop(users: u32, think_s: f64, length_s: f64) -> Vec<u64> {
    let mut random = generator(10);
    let mut all = Vec::new();
    for _ in 0..users {
        let mut at_s = random.random::<f64>() * 2.0 * think_s;
        while at_s < length_s {
            all.push((at_s * 1e9) as u64);
            at_s += random.random::<f64>() * 2.0 * think_s + 0.005;
        }
    }
    all.sort_unstable();
    all
}

#[test]
fn a_closed_load_is_poisson_in_windows_shorter_than_its_cycle() {
    let requested = |users, think_s| RequestedProcess::Closed {
        users: Some(users),
        response_s: Some(0.005),
        think_s: Some(think_s),
    };
    let found = verdict(&closed_loop(500, 5.0, 600.0), Resolution::Nanosecond, requested(500.0, 5.0));
    insta::assert_snapshot!(found.line, @"Arrivals: 99.82/s, CoV 1.00 ± 0.01 in 579 of 600 s: closed load of 500 users: like independent users up to 0.1 s, more even over 10 s (dispersion 0.39)");
    assert_eq!(found.caveats, []);
    // The CoV of a single user is 0.577·Z/(R + Z).
    let found = verdict(&closed_loop(1, 0.1, 2_000.0), Resolution::Nanosecond, requested(1.0, 0.1));
    insta::assert_snapshot!(found.line, @"Arrivals: 9.547/s, CoV 0.549 ± 0.005: closed load of 1 user: more even than independent users");
}

#[test]
fn ramps_and_pauses_are_excluded_from_the_measures_and_stated() {
    // 10 s of rising rate, 60 s of steady rate, 5 s of silence.
    let mut all = ramp(500.0, 10.0, 7);
    let mut random = generator(8);
    let (mut at_s, mut steady) = (10.0, Vec::new());
    while at_s < 70.0 {
        at_s += random.sample::<f64, _>(Exp1) / 500.0;
        steady.push((at_s * 1e9) as u64);
    }
    all.extend(steady);
    all.push(75_000_000_000);
    let found = verdict(&all, Resolution::Nanosecond, RequestedProcess::Unknown);
    assert_eq!((found.decision, found.observed.part), (Decision::Outside, Part::Steady), "{}", found.line);
    let (from_s, to_s) =
        (found.observed.judged_from_s, found.observed.judged_from_s + found.observed.judged_s);
    assert!((7.0..14.0).contains(&from_s) && (66.0..70.5).contains(&to_s), "{from_s} {to_s}");
    insta::assert_snapshot!(found.caveats[0].message, @"gaps and counts were judged only in the 60.3 s of 74.9 s in which the rate was steady");
}

#[test]
fn the_verdict_on_a_short_run_recommends_a_length() {
    let found = verdict(&poisson(100.0, 1_000, 9), Resolution::Nanosecond, RequestedProcess::Poisson);
    insta::assert_snapshot!(found.line, @"Arrivals: 103.8/s, CoV 1.07 ± 0.10: inconclusive: run for about 30 s");
    insta::assert_snapshot!(format!("{}: {}", found.caveats[0].message, found.caveats[0].advice), @"there are too few arrivals to determine their process: run for about 30 s at this rate");
    let found = verdict(&poisson(100.0, 10, 9), Resolution::Nanosecond, RequestedProcess::Poisson);
    insta::assert_snapshot!(found.line, @"Arrivals: 10: no verdict below 500");
    for n in [0, 1, 2, 3] {
        let found = verdict(&poisson(100.0, n, 9), Resolution::Nanosecond, RequestedProcess::Poisson);
        assert_eq!((found.decision, found.finding), (Decision::Inconclusive, Finding::TooFew));
    }
}

#[test]
fn simultaneous_arrivals_are_inconclusive() {
    let found = verdict(&[7; 1_000], Resolution::Millisecond, RequestedProcess::Unknown);
    assert_eq!(found.decision, Decision::Inconclusive);
    insta::assert_snapshot!(found.line, @"Arrivals: 1,000, all at one instant");
    let found = verdict(&stamps([1.0, -0.5, 1.0]), Resolution::Nanosecond, RequestedProcess::Unknown);
    assert_eq!(found.observed.disordered, 1);
}
