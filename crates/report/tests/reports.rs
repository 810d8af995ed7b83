//! Reports of a run with known numbers.

use std::path::Path;

use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures};
use busyhour_analysis::{Caveat, RunFacts, Summary};
use busyhour_record::{
    MANIFEST_VERSION, Machine, Manifest, PlanFile, PlanNote, Recorder, RecorderConfig, RequestDeadline,
    RunDir, RunOutcome,
};
use busyhour_report::{
    Look, Progress, RunShow, ThreadCounts, Written, end_of_run, html_report, prepare_dashboard,
    progress_line, statistics_json, write_dashboard, write_reports,
};
use busyhour_results::{add_arrivals, summarise, summarise_jtl};
use busyhour_sample::{
    ActiveUsers, CoreFacts, GeneratorFacts, GroupName, Labels, Nanos, RunEnd, RunNames, Sample, SampleFlags,
    SampleOutcome, SampleSizes, SampleTimes, Stall,
};

/// A run of 40 s with a slow part, errors, a transaction and a hostile label.
#[allow(clippy::too_many_lines, reason = "one literal with all fields")]
fn run(dir: &RunDir) -> Manifest {
    let mut manifest = Manifest {
        version: MANIFEST_VERSION,
        busyhour: "0.1.0".into(),
        plan: PlanFile {
            path: "shop.jmx".into(),
            name: "Shop <busy> hour".into(),
            sha256: "ab".repeat(32),
            url: None,
        },
        seed: 7,
        share: None,
        command_line: ["busyhour", "run", "shop.jmx"].map(String::from).to_vec(),
        properties: [("USERS".to_owned(), "20".to_owned())].into(),
        machine: Machine { hostname: "gen".into(), os: "linux".into(), arch: "x86_64".into(), cpus: 4 },
        wall_anchor_ms: 1_706_933_106_007,
        notes: vec![PlanNote {
            code: "listener-ignored".into(),
            message: "the listener View Results Tree is not needed and was left out".into(),
            hint: None,
        }],
        rate_timers: Vec::new(),
        request_deadline: Some(RequestDeadline::Ns(60_000_000_000)),
        results_file: None,
        thresholds: Vec::new(),
        parts: Vec::new(),
        events: Vec::new(),
        outcome: None,
    };
    dir.write_manifest(&manifest).unwrap();
    let labels = Labels::new();
    let (recorder, mut writers) = Recorder::start(RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: RunNames {
            groups: vec![GroupName { name: "Users".into(), number: 1 }],
            ..RunNames::default()
        },
        labels: labels.clone(),
        wall_anchor_ms: manifest.wall_anchor_ms,
        batches: 400,
        ..RecorderConfig::default()
    })
    .unwrap();
    let mut writer = writers.remove(0);
    let names = ["Home", "Search, \"all\"", "<script>alert(1)</script>\nBuy"];
    let ids = names.map(|name| labels.intern(name));
    let all = labels.intern("Visit");
    // A multiplicative generator with a fixed seed, so that the run is always the same.
    let mut state = 12_345u64;
    for i in 0..4_000u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = (state >> 33) as f64 / (1u64 << 31) as f64;
        let start = Nanos(i * 10_000_000);
        let slow = if (20..26).contains(&start.second()) { 6.0 } else { 1.0 };
        let ns = (-(1.0 - draw).ln() * 12e6 * slow) as u64 + 2_000_000;
        let label = (i % 3) as usize;
        let bad = i % 40 == 5;
        let mut sample = Sample {
            label: ids[label],
            times: SampleTimes {
                intended: start - if slow > 1.0 { 30_000_000 } else { 0 },
                start,
                end: start + ns,
                latency_ns: ns / 2,
                ..SampleTimes::default()
            },
            users: ActiveUsers { group: (i / 40).min(20) as u32 + 1, all: (i / 40).min(20) as u32 + 1 },
            outcome: SampleOutcome::new(
                if bad { "503" } else { "200" },
                if bad { "Service Unavailable" } else { "OK" },
                !bad,
            ),
            error_count: u32::from(bad),
            sizes: SampleSizes::of_row(2_000 + (i % 3) * 50_000, 300),
            ..Sample::default()
        };
        writer.record(&sample).unwrap();
        if label == 2 {
            sample.label = all;
            sample.flags = SampleFlags::TRANSACTION;
            sample.times.start = start - 20_000_000;
            sample.times.intended = sample.times.start;
            writer.record(&sample).unwrap();
        }
    }
    writer.flush(Nanos::from_secs(41));
    drop(writer);
    let totals = recorder.finish();
    manifest.outcome = Some(RunOutcome {
        end: RunEnd::Completed,
        duration_ns: 40_200_000_000,
        users_started: 21,
        users_finished: 21,
        generator: GeneratorFacts {
            cores: vec![CoreFacts {
                busy: Some(0.97),
                busy_second_max: Some(1.0),
                lag_ns_max: Some(2_000_000),
            }],
            ..GeneratorFacts::default()
        },
        recorder_events: totals.events.clone(),
        ..RunOutcome::default()
    });
    dir.write_manifest(&manifest).unwrap();
    let mut summary = Summary::new(RunFacts::from_manifest(&manifest), &totals);
    add_arrivals(dir, &mut summary).unwrap();
    write_reports(dir, &summary).unwrap();
    assert_eq!(summarise(dir).unwrap(), summary);
    manifest
}

