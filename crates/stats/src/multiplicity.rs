//! Adjusts the results of multiple tests.

/// The result of adjusting multiple tests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selection {
    /// Number of rejected null hypotheses.
    pub rejected: usize,
    /// Number of tests.
    pub tests: usize,
    /// Confidence level for reported intervals. At this level, the intervals of the rejected hypotheses exclude the tested value,
    /// and all others contain it.
    pub confidence: f64,
}

/// Rejects null hypotheses with a false discovery rate of at most `rate` (Benjamini and Hochberg, JRSS B 57, 1995; valid for
/// independent and for positively dependent tests). The confidence of the intervals of rejected tests is adjusted so that at
/// most the share `rate` of them does not contain the true value (Benjamini and Yekutieli, "False discovery rate-adjusted
/// multiple confidence intervals for selected parameters", JASA 100, 2005): 1 − rate · rejected / tests. If no hypothesis is
/// rejected, the confidence is that for one rejection. p-values that are NaN are ignored.
#[must_use]
pub fn select(p_values: &[f64], rate: f64) -> Selection {
    let mut ordered: Vec<f64> = p_values.iter().copied().filter(|p| !p.is_nan()).collect();
    ordered.sort_by(f64::total_cmp);
    let tests = ordered.len();
    let is_small_enough = |rank: usize| ordered[rank - 1] <= rate * rank as f64 / tests as f64;
    let rejected = (1..=tests).rev().find(|rank| is_small_enough(*rank)).unwrap_or(0);
    let confidence = 1.0 - rate * rejected.max(1) as f64 / tests.max(1) as f64;
    Selection { rejected, tests, confidence }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_selection_equals_the_published_example() {
        // The example of Benjamini and Hochberg 1995, section 4.1: fifteen p-values, of which the four smallest are rejected.
        let p_values = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.000,
        ];
        let found = select(&p_values, 0.05);
        assert_eq!((found.rejected, found.tests), (4, 15));
        assert!((found.confidence - (1.0 - 0.05 * 4.0 / 15.0)).abs() < 1e-12);
    }

    #[test]
    fn a_single_test_is_not_adjusted() {
        for p in [0.01, 0.5] {
            assert_eq!(select(&[p], 0.05).confidence, 0.95);
        }
        assert_eq!(select(&[], 0.05), Selection { rejected: 0, tests: 0, confidence: 0.95 });
        assert_eq!(select(&[f64::NAN, 0.01], 0.05).tests, 1);
    }

    proptest! {
        #[test]
        fn exactly_the_tests_with_small_p_values_are_rejected(
            p_values in proptest::collection::vec(0.0..1.0_f64, 1..60),
        ) {
            let found = select(&p_values, 0.1);
            let below = p_values.iter().filter(|p| **p <= 1.0 - found.confidence).count();
            // The tolerance is for the rounding error of 1 − confidence.
            let near = p_values.iter().any(|p| (p - (1.0 - found.confidence)).abs() < 1e-12);
            prop_assert!(near || below == found.rejected);
        }
    }
}
