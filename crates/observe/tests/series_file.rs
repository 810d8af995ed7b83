//! Tests that the content of a series file is read as it was written, and that damage is detected.

#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod series_soundness;

use std::sync::{Arc, Mutex};

use busyhour_sample::Nanos;
use busyhour_series::{
    DamagedEnd, FileStart, SeriesEncoder, SeriesEvent, SeriesQuery, SeriesReader, SeriesSet,
};
use busyhour_series::{Mark, MarkKind, Metric, SourceState};
use proptest::prelude::*;

/// A value of a test: time, series, value.
type Value = (Nanos, u32, f64);

fn start() -> FileStart {
    FileStart { wall_anchor_ms: 1_700_000_000_123, hostname: "sut".into(), program: "busyhour 0.1".into() }
}

/// A file with two sources and `series` series, of which every third is a counter.
fn file(series: u32, readings: &[Vec<Value>]) -> Vec<u8> {
    let mut encoder = SeriesEncoder::default();
    let mut out = Vec::new();
    encoder.start(&mut out, &start());
    let sources = [encoder.source(&mut out, "os"), encoder.source(&mut out, "process:7")];
    for number in 0..series {
        let text = number.to_string();
        let labels = [("number", text.as_str())];
        let metric = if number % 3 == 0 {
            Metric::counter("busyhour_test_total", "A counter.")
        } else {
            Metric::gauge("busyhour_test", "A gauge.")
        };
        assert_eq!(encoder.series(&mut out, sources[number as usize % 2], &metric, &labels), number);
    }
    for reading in readings {
        encoder.values(&mut out, reading);
    }
    out
}

fn read_values(bytes: &[u8]) -> (Vec<Value>, Option<DamagedEnd>) {
    let mut reader = SeriesReader::new(bytes).unwrap();
    let mut all = Vec::new();
    while let Some(event) = reader.next_event().unwrap() {
        if let SeriesEvent::Values { time, values } = event {
            all.extend(values.iter().map(|(series, value)| (time, *series, *value)));
        }
    }
    (all, reader.damaged_end())
}

