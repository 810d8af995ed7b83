//! Index of dispersion of counts: their variance divided by their mean.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::batches::{Batches, PowerSums, index_of_dispersion};
use crate::estimate::{CONFIDENCE, Estimate, IntervalMethod};

/// Consecutive windows that have ended and have the same count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Number of arrivals in each window.
    pub count: u64,
    /// Number of windows.
    pub windows: u64,
    /// End of the first window, in the unit of the time stamps.
    pub first_end: u64,
}

/// Counts sorted time stamps in consecutive windows of equal width.
///
/// Window k is (origin + k·width, origin + (k+1)·width]. The time stamp at the origin, which determines the windows, is not in
/// any of them, so that even arrivals have the same count in each window. A window is reported when a later time stamp shows
/// that it has ended. All reported windows are therefore inside the observed span.
#[derive(Debug, Clone)]
pub struct WindowCounter {
    width: u64,
    end: u64,
    count: u64,
}

impl WindowCounter {
    /// Creates a counter for windows of this width (at least 1). The first window starts at `origin`. Both are in the
    /// unit of the time stamps.
    #[must_use]
    pub fn new(origin: u64, width: u64) -> WindowCounter {
        let width = width.max(1);
        WindowCounter { width, end: origin.saturating_add(width), count: 0 }
    }

    /// Width of a window, in the unit of the time stamps.
    #[must_use]
    pub fn width(&self) -> u64 {
        self.width
    }

    /// Counts an arrival after the origin, and reports the windows that ended before it.
    #[inline]
    pub fn add(&mut self, stamp: u64, ended: impl FnMut(Windows)) {
        self.add_many(stamp, 1, ended);
    }

    /// Counts several simultaneous arrivals after the origin, and reports the windows that ended before them.
    #[inline]
    pub fn add_many(&mut self, stamp: u64, arrivals: u64, ended: impl FnMut(Windows)) {
        if stamp > self.end {
            self.pass(stamp, ended);
        }
        self.count += arrivals;
    }

    /// Reports the windows that ended before `at`, if there are no more arrivals before `at`.
    pub fn pass(&mut self, at: u64, mut ended: impl FnMut(Windows)) {
        if at <= self.end {
            return;
        }
        ended(Windows { count: self.count, windows: 1, first_end: self.end });
        // The (at − 1 − end) / width windows that also ended are all empty.
        let empty = (at - 1 - self.end) / self.width;
        if empty > 0 {
            ended(Windows { count: 0, windows: empty, first_end: self.end.saturating_add(self.width) });
        }
        self.end = self.end.saturating_add((empty + 1).saturating_mul(self.width));
        self.count = 0;
    }
}

/// Index of dispersion (variance-to-mean ratio) of the counts in windows of equal width: 1 for Poisson arrivals, 0 for even
/// arrivals, above 1 for bursts longer than a window.
#[derive(Debug, Clone)]
pub struct DispersionCounter {
    origin: Option<u64>,
    width: u64,
    counter: WindowCounter,
    windows: u64,
    batches: Batches,
}

/// Maximum number of consecutive empty windows that are counted. A longer pause is truncated to this number, because it would
/// dominate any statistic.
const EMPTY_MAX: u64 = 1 << 20;

impl DispersionCounter {
    /// Creates a counter for windows of this width, in the unit of the time stamps. The first window starts at the first time
    /// stamp.
    #[must_use]
    pub fn new(width: u64) -> DispersionCounter {
        let counter = WindowCounter::new(0, width);
        DispersionCounter {
            origin: None,
            width: counter.width(),
            counter,
            windows: 0,
            batches: Batches::default(),
        }
    }

    /// Adds an arrival. Arrivals must be in order.
    pub fn add(&mut self, stamp: u64) {
        if self.origin.is_none() {
            self.origin = Some(stamp);
            self.counter = WindowCounter::new(stamp, self.width);
            return;
        }
        let (windows, batches) = (&mut self.windows, &mut self.batches);
        self.counter.add(stamp, |ended| {
            *windows += ended.windows;
            for _ in 0..ended.windows.min(EMPTY_MAX) {
                batches.add(ended.count as f64);
            }
        });
    }

