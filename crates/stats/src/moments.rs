//! Mean and variance of a stream.

/// Count, mean, variance and extremes of a stream of values, computed in one pass.
///
/// Values are added with Welford's recurrence. Streams are merged as in Chan, Golub and LeVeque, "Updating formulae and a
/// pairwise algorithm for computing sample variances" (1979).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    n: u64,
    mean: f64,
    /// Sum of squared deviations from the mean.
    squares: f64,
    min: f64,
    max: f64,
}

impl Default for Moments {
    fn default() -> Moments {
        Moments { n: 0, mean: 0.0, squares: 0.0, min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Moments {
    /// Adds one value.
    pub fn add(&mut self, value: f64) {
        self.n += 1;
        let from_old = value - self.mean;
        self.mean += from_old / self.n as f64;
        self.squares += from_old * (value - self.mean);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds the same value `times` times, in constant time.
    pub fn add_many(&mut self, value: f64, times: u64) {
        if times > 0 {
            self.merge(&Moments { n: times, mean: value, squares: 0.0, min: value, max: value });
        }
    }

    /// Adds all values of another stream.
    pub fn merge(&mut self, other: &Moments) {
        if other.n == 0 {
            return;
        }
        if self.n == 0 {
            *self = *other;
            return;
        }
        let (mine, theirs) = (self.n as f64, other.n as f64);
        let together = mine + theirs;
        let apart = other.mean - self.mean;
        self.mean += apart * theirs / together;
        self.squares += other.squares + apart * apart * mine * theirs / together;
        self.n += other.n;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Number of values.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Mean; `None` without values.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then_some(self.mean)
    }

    /// Variance (divisor n − 1); `None` for fewer than two values.
    #[must_use]
    pub fn variance(&self) -> Option<f64> {
        (self.n > 1).then(|| (self.squares / (self.n - 1) as f64).max(0.0))
    }

    /// Standard deviation (divisor n − 1); `None` for fewer than two values.
    #[must_use]
    pub fn sd(&self) -> Option<f64> {
        self.variance().map(f64::sqrt)
    }

    /// Coefficient of variation, standard deviation divided by mean; `None` for fewer than two values or a mean of 0.
    #[must_use]
    pub fn cov(&self) -> Option<f64> {
        self.sd().filter(|_| self.mean != 0.0).map(|sd| sd / self.mean)
    }

    /// Smallest value; `None` without values.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        (self.n > 0).then_some(self.min)
    }

    /// Largest value; `None` without values.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        (self.n > 0).then_some(self.max)
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Moments {
        let mut moments = Moments::default();
        for value in values {
            moments.add(value);
        }
        moments
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn moments_of_an_empty_stream_are_unknown() {
        let none = Moments::default();
        assert_eq!(
            (none.n(), none.mean(), none.variance(), none.cov(), none.min()),
            (0, None, None, None, None)
        );
        let one: Moments = [3.0].into_iter().collect();
        assert_eq!((one.mean(), one.sd(), one.max()), (Some(3.0), None, Some(3.0)));
    }

    #[test]
    fn moments_equal_those_computed_by_hand() {
        let moments: Moments = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().collect();
        assert_eq!(moments.mean(), Some(5.0));
        assert!((moments.variance().unwrap() - 32.0 / 7.0).abs() < 1e-12);
        assert!((moments.cov().unwrap() - (32.0_f64 / 7.0).sqrt() / 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_large_offset_does_not_reduce_accuracy() {
        let moments: Moments = (0..1_000).map(|i| 1e9 + f64::from(i % 2)).collect();
        assert!((moments.variance().unwrap() - 0.25 * 1000.0 / 999.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn merging_equals_adding(
            left in prop::collection::vec(-1e6..1e6_f64, 0..50),
            right in prop::collection::vec(-1e6..1e6_f64, 0..50),
        ) {
            let mut merged: Moments = left.iter().copied().collect();
            merged.merge(&right.iter().copied().collect());
            let whole: Moments = left.iter().chain(&right).copied().collect();
            prop_assert_eq!(merged.n(), whole.n());
            prop_assert_eq!(merged.max(), whole.max());
            for (a, b) in [(merged.mean(), whole.mean()), (merged.variance(), whole.variance())] {
                prop_assert_eq!(a.is_some(), b.is_some());
                if let (Some(a), Some(b)) = (a, b) {
                    prop_assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()), "{} {}", a, b);
                }
            }
        }

        #[test]
        fn adding_many_equals_repeated_adding(value in -1e3..1e3_f64, times in 0..40_u64, other in -1e3..1e3_f64) {
            let mut at_once: Moments = [other].into_iter().collect();
            at_once.add_many(value, times);
            let one_by_one: Moments =
                std::iter::once(other).chain((0..times).map(|_| value)).collect();
            prop_assert_eq!(at_once.n(), one_by_one.n());
            if let (Some(a), Some(b)) = (at_once.variance(), one_by_one.variance()) {
                prop_assert!((a - b).abs() <= 1e-9 * (1.0 + b.abs()));
            }
        }
    }
}
