//! Puts the starts of samples into their order while they are read, in bounded memory.
//!
//! Results stand in the order in which samples ended. So many starts are held back that a sample finds its place although
//! half a million others ended while it was under way. One that does not is counted where it stands, and the verdict says
//! how many there were.

use busyhour_analysis::arrivals::ArrivalTally;

/// Most starts that are held back: 8 MiB.
const HELD_MAX: usize = 1 << 20;

/// Starts that are put into order together as they come. Most samples are short, so most starts are near their place
/// already: sorting few at a time, which stay in the nearest cache, leaves hardly anything to do for the whole.
const FEW: usize = 512;

/// Starts before them that they are merged with at once; where they reach back further, that is left to the passing on.
const NEAR: usize = 8 * FEW;

/// Takes starts in the order of ends, and hands them on in their own.
pub(crate) struct StartOrder {
    held: Vec<u64>,
    held_max: usize,
    /// How many of those held are in order, or in a few long runs that are.
    settled: usize,
    tally: ArrivalTally,
}

impl StartOrder {
    pub(crate) fn new(tally: ArrivalTally) -> StartOrder {
        StartOrder { held: Vec::new(), held_max: HELD_MAX, settled: 0, tally }
    }

    #[inline]
    pub(crate) fn add(&mut self, start_ns: u64) {
        self.held.push(start_ns);
        if self.held.len() - self.settled >= FEW.min(self.held_max) {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let (before, new) = self.held.split_at_mut(self.settled);
        new.sort_unstable();
        let near = &before[before.len().saturating_sub(NEAR)..];
        let overlap = near.len() - near.partition_point(|start_ns| *start_ns <= new[0]);
        if overlap < NEAR {
            // Two runs, which this kind of sort merges.
            self.held[self.settled - overlap..].sort();
        }
        self.settled = self.held.len();
        if self.settled >= self.held_max {
            self.pass_half();
        }
    }

    #[cold]
    fn pass_half(&mut self) {
        // It is one run, or few: sorting finds that.
        self.held.sort();
        let half = self.held.len() / 2;
        self.held.drain(..half).for_each(|start_ns| self.tally.add(start_ns));
        self.settled = self.held.len();
    }

    /// The tally of all starts.
    pub(crate) fn finish(mut self) -> ArrivalTally {
        self.held.sort();
        self.held.iter().for_each(|start_ns| self.tally.add(*start_ns));
        self.tally
    }
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::arrivals::TallySettings;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn starts_come_in_their_order() {
        let tally = || ArrivalTally::new(TallySettings::default());
        let mut order = StartOrder { held_max: 100, ..StartOrder::new(tally()) };
        let mut sorted = tally();
        // Each one may stand up to 40 places from where it belongs.
        let starts = |at: u64| at * 1_000_000 + (at * 7_919 % 40) * 1_000_000;
        let mut all: Vec<u64> = (0..5_000).map(starts).collect();
        all.iter().for_each(|start| order.add(*start));
        all.sort_unstable();
        all.iter().for_each(|start| sorted.add(*start));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut again = random.clone();
        assert_eq!(order.finish().finish(&mut random), sorted.finish(&mut again));
    }
}
