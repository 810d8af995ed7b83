//! The known explanations of the harm as orthonormal columns. Their components are subtracted from other columns.

/// Columns of unit length that are orthogonal to each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Basis {
    columns: Vec<Vec<f64>>,
}

/// Maximum number of columns; further ones are not added.
const COLUMNS_MAX: usize = 8;

/// If the squared length of a column shrinks to this share after the subtraction, the column is explained completely.
const EXPLAINED: f64 = 1e-9;

impl Basis {
    /// A constant.
    pub(crate) fn constant(length: usize) -> Basis {
        let mut basis = Basis::default();
        basis.add(&vec![1.0; length]);
        basis
    }

    /// Adds the part of a column that the other columns do not explain.
    pub(crate) fn add(&mut self, column: &[f64]) {
        if self.columns.len() < COLUMNS_MAX
            && let Some(unit) = self.unit_residual(column)
        {
            self.columns.push(unit);
        }
    }

    /// The part of a column that the basis does not explain.
    pub(crate) fn residual(&self, column: &[f64]) -> Vec<f64> {
        let mut rest = column.to_vec();
        for unit in &self.columns {
            let part = dot(unit, &rest);
            rest.iter_mut().zip(unit).for_each(|(value, unit)| *value -= part * unit);
        }
        rest
    }

    /// The residual with length 1; `None` if nothing is left.
    pub(crate) fn unit_residual(&self, column: &[f64]) -> Option<Vec<f64>> {
        let before = dot(column, column);
        let mut rest = self.residual(column);
        let length = dot(&rest, &rest);
        if length.is_nan() || length <= EXPLAINED * before {
            return None;
        }
        let factor = 1.0 / length.sqrt();
        rest.iter_mut().for_each(|value| *value *= factor);
        Some(rest)
    }

    /// The correlation of a column's residual with a unit residual `target`; 0 if nothing is left of the column.
    pub(crate) fn correlation(&self, column: &[f64], target: &[f64]) -> f64 {
        let before = dot(column, column);
        let explained: f64 = self.columns.iter().map(|unit| dot(unit, column).powi(2)).sum();
        let left = before - explained;
        if left.is_nan() || left <= 1e-6 * before { 0.0 } else { dot(column, target) / left.sqrt() }
    }

    /// The correlation of a sparse column, given by its non-zero values with their positions.
    pub(crate) fn sparse_correlation(
        &self,
        column: impl Iterator<Item = (usize, f64)>,
        target: &[f64],
    ) -> f64 {
        let mut parts = [0.0; COLUMNS_MAX];
        let (mut before, mut product) = (0.0, 0.0);
        for (place, value) in column {
            before += value * value;
            product += value * target[place];
            for (part, unit) in parts.iter_mut().zip(&self.columns) {
                *part += value * unit[place];
            }
        }
        let left = before - parts.iter().map(|part| part * part).sum::<f64>();
        if left.is_nan() || left <= 1e-6 * before { 0.0 } else { product / left.sqrt() }
    }

    /// The number of columns.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }
}

/// The inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residuals_are_orthogonal_to_the_basis() {
        let mut basis = Basis::constant(5);
        let load = [1.0, 2.0, 4.0, 3.0, 9.0];
        basis.add(&load);
        basis.add(&[2.0; 5]);
        assert_eq!(basis.len(), 2, "another constant adds nothing");
        let harm = [3.0, 1.0, 7.0, 5.0, 4.0];
        let rest = basis.residual(&harm);
        assert!(dot(&rest, &load).abs() < 1e-9 && rest.iter().sum::<f64>().abs() < 1e-9);
        let unit = basis.unit_residual(&harm).unwrap();
        assert!((basis.correlation(&harm, &unit) - 1.0).abs() < 1e-9);
        assert_eq!(basis.correlation(&load, &unit), 0.0);
        let sparse = [0.0, 5.0, 0.0, 2.0, 0.0];
        let places = sparse.iter().copied().enumerate().filter(|(_, value)| *value > 0.0);
        let direct = basis.correlation(&sparse, &unit);
        assert!((basis.sparse_correlation(places, &unit) - direct).abs() < 1e-9 && direct != 0.0);
        assert!(basis.unit_residual(&load).is_none());
    }
}
