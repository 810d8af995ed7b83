//! Puts the starts of samples into their order while they are read, in bounded memory.
//!
//! Results stand in the order in which samples ended. So many starts are held back that a sample finds its place although
//! half a million others ended while it was under way. One that does not is counted where it stands, and the verdict says
//! how many there were.

use busyhour_analysis::arrivals::ArrivalTally;

/// Most starts that are held back: 8 MiB.
const HELD_MAX: usize = 1 << 20;

/// Takes starts in the order of ends, and hands them on in their own.
pub(crate) struct StartOrder {
    held: Vec<u64>,
    held_max: usize,
    tally: ArrivalTally,
}

impl StartOrder {
    pub(crate) fn new(tally: ArrivalTally) -> StartOrder {
        StartOrder { held: Vec::new(), held_max: HELD_MAX, tally }
    }

    #[inline]
    pub(crate) fn add(&mut self, start_ns: u64) {
        self.held.push(start_ns);
        if self.held.len() >= self.held_max {
            self.pass_half();
        }
    }

    #[cold]
    fn pass_half(&mut self) {
        // The half that was kept is in order: sorting finds that.
        self.held.sort();
        let half = self.held.len() / 2;
        self.held.drain(..half).for_each(|start_ns| self.tally.add(start_ns));
    }

    /// The tally of all starts.
    pub(crate) fn finish(mut self) -> ArrivalTally {
        self.held.sort_unstable();
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
