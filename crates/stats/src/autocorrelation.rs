//! Autocorrelation of a series, and a test of independence.

use statrs::function::gamma::checked_gamma_ur;

use crate::estimate::normal_quantile;
use crate::kolmogorov::TestResult;

/// The autocorrelation of a series.
#[derive(Debug, Clone, PartialEq)]
pub struct Autocorrelations {
    /// Coefficients for the lags 1, 2, and so on.
    pub coefficients: Vec<f64>,
    /// Half-width of the band that contains a coefficient with probability [`CONFIDENCE`](crate::CONFIDENCE) if the values are
    /// independent: 1.96/√n.
    pub band: f64,
    /// Number of values.
    pub n: u64,
}

/// Autocorrelation of a series for the lags 1 to `lags`. The series is given in blocks of consecutive values. Pairs of values
/// in different blocks are ignored.
///
/// The coefficient r_k for lag k is the mean product of the deviations of values k apart, divided by the variance. `None` if
/// the variance is 0, or if no block is longer than `lags`.
#[must_use]
pub fn autocorrelations(blocks: &[&[f64]], lags: usize) -> Option<Autocorrelations> {
    let n: usize = blocks.iter().map(|block| block.len()).sum();
    if lags == 0 || !blocks.iter().any(|block| block.len() > lags) {
        return None;
    }
    let mean = blocks.iter().flat_map(|block| block.iter()).sum::<f64>() / n as f64;
    let square: f64 = blocks.iter().flat_map(|block| block.iter()).map(|x| (x - mean) * (x - mean)).sum();
    let variance = square / n as f64;
    if variance.is_nan() || variance <= 0.0 {
        return None;
    }
    let coefficients = (1..=lags)
        .map(|lag| {
            let (mut products, mut pairs) = (0.0, 0_usize);
            for block in blocks {
                let later = block.get(lag..).unwrap_or_default();
                products += block.iter().zip(later).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
                pairs += later.len();
            }
            products / pairs as f64 / variance
        })
        .collect();
    Some(Autocorrelations { coefficients, band: normal_quantile() / (n as f64).sqrt(), n: n as u64 })
}

/// Tests whether values are independent. For n values with the coefficients r_k, the statistic Q = n(n + 2) Σ r_k²/(n − k) is
/// chi-square with one degree of freedom per lag (Ljung and Box, "On a measure of lack of fit in time series models",
/// Biometrika 65, 1978). `None` without lags.
#[must_use]
pub fn ljung_box(found: &Autocorrelations) -> Option<TestResult> {
    let n = found.n as f64;
    let sum: f64 = (1..).zip(&found.coefficients).map(|(lag, r)| r * r / (n - f64::from(lag))).sum();
    let statistic = n * (n + 2.0) * sum;
    let p_value = checked_gamma_ur(found.coefficients.len() as f64 / 2.0, statistic / 2.0).ok()?;
    Some(TestResult { statistic, p_value, n: found.n })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_values_have_negative_autocorrelation() {
        let values: Vec<f64> = (0..1_000).map(|i| f64::from(i % 2)).collect();
        let found = autocorrelations(&[&values], 2).unwrap();
        assert!((found.coefficients[0] + 1.0).abs() < 1e-9);
        assert!((found.coefficients[1] - 1.0).abs() < 1e-9);
        assert!((found.band - 0.06198).abs() < 1e-4);
        assert!(ljung_box(&found).unwrap().p_value < 1e-9);
    }

    #[test]
    fn pairs_across_blocks_are_ignored() {
        // Within each block the two values are equal; across blocks they have opposite signs.
        let found = autocorrelations(&[&[1.0, 1.0], &[-1.0, -1.0], &[1.0, 1.0], &[-1.0, -1.0]], 1).unwrap();
        assert!((found.coefficients[0] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn equal_values_have_no_autocorrelation() {
        assert_eq!(autocorrelations(&[&[2.0; 10]], 1), None);
        assert_eq!(autocorrelations(&[&[1.0, 2.0]], 2), None);
        assert_eq!(autocorrelations(&[], 1), None);
    }
}
