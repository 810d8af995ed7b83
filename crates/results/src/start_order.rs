//! Sorts the starts of samples while they are read, in bounded memory.
//!
//! Starts in whole milliseconds, as in a log, are counted by millisecond, so that starts within 70 minutes can be added in any
//! order. Other starts are held in a buffer. A sample can be sorted even if half a million others ended while it ran. If
//! more samples ended, its start is counted as out of order, and the verdict contains the number of such starts.

use std::collections::VecDeque;

use busyhour_analysis::arrivals::ArrivalTally;

/// Maximum number of starts that are held in memory; they take 8 MiB.
const HELD_MAX: usize = 1 << 20;

/// Number of new starts that are sorted at once. Most samples are short, so most starts are already near their final position.
/// Few starts at a time fit the fastest cache, and sorting the whole buffer later takes little time.
const FEW: usize = 512;

/// Number of preceding starts with which the new ones are merged at once. If new starts belong further back, they are sorted
/// when starts are passed on.
const NEAR: usize = 8 * FEW;

/// Maximum number of milliseconds for which starts are counted: 70 minutes, 16 MiB. If the held starts cover a longer time,
/// there are few in each millisecond, and sorting them is cheaper than counting them.
const COUNTED_MS_MAX: u64 = 1 << 22;

const MS_NS: u64 = 1_000_000;

/// Receives starts in the order of the samples' ends, and adds them to a tally in ascending order.
pub(crate) struct StartOrder {
    held: Held,
    held_max: usize,
    tally: ArrivalTally,
}

/// The starts that are held in memory.
enum Held {
    /// Starts in whole milliseconds that are close to each other, as in a log. They are counted and need no sorting.
    Counted(CountedStarts),
    Sorted(SortedStarts),
}

impl StartOrder {
    pub(crate) fn new(tally: ArrivalTally) -> StartOrder {
        StartOrder { held: Held::Counted(CountedStarts::default()), held_max: HELD_MAX, tally }
    }

    #[inline]
    pub(crate) fn add(&mut self, start_ns: u64) {
        if let Held::Counted(counted) = &mut self.held {
            if counted.add(start_ns) {
                return;
            }
            self.make_room(start_ns);
        }
        self.add_sorted(start_ns);
    }

    /// If many starts are counted, passes on the first half of them, because `start_ns` is too far from them to be counted.
    #[cold]
    fn make_room(&mut self, start_ns: u64) {
        if let Held::Counted(counted) = &mut self.held
            && start_ns.is_multiple_of(MS_NS)
            && counted.held >= self.held_max
        {
            counted.pass(counted.held / 2, &mut self.tally);
        }
    }

    fn add_sorted(&mut self, start_ns: u64) {
        match &mut self.held {
            Held::Counted(counted) => {
                if counted.add(start_ns) {
                    return;
                }
                counted.pass(counted.held.saturating_sub(self.held_max), &mut self.tally);
                let mut sorted = SortedStarts::of(counted);
                sorted.add(start_ns, self.held_max, &mut self.tally);
                self.held = Held::Sorted(sorted);
            }
            Held::Sorted(sorted) => sorted.add(start_ns, self.held_max, &mut self.tally),
        }
    }

    /// Passes on all starts and returns the tally.
    pub(crate) fn finish(mut self) -> ArrivalTally {
        match self.held {
            Held::Counted(mut counted) => counted.pass(counted.held, &mut self.tally),
            Held::Sorted(sorted) => sorted.pass_all(&mut self.tally),
        }
        self.tally
    }
}

/// Number of starts in each millisecond.
#[derive(Default)]
struct CountedStarts {
    first_ms: u64,
    /// The counts for consecutive milliseconds, from `first_ms` on.
    counts: VecDeque<u32>,
    held: usize,
}

impl CountedStarts {
    /// Adds a start. Returns false without adding it if it is not a whole millisecond or too far from the other starts.
    #[inline]
    fn add(&mut self, start_ns: u64) -> bool {
        let ms = start_ns / MS_NS;
        if ms * MS_NS != start_ns || !(self.holds(ms) || self.widen(ms)) {
            return false;
        }
        self.counts[(ms - self.first_ms) as usize] += 1;
        self.held += 1;
        true
    }

    #[inline]
    fn holds(&self, ms: u64) -> bool {
        ms.wrapping_sub(self.first_ms) < self.counts.len() as u64
    }

    #[cold]
    fn widen(&mut self, ms: u64) -> bool {
        if self.counts.is_empty() {
            self.first_ms = ms;
        }
        let first = self.first_ms.min(ms);
        let span = (self.first_ms + self.counts.len() as u64).max(ms + 1) - first;
        if span > COUNTED_MS_MAX {
            return false;
        }
        for _ in first..self.first_ms {
            self.counts.push_front(0);
        }
        self.first_ms = first;
        self.counts.resize(span as usize, 0);
        true
    }

