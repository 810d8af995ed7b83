//! Normal scores: ranks as quantiles of the normal distribution, so that the tail of a distribution does not matter.

use statrs::distribution::{ContinuousCDF as _, Normal};

/// Computes normal scores. The quantiles for the last number of values are cached.
#[derive(Clone, Debug, Default)]
pub(crate) struct NormalScores {
    quantiles: Vec<f64>,
    order: Vec<usize>,
}

impl NormalScores {
    /// The score of each value. Equal values have the score of their middle rank.
    pub(crate) fn of(&mut self, values: &[f64]) -> Vec<f64> {
        let count = values.len();
        if self.quantiles.len() + 1 != 2 * count {
            let normal = Normal::standard();
            // In steps of half a rank, because the middle rank of equal values may be a half.
            self.quantiles =
                (1..2 * count).map(|at| normal.inverse_cdf(at as f64 / (2 * count) as f64)).collect();
        }
        self.order.clear();
        self.order.extend(0..count);
        self.order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
        let mut scores = vec![0.0; count];
        let mut first = 0;
        while first < count {
            let value = values[self.order[first]];
            let equal = self.order[first..].iter().take_while(|at| values[**at] == value).count();
            let score = self.quantiles[2 * first + equal - 1];
            self.order[first..first + equal].iter().for_each(|at| scores[*at] = score);
            first += equal;
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_symmetric_and_equal_for_equal_values() {
        let mut scores = NormalScores::default();
        let of = scores.of(&[5.0, 1.0, 3.0, 3.0, 1e9]);
        assert!((of[1] + of[4]).abs() < 1e-9 && of[1] < -1.0, "{of:?}");
        assert_eq!(of[2], of[3]);
        assert!(of[1] < of[2] && of[3] < of[0] && of[0] < of[4]);
        assert_eq!(scores.of(&[7.0, 7.0]), [0.0, 0.0]);
    }
}
