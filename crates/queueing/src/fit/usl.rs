//! The Universal Scalability Law.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)): λ is the throughput of a single user, σ the serial share of the work (contention,
//! as in Amdahl's law), and κ the cost of interaction between pairs of users (coherency). With κ > 0 the throughput has a peak
//! at N = √((1 − σ)/κ) and decreases beyond it, in contrast to queueing networks with fixed demands (Gunther, "Guerrilla
//! Capacity Planning", Springer 2007, chapter 4; "A general theory of computational scalability", arXiv 0808.1431).

use serde::{Deserialize, Serialize};

use super::least_squares::least_squares;
use super::value::{FittedValue, student_quantile};

/// Minimum number of points recommended by Gunther; with fewer points the three parameters follow the noise.
pub const USL_POINTS_WANTED: usize = 6;

/// The law as a function, with its three parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UslCurve {
    /// λ: throughput of one user per second.
    pub lambda_per_s: f64,
    /// σ: the serial share, 0 to 1.
    pub sigma: f64,
    /// κ: the cost of coherency.
    pub kappa: f64,
}

impl UslCurve {
    /// Throughput of `users`, per second.
    #[must_use]
    pub fn throughput_per_s(&self, users: f64) -> f64 {
        self.lambda_per_s * users / (1.0 + self.sigma * (users - 1.0) + self.kappa * users * (users - 1.0))
    }

    /// The number of users with the maximum throughput; `None` if the throughput does not decrease (κ = 0).
    #[must_use]
    pub fn peak_users(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt())
    }

    /// The maximum throughput: at the peak, or the limit λ/σ of Amdahl's law; `None` without a limit.
    #[must_use]
    pub fn throughput_max_per_s(&self) -> Option<f64> {
        match self.peak_users() {
            Some(peak) => Some(self.throughput_per_s(peak.max(1.0))),
            None => (self.sigma > 0.0).then(|| self.lambda_per_s / self.sigma),
        }
    }
}

/// The law fitted to measurements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UslFit {
    /// The law.
    pub curve: UslCurve,
    /// λ with its interval.
    pub lambda_per_s: FittedValue,
    /// σ with its interval.
    pub sigma: FittedValue,
    /// κ with its interval.
    pub kappa: FittedValue,
    /// Users at the peak; `None` without a peak.
    pub peak_users: Option<FittedValue>,
    /// The maximum throughput; `None` without a limit.
    pub throughput_max_per_s: Option<FittedValue>,
    /// Number of points.
    pub points: usize,
    /// The share of the variance of the throughput that the law explains.
    pub r_squared: f64,
    /// Covariance of λ, σ, κ.
    #[serde(skip)]
    pub(crate) covariance: Vec<Vec<f64>>,
    #[serde(skip)]
    pub(crate) freedom: f64,
}

/// Users, throughput per second, and its standard error if known.
pub type UslPoint = (f64, f64, Option<f64>);

/// Fits the law. Residuals are weighted by the standard errors if all of them are known, otherwise equally, as in Gunther's
/// method and the R package usl. `None` with fewer than four different numbers of users, or if the throughputs do not
/// determine the parameters.
#[must_use]
pub fn fit_usl(points: &[UslPoint]) -> Option<UslFit> {
    let mut users: Vec<f64> = points.iter().map(|point| point.0).collect();
    users.sort_unstable_by(f64::total_cmp);
    users.dedup();
    if users.len() < 4 {
        return None;
    }
    let mean = points.iter().map(|point| point.1).sum::<f64>() / points.len() as f64;
    let errors: Option<Vec<f64>> = points.iter().map(|point| point.2.filter(|error| *error > 0.0)).collect();
    let weights: Vec<f64> = match &errors {
        Some(errors) => errors.iter().map(|error| error.recip()).collect(),
        None => vec![mean.recip(); points.len()],
    };
    let first = points.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let rate = first.1 / first.0;
    // λ is searched in units of the rate per user at the first point, so that all parameters are about 1 or less.
    let curve = |p: &[f64]| UslCurve { lambda_per_s: p[0] * rate, sigma: p[1], kappa: p[2] };
    let bounds = [(1e-9, f64::INFINITY), (0.0, 1.0), (0.0, 1.0)];
    let starts = [[1.0, 0.02, 1e-4], [1.2, 0.2, 1e-6], [1.0, 0.0, 1e-2], [1.0, 0.5, 0.0]];
    let found = starts
        .iter()
        .filter_map(|start| {
            least_squares(start, &bounds, |p, out| {
                let curve = curve(p);
                out.extend(
                    points
                        .iter()
                        .zip(&weights)
                        .map(|(point, weight)| (curve.throughput_per_s(point.0) - point.1) * weight),
                );
            })
        })
        .min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let fitted = curve(&found.parameters);
    let free = found.at_bound.iter().filter(|at_bound| !**at_bound).count();
    let freedom = points.len().saturating_sub(free) as f64;
    let scale = match errors {
        // If the residuals exceed the known errors, the law or the errors are inaccurate, and the intervals are widened.
        Some(_) if freedom > 0.0 => (found.squares / freedom).max(1.0),
        Some(_) => 1.0,
        None => found.squares / freedom,
    };
    let unit = [rate, 1.0, 1.0];
    let covariance: Vec<Vec<f64>> = found
        .covariance?
        .iter()
        .enumerate()
        .map(|(i, row)| row.iter().enumerate().map(|(j, value)| value * scale * unit[i] * unit[j]).collect())
        .collect();
    let total: f64 = points.iter().map(|point| (point.1 - mean).powi(2)).sum();
    let unexplained: f64 =
        points.iter().map(|point| (point.1 - fitted.throughput_per_s(point.0)).powi(2)).sum();
    let value = |i: usize, value: f64| {
        if found.at_bound[i] {
            FittedValue::without_interval(value)
        } else {
            FittedValue::with_error(value, covariance[i][i].sqrt(), freedom, 0.0)
        }
    };
    // Functions of the parameters, by the delta method on a logarithmic scale: they are positive with skewed distributions.
    let derived = |function: &dyn Fn(&UslCurve) -> Option<f64>| -> Option<FittedValue> {
        let value = function(&fitted)?;
        let error = log_error(&fitted, &covariance, function)?;
        let factor = (error * student_quantile(freedom)).exp();
        Some(if factor.is_finite() {
            FittedValue { value, low: Some(value / factor), high: Some(value * factor) }
        } else {
            FittedValue::without_interval(value)
        })
    };
    Some(UslFit {
        curve: fitted,
        lambda_per_s: value(0, fitted.lambda_per_s),
        sigma: value(1, fitted.sigma),
        kappa: value(2, fitted.kappa),
        peak_users: derived(&UslCurve::peak_users),
        throughput_max_per_s: derived(&UslCurve::throughput_max_per_s),
        points: points.len(),
        r_squared: 1.0 - unexplained / total,
        covariance,
        freedom,
    })
}

