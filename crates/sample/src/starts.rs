//! How many requests started in each second.

use std::collections::VecDeque;

/// Maximum number of seconds that are counted (48 days). The limit keeps an implausible time from requiring much memory.
const SECONDS_MAX: u64 = 1 << 22;

/// Counts for consecutive seconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecondCounts {
    /// Number of the first counted second.
    pub first: u64,
    /// The counts, one for each second from `first` on.
    pub counts: VecDeque<u64>,
}

impl SecondCounts {
    /// The count of second `number`.
    #[must_use]
    pub fn of(&self, number: u64) -> u64 {
        let at = number.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }

    /// Adds `count` to the second `number`; returns false if it is too far from the others.
    #[inline]
    pub(crate) fn add(&mut self, number: u64, count: u64) -> bool {
        let at = number.wrapping_sub(self.first) as usize;
        if let Some(known) = self.counts.get_mut(at) {
            *known += count;
            return true;
        }
        self.widen(number) && self.add(number, count)
    }

    #[cold]
    fn widen(&mut self, number: u64) -> bool {
        if self.counts.is_empty() {
            self.first = number;
        }
        let last = self.first + self.counts.len() as u64;
        if number.max(last) - number.min(self.first) >= SECONDS_MAX {
            return false;
        }
        while number < self.first {
            self.counts.push_front(0);
            self.first -= 1;
        }
        while number >= self.first + self.counts.len() as u64 {
            self.counts.push_back(0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_counted_in_any_order() {
        let mut counts = SecondCounts::default();
        for number in [7, 9, 9, 5, u64::MAX] {
            counts.add(number, 1);
        }
        assert_eq!((counts.first, Vec::from(counts.counts)), (5, vec![1, 0, 1, 0, 2]));
    }
}
