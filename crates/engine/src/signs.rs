//! The activity of a running core, which the supervisor checks.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use busyhour_sample::Nanos;

/// How long the supervisor waits for a core without activity, in nanoseconds, since the forced end or since the core last
/// dropped a user. A core that responds notices the forced end within one tick.
const SILENCE_NS: u64 = 800_000_000;

/// How long the supervisor waits for a core that responds, in nanoseconds. In this time the core drops its users and hands over
/// its samples.
const WIND_UP_NS: u64 = 10_000_000_000;

/// What a core is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CoreStep {
    /// The core runs users.
    Running = 0,
    /// The core has noticed the forced end and drops its users.
    Dropping = 1,
    /// The core has no users any more and hands over its samples.
    HandingOver = 2,
}

/// The activity of a running core.
#[derive(Debug, Default)]
pub(crate) struct CoreActivity {
    /// When the core last ticked or dropped a user, in nanoseconds since the start of the run.
    last_tick_ns: AtomicU64,
    /// A [`CoreStep`] as a number.
    doing: AtomicU8,
}

impl CoreActivity {
    /// Records a tick.
    pub(crate) fn tick(&self, now: Nanos) {
        self.last_tick_ns.store(now.0, Ordering::Relaxed);
    }

    /// Sets what the core is doing.
    pub(crate) fn set_doing(&self, doing: CoreStep) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Whether the core drops its users.
    pub(crate) fn is_dropping(&self) -> bool {
        self.doing.load(Ordering::Relaxed) == CoreStep::Dropping as u8
    }

    /// When the core last ticked or dropped a user.
    pub(crate) fn last_tick(&self) -> Nanos {
        Nanos(self.last_tick_ns.load(Ordering::Relaxed))
    }

    /// Whether the core does not respond to an end that was forced at the time `forced`. While a core drops its users, it may
    /// have to wait for an evaluation on another thread, which uses the memory of the user.
    pub(crate) fn is_unresponsive(&self, forced: Nanos, now: Nanos) -> bool {
        let silent_since = match self.doing.load(Ordering::Relaxed) {
            doing if doing == CoreStep::HandingOver as u8 => return now.since(forced) > WIND_UP_NS,
            doing if doing == CoreStep::Dropping as u8 => forced.max(self.last_tick()),
            _ => forced,
        };
        now.since(silent_since) > SILENCE_NS || now.since(forced) > WIND_UP_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core that has dropped its users may hand over its samples until 10 s after the forced end.
    #[test]
    fn a_core_that_stops_dropping_users_does_not_respond() {
        let signs = CoreActivity::default();
        let at = |ms: u64| Nanos(ms * 1_000_000);
        let is_unresponsive = |ms| signs.is_unresponsive(at(1_000), at(ms));
        signs.tick(at(950));
        assert!(!is_unresponsive(1_700));
        assert!(is_unresponsive(1_900), "the core has not noticed the forced end");
        signs.set_doing(CoreStep::Dropping);
        assert!(is_unresponsive(1_900), "the core still waits for the first user that it drops");
        signs.tick(at(1_500));
        assert!(!is_unresponsive(2_200), "the core drops users");
        assert!(is_unresponsive(2_400), "the core waits for a user that it drops");
        signs.set_doing(CoreStep::HandingOver);
        assert!(!is_unresponsive(10_900));
        assert!(is_unresponsive(11_100));
    }
}
