//! Matches points in time with intervals of the same key.
//!
//! A request and a line can belong together if the stamp of the line is between the start and the end of the request. The
//! matching with the most pairs takes, for each point in order of time, the open interval that ends first (F. Glover, "Maximum
//! matching in a convex bipartite graph", Naval Research Logistics Quarterly 14, 1967).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The time from the start to the end of a request, by the clock of the generator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Interval {
    pub(crate) key: u64,
    pub(crate) from_ns: i64,
    pub(crate) to_ns: i64,
    pub(crate) index: u32,
}

/// An instant of a request, by the clock of the server: from `ns` to `ns + tick_ns`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    pub(crate) key: u64,
    pub(crate) ns: i64,
    pub(crate) tick_ns: i64,
    pub(crate) index: u32,
}

/// Intervals and points, each sorted by key and time.
#[derive(Debug, Default)]
pub(crate) struct Grouped {
    intervals: Vec<Interval>,
    points: Vec<Point>,
}

/// A pair that was found.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found {
    pub(crate) interval: u32,
    pub(crate) point: u32,
    pub(crate) is_certain: bool,
}

impl Grouped {
    pub(crate) fn new(mut intervals: Vec<Interval>, mut points: Vec<Point>) -> Grouped {
        intervals.sort_unstable_by_key(|interval| (interval.key, interval.from_ns, interval.index));
        points.sort_unstable_by_key(|point| (point.key, point.ns, point.index));
        Grouped { intervals, points }
    }

    /// Number of intervals.
    pub(crate) fn intervals(&self) -> usize {
        self.intervals.len()
    }

    /// The number of pairs in the largest matching, if the clock of the server is ahead by `offset_ns`.
    pub(crate) fn count(&self, offset_ns: i64) -> usize {
        let mut count = 0;
        self.each(&|_| offset_ns, 0, &mut |_, _, _, _| count += 1);
        count
    }

    /// The pairs of the largest matching. `offset_ns` is the offset of the server's clock at a time of the generator's clock;
    /// intervals are extended by `slack_ns` on both sides.
    pub(crate) fn pairs(&self, offset_ns: &dyn Fn(i64) -> i64, slack_ns: i64) -> Vec<Found> {
        let mut found = Vec::new();
        self.each(offset_ns, slack_ns, &mut |interval, point, is_only_interval, group| {
            let shift = offset_ns(interval.from_ns);
            let from_ns = interval.from_ns.saturating_add(shift).saturating_sub(slack_ns);
            let to_ns = interval.to_ns.saturating_add(shift).saturating_add(slack_ns);
            let before = group.partition_point(|point| point.ns.saturating_add(point.tick_ns) < from_ns);
            let until = group.partition_point(|point| point.ns <= to_ns);
            let is_certain = is_only_interval && until.saturating_sub(before) == 1;
            found.push(Found { interval: interval.index, point: point.index, is_certain });
        });
        found
    }

    fn each(
        &self,
        offset_ns: &dyn Fn(i64) -> i64,
        slack_ns: i64,
        see: &mut dyn FnMut(&Interval, &Point, bool, &[Point]),
    ) {
        let mut points = self.points.as_slice();
        let mut open: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
        let mut at = 0;
        while at < self.intervals.len() {
            let key = self.intervals[at].key;
            let skipped = points.partition_point(|point| point.key < key);
            points = &points[skipped..];
            let group = &points[..points.partition_point(|point| point.key == key)];
            let end = at + self.intervals[at..].partition_point(|interval| interval.key == key);
            open.clear();
            for point in group {
                while at < end {
                    let interval = &self.intervals[at];
                    let shift = offset_ns(interval.from_ns);
                    let from_ns = interval.from_ns.saturating_add(shift).saturating_sub(slack_ns);
                    if from_ns > point.ns.saturating_add(point.tick_ns) {
                        break;
                    }
                    let to_ns = interval.to_ns.saturating_add(shift).saturating_add(slack_ns);
                    open.push(Reverse((to_ns, at)));
                    at += 1;
                }
                while open.peek().is_some_and(|Reverse((to_ns, _))| *to_ns < point.ns) {
                    open.pop();
                }
                let is_only = open.len() == 1;
                if let Some(Reverse((_, matched))) = open.pop() {
                    see(&self.intervals[matched], point, is_only, group);
                }
            }
            at = end;
            points = &points[group.len()..];
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grouped(intervals: &[(i64, i64)], points: &[i64]) -> Grouped {
        let interval = |(index, &(from_ns, to_ns)): (usize, &(i64, i64))| Interval {
            key: 1,
            from_ns,
            to_ns,
            index: index as u32,
        };
        let point = |(index, &ns): (usize, &i64)| Point { key: 1, ns, tick_ns: 0, index: index as u32 };
        Grouped::new(
            intervals.iter().enumerate().map(interval).collect(),
            points.iter().enumerate().map(point).collect(),
        )
    }

    /// The largest matching by augmenting paths.
    fn largest(intervals: &[(i64, i64)], points: &[i64]) -> usize {
        fn augment(
            point: usize,
            points: &[i64],
            intervals: &[(i64, i64)],
            seen: &mut [bool],
            owner: &mut [Option<usize>],
        ) -> bool {
            for (at, (from, to)) in intervals.iter().enumerate() {
                if (*from..=*to).contains(&points[point]) && !seen[at] {
                    seen[at] = true;
                    if owner[at].is_none_or(|other| augment(other, points, intervals, seen, owner)) {
                        owner[at] = Some(point);
                        return true;
                    }
                }
            }
            false
        }
        let mut owner = vec![None; intervals.len()];
        let found =
            |point: &usize| augment(*point, points, intervals, &mut vec![false; intervals.len()], &mut owner);
        (0..points.len()).filter(found).count()
    }

    proptest! {
        #[test]
        fn no_matching_is_larger(
            intervals in proptest::collection::vec((0_i64..60, 0_i64..20), 0..14),
            points in proptest::collection::vec(0_i64..80, 0..14),
        ) {
            let intervals: Vec<(i64, i64)> = intervals.iter().map(|(from, length)| (*from, from + length)).collect();
            prop_assert_eq!(grouped(&intervals, &points).count(0), largest(&intervals, &points));
        }
    }

    #[test]
    fn pairs_without_alternative_are_certain() {
        let pairs = grouped(&[(0, 10), (20, 30), (25, 40)], &[1_005, 1_022, 1_027]).pairs(&|_| 1_000, 0);
        let certain: Vec<bool> = pairs.iter().map(|pair| pair.is_certain).collect();
        // The second could have the line of the third.
        assert_eq!(certain, [true, false, true]);
    }

    #[test]
    fn keys_are_matched_separately() {
        let interval = Interval { key: 2, from_ns: 0, to_ns: 10, index: 0 };
        let point = |key, index| Point { key, ns: 5, tick_ns: 0, index };
        let grouped = Grouped::new(vec![interval], vec![point(1, 0), point(3, 1), point(2, 2)]);
        assert_eq!(grouped.pairs(&|_| 0, 0).iter().map(|pair| pair.point).collect::<Vec<_>>(), [2]);
    }
}
