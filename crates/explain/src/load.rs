//! Removes the part of the scores that follows the offered load and a slow drift.

use crate::sums::Sums;

/// Length of the intervals in which the load is measured, in ns.
const INTERVAL_NS: u64 = 1_000_000_000;

/// Intervals over which the recent load is averaged.
const RECENT: usize = 5;

/// Terms of the regression: constant, time, its square, load, its square, recent load.
const TERMS: usize = 6;

/// The mean score of the requests in each interval, as a regression predicts it.
pub(crate) struct Adjustment {
    per_interval: usize,
    predicted: Vec<f64>,
}

impl Adjustment {
    /// Fits the scores in intervals of one second by weighted least squares. Without `is_open`, only the drift is fitted.
    pub(crate) fn fit(slices: &[Sums], slice_ns: u64, is_open: bool) -> Adjustment {
        let per_interval = (INTERVAL_NS / slice_ns).max(1) as usize;
        let intervals: Vec<(f64, f64)> = slices
            .chunks(per_interval)
            .map(|chunk| {
                let full = per_interval as f64 / chunk.len() as f64;
                let requests: f64 = chunk.iter().map(|slice| slice.requests).sum();
                (requests * full, chunk.iter().map(|slice| slice.score).sum::<f64>() * full)
            })
            .collect();
        let rows = rows(&intervals, is_open);
        let terms = if is_open { TERMS } else { 3 };
        let coefficients = least_squares(&rows, &intervals, terms);
        let predicted = rows
            .iter()
            .map(|row| row.iter().zip(&coefficients).map(|(value, factor)| value * factor).sum())
            .collect();
        Adjustment { per_interval, predicted }
    }

    /// Subtracts the prediction from the scores.
    pub(crate) fn apply(&self, slices: &mut [Sums]) {
        for (chunk, predicted) in slices.chunks_mut(self.per_interval).zip(&self.predicted) {
            for slice in chunk {
                slice.score -= predicted * slice.requests;
            }
        }
    }
}

/// The regression's terms of each interval, scaled to values around 1.
fn rows(intervals: &[(f64, f64)], is_open: bool) -> Vec<[f64; TERMS]> {
    let count = intervals.len() as f64;
    let mean = intervals.iter().map(|(requests, _)| requests).sum::<f64>() / count;
    let mean = if mean > 0.0 { mean } else { 1.0 };
    (0..intervals.len())
        .map(|at| {
            let time = (at as f64 + 0.5) / count - 0.5;
            let load = if is_open { intervals[at].0 / mean - 1.0 } else { 0.0 };
            let before = &intervals[at.saturating_sub(RECENT)..at];
            let recent = match (is_open, before.len()) {
                (false, _) | (true, 0) => 0.0,
                (true, length) => {
                    before.iter().map(|(requests, _)| requests).sum::<f64>() / length as f64 / mean - 1.0
                }
            };
            [1.0, time, time * time, load, load * load, recent]
        })
        .collect()
}

/// The coefficients of the first `terms` terms for the mean score, weighted by requests; 0 for terms that do not vary.
fn least_squares(rows: &[[f64; TERMS]], intervals: &[(f64, f64)], terms: usize) -> [f64; TERMS] {
    let mut system = [[0.0; TERMS + 1]; TERMS];
    for (row, (requests, score)) in rows.iter().zip(intervals) {
        for i in 0..terms {
            for j in 0..terms {
                system[i][j] += requests * row[i] * row[j];
            }
            system[i][TERMS] += row[i] * score;
        }
    }
    solve(&mut system, terms)
}

/// Solves a symmetric system by Gaussian elimination with the largest pivot; coefficients without a pivot are 0.
fn solve(system: &mut [[f64; TERMS + 1]; TERMS], terms: usize) -> [f64; TERMS] {
    let scale = (0..terms).map(|i| system[i][i].abs()).fold(0.0, f64::max);
    let mut pivots: Vec<(usize, usize)> = Vec::new();
    let mut free: Vec<usize> = (0..terms).collect();
    for column in 0..terms {
        let Some(at) = (0..free.len())
            .max_by(|a, b| system[free[*a]][column].abs().total_cmp(&system[free[*b]][column].abs()))
        else {
            break;
        };
        let row = free[at];
        if system[row][column].abs() <= scale * 1e-9 {
            continue;
        }
        free.swap_remove(at);
        let pivot = system[row];
        for (_, other) in system.iter_mut().take(terms).enumerate().filter(|(at, _)| *at != row) {
            let factor = other[column] / pivot[column];
            for (value, by) in other.iter_mut().zip(pivot) {
                *value -= factor * by;
            }
        }
        pivots.push((row, column));
    }
    let mut coefficients = [0.0; TERMS];
    for (row, column) in pivots {
        coefficients[column] = system[row][TERMS] / system[row][column];
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_that_follow_the_load_become_zero() {
        let slices: Vec<Sums> = (0..120u32)
            .map(|second| {
                let requests = 100.0 + f64::from(second * 37 % 50);
                Sums { requests, score: requests * (0.02 * requests - 2.0), ..Sums::default() }
            })
            .collect();
        let mut adjusted = slices.clone();
        Adjustment::fit(&slices, 1_000_000_000, true).apply(&mut adjusted);
        assert!(adjusted.iter().all(|slice| slice.score.abs() < 1e-6), "{:?}", adjusted[0]);
        let mut kept = slices.clone();
        Adjustment::fit(&slices, 1_000_000_000, false).apply(&mut kept);
        assert!(kept.iter().any(|slice| slice.score.abs() > 1.0));
    }
}
