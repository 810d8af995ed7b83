//! The stationary bootstrap: estimates standard errors of statistics of an autocorrelated sequence.
//!
//! A resample consists of blocks of the sequence. A block that reaches the end of the sequence continues at its start. The
//! block lengths are geometrically distributed. A resample therefore preserves the dependence within a block (Politis and
//! Romano, "The stationary bootstrap", JASA 89, 1994). The mean block length is computed from the autocorrelation of the
//! sequence (Politis and White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23, 2004,
//! with the correction of Patton, Politis and White, Econometric Reviews 28, 2009).

use rand::Rng;

/// Maximum lag-1 autocorrelation that is assumed for a sequence.
const COEFFICIENT_MAX: f64 = 0.95;

/// Minimum share of the variance that is assumed to remain after subtraction of the sample mean.
const FITTED_MIN: f64 = 0.2;

/// Maximum correction factor of a standard error.
const CORRECTION_MAX: f64 = 10.0;

/// Resamples of a sequence, stored as the number of times that each element was drawn.
///
/// Statistics that are functions of sums over the elements are recomputed from weighted sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resamples {
    length: usize,
    times: Vec<u32>,
}

impl Resamples {
    /// Draws `count` resamples of a sequence of `length` elements in blocks with a mean length of `mean_block`; 1 or less draws single
    /// elements.
    pub fn stationary(
        length: usize,
        mean_block: f64,
        count: usize,
        random: &mut (impl Rng + ?Sized),
    ) -> Resamples {
        let mut times = vec![0; length * count];
        let new_block_probability = if mean_block > 1.0 { 1.0 / mean_block } else { 1.0 };
        if length > 0 {
            for resample in times.chunks_exact_mut(length) {
                let mut at = random.random_range(0..length);
                for _ in 0..length {
                    resample[at] += 1;
                    at = if new_block_probability >= 1.0 || random.random::<f64>() < new_block_probability {
                        random.random_range(0..length)
                    } else if at + 1 == length {
                        0
                    } else {
                        at + 1
                    };
                }
            }
        }
        Resamples { length, times }
    }

    /// The resamples, each as the number of times that each element was drawn.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        // `chunks` requires a positive length, even without elements.
        self.times.chunks_exact(self.length.max(1))
    }

    /// The standard deviation of `statistic` over the resamples, which is the bootstrap standard error. Resamples for which
    /// `statistic` returns `None` are excluded. `None` if fewer than half of the resamples, or fewer than two, remain.
    pub fn standard_error(&self, mut statistic: impl FnMut(&[u32]) -> Option<f64>) -> Option<f64> {
        let mut moments = crate::Moments::default();
        let mut of = 0_u64;
        for times in self.iter() {
            of += 1;
            if let Some(value) = statistic(times).filter(|value| value.is_finite()) {
                moments.add(value);
            }
        }
        moments.sd().filter(|_| moments.n() * 2 >= of)
    }
}

/// Optimal mean block length of [`Resamples::stationary`] for `series`. It is at least 1, and at most a third of the length and
/// three times the square root of the length.
#[must_use]
pub fn stationary_block_length(series: &[f64]) -> f64 {
    let n = series.len();
    if n < 8 {
        return 1.0;
    }
    let n_f = n as f64;
    let longest = (3.0 * n_f.sqrt()).min(n_f / 3.0).max(1.0);
    let lags_quiet = (n_f.log10().sqrt().ceil() as usize).max(5);
    let lags_max = (n_f.sqrt().ceil() as usize + lags_quiet).min(n - 1);
    let covariance = autocovariances(series, lags_max);
    if covariance[0] <= 0.0 {
        return 1.0;
    }
    // Finds the lag after which `lags_quiet` consecutive autocorrelations are not significant.
    let noise = 2.0 * (n_f.log10() / n_f).sqrt() * covariance[0];
    let is_significant = |lag: usize| covariance.get(lag).is_some_and(|c| c.abs() >= noise);
    let last_significant = (0..=lags_max).find(|from| !(from + 1..=from + lags_quiet).any(is_significant));
    let last = last_significant.unwrap_or(lags_max).max(1);
    let bandwidth = (2 * last).min(lags_max);
    // The flat-top window is 1 up to a half, then decreases to 0 at 1.
    let window = |lag: usize| (2.0 * (1.0 - lag as f64 / bandwidth as f64)).clamp(0.0, 1.0);
    let (mut weighted, mut at_zero) = (0.0, covariance[0]);
    for (lag, value) in covariance.iter().enumerate().take(bandwidth + 1).skip(1) {
        weighted += 2.0 * window(lag) * lag as f64 * value;
        at_zero += 2.0 * window(lag) * value;
    }
    // If the spectrum at frequency zero is 0, drawing single elements is conservative.
    if at_zero <= 0.0 {
        return 1.0;
    }
    // b = (2 G² / D)^(1/3) n^(1/3), with D = 2 g(0)² for the stationary bootstrap.
    let length = ((weighted / at_zero).powi(2) * n_f).cbrt();
    length.clamp(1.0, longest)
}

