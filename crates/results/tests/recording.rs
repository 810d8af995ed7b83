//! Records runs, reads them back and compares the totals.

use busyhour_results::replay_run;
use std::path::Path;

use busyhour_record::{Recorder, RecorderConfig, ResultFileConfig, RunDir, SampleFilter, SaveConfig};
use busyhour_sample::{
    ActiveUsers, BatchWriter, Detail, GroupName, HISTOGRAM_DIGITS, Labels, Nanos, RecorderEvent, RunNames,
    RunTotals, Sample, SampleFlags, SampleOutcome, SampleSizes, SampleTimes,
};
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

const ANCHOR_MS: i64 = 1_700_000_000_000;

fn names() -> RunNames {
    let group = |name: &str, number| GroupName { name: name.into(), number };
    RunNames {
        groups: vec![group("Users", 1), group("a, \"b\"", 2)],
        variables: Vec::new(),
        hostname: "host".into(),
        set_up_and_tear_down: Vec::new(),
    }
}

/// Offers a sample until the recorder accepts it.
fn offer(writer: &mut BatchWriter, sample: &Sample<'_>) {
    while writer.record(sample).is_err() {
        std::thread::yield_now();
    }
}

/// Records `n` samples on each of two cores: one every 2 ms, and every tenth fails.
fn record(config: RecorderConfig, n: u64) -> RunTotals {
    let labels = config.labels.clone();
    let (recorder, writers) = Recorder::start(RecorderConfig { writers: 2, ..config }).unwrap();
    for (core, mut writer) in writers.into_iter().enumerate() {
        let label = labels.intern(if core == 0 { "first" } else { "second, quoted" });
        for i in 0..n {
            let start = Nanos::from_millis(2 * i);
            let bad = i % 10 == 9;
            offer(
                &mut writer,
                &Sample {
                    label,
                    times: SampleTimes {
                        intended: start - 500_000,
                        start,
                        end: start + (1_000_000 + (i % 7) * 1_000_000),
                        latency_ns: 900_000,
                        connect_ns: 100_000,
                        ..SampleTimes::default()
                    },
                    users: ActiveUsers { group: 5, all: 10 },
                    group: core as u32,
                    user: 3,
                    outcome: SampleOutcome::new(
                        if bad { "500" } else { "200" },
                        if bad { "Internal Server Error" } else { "OK" },
                        !bad,
                    ),
                    error_count: u32::from(bad),
                    sizes: SampleSizes::of_row(1000, 100),
                    url: "http://h/p",
                    listeners: u32::from(core == 0),
                    ..Sample::default()
                },
            );
        }
        writer.flush(Nanos::from_millis(2 * n + 10));
    }
    recorder.finish()
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn csv(path: &Path, filter: SampleFilter) -> ResultFileConfig {
    ResultFileConfig { path: path.to_owned(), config: SaveConfig::default(), filter }
}

#[test]
fn reading_a_run_directory_gives_the_totals_of_the_run() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: names(),
        wall_anchor_ms: ANCHOR_MS,
        main: Some(csv(&dir.jtl_path(), SampleFilter::All)),
        listeners: vec![csv(&temp.path().join("errors.csv"), SampleFilter::Errors)],
        listener_sets: vec![vec![], vec![0]],
        batch_bytes: 4096,
        ..RecorderConfig::default()
    };
    let totals = record(config, 2000);
    assert_eq!(totals.events, []);
    assert_eq!((totals.total.samples, totals.total.errors), (4000, 400));
    assert_eq!(totals.labels.len(), 2);

    let replay = replay_run(&dir).unwrap();
    assert_eq!((replay.end.samples, replay.end.cut_at), (4000, None));
    assert_eq!((replay.wall_anchor_ms, &replay.names), (ANCHOR_MS, &names()));
    assert_eq!(replay.totals.total.service.sum_ns, totals.total.service.sum_ns);
    assert_eq!(replay.totals.total.response.histogram, totals.total.response.histogram);
    assert_eq!(replay.totals.errors, totals.errors);
    assert_eq!(replay.totals.seconds, totals.seconds);
    let groups = |totals: &RunTotals| -> Vec<(String, u64, u128)> {
        let of = |group: &busyhour_sample::GroupTotals| {
            (group.name.name.clone(), group.total.samples, group.total.response.sum_ns)
        };
        totals.groups.iter().map(of).collect()
    };
    assert_eq!(groups(&replay.totals), groups(&totals));
    assert_eq!(totals.groups.len(), 2);

    let jtl = text(&dir.jtl_path());
    let lines: Vec<&str> = jtl.lines().collect();
    assert_eq!(lines.len(), 4001);
    assert!(lines.contains(
        &"1700000000018,3,first,500,Internal Server Error,Users 1-3,,false,,1000,100,5,10,http://h/p,0,0,0"
    ));
    assert!(lines.contains(
        &"1700000000000,1,\"second, quoted\",200,OK,\"a, \"\"b\"\" 2-3\",,true,,1000,100,5,10,http://h/p,0,0,0"
    ));
    assert_eq!(text(&temp.path().join("errors.csv")).lines().count(), 201);

    // The histograms of requests in the log have the count of the total.
    let log = std::fs::read(dir.histograms_path()).unwrap();
    let mut sum = hdrhistogram::Histogram::<u64>::new(HISTOGRAM_DIGITS).unwrap();
    let mut deserializer = Deserializer::new();
    for entry in IntervalLogIterator::new(&log) {
        let Ok(LogEntry::Interval(interval)) = entry else { continue };
        let tag = interval.tag().unwrap().as_str().to_owned();
        if tag.starts_with("response/request/") {
            let bytes = base64::Engine::decode(
                &base64::engine::general_purpose::STANDARD,
                interval.encoded_histogram(),
            )
            .unwrap();
            let part: hdrhistogram::Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).unwrap();
            sum.add(part).unwrap();
        }
    }
    let sum: Vec<_> =
        sum.iter_recorded().map(|bar| (bar.value_iterated_to(), bar.count_at_value())).collect();
    let bands = totals.total.response.histogram.bands().map(|(_, end, count)| (end, count));
    assert_eq!(sum, bands.collect::<Vec<_>>());
}