    /// Passes the first `starts` starts on to `tally`.
    fn pass(&mut self, starts: usize, tally: &mut ArrivalTally) {
        let mut left = starts as u64;
        self.held -= starts;
        while left > 0 {
            let Some(count) = self.counts.front_mut() else { return };
            let passed = left.min(u64::from(*count));
            tally.add_many(self.first_ms * MS_NS, passed);
            left -= passed;
            *count -= passed as u32;
            if *count == 0 {
                self.counts.pop_front();
                self.first_ms += 1;
            }
        }
    }
}

/// Starts that are almost in order.
struct SortedStarts {
    held: Vec<u64>,
    /// Number of starts at the front of `held` that are in order, or consist of a few long ordered runs.
    settled: usize,
}

impl SortedStarts {
    fn of(counted: &CountedStarts) -> SortedStarts {
        let starts = (counted.first_ms..).zip(&counted.counts);
        let starts = starts.flat_map(|(ms, count)| std::iter::repeat_n(ms * MS_NS, *count as usize));
        let held: Vec<u64> = starts.collect();
        SortedStarts { settled: held.len(), held }
    }

    #[inline]
    fn add(&mut self, start_ns: u64, held_max: usize, tally: &mut ArrivalTally) {
        self.held.push(start_ns);
        if self.held.len() - self.settled >= FEW.min(held_max) {
            self.settle();
            if self.settled >= held_max {
                self.pass_half(tally);
            }
        }
    }

    fn settle(&mut self) {
        let (before, new) = self.held.split_at_mut(self.settled);
        new.sort_unstable();
        let near = &before[before.len().saturating_sub(NEAR)..];
        let overlap = near.len() - near.partition_point(|start_ns| *start_ns <= new[0]);
        if overlap < NEAR {
            // These are two ordered runs, which the stable sort merges.
            self.held[self.settled - overlap..].sort();
        }
        self.settled = self.held.len();
    }

    #[cold]
    fn pass_half(&mut self, tally: &mut ArrivalTally) {
        // The starts consist of one or a few ordered runs, which the stable sort detects.
        self.held.sort();
        let half = self.held.len() / 2;
        self.held.drain(..half).for_each(|start_ns| tally.add(start_ns));
        self.settled = self.held.len();
    }

    fn pass_all(mut self, tally: &mut ArrivalTally) {
        self.held.sort();
        self.held.iter().for_each(|start_ns| tally.add(*start_ns));
    }
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::arrivals::{Observed, TallySettings};
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn tally() -> ArrivalTally {
        ArrivalTally::new(TallySettings::default())
    }

    fn order() -> StartOrder {
        StartOrder { held_max: 100, ..StartOrder::new(tally()) }
    }

    fn observed(tally: &ArrivalTally) -> Observed {
        tally.finish(&mut Xoshiro256PlusPlus::seed_from_u64(1))
    }

    /// Asserts that adding `starts` in this order gives the same result as adding them in sorted order.
    fn assert_ordered(starts: impl Iterator<Item = u64>, counted: bool) {
        let (mut order, mut sorted) = (order(), tally());
        let mut all: Vec<u64> = starts.collect();
        all.iter().for_each(|start| order.add(*start));
        assert_eq!(matches!(order.held, Held::Counted(_)), counted);
        all.sort_unstable();
        all.iter().for_each(|start| sorted.add(*start));
        assert_eq!(observed(&order.finish()), observed(&sorted));
    }

    #[test]
    fn starts_are_passed_on_in_order() {
        // Each start is at most 40 places from its position.
        let starts = |at: u64| at * MS_NS + (at * 7_919 % 40) * MS_NS;
        assert_ordered((0..5_000).map(starts), true);
        assert_ordered((0..5_000).map(|at| starts(at) / 4 / MS_NS * MS_NS), true);
        assert_ordered((0..5_000).map(|at| starts(at) + at % 3), false);
        // Starts in whole milliseconds, followed by others: in the middle of a run, and after a pause.
        assert_ordered((0..5_000).map(|at| starts(at) + at / 2_000), false);
        let pause = |at: u64| if at < 2_000 { 0 } else { COUNTED_MS_MAX * MS_NS };
        assert_ordered((0..5_000).map(|at| starts(at) + pause(at)), false);
    }

    #[test]
    fn starts_in_whole_milliseconds_within_an_hour_may_be_in_any_order() {
        let start = |at: u64| (at * 2_654_435_761 % 20_011) * 180 * MS_NS;
        assert_ordered((0..20_000).map(start), true);
        // A longer series that is almost in order; half of the held starts are passed on at intervals.
        let start = |at: u64| (at + at * 7_919 % 40) * 700 * MS_NS;
        assert_ordered((0..20_000).map(start), true);
    }

    #[test]
    fn a_start_that_is_too_far_out_of_order_is_reported() {
        for (ns, late) in [(0, 0), (1, 1)] {
            let mut order = order();
            (100..1_000).for_each(|at| order.add(at * MS_NS + ns));
            order.add(7 * MS_NS);
            (1_000..2_000).for_each(|at| order.add(at * MS_NS + ns));
            let observed = observed(&order.finish());
            assert_eq!((observed.disordered, observed.arrivals), (late, 1_901));
        }
    }
}