    /// Number of windows inside the observed span.
    #[must_use]
    pub fn windows(&self) -> u64 {
        self.windows
    }

    /// The index with its interval; `None` for fewer than two windows, or if all windows are empty.
    #[must_use]
    pub fn index(&self) -> Option<Estimate> {
        dispersion_estimate(&self.batches.parts())
    }
}

/// Index of dispersion of counts that are given in consecutive batches (pivot 0). The interval is the union of two intervals:
/// the interval from batch means is valid for dependence over less than a batch, but too narrow for few windows;
/// [`chi_square_interval`] is valid for few independent windows.
#[must_use]
pub fn dispersion_estimate(parts: &[PowerSums]) -> Option<Estimate> {
    let by_batches = index_of_dispersion(parts, 0.0)?;
    let windows: f64 = parts.iter().map(|part| part.n).sum();
    let (low, high) = chi_square_interval(by_batches.value, windows)?;
    Some(Estimate {
        low: by_batches.low.min(low),
        high: by_batches.high.max(high),
        method: IntervalMethod::BatchMeansAndChiSquare,
        ..by_batches
    })
}

/// Confidence interval of the index of dispersion I of m = `windows` independent counts: (m − 1)·I / χ²(m − 1). It is exact for
/// normal counts of any variance. For Poisson counts with the total n, (m − 1)·I has the mean m − 1 and the variance 2(m − 1)(1
/// − 1/n), nearly those of chi-square (Cochran, "Some methods for strengthening the common χ² tests", Biometrics 10, 1954), so
/// the interval is valid for small counts, too. `None` for fewer than two windows.
#[must_use]
pub fn chi_square_interval(index: f64, windows: f64) -> Option<(f64, f64)> {
    let freedom = windows - 1.0;
    if freedom < 1.0 {
        return None;
    }
    let quantile = |p: f64| chi_square_quantile(p, freedom);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some((index * freedom / quantile(1.0 - tail), index * freedom / quantile(tail)))
}

/// Two-sided p-value of an index of dispersion I of m = `windows` Poisson counts: (m − 1)·I is nearly chi-square with m − 1
/// degrees of freedom, as in [`chi_square_interval`]. From 1,000 degrees of freedom on, the cube root of chi-square is treated
/// as normal (Wilson and Hilferty, 1931).
#[must_use]
pub fn dispersion_p_value(index: f64, windows: f64) -> f64 {
    let freedom = (windows - 1.0).max(1.0);
    let index = index.max(0.0);
    if freedom < 1_000.0
        && let Ok(chi_square) = ChiSquared::new(freedom)
    {
        let statistic = index * freedom;
        return (2.0 * chi_square.cdf(statistic).min(chi_square.sf(statistic))).min(1.0);
    }
    let small = 2.0 / (9.0 * freedom);
    normal_p_value((index.cbrt() - (1.0 - small)) / small.sqrt())
}

/// Probability that a Poisson variable with this mean is at least `count`, which need not be a whole number.
#[must_use]
pub fn poisson_upper_tail(count: f64, mean: f64) -> f64 {
    if count <= 0.0 {
        return 1.0;
    }
    if mean <= 0.0 {
        return 0.0;
    }
    // P(X ≥ k) is the regularized lower incomplete gamma function at (k, mean). For large means its computation does not
    // converge, so a normal approximation is used.
    if mean < 1e4 {
        statrs::function::gamma::gamma_lr(count, mean)
    } else {
        statrs::distribution::Normal::standard().sf((count - 0.5 - mean) / mean.sqrt())
    }
}

/// Two-sided p-value of a standard normal value; 1 for NaN.
#[must_use]
pub fn normal_p_value(z: f64) -> f64 {
    if z.is_nan() {
        return 1.0;
    }
    2.0 * statrs::distribution::Normal::standard().cdf(-z.abs())
}

