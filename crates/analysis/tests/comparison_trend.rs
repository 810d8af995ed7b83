//! Tests the detection of changepoints in a history of runs.

use busyhour_analysis::RunFacts;
use busyhour_analysis::comparison::{
    Measure, MeasuredRun, RunTally, TalliedSample, Trend, TrendOutcome, TrendSeries, TrendSettings, Verdict,
};
use busyhour_sample::SampleKind;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A run on day `day` with `samples` requests, 20 per second, with times of about `time_ms`.
fn run(day: usize, time_ms: f64, samples: u64) -> MeasuredRun {
    let mut tally = RunTally::new(None);
    for at in 0..samples {
        // A spread from -10 % to +10 %, and a small variation from day to day.
        let spread = (at * 7 % 21) as f64 / 100.0 - 0.1 + (day * 5 % 7) as f64 / 1_000.0;
        let time_ns = (time_ms * 1e6 * (1.0 + spread)) as u64;
        let end_ns = (at as i64 + 1) * 50_000_000;
        tally.add(&TalliedSample {
            label: 0,
            kind: SampleKind::Request,
            start_ns: end_ns - time_ns as i64,
            end_ns,
            time_ns,
            samples: 1,
            errors: 0,
            user: None,
        });
    }
    let facts = RunFacts { wall_anchor_ms: day as i64 * 86_400_000, ..RunFacts::default() };
    let random: Option<&mut Xoshiro256PlusPlus> = None;
    MeasuredRun::new(format!("day {day}"), facts, tally, 1e-6, |_| "home".into(), random).unwrap()
}

fn trend(mut runs: Vec<MeasuredRun>) -> Trend {
    // The runs are passed out of order.
    runs.reverse();
    Trend::new(runs, TrendSettings::default()).unwrap()
}

fn of(trend: &Trend, measure: Measure) -> &TrendSeries {
    trend.series.iter().find(|series| series.is_total && series.measure == measure).unwrap()
}

#[test]
fn a_step_next_to_a_run_without_the_measure_is_found() {
    // The thirteenth run has too few samples for a percentile.
    let runs = (0..25).map(|day| match day {
        0..12 => run(day, 10.0, 400),
        12 => run(day, 10.0, 9),
        _ => run(day, 12.0, 400),
    });
    let trend = trend(runs.collect());
    let p95 = of(&trend, Measure::P95);
    assert_eq!((p95.values.len(), p95.values[12]), (25, None));
    assert_eq!(p95.changes.len(), 1);
    let change = &p95.changes[0];
    assert_eq!((change.at, change.verdict), (13, Verdict::Worse));
    assert!((change.after / change.before - 1.2).abs() < 0.01);
    assert!(p95.is_regression() && trend.regressions().count() >= 2);
    assert_eq!(trend.runs[13].name, "day 13");
    assert!(of(&trend, Measure::ErrorShare).changes.is_empty());
}

#[test]
fn a_regression_that_was_fixed_does_not_make_the_history_a_regression() {
    let runs = (0..40).map(|day| run(day, if (15..30).contains(&day) { 15.0 } else { 10.0 }, 400));
    let trend = trend(runs.collect());
    let verdicts: Vec<Verdict> = of(&trend, Measure::Mean).changes.iter().map(|c| c.verdict).collect();
    assert_eq!(verdicts, [Verdict::Worse, Verdict::Better]);
    assert_eq!(trend.regressions().count(), 0);
}

#[test]
fn a_small_step_is_a_change_but_not_a_regression() {
    let runs = (0..30).map(|day| run(day, if day < 15 { 10.0 } else { 10.2 }, 400));
    let trend = trend(runs.collect());
    assert_eq!(of(&trend, Measure::Mean).changes[0].verdict, Verdict::PerhapsWorse);
    assert_eq!((trend.regressions().count(), trend.outcome), (0, TrendOutcome::NoRegression));
}

#[test]
fn autocorrelated_runs_raise_a_caveat() {
    // The times oscillate slowly, by less than the margin.
    let trend = trend((0..40).map(|day| run(day, 10.0 + (day as f64 / 6.0).sin() / 10.0, 400)).collect());
    let messages: Vec<&str> = trend.caveats.iter().map(|caveat| caveat.message.as_str()).collect();
    assert!(
        messages.iter().any(|message| message.contains("consecutive runs are correlated")),
        "{messages:?}"
    );
    assert_eq!(trend.regressions().count(), 0);
}

#[test]
fn a_short_history_is_not_judged() {
    // Six runs are too few for any step at 5 % false alarms in 100 runs.
    let trend = trend((0..6).map(|day| run(day, if day < 3 { 10.0 } else { 16.0 }, 400)).collect());
    let TrendOutcome::NotJudged { runs: 6, needed: Some(needed) } = trend.outcome else {
        panic!("{:?}", trend.outcome)
    };
    assert!((15..=25).contains(&needed), "{needed}");
    let messages: Vec<&str> = trend.caveats.iter().map(|caveat| caveat.message.as_str()).collect();
    assert_eq!(messages, [format!("too few runs to judge: {needed} are needed, there are 6")]);
}
