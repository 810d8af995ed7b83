//! Runs one probe: reading, state of the source, cost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use busyhour_program::clock::{Clock, thread_cpu_ns};
use busyhour_sample::Nanos;
use busyhour_series::SourceState;

use crate::probe::{Probe, ProbeError};
use crate::reading::Reading;
use crate::series_id::{Pending, SourceId};
use crate::store::SeriesStore;

/// A probe with its source in a store. [`Watch`](crate::Watch) runs probes with it; tests use it to read a probe once.
pub struct ProbeRunner {
    probe: Box<dyn Probe>,
    store: SeriesStore,
    source: SourceId,
    pending: Pending,
    interval: Duration,
    has_ended: bool,
    cpu_ns: u64,
}

impl std::fmt::Debug for ProbeRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProbeRunner").field("source", &self.probe.source()).finish_non_exhaustive()
    }
}

impl ProbeRunner {
    /// A runner that reads at the probe's shortest interval.
    #[must_use]
    pub fn new(store: &SeriesStore, probe: Box<dyn Probe>) -> ProbeRunner {
        let interval = probe.interval_min();
        ProbeRunner::with_interval(store, probe, interval)
    }

    /// A runner that reads at this interval, or at the probe's shortest one if that is longer.
    #[must_use]
    pub fn with_interval(store: &SeriesStore, probe: Box<dyn Probe>, interval: Duration) -> ProbeRunner {
        let source = store.source(probe.source(), Nanos(0));
        let interval = interval.max(probe.interval_min()).max(Duration::from_millis(1));
        ProbeRunner {
            probe,
            store: store.clone(),
            source,
            pending: Pending::default(),
            interval,
            has_ended: false,
            cpu_ns: 0,
        }
    }

    /// Reads the probe now and stores the reading. Does nothing after the source has ended.
    pub fn read(&mut self, clock: &Clock) {
        if self.has_ended {
            return;
        }
        let started = thread_cpu_ns();
        let time = clock.now();
        let mut reading = Reading {
            store: &self.store,
            source: self.source,
            clock,
            time,
            interval: self.interval,
            pending: &mut self.pending,
        };
        // After a panic the probe is not used any more.
        let result = catch_unwind(AssertUnwindSafe(|| self.probe.read(&mut reading)));
        let state = match result {
            Ok(Ok(())) => SourceState::Watching,
            Ok(Err(ended @ ProbeError::Ended { .. })) => SourceState::Ended(ended.to_string()),
            Ok(Err(error)) => SourceState::Failed(error.to_string()),
            Err(_) => SourceState::Ended(String::from(
                "its probe panicked, which is a bug in busyhour; please report it",
            )),
        };
        self.has_ended = matches!(state, SourceState::Ended(_));
        self.store.set_state(self.source, time, state);
        self.store.commit(self.source, &mut self.pending);
        if let (Some(before), Some(after)) = (started, thread_cpu_ns()) {
            self.cpu_ns += after.saturating_sub(before);
        }
    }

    /// The name of the source.
    #[must_use]
    pub fn source(&self) -> &str {
        self.probe.source()
    }

    /// The interval between readings.
    #[must_use]
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Whether the source has ended: it is not read any more.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// CPU time of all readings so far in ns; 0 if the system does not provide the CPU time of threads.
    #[must_use]
    pub fn cpu_ns(&self) -> u64 {
        self.cpu_ns
    }
}
