//! Counts of arrivals in time cells of several widths. For a Poisson process the variance of the counts equals their mean at every
//! width.

use std::collections::BTreeMap;

use serde::Serialize;

/// Widths of the cells in ns.
const WIDTHS_NS: [i64; 6] =
    [1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000];

/// Minimum number of cells for reporting a width.
const CELLS_MIN: u64 = 10;

/// Statistics of the counts of arrivals in complete cells of one width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellCounts {
    /// Width of a cell in s.
    pub width_s: f64,
    /// Number of complete cells.
    pub cells: u64,
    /// Mean count of a cell.
    pub mean: f64,
    /// Index of dispersion of counts: variance (divisor n − 1) divided by mean; 1 for a Poisson process.
    pub dispersion: Option<f64>,
    /// Range of that index for 95 % of Poisson processes. With ν = cells − 1 its distribution is χ²(ν)/ν, whose quantiles are
    /// approximated by Wilson and Hilferty, *The Distribution of Chi-Square*, PNAS 17 (1931).
    pub dispersion_of_poisson: (f64, f64),
    /// Number of cells by count.
    pub frequencies: Vec<CountFrequency>,
}

/// Number of cells with a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CountFrequency {
    /// Number of arrivals in a cell.
    pub count: u64,
    /// Number of cells with that many arrivals.
    pub cells: u64,
}

/// Counter for cells of one width.
#[derive(Debug)]
struct CellCounter {
    width_ns: i64,
    /// End of the cell with the last arrival.
    edge_ns: i64,
    /// Number of arrivals in that cell.
    here: u64,
    /// For each count, the number of cells with this count; without the cell of the last arrival.
    frequencies: BTreeMap<u64, u64>,
}

impl CellCounter {
    #[cold]
    fn next_cell(&mut self, start_ns: i64) {
        let passed = start_ns.saturating_sub(self.edge_ns).max(0) / self.width_ns;
        *self.frequencies.entry(self.here).or_insert(0) += 1;
        if passed > 0 {
            *self.frequencies.entry(0).or_insert(0) += passed as u64;
        }
        self.edge_ns = self.edge_ns.saturating_add((passed + 1).saturating_mul(self.width_ns));
        self.here = 0;
    }

    fn counts(self) -> Option<CellCounts> {
        let cells: u64 = self.frequencies.values().sum();
        if cells < CELLS_MIN {
            return None;
        }
        let sum = |power: i32| -> f64 {
            self.frequencies.iter().map(|(count, cells)| (*count as f64).powi(power) * *cells as f64).sum()
        };
        let mean = sum(1) / cells as f64;
        let variance = (sum(2) - mean * sum(1)).max(0.0) / (cells - 1) as f64;
        let frequencies =
            self.frequencies.iter().map(|(count, cells)| CountFrequency { count: *count, cells: *cells });
        Some(CellCounts {
            width_s: self.width_ns as f64 / 1e9,
            cells,
            mean,
            dispersion: (mean > 0.0).then(|| variance / mean),
            dispersion_of_poisson: (chi_square_over(cells - 1, -NORMAL), chi_square_over(cells - 1, NORMAL)),
            frequencies: frequencies.collect(),
        })
    }
}

/// 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;

/// The quantile of χ²(ν)/ν that corresponds to the quantile `z` of the normal distribution; accurate to three digits for ν ≥ 9.
fn chi_square_over(degrees: u64, z: f64) -> f64 {
    let part = 2.0 / (9.0 * degrees as f64);
    (1.0 - part + z * part.sqrt()).powi(3)
}

/// Counters for all widths. The first cells begin at the start of the window, or at the first arrival.
#[derive(Debug, Default)]
pub(super) struct CellCounters {
    counters: Vec<CellCounter>,
}

impl CellCounters {
    /// Starts the first cells at `from_ns`.
    pub(super) fn begin(&mut self, from_ns: i64) {
        let counter = |width_ns: i64| CellCounter {
            width_ns,
            edge_ns: from_ns.saturating_add(width_ns),
            here: 0,
            frequencies: BTreeMap::new(),
        };
        self.counters = WIDTHS_NS.into_iter().map(counter).collect();
    }

    #[inline]
    pub(super) fn add(&mut self, start_ns: i64) {
        if self.counters.is_empty() {
            self.begin(start_ns);
        }
        for counter in &mut self.counters {
            if start_ns >= counter.edge_ns {
                counter.next_cell(start_ns);
            }
            counter.here += 1;
        }
    }

    /// The statistics, without the incomplete cell of the last arrival.
    pub(super) fn finish(self) -> Vec<CellCounts> {
        self.counters.into_iter().filter_map(CellCounter::counts).collect()
    }
}