#[test]
fn a_truncated_record_is_read_up_to_its_last_complete_segment() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path()).unwrap();
    let config =
        RecorderConfig { dir: Some(dir.path().to_owned()), batch_bytes: 1024, ..RecorderConfig::default() };
    let _ = record(config, 100);
    let whole = std::fs::read(dir.samples_path()).unwrap();
    let mut last = 0;
    for len in (0..whole.len()).step_by(29) {
        std::fs::write(dir.samples_path(), &whole[..len]).unwrap();
        if let Ok(replay) = replay_run(&dir) {
            assert!(replay.end.samples >= last);
            last = replay.end.samples;
            assert!(replay.end.cut_at.is_none_or(|at| at as usize <= len));
        }
    }
    assert!(last > 0);
    // Reading stops before the segment with a flipped bit.
    let mut bad = whole.clone();
    let at = bad.len() / 2;
    bad[at] ^= 1;
    std::fs::write(dir.samples_path(), &bad).unwrap();
    let replay = replay_run(&dir).unwrap();
    assert!(replay.end.cut_at.unwrap() as usize <= at && replay.end.samples < 200);
}

#[test]
fn a_full_disk_does_not_stop_the_run() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let config = RecorderConfig {
        names: names(),
        main: Some(csv(Path::new("/dev/full"), SampleFilter::All)),
        ..RecorderConfig::default()
    };
    let totals = record(config, 500);
    assert_eq!(totals.total.samples, 1000);
    let [RecorderEvent::LostOutput { file, lost, .. }] = totals.events.as_slice() else {
        panic!("{:?}", totals.events)
    };
    assert_eq!((file.as_str(), *lost), ("/dev/full", 1000));
}

