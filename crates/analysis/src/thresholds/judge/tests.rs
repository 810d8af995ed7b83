use busyhour_sample::{
    ArrivalsInSecond, LiveArrivals, OutcomeTimes, SampleKind, SecondUsers, SnapshotRow, TimeCounts,
};

use super::*;
use crate::thresholds::{Meaning, ThresholdResult};

/// The row of a label in one second. `times_ms` are response times in ms; the first `failed` of them belong to failed samples
/// with response code 503.
fn row(label: &str, times_ms: &[u64], failed: usize) -> SnapshotRow {
    let times = |ms: &[u64]| TimeCounts::from_ns(ms.iter().map(|ms| ms * 1_000_000));
    let outcome = OutcomeTimes { failed: times(&times_ms[..failed]), passed: times(&times_ms[failed..]) };
    let mut row = SnapshotRow::new(label, SampleKind::Request);
    let codes = [("503", failed as u64, failed as u64), ("200", (times_ms.len() - failed) as u64, 0)];
    row.codes.extend(
        codes
            .into_iter()
            .filter(|code| code.1 > 0)
            .map(|(code, samples, errors)| busyhour_sample::CodeCount { code: code.into(), samples, errors }),
    );
    SnapshotRow {
        samples: times_ms.len() as u64,
        errors: failed as u64,
        response: outcome.clone(),
        // Service times are 10 ms shorter.
        service: OutcomeTimes {
            failed: times(&times_ms[..failed].iter().map(|ms| ms - 10).collect::<Vec<_>>()),
            passed: times(&times_ms[failed..].iter().map(|ms| ms - 10).collect::<Vec<_>>()),
        },
        ..row
    }
}

fn second(number: u64, rows: Vec<SnapshotRow>) -> Snapshot {
    let users = SecondUsers { at_end: number as u32, min: 0, max: number as u32, sum: number, samples: 1 };
    Snapshot { second: number, whole: true, users: Some(users), rows, ..Snapshot::default() }
}

/// A run of 100 seconds with ten requests per second, which take 100 ms, or 500 ms in seconds 40 to 49. In seconds 60 to 62, half
/// of the requests fail.
fn run() -> Vec<Snapshot> {
    let one = |number: u64| {
        let ms = if (40..50).contains(&number) { 500 } else { 100 };
        let failed = if (60..63).contains(&number) { 5 } else { 0 };
        let cart = (number < 90).then(|| row("cart", &[ms * 2], 0));
        second(number, [row("home", &[ms; 10], failed)].into_iter().chain(cart).collect())
    };
    (0..100).map(one).collect()
}

fn judged(text: &str, snapshots: &[Snapshot]) -> (ThresholdResult, Option<ThresholdStop>) {
    let criterion =
        Criterion::parse(text, Meaning::Require).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut judge = Judge::new(vec![criterion]);
    let mut orders = snapshots.iter().filter_map(|snapshot| judge.second(snapshot)).collect::<Vec<_>>();
    assert!(orders.len() < 2, "a run is stopped at most once");
    let mut results = judge.finish(&RunMeasures::default());
    (results.remove(0), orders.pop())
}

/// Result, value, first and last failed second.
type Outcome = (Option<bool>, Option<f64>, Option<(f64, f64)>);

fn outcome(text: &str, snapshots: &[Snapshot]) -> Outcome {
    let (result, _) = judged(text, snapshots);
    (result.passed, result.observed, result.since_s.zip(result.until_s))
}

/// Asserts that the outcome equals `expected`, with values equal to two decimals or to the width of a histogram's bucket.
#[track_caller]
fn assert_outcome(text: &str, snapshots: &[Snapshot], expected: Outcome) {
    let seen = outcome(text, snapshots);
    let near = |a: f64, b: f64| (a - b).abs() <= f64::max(0.005, b.abs() / 1_000.0);
    assert_eq!((seen.0, seen.2), (expected.0, expected.2), "{text}: {seen:?}");
    assert!(seen.1.zip(expected.1).map_or(seen.1 == expected.1, |(a, b)| near(a, b)), "{text}: {seen:?}");
}