/// The part of a page before its script and data.
fn written(page: &str) -> &str {
    page.split_once("<script type=\"application/json\"").unwrap().0
}

#[test]
fn stalls_of_the_generator_are_marked_in_plots_over_time() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    run(&dir);
    let mut summary = summarise(&dir).unwrap();
    assert!(html_report(&summary).contains("Incidents are shaded red."));
    summary.incidents.clear();
    assert!(!html_report(&summary).contains("vertical lines"));
    summary.run.generator.stalls = vec![
        Stall { core: Some(1), at_ns: 7_000_000_000, length_ns: 300_000_000 },
        Stall { core: None, at_ns: 12_000_000_000, length_ns: 1_500_000_000 },
        Stall { core: Some(0), at_ns: 14_000_000_000, length_ns: 150_000_000 },
    ];
    let page = html_report(&summary);
    let text = written(&page);
    // Once for each section with plots over time.
    assert_eq!(text.matches("Dotted vertical lines mark stalls of the generator.").count(), 3);
    let marks = page.split_once("\"marks\":[").unwrap().1.split_once(']').unwrap().0;
    let words = ["core 1 was blocked for 0.3 s at 00:07", "this process did not run for 1.5 s at 00:12"];
    let expected = format!(
        "{{\"at_s\":7.0,\"stall\":true,\"words\":\"{0}\"}},{{\"at_s\":12.0,\"stall\":true,\"words\":\"{1}\"}},\
         {{\"at_s\":13.5,\"stall\":true,\"words\":\"end of: {1}\"}}",
        words[0], words[1]
    );
    assert_eq!(marks, expected);
}

