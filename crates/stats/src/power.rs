//! Power and sample size of tests for a difference.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

/// Limit on the number of values per group. Searches try powers of two below this limit, so they return at most 524,288.
pub const VALUES_MAX: u64 = 1_000_000;

/// Number of steps of Simpson's rule for the integral over the distribution of the standard deviation.
const STEPS: usize = 400;

/// Power of the two-sided t-test at `confidence` for a true `difference` between the means of two groups of `n` independent normal
/// values with standard deviation `sd`. `None` for fewer than two values per group.
#[must_use]
pub fn power(difference: f64, sd: f64, n: u64, confidence: f64) -> Option<f64> {
    if n < 2 || sd.is_nan() || sd < 0.0 {
        return None;
    }
    if sd == 0.0 {
        return Some(if difference == 0.0 { 1.0 - confidence } else { 1.0 });
    }
    power_of_test(difference, sd, n, confidence, 2.0 * (n - 1) as f64)
}

/// Power of a test whose critical value is that of Student's t with `test_freedom` degrees of freedom; see [`power`] for the
/// other parameters.
fn power_of_test(difference: f64, sd: f64, n: u64, confidence: f64, test_freedom: f64) -> Option<f64> {
    let freedom = 2.0 * (n - 1) as f64;
    let shift = difference.abs() / (sd * (2.0 / n as f64).sqrt());
    let critical = StudentsT::new(0.0, 1.0, test_freedom).ok()?.inverse_cdf(0.5 + confidence / 2.0);
    // Let s be the ratio of the estimated to the true standard deviation. Given s, the test compares a normal variable with
    // critical·s. The distribution of freedom·s² is chi-square.
    let normal = Normal::standard();
    let significant_given = |s: f64| normal.cdf(shift - critical * s) + normal.cdf(-shift - critical * s);
    let half = freedom / 2.0;
    let constant = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half);
    let density = |s: f64| {
        if s <= 0.0 { 0.0 } else { (constant + (freedom - 1.0) * s.ln() - half * s * s).exp() }
    };
    let spread = 10.0 / (2.0 * freedom).sqrt();
    let (from, to) = ((1.0 - spread).max(0.0), 1.0 + spread);
    let step = (to - from) / STEPS as f64;
    let weight = |at: usize| match at {
        0 | STEPS => 1.0,
        at if at % 2 == 1 => 4.0,
        _ => 2.0,
    };
    let sum: f64 = (0..=STEPS)
        .map(|at| {
            let s = from + step * at as f64;
            weight(at) * density(s) * significant_given(s)
        })
        .sum();
    Some((sum * step / 3.0).clamp(0.0, 1.0))
}

/// Minimum number of values per group for which [`power`] is at least `wanted`; `None` if 524,288 values, the largest
/// power of two below [`VALUES_MAX`], are not enough.
#[must_use]
pub fn values_needed(difference: f64, sd: f64, wanted: f64, confidence: f64) -> Option<u64> {
    fewest(|n| power(difference, sd, n, confidence).is_some_and(|power| power >= wanted))
}

/// Minimum number of values per group for Welch's test, which does not assume equal variances. With few values, this test has
/// fewer degrees of freedom than Student's: on average 2n(n − 1)/(n + 1) for equal variances. `None` as for [`values_needed`].
#[must_use]
pub fn values_needed_welch(difference: f64, sd: f64, wanted: f64, confidence: f64) -> Option<u64> {
    fewest(|n| {
        let test_freedom = 2.0 * n as f64 * (n - 1) as f64 / (n + 1) as f64;
        let found = match sd > 0.0 {
            true => power_of_test(difference, sd, n, confidence, test_freedom),
            false => power(difference, sd, n, confidence),
        };
        found.is_some_and(|power| power >= wanted)
    })
}

/// The minimum number of values, at least 2, for which `enough` is true; `None` if it is false for the largest power of
/// two below [`VALUES_MAX`].
fn fewest(enough: impl Fn(u64) -> bool) -> Option<u64> {
    let mut high = 2;
    while !enough(high) {
        high *= 2;
        if high > VALUES_MAX {
            return None;
        }
    }
    // Power increases with n, so a binary search finds the minimum.
    let mut low = high / 2;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    Some(high.max(2))
}

/// Upper confidence bound of a variance that was estimated with `freedom` degrees of freedom. It is used for planning from a
/// small pilot sample (Browne, "On the use of a pilot sample for sample size determination", Statistics in Medicine 14, 1995).
/// `None` for 0 degrees of freedom.
#[must_use]
pub fn variance_upper(variance: f64, freedom: f64, confidence: f64) -> Option<f64> {
    let quantile = ChiSquared::new(freedom).ok()?.inverse_cdf(1.0 - confidence);
    (quantile > 0.0).then(|| variance * freedom / quantile)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn sample_sizes_equal_tabulated_values() {
        // The values are from Cohen, "Statistical power analysis", table 2.4.1 (α two-sided 0.05, power 0.80 and 0.90), and R's
        // power.t.test.
        for (effect, wanted, n) in
            [(0.5, 0.8, 64), (0.8, 0.8, 26), (0.5, 0.9, 86), (1.0, 0.8, 17), (3.0, 0.8, 4)]
        {
            assert_eq!(values_needed(effect, 1.0, wanted, 0.95), Some(n), "{effect} {wanted}");
        }
        assert_eq!(values_needed(0.0, 1.0, 0.8, 0.95), None);
        assert_eq!(values_needed(0.1, 0.0, 0.8, 0.95), Some(2));
    }

    #[test]
    fn the_power_with_very_few_values_equals_a_simulation() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (n, shift, times) = (3, 2.5, 4_000);
        let mut draw = |mean: f64| -> Vec<f64> {
            (0..n).map(|_| mean + random.sample::<f64, _>(StandardNormal)).collect()
        };
        let critical = StudentsT::new(0.0, 1.0, 4.0).unwrap().inverse_cdf(0.975);
        let significant = (0..times)
            .filter(|_| {
                let moments = |values: &[f64]| values.iter().copied().collect::<crate::Moments>();
                let (a, b) = (moments(&draw(0.0)), moments(&draw(shift)));
                let pooled = f64::midpoint(a.variance().unwrap(), b.variance().unwrap());
                let t = (b.mean().unwrap() - a.mean().unwrap()) / (pooled * 2.0 / f64::from(n)).sqrt();
                t.abs() > critical
            })
            .count();
        let found = power(shift, 1.0, 3, 0.95).unwrap();
        assert!((significant as f64 / f64::from(times) - found).abs() < 0.03, "{significant} {found}");
    }

    #[test]
    fn the_upper_bound_of_a_variance_equals_tabulated_values() {
        // In chi-square tables, the 20 % point for 4 degrees of freedom is 1.649.
        assert!((variance_upper(1.0, 4.0, 0.8).unwrap() - 4.0 / 1.649).abs() < 1e-3);
        assert!(variance_upper(1.0, 1e6, 0.8).unwrap() < 1.01);
        assert_eq!(variance_upper(1.0, 0.0, 0.8), None);
    }

    proptest! {
        #[test]
        fn the_power_increases_with_the_number_of_values(effect in 0.05..3.0_f64, n in 2_u64..200) {
            let (few, many) = (power(effect, 1.0, n, 0.95).unwrap(), power(effect, 1.0, n + 1, 0.95).unwrap());
            prop_assert!(many >= few - 1e-6, "{few} {many}");
            prop_assert!(few >= 0.0499);
        }
    }
}
