//! One generator per law. Generators return offsets from the start of a stage in ascending order. All offsets are within the
//! stage.

pub(crate) mod even;
mod fixed_count;
mod jittered;
mod mmpp;
mod poisson;
mod position;
mod renewal;
mod replay;

use even::Even;
pub(crate) use fixed_count::{FixedCount, Layers, Listed};
use jittered::Jittered;
use mmpp::Switched;
use poisson::Poisson;
use renewal::Renewal;
use replay::Recorded;

use crate::random::Source;
use crate::stage::{Process, Stage};

/// The generator of one stage.
#[derive(Clone, Debug)]
pub(crate) enum Generator {
    Empty,
    Poisson(Poisson),
    Even(Even),
    Jittered(Jittered),
    Renewal(Renewal),
    Switched(Switched),
    Recorded(Recorded),
    FixedCount(FixedCount),
    Listed(Listed),
}

impl Generator {
    pub(crate) fn new(stage: &Stage, seed: u64, number: u32) -> Generator {
        let source = Source::new(seed, number);
        let duration_ns = stage.duration_ns();
        match &stage.process {
            Process::Pause => Generator::Empty,
            Process::Poisson => Generator::Poisson(Poisson::new(source, stage.line(), duration_ns)),
            Process::Even { count } => {
                Generator::Even(Even::new(stage.line(), duration_ns, stage.phase, *count))
            }
            Process::Jittered => Generator::Jittered(Jittered::new(source, stage.line(), duration_ns)),
            Process::Gamma { cov } => {
                Generator::Renewal(Renewal::gamma(source, stage.line(), duration_ns, *cov))
            }
            Process::Weibull { cov } => {
                Generator::Renewal(Renewal::weibull(source, stage.line(), duration_ns, *cov))
            }
            Process::Mmpp(mmpp) => Generator::Switched(Switched::new(source, mmpp, duration_ns)),
            Process::Replay(replay) => Generator::Recorded(Recorded::new(replay, duration_ns)),
            Process::FixedCount { count, java_random } => {
                let layers = Layers::new(stage, *count);
                match java_random {
                    Some(state) => Generator::Listed(Listed::new(*state, layers, duration_ns)),
                    None => Generator::FixedCount(FixedCount::new(source, layers, duration_ns)),
                }
            }
        }
    }

    /// The next offset in nanoseconds; `None` at the end of the stage.
    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        match self {
            Generator::Empty => None,
            Generator::Poisson(generator) => generator.next_ns(),
            Generator::Even(generator) => generator.next_ns(),
            Generator::Jittered(generator) => generator.next_ns(),
            Generator::Renewal(generator) => generator.next_ns(),
            Generator::Switched(generator) => generator.next_ns(),
            Generator::Recorded(generator) => generator.next_ns(),
            Generator::FixedCount(generator) => generator.next_ns(),
            Generator::Listed(generator) => generator.next_ns(),
        }
    }
}
