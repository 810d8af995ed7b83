//! One core's share of a schedule, with the changes made during the run.

use std::collections::VecDeque;

use busyhour_arrivals::{Arrival, ChangingSchedule, RateChange};
use busyhour_program::run_control::LoadChanges;
use busyhour_sample::{LoadChange, Nanos};

/// The remaining arrivals of a schedule.
pub(super) struct ScheduleCursor {
    schedule: ChangingSchedule,
    /// When the schedule began.
    first: Nanos,
    /// Number of load changes that have been applied.
    known: u32,
    /// Future pauses (`true`) and ends of pauses (`false`), with their times.
    turns: VecDeque<(Nanos, bool)>,
    paused: bool,
}

impl ScheduleCursor {
    pub(super) fn new(schedule: ChangingSchedule, first: Nanos) -> ScheduleCursor {
        ScheduleCursor { schedule, first, known: 0, turns: VecDeque::new(), paused: false }
    }

    /// Whether `control` has changes that have not been applied.
    pub(super) fn is_behind(&self, control: &LoadChanges) -> bool {
        control.count() != self.known
    }

    /// Applies the changes since the last call.
    pub(super) fn follow(&mut self, control: &LoadChanges) {
        for posted in control.since(self.known) {
            self.known += 1;
            match posted.change {
                // A rate change before the schedule began applies from its beginning.
                LoadChange::Rate { factor } => {
                    self.schedule.change(RateChange { at_ns: posted.at.since(self.first), factor });
                }
                LoadChange::Pause => self.turns.push_back((posted.at, true)),
                LoadChange::Resume => self.turns.push_back((posted.at, false)),
                LoadChange::Stop => {}
            }
        }
    }

    /// The next arrival and its intended start.
    pub(super) fn peek(&mut self) -> Option<(Arrival, Nanos)> {
        let arrival = self.schedule.peek()?;
        Some((arrival, self.first + arrival.at_ns))
    }

    /// Whether the run is paused at `scheduled`, according to the changes known so far.
    pub(super) fn is_paused_at(&self, scheduled: Nanos) -> bool {
        self.turns
            .iter()
            .take_while(|(at, _)| *at <= scheduled)
            .last()
            .map_or(self.paused, |(_, paused)| *paused)
    }

    /// Removes the arrival at `scheduled`; returns `false` if the run is paused at that time.
    pub(super) fn take(&mut self, scheduled: Nanos) -> bool {
        self.schedule.next();
        while let Some((_, paused)) = self.turns.front().copied().filter(|(at, _)| *at <= scheduled) {
            self.turns.pop_front();
            self.paused = paused;
        }
        !self.paused
    }
}
