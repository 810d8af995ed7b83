//! Lets a thread work according to its duty cycle until the neighbour ends.

use std::time::{Duration, Instant};

use crate::duty_cycle::{DutyCycle, DutyPhase, Intensity};
use crate::stop::StopFlag;

/// The pace of one thread. All threads of a neighbour have the same start, so that their pauses coincide.
pub(crate) struct Pacer<'a> {
    cycle: DutyCycle,
    start: Instant,
    stop: &'a StopFlag,
}

impl<'a> Pacer<'a> {
    pub(crate) fn new(intensity: Intensity, start: Instant, stop: &'a StopFlag) -> Self {
        Self { cycle: DutyCycle::new(intensity), start, stop }
    }

    /// Ends the current step and waits until the thread may work. Returns false when the neighbour ends.
    pub(crate) fn proceed(&mut self) -> bool {
        loop {
            if self.stop.is_requested() {
                self.cycle.end_step(self.start.elapsed());
                return false;
            }
            match self.cycle.next(self.start.elapsed()) {
                DutyPhase::Work => return true,
                DutyPhase::PauseUntil(time) => self.stop.wait_until(self.start + time),
            }
        }
    }

    /// Total time of all steps that have ended.
    pub(crate) fn busy(&self) -> Duration {
        self.cycle.busy()
    }

    pub(crate) fn stop(&self) -> &'a StopFlag {
        self.stop
    }
}