/// The dependence of consecutive elements of a sequence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SerialDependence {
    /// Mean block length of [`Resamples::stationary`].
    pub block: f64,
    /// Correction factor, at least 1, for the bootstrap's standard error of the mean. It is necessary because the
    /// dependence of short sequences is underestimated, and the bootstrap reduces it further.
    pub correction: f64,
    /// Effective sample size: the number of independent elements whose mean would have the same variance. At most the number of
    /// elements.
    pub independent: f64,
}

impl SerialDependence {
    /// The dependence of `series`, drawn in blocks with a mean length of `block`, at least 1.
    ///
    /// The bootstrap variance of the mean has a closed form (Politis and Romano 1994, lemma 1). It is compared with the
    /// variance for a first-order autoregression (Andrews, "Heteroskedasticity and autocorrelation consistent covariance
    /// matrix estimation", Econometrica 59, 1991) whose coefficient is corrected for bias (Kendall, "Note on bias in the
    /// estimation of autocorrelation", Biometrika 41, 1954); the larger variance is used. With this correction, and Student's
    /// t for the effective sample size, intervals from sequences of 60 elements have their nominal coverage up to an
    /// autocorrelation of 0.9.
    #[must_use]
    pub fn of(series: &[f64], block: f64) -> SerialDependence {
        let n = series.len() as f64;
        let block = block.max(1.0);
        let covariance = autocovariances(series, series.len().saturating_sub(1));
        let Some(variance) = covariance.first().copied().filter(|variance| *variance > 0.0) else {
            return SerialDependence { block, correction: 1.0, independent: n / block };
        };
        let first = covariance.get(1).map_or(0.0, |first| first / variance);
        let coefficient = (first + (1.0 + 3.0 * first) / n).clamp(0.0, COEFFICIENT_MAX);
        let times = (1.0 + coefficient) / (1.0 - coefficient);
        // The variance about the sample mean is too small by the variance of the sample mean.
        let autoregressive = variance / (1.0 - times / n).max(FITTED_MIN) * times / n;
        let end = 1.0 / block;
        let bootstrap: f64 =
            covariance.iter().enumerate().skip(1).fold(variance, |sum, (lag, covariance)| {
                let (share, lag) = (lag as f64 / n, lag as i32);
                let kept =
                    (1.0 - share) * (1.0 - end).powi(lag) + share * (1.0 - end).powf(n - f64::from(lag));
                sum + 2.0 * kept * covariance
            }) / n;
        let correction = if bootstrap > 0.0 {
            (autoregressive / bootstrap).sqrt().clamp(1.0, CORRECTION_MAX)
        } else {
            1.0
        };
        SerialDependence { block, correction, independent: (n / block).min(n / times) }
    }
}

