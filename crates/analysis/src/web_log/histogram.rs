//! Histograms with the same cells as those of the web-generator-toolkit.

use serde::Serialize;

use super::counted::Counted;

/// If the cell width is chosen from the data, the histogram covers values up to about the mean times this factor.
const MEANS: f64 = 8.0;

/// Approximate number of cells if the cell width is chosen from the data.
const CELLS: f64 = 400.0;

/// Maximum number of cells; values above the last cell are counted together.
const CELLS_MAX: usize = 10_000;

/// Number of values per cell: cell number c contains (c−1)w < x ≤ cw, and cell 0 contains x = 0.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellHistogram {
    /// Width w of a cell in ms.
    pub cell_ms: f64,
    /// Number of values in each cell, from cell 0 to the last non-empty one.
    pub cells: Vec<u64>,
    /// Number of values above the last cell.
    pub beyond: u64,
}

impl CellHistogram {
    /// The histogram of `values`, which are in ticks of `tick_ms`, in cells of the given width; `None` without values.
    pub(super) fn of(values: &Counted, tick_ms: f64, cell_ms: Option<f64>) -> Option<CellHistogram> {
        let mean_ms = values.mean()? * tick_ms;
        let cell_ms = cell_ms.unwrap_or_else(|| round(mean_ms * MEANS / CELLS).max(tick_ms));
        let mut histogram = CellHistogram { cell_ms, cells: Vec::new(), beyond: 0 };
        for (value, count) in values.steps() {
            // A value on an edge belongs to the cell below, regardless of rounding errors.
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

/// Rounds down to 1, 2 or 5 times a power of ten.
fn round(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 0.0;
    }
    let decade = 10f64.powf(value.log10().floor());
    let factor = [5.0, 2.0].into_iter().find(|factor| factor * decade <= value * 1.000_001).unwrap_or(1.0);
    factor * decade
}