#[test]
fn criteria_are_evaluated_over_the_run() {
    let run = run();
    let table: &[(&str, Outcome)] = &[
        ("p90 of home < 450ms", (Some(true), Some(100.0), None)),
        ("p95 of home < 450ms", (Some(false), Some(500.0), Some((0.0, 100.0)))),
        ("service p95 of home < 495ms", (Some(true), Some(490.0), None)),
        ("mean of home <= 140ms", (Some(true), Some(140.0), None)),
        ("max < 1s", (Some(false), Some(1000.0), Some((0.0, 100.0)))),
        ("require min of home >= 100ms, if any", (Some(true), Some(100.0), None)),
        ("errors < 2%", (Some(true), Some(1.38), None)),
        ("errors of home <= 15", (Some(true), Some(15.0), None)),
        ("rc5xx = 0", (Some(false), Some(15.0), Some((0.0, 100.0)))),
        ("rc2?? of home >= 98%", (Some(true), Some(98.5), None)),
        ("hits = 1090", (Some(true), Some(1090.0), None)),
        ("rate of home = 10", (Some(true), Some(10.0), None)),
        ("rate = 10 after 90s", (Some(true), Some(10.0), None)),
        ("rate = 11 until 90s", (Some(true), Some(11.0), None)),
        ("succ of /^h/ >= 98%", (Some(true), Some(98.5), None)),
        ("users < 50", (Some(false), Some(99.0), Some((0.0, 100.0)))),
        // Of 1,000 samples, 885 are within 100 ms, 100 within 500 ms, and 15 failed.
        ("apdex(100ms, 500ms) of home > 0.9", (Some(true), Some(0.94), None)),
        ("p95 of nowhere < 1s", (None, None, None)),
        ("hits of nowhere < 5", (None, None, None)),
        ("dropped = 0", (None, None, None)),
        ("stdev-rt of home < 121ms", (Some(true), Some(120.06), None)),
    ];
    for (text, expected) in table {
        assert_outcome(text, &run, *expected);
    }
}

#[test]
fn criteria_are_evaluated_over_every_window() {
    let run = run();
    let table: &[(&str, Outcome)] = &[
        // The window that ends with second 45 is the first in which more than half of the samples are slow.
        ("p50 of home < 400ms over 10s", (Some(false), Some(500.0), Some((36.0, 54.0)))),
        ("mean of home < 400ms over 30s", (Some(true), Some(233.33), None)),
        ("errors of home < 20% over 10s", (Some(true), Some(15.0), None)),
        ("errors of home < 15% over 10s", (Some(false), Some(15.0), Some((53.0, 70.0)))),
        ("rate of cart > 0.5 over 10s", (Some(false), Some(0.0), Some((85.0, 100.0)))),
        ("hits of home >= 100 over 10s", (Some(true), Some(100.0), None)),
        ("max of home < 500ms over 5s", (Some(false), Some(500.0), Some((36.0, 54.0)))),
        ("p95 of home < 1s over 101s", (None, None, None)),
        ("p95 of home < 450ms over 10s after 50s", (Some(true), Some(100.0), None)),
    ];
    for (text, expected) in table {
        assert_outcome(text, &run, *expected);
    }
    let (result, order) = judged("p50 of home < 400ms over 10s, or stop", &run);
    assert_eq!(order, Some(ThresholdStop { text: result.text.clone(), second: 45, failed: true }));
    assert!(result.stopped_run && result.fails_run);
    assert_eq!((result.windows, result.failed_windows), (91, 9));
    assert_eq!(result.describe_observed(), "500 ms from 36 s to 46 s, 9 of 91 windows");
}

#[test]
fn criteria_are_evaluated_for_consecutive_seconds() {
    let run = run();
    let (result, order) = judged("avg-rt of home>400ms for 10s, stop as failed", &run);
    assert_eq!(order.map(|order| (order.second, order.failed)), Some((49, true)));
    assert_eq!((result.since_s, result.until_s, result.longest_s), (Some(40.0), Some(50.0), Some(10)));
    let (result, order) = judged("avg-rt of home>400ms for 11s, stop as failed", &run);
    assert_eq!((result.passed, order, result.longest_s), (Some(true), None, Some(10)));
    let (result, order) = judged("fail of home>=50% for 3s, stop as non-failed", &run);
    assert_eq!(order.map(|order| (order.second, order.failed)), Some((62, false)));
    assert_eq!((result.passed, result.fails_run, result.verdict()), (Some(false), false, "noticed"));
    // For a label without samples, counts are 0 and times are not evaluated.
    let (result, order) = judged("hits of cart<1 for 5s, stop as failed", &run);
    assert_eq!((result.since_s, order.map(|order| order.second)), (Some(90.0), Some(94)));
    let (result, _) = judged("avg-rt of cart>5s for 5s, continue as failed", &run);
    assert_eq!((result.passed, result.windows), (Some(true), 90));
    let (result, order) = judged("avg-rt of home>400ms for 5s, continue as failed", &run);
    assert_eq!((result.passed, result.fails_run, order), (Some(false), true, None));
}

