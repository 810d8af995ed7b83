//! Tests with a small log computed by hand, and properties of all logs.

use proptest::prelude::*;

use super::counted::{Budget, Counted};
use super::*;

const MS: u64 = 1_000_000;

fn row(start_ms: i64, elapsed_ms: u64, label: u32, thread: u32) -> LogRow {
    LogRow {
        start_ns: start_ms * MS as i64,
        elapsed_ns: elapsed_ms * MS,
        latency_ns: None,
        late_ns: None,
        bytes: Some(elapsed_ms * 10),
        label,
        group: None,
        thread: Some(thread),
        user: std::num::NonZeroU64::new(thread.into()),
        success: elapsed_ms < 40,
    }
}

fn tables(rows: &[LogRow], options: WebLogOptions) -> WebLogTables {
    let mut log = WebLog::new(options, MS);
    for row in rows {
        log.add(row, true);
    }
    log.finish(&["b".to_owned(), "a".to_owned()])
}

/// Arrivals of two threads: label b at 0, 10 and 40 ms, label a at 20 and 30 ms.
fn small() -> Vec<LogRow> {
    vec![row(0, 5, 0, 1), row(10, 7, 0, 2), row(20, 40, 1, 1), row(30, 1, 1, 2), row(40, 10, 0, 1)]
}

#[test]
fn the_tables_of_a_small_log_equal_those_computed_by_hand() {
    let tables = tables(&small(), WebLogOptions { threads: vec![2, 1], ..WebLogOptions::default() });
    let labels: Vec<&str> = tables.inter_arrival.iter().map(|row| row.label.as_str()).collect();
    assert_eq!(labels, ["a", "b", TOTAL]);
    assert_eq!((tables.rows, tables.selected, tables.first_start_ms), (5, 5, Some(0.0)));
    assert_eq!((tables.tick_ms, tables.duration_ms, tables.threads_unknown), (1.0, Some(50.0), 0));

    // Gaps of b: 10 and 30 in dt = 50 ms; of a: 10; of all: four times 10.
    let [a, b, total] = &tables.inter_arrival[..] else { panic!() };
    assert_eq!((a.n, a.mean, a.sdev, a.cv), (1, Some(10.0), None, None));
    assert_eq!((b.n, b.per_s, b.median, b.mean), (2, Some(40.0), Some(20.0), Some(20.0)));
    assert!((b.sdev.unwrap() - 200f64.sqrt()).abs() < 1e-12);
    assert!((b.cv.unwrap() - 200f64.sqrt() / 20.0).abs() < 1e-12);
    assert_eq!((b.p90, b.min, b.max), (Some(28.0), Some(10.0), Some(30.0)));
    assert_eq!((total.n, total.per_s, total.mean, total.sdev), (4, Some(80.0), Some(10.0), Some(0.0)));

    // All times: 1, 5, 7, 10, 40; one of five samples failed; 630 bytes in 50 ms.
    let total = &tables.response_time[2];
    assert_eq!((total.median, total.mean, total.max), (Some(7.0), Some(12.6), Some(40.0)));
    assert!((total.p90.unwrap() - 28.0).abs() < 1e-9);
    assert_eq!((total.error_percent, total.kb_per_s), (Some(20.0), Some(12.6)));
    assert_eq!(tables.size.as_ref().unwrap()[2].max, Some(400.0));
    assert_eq!(tables.first_byte, None);

    assert_eq!(tables.users, Some(2));
    // Starts of thread 1: 0, 20, 40.
    let [one, two] = &tables.by_threads[..] else { panic!() };
    assert_eq!((one.threads, one.n, one.mean, one.sdev, one.cov), (1, 2, Some(20.0), Some(0.0), Some(0.0)));
    assert_eq!((two.threads, two.n, two.per_s), (2, 4, Some(80.0)));
}

#[test]
fn the_window_is_relative_to_the_first_start_and_includes_both_ends() {
    let window = Some(LogWindow { before_s: 0.01, duration_s: 0.02 });
    let tables = tables(&small(), WebLogOptions { window, ..WebLogOptions::default() });
    assert_eq!((tables.rows, tables.selected), (5, 3));
    assert_eq!(tables.inter_arrival.last().unwrap().n, 2);
    // Rows that are not selected still determine the start of the log.
    let mut log = WebLog::new(WebLogOptions { window, ..WebLogOptions::default() }, MS);
    for row in small() {
        log.add(&row, row.label == 1);
    }
    assert_eq!(log.finish(&[]).selected, 2);
}

#[test]
fn quantiles_follow_the_chosen_definition() {
    let (mut counted, mut budget) = (Counted::default(), Budget::default());
    for value in [1, 2, 3, 4] {
        counted.add(value, &mut budget);
    }
    let quantiles = |rule| counted.quantiles(&[0.5, 0.9, 1.0], rule).unwrap();
    assert_eq!(quantiles(QuantileRule::Type7)[..1], [2.5]);
    assert_eq!(quantiles(QuantileRule::Toolkit), [2.0, 4.0, 4.0]);
    assert_eq!(Counted::default().quantiles(&[0.5], QuantileRule::Type7), None);
}

#[test]
fn tables_of_an_empty_log_have_no_values() {
    let tables = tables(&[], WebLogOptions::default());
    let total = &tables.inter_arrival[0];
    assert_eq!((total.n, total.per_s, total.mean, total.min), (0, None, None, None));
    assert_eq!((tables.size, tables.gap_histogram, tables.first_start_ms), (None, None, None));
}

