use busyhour_record::{Recorder, RecorderConfig, ResultFileConfig, SampleFilter, SaveConfig};
use busyhour_sample::{
    ActiveUsers, ArrivalOutcome, ArrivalRecord, ArrivalsInSecond, Labels, Nanos, RunTotals, Sample,
    SampleFlags, SampleKind, SampleOutcome, SampleSizes, SampleTimes, SnapshotReceiver, snapshot_channel,
};

use super::*;
use crate::{AggregateSettings, ReadSettings, ResultsInput, aggregate_inputs};

const SECOND_NS: u64 = 1_000_000_000;

fn at(second: u64, ms: u64) -> Nanos {
    Nanos(second * SECOND_NS + ms * 1_000_000)
}

/// Records ten seconds on two cores, with five requests per second in a transaction. Every fifth request fails, and second 4 is
/// empty.
fn record(config: RecorderConfig) -> RunTotals {
    let labels = config.labels.clone();
    let (home, cart) = (labels.intern("home"), labels.intern("cart"));
    let (recorder, mut writers) = Recorder::start(RecorderConfig { writers: 2, ..config }).unwrap();
    // Four users start on one core and three on the other. Two users of the first core end while no sample ends.
    writers[0].record_users(4, at(0, 10));
    writers[1].record_users(3, at(0, 10));
    for second in (0..10).filter(|second| *second != 4) {
        if second == 5 {
            writers[0].record_users(-2, at(4, 500));
        }
        for (core, writer) in writers.iter_mut().enumerate() {
            for n in 0..5 {
                let end = at(second, n * 150 + core as u64 * 70 + 40);
                let failed = n == 4;
                let sample = Sample {
                    label: if n % 2 == 0 { home } else { cart },
                    times: SampleTimes {
                        intended: end - 30_000_000_u64,
                        start: end - 20_000_000_u64,
                        end,
                        ..SampleTimes::default()
                    },
                    users: ActiveUsers { all: 7, ..ActiveUsers::default() },
                    outcome: SampleOutcome::new(if failed { "503" } else { "200" }, "", !failed),
                    error_count: u32::from(failed),
                    sizes: SampleSizes::of_row(100, 0),
                    ..Sample::default()
                };
                writer.record(&sample).unwrap();
            }
            let all = Sample {
                label: cart,
                times: SampleTimes {
                    intended: at(second, 10),
                    start: at(second, 10),
                    end: at(second, 800),
                    ..SampleTimes::default()
                },
                flags: SampleFlags::TRANSACTION,
                outcome: SampleOutcome::new(
                    "",
                    "Number of samples in transaction : 5, number of failing samples : 1",
                    true,
                ),
                ..Sample::default()
            };
            writer.record(&all).unwrap();
            let outcome = if core == 0 {
                ArrivalOutcome::Discarded
            } else {
                ArrivalOutcome::Started { at: at(second, 20) }
            };
            let arrival = ArrivalRecord { group: 0, scheduled: at(second, 10), outcome };
            writer.record_arrival(&arrival, at(second, 900));
            writer.flush(at(second, 990));
        }
    }
    drop(writers);
    recorder.finish()
}

fn received(receiver: &SnapshotReceiver) -> Vec<Snapshot> {
    std::iter::from_fn(|| receiver.recv()).map(|snapshot| (*snapshot).clone()).collect()
}

fn check(snapshots: &[Snapshot], totals: &RunTotals) {
    let mut merged = Snapshot::default();
    snapshots.iter().for_each(|snapshot| merged.merge(snapshot));
    let total = merged.total();
    assert_eq!((total.samples, total.errors, total.bytes), (90, 18, 9_000));
    assert_eq!(total.samples, totals.total.samples);
    assert_eq!((total.response.passed.count(), total.response.failed.count()), (72, 18));
    assert_eq!(total.response.all().count(), totals.total.response.count());
    assert_eq!(total.response.all().sum_ns(), totals.total.response.sum_ns);
    assert_eq!(total.service.all().quantile_ms(0.95), Some(totals.total.service.quantile_ms(0.95)));
    assert_eq!(
        total.codes.iter().map(|code| (code.code.as_str(), code.samples)).collect::<Vec<_>>(),
        [("200", 72), ("503", 18)]
    );
    let rows: Vec<_> = merged.rows.iter().map(|row| (row.label.as_str(), row.kind, row.samples)).collect();
    assert_eq!(
        rows,
        [
            ("cart", SampleKind::Request, 36),
            ("cart", SampleKind::Transaction, 18),
            ("home", SampleKind::Request, 54)
        ]
    );
    assert_eq!(
        snapshots.iter().map(|snapshot| snapshot.second).collect::<Vec<_>>(),
        (0..10).collect::<Vec<_>>()
    );
    assert!(snapshots[4].rows.is_empty());
    let users: Vec<_> = snapshots.iter().filter_map(|second| Some(second.users?.at_end)).collect();
    assert_eq!(users, [7, 7, 7, 7, 5, 5, 5, 5, 5, 5]);
    let of_totals: Vec<_> = (0..10).filter_map(|second| totals.users.at_end_of(second)).collect();
    assert_eq!((of_totals, totals.users.max), (users, 7));
    assert_eq!(snapshots[3].total().samples, 10);
    assert_eq!(snapshots[3].users.map(|users| (users.min, users.max)), Some((0, 7)));
    assert_eq!(
        total.failures.iter().map(|failure| (failure.code.as_str(), failure.errors)).collect::<Vec<_>>(),
        [("503", 18)]
    );
    assert!(snapshots[8].whole && !snapshots[9].whole);
}

