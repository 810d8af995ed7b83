//! Regression of excesses on the load, with prior distributions of the coefficients.

use crate::noise::Noise;

/// The terms: a constant, a rising function of the load, and the shortness of the trial.
pub(crate) const COEFFICIENTS: usize = 3;

/// A value for each term.
pub(crate) type Coefficients = [f64; COEFFICIENTS];

/// The means and standard deviations of the coefficients before any trial. The slope is 1 if the measured value is proportional to the
/// load, and large near saturation.
const PRIOR_MEANS: Coefficients = [0.0, 2.0, 0.0];
const PRIOR_DEVIATIONS: Coefficients = [1.0, 4.0, 0.03];

/// Steps of the iteration that weighs distant values less.
const STEPS: usize = 4;

/// A trial near the limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FitPoint {
    pub terms: Coefficients,
    pub excess: f64,
    /// How much it counts, from 0 to 1.
    pub weight: f64,
    /// The reciprocal of the scale of its noise.
    pub inverse_scale: f64,
}

/// The distribution of the coefficients.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fit {
    means: Coefficients,
    covariance: [Coefficients; COEFFICIENTS],
    /// The logarithm of the probability of the excesses (Laplace's approximation).
    pub log_evidence: f64,
}

impl Fit {
    /// The mean and the variance of the curve for the terms of a trial.
    pub(crate) fn at(&self, terms: &Coefficients) -> (f64, f64) {
        let mean = product(&self.means, terms);
        let variance = self.covariance.iter().zip(terms).map(|(row, term)| term * product(row, terms)).sum();
        (mean, f64::max(variance, 0.0))
    }
}

fn product(one: &Coefficients, two: &Coefficients) -> f64 {
    one.iter().zip(two).map(|(one, two)| one * two).sum()
}

/// The root of the mean square of the residuals.
pub(crate) fn residual_scale(points: &[FitPoint], fit: &Fit) -> f64 {
    let total: f64 = points.iter().map(|point| point.weight).sum();
    let square = |point: &FitPoint| {
        let residual = (point.excess - product(&fit.means, &point.terms)) * point.inverse_scale;
        point.weight * residual * residual
    };
    (points.iter().map(square).sum::<f64>() / total.max(f64::MIN_POSITIVE)).sqrt()
}

/// Fits the coefficients. `None` if the values are not finite.
pub(crate) fn fit(points: &[FitPoint], noise: Noise) -> Option<Fit> {
    let mut means = PRIOR_MEANS;
    let mut factor = Factor::default();
    for step in 0..STEPS {
        let mut matrix = [[0.0; COEFFICIENTS]; COEFFICIENTS];
        let mut right = [0.0; COEFFICIENTS];
        for at in 0..COEFFICIENTS {
            matrix[at][at] = PRIOR_DEVIATIONS[at].powi(-2);
            right[at] = PRIOR_MEANS[at] * matrix[at][at];
        }
        for point in points {
            let residual = (point.excess - product(&means, &point.terms)) * point.inverse_scale;
            let robust = if step == 0 { 1.0 } else { noise.weight(residual) };
            let weight = point.weight * robust * point.inverse_scale.powi(2);
            for row in 0..COEFFICIENTS {
                right[row] += weight * point.terms[row] * point.excess;
                for (cell, term) in matrix[row].iter_mut().zip(point.terms).take(row + 1) {
                    *cell += weight * point.terms[row] * term;
                }
            }
        }
        factor = Factor::of(&matrix)?;
        means = factor.solve(&right);
    }
    let log_evidence =
        log_likelihood(points, noise, &means) + log_prior(&means) - factor.log_determinant() / 2.0;
    let mut covariance = [[0.0; COEFFICIENTS]; COEFFICIENTS];
    for (at, column) in covariance.iter_mut().enumerate() {
        let mut unit = [0.0; COEFFICIENTS];
        unit[at] = 1.0;
        *column = factor.solve(&unit);
    }
    log_evidence.is_finite().then_some(Fit { means, covariance, log_evidence })
}

fn log_likelihood(points: &[FitPoint], noise: Noise, means: &Coefficients) -> f64 {
    let of = |point: &FitPoint| {
        let residual = (point.excess - product(means, &point.terms)) * point.inverse_scale;
        point.weight * (noise.log_density(residual) + point.inverse_scale.ln())
    };
    points.iter().map(of).sum()
}

fn log_prior(means: &Coefficients) -> f64 {
    let of = |at: usize| ((means[at] - PRIOR_MEANS[at]) / PRIOR_DEVIATIONS[at]).powi(2);
    -(0..COEFFICIENTS).map(of).sum::<f64>() / 2.0
}

/// The lower triangular factor of a symmetric matrix (Cholesky).
#[derive(Debug, Clone, Copy, Default)]
struct Factor([Coefficients; COEFFICIENTS]);

impl Factor {
    fn of(matrix: &[Coefficients; COEFFICIENTS]) -> Option<Factor> {
        let mut lower = [[0.0; COEFFICIENTS]; COEFFICIENTS];
        for row in 0..COEFFICIENTS {
            for column in 0..=row {
                let inner: f64 = (0..column).map(|at| lower[row][at] * lower[column][at]).sum();
                let rest = matrix[row][column] - inner;
                lower[row][column] = if row == column {
                    (rest > 0.0).then(|| rest.sqrt())?
                } else {
                    rest / lower[column][column]
                };
            }
        }
        Some(Factor(lower))
    }

    fn solve(&self, right: &Coefficients) -> Coefficients {
        let lower = &self.0;
        let mut found = *right;
        for row in 0..COEFFICIENTS {
            let inner: f64 = (0..row).map(|at| lower[row][at] * found[at]).sum();
            found[row] = (found[row] - inner) / lower[row][row];
        }
        for row in (0..COEFFICIENTS).rev() {
            let inner: f64 = (row + 1..COEFFICIENTS).map(|at| lower[at][row] * found[at]).sum();
            found[row] = (found[row] - inner) / lower[row][row];
        }
        found
    }

    fn log_determinant(&self) -> f64 {
        2.0 * (0..COEFFICIENTS).map(|at| self.0[at][at].ln()).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::NOISES;

    #[test]
    fn a_curve_without_noise_is_found_and_an_outlier_counts_little_with_heavy_tails() {
        let point = |load: f64, more: f64| FitPoint {
            terms: [1.0, load, 0.0],
            excess: 0.1 + 2.0 * load + more,
            weight: 1.0,
            inverse_scale: 100.0,
        };
        let mut points: Vec<FitPoint> = (-10..10).map(|at| point(f64::from(at) / 50.0, 0.0)).collect();
        let terms = [1.0, 0.1, 0.0];
        let (mean, variance) = fit(&points, NOISES[0]).unwrap().at(&terms);
        assert!((mean - 0.3).abs() < 0.002 && variance < 1e-4, "{mean} {variance}");
        points[5].excess += 5.0;
        let errors = NOISES.map(|noise| (fit(&points, noise).unwrap().at(&terms).0 - 0.3).abs());
        assert!(errors[1] < 0.01 && errors[1] < errors[0], "{errors:?}");
    }
}
