//! Estimates how often other times would fit the harm as well as the times of a suspect.
//!
//! Two comparisons are made, and the smaller chance counts. The first one compares the window with the CPU time of all
//! candidates at other times of the history; it recognizes a change that happens once. The second one compares each
//! burst of the suspect with the times before and after it; it recognizes a suspect that is active repeatedly.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::association::{Association, Window};
use crate::candidates::Candidate;
use crate::history::History;

/// Maximum number of time shifts that are compared.
const SHIFTS_MAX: usize = 600;

/// Minimum number of bursts, which are times in which a suspect is active.
const BURSTS_MIN: usize = 5;

/// The chance of a coincidence if it is at most `limit`; `compared` is the number of candidates.
pub(crate) fn chance(
    history: &History,
    window: &Window,
    (suspect, association): (&Candidate, &Association),
    compared: usize,
    limit: f64,
) -> Option<f64> {
    let by_bursts = bursts(window, suspect, association.active).map_or(1.0, |p| p * compared as f64);
    if by_bursts <= limit {
        return Some(by_bursts);
    }
    shifts(history, window, association.correlation, limit)
}

/// The share of time shifts for which the correlation of some candidate with the harm is at least as large; `None` if
/// it exceeds `limit`.
fn shifts(history: &History, window: &Window, correlation: f64, limit: f64) -> Option<f64> {
    let count = history.len();
    let lags = (1..count).step_by(count.div_ceil(SHIFTS_MAX));
    let compared = 1.0 + lags.len() as f64;
    let mut as_large = 1.0;
    for lag in lags {
        let candidates = &history.candidates.all;
        if candidates.iter().any(|one| window.moved_correlation(one, lag, count) >= correlation) {
            as_large += 1.0;
        }
        if as_large > limit * compared {
            return None;
        }
    }
    Some(as_large / compared)
}

/// The probability of a difference between active and inactive times that is at least as large, over the bursts of a suspect; `None` if
/// there are too few.
fn bursts(window: &Window, suspect: &Candidate, active: f64) -> Option<f64> {
    let is_active: Vec<bool> = window.at.iter().map(|at| suspect.cores(*at) >= active).collect();
    let parts: Vec<(bool, f64)> = is_active
        .chunk_by(|a, b| a == b)
        .scan(0, |from, part| {
            let scores = &window.target[*from..*from + part.len()];
            *from += part.len();
            Some((part[0], scores.iter().sum::<f64>() / scores.len() as f64))
        })
        .collect();
    let differences: Vec<f64> = (0..parts.len())
        .filter(|at| parts[*at].0)
        .filter_map(|at| {
            let before = at.checked_sub(1).map(|before| parts[before].1);
            let after = parts.get(at + 1).map(|after| after.1);
            let around = match (before, after) {
                (Some(before), Some(after)) => f64::midpoint(before, after),
                (one, other) => one.or(other)?,
            };
            Some(parts[at].1 - around)
        })
        .collect();
    let count = differences.len() as f64;
    if differences.len() < BURSTS_MIN {
        return None;
    }
    let mean = differences.iter().sum::<f64>() / count;
    let variance = differences.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let statistic = mean / (variance / count).sqrt().max(f64::MIN_POSITIVE);
    // At best, all differences have the same sign.
    let signs = 0.5f64.powf(count);
    Some(StudentsT::new(0.0, 1.0, count - 1.0).map_or(1.0, |t| t.sf(statistic)).max(signs))
}
