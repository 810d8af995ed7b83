//! What the supervisor sees of a core while it runs.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use busyhour_sample::Nanos;

/// How long after a forced end, or after it has dropped a user, the supervisor waits for a core that does nothing more, in
/// nanoseconds. A core that responds sees the forced end within a tick.
const SILENCE_NS: u64 = 800_000_000;

/// How long the supervisor waits for a core that responds: for its users to be dropped and its samples to be handed over, in
/// nanoseconds.
const WIND_UP_NS: u64 = 10_000_000_000;

/// What a core does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It runs users.
    Running = 0,
    /// It has received the forced end and drops its users.
    Dropping = 1,
    /// It has no users any more and hands over its samples.
    HandingOver = 2,
}

/// What a core shows of itself while it runs.
#[derive(Debug, Default)]
pub(crate) struct CoreSigns {
    /// When it ticked or dropped a user last, in nanoseconds since the run's start.
    last_tick_ns: AtomicU64,
    /// A [`Doing`].
    doing: AtomicU8,
}

impl CoreSigns {
    /// Notes a tick.
    pub(crate) fn tick(&self, now: Nanos) {
        self.last_tick_ns.store(now.0, Ordering::Relaxed);
    }

    /// Sets what the core does.
    pub(crate) fn set_doing(&self, doing: Doing) {
        self.doing.store(doing as u8, Ordering::Relaxed);
    }

    /// Whether the core drops its users.
    pub(crate) fn is_dropping(&self) -> bool {
        self.doing.load(Ordering::Relaxed) == Doing::Dropping as u8
    }

    /// When it ticked last.
    pub(crate) fn last_tick(&self) -> Nanos {
        Nanos(self.last_tick_ns.load(Ordering::Relaxed))
    }

    /// Whether the core does not respond to an end that was forced at this time. A core that drops its users may wait for an
    /// evaluation on another thread, which uses the memory of the user.
    pub(crate) fn is_unresponsive(&self, forced: Nanos, now: Nanos) -> bool {
        let silent_since = match self.doing.load(Ordering::Relaxed) {
            doing if doing == Doing::HandingOver as u8 => return now.since(forced) > WIND_UP_NS,
            doing if doing == Doing::Dropping as u8 => forced.max(self.last_tick()),
            _ => forced,
        };
        now.since(silent_since) > SILENCE_NS || now.since(forced) > WIND_UP_NS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A core that dropped its users had 10 s, also if it waited for one evaluation all the time.
    #[test]
    fn a_core_that_stops_dropping_users_does_not_respond() {
        let signs = CoreSigns::default();
        let at = |ms: u64| Nanos(ms * 1_000_000);
        let is_unresponsive = |ms| signs.is_unresponsive(at(1_000), at(ms));
        signs.tick(at(950));
        assert!(!is_unresponsive(1_700));
        assert!(is_unresponsive(1_900), "it has not seen the forced end");
        signs.set_doing(Doing::Dropping);
        assert!(is_unresponsive(1_900), "it waits for the first user that it drops");
        signs.tick(at(1_500));
        assert!(!is_unresponsive(2_200), "it drops users");
        assert!(is_unresponsive(2_400), "it waits for a user that it drops");
        signs.set_doing(Doing::HandingOver);
        assert!(!is_unresponsive(10_900));
        assert!(is_unresponsive(11_100));
    }
}
