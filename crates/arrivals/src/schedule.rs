//! A schedule: the arrivals of a process for one seed.

use std::iter::FusedIterator;
use std::sync::Arc;

use crate::arrival::Arrival;
use crate::generate::Generator;
use crate::random::{mark, mark_key};
use crate::share::LoadShare;
use crate::stage::Stage;

/// The arrivals of a process in order of time, generated lazily in constant memory.
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
        let generator = stages.first().map_or(Generator::Empty, |stage| Generator::new(stage, seed, 0));
        Schedule { stages, seed, mark_key: mark_key(seed), stage: 0, generator, index: 0, at_ns: 0 }
    }

    /// The arrivals of a share. They keep the numbers that they have in the whole schedule.
    pub fn share(self, share: LoadShare) -> SharedSchedule {
        SharedSchedule { schedule: self, share }
    }
}

impl Iterator for Schedule {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        loop {
            let stage = self.stages.get(self.stage)?;
            // Offsets ascend within a stage. Rounding may shift the last offset to the end of the stage, but not beyond it.
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
                None => Generator::Empty,
            };
        }
    }
}

impl FusedIterator for Schedule {}

/// The arrivals of one share of a schedule.
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
            if self.share.contains(&arrival, rule) {
                return Some(arrival);
            }
        }
    }
}

impl FusedIterator for SharedSchedule {}
