//! Histograms in the toolkit's cells.

use serde::Serialize;

use super::counted::Counted;

/// Cells of a histogram whose width the data chose reach up to the mean times this.
const MEANS: f64 = 8.0;

/// So many cells there are then, about.
const CELLS: f64 = 400.0;

/// Most cells; what lies beyond is counted together.
const CELLS_MAX: usize = 10_000;

/// How many values lie in which cell: cell number c holds (c−1)w < x ≤ cw, and cell 0 holds x = 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellHistogram {
    /// Width w of a cell in ms.
    pub cell_ms: f64,
    /// Values in each cell, from cell 0 to the last one that holds any.
    pub cells: Vec<u64>,
    /// Values beyond the last cell.
    pub beyond: u64,
}

impl CellHistogram {
    /// Of `values` in ticks of `tick_ms`, in cells of the width asked for; `None` without values.
    pub(super) fn of(values: &Counted, tick_ms: f64, cell_ms: Option<f64>) -> Option<CellHistogram> {
        let mean_ms = values.mean()? * tick_ms;
        let cell_ms = cell_ms.unwrap_or_else(|| round(mean_ms * MEANS / CELLS).max(tick_ms));
        let mut histogram = CellHistogram { cell_ms, cells: Vec::new(), beyond: 0 };
        for (value, count) in values.steps() {
            // A value on an edge belongs to the cell below, in spite of what floats do.
            let at = (value as f64 * tick_ms / cell_ms * (1.0 - 1e-12)).ceil() as usize;
            if at >= CELLS_MAX {
                histogram.beyond += count;
                continue;
            }
            if histogram.cells.len() <= at {
                histogram.cells.resize(at + 1, 0);
            }
            histogram.cells[at] += count;
        }
        Some(histogram)
    }
}

/// The nearest of 1, 2, 5 times a power of ten, from below.
fn round(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let decade = 10f64.powf(value.log10().floor());
    let factor = [5.0, 2.0].into_iter().find(|factor| factor * decade <= value * 1.000_001).unwrap_or(1.0);
    factor * decade
}
