//! Reasons to doubt the numbers of a result file: how often the bounds hold, and how often a caveat is raised with and
//! without a reason.
//!
//! By default each kind of run is simulated a few times. For the tables of `docs/other-tools.md`, each is simulated 200 times:
//!
//! ```text
//! BUSYHOUR_STUDY_SEEDS=200 cargo test -p busyhour-analysis --test result_file -- --nocapture
//! ```

use std::io::Write as _;

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, RequestedProcess, Resolution, TallySettings, judge,
};
use busyhour_analysis::{Caveat, RunFacts, Summary};
use busyhour_sample::{
    ActiveUsers, Aggregator, Labels, Nanos, Sample, SampleOutcome, SampleTimes, TotalsSettings, UserCounts,
    UsersOverTime,
};
use rand::{Rng as _, SeedableRng as _};
use rand_distr::{Distribution as _, Exp, LogNormal, Pareto};
use rand_xoshiro::Xoshiro256PlusPlus;

type Random = Xoshiro256PlusPlus;

/// Length of a run in s, and number of users.
const LENGTH_S: f64 = 120.0;
const USERS: usize = 20;

/// Number of simulated runs of each kind.
fn seeds() -> u64 {
    option_env!("BUSYHOUR_STUDY_SEEDS").and_then(|seeds| seeds.parse().ok()).unwrap_or(5)
}

/// Prints a line of a table.
fn show(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

/// The law of service times in s.
#[derive(Clone, Copy)]
enum Law {
    Exponential,
    Lognormal,
    HeavyTail,
}

impl Law {
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Law::Exponential => Exp::new(1.0 / 0.02).unwrap().sample(random),
            Law::Lognormal => LogNormal::new(0.01_f64.ln(), 1.2).unwrap().sample(random),
            Law::HeavyTail => Pareto::new(0.005, 1.5).unwrap().sample(random),
        }
    }
}

/// The cause of a stall of the requests.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The system answers nothing for this number of s, this many times.
    System(f64, usize),
    /// The generator starts nothing.
    Generator(f64, usize),
}

/// When users intend to send requests.
#[derive(Clone, Copy, PartialEq)]
enum Pace {
    /// At a fixed interval.
    Even,
    /// At random times.
    Random,
    /// After the previous response and a random pause, so that responses keep no request from starting.
    Closed,
}

/// A kind of run. `interval_s` is the mean interval of a user's requests, or the mean pause.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    law: Law,
    interval_s: f64,
    pace: Pace,
    fault: Fault,
}

/// A request: start and time in s.
type Request = (f64, f64);

/// The faulty times of a run, in order.
fn stalls(kind: &Kind, random: &mut Random) -> Vec<(f64, f64)> {
    let (Fault::System(length_s, count) | Fault::Generator(length_s, count)) = kind.fault else {
        return Vec::new();
    };
    let part_s = (LENGTH_S - 20.0) / count as f64;
    (0..count)
        .map(|at| {
            let from_s = 10.0 + part_s * at as f64 + random.random_range(0.0..part_s - length_s);
            (from_s, from_s + length_s)
        })
        .collect()
}

/// The end of the stall at a time, or the time itself.
fn after_stall(stalls: &[(f64, f64)], at_s: f64) -> f64 {
    stalls.iter().find(|(from_s, to_s)| (*from_s..*to_s).contains(&at_s)).map_or(at_s, |(_, to_s)| *to_s)
}

