//! Intervals of percentiles with few samples beyond them, by order statistics.
//!
//! The number of samples above the true quantile `q` of `n` independent samples has a binomial distribution with the mean
//! `n(1 − q)`. If it is between `a` and `b` with a probability of 95 %, the quantile is between the `b + 1`-th largest and the
//! `a`-th largest sample. With `a = 0` there is no upper bound.

use busyhour_sample::TimeHistogram;
use serde::{Deserialize, Serialize};

use crate::rounding::round;

/// The percentiles that are usually quoted.
const QUOTED: [f64; 2] = [95.0, 99.0];

/// Minimum number of samples beyond a percentile. With fewer, it is close to the maximum and varies like it.
const BEYOND_MIN: f64 = 10.0;

/// Probability of each side outside of the interval.
const SIDE: f64 = 0.025;

/// The interval of a percentile with few samples beyond it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentileInterval {
    /// The percentile, from 0 to 100.
    pub percentile: f64,
    /// Number of samples.
    pub samples: u64,
    /// Lower end in ms.
    pub lower_ms: f64,
    /// Upper end in ms; `None` if the samples give no upper bound.
    pub upper_ms: Option<f64>,
}

/// The interval of the lowest quoted percentile with few samples beyond it; `None` if there are enough for all of them.
pub(crate) fn interval(times: &TimeHistogram) -> Option<PercentileInterval> {
    let samples = times.count();
    let beyond = |percentile: f64| samples as f64 * (1.0 - percentile / 100.0);
    let percentile = QUOTED.into_iter().find(|percentile| beyond(*percentile) < BEYOND_MIN - 1e-9)?;
    let (least, most) = numbers_above(samples, percentile / 100.0);
    let lower = if most < samples { largest(times, most + 1)?.0 } else { 0 };
    let upper = if least > 0 { Some(largest(times, least)?.1) } else { None };
    let ms = |us: u64| round(us as f64 / 1e3);
    Some(PercentileInterval { percentile, samples, lower_ms: ms(lower), upper_ms: upper.map(ms) })
}

/// The range of the number of samples above the true quantile `q`, with a probability of at least 95 %.
fn numbers_above(samples: u64, q: f64) -> (u64, u64) {
    let (mut least, mut below) = (0, 0.0);
    let mut probability = q.powf(samples as f64);
    let odds = (1.0 - q) / q;
    for number in 0..=samples {
        // `below` is the probability of fewer than `number` samples above the quantile.
        if below <= SIDE {
            least = number;
        }
        if 1.0 - (below + probability) <= SIDE {
            return (least, number);
        }
        below += probability;
        probability *= odds * (samples - number) as f64 / (number + 1) as f64;
    }
    (least, samples)
}

/// The ends in µs of the band with the sample that has this rank from the largest one, which has the rank 1.
fn largest(times: &TimeHistogram, rank: u64) -> Option<(u64, u64)> {
    let above = times.count().checked_sub(rank)?;
    let mut seen = 0;
    times.bands().find_map(|(start, end, count)| {
        seen += count;
        (seen > above).then_some((start, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_samples_above_a_quantile_is_binomial() {
        // Binomial tables: for n = 100 and a probability of 0.05, P(X < 1) = 0.0059, P(X < 2) = 0.037, P(X > 9) = 0.028 and
        // P(X > 10) = 0.0115.
        assert_eq!(numbers_above(100, 0.95), (1, 10));
        // With a mean of 2, P(X < 1) = 0.13 and P(X > 5) = 0.016.
        assert_eq!(numbers_above(200, 0.99), (0, 5));
        assert_eq!(numbers_above(1, 0.95), (0, 1));
        assert_eq!(numbers_above(0, 0.95), (0, 0));
    }
}
