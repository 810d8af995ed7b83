//! Compares the tables of a published log with the output of the web-generator-toolkit.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

use busyhour_analysis::{
    LogTableRow, LogWindow, QuantileRule, ThreadGroupRow, WebLog, WebLogOptions, WebLogTables,
};
use busyhour_results::Log;

fn shared(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path)
}

fn whole(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.0}"))
}

fn hundredths(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.2}"))
}

fn line(row: &LogTableRow, spread: Option<f64>) -> String {
    let mut cells = vec![row.label.clone(), row.n.to_string(), hundredths(row.per_s), whole(row.median)];
    cells.extend([row.mean, row.sdev, spread].map(hundredths));
    cells.extend([row.p90, row.p95, row.p99, row.min, row.max].map(whole));
    cells.extend([row.error_percent, row.kb_per_s].into_iter().filter(Option::is_some).map(hundredths));
    cells.join(",")
}

fn threads(row: &ThreadGroupRow) -> String {
    let cells = [row.per_s, row.mean, row.sdev, row.cov].map(hundredths).join(",");
    format!("{},{},{cells}", row.threads, row.n)
}

/// The tables in the format of the reference file, without its headings.
fn printed(tables: &WebLogTables) -> String {
    let mut out = String::new();
    for row in &tables.inter_arrival {
        let _ = writeln!(out, "{}", line(row, row.cv));
    }
    let others = [Some(&tables.response_time), tables.size.as_ref(), tables.first_byte.as_ref()];
    for row in others.into_iter().flatten().flatten() {
        let _ = writeln!(out, "{}", line(row, row.vmr));
    }
    for row in &tables.by_threads {
        let _ = writeln!(out, "{}", threads(row));
    }
    out
}

#[test]
fn every_cell_of_run_1830_equals_the_published_one() {
    let (data, oracle) = (shared("data/1830_AggRpt.csv"), shared("oracles/wgt/expected_1830.txt"));
    let Ok(expected) = std::fs::read_to_string(oracle) else {
        // Visible with `cargo test -- --nocapture`, and when the test fails.
        std::io::stderr().write_all(b"SKIPPED: the published log and its tables are not here\n").unwrap();
        return;
    };
    let sizes: Vec<u32> = expected
        .lines()
        .skip_while(|line| !line.starts_with("threads,"))
        .filter_map(|line| line.split(',').next()?.parse().ok())
        .collect();
    let options = WebLogOptions {
        window: Some(LogWindow { before_s: 120.0, duration_s: 1200.0 }),
        threads: sizes,
        quantiles: QuantileRule::Toolkit,
        cell_ms: None,
    };
    let log = Log::open(&data).unwrap();
    let (found, facts) = log
        .scan_in_order(
            || WebLog::new(options.clone(), log.form().tick_ns()),
            |into, row, _| {
                into.add(row, true);
            },
            &mut |_| {},
        )
        .unwrap();
    assert_eq!((facts.bad_rows, facts.transactions, facts.cut_off), (0, 0, false));
    let tables = found.finish(&facts.labels);
    let heading = format!(
        "# records={} bad={} t0={} window=[1331861523100,1331862723100] selected={} datatime_ms={}",
        tables.rows,
        facts.bad_rows,
        tables.first_start_ms.unwrap(),
        tables.selected,
        tables.duration_ms.unwrap()
    );
    assert_eq!(expected.lines().next(), Some(heading.as_str()));
    let is_row =
        |line: &&str| !line.starts_with('#') && !line.starts_with("label,") && !line.starts_with("threads,");
    let expected: Vec<&str> = expected.lines().filter(is_row).collect();
    let printed = printed(&tables);
    assert_eq!(printed.lines().collect::<Vec<_>>(), expected);
    assert_eq!(expected.len(), 4 * 7 + 24);

    // 690 gaps of the log, whose start times are in whole ms, are 0.
    let histogram = tables.gap_histogram.unwrap();
    assert_eq!((histogram.cells[0], histogram.cells.iter().sum::<u64>() + histogram.beyond), (690, 38_072));
    // In windows of up to a second, counts are those of a Poisson process. In windows longer than the think time of 6.25 s, the
    // closed loop of 200 threads makes them vary less.
    let dispersion = |width_s: f64| {
        tables
            .counts
            .iter()
            .find(|counts| counts.width_s == width_s)
            .and_then(|counts| counts.dispersion)
            .unwrap()
    };
    assert!((0.97..1.03).contains(&dispersion(0.1)) && dispersion(10.0) < 0.5);
}

/// The tables of a log with the given rows of start, elapsed, label and thread, in this order.
fn tables_of(rows: &[(u32, u16, u8, u8)]) -> WebLogTables {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jtl");
    let mut text = String::from("timeStamp,elapsed,label,threadName\n");
    for (start, elapsed, label, thread) in rows {
        let _ = writeln!(text, "{start},{elapsed},page {label},Users 1-{thread}");
    }
    std::fs::write(&path, text).unwrap();
    let log = Log::open(&path).unwrap();
    let options = WebLogOptions { threads: vec![1, 2, 3], ..WebLogOptions::default() };
    let (found, facts) = log
        .scan_in_order(
            || WebLog::new(options.clone(), log.form().tick_ns()),
            |into, row, _| {
                into.add(row, true);
            },
            &mut |_| {},
        )
        .unwrap();
    found.finish(&facts.labels)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn the_order_of_a_log_does_not_matter(
        mut rows in proptest::collection::vec((0u32..3_000, 0u16..500, 0u8..3, 1u8..4), 2..80)
    ) {
        // In order of ends, as JMeter writes them, in order of starts, and reversed.
        rows.sort_by_key(|row| row.0 + u32::from(row.1));
        let by_end = tables_of(&rows);
        rows.sort();
        proptest::prop_assert_eq!(&tables_of(&rows), &by_end);
        rows.reverse();
        proptest::prop_assert_eq!(&tables_of(&rows), &by_end);
    }
}
