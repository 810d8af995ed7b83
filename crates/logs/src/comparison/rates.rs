//! The test of two rates.

use busyhour_stats::select;
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

use super::blocks::BlockCounts;

/// The expected share of false alarms among the significant differences.
pub const FALSE_DISCOVERY_RATE: f64 = 0.05;

/// From this count on, the normal distribution approximates the binomial one well, and only the test with Student's t is used.
const LARGE: f64 = 1e5;

/// The result of a test for a higher rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateTest {
    pub(super) p_value: f64,
    pub(super) dispersion: f64,
}

/// Tests whether the rate of the run is higher than that of the baseline. Each argument is a log's counts and its exposure.
pub(super) fn rate_test(baseline: (&BlockCounts, f64), run: (&BlockCounts, f64)) -> RateTest {
    let (dispersion, freedom) = pooled(baseline.0, run.0);
    let (count_0, count_1) = (baseline.0.total() as f64 / dispersion, run.0.total() as f64 / dispersion);
    let share = run.1 / (baseline.1 + run.1);
    let p_value =
        upper_binomial(count_1, count_0, share).max(upper_student(count_1, count_0, share, freedom));
    RateTest { p_value, dispersion }
}

/// The dispersion and its degrees of freedom: pooled over both logs, the largest over the lengths of blocks, at least 1.
fn pooled(baseline: &BlockCounts, run: &BlockCounts) -> (f64, f64) {
    let (baseline, run) = (baseline.dispersions(), run.dispersions());
    let lengths = run.or(baseline).map_or(0, |lengths| lengths.len());
    let mut largest = (1.0, f64::INFINITY);
    for at in 0..lengths {
        let parts = [baseline, run].into_iter().flatten().map(|lengths| lengths[at]);
        let (mut squares, mut freedom, mut highest) = (0.0, 0.0, 0.0_f64);
        for part in parts {
            squares += part.ratio * part.freedom;
            freedom += part.freedom;
            highest = highest.max(part.ratio);
        }
        let ratio = (squares / freedom).max(highest);
        if ratio > largest.0 {
            largest = (ratio, freedom);
        }
    }
    largest
}

/// Probability that a binomial variable with this probability of success is at least `successes`, given the sum of successes and
/// failures; the counts need not be whole.
fn upper_binomial(successes: f64, failures: f64, probability: f64) -> f64 {
    if successes <= 0.0 {
        return 1.0;
    }
    if successes + failures > LARGE {
        return 0.0;
    }
    beta_reg(successes, failures + 1.0, probability).clamp(0.0, 1.0)
}

/// The same probability, approximated with Student's t.
fn upper_student(successes: f64, failures: f64, probability: f64, freedom: f64) -> f64 {
    let total = successes + failures;
    if total <= 0.0 {
        return 1.0;
    }
    let z = (successes - total * probability) / (total * probability * (1.0 - probability)).sqrt();
    match StudentsT::new(0.0, 1.0, freedom.min(1e6)) {
        Ok(student) => student.sf(z),
        Err(_) => 1.0,
    }
}

/// Which of the p-values are significant with [`FALSE_DISCOVERY_RATE`].
pub(super) fn significant(p_values: &[f64]) -> Vec<bool> {
    let selected = select(p_values, FALSE_DISCOVERY_RATE);
    let mut ordered = p_values.to_vec();
    ordered.sort_by(f64::total_cmp);
    let limit = selected.rejected.checked_sub(1).and_then(|last| ordered.get(last)).copied();
    p_values.iter().map(|p_value| limit.is_some_and(|limit| *p_value <= limit)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binomial_tail_equals_sums_of_probabilities() {
        // P(X ≥ 5) for 5 of 5 with probability 1/2, and P(X ≥ 8) for 8 of 10: (45 + 10 + 1) / 1024.
        assert!((upper_binomial(5.0, 0.0, 0.5) - 1.0 / 32.0).abs() < 1e-12);
        assert!((upper_binomial(8.0, 2.0, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert_eq!(upper_binomial(0.0, 7.0, 0.5), 1.0);
    }

    #[test]
    fn both_tests_agree_on_large_counts() {
        let (binomial, student) =
            (upper_binomial(5_300.0, 5_000.0, 0.5), upper_student(5_300.0, 5_000.0, 0.5, 1e6));
        assert!((binomial - student).abs() < 0.1 * student, "{binomial} {student}");
    }

    #[test]
    fn significance_is_adjusted_for_the_number_of_tests() {
        let mut p_values = vec![0.03; 1];
        assert_eq!(significant(&p_values), [true]);
        p_values.extend([0.5; 9]);
        assert!(significant(&p_values).iter().all(|significant| !significant));
        assert_eq!(significant(&[]), [false; 0]);
    }
}
