//! Tests whether requests are slower when a cause is present.
//!
//! The statistic is the correlation of the cause's level with the scores of the requests, weighted by requests. Its
//! distribution without an association is estimated by shifting the cause circularly in time. In contrast to tables of
//! overlaps, shifts preserve the autocorrelation of both series and the lengths of pauses. Shifts by a short time are
//! not independent, so a short run has few independent shifts. The p value is the larger of two: the share of shifts
//! with a statistic as large, and the tail of Student's t for the standardized statistic, with one degree of freedom
//! less than there are independent shifts. The first one protects against skewed distributions, the second one against
//! few shifts.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::signal::Signal;
use crate::slow_times::SlowTimes;

/// Number of shifts.
const SHIFTS: usize = 800;

/// Minimum number of independent shifts; with fewer, a run is too short for its series.
const INDEPENDENT_MIN: f64 = 8.0;

/// Pieces beyond this number are joined.
const PIECES_MAX: usize = 4_096;

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftTest {
    /// Probability of a statistic that is at least as large without an association.
    pub p: f64,
    /// The statistic in standard deviations of its distribution without an association.
    pub z: f64,
    /// Number of independent shifts.
    pub independent: f64,
}

/// Why a signal cannot be tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Untestable {
    /// The signal has the same value at all times.
    Constant,
    /// The run is too short compared to the changes of the signal.
    TooShort,
}

/// Tests whether requests are slower when the signal is larger.
///
/// # Errors
/// The signal does not vary, or varies so slowly that the part has fewer than eight independent shifts.
pub fn shift_test(slow: &SlowTimes, signal: &Signal) -> Result<ShiftTest, Untestable> {
    let signal = joined(signal);
    let length = slow.length();
    let statistic = |shift: u64| weighted_correlation(slow, &signal, shift);
    let observed = statistic(0).ok_or(Untestable::Constant)?;
    let shifted: Vec<f64> = (0..SHIFTS)
        .map(|number| (u128::from(length) * number as u128 / SHIFTS as u128) as u64)
        .map(|shift| statistic(shift).unwrap_or(0.0))
        .collect();
    let correlated = correlated_shifts(&shifted);
    let independent = SHIFTS as f64 / correlated;
    if independent < INDEPENDENT_MIN {
        return Err(Untestable::TooShort);
    }
    let mean = shifted.iter().sum::<f64>() / SHIFTS as f64;
    let variance = shifted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (SHIFTS - 1) as f64;
    if variance <= 0.0 {
        return Err(Untestable::Constant);
    }
    let z = (observed - mean) / variance.sqrt();
    // Very short shifts are excluded, because their statistics are nearly that of the observation.
    let near = (correlated / 2.0).ceil() as usize;
    let others = &shifted[near.min(SHIFTS / 4)..SHIFTS - near.min(SHIFTS / 4)];
    let as_large = others.iter().filter(|value| **value >= observed).count() as f64 / others.len() as f64;
    let tail = StudentsT::new(0.0, 1.0, independent - 1.0).map_or(1.0, |t| t.sf(z));
    Ok(ShiftTest { p: tail.max(as_large), z, independent })
}

/// Joins neighbouring pieces, weighted by their lengths, until there are few enough.
fn joined(signal: &Signal) -> Signal {
    let per_join = signal.pieces.len().div_ceil(PIECES_MAX).max(1);
    let pieces = signal
        .pieces
        .chunks(per_join)
        .map(|chunk| {
            let time: f64 = chunk.iter().map(|piece| (piece.to - piece.from) as f64).sum();
            let sum: f64 = chunk.iter().map(|piece| piece.value * (piece.to - piece.from) as f64).sum();
            crate::signal::SignalPiece {
                from: chunk[0].from,
                to: chunk[chunk.len() - 1].to,
                value: sum / time,
            }
        })
        .collect();
    Signal { pieces, ..signal.clone() }
}

/// The correlation of levels and scores over the requests in the pieces, up to the constant standard deviation of the scores.
/// `None` if the level does not vary.
fn weighted_correlation(slow: &SlowTimes, signal: &Signal, shift: u64) -> Option<f64> {
    let (mut requests, mut score, mut level, mut level_squared, mut product) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for piece in &signal.pieces {
        let sums = slow.between(piece.from, piece.to, shift);
        requests += sums.requests;
        score += sums.score;
        level += piece.value * sums.requests;
        level_squared += piece.value * piece.value * sums.requests;
        product += piece.value * sums.score;
    }
    if requests <= 0.0 {
        return None;
    }
    let mean = level / requests;
    let variance = level_squared / requests - mean * mean;
    let covariance = product / requests - mean * score / requests;
    (variance > 1e-12 * level_squared / requests).then(|| covariance / variance.sqrt())
}

/// The number of neighbouring shifts that together count as one independent shift: the sum of their autocorrelations up
/// to the first one that is not positive.
fn correlated_shifts(values: &[f64]) -> f64 {
    let count = values.len();
    let mean = values.iter().sum::<f64>() / count as f64;
    let centred: Vec<f64> = values.iter().map(|value| value - mean).collect();
    let variance: f64 = centred.iter().map(|value| value * value).sum();
    if variance <= 0.0 {
        return count as f64;
    }
    let mut sum = 1.0;
    for lag in 1..count / 2 {
        let product: f64 = (0..count).map(|at| centred[at] * centred[(at + lag) % count]).sum();
        let correlation = product / variance;
        if correlation <= 0.0 {
            break;
        }
        sum += 2.0 * correlation;
    }
    sum
}
