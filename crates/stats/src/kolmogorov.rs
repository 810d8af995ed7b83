//! Kolmogorov–Smirnov test against a fully specified distribution.

use serde::{Deserialize, Serialize};

/// The result of a statistical test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// The test statistic.
    pub statistic: f64,
    /// Probability, under the null hypothesis, of a statistic that is at least as large.
    pub p_value: f64,
    /// Number of values.
    pub n: u64,
}

/// Tests whether `values` are independent and uniform on \[0, 1\]. Values of another continuous distribution can be tested if
/// they are first transformed by their distribution function. The distribution must be fully specified: if its parameters are
/// estimated from the same values, the p-value is far too large, and a Lilliefors test is needed instead.
///
/// The statistic is D = sup |F_n(x) − x|. Its p-value is that of the limiting distribution at D·(√n + 0.12 + 0.11/√n), which is
/// accurate to three digits for n ≥ 5 (Stephens, "Use of the Kolmogorov–Smirnov, Cramér–Von Mises and Related Statistics
/// Without Extensive Tables", 1970). Sorts `values`. `None` without values, or if one is NaN.
#[must_use]
pub fn kolmogorov_uniform(values: &mut [f64]) -> Option<TestResult> {
    if values.is_empty() || values.iter().any(|value| value.is_nan()) {
        return None;
    }
    values.sort_unstable_by(f64::total_cmp);
    let statistic = largest_distance(values);
    let root = (values.len() as f64).sqrt();
    let p_value = kolmogorov_upper_tail(statistic * (root + 0.12 + 0.11 / root));
    Some(TestResult { statistic, p_value, n: values.len() as u64 })
}

/// The largest distance D between sorted values and the uniform distribution on \[0, 1\].
pub(crate) fn largest_distance(sorted: &[f64]) -> f64 {
    let n = sorted.len() as f64;
    let mut largest = 0.0_f64;
    for (i, value) in sorted.iter().enumerate() {
        let (before, after) = (i as f64 / n, (i + 1) as f64 / n);
        largest = largest.max(value - before).max(after - value);
    }
    largest
}

/// Upper tail of Kolmogorov's limiting distribution, P(√n·D > x): 2·Σ (−1)^(k−1) exp(−2k²x²). For small x, where this series
/// converges slowly, its theta-transformed series is used.
#[must_use]
pub fn kolmogorov_upper_tail(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x <= 0.0 {
        return 1.0;
    }
    let tail = if x < 1.18 {
        let base = -PI * PI / (8.0 * x * x);
        let series: f64 = [1.0, 9.0, 25.0, 49.0].iter().map(|odd_squared| (base * odd_squared).exp()).sum();
        1.0 - (2.0 * PI).sqrt() / x * series
    } else {
        let term = |k: f64| (-2.0 * k * k * x * x).exp();
        2.0 * (term(1.0) - term(2.0) + term(3.0) - term(4.0))
    };
    tail.clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limiting_distribution_equals_tabulated_values() {
        for (x, p) in [(1.224, 0.10), (1.358, 0.05), (1.628, 0.01), (0.828, 0.50), (0.571, 0.90)] {
            assert!((kolmogorov_upper_tail(x) - p).abs() < 1e-3, "{x}: {}", kolmogorov_upper_tail(x));
        }
        assert!(
            (kolmogorov_upper_tail(1.1799) - kolmogorov_upper_tail(1.1801)).abs() < 2e-4,
            "both series agree at the boundary"
        );
        assert_eq!(kolmogorov_upper_tail(0.0), 1.0);
        assert!(kolmogorov_upper_tail(40.0) == 0.0);
    }

    #[test]
    fn the_distance_equals_one_computed_by_hand() {
        let found = kolmogorov_uniform(&mut [0.9, 0.1, 0.4, 0.5]).unwrap();
        assert!((found.statistic - 0.25).abs() < 1e-12, "{found:?}");
        assert_eq!(found.n, 4);
        assert_eq!(kolmogorov_uniform(&mut []), None);
        assert_eq!(kolmogorov_uniform(&mut [f64::NAN]), None);
    }
}
