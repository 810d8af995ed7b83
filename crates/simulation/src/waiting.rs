//! The customers that wait at a station, and their order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::Rng as _;

use crate::random::Stream;

/// The customers that wait at a station, in the order of its scheduling.
#[derive(Debug)]
pub(crate) enum Waiting {
    /// First come, first served.
    Fifo(VecDeque<u32>),
    /// Last come, first served.
    Lifo(Vec<u32>),
    /// Any of them, each with the same probability.
    Any(Vec<u32>, Stream),
    /// The one whose service takes least; of equals the first.
    Shortest(BinaryHeap<Reverse<(u64, u64, u32)>>, u64),
    /// First come, first served among those of the highest priority; the first level is the highest.
    Levels(Vec<VecDeque<u32>>),
}

impl Waiting {
    /// Adds a customer at the end; `service_s` is its service time, `level` its priority.
    #[inline]
    pub(crate) fn put(&mut self, customer: u32, service_s: f64, level: usize) {
        match self {
            Self::Fifo(line) => line.push_back(customer),
            Self::Lifo(stack) => stack.push(customer),
            Self::Any(all, _) => all.push(customer),
            Self::Shortest(heap, came) => {
                *came += 1;
                // The bits of a time have the order of the time.
                heap.push(Reverse((service_s.to_bits(), *came, customer)));
            }
            Self::Levels(levels) => levels[level].push_back(customer),
        }
    }

    /// Returns a preempted customer as the next one of its level.
    pub(crate) fn put_back(&mut self, customer: u32, level: usize) {
        match self {
            Self::Levels(levels) => levels[level].push_front(customer),
            Self::Fifo(line) => line.push_front(customer),
            Self::Lifo(stack) => stack.push(customer),
            // Nothing is interrupted at the others.
            Self::Any(..) | Self::Shortest(..) => self.put(customer, 0.0, level),
        }
    }

    /// Takes the next.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<u32> {
        match self {
            Self::Fifo(line) => line.pop_front(),
            Self::Lifo(stack) => stack.pop(),
            Self::Any(all, stream) => {
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

    fn all(mut waiting: Waiting) -> Vec<u32> {
        std::iter::from_fn(|| waiting.take()).collect()
    }

    #[test]
    fn each_order_is_kept() {
        let put = |mut waiting: Waiting| {
            for (customer, service_s, level) in [(1, 0.3, 1), (2, 0.1, 0), (3, 0.2, 1), (4, 0.1, 0)] {
                waiting.put(customer, service_s, level);
            }
            waiting
        };
        assert_eq!(all(put(Waiting::Fifo(VecDeque::new()))), [1, 2, 3, 4]);
        assert_eq!(all(put(Waiting::Lifo(Vec::new()))), [4, 3, 2, 1]);
        assert_eq!(all(put(Waiting::Shortest(BinaryHeap::new(), 0))), [2, 4, 3, 1]);
        let mut levels = put(Waiting::Levels(vec![VecDeque::new(), VecDeque::new()]));
        levels.put_back(9, 1);
        assert_eq!(all(levels), [2, 4, 9, 1, 3]);
        let mut any = all(put(Waiting::Any(Vec::new(), Stream::seed_from_u64(1))));
        any.sort_unstable();
        assert_eq!(any, [1, 2, 3, 4]);
    }

    #[test]
    fn a_random_choice_has_no_favourites() {
        let mut first = [0_u32; 3];
        let mut waiting = Waiting::Any(Vec::new(), Stream::seed_from_u64(2));
        for _ in 0..3_000 {
            for customer in 0..3 {
                waiting.put(customer, 0.0, 0);
            }
            first[waiting.take().unwrap() as usize] += 1;
            while waiting.take().is_some() {}
        }
        assert!(first.iter().all(|&count| (900..1_100).contains(&count)), "{first:?}");
    }
}
