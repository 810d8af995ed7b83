//! Nonlinear least squares with bounds.
//!
//! Levenberg and Marquardt's method (Marquardt, "An algorithm for least-squares estimation of nonlinear parameters",
//! SIAM Journal 11, 1963) with numerical derivatives. Steps are truncated at the bounds, and a parameter at its bound
//! is excluded from the covariance. The problems here have two to four parameters and about ten residuals, so
//! normal equations and Gaussian elimination are sufficient.

/// Maximum number of steps; a fit with a few parameters takes about ten.
const STEPS_MAX: usize = 200;

/// The search ends after a step that changes no parameter by more than this share of its value.
const STEP_MIN: f64 = 1e-10;

/// Relative step of numerical derivatives, between the square root and the cube root of the precision of `f64`.
const DIFFERENCE: f64 = 1e-6;

/// A minimum of the sum of squares.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The parameters at the minimum.
    pub parameters: Vec<f64>,
    /// Sum of the squared residuals.
    pub squares: f64,
    /// (JᵀJ)⁻¹: the covariance of the parameters for residuals with variance 1. The rows of parameters at a bound are 0. `None`
    /// if the residuals do not determine the other parameters.
    pub covariance: Option<Vec<Vec<f64>>>,
    /// Whether each parameter is at one of its bounds.
    pub at_bound: Vec<bool>,
}

/// Lower and upper bound of a parameter.
pub type Bounds = (f64, f64);

/// Minimizes the sum of squares, starting at `start`. `residuals` appends the residuals to the vector; their number must be the
/// same in every call. `None` if a residual at the start is not finite.
pub fn least_squares(
    start: &[f64],
    bounds: &[Bounds],
    residuals: impl Fn(&[f64], &mut Vec<f64>),
) -> Option<Minimum> {
    let evaluate = |at: &[f64]| {
        let mut values = Vec::new();
        residuals(at, &mut values);
        let squares: f64 = values.iter().map(|value| value * value).sum();
        (values, squares)
    };
    let clamp = |at: usize, value: f64| value.clamp(bounds[at].0, bounds[at].1);
    let mut at: Vec<f64> = start.iter().enumerate().map(|(i, value)| clamp(i, *value)).collect();
    let (mut values, mut squares) = evaluate(&at);
    if !squares.is_finite() {
        return None;
    }
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        let jacobian = derivatives(&at, bounds, &values, &evaluate);
        let gradient: Vec<f64> =
            jacobian.iter().map(|column| column.iter().zip(&values).map(|(j, r)| j * r).sum()).collect();
        // A parameter at a bound is fixed if the step would exceed the bound.
        let free: Vec<usize> = (0..at.len())
            .filter(|&i| {
                let (low, high) = bounds[i];
                !(at[i] <= low && gradient[i] > 0.0 || at[i] >= high && gradient[i] < 0.0)
            })
            .collect();
        let mut moved = false;
        while damping < 1e12 {
            let mut normal = products(&jacobian, &free);
            for (i, row) in normal.iter_mut().enumerate() {
                row[i] += damping * row[i].max(1e-12);
            }
            let descent: Vec<f64> = free.iter().map(|&i| -gradient[i]).collect();
            let Some(step) = solve(normal, descent) else {
                damping *= 10.0;
                continue;
            };
            let mut next = at.clone();
            for (&i, step) in free.iter().zip(&step) {
                next[i] = clamp(i, at[i] + step);
            }
            let (next_values, next_squares) = evaluate(&next);
            if next_squares.is_finite() && next_squares <= squares {
                let change = at
                    .iter()
                    .zip(&next)
                    .map(|(old, new)| (old - new).abs() / old.abs().max(new.abs()).max(1e-12))
                    .fold(0.0, f64::max);
                moved = change > STEP_MIN;
                (at, values, squares) = (next, next_values, next_squares);
                damping = (damping / 10.0).max(1e-12);
                break;
            }
            damping *= 10.0;
        }
        if !moved {
            break;
        }
    }
    let at_bound: Vec<bool> =
        at.iter().zip(bounds).map(|(value, (low, high))| value <= low || value >= high).collect();
    let free: Vec<usize> = (0..at.len()).filter(|&i| !at_bound[i]).collect();
    let jacobian = derivatives(&at, bounds, &values, &evaluate);
    let covariance = inverse(products(&jacobian, &free)).map(|inner| {
        let mut whole = vec![vec![0.0; at.len()]; at.len()];
        for (row, &i) in inner.iter().zip(&free) {
            for (value, &j) in row.iter().zip(&free) {
                whole[i][j] = *value;
            }
        }
        whole
    });
    Some(Minimum { parameters: at, squares, covariance, at_bound })
}

/// The derivatives of the residuals, one column per parameter.
fn derivatives(
    at: &[f64],
    bounds: &[Bounds],
    values: &[f64],
    evaluate: &impl Fn(&[f64]) -> (Vec<f64>, f64),
) -> Vec<Vec<f64>> {
    (0..at.len())
        .map(|i| {
            let step = DIFFERENCE * at[i].abs().max(1e-3);
            // The step must not exceed the upper bound.
            let step = if at[i] + step > bounds[i].1 { -step } else { step };
            let mut moved = at.to_vec();
            moved[i] += step;
            evaluate(&moved).0.iter().zip(values).map(|(new, old)| (new - old) / step).collect()
        })
        .collect()
}

