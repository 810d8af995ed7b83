//! The thread that waits for the cores. It measures stalls of the process, detects the end of the grace period, and stops
//! waiting for cores that do not respond to a forced end.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use busyhour_program::run::RunShared;
use busyhour_program::run_control::TICK_NS;
use busyhour_sample::{AbandonedCore, Nanos};

use super::report::CoreReport;
use crate::signs::CoreActivity;
use crate::stalls::ProcessStalls;

/// Interval at which the supervisor checks the cores.
const CHECK_INTERVAL: Duration = Duration::from_millis(25);

/// A core's report to the supervisor.
#[derive(Debug)]
pub(super) enum Done {
    /// The core's users of the phase have ended.
    Phase(u32),
    /// The core has ended.
    Ended(u32, Box<CoreReport>),
    /// The core has failed.
    Failed(u32),
}

/// Reports a core that panics; without it the supervisor would wait for that core forever.
pub(super) struct PanicGuard<'d> {
    pub(super) core: u32,
    pub(super) done: &'d std::sync::mpsc::Sender<Done>,
}

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let _ = self.done.send(Done::Failed(self.core));
        }
    }
}

/// Waits for the reports of the cores.
pub(super) struct Supervisor {
    shared: Arc<RunShared>,
    inbox: Receiver<Done>,
    signs: Vec<Arc<CoreActivity>>,
    stalls: ProcessStalls,
    /// When the supervisor first noticed that the end was forced.
    forced: Option<Nanos>,
}

impl Supervisor {
    /// `signs` contains the signs of life of each core, by core number.
    pub(super) fn new(shared: Arc<RunShared>, inbox: Receiver<Done>, signs: Vec<Arc<CoreActivity>>) -> Self {
        Self { shared, inbox, signs, stalls: ProcessStalls::default(), forced: None }
    }

    /// The next report of a core; `None` if the cores in `waiting_for` do not respond to a forced end.
    pub(super) fn next(&mut self, waiting_for: &BTreeSet<u32>) -> Option<Done> {
        loop {
            let began = self.shared.clock.now();
            let received = self.inbox.recv_timeout(CHECK_INTERVAL);
            let now = self.shared.clock.now();
            let interval_ns = u64::try_from(CHECK_INTERVAL.as_nanos()).unwrap_or(u64::MAX);
            let late_ns = now.since(began).saturating_sub(interval_ns);
            self.stalls.note(began + interval_ns, late_ns, waiting_for.iter().copied());
            match received {
                Ok(done) => return Some(done),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if self.shared.is_forced(now) && self.are_unresponsive(waiting_for, now) {
                return None;
            }
        }
    }

    fn are_unresponsive(&mut self, waiting_for: &BTreeSet<u32>, now: Nanos) -> bool {
        let forced = *self.forced.get_or_insert(now);
        waiting_for
            .iter()
            .all(|core| self.signs.get(*core as usize).is_none_or(|signs| signs.is_unresponsive(forced, now)))
    }

    /// A description of a core that did not respond, and a report that replaces its own.
    pub(super) fn abandoned(&self, core: u32) -> (AbandonedCore, CoreReport) {
        let last_seen = self.signs.get(core as usize).map_or(Nanos::ZERO, |signs| signs.last_tick());
        let late_ns = self.shared.clock.now().since(last_seen + TICK_NS);
        let report = CoreReport { wall_ns: last_seen.0, lag_ns_max: late_ns, ..CoreReport::default() };
        (AbandonedCore { core, last_seen_ns: last_seen.0 }, report)
    }

    pub(super) fn stalls(&self) -> &ProcessStalls {
        &self.stalls
    }
}
