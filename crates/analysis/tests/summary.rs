//! Tests summaries and caveats with small runs.

use busyhour_analysis::{Caveat, RunFacts, Summary, SummaryError};
use busyhour_record::{Recorder, RecorderConfig};
use busyhour_sample::{
    ChangedFrom, ControlEvent, CoreFacts, GeneratorFacts, GroupName, Labels, LoadChange, Nanos,
    RecorderEvent, RunEnd, RunNames, RunTotals, Sample, SampleFlags, SampleSizes, SampleTimes,
};

/// A run with samples of 1 ms, 2 ms, …, `n` ms, one every 10 ms, modified by `change`.
fn run(n: u64, change: impl Fn(u64, &mut Sample<'_>)) -> RunTotals {
    let labels = Labels::new();
    let label = labels.intern("page");
    let (recorder, mut writers) =
        Recorder::start(RecorderConfig { labels, batches: 1000, ..RecorderConfig::default() }).unwrap();
    let mut writer = writers.remove(0);
    for i in 1..=n {
        let start = Nanos::from_millis(10 * i);
        let end = start + i * 1_000_000;
        let mut sample = Sample {
            label,
            times: SampleTimes { intended: start, start, end, ..SampleTimes::default() },
            sizes: SampleSizes::of_row(1024, 0),
            ..Sample::default()
        };
        change(i, &mut sample);
        writer.record(&sample).unwrap();
    }
    drop(writer);
    recorder.finish()
}

/// The caveats, without the caveat about a drift: response times rise in all these runs.
fn caveats(facts: RunFacts, totals: &RunTotals) -> Vec<Caveat> {
    let all = Summary::new(facts, totals).caveats.into_iter().map(|reported| reported.caveat);
    all.filter(|caveat| !matches!(caveat, Caveat::Unsteady(_))).collect()
}

#[test]
fn the_figures_of_a_known_run_are_exact() {
    let totals = run(1000, |i, sample| {
        if i % 2 == 0 {
            sample.outcome.success = false;
            sample.error_count = 1;
            sample.outcome.code = if i % 4 == 0 { "500" } else { "404" };
        }
    });
    let summary = Summary::new(RunFacts::default(), &totals);
    let total = &summary.total;
    assert_eq!((total.samples, total.errors, total.error_percent), (1000, 500, 50.0));
    // First start 10 ms, last end 11,000 ms.
    assert!((summary.span_s - 10.99).abs() < 1e-9);
    assert!((total.rate_per_s - 90.992).abs() < 1e-9 && (total.received_kib_per_s - 90.992).abs() < 1e-9);
    let times = total.response;
    assert_eq!((times.mean, times.min, times.max), (500.5, 1.0, 1000.0));
    // For the values 1..=n, Σ(x − mean)² / (n − 1) is n(n + 1)/12.
    assert!((times.stddev - (1000.0f64 * 1001.0 / 12.0).sqrt()).abs() < 1e-3);
    for (value, exact) in [(times.p50, 500.0), (times.p90, 900.0), (times.p95, 950.0), (times.p99, 990.0)] {
        assert!((value / exact - 1.0).abs() < 2e-3, "{value} for {exact}");
    }
    assert_eq!((total.elapsed.min, total.elapsed.max), (1, 1000));
    assert_eq!(summary.labels.len(), 1);
    assert_eq!(summary.errors.iter().map(|error| error.count).collect::<Vec<_>>(), [250, 250]);
    assert_eq!(summary.errors[0].percent_of_errors, 50.0);

    let points = &summary.distribution;
    assert!(points.is_sorted_by(|a, b| a.percentile < b.percentile && a.response_ms <= b.response_ms));
    assert_eq!(points.last().map(|point| (point.percentile, point.response_ms)), Some((100.0, 1000.0)));
    assert!(points.iter().any(|point| point.percentile == 99.9));
    assert_eq!(summary.series.requests.iter().sum::<u64>(), 1000);
    assert_eq!(Summary::from_json(&summary.to_json()).unwrap(), summary);
}

#[test]
fn other_format_versions_are_rejected() {
    let text = Summary::new(RunFacts::default(), &run(1, |_, _| {})).to_json();
    let other = text.replacen("\"version\":3", "\"version\":99", 1);
    assert!(matches!(Summary::from_json(&other), Err(SummaryError::Version(99))));
    assert!(matches!(Summary::from_json("{}"), Err(SummaryError::Json(_))));
}

#[test]
fn an_unremarkable_run_has_no_caveats() {
    let facts = RunFacts { has_manifest: true, end: Some(RunEnd::Completed), ..RunFacts::default() };
    assert_eq!(caveats(facts, &run(10_000, |_, _| {})), []);
}

#[test]
fn caveats_are_found() {
    let calm = run(10_000, |_, _| {});
    let facts = |change: fn(&mut RunFacts)| {
        let mut facts = RunFacts { has_manifest: true, end: Some(RunEnd::Completed), ..RunFacts::default() };
        change(&mut facts);
        facts
    };
    let generator = |generator: GeneratorFacts| RunFacts {
        end: Some(RunEnd::Completed),
        generator,
        ..RunFacts::default()
    };
    assert_eq!(caveats(facts(|f| f.end = None), &calm), [Caveat::RunOutcomeMissing]);
    let aborted = Caveat::StoppedEarly { end: RunEnd::Aborted, from: None };
    assert_eq!(caveats(facts(|f| f.end = Some(RunEnd::Aborted)), &calm), [aborted]);
    assert_eq!(caveats(facts(|f| f.record_tail_missing = true), &calm), [Caveat::RecordTailMissing]);
    assert_eq!(caveats(facts(|f| f.only_actual_starts = true), &calm), [Caveat::OnlyActualStarts]);
    let core = |busy, busy_second_max| CoreFacts { busy, busy_second_max, ..CoreFacts::default() };
    let busy = |cores| {
        let facts = generator(GeneratorFacts { cores, ..Default::default() });
        caveats(facts, &calm).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        busy(vec![core(Some(0.2), Some(0.5)), core(Some(0.9), None)]),
        ["the generator used 90 % of its busiest core (50 % in the worst second); 1 core was this busy"]
    );
    assert_eq!(
        busy(vec![core(Some(0.9), None)]),
        ["the generator used 90 % of its busiest core; 1 core was this busy"]
    );
    assert!(busy(vec![core(None, None), core(Some(0.5), Some(0.6))]).is_empty(), "unknown is not busy");
    let cores = vec![core(Some(1.0), None)];
    let reported = Summary::new(generator(GeneratorFacts { cores, ..Default::default() }), &calm).caveats;
    assert!(reported[0].advice.contains("upper bounds"));
    let behind = GeneratorFacts {
        recorder_stalls: 3,
        recorder_stall_ns: 1_500_000_000,
        lost_samples: 2,
        interrupted_samples: 1,
        exceeded_limits: [("headers of a response".to_owned(), 4)].into_iter().collect(),
        ..Default::default()
    };
    assert_eq!(
        caveats(generator(behind), &calm),
        [
            Caveat::RecorderStalled { stalls: 3, stalled_s: 1.5 },
            Caveat::SamplesLost { samples: 2 },
            Caveat::SamplesInFlight { samples: 1 },
            Caveat::LimitExceeded { limit: "headers of a response".into(), times: 4 },
        ]
    );
    let limits = [("XPath steps".to_owned(), 3)].into_iter().collect();
    let exceeded = GeneratorFacts { exceeded_limits: limits, ..Default::default() };
    let reported = Summary::new(generator(exceeded), &calm).caveats;
    assert_eq!(reported[0].message, "a limit of the generator was exceeded 3 times: XPath steps");
    let lost = RecorderEvent::LostOutput { file: "x.jtl".into(), error: "No space left".into(), lost: 9 };
    let facts = RunFacts { recorder_events: vec![lost], ..RunFacts::default() };
    let reported = Summary::new(facts, &calm).caveats;
    assert_eq!(reported[0].message, "x.jtl lacks 9 rows: No space left");

    let late = run(10_000, |_, sample| sample.times.intended = sample.times.start - 700_000_000);
    assert!(matches!(
        caveats(RunFacts::default(), &late)[..],
        [Caveat::LateStarts { mean_ms, .. }] if (650.0..700.0).contains(&mean_ms)
    ));
    let bad = run(10_000, |i, sample| sample.error_count = u32::from(i % 10 == 0));
    assert_eq!(caveats(RunFacts::default(), &bad), [Caveat::ManyErrors { percent: 10.0 }]);
    let thin = Caveat::ThinTail { percentile: 99.0, beyond: 5 };
    assert_eq!(caveats(RunFacts::default(), &run(500, |_, _| {})), [thin]);
    let warm = run(10_100, |i, sample| {
        if i <= 100 {
            sample.flags = SampleFlags::WARMUP;
        }
    });
    assert_eq!(caveats(RunFacts::default(), &warm), [Caveat::WarmupExcluded { samples: 100 }]);
}

#[test]
fn the_advice_on_lost_rows_depends_on_the_error() {
    let advice = |error: &str| {
        let lost = RecorderEvent::LostOutput { file: "x.jtl".into(), error: error.into(), lost: 9 };
        let facts = RunFacts { recorder_events: vec![lost], ..RunFacts::default() };
        Summary::new(facts, &run(10_000, |_, _| {})).caveats[0].advice.clone()
    };
    for (error, begin) in [
        ("Broken pipe (os error 32)", "the program that read this pipe ended before the run;"),
        ("File too large (os error 27)", "raise the limit of the file size (ulimit -f);"),
        ("No space left on device (os error 28)", "free space on the disk;"),
    ] {
        assert!(advice(error).starts_with(begin), "{error}: {}", advice(error));
    }
}

#[test]
fn sub_results_are_counted_separately() {
    let totals = run(20, |i, sample| {
        if i % 2 == 0 {
            sample.flags = SampleFlags::SUB_RESULT;
        }
    });
    let summary = Summary::new(RunFacts::default(), &totals);
    assert_eq!((summary.total.samples, summary.labels.len(), summary.sub_results.len()), (10, 1, 1));
    let both = summary.total_with_sub_results.unwrap();
    assert_eq!((both.samples, both.elapsed.min, both.elapsed.max), (20, 1, 20));
    assert_eq!(both.response.max, 20.0);
    assert_eq!(Summary::new(RunFacts::default(), &run(5, |_, _| {})).total_with_sub_results, None);
}

/// A run with two groups: `injection` for the first `first` samples, `load` for the others.
fn run_of_groups(n: u64, first: u64, change: impl Fn(u64, &mut Sample<'_>)) -> RunTotals {
    let labels = Labels::new();
    let label = labels.intern("Add booking");
    let group = |name: &str, number| GroupName { name: name.into(), number };
    let names = RunNames { groups: vec![group("injection", 1), group("load", 2)], ..RunNames::default() };
    let config = RecorderConfig { labels, names, batches: 1000, ..RecorderConfig::default() };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut writer = writers.remove(0);
    for i in 1..=n {
        let start = Nanos::from_millis(10 * i);
        let group = u32::from(i > first);
        let end = start + (1 + u64::from(group)) * 1_000_000;
        let mut sample = Sample {
            label,
            times: SampleTimes { intended: start, start, end, ..SampleTimes::default() },
            group,
            ..Sample::default()
        };
        change(i, &mut sample);
        writer.record(&sample).unwrap();
    }
    drop(writer);
    recorder.finish()
}

#[test]
fn consecutive_thread_groups_are_reported_separately() {
    let summary = Summary::new(RunFacts::default(), &run_of_groups(20_000, 5_000, |_, _| {}));
    let found: Vec<_> = summary
        .groups
        .iter()
        .map(|group| (group.name.as_str(), group.total.samples, group.labels[0].response.mean))
        .collect();
    assert_eq!(found, [("injection", 5_000, 1.0), ("load", 15_000, 2.0)]);
    // Rates of a group are computed over its own time: 5,000 requests from 10 ms to 50,001 ms.
    assert!((summary.groups[0].total.rate_per_s - 100.018).abs() < 1e-9);
    assert_eq!((summary.total.response.p25, summary.total.response.p75), (1.0, 2.0));
    let messages: Vec<&str> = summary.caveats.iter().map(|caveat| caveat.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "the totals mix thread groups that ran at different times: injection (0.0 s to 50.0 s, 5000 requests), load \
             (50.0 s to 200.0 s, 15000 requests)",
            "several thread groups use the same label, and one row mixes their times: Add booking"
        ]
    );
    assert_eq!(Summary::from_json(&summary.to_json()).unwrap(), summary);
}

#[test]
fn concurrent_groups_and_negligible_groups_raise_no_caveat() {
    let no_labels_shared = |i: u64, sample: &mut Sample<'_>| {
        sample.label.0 = u32::from(i.is_multiple_of(2));
        sample.group = sample.label.0;
    };
    assert_eq!(caveats(RunFacts::default(), &run_of_groups(20_000, 0, no_labels_shared)), []);
    // A login before the load with 0.1 % of the requests.
    assert_eq!(caveats(RunFacts::default(), &run_of_groups(20_000, 20, |_, _| {})), []);
}

#[test]
fn the_caveat_of_a_run_stopped_from_the_terminal_view_mentions_the_terminal() {
    let stop = ControlEvent { at_ns: Nanos(5), change: LoadChange::Stop, from: ChangedFrom::Terminal };
    let message = |events: Vec<ControlEvent>| {
        let facts = RunFacts { end: Some(RunEnd::Interrupted), events, ..RunFacts::default() };
        Summary::new(facts, &run(10_000, |_, _| {})).caveats[0].message.clone()
    };
    assert_eq!(message(vec![stop]), "the run was stopped from the terminal before its planned end");
    assert_eq!(
        message(Vec::new()),
        "the run was stopped by a signal or the stop port before its planned end"
    );
}
