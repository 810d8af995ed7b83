//! The current figures of a run in progress, shared between threads.

use std::sync::{Arc, Mutex, PoisonError};

use busyhour_sample::{IntervalCounts, Live, Nanos};

/// The current figures of a run in progress; clones refer to the same figures.
#[derive(Debug, Clone)]
pub struct LiveFigures(Arc<Mutex<Live>>);

impl Default for LiveFigures {
    fn default() -> Self {
        LiveFigures(Arc::new(Mutex::new(Live::new())))
    }
}

impl LiveFigures {
    /// The current figures.
    #[must_use]
    pub fn live(&self) -> Live {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the figures.
    pub fn update<T>(&self, change: impl FnOnce(&mut Live) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The figures of a summariser line: those since the last call, and those since the start of the run. The next interval
    /// starts at `now`.
    pub fn take_summary(&self, now: Nanos) -> (IntervalCounts, IntervalCounts) {
        self.update(|live| (std::mem::replace(&mut live.delta, IntervalCounts::new(now)), live.total))
    }
}