#[test]
fn cells_include_their_upper_edge() {
    let (mut counted, mut budget) = (Counted::default(), Budget::default());
    for value in [0, 0, 1, 10, 11, 20, 70, 9_000_000] {
        counted.add(value, &mut budget);
    }
    let histogram = CellHistogram::of(&counted, 0.1, Some(1.0)).unwrap();
    assert_eq!(histogram.cells, [2, 2, 2, 0, 0, 0, 0, 1]);
    assert_eq!(histogram.beyond, 1);
    // A width chosen from the data is a round number, and at least the resolution.
    assert_eq!(CellHistogram::of(&counted, 1.0, None).unwrap().cell_ms, 20_000.0);
    assert_eq!(CellHistogram::of(&counted, 1e-9, None).unwrap().cell_ms, 2e-5);
}

#[test]
fn the_dispersion_distinguishes_even_arrivals_from_bursts() {
    let even: Vec<LogRow> = (0..20_000).map(|n| row(n * 5, 1, 0, 1)).collect();
    let all = tables(&even, WebLogOptions::default()).counts;
    let second = all.iter().find(|counts| counts.width_s == 1.0).unwrap();
    assert_eq!((second.cells, second.mean, second.dispersion), (99, 200.0, Some(0.0)));
    // From tables of χ²(98): 72.501 and 127.282.
    let (low, high) = second.dispersion_of_poisson;
    assert!((low - 72.501 / 98.0).abs() < 1e-3 && (high - 127.282 / 98.0).abs() < 1e-3, "{low} {high}");
    let finest = &all[0];
    assert_eq!((finest.mean, finest.frequencies.len()), (19_999.0 / 99_995.0, 2));
    // Ten arrivals start at the same time every 50 ms.
    let bursts: Vec<LogRow> = (0..20_000).map(|n| row(n / 10 * 50, 1, 0, 1)).collect();
    let all = tables(&bursts, WebLogOptions::default()).counts;
    assert!(all[1].dispersion.unwrap() > 7.9);
    assert_eq!(all[3].dispersion, Some(0.0));
}

#[test]
fn too_many_distinct_values_are_rounded() {
    let (mut exact, mut rounded) = (Counted::default(), Counted::default());
    let (mut much, mut little) = (Budget::default(), Budget::of(100));
    for n in 0..20_000u64 {
        let value = n * n * 7919 % 1_000_003 * 1_009;
        exact.add(value, &mut much);
        rounded.add(value, &mut little);
    }
    assert!(rounded.is_rounded() && !exact.is_rounded());
    assert_eq!((exact.mean(), exact.variance()), (rounded.mean(), rounded.variance()));
    let places = [0.01, 0.5, 0.9, 0.999];
    let pairs = exact.quantiles(&places, QuantileRule::Type7).into_iter().flatten();
    for (a, b) in pairs.zip(rounded.quantiles(&places, QuantileRule::Type7).unwrap()) {
        assert!((a - b).abs() <= a * 0.002, "{a} {b}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn statistics_equal_those_of_the_values(values in prop::collection::vec(0u64..100_000, 2..200), p in 0.0..1.0) {
        let (mut counted, mut budget) = (Counted::default(), Budget::default());
        values.iter().for_each(|value| counted.add(*value, &mut budget));
        let mut sorted = values.clone();
        sorted.sort_unstable();
        let n = values.len() as f64;
        let mean = values.iter().sum::<u64>() as f64 / n;
        let variance = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / (n - 1.0);
        prop_assert!((counted.mean().unwrap() - mean).abs() <= 1e-9 * mean.max(1.0));
        prop_assert!((counted.variance().unwrap() - variance).abs() <= 1e-9 * variance.max(1.0));
        let toolkit = counted.quantiles(&[p], QuantileRule::Toolkit).unwrap()[0];
        if p != 0.5 {
            prop_assert_eq!(toolkit, sorted[(p * (n - 0.5)) as usize] as f64);
        }
        let seven = counted.quantiles(&[p], QuantileRule::Type7).unwrap()[0];
        let place = p * (n - 1.0);
        prop_assert!(sorted[place as usize] as f64 <= seven);
        prop_assert!(seven <= sorted[(place.ceil() as usize).min(values.len() - 1)] as f64);
    }

    #[test]
    fn the_total_is_the_sum_of_the_labels(
        steps in prop::collection::vec((0i64..50, 0u64..6_000, 0u32..2, 1u32..5), 1..120)
    ) {
        let mut at = 0;
        let rows: Vec<LogRow> = steps.into_iter().map(|(gap, elapsed, label, thread)| {
            at += gap;
            row(at, elapsed, label, thread)
        }).collect();
        let found = tables(&rows, WebLogOptions { threads: vec![4], ..WebLogOptions::default() });
        let total = found.response_time.last().unwrap();
        let labels = &found.response_time[..found.response_time.len() - 1];
        prop_assert_eq!(labels.iter().map(|row| row.n).sum::<u64>(), total.n);
        prop_assert_eq!(labels.iter().filter_map(|row| row.max).fold(0.0, f64::max), total.max.unwrap());
        let gaps = found.inter_arrival.last().unwrap();
        prop_assert_eq!(gaps.n + 1, rows.len() as u64);
        // The thread-group size includes all threads.
        prop_assert_eq!((found.by_threads[0].n, found.by_threads[0].cov), (gaps.n, gaps.cv));
        let histogram = found.response_histogram.unwrap();
        prop_assert_eq!(histogram.cells.iter().sum::<u64>() + histogram.beyond, total.n);
    }
}
