//! Holm's correction for several tests.

/// The result of Holm's correction.
#[derive(Debug, Clone, PartialEq)]
pub struct HolmResult {
    /// Adjusted p values, in the order of the given ones.
    pub adjusted: Vec<f64>,
    /// Number of rejected hypotheses.
    pub rejected: usize,
    /// Confidence for reported intervals: at this level, the intervals of all rejected hypotheses exclude the tested value, and
    /// all others contain it.
    pub confidence: f64,
}

/// Adjusts p values so that the probability of any wrong rejection is at most `error`, whatever the dependence of the tests
/// (Holm, Scandinavian Journal of Statistics 6, 1979, page 65).
///
/// With m tests and r rejections, the first hypothesis that remains was tested at `error`/(m − r), which is the level of the
/// intervals. Without a remaining hypothesis it is `error`.
#[must_use]
pub fn holm(p_values: &[f64], error: f64) -> HolmResult {
    let tests = p_values.len();
    let mut order: Vec<usize> = (0..tests).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![1.0; tests];
    let (mut largest, mut rejected) = (0.0_f64, 0);
    for (rank, at) in order.into_iter().enumerate() {
        largest = largest.max((p_values[at] * (tests - rank) as f64).min(1.0));
        adjusted[at] = largest;
        rejected += usize::from(largest <= error);
    }
    let remaining = (tests - rejected).max(1);
    HolmResult { adjusted, rejected, confidence: 1.0 - error / remaining as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjusted_values_are_those_of_the_method() {
        let found = holm(&[0.01, 0.04, 0.03, 0.005], 0.05);
        for (found, expected) in found.adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
        assert_eq!((found.rejected, found.confidence), (2, 0.975));
        assert_eq!(holm(&[], 0.05), HolmResult { adjusted: vec![], rejected: 0, confidence: 0.95 });
        assert_eq!(holm(&[0.001, 0.002], 0.05).confidence, 0.95);
    }

    #[test]
    fn intervals_agree_with_the_decisions() {
        // The interval of a test at confidence c excludes the tested value if its p value is below 1 − c.
        for p_values in [[0.01, 0.02, 0.03], [0.02, 0.02, 0.02], [0.001, 0.024, 0.051], [0.001, 0.03, 0.04]] {
            let found = holm(&p_values, 0.05);
            for (p, adjusted) in p_values.iter().zip(&found.adjusted) {
                assert_eq!(*p <= 1.0 - found.confidence, *adjusted <= 0.05, "{p_values:?} {found:?}");
            }
        }
    }
}
