//! The stall meter as a thread.
#![cfg(target_os = "linux")]

mod support;

use std::time::Duration;

use busyhour_observe::{
    Metric, Probe, ProbeError, ProbeRunner, Reading, SeriesStore, SourceState, StallProbe,
};
use busyhour_program::clock::Clock;

use support::latest;

static ROUNDS: Metric = Metric::gauge("busyhour_rounds", "Rounds.");

/// Reads the meter until it has recorded a delay, which shows that its thread runs.
#[test]
fn the_meter_measures_until_it_is_dropped() {
    let clock = Clock::start();
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(StallProbe::start(&clock).unwrap()));
    assert_eq!(runner.interval(), Duration::from_secs(1));
    let value = |name: &str| latest(&store, "stall", name, &[]);
    // A delay is recorded after a millisecond or later: reading until there is one takes no fixed time.
    while value("busyhour_stall_max_seconds").is_none() {
        runner.read(&clock);
        std::thread::yield_now();
    }
    let (max, p99) =
        (value("busyhour_stall_max_seconds").unwrap(), value("busyhour_stall_p99_seconds").unwrap());
    assert!(0.0 < p99 && p99 <= max, "{p99} {max}");
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
    drop(runner);
}

#[test]
fn readings_have_the_interval_of_the_watch() {
    struct Rounds;
    impl Probe for Rounds {
        fn source(&self) -> &str {
            "rounds"
        }
        fn interval_min(&self) -> Duration {
            Duration::from_millis(100)
        }
        fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
            let series = reading.series(&ROUNDS, &[]);
            reading.set(series, reading.interval().as_secs_f64());
            Ok(())
        }
    }
    let store = SeriesStore::in_memory();
    ProbeRunner::with_interval(&store, Box::new(Rounds), Duration::from_secs(5)).read(&Clock::manual(0));
    assert_eq!(latest(&store, "rounds", "busyhour_rounds", &[]), Some(5.0));
}
