//! Inter-arrival times by thread-group size, which show how the coefficient of variation approaches 1 with more threads.

use busyhour_sample::LogRow;
use serde::Serialize;

use super::counted::variance;
use super::pace::Pace;

/// Statistics of the gaps between the arrivals of all threads with numbers up to `threads`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadGroupRow {
    /// Maximum number of an included thread.
    pub threads: u32,
    /// Number of gaps.
    pub n: u64,
    /// Number of gaps per second.
    pub per_s: Option<f64>,
    /// Mean gap in ms.
    pub mean: Option<f64>,
    /// Standard deviation (divisor n − 1), in ms.
    pub sdev: Option<f64>,
    /// Coefficient of variation.
    pub cov: Option<f64>,
}

#[derive(Debug, Default)]
struct Group {
    pace: Pace,
    n: u64,
    /// Sum of the gaps in ticks.
    sum: u128,
    squares: u128,
}

/// The requested sizes, in ascending order.
#[derive(Debug)]
pub(super) struct ThreadGroups {
    groups: Vec<(u32, Group)>,
    unknown: u64,
}

impl ThreadGroups {
    pub(super) fn new(sizes: &[u32]) -> ThreadGroups {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        ThreadGroups { groups: sizes.into_iter().map(|size| (size, Group::default())).collect(), unknown: 0 }
    }

    #[inline]
    pub(super) fn add(&mut self, row: &LogRow, tick_ns: u64) {
        if self.groups.is_empty() {
            return;
        }
        let Some(thread) = row.thread else {
            self.unknown += 1;
            return;
        };
        let from = self.groups.partition_point(|(size, _)| *size < thread);
        for (_, group) in &mut self.groups[from..] {
            if let Some(gap_ns) = group.pace.next(row) {
                let gap = u128::from(gap_ns / tick_ns);
                group.n += 1;
                group.sum += gap;
                group.squares = group.squares.saturating_add(gap * gap);
            }
        }
    }

    pub(super) fn unknown(&self) -> u64 {
        self.unknown
    }

    pub(super) fn rows(&self, tick_ms: f64) -> Vec<ThreadGroupRow> {
        let row = |(threads, group): &(u32, Group)| {
            let mean = (group.n > 0).then(|| group.sum as f64 / group.n as f64 * tick_ms);
            let sdev = variance(group.n, group.sum, group.squares).map(|v| v.sqrt() * tick_ms);
            ThreadGroupRow {
                threads: *threads,
                n: group.n,
                per_s: group.pace.per_s(group.n),
                mean,
                sdev,
                cov: mean.filter(|mean| *mean > 0.0).and_then(|mean| Some(sdev? / mean)),
            }
        };
        self.groups.iter().map(row).collect()
    }
}