#[test]
fn snapshots_add_up_to_the_totals_live_and_from_the_record() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, receiver) = snapshot_channel(100);
    let jtl = folder.path().join("samples.jtl");
    let totals = record(RecorderConfig {
        dir: Some(folder.path().to_owned()),
        labels: Labels::new(),
        main: Some(ResultFileConfig {
            path: jtl.clone(),
            config: SaveConfig::default(),
            filter: SampleFilter::All,
        }),
        observers: vec![sender],
        wall_anchor_ms: 1_700_000_000_000,
        ..RecorderConfig::default()
    });
    let live = received(&receiver);
    assert_eq!(receiver.lost(), 0);
    check(&live, &totals);
    let arrivals = ArrivalsInSecond { scheduled: 2, begun: 1, waited: 0, dropped: 1 };
    assert_eq!(live[2].arrivals, Some(arrivals));

    let mut again = Vec::new();
    let source =
        read_snapshots(&[ResultsInput::path(folder.path())], &RecordReading::default(), |snapshot| {
            again.push(snapshot);
        })
        .unwrap();
    check(&again, &totals);
    assert_eq!((source.wall_anchor_ms, source.late_samples), (1_700_000_000_000, 0));
    assert_eq!(again[2].arrivals, Some(arrivals));

    // The log has whole milliseconds since the first start. It contains only actual starts and no arrivals.
    let mut rows = Vec::new();
    read_snapshots(&[ResultsInput::path(&jtl)], &RecordReading::default(), |snapshot| rows.push(snapshot))
        .unwrap();
    assert_eq!(rows.iter().map(|snapshot| snapshot.total().samples).sum::<u64>(), 90);
    assert!(rows.iter().all(|snapshot| snapshot.arrivals.is_none()));
}

#[test]
fn a_slow_reader_loses_snapshots_without_blocking() {
    let (sender, receiver) = snapshot_channel(3);
    let totals = record(RecorderConfig { observers: vec![sender], ..RecorderConfig::default() });
    assert_eq!(totals.total.samples, 90);
    let seconds: Vec<_> = received(&receiver).iter().map(|snapshot| snapshot.second).collect();
    assert_eq!((seconds, receiver.lost()), (vec![0, 1, 2], 7));
}

