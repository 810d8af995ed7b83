//! Writes arrivals of an open workload to the record and reads them back.

use busyhour_record::{Recorder, RecorderConfig, RunDir, SamplesReader};
use busyhour_sample::{ArrivalOutcome, ArrivalRecord, Labels, Nanos, Sample, SampleTimes};

#[test]
fn arrivals_and_samples_are_read_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let labels = Labels::new();
    let dir = folder.path().to_owned();
    let config = RecorderConfig {
        dir: Some(dir.clone()),
        labels: labels.clone(),
        writers: 2,
        batch_bytes: 2_000,
        batches: 2,
        ..RecorderConfig::default()
    };
    let (recorder, writers) = Recorder::start(config).unwrap();
    let outcome = |n: u64| match n % 3 {
        0 => ArrivalOutcome::Discarded,
        1 => ArrivalOutcome::Started { at: Nanos(n * 1_000 + 7) },
        _ => ArrivalOutcome::Waited { until: Nanos(n * 1_000 + 70_000) },
    };
    let arrival = |n: u64| ArrivalRecord { group: 3, scheduled: Nanos(n * 1_000), outcome: outcome(n) };
    let label = labels.intern("home");
    for (core, mut writer) in writers.into_iter().enumerate() {
        for n in 0..5_000 {
            if n % 2 == core as u64 {
                let now = Nanos(n * 1_000);
                writer.record_arrival(&arrival(n), now);
                // A slow recorder delays samples but not arrivals.
                while writer
                    .record(&Sample {
                        label,
                        times: SampleTimes { start: now, end: now, ..SampleTimes::default() },
                        ..Sample::default()
                    })
                    .is_err()
                {
                    std::thread::yield_now();
                }
            }
        }
        // Core 0 sends its last arrivals in time, core 1 only at its end.
        if core == 0 {
            writer.flush(Nanos(5_000_000));
        }
    }
    assert_eq!(recorder.finish().total.samples, 5_000);
    let (mut seen, mut samples) = ([Vec::new(), Vec::new()], 0);
    let reader = SamplesReader::open(&RunDir::open(&dir).samples_path()).unwrap();
    let (end, ..) =
        reader.read_with_arrivals(|_, _| samples += 1, |core, arrival| seen[core].push(*arrival)).unwrap();
    assert_eq!((end.samples, end.cut_at, samples), (5_000, None, 5_000));
    for (core, seen) in (0..).zip(&seen) {
        let expected: Vec<_> = (0..5_000).filter(|n| n % 2 == core).map(arrival).collect();
        assert_eq!(*seen, expected);
    }
    assert_eq!(arrival(0).started_at(), None);
    assert_eq!(arrival(1).started_at(), Some(Nanos(1_007)));
}