/// Autocovariances (divisor n) for the lags 0 to `lags_max`.
fn autocovariances(series: &[f64], lags_max: usize) -> Vec<f64> {
    let n = series.len() as f64;
    let mean = series.iter().sum::<f64>() / n;
    let centred: Vec<f64> = series.iter().map(|value| value - mean).collect();
    (0..=lags_max)
        .map(|lag| centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>() / n)
        .collect()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn autoregressive(n: usize, rho: f64, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let mut value = random.sample::<f64, _>(StandardNormal);
        let innovation = (1.0 - rho * rho).sqrt();
        (0..n)
            .map(|_| {
                value = rho * value + innovation * random.sample::<f64, _>(StandardNormal);
                value
            })
            .collect()
    }

    #[test]
    fn a_resample_has_as_many_elements_as_the_sequence() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for (length, block) in [(1, 1.0), (7, 3.0), (100, 0.0), (100, 250.0)] {
            let resamples = Resamples::stationary(length, block, 20, &mut random);
            assert_eq!(resamples.iter().count(), 20);
            assert!(resamples.iter().all(|times| times.iter().sum::<u32>() as usize == length));
        }
        assert_eq!(Resamples::stationary(0, 2.0, 20, &mut random).iter().count(), 0);
    }

    #[test]
    fn blocks_contain_consecutive_elements() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let together = |block: f64, random: &mut Xoshiro256PlusPlus| {
            let resamples = Resamples::stationary(200, block, 200, random);
            // A block starts at an element that was drawn more often than its predecessor.
            let begun: u32 = resamples
                .iter()
                .map(|times| times.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).sum::<u32>())
                .sum();
            f64::from(begun) / 200.0
        };
        let (single, long) = (together(1.0, &mut random), together(20.0, &mut random));
        assert!(long < 0.25 * single, "{long} {single}");
    }

    #[test]
    fn the_standard_error_of_a_mean_equals_the_theoretical_one() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        // For an AR(1) series with unit variance, the variance of the mean is (1 + ρ)/(1 − ρ)/n.
        for (rho, slack) in [(0.0_f64, 0.1), (0.5, 0.2)] {
            let n = 4_000;
            let series = autoregressive(n, rho, &mut random);
            let block = stationary_block_length(&series);
            let resamples = Resamples::stationary(n, block, 300, &mut random);
            let mean = |times: &[u32]| {
                Some(times.iter().zip(&series).map(|(t, x)| f64::from(*t) * x).sum::<f64>() / n as f64)
            };
            let found = resamples.standard_error(mean).unwrap();
            let theory = ((1.0 + rho) / (1.0 - rho) / n as f64).sqrt();
            assert!((found / theory - 1.0).abs() < slack, "{rho}: {found} {theory}");
        }
    }

    #[test]
    fn corrected_intervals_cover_the_mean_of_short_dependent_sequences() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let replicates = 400;
        for rho in [0.0, 0.6, 0.8] {
            let held = (0..replicates).filter(|_| {
                let series = autoregressive(100, rho, &mut random);
                let dependence = SerialDependence::of(&series, stationary_block_length(&series));
                let resamples = Resamples::stationary(100, dependence.block, 100, &mut random);
                let mean = |times: &[u32]| {
                    Some(times.iter().zip(&series).map(|(t, x)| f64::from(*t) * x).sum::<f64>() / 100.0)
                };
                let standard_error = dependence.correction * resamples.standard_error(mean).unwrap();
                let known = crate::Contrast {
                    difference: series.iter().sum::<f64>() / 100.0,
                    standard_error,
                    freedom: (dependence.independent - 1.0).max(1.0),
                    resolution: 0.0,
                };
                known.p_value() > 0.05
            });
            let share = held.count() as f64 / f64::from(replicates);
            // The tolerance is three standard errors of the coverage.
            assert!(share >= 0.95 - 0.033, "{rho} {share}");
        }
    }

    #[test]
    fn a_constant_sequence_has_no_dependence() {
        let found = SerialDependence::of(&[2.0; 20], 4.0);
        assert_eq!((found.correction, found.independent), (1.0, 5.0));
        assert_eq!(SerialDependence::of(&[], 1.0).independent, 0.0);
    }

    #[test]
    fn dependent_sequences_need_longer_blocks() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut mean_length = |rho: f64| {
            (0..40).map(|_| stationary_block_length(&autoregressive(500, rho, &mut random))).sum::<f64>()
                / 40.0
        };
        let (none, some, much) = (mean_length(0.0), mean_length(0.5), mean_length(0.9));
        assert!(none < some && some < much, "{none} {some} {much}");
        // The optimal length for the true spectrum is (2ρ/(1 − ρ²))^(2/3) n^(1/3), because G/g(0) = 2ρ/(1 − ρ²).
        let theory = |rho: f64| (2.0 * rho / (1.0 - rho * rho)).powf(2.0 / 3.0) * 500.0_f64.cbrt();
        assert!((some / theory(0.5) - 1.0).abs() < 0.35, "{some} {}", theory(0.5));
        assert!(stationary_block_length(&[1.0; 50]) == 1.0 && stationary_block_length(&[]) == 1.0);
    }
}
