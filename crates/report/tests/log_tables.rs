//! The printed arrival statistics of logs.

use std::fmt::Write as _;

use busyhour_analysis::{LogWindow, QuantileRule, WebLogOptions};
use busyhour_report::{LogTablesShow, Look, arrival_plots, log_tables, log_tables_csv, log_tables_json};
use busyhour_results::{Log, LogLoad, LogReport, LogTally};
use insta::assert_snapshot;

/// A log of two pages and ten threads. The values are pseudo-random with a fixed seed.
fn log(name: &str, rows: u64, columns: &str, options: &WebLogOptions) -> LogReport {
    let mut state = 7u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut text = format!("timeStamp,elapsed,label,threadName,success{columns}\n");
    let mut at = 1_700_000_000_000.0;
    for row in 0..rows {
        at += -(1.0 - random()).ln() * 40.0;
        let (label, thread) = (if random() < 0.7 { "Home" } else { "Search" }, row % 10 + 1);
        let elapsed = (random() * 30.0) as u64;
        let _ = write!(text, "{},{elapsed},{label},Users 1-{thread},{}", at as u64, random() < 0.99);
        let _ = writeln!(
            text,
            "{}",
            if columns.is_empty() { String::new() } else { format!(",{}", elapsed * 100) }
        );
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.jtl");
    std::fs::write(&path, text).unwrap();
    let log = Log::open(&path).unwrap();
    let (tally, facts) = log
        .scan_in_order(|| LogTally::new(options, log.form()), |into, row, _| into.add(row, true), &mut |_| {})
        .unwrap();
    tally.finish(name.into(), facts, LogLoad::default())
}

#[test]
fn one_log_shows_its_labels() {
    let options = WebLogOptions { threads: vec![1, 5, 10], ..WebLogOptions::default() };
    let text =
        log_tables(&[log("a.jtl", 1_000, ",bytes", &options)], LogTablesShow::default(), Look::default());
    assert_snapshot!(text, @r"
    a.jtl: Arrivals: 25.10/s, CoV 1.02 ± 0.06: closed load of 10 users: CoV as with independent users
      CSV, 1,000 samples

    Inter-arrival time, ms
    label     n    tps  median    mean    sdev    cv    p90    p95    p99  min  max
    Home    700  17.58    35.0   56.84   59.72  1.05  134.1  182.1  261.0    0  399
    Search  298   7.54    87.0  132.50  131.84  1.00  314.9  381.8  572.7    0  781
    Total   999  25.08    27.0   39.84   40.75  1.02   92.0  119.1  193.0    0  315

    Response time from the actual start (elapsed), ms
    label      n    tps  median   mean  sdev   vmr  p90  p95  p99  min  max  %error  KB/sec
    Home     701  17.61      14  14.41  8.69  5.24   27   28   29    0   29    0.71   25.37
    Search   299   7.57      12  13.37  8.42  5.30   26   28   29    0   29    1.00   10.12
    Total   1000  25.11      13  14.10  8.62  5.27   26   28   29    0   29    0.80   35.40

    Size, bytes
    label      n    tps  median     mean    sdev     vmr   p90   p95   p99  min   max
    Home     701  17.61    1400  1440.80  869.07  524.21  2700  2800  2900    0  2900
    Search   299   7.57    1200  1337.46  842.30  530.46  2600  2800  2900    0  2900
    Total   1000  25.11    1300  1409.90  862.03  527.06  2600  2800  2900    0  2900

    Time to first byte, ms
    unavailable: not in the log

    Arrivals per cell of time: mean count and index of dispersion
    cell     cells    mean  dispersion  95 % of Poisson
    0.001 s  39800  0.0251        0.99     0.99 to 1.01
    0.01 s    3980  0.2510        1.02     0.96 to 1.04
    0.1 s      398    2.51        1.08     0.87 to 1.14
    1 s         39   25.26        1.30     0.60 to 1.50

    Inter-arrival time by thread-group size, ms
    threads    n    tps    mean    sdev   cov
    1         99   2.52  397.22  133.56  0.34
    5        499  12.64   79.09   98.39  1.24
    10       999  25.08   39.84   40.75  1.02

    quantiles: linear interpolation (type 7 of Hyndman and Fan)
    ");
}

#[test]
fn several_logs_have_a_line_each() {
    let options = WebLogOptions {
        window: Some(LogWindow { before_s: 1.0, duration_s: 8.0 }),
        quantiles: QuantileRule::Toolkit,
        cell_ms: Some(50.0),
        ..WebLogOptions::default()
    };
    let logs = [log("runs/a.jtl", 400, "", &options), log("runs/b.jtl", 300, ",bytes", &options)];
    let show = LogTablesShow { histograms: true, ..LogTablesShow::default() };
    assert_snapshot!(log_tables(&logs, show, Look { width: Some(60), colour: false }), @r"
    runs/a.jtl: Arrivals: 212: no verdict below 500
      CSV, 212 of 400 samples, from 1 s to 9 s after the first start
    runs/b.jtl: Arrivals: 212: no verdict below 500
      CSV, 212 of 300 samples, from 1 s to 9 s after the first start

    Inter-arrival time, ms
    log           n    tps  median   mean   sdev    cv  p90  p95  p99  min  max
    runs/a.jtl  211  26.82      26  37.27  34.76  0.93   85  104  133    0  224
    runs/b.jtl  211  26.82      26  37.27  34.76  0.93   85  104  133    0  224

    Response time from the actual start (elapsed), ms
    log           n    tps  median   mean  sdev   vmr  p90  p95  p99  min  max  %error  KB/sec
    runs/a.jtl  212  26.95      14  14.62  9.04  5.59   27   28   29    0   29    0.47       -
    runs/b.jtl  212  26.95      14  14.62  9.04  5.59   27   28   29    0   29    0.47   39.40

    Size, bytes
    log           n    tps  median     mean    sdev     vmr   p90   p95   p99  min   max
    runs/b.jtl  212  26.95    1400  1461.79  904.18  559.27  2700  2800  2900    0  2900

    Time to first byte, ms
    unavailable: not in the log

    runs/a.jtl: Histogram in cells of 50 ms: number of values up to this one and above the previous row
    ms   gaps  response times
    0       1               9
    50    153             203
    100    42               0
    150    14               0
    250     1               0

    runs/b.jtl: Histogram in cells of 50 ms: number of values up to this one and above the previous row
    ms   gaps  response times
    0       1               9
    50    153             203
    100    42               0
    150    14               0
    250     1               0

    quantiles: the web-generator-toolkit's rule
    ");
    let by_label = LogTablesShow { by_label: true, details: true, ..LogTablesShow::default() };
    let text = log_tables(&logs, by_label, Look::default());
    assert!(text.contains("Search") && text.contains("CoV of gaps"), "{text}");
}

#[test]
fn csv_and_json_contain_all_tables() {
    let options = WebLogOptions { threads: vec![3], ..WebLogOptions::default() };
    let logs = [log("a, b.jtl", 60, "", &options)];
    let show = LogTablesShow { histograms: true, ..LogTablesShow::default() };
    let csv = log_tables_csv(&logs, show);
    let commas: Vec<usize> =
        csv.lines().map(|line| line.replace("\"a, b.jtl\"", "a").matches(',').count()).collect();
    assert!(commas.iter().all(|count| *count == 16), "{csv}");
    assert_snapshot!(csv.lines().take(4).collect::<Vec<_>>().join("\n"), @r#"
    log,table,label,n,tps,median,mean,sdev,cv,vmr,p90,p95,p99,min,max,error_percent,kb_per_s
    "a, b.jtl",inter-arrival-ms,Home,40,15.612802,47,63.475,57.626555,0.907862,52.316973,136.5,181.75,211.25,2,221,,
    "a, b.jtl",inter-arrival-ms,Search,18,6.920415,129.5,144,151.741266,1.053759,159.898693,238.8,347.35,598.27,13,661,,
    "a, b.jtl",inter-arrival-ms,Total,59,22.683583,29,43.932203,42.672718,0.971331,41.44934,97.4,130.7,174.54,1,196,,
    "#);
    let json: serde_json::Value = serde_json::from_str(&log_tables_json(&logs)).unwrap();
    let log = &json["logs"][0];
    assert_eq!((&json["version"], &log["form"], &log["selected"]), (&1.into(), &"CSV".into(), &60.into()));
    assert_eq!(log["size"], serde_json::Value::Null, "unknown values are null");
    assert_eq!(log["inter_arrival"][2]["label"], "Total");
    assert_eq!(log["by_threads"][0]["threads"], 3);
}

#[test]
fn plots_are_complete_files() {
    let options = WebLogOptions { threads: vec![1, 2, 5, 10], ..WebLogOptions::default() };
    let logs = [log("<x>.jtl", 3_000, "", &options), log("<x>.jtl", 2, "", &options)];
    let files = arrival_plots(&logs);
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "-x--gaps.svg",
            "-x--counts.svg",
            "-x--cov-by-threads.svg",
            "-x--2-gaps.svg",
            "-x--2-counts.svg",
            "arrivals.html"
        ]
    );
    for file in &files {
        assert!(!file.contents.contains("NaN") && !file.contents.contains("inf"), "{}", file.name);
        assert!(!file.contents.contains("<x>"), "{}", file.name);
        assert!(!file.contents.contains("href") && !file.contents.contains("src="), "{}", file.name);
    }
}
