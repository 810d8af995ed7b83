use std::collections::BTreeMap;

use super::*;
use crate::counts::GroupCounts;
use crate::counts::Intervals;
use crate::series::CountSeries;

fn group(text: &str, counts: &[(u32, u32)]) -> GroupCounts {
    GroupCounts {
        text: text.into(),
        severity: Some(EntrySeverity::Error),
        logger: None,
        count: counts.iter().map(|(_, count)| u64::from(*count)).sum(),
        example: text.into(),
        over_time: CountSeries { counts: counts.to_vec() },
    }
}

fn log(length_s: f64, templates: Vec<GroupCounts>) -> LogCounts {
    LogCounts {
        format: FORMAT_VERSION,
        query: "error".into(),
        start_unix_ns: 0,
        length_s: Some(length_s),
        lines: 0,
        entries: 0,
        matching: 0,
        outside: 0,
        without_time: BTreeMap::new(),
        by_arrival: 0,
        ungrouped: 0,
        truncated_lines: 0,
        unreadable_lines: 0,
        interval_s: Intervals { totals: 1, templates: 1, traces: 1 },
        entries_over_time: CountSeries::default(),
        matching_over_time: CountSeries::default(),
        rules: Vec::new(),
        traces: templates.clone(),
        templates,
    }
}

/// `count` entries, evenly spread over 320 s.
fn even(count: u32) -> Vec<(u32, u32)> {
    (0..count).map(|at| (at * 320 / count, 1)).collect()
}

fn texts(differences: &[Difference]) -> Vec<(&str, bool)> {
    differences.iter().map(|difference| (difference.text.as_str(), difference.is_significant)).collect()
}

#[test]
fn new_templates_are_listed_before_risen_ones() {
    let baseline =
        log(320.0, vec![group("a b", &even(20)), group("c d", &even(200)), group("gone", &even(5))]);
    let run = log(
        320.0,
        vec![
            group("a b", &even(100)),
            group("c d", &even(210)),
            group("new rare", &even(1)),
            group("new often", &even(50)),
            group("new burst", &[(7, 500)]),
        ],
    );
    let found = compare(&baseline, &run, Exposure::RunLength).unwrap();
    let new = [("new often", true), ("new burst", false), ("new rare", false)];
    assert_eq!(texts(&found.templates.new), new);
    assert_eq!(texts(&found.templates.risen), [("a b", true)]);
    assert_eq!((found.templates.others, found.templates.absent), (1, 1));
    assert_eq!(texts(&found.traces.new), new);
    let risen = &found.templates.risen[0];
    assert_eq!((risen.baseline_count, risen.run_count), (20, 100));
    assert_eq!((risen.baseline_rate, risen.run_rate), (20.0 / 320.0, 100.0 / 320.0));
}

#[test]
fn counts_are_compared_per_exposure() {
    let longer: Vec<_> = (0..400).map(|at| (at * 8, 1)).collect();
    let (baseline, run) =
        (log(320.0, vec![group("a b", &even(40))]), log(3_200.0, vec![group("a b", &longer)]));
    assert_eq!(compare(&baseline, &run, Exposure::RunLength).unwrap().templates.risen, []);
    let requests = Exposure::Requests { baseline: 1_000.0, run: 1_000.0 };
    assert_eq!(compare(&baseline, &run, requests).unwrap().templates.risen.len(), 1);
}

#[test]
fn templates_that_were_generalized_differently_are_the_same() {
    let baseline = log(
        320.0,
        vec![group("login of ann at shop failed", &even(9)), group("login of bob at shop failed", &even(9))],
    );
    let run = log(320.0, vec![group("login of <*> at shop failed", &even(18))]);
    let found = compare(&baseline, &run, Exposure::RunLength).unwrap();
    assert_eq!((found.templates.new.len(), found.templates.others), (0, 1));
    let back = compare(&run, &baseline, Exposure::RunLength).unwrap();
    assert_eq!((back.templates.new.len(), back.templates.others), (0, 1));
    // Traces are only matched if they are equal.
    assert_eq!(found.traces.new.len(), 1);
}

#[test]
fn errors_say_what_is_wrong() {
    let good = log(10.0, vec![]);
    let other_query = LogCounts { query: "failed".into(), ..good.clone() };
    let error = compare(&good, &other_query, Exposure::RunLength).unwrap_err().to_string();
    assert!(error.contains("`error`") && error.contains("`failed`"), "{error}");
    let no_length = LogCounts { length_s: None, ..good.clone() };
    assert_eq!(
        compare(&no_length, &good, Exposure::RunLength),
        Err(ComparisonError::NoLength(LogSide::Baseline))
    );
    let later = LogCounts { format: 99, ..good.clone() };
    assert_eq!(
        compare(&good, &later, Exposure::RunLength),
        Err(ComparisonError::UnknownFormat { side: LogSide::Run, found: 99 })
    );
    let exposure = Exposure::Requests { baseline: 0.0, run: 5.0 };
    assert!(matches!(
        compare(&good, &good, exposure),
        Err(ComparisonError::InvalidExposure { side: LogSide::Baseline, .. })
    ));
}