fn any_value() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-1_000_000i64..1_000_000).prop_map(|value| value as f64),
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        any::<i64>().prop_map(|value| value as f64),
        Just(0.5),
        Just(9_007_199_254_740_992.0),
        Just(9_007_199_254_740_994.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: proptest::test_runner::RngSeed::Fixed(30), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_values_are_read_again(
        readings in prop::collection::vec(
            prop::collection::vec((any::<u64>().prop_map(Nanos), 0u32..20, any_value()), 0..40),
            0..20,
        )
    ) {
        let (read, damaged_end) = read_values(&file(20, &readings));
        prop_assert_eq!(read, readings.concat());
        prop_assert_eq!(damaged_end, None);
    }

    #[test]
    fn a_changed_byte_is_noticed(at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let readings: Vec<Vec<Value>> =
            (0..20).map(|time| vec![(Nanos(time * 1_000), 0, time as f64), (Nanos(time * 1_000), 1, 0.5)]).collect();
        let intact = file(2, &readings);
        let mut bytes = intact.clone();
        // Not in the head of the file, which has no checksum.
        let at = 12 + at.index(bytes.len() - 12);
        bytes[at] ^= 1 << bit;
        let all = readings.concat();
        let (read, damaged_end) = read_values(&bytes);
        prop_assert!(damaged_end.is_some());
        prop_assert!(read.len() < all.len() && all.starts_with(&read));
        series_soundness::check(&bytes);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), with_head in any::<bool>()) {
        let mut input = if with_head { file(3, &[]) } else { Vec::new() };
        input.extend_from_slice(&bytes);
        series_soundness::check(&input);
    }

    /// Frames with correct checksums and any content.
    #[test]
    fn any_frames_are_read_or_refused(
        frames in prop::collection::vec((0u8..9, prop::collection::vec(any::<u8>(), 0..30)), 0..20)
    ) {
        let mut input = file(3, &[]);
        for (kind, content) in frames {
            let mut payload = vec![kind];
            payload.extend(content);
            let length = (payload.len() as u32).to_le_bytes();
            let mut crc = crc32fast::Hasher::new();
            crc.update(&length);
            crc.update(&payload);
            input.extend_from_slice(&length);
            input.extend_from_slice(&crc.finalize().to_le_bytes());
            input.extend(payload);
        }
        series_soundness::check(&input);
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_read_up_to_its_last_frame() {
    let readings: Vec<Vec<Value>> = (0..10).map(|time| vec![(Nanos(time), 0, time as f64)]).collect();
    let all = readings.concat();
    let bytes = file(1, &readings);
    let mut lengths = Vec::new();
    for end in 12..=bytes.len() {
        let (read, damaged_end) = read_values(&bytes[..end]);
        assert!(all.starts_with(&read));
        if let Some(damaged) = damaged_end {
            assert!(damaged.is_torn && damaged.at < end as u64, "cut at {end}: {damaged:?}");
        } else {
            lengths.push(end);
        }
    }
    // Undamaged lengths: the head alone, then one more after each frame (the start, two sources, a series, ten readings).
    assert_eq!(lengths.len(), 1 + 1 + 2 + 1 + 10);
}

#[test]
fn other_files_and_versions_are_refused() {
    for (bytes, text) in [
        (&b"BHSAMPLE\x01\0\0\0"[..], "not a series file"),
        (b"BHSERIES\x02\0\0\0", "version 2 of the series format is not supported"),
        (b"BHSER", "not a series file"),
        (b"", "not a series file"),
    ] {
        let error = SeriesReader::new(bytes).unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn reasons_marks_and_states_are_read_again() {
    let mut encoder = SeriesEncoder::default();
    let mut out = Vec::new();
    encoder.start(&mut out, &start());
    let source = encoder.source(&mut out, "jvm:7");
    let state = SourceState::Failed("no permission".into());
    encoder.state(&mut out, source, Nanos(5), &state);
    encoder.unavailable(&mut out, source, Nanos(6), "busyhour_x_bytes", "needs root");
    let mark = Mark { kind: MarkKind::GcPause, from: Nanos(3), to: Nanos(9), text: "young".into() };
    encoder.mark(&mut out, source, &mark);
    let set = SeriesSet::from_reader(&out[..], &SeriesQuery::default()).unwrap();
    assert_eq!(set.start, Some(start()));
    assert_eq!(set.sources, ["jvm:7"]);
    assert_eq!((set.states[0].time, &set.states[0].state), (Nanos(5), &state));
    let reason = &set.unavailable[0];
    assert_eq!(
        (reason.time, reason.metric.as_str(), reason.reason.as_str()),
        (Nanos(6), "busyhour_x_bytes", "needs root")
    );
    assert_eq!(set.marks, [(source, mark)]);
}

#[test]
fn counters_are_rates_and_gauges_are_means() {
    let second = 1_000_000_000;
    let readings: Vec<Vec<Value>> = (0..100u64)
        .map(|at| {
            // The counter increases by 5 a second and restarts at second 50.
            let total = if at < 50 { at * 5 } else { (at - 50) * 5 };
            vec![(Nanos(at * second), 0, total as f64), (Nanos(at * second), 1, (at % 2) as f64)]
        })
        .collect();
    let bytes = file(2, &readings);
    let query = SeriesQuery { points_max: 10, width_ns: second, ..SeriesQuery::default() };
    let set = SeriesSet::from_reader(&bytes[..], &query).unwrap();
    let [counter, gauge] = &set.series[..] else { panic!("{set:?}") };
    assert_eq!((counter.resets, counter.increase), (1, 98.0 * 5.0));
    assert!(counter.points.iter().all(|point| point.max == 5.0));
    assert_eq!(counter.points.iter().filter(|point| point.min < 5.0).count(), 1, "the restart");
    assert_eq!(counter.last, Some((Nanos(99 * second), 245.0)));
    assert_eq!(set.width_ns, 16 * second);
    assert!(
        gauge
            .points
            .iter()
            .all(|point| (point.mean - 0.5).abs() < 0.2 && point.max == 1.0 && point.min == 0.0)
    );
    let part = SeriesQuery { from: Nanos(10 * second), to: Nanos(12 * second), ..query };
    let set = SeriesSet::from_reader(&bytes[..], &part).unwrap();
    assert_eq!(set.series[1].points.len(), 3);
    assert_eq!(set.find("os", "busyhour_test_total", &[("number", "0")]).count(), 1);
    assert_eq!(set.find("os", "busyhour_test_total", &[("number", "1")]).count(), 0);
}

/// `examples/read_series.py` was written from the description of the format in `docs/series-file.md`.
#[test]
fn the_reader_in_python_agrees() {
    let numbers =
        [0.0, 5.0, -7.0, 0.1, 1e300, -9_007_199_254_740_992.0, 9_007_199_254_740_993.0, f64::MIN_POSITIVE];
    let readings: Vec<Vec<Value>> = (0..20u64)
        .map(|at| {
            let value = numbers[at as usize % numbers.len()];
            vec![
                (Nanos(at * 500_000_000), 4, value),
                (Nanos(at * 500_000_000), 0, at as f64 * 3.0),
                (Nanos(7), 1, value),
            ]
        })
        .collect();
    let mut bytes = file(5, &readings);
    // The head of a frame that was not written completely.
    bytes.extend_from_slice(&[9, 0, 0]);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("series.bho");
    std::fs::write(&path, &bytes).unwrap();
    let script = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/read_series.py");
    let output = match std::process::Command::new("python3").arg(script).arg(&path).output() {
        Ok(output) => output,
        Err(error) => return eprintln!("SKIPPED: python3: {error}"),
    };
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.contains("is incomplete or damaged"), "{errors}");
    let rows = String::from_utf8(output.stdout).unwrap();
    let found: Vec<(f64, f64)> = rows
        .lines()
        .skip(1)
        .map(|row| {
            let columns: Vec<&str> = row.split(',').collect();
            (columns[0].parse().unwrap(), columns[columns.len() - 1].parse().unwrap())
        })
        .collect();
    let expected: Vec<(f64, f64)> =
        readings.concat().iter().map(|(time, _, value)| (time.0 as f64 / 1e9, *value)).collect();
    assert_eq!(found, expected);
    assert!(rows.contains("os,busyhour_test,\"number=\"\"4\"\"\","), "{rows}");
}

/// Remembers each call of `write`.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<Vec<u8>>>>);

impl std::io::Write for Calls {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

mod store {
    use std::time::Duration;

    use busyhour_observe::{Probe, ProbeError, ProbeRunner, ProbeSchedule, Reading, SeriesStore};
    use busyhour_program::clock::Clock;

    use super::*;

    static VALUE: Metric = Metric::gauge("busyhour_value", "A value.");
    static OTHER: Metric = Metric::gauge("busyhour_other", "Another value.");

    /// Fails in the readings for which `outcome` returns an error.
    struct Scripted {
        readings: u64,
        outcome: fn(u64) -> Result<(), ProbeError>,
        interval: Duration,
    }

    impl Probe for Scripted {
        fn source(&self) -> &str {
            "scripted"
        }

        fn interval_min(&self) -> Duration {
            self.interval
        }

        fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
            self.readings += 1;
            let series = reading.series(&VALUE, &[]);
            reading.set(series, self.readings as f64);
            reading.unavailable(&OTHER, "this machine has none");
            (self.outcome)(self.readings)
        }
    }

    fn scripted(outcome: fn(u64) -> Result<(), ProbeError>) -> Box<dyn Probe> {
        Box::new(Scripted { readings: 0, outcome, interval: Duration::from_millis(100) })
    }

    fn failure() -> Result<(), ProbeError> {
        Err(ProbeError::format("the source", "an odd line"))
    }

    #[test]
    fn states_change_once_and_reasons_are_recorded_once() {
        let calls = Calls::default();
        let store = SeriesStore::to_writer(Box::new(calls.clone()), &start()).unwrap();
        let clock = Clock::manual(0);
        let outcome = |reading| if (3..6).contains(&reading) { failure() } else { Ok(()) };
        let mut runner = ProbeRunner::new(&store, scripted(outcome));
        for _ in 0..10 {
            clock.advance(Duration::from_secs(1));
            runner.read(&clock);
        }
        assert_eq!(calls.0.lock().unwrap().len(), 1 + 10, "one write for the head and for each reading");
        let bytes = calls.0.lock().unwrap().concat();
        let set = SeriesSet::from_reader(&bytes[..], &SeriesQuery::default()).unwrap();
        let states: Vec<_> =
            set.states.iter().map(|change| (change.time.0 / 1_000_000_000, &change.state)).collect();
        let failed = SourceState::Failed("the source is not in the expected format: an odd line".into());
        assert_eq!(states, [(3, &failed), (6, &SourceState::Watching)]);
        assert_eq!(set.unavailable.len(), 1);
        assert_eq!(set.series[0].points.len(), 10, "values of failed readings are recorded");
        let latest = store.latest();
        assert_eq!((latest.len(), latest[0].value, latest[0].time), (1, 10.0, Nanos(10_000_000_000)));
        assert_eq!(store.status().sources[0].state, SourceState::Watching);
    }

    #[test]
    fn an_ended_source_and_a_panic_end_only_their_probe() {
        let clock = Clock::manual(0);
        for (outcome, reason) in [
            (
                (|_| Err(ProbeError::Ended { what: "process 7".into() }))
                    as fn(u64) -> Result<(), ProbeError>,
                "process 7 has ended",
            ),
            (|_| panic!("a defect"), "its probe panicked, which is a bug in busyhour; please report it"),
        ] {
            let store = SeriesStore::in_memory();
            let mut schedule = ProbeSchedule::default();
            schedule.add(ProbeRunner::new(&store, scripted(outcome)), clock.now());
            schedule.run_due(&clock);
            assert_eq!(schedule.next_due(), None);
            assert_eq!(store.status().sources[0].state, SourceState::Ended(reason.into()));
        }
    }

    #[test]
    fn readings_are_due_at_multiples_of_the_interval_and_late_ones_are_skipped() {
        let store = SeriesStore::in_memory();
        let clock = Clock::manual(0);
        clock.advance(Duration::from_millis(1_030));
        let mut schedule = ProbeSchedule::default();
        schedule.add(ProbeRunner::new(&store, scripted(|_| Ok(()))), clock.now());
        schedule.run_due(&clock);
        assert_eq!(schedule.next_due(), Some(Nanos(1_100_000_000)));
        clock.advance(Duration::from_millis(60));
        schedule.run_due(&clock);
        assert_eq!(store.latest()[0].value, 1.0, "not due yet");
        clock.advance(Duration::from_millis(500));
        schedule.run_due(&clock);
        assert_eq!(store.latest()[0].value, 2.0);
        assert_eq!(schedule.next_due(), Some(Nanos(1_600_000_000)));
    }

    #[test]
    fn series_beyond_the_limit_are_counted_and_others_continue() {
        struct Many;
        impl Probe for Many {
            fn source(&self) -> &str {
                "many"
            }
            fn interval_min(&self) -> Duration {
                Duration::from_secs(1)
            }
            fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
                for number in 0..20 {
                    let series = reading.series(&VALUE, &[("number", &number.to_string())]);
                    assert_eq!(series.is_recorded(), number < 10);
                    reading.set(series, f64::from(number));
                }
                Ok(())
            }
        }
        let store = SeriesStore::in_memory();
        store.set_series_max(10);
        let mut runner = ProbeRunner::new(&store, Box::new(Many));
        runner.read(&Clock::manual(0));
        runner.read(&Clock::manual(0));
        let status = store.status();
        assert_eq!((status.series, status.series_refused), (10, 20));
        assert_eq!(store.latest().len(), 10);
    }

    #[test]
    fn values_that_are_not_finite_are_absent() {
        struct Odd;
        impl Probe for Odd {
            fn source(&self) -> &str {
                "odd"
            }
            fn interval_min(&self) -> Duration {
                Duration::from_secs(1)
            }
            fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
                let series = reading.series(&VALUE, &[]);
                reading.set(series, f64::NAN);
                reading.set(series, f64::INFINITY);
                reading.set_if(series, None);
                Ok(())
            }
        }
        let store = SeriesStore::in_memory();
        ProbeRunner::new(&store, Box::new(Odd)).read(&Clock::manual(0));
        assert_eq!(store.latest(), []);
    }

    /// Fails after some bytes, like a full disk.
    struct Full(usize);

    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| std::io::Error::other("no space left"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_stated_and_live_values_continue() {
        let store = SeriesStore::to_writer(Box::new(Full(400)), &start()).unwrap();
        let mut runner = ProbeRunner::new(&store, scripted(|_| Ok(())));
        for _ in 0..50 {
            runner.read(&Clock::manual(0));
        }
        assert_eq!(store.status().file_error.as_deref(), Some("no space left"));
        assert_eq!(store.latest()[0].value, 50.0);
    }
}