#[test]
fn each_evaluates_every_label_separately() {
    let run = run();
    let (result, _) = judged("p90 of each < 450ms", &run);
    assert_eq!((result.passed, result.labels, result.failed_labels), (Some(false), Some(2), Some(1)));
    assert_eq!(result.describe_observed(), "1000 ms of cart");
    let (result, _) = judged("p90 of each /home/ < 450ms", &run);
    assert_eq!((result.passed, result.label.as_deref()), (Some(true), Some("home")));
    // A label is evaluated from its first sample on.
    let late = [second(0, vec![row("a", &[20], 0)]), second(1, vec![row("a", &[20], 0), row("b", &[90], 0)])];
    let (result, _) = judged("max of each < 50ms over 1s", &late);
    assert_eq!((result.label.as_deref(), result.windows, result.since_s), (Some("b"), 1, Some(1.0)));
}

#[test]
fn criteria_on_arrivals_are_evaluated() {
    let at = |number: u64| Snapshot {
        arrivals: Some(ArrivalsInSecond { scheduled: 100, begun: 98, waited: 3, dropped: 2 }),
        regularity: (number > 5).then(|| LiveArrivals { cov: 0.9 + number as f64 / 100.0, gaps: 900 }),
        ..second(number, Vec::new())
    };
    let run: Vec<_> = (0..20).map(at).collect();
    assert_outcome("dropped < 30", &run, (Some(false), Some(40.0), Some((0.0, 20.0))));
    assert_outcome("dropped <= 2%", &run, (Some(true), Some(2.0), None));
    assert_outcome("waited <= 2% over 5s", &run, (Some(false), Some(3.0), Some((0.0, 20.0))));
    assert_outcome("fail if cov > 1 for 5s, continue", &run, (Some(false), Some(1.09), Some((11.0, 20.0))));
    // Over the run the CoV is that of the arrival verdict, and unknown without a verdict.
    let judge = |measures: &RunMeasures| {
        Judge::new(vec![Criterion::parse("cov < 1.1", Meaning::Require).unwrap()]).with(&run).finish(measures)
    };
    assert_eq!(judge(&RunMeasures::default())[0].passed, None);
    let measures = RunMeasures { arrivals_cov: Some(1.02), span_s: None };
    assert_eq!((judge(&measures)[0].passed, judge(&measures)[0].observed), (Some(true), Some(1.02)));
}

impl Judge {
    fn with(mut self, snapshots: &[Snapshot]) -> Judge {
        for snapshot in snapshots {
            self.second(snapshot);
        }
        self
    }
}

#[test]
fn a_criterion_without_data_fails_unless_it_ends_in_if_any() {
    for (text, fails) in [
        ("p95 of gone < 1s", true),
        ("p95 of gone < 1s, if any", false),
        ("fail of gone>50% for 10s, stop as failed", true),
        ("fail of gone>50% for 10s, continue as non-failed", false),
        ("p95 of each /gone/ < 1s", true),
    ] {
        let (result, _) = judged(text, &run());
        assert_eq!((result.passed, result.fails_run), (None, fails), "{text}");
        assert_eq!(result.describe_observed(), "nothing to measure");
    }
}

#[test]
fn missing_seconds_count_as_empty_and_a_partial_last_second_is_ignored_by_windows() {
    let mut run =
        vec![second(0, vec![row("home", &[10; 50], 0)]), second(1_000_000, vec![row("home", &[10], 0)])];
    let (result, order) = judged("hits<1 for 10s, stop as failed", &run);
    assert_eq!(order.map(|order| order.second), Some(999_999));
    assert_eq!(result.longest_s, Some(10));
    run = vec![
        second(0, vec![row("home", &[10; 50], 0)]),
        Snapshot { whole: false, ..second(1, vec![row("home", &[10], 0)]) },
    ];
    assert_outcome("hits > 40 over 1s", &run, (Some(true), Some(50.0), None));
    assert_eq!(outcome("hits > 40", &run).1, Some(51.0));
}

#[test]
fn rates_over_the_run_use_the_measured_span_if_known() {
    let judge = Judge::new(vec![Criterion::parse("rate > 5", Meaning::Require).unwrap()]).with(&run());
    let measures = RunMeasures { span_s: Some(109.0), arrivals_cov: None };
    assert_eq!(judge.finish(&measures)[0].observed, Some(10.0));
}
