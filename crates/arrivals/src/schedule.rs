//! A schedule: the arrivals of a process for one seed, one after another.

use std::iter::FusedIterator;
use std::sync::Arc;

use crate::generate::Generator;
use crate::random::{mark, mark_key};
use crate::share::LoadShare;
use crate::stage::Stage;

/// One arrival: the intended start of one iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Number in the whole schedule, from 0, whichever share takes it.
    pub index: u64,
    /// Intended start in nanoseconds since the start of the process.
    pub at_ns: u64,
    /// Which stage it belongs to, from 0.
    pub stage: u32,
    /// Uniform over u64, independent of the times; a function of seed and index. Decides which share of a Poisson
    /// stage takes the arrival, and by [`crate::pick`] its group.
    pub mark: u64,
}

/// The arrivals of a process in order of time, generated as they are asked for in constant memory.
#[derive(Clone, Debug)]
pub struct Schedule {
    stages: Arc<[Stage]>,
    seed: u64,
    mark_key: u64,
    stage: usize,
    generator: Generator,
    index: u64,
    at_ns: u64,
}

impl Schedule {
    pub(crate) fn new(stages: Arc<[Stage]>, seed: u64) -> Schedule {
        let generator = stages.first().map_or(Generator::Silent, |stage| Generator::new(stage, seed, 0));
        Schedule { stages, seed, mark_key: mark_key(seed), stage: 0, generator, index: 0, at_ns: 0 }
    }

    /// Only the arrivals that are this share's. They keep their numbers in the whole.
    pub fn share(self, share: LoadShare) -> SharedSchedule {
        SharedSchedule { schedule: self, share }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        loop {
            let stage = self.stages.get(self.stage)?;
            // Within a stage offsets ascend; a stage's last instant may round to its end, never beyond.
            if let Some(offset_ns) = self.generator.next_ns() {
                let latest = stage.end_ns.saturating_sub(1).max(stage.begin_ns);
                self.at_ns =
                    stage.begin_ns.saturating_add(offset_ns).clamp(self.at_ns, latest.max(self.at_ns));
                let index = self.index;
                self.index += 1;
                return Some(Arrival {
                    index,
                    at_ns: self.at_ns,
                    stage: self.stage as u32,
                    mark: mark(self.mark_key, index),
                });
            }
            self.stage += 1;
            self.generator = match self.stages.get(self.stage) {
                Some(stage) => Generator::new(stage, self.seed, self.stage as u32),
                None => Generator::Silent,
            };
        }
    }
}

impl FusedIterator for Schedule {}

/// One share's arrivals of a schedule.
#[derive(Clone, Debug)]
pub struct SharedSchedule {
    schedule: Schedule,
    share: LoadShare,
}

impl Iterator for SharedSchedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        loop {
            let arrival = self.schedule.next()?;
            let rule = self.schedule.stages[arrival.stage as usize].share_rule();
            if self.share.takes(&arrival, rule) {
                return Some(arrival);
            }
        }
    }
}

impl FusedIterator for SharedSchedule {}
