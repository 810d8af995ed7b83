//! Divides a sequence into segments of constant level.

use std::ops::Range;

/// Penalty of a further segment, in units of the noise variance and of ln n. Larger than that of the Bayesian information
/// criterion (2), because response times are correlated and have heavy tails.
const PENALTY: f64 = 6.0;

/// Differences beyond so many standard deviations of the noise count as so many, so that single outliers are no segments.
const OUTLIER: f64 = 12.0;

/// The segments with the least sum of squared differences from their means, plus a penalty for each segment (optimal
/// partitioning: Jackson et al., IEEE Signal Processing Letters 12, 2005).
pub(super) fn segments(values: &[f64]) -> Vec<Range<usize>> {
    let count = values.len();
    if count < 2 {
        return std::iter::once(0..count).filter(|range| !range.is_empty()).collect();
    }
    let middle = median(values);
    let noise = noise(values).max(1e-3);
    let scaled: Vec<f64> = values
        .iter()
        .map(|value| ((value - middle) / noise).clamp(-OUTLIER * 10.0, OUTLIER * 10.0))
        .collect();
    let mut sums = vec![(0.0, 0.0); count + 1];
    for (at, value) in scaled.iter().enumerate() {
        sums[at + 1] = (sums[at].0 + value, sums[at].1 + value * value);
    }
    let cost = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (squares - sum * sum / (to - from) as f64).max(0.0)
    };
    let penalty = PENALTY * (count as f64).ln();
    let mut best = vec![(0.0, 0); count + 1];
    for to in 1..=count {
        best[to] = (0..to)
            .map(|from| (best[from].0 + cost(from, to) + penalty, from))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or_default();
    }
    let mut found = Vec::new();
    let mut to = count;
    while to > 0 {
        let from = best[to].1;
        found.push(from..to);
        to = from;
    }
    found.reverse();
    found
}

/// The standard deviation of the values around their level, from the median of the absolute differences of neighbours, so
/// that changes of the level do not count.
fn noise(values: &[f64]) -> f64 {
    let differences: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    median(&differences) * 1.4826 / std::f64::consts::SQRT_2
}

/// The median of values, at least one.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The segment of a sequence with one level.
    fn only(values: &[f64]) -> Range<usize> {
        let found = segments(values);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    }

    #[test]
    fn levels_are_separated_at_their_edges() {
        let wave = |at: usize| (at as f64 * 2.4).sin() * 0.1;
        let values: Vec<f64> =
            (0..100).map(|at| if (40..55).contains(&at) { 2.0 } else { 1.0 } + wave(at)).collect();
        assert_eq!(segments(&values), [0..40, 40..55, 55..100]);
        let even: Vec<f64> = (0..100).map(wave).collect();
        assert_eq!(only(&even), 0..100);
    }

    #[test]
    fn short_sequences_are_one_segment() {
        assert!(segments(&[]).is_empty());
        assert_eq!(only(&[3.0]), 0..1);
        assert_eq!(only(&[3.0, 3.0]), 0..2);
    }
}