#[test]
fn sub_results_are_written_with_their_parent() {
    let temp = tempfile::tempdir().unwrap();
    let path = |name: &str| temp.path().join(name);
    let no_subs = SaveConfig { subresults: false, ..SaveConfig::default() };
    let main = path("main");
    let labels = Labels::new();
    let config = RecorderConfig {
        names: names(),
        labels: labels.clone(),
        main: Some(csv(&main, SampleFilter::All)),
        listeners: vec![
            csv(&path("errors"), SampleFilter::Errors),
            ResultFileConfig { path: path("nosub"), config: no_subs, filter: SampleFilter::All },
            csv(&path("inner"), SampleFilter::All),
            // The same file as that of another listener: a sample is written once.
            csv(&path("inner"), SampleFilter::All),
            csv(Path::new("/dev/null/not/a/directory"), SampleFilter::All),
        ],
        listener_sets: vec![vec![], vec![0, 1, 4], vec![2, 3]],
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut writer = writers.remove(0);
    let mut row = |label: &str, success: bool, flags, listeners| {
        let label = labels.intern(label);
        let error_count = u32::from(!success);
        offer(
            &mut writer,
            &Sample {
                label,
                outcome: SampleOutcome::new("", "", success),
                error_count,
                flags,
                listeners,
                ..Sample::default()
            },
        );
    };
    let only = SampleFlags::LISTENERS_ONLY;
    row("inner child", true, only, 2);
    row("inner child-0", true, only | SampleFlags::SUB_RESULT, 2);
    row("transaction", true, SampleFlags::TRANSACTION, 1);
    row("child", false, SampleFlags::TRANSACTION_CHILD, 1);
    row("child-0", false, SampleFlags::SUB_RESULT, 1);
    row("bad", false, SampleFlags::NONE, 1);
    row("bad-0", true, SampleFlags::SUB_RESULT, 1);
    drop(writer);
    let totals = recorder.finish();
    let column = |name: &str| -> Vec<String> {
        text(&path(name)).lines().skip(1).map(|line| line.split(',').nth(2).unwrap().to_owned()).collect()
    };
    assert_eq!(column("main"), ["transaction", "child", "child-0", "bad", "bad-0"]);
    assert_eq!(column("errors"), ["bad", "bad-0"]);
    assert_eq!(column("nosub"), ["transaction", "bad"]);
    assert_eq!(column("inner"), ["inner child", "inner child-0"]);
    assert_eq!((totals.total.samples, totals.total.errors), (2, 2));
    assert!(matches!(totals.events.as_slice(), [RecorderEvent::NotOpened { .. }]));
}

#[test]
fn xml_files_contain_details_and_nested_sub_results() {
    let temp = tempfile::tempdir().unwrap();
    let xml = |name: &str| ResultFileConfig {
        path: temp.path().join(name),
        config: SaveConfig {
            xml: true,
            ..SaveConfig::for_listener(&SaveConfig::default(), [("label", "true"), ("subresults", "true")])
        },
        filter: SampleFilter::All,
    };
    let rows = temp.path().join("rows.csv");
    let config = RecorderConfig {
        main: Some(xml("main.xml")),
        listeners: vec![csv(&rows, SampleFilter::All)],
        listener_sets: vec![vec![], vec![0]],
        // Details fill a batch before samples do.
        batches: 2,
        ..RecorderConfig::default()
    };
    for run in 0..2 {
        let (recorder, mut writers) = Recorder::start(config.clone()).unwrap();
        let mut writer = writers.remove(0);
        let mut expected = 0;
        for number in 0..40 {
            let inner =
                Detail { label: format!("inner {number}"), body: vec![b'x'; 200_000], ..Detail::default() };
            let outer =
                Detail { label: format!("outer {number}"), children: vec![inner], ..Detail::default() };
            let mut detail = Some(Box::new(outer));
            let sample = Sample { listeners: 1, ..Sample::default() };
            while writer.record_with(&sample, &mut detail).is_err() {
                assert!(detail.is_some(), "the detail of a sample that was not recorded is kept");
                std::thread::yield_now();
            }
            assert!(detail.is_none());
            offer(&mut writer, &Sample { flags: SampleFlags::SUB_RESULT, listeners: 1, ..Sample::default() });
            offer(&mut writer, &Sample::default());
            expected += 2;
        }
        drop(writer);
        let totals = recorder.finish();
        assert_eq!((totals.total.samples, totals.events.len()), (expected, 0));
        let text = text(&temp.path().join("main.xml"));
        let labels: Vec<_> = text.lines().filter_map(|line| line.split('"').nth(1)).collect();
        assert!(text.starts_with("<?xml version=\"1.0\"") && text.ends_with("/>\n\n</testResults>\n"));
        assert_eq!(labels.iter().filter(|label| label.starts_with("inner")).count(), 40 * (run + 1));
        assert_eq!(text.matches("</testResults>").count(), 1, "the file is continued");
        assert!(text.contains("<sample lb=\"outer 7\">\n  <sample lb=\"inner 7\"/>\n</sample>\n<sample lb="));
    }
    assert_eq!(text(&rows).lines().count(), 1 + 2 * 80);
}

#[test]
fn sent_samples_are_in_the_files_while_another_core_hangs() {
    let temp = tempfile::tempdir().unwrap();
    let main = temp.path().join("main");
    let config = RecorderConfig {
        names: names(),
        writers: 2,
        main: Some(csv(&main, SampleFilter::All)),
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let hangs = writers.remove(1);
    let mut works = writers.remove(0);
    offer(
        &mut works,
        &Sample {
            times: SampleTimes { end: Nanos::from_millis(10), ..SampleTimes::default() },
            ..Sample::default()
        },
    );
    works.flush(Nanos::from_secs(2));
    while text(&main).lines().count() < 2 {
        works.flush(Nanos::from_secs(2));
        std::thread::yield_now();
    }
    assert_eq!(recorder.figures().live().last_second, None);
    drop((works, hangs));
    assert_eq!(recorder.finish().total.samples, 1);
}

#[test]
fn labels_are_in_the_order_of_their_first_starts() {
    let temp = tempfile::tempdir().unwrap();
    let dir = RunDir::create(temp.path().join("run")).unwrap();
    let labels = Labels::new();
    // Labels were numbered in another order, and samples end in a third one.
    let [logout, search, login] = ["logout", "search", "login"].map(|name| labels.intern(name));
    let config = RecorderConfig {
        dir: Some(dir.path().to_owned()),
        names: names(),
        labels,
        wall_anchor_ms: ANCHOR_MS,
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    for (label, start_ms) in [(logout, 30), (login, 10), (search, 20)] {
        let start = Nanos::from_millis(start_ms);
        offer(
            &mut writers[0],
            &Sample {
                label,
                times: SampleTimes {
                    intended: start,
                    start,
                    end: Nanos::from_millis(40),
                    ..SampleTimes::default()
                },
                ..Sample::default()
            },
        );
    }
    drop(writers);
    let order = |totals: &RunTotals| -> Vec<String> {
        totals.labels.iter().map(|label| label.name.clone()).collect()
    };
    assert_eq!(order(&recorder.finish()), ["login", "search", "logout"]);
    assert_eq!(order(&replay_run(&dir).unwrap().totals), ["login", "search", "logout"]);
}

#[test]
fn sent_samples_are_in_the_files_half_a_second_later() {
    let temp = tempfile::tempdir().unwrap();
    let main = temp.path().join("main");
    let config = RecorderConfig {
        dir: Some(temp.path().to_owned()),
        names: names(),
        main: Some(csv(&main, SampleFilter::All)),
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let mut writer = writers.remove(0);
    offer(
        &mut writer,
        &Sample {
            times: SampleTimes { end: Nanos::from_millis(10), ..SampleTimes::default() },
            ..Sample::default()
        },
    );
    writer.flush(Nanos::from_millis(100));
    // No other sample ends, but the time advances.
    while text(&main).lines().count() < 2 {
        writer.flush(Nanos::from_millis(600));
        std::thread::yield_now();
    }
    let samples = replay_run(&RunDir::open(temp.path())).unwrap().totals.total.samples;
    assert_eq!(samples, 1, "the record is written before the results file");
    drop(writer);
    assert_eq!(recorder.finish().total.samples, 1);
}
