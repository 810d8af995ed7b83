//! The verdict's rate of false rejections (size) and rate of detected faults (power). The tables of docs/offered-load.md are
//! printed by
//! `ARRIVAL_STUDY_SEEDS=200 cargo test --release -p busyhour-analysis --test arrivals -- --nocapture study::`.

use std::io::Write as _;
use std::sync::Arc;

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalVerdict, KnownRate, Observed, RequestedProcess, Resolution, TallySettings, judge,
};
use busyhour_stats::Decision;
use rand::Rng as _;
use rand_distr::Exp1;

use crate::stalls::paused;
use crate::streams::{generator, in_milliseconds, observe, poisson, renewal, stamps, verdict};

/// Number of seeds; `default` is small because a debug build is slow.
fn seeds(default: u64) -> u64 {
    option_env!("ARRIVAL_STUDY_SEEDS").and_then(|text| text.parse().ok()).unwrap_or(default)
}

fn unknown(all: &[u64]) -> ArrivalVerdict {
    verdict(all, Resolution::Nanosecond, RequestedProcess::Unknown)
}

/// The arrivals of a schedule, each at most 40 µs late.
fn delivered(schedule: &[u64], seed: u64) -> Vec<u64> {
    let mut random = generator(seed + 77);
    let mut all: Vec<u64> = schedule.iter().map(|at| at + random.random_range(0..40_000)).collect();
    all.sort_unstable();
    all
}

/// The verdict on arrivals whose schedule is known.
fn scheduled(
    all: &[u64],
    schedule: &[u64],
    rate: Option<&KnownRate>,
    requested: RequestedProcess,
) -> ArrivalVerdict {
    let settings = || match rate {
        Some(rate) => TallySettings::default().with_known_rate(rate.clone()),
        None => TallySettings::default(),
    };
    let planned: Observed = observe(schedule, settings());
    let context = ArrivalContext { schedule: Some(&planned), ..ArrivalContext::default() };
    judge(observe(all, settings()), requested, &context)
}

/// A ramp from `from` to `to` arrivals per second with about `n` arrivals, and its known rate.
fn ramp(from: f64, to: f64, n: usize, seed: u64) -> (Vec<u64>, KnownRate) {
    let length_s = n as f64 / f64::midpoint(from, to);
    let slope = (to - from) / length_s;
    let mut random = generator(seed);
    let (mut expected, mut all) = (0.0, Vec::new());
    loop {
        expected += random.sample::<f64, _>(Exp1);
        // The time at which the cumulative rate is `expected`.
        let at_s = ((from * from + 2.0 * slope * expected).sqrt() - from) / slope;
        if at_s >= length_s {
            break;
        }
        all.push((at_s * 1e9) as u64);
    }
    let cumulative = move |at_ns: u64| {
        let at_s = (at_ns as f64 / 1e9).min(length_s);
        from * at_s + slope * at_s * at_s / 2.0
    };
    (all, KnownRate::new(Arc::new(cumulative), (length_s * 1e9) as u64).unwrap())
}

/// Number of verdicts with this decision.
fn count(seeds: u64, decision: Decision, make: impl Fn(u64) -> ArrivalVerdict) -> u64 {
    (0..seeds).filter(|seed| make(*seed).decision == decision).count() as u64
}

fn print(line: &str) {
    let mut out = std::io::stderr().lock();
    writeln!(out, "{line}").unwrap();
}

#[test]
fn poisson_arrivals_are_rarely_rejected() {
    let seeds = seeds(3);
    type Make = Box<dyn Fn(usize, u64) -> ArrivalVerdict>;
    let cases: Vec<(&str, Make)> = vec![
        ("100/s", Box::new(|n, seed| unknown(&poisson(100.0, n, seed)))),
        ("2,000/s", Box::new(|n, seed| unknown(&poisson(2_000.0, n, seed)))),
        (
            "100/s, in ms",
            Box::new(|n, seed| {
                let log = in_milliseconds(&poisson(100.0, n, seed));
                verdict(&log, Resolution::Millisecond, RequestedProcess::Unknown)
            }),
        ),
        (
            "ramp 50/s to 350/s, known",
            Box::new(|n, seed| {
                let (all, rate) = ramp(50.0, 350.0, n.max(600), seed);
                let settings = TallySettings::default().with_known_rate(rate);
                judge(observe(&all, settings), RequestedProcess::Poisson, &ArrivalContext::default())
            }),
        ),
        (
            "ramp 50/s to 350/s, schedule and delivery",
            Box::new(|n, seed| {
                let (all, rate) = ramp(50.0, 350.0, n.max(600), seed);
                scheduled(&delivered(&all, seed), &all, Some(&rate), RequestedProcess::Poisson)
            }),
        ),
    ];
    for (name, make) in &cases {
        for n in [500, 1_000, 5_000, 10_000, 30_000, 100_000] {
            if seeds < 100 && n > 5_000 {
                continue;
            }
            let rejected = count(seeds, Decision::Outside, |seed| make(n, 1_010 + seed));
            print(&format!("size: Poisson, {name}, {n} arrivals: rejected {rejected} of {seeds}"));
            // 5 % of the logs, and three standard deviations.
            let most = 0.05 * seeds as f64 + 3.0 * (0.05 * 0.95 * seeds as f64).sqrt();
            assert!(rejected as f64 <= most, "{name}, {n}: {rejected} of {seeds}");
        }
    }
}

/// Poisson arrivals. One in twenty of them is followed by another arrival 10 µs later.
fn pairs(rate_per_s: f64, n: usize, seed: u64) -> Vec<u64> {
    let mut random = generator(seed + 5);
    let single = poisson(rate_per_s / 1.05, n, seed);
    let mut all = Vec::with_capacity(n + n / 20);
    for at in single {
        all.push(at);
        if random.random::<f64>() < 0.05 {
            all.push(at + 10_000);
        }
    }
    all.truncate(n);
    all.sort_unstable();
    all
}