#[test]
fn a_run_directory_gives_every_report_again() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    run(&dir);
    let summary = summarise(&dir).unwrap();
    let json = std::fs::read_to_string(dir.summary_path()).unwrap();
    assert_eq!(Summary::from_json(&json).unwrap(), summary);
    let files = Written {
        files: vec!["run/report.html".into()],
        page: Some("/runs/my run/report.html".into()),
        has_links: false,
        details_command: Some("busyhour report run --details".into()),
    };
    let details = RunShow { details: true, ..RunShow::default() };
    let shown = |show, width, colour| end_of_run(&summary, show, &files, Look { width, colour });
    insta::assert_snapshot!(shown(details, None, false));
    insta::assert_snapshot!("one_screen", shown(RunShow::default(), Some(80), false));
    let coloured = shown(details, Some(100), true);
    assert!(coloured.contains("\x1b[1m"));
    // No line is wider than the terminal, and one screen is not higher than it.
    let widest = |text: &str| text.lines().map(|line| line.chars().count()).max();
    for width in [60, 80, 100, 120, 200] {
        assert!(
            widest(&shown(details, Some(width), false)) <= Some(width),
            "{}",
            shown(details, Some(width), false)
        );
        let screen = shown(RunShow::default(), Some(width), false);
        assert!(widest(&screen) <= Some(width) && screen.lines().count() < 24, "{screen}");
        assert!(screen.trim_end().ends_with("busyhour report run --details"));
    }
    // Labels are shortened before columns are left out.
    assert!(shown(details, Some(120), false).contains("p99.9"));

    let page = html_report(&summary);
    assert_eq!(page, std::fs::read_to_string(dir.report_path()).unwrap());
    let text = written(&page);
    for absent in ["<script>alert", "http://", "https://", "NaN", "src=", "Infinity"] {
        assert!(!text.contains(absent), "{absent}");
    }
    assert!(!page.contains("<script>alert"), "the data of the plots must not contain it either");
    for plot in ["rate", "errors", "percentiles", "users", "traffic"] {
        assert!(page.contains(&format!("data-plot=\"{plot}\"")), "{plot}");
    }
    assert!(page.contains("Shop &lt;busy&gt; hour"));
    assert!(page.contains("<dt>Generator's cores</dt><dd>97 % busy</dd>"));
    assert!(page.contains("<dt>Generator's memory</dt><dd>unavailable</dd>"), "unmeasured values are not 0");
    if let Some(keep) = std::env::var_os("BUSYHOUR_KEEP_REPORT") {
        std::fs::copy(dir.report_path(), keep).unwrap();
    }
}

#[test]
fn a_run_without_samples_is_reported() {
    let (recorder, writers) = Recorder::start(RecorderConfig::default()).unwrap();
    drop(writers);
    let summary = Summary::new(RunFacts::default(), &recorder.finish());
    assert!(summary.caveats.iter().any(|reported| reported.caveat == Caveat::NoSamples));
    let text = end_of_run(&summary, RunShow::default(), &Written::default(), Look::default());
    insta::assert_snapshot!(text);
    let page = html_report(&summary);
    assert!(!written(&page).contains("NaN") && !page.contains("<figure"));
    assert!(Summary::from_json(&summary.to_json()).is_ok());
}

/// A run with these numbers of requests and of failed requests (the first ones) in each second.
fn summary_of(seconds: &[(u64, u64)]) -> Summary {
    let labels = Labels::new();
    let label = labels.intern("Home");
    let (recorder, mut writers) =
        Recorder::start(RecorderConfig { labels, ..RecorderConfig::default() }).unwrap();
    let mut writer = writers.remove(0);
    for (second, (requests, failed)) in (0..).zip(seconds) {
        for request in 0..*requests {
            let start = Nanos::from_millis(1_000 * second + 900 * request / requests);
            let is_bad = request < *failed;
            let times =
                SampleTimes { intended: start, start, end: start + 50_000_000, ..SampleTimes::default() };
            writer
                .record(&Sample {
                    label,
                    times,
                    outcome: SampleOutcome::new(if is_bad { "503" } else { "200" }, "", !is_bad),
                    error_count: u32::from(is_bad),
                    ..Sample::default()
                })
                .unwrap();
        }
    }
    writer.flush(Nanos::from_secs(seconds.len() as u64 + 1));
    drop(writer);
    Summary::new(RunFacts::default(), &recorder.finish())
}

#[test]
fn equal_rates_have_no_range() {
    let page = html_report(&summary_of(&[(10, 0), (10, 0), (10, 0)]));
    assert!(page.contains("Completed per second: 10.0 in each second; "), "{}", written(&page));
    let page = html_report(&summary_of(&[(10, 0), (20, 0), (10, 0)]));
    assert!(page.contains("Completed per second: from 10.0 (at "), "{}", written(&page));
}