/// JᵀJ of the given columns.
fn products(jacobian: &[Vec<f64>], columns: &[usize]) -> Vec<Vec<f64>> {
    let product = |a: usize, b: usize| jacobian[a].iter().zip(&jacobian[b]).map(|(a, b)| a * b).sum();
    columns.iter().map(|&i| columns.iter().map(|&j| product(i, j)).collect()).collect()
}

/// Solves a system of linear equations by elimination with pivoting; `None` if it has no unique solution.
fn solve(matrix: Vec<Vec<f64>>, right: Vec<f64>) -> Option<Vec<f64>> {
    let solved = eliminate(matrix, right.into_iter().map(|value| vec![value]).collect())?;
    Some(solved.into_iter().map(|row| row[0]).collect())
}

fn inverse(matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    let unit = (0..size).map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    eliminate(matrix, unit)
}

fn eliminate(mut matrix: Vec<Vec<f64>>, mut right: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = matrix.len();
    // Rows and columns are scaled by the diagonal, so that different magnitudes of parameters do not make it singular.
    let scale: Vec<f64> = (0..size).map(|i| matrix[i][i].abs().sqrt()).collect();
    if scale.iter().any(|scale| !scale.is_finite() || *scale == 0.0) {
        return None;
    }
    for i in 0..size {
        matrix[i].iter_mut().zip(&scale).for_each(|(value, column_scale)| *value /= scale[i] * column_scale);
        right[i].iter_mut().for_each(|value| *value /= scale[i]);
    }
    for column in 0..size {
        let pivot =
            (column..size).max_by(|&a, &b| matrix[a][column].abs().total_cmp(&matrix[b][column].abs()))?;
        if matrix[pivot][column].abs() < 1e-13 {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        let (pivot_row, pivot_right) = (matrix[column].clone(), right[column].clone());
        for other in (0..size).filter(|&other| other != column) {
            let factor = matrix[other][column] / pivot_row[column];
            matrix[other].iter_mut().zip(&pivot_row).for_each(|(value, pivot)| *value -= factor * pivot);
            right[other].iter_mut().zip(&pivot_right).for_each(|(value, pivot)| *value -= factor * pivot);
        }
    }
    for i in 0..size {
        let pivot = matrix[i][i] * scale[i];
        right[i].iter_mut().for_each(|value| *value /= pivot);
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: Bounds = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn a_straight_line_is_fitted() {
        // Through (0, 1), (1, 3), (2, 4), (3, 4): slope 1, intercept 1.5, sum of squares 1.
        let points = [(0.0, 1.0), (1.0, 3.0), (2.0, 4.0), (3.0, 4.0)];
        let found = least_squares(&[0.0, 0.0], &[FREE; 2], |p, out| {
            out.extend(points.iter().map(|(x, y)| p[0] + p[1] * x - y));
        })
        .unwrap();
        assert!(
            (found.parameters[0] - 1.5).abs() < 1e-7 && (found.parameters[1] - 1.0).abs() < 1e-7,
            "{found:?}"
        );
        assert!((found.squares - 1.0).abs() < 1e-9);
        // (XᵀX)⁻¹ with Σ1 = 4, Σx = 6, Σx² = 14.
        let covariance = found.covariance.unwrap();
        for (i, j, expected) in [(0, 0, 0.7), (0, 1, -0.3), (1, 1, 0.2)] {
            assert!((covariance[i][j] - expected).abs() < 1e-6, "{covariance:?}");
        }
    }

    #[test]
    fn rosenbrocks_function_is_minimized() {
        let found = least_squares(&[-1.2, 1.0], &[FREE; 2], |p, out| {
            out.extend([10.0 * (p[1] - p[0] * p[0]), 1.0 - p[0]]);
        })
        .unwrap();
        assert!((found.parameters[0] - 1.0).abs() < 1e-6 && found.squares < 1e-12, "{found:?}");
    }

    #[test]
    fn bounds_are_respected_and_reported() {
        let found = least_squares(&[1.0, 1.0], &[(0.0, 5.0), FREE], |p, out| {
            out.extend([p[0] + 2.0, p[1] - 3.0, p[1] - 4.0]);
        })
        .unwrap();
        assert_eq!((found.parameters[0], &found.at_bound[..]), (0.0, &[true, false][..]));
        assert!((found.parameters[1] - 3.5).abs() < 1e-8);
        assert_eq!(found.covariance.unwrap()[0], [0.0, 0.0]);
    }

    #[test]
    fn undetermined_parameters_have_no_covariance() {
        let found = least_squares(&[1.0, 1.0], &[FREE; 2], |p, out| {
            out.extend([p[0] + p[1] - 3.0, p[0] + p[1] - 3.5]);
        })
        .unwrap();
        assert_eq!(found.covariance, None);
        assert_eq!(least_squares(&[1.0], &[FREE], |_, out| out.push(f64::NAN)), None);
    }
}