/// Each second contains the same number of arrivals at random times.
pub fn equal_per_second(per_second: usize, seconds: usize, seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    let mut all: Vec<u64> = (0..seconds * per_second)
        .map(|at| ((at / per_second) as f64 * 1e9 + random.random::<f64>() * 1e9) as u64)
        .collect();
    all.sort_unstable();
    all
}

/// Users that start every `period_s`, each at its own phase, with 0.3 ms of jitter.
pub fn periodic(users: usize, period_s: f64, n: usize, seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    let phases: Vec<f64> = (0..users).map(|_| random.random::<f64>() * period_s).collect();
    let mut all: Vec<u64> = (0..n)
        .map(|at| {
            let jitter = 0.0012 * (random.random::<f64>() + random.random::<f64>());
            ((phases[at % users] + (at / users) as f64 * period_s + jitter * 0.5) * 1e9) as u64
        })
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn ten_thousand_arrivals_suffice_to_find_faults() {
    let seeds = seeds(2);
    const N: usize = 10_000;
    type Make = Box<dyn Fn(u64) -> ArrivalVerdict>;
    let poisson_of = |rate: f64| move |seed: u64| poisson(rate, N, 2_000 + seed);
    let in_time = |at: &u64| at.div_ceil(1_000_000) * 1_000_000;
    let slower = |at: &u64| (*at as f64 * 1.02) as u64;
    let cases: Vec<(&str, Make)> = vec![
        (
            "starts in whole milliseconds, 100/s",
            Box::new(move |seed| unknown(&poisson_of(100.0)(seed).iter().map(in_time).collect::<Vec<_>>())),
        ),
        (
            "starts in whole milliseconds, 1,000/s",
            Box::new(move |seed| unknown(&poisson_of(1_000.0)(seed).iter().map(in_time).collect::<Vec<_>>())),
        ),
        ("pairs in 5 %, 100/s", Box::new(|seed| unknown(&pairs(100.0, N, seed)))),
        ("pairs in 5 %, 1,000/s", Box::new(|seed| unknown(&pairs(1_000.0, N, seed)))),
        (
            "a rate 2 % off, schedule known",
            Box::new(move |seed| {
                let schedule = poisson_of(100.0)(seed);
                let all: Vec<u64> = delivered(&schedule, seed).iter().map(slower).collect();
                scheduled(&all, &schedule, None, RequestedProcess::Poisson)
            }),
        ),
        ("gamma gaps, shape 0.8", Box::new(|seed| unknown(&renewal(100.0, 0.8_f64.powf(-0.5), N, seed)))),
        ("gamma gaps, shape 1.25", Box::new(|seed| unknown(&renewal(100.0, 1.25_f64.powf(-0.5), N, seed)))),
        (
            "a pause of 200 ms, 100/s",
            Box::new(move |seed| unknown(&paused(&poisson_of(100.0)(seed), 40.0, 0.2))),
        ),
        (
            "a pause of 200 ms, 1,000/s",
            Box::new(move |seed| unknown(&paused(&poisson_of(1_000.0)(seed), 4.0, 0.2))),
        ),
        ("equal counts per second, 100/s", Box::new(|seed| unknown(&equal_per_second(100, 100, seed)))),
        ("equal counts per second, 1,000/s", Box::new(|seed| unknown(&equal_per_second(1_000, 10, seed)))),
        ("100 users with a period of 250 ms", Box::new(|seed| unknown(&periodic(100, 0.25, N, seed)))),
        ("100 users with a period of 1 s", Box::new(|seed| unknown(&periodic(100, 1.0, N, seed)))),
    ];
    for (name, make) in &cases {
        let found = count(seeds, Decision::Outside, make);
        print(&format!("power: {name}: found {found} of {seeds}"));
        assert!(found as f64 >= 0.95 * seeds as f64, "{name}: {found} of {seeds}: {}", make(0).line);
    }
}

#[test]
fn a_wrong_rate_is_found_without_a_schedule_as_far_as_chance_allows() {
    // The count of 10,000 Poisson arrivals has a standard deviation of 1 %, so a rate 2 % off is two standard deviations off.
    let seeds = seeds(5);
    for (off, least) in [(0.02, 0.0), (0.05, 0.95)] {
        let found = count(seeds, Decision::Outside, |seed| {
            let all = poisson(100.0 * (1.0 - off), 10_000, 3_000 + seed);
            let context = ArrivalContext { requested_per_s: Some(100.0), ..ArrivalContext::default() };
            judge(observe(&all, TallySettings::default()), RequestedProcess::Poisson, &context)
        });
        print(&format!("power: a rate {off} off, without its schedule: found {found} of {seeds}"));
        assert!(found as f64 >= least * seeds as f64, "{off}: {found} of {seeds}");
    }
}

#[test]
fn a_verdict_needs_500_arrivals() {
    let fewer = unknown(&poisson(100.0, 499, 1));
    insta::assert_snapshot!(fewer.line, @"Arrivals: 499: no verdict below 500");
    assert_eq!(fewer.decision, Decision::Inconclusive);
    let closed = RequestedProcess::Closed { users: Some(2.0), response_s: Some(0.01), think_s: None };
    let few = verdict(&stamps((0..38).map(|_| 0.05)), Resolution::Nanosecond, closed);
    insta::assert_snapshot!(few.line, @"Arrivals: 38: no verdict below 500");
    assert_ne!(unknown(&poisson(100.0, 500, 1)).finding, busyhour_analysis::arrivals::Finding::TooFew);
}