#[test]
fn a_blocked_core_does_not_delay_the_seconds_of_the_others() {
    let (sender, receiver) = snapshot_channel(100);
    let labels = Labels::new();
    let label = labels.intern("home");
    let config = RecorderConfig {
        writers: 2,
        batches: 200,
        labels,
        observers: vec![sender],
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(config).unwrap();
    let sample = |end: Nanos| Sample {
        label,
        times: SampleTimes { start: end, intended: end, end, ..SampleTimes::default() },
        ..Sample::default()
    };
    for tenth in 1..60 {
        let now = Nanos::from_millis(tenth * 100);
        writers[0].record(&sample(now)).unwrap();
        writers[0].flush(now);
    }
    // After it had received this sample, the other core was blocked for six seconds.
    writers[1].record(&sample(Nanos::from_millis(1_500))).unwrap();
    writers[1].flush(Nanos::from_millis(6_000));
    drop(writers);
    let totals = recorder.finish();
    let seconds: Vec<_> =
        received(&receiver).iter().map(|second| (second.total().samples, second.late_samples)).collect();
    // The seconds waited two seconds for the core that did not report.
    assert_eq!(seconds, [(9, 0), (10, 0), (10, 0), (10, 0), (10, 0), (11, 1)]);
    let points: Vec<_> = totals.seconds.iter().map(|point| point.requests).collect();
    assert_eq!(points, [9, 11, 10, 10, 10, 10]);
}

#[test]
fn a_long_gap_is_one_snapshot_and_late_samples_count() {
    let labels = Labels::new();
    let label = labels.intern("home");
    let mut maker = SnapshotMaker::new(labels);
    let mut all = Vec::new();
    let mut see =
        |snapshot: Snapshot| all.push((snapshot.second, snapshot.total().samples, snapshot.late_samples));
    let sample = |second| Sample {
        label,
        times: SampleTimes { end: at(second, 5), ..SampleTimes::default() },
        ..Sample::default()
    };
    maker.sample(&sample(0), &mut see);
    maker.advance(at(100_000, 0), None, &mut see);
    maker.sample(&sample(100_000), &mut see);
    maker.sample(&sample(1), &mut see);
    maker.finish(None, &mut see);
    assert_eq!(all, [(0, 1, 0), (99_999, 0, 0), (100_000, 2, 1)]);
}

#[test]
fn snapshots_can_be_serialized_as_json() {
    let (sender, receiver) = snapshot_channel(100);
    record(RecorderConfig { observers: vec![sender], ..RecorderConfig::default() });
    for snapshot in received(&receiver) {
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
    }
}

/// Result files of two generators in the order of ends. In neither file is the first row the earliest sample.
fn two_logs(folder: &std::path::Path) -> [ResultsInput; 2] {
    const START_MS: u64 = 1_700_000_000_000;
    let rows = |rows: &[(u64, u64)]| {
        let row = |(at, elapsed): &(u64, u64)| format!("{},{elapsed},home,200,true,3\n", START_MS + at);
        let head = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
        head + &rows.iter().map(row).collect::<String>()
    };
    let file = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        ResultsInput::path(path)
    };
    [
        file("a.jtl", rows(&[(2_700, 10), (2_750, 20), (100, 5_000), (6_000, 30)])),
        file("b.jtl", rows(&[(2_650, 10), (3_900, 15), (7_100, 10)])),
    ]
}

#[test]
fn snapshots_of_several_logs_start_where_the_report_starts() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = two_logs(folder.path());
    let read = ReadSettings::default();
    let again = ResultsInput::try_clone_all(&inputs).unwrap();
    let (replay, ()) =
        aggregate_inputs(again, &read, &AggregateSettings::default(), &mut |_| (), &mut |_| {}).unwrap();
    let start_ms = run_start_ms(&inputs, &read).unwrap();
    assert_eq!(start_ms, replay.wall_anchor_ms);

    let mut seconds = Vec::new();
    let source =
        read_snapshots(&inputs, &RecordReading::default(), |snapshot| seconds.push(snapshot)).unwrap();
    assert_eq!((source.wall_anchor_ms, source.inputs.len()), (start_ms, 2));
    let of_snapshots: Vec<(u64, u64)> = seconds
        .iter()
        .map(|snapshot| (snapshot.second, snapshot.total().samples))
        .filter(|(_, samples)| *samples > 0)
        .collect();
    let of_totals: Vec<(u64, u64)> = replay
        .totals
        .seconds
        .iter()
        .filter(|point| point.requests > 0)
        .map(|point| (point.second, point.requests))
        .collect();
    assert_eq!(of_snapshots, of_totals);
    // The users of both generators are added.
    assert_eq!(seconds.iter().filter_map(|snapshot| snapshot.users).map(|users| users.max).max(), Some(6));
}

#[test]
fn a_window_selects_by_start_and_keeps_the_numbers_of_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let inputs = two_logs(folder.path());
    let start_ms = run_start_ms(&inputs, &ReadSettings::default()).unwrap();
    let from_s = (1_700_000_003_000 - start_ms) as f64 / 1e3;
    let reading = RecordReading { window_s: Some((from_s, from_s + 3.5)), ..RecordReading::default() };
    let mut seconds = Vec::new();
    read_snapshots(&inputs, &reading, |snapshot| seconds.push(snapshot)).unwrap();
    let starts = [3_900 + 15, 6_000 + 30].map(|end| (1_700_000_000_000 + end - start_ms as u64) / 1_000);
    let reported: Vec<u64> = seconds
        .iter()
        .filter(|snapshot| snapshot.total().samples > 0)
        .map(|snapshot| snapshot.second)
        .collect();
    assert_eq!(reported, starts);
}

#[test]
fn a_stream_is_refused_because_it_is_read_twice() {
    let stream = ResultsInput {
        name: "standard input".into(),
        from: crate::ResultsFrom::Stream(Box::new(std::io::empty())),
    };
    let error = read_snapshots(&[stream], &RecordReading::default(), |_| {}).unwrap_err();
    assert_eq!(error.name, "standard input");
    assert!(matches!(error.source, crate::LogError::NoFile), "{error:?}");
}