/// Quantile of chi-square. From 1,000 degrees of freedom on, it is computed with Wilson and Hilferty's approximation by the
/// cube root, which is then accurate to six digits.
fn chi_square_quantile(p: f64, freedom: f64) -> f64 {
    if freedom < 1_000.0
        && let Ok(chi_square) = ChiSquared::new(freedom)
    {
        return chi_square.inverse_cdf(p);
    }
    let z = statrs::distribution::Normal::standard().inverse_cdf(p);
    let small = 2.0 / (9.0 * freedom);
    freedom * (1.0 - small + z * small.sqrt()).powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_exclude_their_start_and_include_their_end() {
        let mut counter = WindowCounter::new(100, 10);
        let mut seen = Vec::new();
        for stamp in [101, 110, 111, 145] {
            counter.add(stamp, |ended| seen.push((ended.first_end, ended.count, ended.windows)));
        }
        assert_eq!(seen, [(110, 2, 1), (120, 1, 1), (130, 0, 2)]);
        counter.pass(150, |_| panic!("the window (140, 150] has not ended at 150"));
        counter.pass(151, |ended| assert_eq!((ended.count, ended.windows), (1, 1)));
    }

    #[test]
    fn even_arrivals_have_no_dispersion() {
        let mut counter = DispersionCounter::new(10_000);
        for i in 0..100_000_u64 {
            counter.add(500 + i * 1_000);
        }
        assert_eq!(counter.windows(), 9_999);
        let index = counter.index().unwrap();
        assert_eq!((index.value, index.low, index.high), (0.0, 0.0, 0.0));
    }

    #[test]
    fn quantiles_equal_tabulated_values() {
        for (p, freedom, table) in [(0.025, 29.0, 16.047), (0.975, 29.0, 45.722), (0.95, 100.0, 124.342)] {
            assert!((chi_square_quantile(p, freedom) - table).abs() < 1e-3);
        }
        let (below, above) = (chi_square_quantile(0.975, 999.9), chi_square_quantile(0.975, 1_000.1));
        assert!((above - below - 0.2).abs() < 0.02, "both methods agree at the boundary: {below} {above}");
    }

    #[test]
    fn p_values_equal_tabulated_values() {
        // These are the 2.5 % and 97.5 % points of chi-square with 29 degrees of freedom.
        for chi_square in [16.047, 45.722] {
            let p_value = dispersion_p_value(chi_square / 29.0, 30.0);
            assert!((p_value - 0.05).abs() < 2e-3, "{p_value}");
        }
        assert!((normal_p_value(-1.96) - 0.05).abs() < 1e-4);
        assert!(dispersion_p_value(0.0, 100.0) < 1e-9);
        // The index is that of twenty equal counts.
        assert!(dispersion_p_value(0.0, 20.0) < 1e-9);
        let (below, above) = (dispersion_p_value(1.1, 1_000.5), dispersion_p_value(1.1, 1_001.5));
        assert!((below / above - 1.0).abs() < 0.02, "both methods agree at the boundary: {below} {above}");
        assert_eq!((normal_p_value(f64::NAN), normal_p_value(f64::INFINITY)), (1.0, 0.0));
    }

    #[test]
    fn poisson_tails_equal_tabulated_values() {
        // P(X ≥ 3) for mean 1 is 1 − 5/(2e).
        assert!((poisson_upper_tail(3.0, 1.0) - 0.080_301).abs() < 1e-6);
        assert!(
            (poisson_upper_tail(10_200.0, 9_999.0) / poisson_upper_tail(10_201.0, 10_000.0) - 1.0).abs()
                < 0.1
        );
        assert_eq!((poisson_upper_tail(0.0, 5.0), poisson_upper_tail(1.0, 0.0)), (1.0, 0.0));
    }

    #[test]
    fn a_long_pause_is_processed_quickly() {
        let mut counter = DispersionCounter::new(1);
        for stamp in [0, 1, 2, u64::MAX] {
            counter.add(stamp);
        }
        assert!(counter.index().is_some());
    }
}
