//! The threads of a watch.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use busyhour_observe::{
    Mark, MarkKind, Metric, Probe, ProbeError, Reading, SeriesStore, Watch, WatchError, WatchOptions,
};
use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;

static VALUE: Metric = Metric::gauge("busyhour_value", "A value.");

/// Sends a message at each reading. With a gate, each reading then blocks until the gate receives a message.
struct Signalling {
    name: &'static str,
    readings: Sender<&'static str>,
    gate: Option<Receiver<()>>,
}

impl Probe for Signalling {
    fn source(&self) -> &str {
        self.name
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn may_block(&self) -> bool {
        self.gate.is_some()
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let series = reading.series(&VALUE, &[]);
        reading.set(series, 1.0);
        let _ = self.readings.send(self.name);
        if let Some(gate) = &self.gate {
            let _ = gate.recv();
        }
        Ok(())
    }
}

#[test]
fn a_probe_that_blocks_does_not_delay_others_or_the_end() {
    let (readings, received) = channel();
    let (open, gate) = channel();
    let options = WatchOptions { interval: Duration::from_millis(100) };
    let blocked = Signalling { name: "blocked", readings: readings.clone(), gate: Some(gate) };
    let store = SeriesStore::in_memory();
    let watch = Watch::start(Clock::start(), store, options, vec![Box::new(blocked)]).unwrap();
    assert_eq!(received.recv(), Ok("blocked"));
    watch.add(Box::new(Signalling { name: "other", readings, gate: None })).unwrap();
    for _ in 0..3 {
        assert_eq!(received.recv(), Ok("other"));
    }
    watch
        .store()
        .mark("user", Mark { kind: MarkKind::User, from: Nanos(1), to: Nanos(1), text: "deployed".into() });
    let store = watch.store().clone();
    watch.stop();
    let (marks, seen) = store.marks_since(0);
    assert_eq!((marks.len(), seen, &*marks[0].source), (1, 1, "user"));
    assert_eq!(store.marks_since(seen).0, []);
    let sources: Vec<String> =
        store.status().sources.iter().map(|source| source.source.to_string()).collect();
    assert_eq!(sources, ["observe", "blocked", "other", "user"]);
    drop(open);
}

#[test]
fn each_probe_is_read_at_least_once() {
    let (readings, received) = channel();
    for _ in 0..20 {
        let probe = Signalling { name: "short", readings: readings.clone(), gate: None };
        let options = WatchOptions::default();
        let watch =
            Watch::start(Clock::start(), SeriesStore::in_memory(), options, vec![Box::new(probe)]).unwrap();
        watch.stop();
        assert_eq!(received.try_recv(), Ok("short"));
    }
}

#[test]
fn intervals_have_a_minimum() {
    let options = WatchOptions { interval: Duration::from_millis(99) };
    let error = Watch::start(Clock::start(), SeriesStore::in_memory(), options, Vec::new()).unwrap_err();
    assert!(matches!(error, WatchError::Interval { .. }));
    assert_eq!(error.to_string(), "the interval of 99ms is too short: at least 100ms");
}

#[test]
fn a_file_is_created_once() {
    let dir = tempfile::tempdir().unwrap();
    let start = busyhour_series::FileStart::default();
    let store = SeriesStore::create(dir.path(), &start).unwrap();
    store.mark("user", Mark { kind: MarkKind::User, from: Nanos(1), to: Nanos(1), text: "deployed".into() });
    let path = dir.path().join(&SeriesStore::part().file);
    let set = busyhour_series::read_series(&path, &Default::default()).unwrap();
    assert_eq!(set.marks[0].1.text, "deployed");
    let error = SeriesStore::create(dir.path(), &start).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
}
