//! The times at which the probes of a thread are read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;

use crate::runner::ProbeRunner;

/// The cost of a source so far. Shared between the thread that reads it and the one that records costs.
#[derive(Debug)]
pub(crate) struct SourceCost {
    pub(crate) source: String,
    pub(crate) cpu_ns: AtomicU64,
    pub(crate) skipped: AtomicU64,
}

struct Entry {
    runner: ProbeRunner,
    due: Nanos,
    is_read: bool,
    cost: Arc<SourceCost>,
}

/// The probes of one thread and the times of their next readings: multiples of their intervals on the run's clock. The schedule
/// neither starts threads nor waits, so that tests can control it with a manual clock.
#[derive(Default)]
pub struct ProbeSchedule {
    entries: Vec<Entry>,
}

impl std::fmt::Debug for ProbeSchedule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| &entry.runner)).finish()
    }
}

impl ProbeSchedule {
    /// Adds a probe, whose first reading is due now.
    pub fn add(&mut self, runner: ProbeRunner, now: Nanos) {
        self.add_with_cost(runner, now);
    }

    pub(crate) fn add_with_cost(&mut self, runner: ProbeRunner, now: Nanos) -> Arc<SourceCost> {
        let cost = Arc::new(SourceCost {
            source: runner.source().to_owned(),
            cpu_ns: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
        });
        self.entries.push(Entry { runner, due: now, is_read: false, cost: cost.clone() });
        cost
    }

    /// Reads each probe that is due, and drops those whose source has ended. Intervals that have passed completely are skipped and
    /// counted.
    pub fn run_due(&mut self, clock: &Clock) {
        for entry in &mut self.entries {
            let started = clock.now();
            if started < entry.due {
                continue;
            }
            entry.is_read = true;
            entry.runner.read(clock);
            let interval = u64::try_from(entry.runner.interval().as_nanos()).unwrap_or(u64::MAX);
            let next = (clock.now().0 / interval).saturating_add(1).saturating_mul(interval);
            let expected = (entry.due.0 / interval).saturating_add(1).saturating_mul(interval);
            let skipped = next.saturating_sub(expected) / interval;
            entry.cost.skipped.fetch_add(skipped, Ordering::Relaxed);
            entry.cost.cpu_ns.store(entry.runner.cpu_ns(), Ordering::Relaxed);
            entry.due = Nanos(next);
        }
        self.entries.retain(|entry| !entry.runner.has_ended());
    }

    /// Reads each probe that was never read, so that a run that ends before the first readings has values of each source.
    pub fn run_unread(&mut self, clock: &Clock) {
        for entry in self.entries.iter_mut().filter(|entry| !entry.is_read) {
            entry.is_read = true;
            entry.runner.read(clock);
        }
    }

    /// The time of the next reading, in ns since the start of the run; `None` if there are no probes.
    #[must_use]
    pub fn next_due(&self) -> Option<Nanos> {
        self.entries.iter().map(|entry| entry.due).min()
    }
}