#[test]
fn the_tile_of_failures_draws_their_share() {
    // The number of failures per second is 0, 10, 10.
    let page = html_report(&summary_of(&[(10, 0), (20, 10), (10, 10)]));
    let line = page.split_once("<path class=\"bad\" d=\"").unwrap().1.split_once('"').unwrap().0;
    assert_eq!(line, "M26.7 30.5L80.0 16.0L133.3 1.5");
}

#[test]
fn the_table_of_errors_has_an_introduction() {
    let sentence = "How many requests failed with each code and message of the result file, when the first and the last of \
                    them ended, and the label of the first.";
    assert!(html_report(&summary_of(&[(10, 1)])).contains(sentence));
    assert!(!html_report(&summary_of(&[(10, 0)])).contains(sentence));
}

#[test]
fn the_table_of_labels_initially_shows_eight_numbers() {
    let page = html_report(&summary_of(&[(10, 1)]));
    let table = page.split_once("id=\"label-table\"").unwrap().1.split_once('>').unwrap().0;
    let words = |name: &str| {
        let list = table.split_once(&format!("{name}=\"")).unwrap().1.split_once('"').unwrap().0;
        list.split_whitespace().count()
    };
    assert_eq!(words("data-quantities") - words("data-further"), 8, "{table}");
    assert!(words("data-further") > 0 && page.contains("Show all columns</button>"), "{table}");
}

#[test]
fn thresholds_directly_follow_the_result() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    run(&dir);
    let mut summary = summarise(&dir).unwrap();
    let criterion = Criterion::parse("p95 of checkout < 800ms", Meaning::Require).unwrap();
    summary.thresholds = Judge::new(vec![criterion]).finish(&RunMeasures::default());
    for details in [false, true] {
        let show = RunShow { details, ..RunShow::default() };
        let look = Look { width: Some(100), colour: false };
        let text = end_of_run(&summary, show, &Written::default(), look);
        let (result, rest) = text.split_once("\n\n").unwrap();
        assert!(
            result.starts_with("Shop <busy> hour: 4,000 requests") && result.lines().count() <= 4,
            "{text}"
        );
        assert!(rest.starts_with("Thresholds: 1 of 1 failed\n✗ p95 of checkout < 800ms"), "{text}");
    }
}

#[test]
fn arrivals_are_hidden_if_most_requests_failed() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    run(&dir);
    let mut summary = summarise(&dir).unwrap();
    let texts = |summary: &Summary| {
        [false, true].map(|details| {
            let show = RunShow { details, ..RunShow::default() };
            end_of_run(summary, show, &Written::default(), Look { width: None, colour: false })
        })
    };
    let words = ["Arrivals", "closed load", "a slower server would lower this load", "starts were late by"];
    let [screen, details] = texts(&summary);
    assert!(words.iter().all(|words| details.contains(words)), "{details}");
    assert!(screen.contains("Arrivals"), "{screen}");
    assert!(written(&html_report(&summary)).contains("<summary>Arrivals"));
    summary.total.error_percent = 51.0;
    for text in texts(&summary) {
        assert!(!words.iter().any(|words| text.contains(words)), "{text}");
    }
    assert!(!written(&html_report(&summary)).contains("<summary>Arrivals"));
}

