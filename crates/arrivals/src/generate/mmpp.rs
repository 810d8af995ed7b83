//! Arrivals of a two-state Markov-modulated Poisson process.

use super::position::Position;
use crate::linear_rate::NS_PER_S;
use crate::random::Source;
use crate::stage::Mmpp;

/// Simulates the two states in turn, each for an exponential time with Poisson arrivals. The simulation is exact. If a
/// gap extends beyond the time in a state, a new gap is drawn in the next state, because exponential gaps are memoryless.
#[derive(Clone, Debug)]
pub(crate) struct Switched {
    source: Source,
    /// Mean gap in each state; infinite for a rate of 0.
    gap_ns: [f64; 2],
    sojourn_ns: [f64; 2],
    state: usize,
    position: Position,
    /// Remaining time in the current state.
    left_ns: f64,
    duration_ns: u64,
}

impl Switched {
    pub(crate) fn new(mut source: Source, mmpp: &Mmpp, duration_ns: u64) -> Switched {
        let sojourn_ns = mmpp.states.map(|state| state.sojourn_ns as f64);
        let gap_ns = mmpp.states.map(|state| NS_PER_S / state.rate.per_s());
        let first = sojourn_ns[0] / (sojourn_ns[0] + sojourn_ns[1]);
        let state = usize::from(source.uniform() >= first);
        let left_ns = sojourn_ns[state] * source.exponential();
        Switched { source, gap_ns, sojourn_ns, state, position: Position::default(), left_ns, duration_ns }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        loop {
            // A state without arrivals has an infinite mean gap, and 0 · ∞ would be NaN.
            let gap_ns = match self.gap_ns[self.state] {
                mean if mean.is_finite() => mean * self.source.exponential(),
                _ => f64::INFINITY,
            };
            if gap_ns < self.left_ns {
                self.left_ns -= gap_ns;
                self.position = self.position.step(gap_ns, self.duration_ns)?;
                return Some(self.position.whole_ns());
            }
            self.position = self.position.step(self.left_ns, self.duration_ns)?;
            self.state = 1 - self.state;
            self.left_ns = self.sojourn_ns[self.state] * self.source.exponential();
        }
    }
}
