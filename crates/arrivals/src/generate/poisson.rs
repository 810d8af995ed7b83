//! Poisson arrivals with a linear rate.

use super::position::Position;
use crate::linear_rate::LinearRate;
use crate::random::Source;

/// Between arrivals, Λ increases by independent exponential variates with mean 1. Each increase is converted to a time by
/// inverting Λ exactly, starting from the previous arrival (Çınlar, "Introduction to Stochastic Processes", 1975: time change
/// by Λ). Each stage starts independently. Because the exponential distribution is memoryless, the stages together are one
/// Poisson process with a piecewise linear rate.
#[derive(Clone, Debug)]
pub(crate) struct Poisson {
    source: Source,
    line: LinearRate,
    duration_ns: u64,
    position: Position,
}

impl Poisson {
    pub(crate) fn new(source: Source, line: LinearRate, duration_ns: u64) -> Poisson {
        Poisson { source, line, duration_ns, position: Position::default() }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        let step_ns = self.line.step(self.position.ns(), self.source.exponential());
        self.position = self.position.step(step_ns, self.duration_ns)?;
        Some(self.position.whole_ns())
    }
}