#[test]
fn statistics_equal_those_of_jmeter() {
    let manifest_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let jtl = manifest_dir.join("../results/tests/jmeter/default/main.csv");
    let summary = summarise_jtl(&jtl).unwrap();
    let ours: serde_json::Value = serde_json::from_str(&statistics_json(&summary)).unwrap();
    // The output of `jmeter -g main.csv -o DIR` of release 5.6.3.
    let theirs = std::fs::read_to_string(manifest_dir.join("tests/jmeter/statistics.json")).unwrap();
    let theirs: serde_json::Value = serde_json::from_str(&theirs).unwrap();
    let (ours, theirs) = (ours.as_object().unwrap(), theirs.as_object().unwrap());
    assert_eq!(ours.len(), theirs.len());
    for (label, theirs) in theirs {
        let ours = &ours[label];
        for (field, theirs) in theirs.as_object().unwrap() {
            let ours = &ours[field];
            // JMeter's report computes the end of a sample as timestamp plus elapsed time, without the idle time
            // inside.
            if label.starts_with("Transaction") && (field == "throughput" || field.ends_with("PerSec")) {
                continue;
            }
            let Some((a, b)) = ours.as_f64().zip(theirs.as_f64()) else {
                assert_eq!(ours, theirs, "{label} {field}");
                continue;
            };
            // JMeter interpolates between samples, but the histogram returns one of them.
            let near = if field.contains("pct") || field.contains("median") { 3.0 } else { 1e-3 };
            assert!((a - b).abs() <= near + 1e-6 * b.abs(), "{label} {field}: {a}, JMeter {b}");
        }
    }
}

#[test]
fn a_dashboard_requires_an_empty_folder() {
    let temp = tempfile::tempdir().unwrap();
    let dir = temp.path().join("deep/report");
    let (recorder, writers) = Recorder::start(RecorderConfig::default()).unwrap();
    drop(writers);
    let summary = Summary::new(RunFacts::default(), &recorder.finish());
    prepare_dashboard(&dir).unwrap();
    let [html, json] = write_dashboard(&dir, &summary, None).unwrap();
    assert!(html.ends_with("index.html") && json.ends_with("statistics.json") && json.exists());
    let error = prepare_dashboard(&dir).unwrap_err();
    assert!(error.to_string().ends_with("the folder is not empty"));
}

#[test]
fn progress_fits_on_a_line() {
    let (recorder, mut writers) = Recorder::start(RecorderConfig::default()).unwrap();
    let mut progress = Progress {
        elapsed: std::time::Duration::from_millis(3_200),
        length: Some(std::time::Duration::from_secs(30)),
        users: ThreadCounts { active: 1234, started: 1234, finished: 0 },
        live: &recorder.figures().live(),
    };
    assert_eq!(
        progress_line(&progress, 200),
        "00:00:03 of 00:00:30  1,234 users  waiting for the first response  0 requests  no errors"
    );
    let mut writer = writers.remove(0);
    for i in 0..10u64 {
        let end = Nanos::from_millis(100 * i + 50);
        let bad = u32::from(i == 3);
        writer
            .record(&Sample {
                error_count: bad,
                times: SampleTimes { end, ..SampleTimes::default() },
                outcome: SampleOutcome::new("", "", bad == 0),
                ..Sample::default()
            })
            .unwrap();
    }
    writer.flush(Nanos::from_secs(2));
    let live = loop {
        let live = recorder.figures().live();
        if live.last_second.is_some() {
            break live;
        }
        std::thread::yield_now();
    };
    progress.live = &live;
    progress.length = None;
    assert_eq!(
        progress_line(&progress, 200),
        "00:00:03  1,234 users  10.0 req/s  response mean 500 ms, p95 950 ms  10 requests  1 error (10.00 %)"
    );
    assert_eq!(progress_line(&progress, 10), "00:00:03  ");
}

/// JMeter's own test files, if they are available.
#[test]
fn result_files_of_jmeters_own_tests_are_read_or_refused() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/jmeter-testfiles/testfiles");
    let Ok(files) = std::fs::read_dir(dir) else { return };
    let mut read = 0;
    for file in files.map(|file| file.unwrap().path()) {
        if file.extension().is_none_or(|extension| extension != "csv" && extension != "jtl") {
            continue;
        }
        match summarise_jtl(&file) {
            Ok(summary) => {
                read += 1;
                assert!(
                    html_report(&summary).ends_with("</html>\n") && !statistics_json(&summary).is_empty()
                );
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(read > 0);
}
