//! Counts of events per second for many series, in bounded memory.

use serde::{Deserialize, Serialize};

/// The counts of one series. Intervals without an event are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountSeries {
    /// Start of each interval in seconds since the start of the run, ascending, and its count.
    pub counts: Vec<(u32, u32)>,
}

/// Counts of several series per interval.
///
/// A cell is the count of one series in one interval. An interval is a second at first. When there are too many cells, all
/// intervals become at least twice as long, so that memory is bounded for runs of any length. Seconds may arrive in any order.
#[derive(Debug, Clone)]
pub(crate) struct CountTable {
    /// Binary logarithm of the length of an interval in seconds.
    shift: u32,
    cells: usize,
    counts_max: usize,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    /// Intervals and their counts, in ascending order.
    sorted: Vec<(u32, u32)>,
    /// Intervals that arrived after a later one.
    late: Vec<u32>,
}

/// The late intervals of a row are sorted when there are more than this number, and more than a quarter of the number of the
/// others.
const LATE_MAX: usize = 64;

impl CountTable {
    /// Creates a table with at most this many cells, or four per series if that is more.
    pub(crate) fn new(counts_max: usize) -> CountTable {
        CountTable { shift: 0, cells: 0, counts_max, rows: Vec::new() }
    }

    /// Length of the intervals in seconds.
    pub(crate) fn interval_s(&self) -> u32 {
        1 << self.shift
    }

    /// Counts an event of a series in a second.
    pub(crate) fn add(&mut self, series: usize, second: u32) {
        if self.rows.len() <= series {
            self.rows.resize_with(series + 1, Row::default);
        }
        self.cells += self.rows[series].add(second >> self.shift);
        if self.cells > self.counts_max.max(4 * self.rows.len()) {
            self.shrink();
        }
    }

    /// The counts of a series.
    pub(crate) fn series(&self, series: usize) -> CountSeries {
        let Some(row) = self.rows.get(series) else { return CountSeries::default() };
        let mut row = row.clone();
        row.sort();
        CountSeries {
            counts: row.sorted.iter().map(|(interval, count)| (interval << self.shift, *count)).collect(),
        }
    }

    /// Lengthens the intervals until at most half of the allowed number of cells is used, so that the time for all events is
    /// linear.
    fn shrink(&mut self) {
        let limit = self.counts_max.max(4 * self.rows.len()) / 2;
        self.rows.iter_mut().for_each(Row::sort);
        self.cells = self.rows.iter().map(|row| row.sorted.len()).sum();
        while self.cells > limit && self.shift < 31 {
            self.shift += 1;
            self.rows.iter_mut().for_each(Row::halve);
            self.cells = self.rows.iter().map(|row| row.sorted.len()).sum();
        }
    }
}

impl Row {
    /// Counts an event; returns the number of new cells.
    fn add(&mut self, interval: u32) -> usize {
        match self.sorted.last_mut() {
            Some((last, count)) if *last == interval => {
                *count = count.saturating_add(1);
                0
            }
            Some((last, _)) if *last > interval => self.add_late(interval),
            _ => {
                self.sorted.push((interval, 1));
                1
            }
        }
    }

    fn add_late(&mut self, interval: u32) -> usize {
        // Most late events are in one of the last few intervals, because threads write slightly out of order.
        let recent = self.sorted.iter_mut().rev().take(4).find(|(at, _)| *at == interval);
        if let Some((_, count)) = recent {
            *count = count.saturating_add(1);
            return 0;
        }
        self.late.push(interval);
        if self.late.len() > LATE_MAX.max(self.sorted.len() / 4) {
            self.sort();
        }
        1
    }

    fn sort(&mut self) {
        if self.late.is_empty() {
            return;
        }
        self.sorted.extend(self.late.drain(..).map(|interval| (interval, 1)));
        self.sorted.sort_unstable_by_key(|(interval, _)| *interval);
        merge_equal(&mut self.sorted);
    }

    fn halve(&mut self) {
        self.sorted.iter_mut().for_each(|(interval, _)| *interval /= 2);
        merge_equal(&mut self.sorted);
    }
}

fn merge_equal(cells: &mut Vec<(u32, u32)>) {
    cells.dedup_by(|next, kept| {
        let is_equal = next.0 == kept.0;
        if is_equal {
            kept.1 = kept.1.saturating_add(next.1);
        }
        is_equal
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn memory_is_bounded_and_no_count_is_lost() {
        let mut table = CountTable::new(1_000);
        for second in 0..200_000 {
            table.add(second as usize % 7, second);
        }
        assert!(table.cells <= 1_000);
        assert!(table.interval_s() >= 256, "{}", table.interval_s());
        let total: u32 = (0..7).flat_map(|series| table.series(series).counts).map(|(_, count)| count).sum();
        assert_eq!(total, 200_000);
    }

    #[test]
    fn descending_seconds_are_counted_in_linear_time() {
        let mut table = CountTable::new(1 << 20);
        for second in (0..500_000).rev() {
            table.add(0, second);
        }
        let counts = table.series(0).counts;
        assert_eq!(counts.len(), 500_000);
        assert!(counts.windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn each_series_has_four_cells_whatever_the_limit() {
        let mut table = CountTable::new(10);
        for series in 0..100_000 {
            table.add(series, 5);
        }
        assert_eq!(table.interval_s(), 1);
        assert_eq!(table.series(99_999).counts, [(5, 1)]);
        assert_eq!(table.series(100_000).counts, []);
    }

    proptest::proptest! {
        #[test]
        fn counts_equal_those_of_a_map(events in proptest::collection::vec((0_usize..3, 0_u32..500), 0..400), limit in 20_usize..200) {
            let mut table = CountTable::new(limit);
            for (series, second) in &events {
                table.add(*series, *second);
            }
            for series in 0..3 {
                let mut expected = BTreeMap::new();
                for (_, second) in events.iter().filter(|(own, _)| *own == series) {
                    *expected.entry(second / table.interval_s() * table.interval_s()).or_insert(0_u32) += 1;
                }
                let expected: Vec<_> = expected.into_iter().collect();
                proptest::prop_assert_eq!(table.series(series).counts, expected);
            }
        }
    }
}
