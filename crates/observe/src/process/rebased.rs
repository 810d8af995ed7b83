//! Sums over processes and threads that come and go.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// A sum over processes. When a process ends, the kernel adds its figures to those of the parent that waits for it. If no parent
/// waits, they disappear from the sum. The total then continues from its last value, so that it never decreases.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RebasedTotal {
    pub(super) lost: f64,
    pub(super) last: f64,
}

impl RebasedTotal {
    /// The total for the current sum.
    pub(super) fn next(&mut self, sum: f64) -> f64 {
        self.lost = self.lost.max(self.last - sum);
        self.last = self.last.max(sum + self.lost);
        self.last
    }
}

/// A sum over the counters of threads. The counter of a thread disappears with the thread, so only increases are added up.
#[derive(Clone, Debug)]
pub(super) struct IncreaseSum<K, const N: usize> {
    last: FxHashMap<K, ([u64; N], u64)>,
    totals: [u64; N],
    round: u64,
}

impl<K, const N: usize> Default for IncreaseSum<K, N> {
    fn default() -> IncreaseSum<K, N> {
        IncreaseSum { last: FxHashMap::default(), totals: [0; N], round: 0 }
    }
}

impl<K: Eq + Hash, const N: usize> IncreaseSum<K, N> {
    /// Adds the increase of a thread since the previous round, or its whole values if it is new or its ID is reused.
    pub(super) fn add(&mut self, key: K, values: [u64; N]) {
        let previous = self.last.insert(key, (values, self.round));
        let previous = previous.map_or([0; N], |(previous, _)| previous);
        let is_reused = values.iter().zip(&previous).any(|(value, previous)| value < previous);
        let previous = if is_reused { [0; N] } else { previous };
        for (total, (value, previous)) in self.totals.iter_mut().zip(values.iter().zip(&previous)) {
            *total = total.saturating_add(value - previous);
        }
    }

    /// Ends a round: removes threads that were not added in it. Returns the totals so far.
    pub(super) fn end_round(&mut self) -> [u64; N] {
        let round = self.round;
        self.last.retain(|_, (_, added)| *added == round);
        self.round += 1;
        self.totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_never_decrease_and_continue_to_count() {
        let mut total = RebasedTotal::default();
        assert_eq!(total.next(10.0), 10.0);
        assert_eq!(total.next(15.0), 15.0);
        assert_eq!(total.next(5.0), 15.0, "a process with 10 disappeared");
        assert_eq!(total.next(7.0), 17.0);
        assert_eq!(total.next(7.0), 17.0);
    }

    #[test]
    fn increases_of_threads_add_up() {
        let mut sum = IncreaseSum::<u32, 1>::default();
        sum.add(1, [10]);
        sum.add(2, [20]);
        assert_eq!(sum.end_round(), [30]);
        sum.add(1, [15]);
        assert_eq!(sum.end_round(), [35], "thread 2 ended");
        sum.add(1, [15]);
        sum.add(2, [1]);
        assert_eq!(sum.end_round(), [36], "ID 2 is reused");
        sum.add(1, [3]);
        assert_eq!(sum.end_round(), [39], "ID 1 was reused between rounds");
        assert_eq!(sum.last.len(), 1);
    }
}
