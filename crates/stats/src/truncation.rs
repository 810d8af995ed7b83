//! Detects the end of the initial transient of a simulation.

/// The number of values to remove at the start of a series so that the standard error of the mean of the remaining values is
/// minimal (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997). With
/// batches of five values, this method is called MSER-5.
///
/// At most half of the series is removed, because a minimum in the second half would be based on few values. If the result is
/// about half of the series ([`Truncation::at_limit`]), the series has not reached its steady state.
#[must_use]
pub fn truncation(values: &[f64]) -> Truncation {
    let limit = values.len() / 2;
    let (mut best, mut cut) = (f64::INFINITY, 0);
    // The loop starts at the end of the series, so that the sums over the remaining values are updated by one value at a time.
    let (mut n, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (at, value) in values.iter().enumerate().rev() {
        n += 1.0;
        let from_old = value - mean;
        mean += from_old / n;
        squares += from_old * (value - mean);
        // If errors are equal, the fewest values are removed.
        if at <= limit && squares / (n * n) <= best {
            best = squares / (n * n);
            cut = at;
        }
    }
    Truncation { cut, at_limit: limit > 0 && 10 * cut >= 9 * limit }
}

/// The result of [`truncation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Number of values to remove at the start.
    pub cut: usize,
    /// Whether the limit was reached, so that the series has not reached its steady state.
    pub at_limit: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_initial_transient_is_truncated_and_a_steady_series_is_not() {
        let noise = |i: usize| [0.3, -0.2, 0.1, -0.3, 0.1][i % 5];
        let steady: Vec<f64> = (0..200).map(|i| 10.0 + noise(i)).collect();
        assert!(truncation(&steady).cut <= 5, "{:?}", truncation(&steady));
        let decaying: Vec<f64> =
            (0..200).map(|i| 10.0 + noise(i) - 10.0 * (-(i as f64) / 8.0).exp()).collect();
        let found = truncation(&decaying);
        assert!((20..60).contains(&found.cut) && !found.at_limit, "{found:?}");
    }

    #[test]
    fn a_growing_series_has_not_settled() {
        let growing: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(truncation(&growing), Truncation { cut: 50, at_limit: true });
    }

    #[test]
    fn constant_and_empty_series_are_not_truncated() {
        assert_eq!(truncation(&[2.0; 50]), Truncation { cut: 0, at_limit: false });
        assert_eq!(truncation(&[]).cut, 0);
        assert_eq!(truncation(&[1.0]), Truncation { cut: 0, at_limit: false });
    }
}