/// The requests that users sent, and those that they would have sent if no response and no stall had kept them from it.
fn simulate(kind: &Kind, seed: u64) -> (Vec<Request>, Vec<Request>) {
    let random = &mut Random::seed_from_u64(seed);
    let stalls = stalls(kind, random);
    let of_system = matches!(kind.fault, Fault::System(..));
    let end = |start_s: f64, service_s: f64| match of_system {
        true => after_stall(&stalls, start_s).max(start_s) + service_s,
        false => start_s + service_s,
    };
    let (mut sent, mut intended) = (Vec::new(), Vec::new());
    for _ in 0..USERS {
        let mut due_s = random.random_range(0.0..kind.interval_s);
        let mut free_s = 0.0_f64;
        while due_s < LENGTH_S {
            let service_s = kind.law.draw(random);
            // From the intended start to the end, including a stall of the system or of the generator.
            intended.push((due_s, after_stall(&stalls, due_s).max(due_s) - due_s + service_s));
            let gap_s = match kind.pace {
                Pace::Even => kind.interval_s,
                Pace::Random => Exp::new(1.0 / kind.interval_s).unwrap().sample(random),
                Pace::Closed => service_s + Exp::new(1.0 / kind.interval_s).unwrap().sample(random),
            };
            if due_s >= free_s {
                let start_s = if of_system { due_s } else { after_stall(&stalls, due_s) };
                let end_s = end(start_s, service_s);
                sent.push((start_s, end_s - start_s));
                free_s = end_s;
            }
            due_s += gap_s;
        }
    }
    (sent, intended)
}

/// The summary of a result file with whole ms.
fn summary(requests: &[Request], label: impl Fn(usize) -> &'static str) -> Summary {
    let labels = Labels::new();
    let settings = TotalsSettings { only_actual_starts: true, ..TotalsSettings::default() };
    let mut aggregator = Aggregator::new(labels.clone(), settings);
    let mut users = UserCounts::of_file();
    let mut rows: Vec<(usize, &Request)> = requests.iter().enumerate().collect();
    rows.sort_by(|a, b| (a.1.0 + a.1.1).total_cmp(&(b.1.0 + b.1.1)));
    let mut starts = Vec::new();
    for (at, (start_s, time_s)) in rows {
        let start = Nanos::from_millis((start_s * 1e3) as u64);
        let end = start + (time_s * 1e3).round() as u64 * 1_000_000;
        starts.push(start.0);
        let sample = Sample {
            label: labels.intern(label(at)),
            times: SampleTimes::of_one_clock(start, end),
            outcome: SampleOutcome::new("200", "OK", true),
            users: ActiveUsers { group: USERS as u32, all: USERS as u32 },
            ..Sample::default()
        };
        aggregator.add(&sample);
        users.sample(&sample, true);
    }
    aggregator.close_all();
    let mut totals = aggregator.finish(Vec::new());
    totals.users = UsersOverTime::of(&[users]);
    let facts = RunFacts { only_actual_starts: true, ..RunFacts::default() };
    let mut summary = Summary::new(facts, &totals);
    starts.sort_unstable();
    let mut tally = ArrivalTally::new(TallySettings::new(Resolution::Millisecond));
    starts.iter().for_each(|start| tally.add(*start));
    let asked = RequestedProcess::Closed {
        users: Some(USERS as f64),
        response_s: Some(summary.total.service.mean / 1e3),
        think_s: None,
    };
    let observed = tally.finish(&mut Random::seed_from_u64(0));
    summary.add_arrivals(vec![judge(observed, asked, &ArrivalContext::default())]);
    summary.assess_result_file(&totals, false);
    summary
}

