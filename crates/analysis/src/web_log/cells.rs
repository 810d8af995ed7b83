//! Arrivals counted in cells of time of several widths: for a Poisson process the counts' variance is their mean at
//! every width.

use std::collections::BTreeMap;

use serde::Serialize;

/// Widths of the cells in ns.
const WIDTHS_NS: [i64; 6] =
    [1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000, 100_000_000_000];

/// With fewer cells, nothing is said of a width.
const CELLS_MIN: u64 = 10;

/// The counts of arrivals in whole cells of one width.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellCounts {
    /// Width of a cell in s.
    pub width_s: f64,
    /// How many whole cells there are.
    pub cells: u64,
    /// Mean count of a cell.
    pub mean: f64,
    /// Index of dispersion of counts: variance (with n−1) over mean; 1 for a Poisson process.
    pub dispersion: Option<f64>,
    /// Where that index lies for 95 % of Poisson processes: with ν = cells − 1 it is χ²(ν)/ν, whose quantiles follow
    /// Wilson and Hilferty, *The Distribution of Chi-Square*, PNAS 17 (1931).
    pub dispersion_of_poisson: (f64, f64),
    /// How many cells had which count, by count.
    pub frequencies: Vec<CountFrequency>,
}

/// How many cells had a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CountFrequency {
    /// Arrivals in a cell.
    pub count: u64,
    /// Cells.
    pub cells: u64,
}

/// Counting in cells of one width.
#[derive(Debug)]
struct Rung {
    width_ns: i64,
    /// Where the cell ends in which the last arrival was.
    edge_ns: i64,
    /// Arrivals in it.
    here: u64,
    /// Cells by their counts, the last one apart.
    frequencies: BTreeMap<u64, u64>,
}

impl Rung {
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

/// The quantile of χ²(ν)/ν where the normal distribution has `z`, from ν = 9 on to three digits.
fn chi_square_over(degrees: u64, z: f64) -> f64 {
    let part = 2.0 / (9.0 * degrees as f64);
    (1.0 - part + z * part.sqrt()).powi(3)
}

/// All widths. Cells begin where the window does, or with the first arrival.
#[derive(Debug, Default)]
pub(super) struct Ladder {
    rungs: Vec<Rung>,
}

impl Ladder {
    /// Lets the first cells begin at `from_ns`.
    pub(super) fn begin(&mut self, from_ns: i64) {
        let rung = |width_ns: i64| Rung {
            width_ns,
            edge_ns: from_ns.saturating_add(width_ns),
            here: 0,
            frequencies: BTreeMap::new(),
        };
        self.rungs = WIDTHS_NS.into_iter().map(rung).collect();
    }

    #[inline]
    pub(super) fn add(&mut self, start_ns: i64) {
        if self.rungs.is_empty() {
            self.begin(start_ns);
        }
        for rung in &mut self.rungs {
            if start_ns >= rung.edge_ns {
                rung.next_cell(start_ns);
            }
            rung.here += 1;
        }
    }

    /// The counts, the cell of the last arrival left out: nobody knows how it would have ended.
    pub(super) fn finish(self) -> Vec<CellCounts> {
        self.rungs.into_iter().filter_map(Rung::counts).collect()
    }
}
