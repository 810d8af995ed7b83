//! What the supervisor sees of a core while it runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use busyhour_record::Nanos;

/// What a core shows of itself while it runs.
#[derive(Debug, Default)]
pub(crate) struct CoreSigns {
    /// When it ticked last, in nanoseconds since the run's start.
    last_tick_ns: AtomicU64,
    /// The core has received the forced end and abandons its users.
    ending: AtomicBool,
}

impl CoreSigns {
    /// Notes a tick.
    pub(crate) fn tick(&self, now: Nanos) {
        self.last_tick_ns.store(now.0, Ordering::Relaxed);
    }

    /// Sets whether the core abandons its users.
    pub(crate) fn set_ending(&self, ending: bool) {
        self.ending.store(ending, Ordering::Relaxed);
    }

    /// Whether the core abandons its users.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed)
    }

    /// When it ticked last.
    pub(crate) fn last_tick(&self) -> Nanos {
        Nanos(self.last_tick_ns.load(Ordering::Relaxed))
    }
}