fn quantile_ms(times: &[Request], q: f64) -> f64 {
    let mut sorted: Vec<f64> = times.iter().map(|(_, time_s)| time_s * 1e3).collect();
    sorted.sort_by(f64::total_cmp);
    sorted[((q * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1]
}

/// Percentages over the simulated runs of one kind.
#[derive(Default)]
struct Outcome {
    /// Runs with the caveat about omitted requests.
    raised: f64,
    /// Runs in which the 99th percentile of the intended requests is between the bounds.
    covered: f64,
    /// Mean ratio of measured to intended, and of upper bound to intended 99th percentile.
    measured: f64,
    upper: f64,
}

fn outcome(kind: &Kind) -> Outcome {
    let mut outcome = Outcome::default();
    let runs = seeds() as f64;
    for seed in 0..seeds() {
        let (sent, intended) = simulate(kind, seed);
        let summary = summary(&sent, |_| "requests");
        let raised = |reported: &busyhour_analysis::ReportedCaveat| {
            matches!(reported.caveat, Caveat::OmittedRequests(_))
        };
        outcome.raised += 100.0 / runs * f64::from(u8::from(summary.caveats.iter().any(raised)));
        let truth_ms = quantile_ms(&intended, 0.99);
        let p99 = summary.omission.and_then(|omission| omission.bounds).map(|bounds| bounds.p99);
        let (measured_ms, upper_ms) = p99.map_or_else(
            || (quantile_ms(&sent, 0.99), quantile_ms(&sent, 0.99)),
            |range| (range.measured_ms, range.upper_ms),
        );
        // Times of the file are rounded to whole ms, and those of the histogram to 0.1 %.
        let is_covered = measured_ms <= truth_ms * 1.05 + 2.0 && truth_ms <= upper_ms * 1.05 + 2.0;
        outcome.covered += 100.0 / runs * f64::from(u8::from(is_covered));
        outcome.measured += measured_ms / truth_ms / runs;
        outcome.upper += upper_ms / truth_ms / runs;
    }
    outcome
}

const fn kind(name: &'static str, law: Law, interval_s: f64, pace: Pace, fault: Fault) -> Kind {
    Kind { name, law, interval_s, pace, fault }
}

#[test]
fn omitted_requests_are_reported_if_and_only_if_there_are_some() {
    use Fault::{Generator, System};
    use Law::{Exponential, HeavyTail, Lognormal};
    use Pace::{Closed, Even, Random};
    show(
        "| load | raised | covered | measured p99 / true p99 | upper p99 / true p99 |\n|---|---:|---:|---:|---:|",
    );
    // With a heavy tail, slow responses keep a few requests from starting, so both outcomes are right.
    for (kind, should_raise) in [
        (kind("fixed interval, no stall", Exponential, 0.5, Even, Fault::None), Some(false)),
        (kind("random pauses, no stall", Exponential, 0.5, Random, Fault::None), Some(false)),
        (
            kind("pauses after responses (R/(R+Z) 4 %), no stall", Exponential, 0.5, Closed, Fault::None),
            Some(false),
        ),
        (
            kind("pauses after responses (R/(R+Z) 29 %), no stall", Exponential, 0.05, Closed, Fault::None),
            None,
        ),
        (kind("wide times (lognormal, σ 1.2), no stall", Lognormal, 0.5, Even, Fault::None), Some(false)),
        (kind("heavy tail (index 1.5), no stall", HeavyTail, 0.5, Even, Fault::None), None),
        (kind("fixed interval, system stalls 3 × 2 s", Exponential, 0.5, Even, System(2.0, 3)), Some(true)),
        (kind("fixed interval, system stalls 1 × 5 s", Exponential, 0.5, Even, System(5.0, 1)), Some(true)),
        (kind("random pauses, system stalls 3 × 2 s", Exponential, 0.5, Random, System(2.0, 3)), Some(true)),
        (
            kind("fixed interval, generator stalls 3 × 2 s", Exponential, 0.5, Even, Generator(2.0, 3)),
            Some(true),
        ),
        (kind("heavy tail, system stalls 3 × 2 s", HeavyTail, 0.5, Even, System(2.0, 3)), Some(true)),
    ] {
        let found = outcome(&kind);
        show(&format!(
            "| {} | {:.1} % | {:.1} % | {:.2} | {:.2} |",
            kind.name, found.raised, found.covered, found.measured, found.upper
        ));
        match should_raise {
            Some(true) => assert!(found.raised >= 90.0 && found.covered >= 90.0, "{}", kind.name),
            Some(false) => assert!(found.raised <= 5.0, "{}: {} %", kind.name, found.raised),
            None => assert!(found.covered >= 90.0, "{}: {} %", kind.name, found.covered),
        }
    }
}

#[test]
fn intervals_of_percentiles_contain_the_true_value() {
    show("| samples | law | percentile | covered |\n|---:|---|---:|---:|");
    for (samples, percentile) in [(60, 95.0_f64), (150, 95.0), (300, 99.0), (900, 99.0)] {
        for (name, law) in
            [("exponential", Law::Exponential), ("lognormal", Law::Lognormal), ("heavy tail", Law::HeavyTail)]
        {
            let q = percentile / 100.0;
            // The quantiles of the laws: −ln(1 − q), exp(1.2·z), and (1 − q)^(−1/1.5).
            let z = if percentile < 97.0 { 1.644_853_6 } else { 2.326_347_9_f64 };
            let truth_ms = match law {
                Law::Exponential => -20.0 * (1.0 - q).ln(),
                Law::Lognormal => 10.0 * (1.2 * z).exp(),
                Law::HeavyTail => 5.0 * (1.0 - q).powf(-1.0 / 1.5),
            };
            let mut covered = 0;
            for seed in 0..seeds() {
                let random = &mut Random::seed_from_u64(seed);
                let requests: Vec<Request> =
                    (0..samples).map(|at| (at as f64 * 0.1, law.draw(random))).collect();
                let summary = summary(&requests, |_| "requests");
                let found = summary.caveats.iter().find_map(|reported| match reported.caveat {
                    Caveat::FewSamplesBeyond(interval) => Some(interval),
                    _ => None,
                });
                let found = found.expect("few samples are beyond the percentile");
                assert_eq!((found.percentile, found.samples), (percentile, samples));
                let below = found.lower_ms <= truth_ms + 0.5;
                covered +=
                    u64::from(below && found.upper_ms.is_none_or(|upper_ms| truth_ms <= upper_ms + 0.5));
            }
            let share = covered as f64 * 100.0 / seeds() as f64;
            show(&format!("| {samples} | {name} | p{percentile} | {share:.1} % |"));
            assert!(share >= if seeds() < 100 { 60.0 } else { 93.0 }, "{samples} {name}: {share} %");
        }
    }
}

#[test]
fn labels_of_different_kinds_are_reported() {
    show("| labels | raised |\n|---|---:|");
    for (name, law, factor, should_raise) in [
        ("same law, exponential", Law::Exponential, 1.0, false),
        ("same law, lognormal, σ 1.2", Law::Lognormal, 1.0, false),
        ("same law, heavy tail", Law::HeavyTail, 1.0, false),
        ("5 × slower, exponential", Law::Exponential, 5.0, true),
        ("5 × slower, lognormal, σ 1.2", Law::Lognormal, 5.0, true),
    ] {
        let mut raised = 0;
        for seed in 0..seeds() {
            let random = &mut Random::seed_from_u64(seed);
            let requests: Vec<Request> = (0..1_000)
                .map(|at| (at as f64 * 0.1, law.draw(random) * if at % 4 == 0 { factor } else { 1.0 }))
                .collect();
            let summary = summary(&requests, |at| if at % 4 == 0 { "a" } else { "b" });
            let is_mixed = |reported: &busyhour_analysis::ReportedCaveat| {
                matches!(reported.caveat, Caveat::MixedLabels { .. })
            };
            raised += u64::from(summary.caveats.iter().any(is_mixed));
        }
        let share = raised as f64 * 100.0 / seeds() as f64;
        show(&format!("| {name} | {share:.1} % |"));
        assert!(if should_raise { share >= 60.0 } else { share <= 5.0 }, "{name}: {share} %");
    }
}

#[test]
fn the_first_sentence_names_the_most_important_doubts() {
    let stalled = kind("", Law::Exponential, 0.5, Pace::Even, Fault::System(5.0, 1));
    let (sent, _) = simulate(&stalled, 1);
    let doubt = summary(&sent, |_| "requests").doubt.unwrap();
    assert!(doubt.starts_with("Doubt these numbers: p"), "{doubt}");
    assert!(doubt.contains(" kept up to ") && doubt.ends_with('.'), "{doubt}");
    let few: Vec<Request> = (0..50).map(|at| (f64::from(at) * 0.5, 0.01)).collect();
    let doubt = summary(&few, |_| "requests").doubt.unwrap();
    assert!(doubt.contains("50 samples give a p95 of at least 10.0 ms (95 % confidence)"), "{doubt}");
}
