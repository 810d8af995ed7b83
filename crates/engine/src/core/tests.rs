//! Samples wait if the recorder's queue is full.

use std::io::Read as _;

use busyhour_program::clock::Clock;
use busyhour_program::variables::Names;
use busyhour_record::{Recorder, RecorderConfig, ResultFileConfig, SampleFilter, SaveConfig};
use busyhour_sample::{SampleOutcome, SampleTimes};

use super::*;
use crate::testing::{SEED, recorder_config, shared_with};

fn sample(number: u64, label: LabelId, url: &str) -> Sample<'_> {
    Sample {
        label,
        times: SampleTimes { end: Nanos(number), ..SampleTimes::default() },
        outcome: SampleOutcome::new("200", "OK", true),
        url,
        ..Sample::default()
    }
}

/// The recorder writes to a pipe that is not read until the core has waiting samples.
#[cfg(target_os = "linux")]
#[test]
fn a_stuck_recorder_loses_no_sample_and_the_waiting_time_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    // On Linux, opening a pipe for reading and writing does not wait for another process.
    let mut pipe = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let labels = Labels::new();
    let config = RecorderConfig {
        main: Some(ResultFileConfig { path, config: SaveConfig::default(), filter: SampleFilter::All }),
        batch_bytes: 4096,
        batches: 2,
        ..RecorderConfig::default()
    };
    let (recorder, mut writers) = Recorder::start(recorder_config(1, &labels, config)).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    let mut reader = None;
    let made = runtime.block_on(async {
        let (shared, _) = shared_with(Clock::start(), SEED, 1, Names::default(), 0);
        let core = Core::new(0, shared, labels, writers.pop().unwrap()).unwrap();
        let (label, url) = (core.label("x"), "u".repeat(1000));
        let mut made = 0;
        // The pipe and the recorder's buffers take some samples; then the core is behind.
        while !core.is_behind() {
            made += 1;
            core.record(&sample(made, label, &url));
            tokio::task::yield_now().await;
        }
        for _ in 0..500 {
            made += 1;
            core.record(&sample(made, label, &url));
        }
        assert!(core.is_behind());
        reader = Some(std::thread::spawn(move || {
            let (mut rows, mut buffer) = (0, vec![0; 1 << 16]);
            while rows < made {
                let read = pipe.read(&mut buffer).unwrap();
                rows += buffer[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
            }
            rows
        }));
        tokio::select! {
            () = core.timers.drive() => {}
            () = core.settle() => {}
        }
        assert!(!core.is_behind());
        assert!(core.stalled_ns.get() > 0);
        core.flush();
        let (stalls, lost) = core.recorder_stalls();
        assert!(stalls > 0);
        assert_eq!(lost, 0);
        made
    });
    let totals = recorder.finish();
    assert_eq!(totals.total.samples, made);
    assert_eq!(totals.events, []);
    assert_eq!(
        reader.unwrap().join().unwrap(),
        made,
        "one row per sample; no header row, because the file existed before the run"
    );
}

#[test]
fn a_label_keeps_its_number_when_the_cache_is_full() {
    let labels = Labels::new();
    let (recorder, mut writers) =
        Recorder::start(recorder_config(1, &labels, RecorderConfig::default())).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build().unwrap();
    runtime.block_on(async {
        let (shared, _) = shared_with(Clock::manual(0), SEED, 1, Names::default(), 0);
        let core = Core::new(0, shared, labels, writers.pop().unwrap()).unwrap();
        let first = core.label("first");
        for number in 0..10_100 {
            core.label(&format!("label {number}"));
        }
        assert_eq!(core.label("first"), first);
        assert_eq!(core.label("label 10099"), core.label("label 10099"));
    });
    drop(recorder.finish());
}