/// Standard error of the logarithm of a function of the parameters.
pub(crate) fn log_error(
    curve: &UslCurve,
    covariance: &[Vec<f64>],
    function: &dyn Fn(&UslCurve) -> Option<f64>,
) -> Option<f64> {
    let value = function(curve)?;
    let at = [curve.lambda_per_s, curve.sigma, curve.kappa];
    let mut gradient = [0.0; 3];
    for (i, slope) in gradient.iter_mut().enumerate() {
        if covariance[i][i] <= 0.0 {
            continue;
        }
        let step = 1e-5 * at[i];
        let mut moved = at;
        moved[i] += step;
        let next = function(&UslCurve { lambda_per_s: moved[0], sigma: moved[1], kappa: moved[2] })?;
        *slope = (next / value).ln() / step;
    }
    let variance: f64 =
        (0..3).map(|i| (0..3).map(|j| gradient[i] * covariance[i][j] * gradient[j]).sum::<f64>()).sum();
    (variance >= 0.0 && variance.is_finite()).then(|| variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Sun SPARCcenter 2000 in SPEC SDM 91 (Gunther, "Guerrilla Capacity Planning", table 5.3).
    const SDM91: [(f64, f64); 7] = [
        (1.0, 64.9),
        (18.0, 995.9),
        (36.0, 1652.4),
        (72.0, 1853.2),
        (108.0, 1828.9),
        (144.0, 1775.0),
        (216.0, 1702.2),
    ];

    fn points(data: &[(f64, f64)]) -> Vec<UslPoint> {
        data.iter().map(|(n, x)| (*n, *x, None)).collect()
    }

    #[test]
    fn coefficients_and_errors_agree_with_published_ones() {
        let found = fit_usl(&points(&SDM91)).unwrap();
        // The summary of the R package usl 3.0.3 for the same data: estimates 0.0277285, 0.0001044, 89.9952330 with standard
        // errors 0.0091217, 0.0000199, 14.2134894; four degrees of freedom.
        assert_eq!(format!("{:.5}", found.curve.sigma), "0.02773");
        assert_eq!(format!("{:.7}", found.curve.kappa), "0.0001044");
        assert_eq!(format!("{:.2}", found.curve.lambda_per_s), "90.00");
        let t = 2.776_445;
        let error = |value: &FittedValue| (value.high.unwrap() - value.value) / t;
        assert!((error(&found.sigma) / 0.009_121_7 - 1.0).abs() < 1e-3, "{found:?}");
        assert!((error(&found.kappa) / 0.000_019_9 - 1.0).abs() < 5e-3, "{found:?}");
        assert!((error(&found.lambda_per_s) / 14.213_489_4 - 1.0).abs() < 1e-3, "{found:?}");
        // √((1 − 0.0277285)/0.0001044) = 96.5
        let peak = found.peak_users.unwrap();
        assert!((peak.value - 96.5).abs() < 0.1 && peak.contains(80.0) && !peak.contains(300.0), "{peak:?}");
        assert!(found.r_squared > 0.97);
    }

    #[test]
    fn a_curve_without_coherency_is_amdahls_law() {
        let truth = UslCurve { lambda_per_s: 20.0, sigma: 0.1, kappa: 0.0 };
        let data: Vec<(f64, f64)> =
            [1.0, 2.0, 4.0, 8.0, 16.0, 32.0].iter().map(|n| (*n, truth.throughput_per_s(*n))).collect();
        let found = fit_usl(&points(&data)).unwrap();
        assert!((found.curve.sigma - 0.1).abs() < 1e-6 && found.curve.kappa < 1e-9, "{found:?}");
        let limit = UslCurve { kappa: 0.0, ..found.curve }.throughput_max_per_s().unwrap();
        assert!((limit - 200.0).abs() < 1e-3, "λ/σ: {limit}");
        assert_eq!(truth.peak_users(), None);
    }

    #[test]
    fn too_few_loads_have_no_fit() {
        assert_eq!(fit_usl(&points(&SDM91[..3])), None);
        let repeated = [SDM91[0], SDM91[0], SDM91[1], SDM91[2]];
        assert_eq!(fit_usl(&points(&repeated)), None);
    }
}
