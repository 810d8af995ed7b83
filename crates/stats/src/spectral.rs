//! Estimates the variance of the mean of an autocorrelated series from the series' spectrum at frequency zero.

use std::f64::consts::TAU;

/// The variance of a mean, with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceOfMean {
    /// The variance of the mean.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
}

/// Number of ordinates of the smoothed periodogram to which the parabola is fitted.
const ORDINATES: usize = 25;

/// Minimum length of a series. Each ordinate needs two frequencies, and all frequencies must be at most one half.
pub const SPECTRAL_VALUES_MIN: usize = 4 * ORDINATES;

/// For [`ORDINATES`] and a parabola: the factor that makes the exponential of the fitted value unbiased, and the degrees of
/// freedom of the result (Heidelberger and Welch, table 1).
const UNBIASED: f64 = 0.882;
const FREEDOM: f64 = 7.0;

/// The negated expectation of ln((X + Y)/2) for independent exponential variates X and Y with mean 1: ln 2 − ψ(2).
const LOG_BIAS: f64 = 0.270;

/// Estimates the variance of the mean of an autocorrelated series with the method of Heidelberger and Welch, "A spectral method
/// for confidence interval generation and run length control in simulations" (CACM 24, 1981). A parabola is fitted to the
/// logarithms of the periodogram near frequency zero, averaged over pairs of frequencies, and extrapolated to zero. Unlike the
/// method of batch means, this method is valid for a long range of dependence.
///
/// The variance of a constant series is 0. `None` for fewer than [`SPECTRAL_VALUES_MIN`] values, or if a value is not finite.
#[must_use]
pub fn spectral_variance(values: &[f64]) -> Option<VarianceOfMean> {
    let n = values.len();
    if n < SPECTRAL_VALUES_MIN {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n as f64;
    let square: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    if !square.is_finite() {
        return None;
    }
    let scale = square / n as f64;
    // Because of rounding, the mean of equal values may differ from these values.
    let is_constant = values.iter().all(|value| *value == values[0]);
    if is_constant || scale <= f64::EPSILON * f64::EPSILON * mean * mean {
        return Some(VarianceOfMean { variance: 0.0, freedom: FREEDOM });
    }
    // Powers are divided by the variance, so that the minimum below does not depend on the unit.
    let power = |frequency: usize| periodogram(values, mean, frequency) / scale;
    let logs: Vec<(f64, f64)> = (1..=ORDINATES)
        .map(|k| {
            let smoothed = f64::midpoint(power(2 * k - 1), power(2 * k));
            let frequency = (4 * k - 1) as f64 / (2 * n) as f64;
            (frequency, smoothed.max(1e-12).ln() + LOG_BIAS)
        })
        .collect();
    let at_zero = UNBIASED * parabola_at_zero(&logs)?.exp() * scale;
    Some(VarianceOfMean { variance: at_zero / n as f64, freedom: FREEDOM })
}

/// I(j/n) = |Σ (x_t − mean) e^(−2πi jt/n)|² / n, by Goertzel's recurrence (American Mathematical Monthly 65, 1958).
fn periodogram(values: &[f64], mean: f64, frequency: usize) -> f64 {
    let angle = TAU * frequency as f64 / values.len() as f64;
    let twice = 2.0 * angle.cos();
    let (mut last, mut before) = (0.0, 0.0);
    for value in values {
        (last, before) = (value - mean + twice * last - before, last);
    }
    (last * last + before * before - twice * last * before).max(0.0) / values.len() as f64
}

/// The value at 0 of the least-squares parabola through points.
fn parabola_at_zero(points: &[(f64, f64)]) -> Option<f64> {
    // The points are centred and scaled for numerical stability of the normal equations.
    let n = points.len() as f64;
    let middle = points.iter().map(|(x, _)| x).sum::<f64>() / n;
    let reach = points.iter().map(|(x, _)| (x - middle).abs()).fold(0.0, f64::max);
    let (mut s2, mut s4, mut sy, mut sxy, mut sxxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in points {
        let u = (x - middle) / reach;
        s2 += u * u;
        s4 += u * u * u * u;
        sy += y;
        sxy += u * y;
        sxxy += u * u * y;
    }
    // The points are equidistant, so the sums of odd powers are zero and the slope is independent of the other coefficients.
    let determinant = n * s4 - s2 * s2;
    let (constant, slope, curve) =
        ((sy * s4 - sxxy * s2) / determinant, sxy / s2, (n * sxxy - s2 * sy) / determinant);
    let u = -middle / reach;
    let found = constant + slope * u + curve * u * u;
    found.is_finite().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// A first-order autoregressive series: x_t = φ x_{t−1} + noise.
    fn autoregressive(phi: f64, n: usize, random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let mut noise = || {
            let normal: f64 = random.sample(rand_distr::StandardNormal);
            normal
        };
        let mut value = noise() / (1.0 - phi * phi).sqrt();
        (0..n)
            .map(|_| {
                value = phi * value + noise();
                value
            })
            .collect()
    }

    #[test]
    fn goertzel_equals_the_fourier_sum() {
        let values: Vec<f64> = (0..128).map(|i| (f64::from(i) * 0.37).sin() + f64::from(i % 5)).collect();
        let mean = values.iter().sum::<f64>() / 128.0;
        for frequency in [1, 7, 50] {
            let (mut re, mut im) = (0.0, 0.0);
            for (t, value) in values.iter().enumerate() {
                let angle = TAU * (frequency * t) as f64 / 128.0;
                re += (value - mean) * angle.cos();
                im -= (value - mean) * angle.sin();
            }
            let direct: f64 = (re * re + im * im) / 128.0;
            let found = periodogram(&values, mean, frequency);
            assert!((found - direct).abs() < 1e-8 * (1.0 + direct), "{frequency}: {found} {direct}");
        }
    }

    #[test]
    fn an_exact_parabola_is_extrapolated_exactly() {
        let points: Vec<(f64, f64)> =
            (1..=25).map(f64::from).map(|x| (x, 3.0 - 0.5 * x + 0.01 * x * x)).collect();
        assert!((parabola_at_zero(&points).unwrap() - 3.0).abs() < 1e-10);
    }

    #[test]
    fn the_variance_equals_that_of_the_process_on_average() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        // The 25 ordinates extend to the frequency 50/n. If the spectrum decreases strongly up to there (as in the last case),
        // the parabola is too high at zero, and intervals are too wide rather than too narrow.
        for (phi, n, from, to) in
            [(0.0, 256, 0.85, 1.15), (0.5, 256, 0.85, 1.15), (0.8, 1_024, 0.85, 1.15), (0.8, 256, 1.0, 1.4)]
        {
            // The limit of n Var(mean) is 1/(1 − φ)².
            let expected = 1.0 / (1.0 - phi) / (1.0 - phi);
            let rounds = 400;
            let found: f64 = (0..rounds)
                .map(|_| {
                    let found = spectral_variance(&autoregressive(phi, n, &mut random)).unwrap();
                    found.variance * n as f64
                })
                .sum::<f64>()
                / f64::from(rounds);
            let ratio = found / expected;
            assert!((from..to).contains(&ratio), "{phi}, {n}: {found} for {expected}");
        }
    }

    #[test]
    fn short_and_constant_series_are_handled() {
        assert_eq!(spectral_variance(&[1.0; SPECTRAL_VALUES_MIN - 1]), None);
        assert_eq!(spectral_variance(&[0.1; SPECTRAL_VALUES_MIN]).unwrap().variance, 0.0);
        assert_eq!(spectral_variance(&[f64::NAN; SPECTRAL_VALUES_MIN]), None);
    }
}
