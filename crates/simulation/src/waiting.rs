//! Waiting lines of stations, by queueing discipline.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::Rng as _;

use crate::random::Stream;

/// The customers that wait at a station, ordered by its queueing discipline.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// First come, first served.
    Fifo(VecDeque<u32>),
    /// Last come, first served.
    Lifo(Vec<u32>),
    /// Random order, with the random stream of the choices.
    Random(Vec<u32>, Stream),
    /// Shortest service time first; equal service times in order of arrival. A key consists of service time, arrival number and
    /// customer. The second field is the number of arrivals.
    Shortest(BinaryHeap<Reverse<(u64, u64, u32)>>, u64),
    /// Highest priority first, in order of arrival within a priority. The first level is the highest priority.
    Levels(Vec<VecDeque<u32>>),
}

impl Waiting {
    /// Adds an arriving customer with service time `service_s` and priority level `level`.
    #[inline]
    pub(crate) fn add(&mut self, customer: u32, service_s: f64, level: usize) {
        match self {
            Self::Fifo(line) => line.push_back(customer),
            Self::Lifo(stack) => stack.push(customer),
            Self::Random(all, _) => all.push(customer),
            Self::Shortest(heap, arrivals) => {
                *arrivals += 1;
                // The bits of a non-negative time have the same order as the time.
                heap.push(Reverse((service_s.to_bits(), *arrivals, customer)));
            }
            Self::Levels(levels) => levels[level].push_back(customer),
        }
    }

    /// Returns a preempted customer to the front of its level.
    pub(crate) fn put_back(&mut self, customer: u32, level: usize) {
        match self {
            Self::Levels(levels) => levels[level].push_front(customer),
            Self::Fifo(line) => line.push_front(customer),
            Self::Lifo(stack) => stack.push(customer),
            // The other disciplines do not preempt customers, so this is not reached.
            Self::Random(..) | Self::Shortest(..) => self.add(customer, 0.0, level),
        }
    }

    /// Removes and returns the next customer.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<u32> {
        match self {
            Self::Fifo(line) => line.pop_front(),
            Self::Lifo(stack) => stack.pop(),
            Self::Random(all, stream) => {
                (!all.is_empty()).then(|| all.swap_remove(stream.random_range(0..all.len())))
            }
            Self::Shortest(heap, _) => heap.pop().map(|Reverse((_, _, customer))| customer),
            Self::Levels(levels) => levels.iter_mut().find_map(VecDeque::pop_front),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    fn drain(mut waiting: Waiting) -> Vec<u32> {
        std::iter::from_fn(|| waiting.next()).collect()
    }

    #[test]
    fn customers_are_served_in_the_order_of_the_discipline() {
        let fill = |mut waiting: Waiting| {
            for (customer, service_s, level) in [(1, 0.3, 1), (2, 0.1, 0), (3, 0.2, 1), (4, 0.1, 0)] {
                waiting.add(customer, service_s, level);
            }
            waiting
        };
        assert_eq!(drain(fill(Waiting::Fifo(VecDeque::new()))), [1, 2, 3, 4]);
        assert_eq!(drain(fill(Waiting::Lifo(Vec::new()))), [4, 3, 2, 1]);
        assert_eq!(drain(fill(Waiting::Shortest(BinaryHeap::new(), 0))), [2, 4, 3, 1]);
        let mut levels = fill(Waiting::Levels(vec![VecDeque::new(), VecDeque::new()]));
        levels.put_back(9, 1);
        assert_eq!(drain(levels), [2, 4, 9, 1, 3]);
        let mut random = drain(fill(Waiting::Random(Vec::new(), Stream::seed_from_u64(1))));
        random.sort_unstable();
        assert_eq!(random, [1, 2, 3, 4]);
    }

    #[test]
    fn random_order_is_uniform() {
        let mut first = [0_u32; 3];
        let mut waiting = Waiting::Random(Vec::new(), Stream::seed_from_u64(2));
        for _ in 0..3_000 {
            for customer in 0..3 {
                waiting.add(customer, 0.0, 0);
            }
            first[waiting.next().unwrap() as usize] += 1;
            while waiting.next().is_some() {}
        }
        assert!(first.iter().all(|&count| (900..1_100).contains(&count)), "{first:?}");
    }
}
