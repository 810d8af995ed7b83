//! The response surface of two numeric factors.

use serde::{Deserialize, Serialize};

use super::analysis::EffectInterval;
use super::block_contrast::BlockContrast;
use super::table::ResponseTable;
use crate::design::{CaseSet, DesignKind};

/// The terms of the polynomial of second order: constant, u, v, u², v², uv.
const TERMS: usize = 6;

/// The names of the terms that have an effect.
const NAMES: [&str; TERMS - 1] = ["u", "v", "u²", "v²", "u v"];

/// The logarithm of a factor is used if the ratio of its largest to its smallest level is at least this.
const LOGARITHM_FROM: f64 = 4.0;

/// A pivot below this size is 0.
const SINGULAR: f64 = 1e-9;

/// A polynomial of second order for two numeric factors of a full factorial, averaged over all others.
///
/// u and v are the levels of the factors, or their logarithms, from −1 (smallest) to 1 (largest). Each coefficient is a linear
/// contrast of the cases, so its interval is that of Student's t over the blocks, as for all effects (Box and Wilson, Journal of
/// the Royal Statistical Society B 13, 1951, page 1, describe the model).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResponseSurface {
    /// The two factors, as indices.
    pub factors: [usize; 2],
    /// Whether the logarithm of the levels is used, for each factor.
    pub is_logarithmic: [bool; 2],
    /// The terms u, v, u², v² and uv.
    pub terms: Vec<SurfaceTerm>,
    /// Confidence of each interval. All intervals together have the confidence of the analysis (Bonferroni's
    /// inequality).
    pub confidence: f64,
    /// The largest difference of a measured mean of a pair of levels from the polynomial, in percent or in percentage points.
    pub largest_misfit: f64,
    /// Number of blocks that have all cases.
    pub blocks: usize,
}

/// A term of a surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurfaceTerm {
    /// The term, such as `u²`.
    pub name: String,
    /// The change by the term at 1, in percent or in percentage points.
    pub change: f64,
    /// Its interval.
    pub interval: Option<EffectInterval>,
}

/// The level of a factor as a number: the digits at the beginning of its name, such as 50 for `50 %`.
#[must_use]
pub fn level_number(name: &str) -> Option<f64> {
    let end = name.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(name.len());
    let rest = name[end..].trim_start();
    // A name such as `5x5` or `8 users - 0.1 s` is not a number with a unit.
    let is_unit = rest.chars().all(|c| c.is_alphabetic() || c == '%' || c == '/');
    name[..end].parse().ok().filter(|number: &f64| is_unit && number.is_finite())
}

/// The numbers of all levels of a factor, if all levels are different numbers.
pub(super) fn level_numbers(levels: &[String]) -> Option<Vec<f64>> {
    let numbers: Option<Vec<f64>> = levels.iter().map(|name| level_number(name)).collect();
    numbers.filter(|numbers| {
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.windows(2).all(|pair| pair[0] < pair[1])
    })
}

/// The surfaces of all pairs of numeric factors with at least three levels in a full factorial.
#[must_use]
pub fn surfaces(cases: &CaseSet, table: &ResponseTable, error: f64) -> Vec<ResponseSurface> {
    if cases.kind() != DesignKind::FullFactorial {
        return Vec::new();
    }
    let numeric = |at: usize| {
        let levels = &cases.factors()[at].levels;
        level_numbers(levels).filter(|numbers| numbers.len() >= 3).map(|numbers| (at, numbers))
    };
    let factors: Vec<(usize, Vec<f64>)> = (0..cases.factors().len()).filter_map(numeric).collect();
    let pairs = factors
        .iter()
        .enumerate()
        .flat_map(|(at, first)| factors[at + 1..].iter().map(move |second| (first, second)));
    pairs.filter_map(|(first, second)| surface(cases, table, first, second, error)).collect()
}

/// The numbers, scaled to the range from −1 to 1, and whether their logarithms were scaled.
fn coded(numbers: &[f64]) -> (Vec<f64>, bool) {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_logarithmic = low > 0.0 && high / low >= LOGARITHM_FROM;
    let place = |number: f64| if is_logarithmic { number.ln() } else { number };
    let (low, high) = (place(low), place(high));
    (numbers.iter().map(|number| 2.0 * (place(*number) - low) / (high - low) - 1.0).collect(), is_logarithmic)
}

fn terms_at(u: f64, v: f64) -> [f64; TERMS] {
    [1.0, u, v, u * u, v * v, u * v]
}

fn surface(
    cases: &CaseSet,
    table: &ResponseTable,
    (first, first_numbers): &(usize, Vec<f64>),
    (second, second_numbers): &(usize, Vec<f64>),
    error: f64,
) -> Option<ResponseSurface> {
    let ((us, u_logarithmic), (vs, v_logarithmic)) = (coded(first_numbers), coded(second_numbers));
    let rows: Vec<[f64; TERMS]> = cases
        .cases()
        .iter()
        .map(|case| terms_at(us[cases.level(case, *first)], vs[cases.level(case, *second)]))
        .collect();
    let inverse = inverse_of_squares(&rows)?;
    let complete: Vec<Vec<f64>> =
        table.rows().filter_map(|row| row.iter().copied().collect::<Option<Vec<f64>>>()).collect();
    let fits: Vec<[f64; TERMS]> = complete.iter().map(|row| least_squares(&rows, &inverse, row)).collect();
    if fits.len() < 2 {
        return None;
    }
    let scale = table.scale();
    let confidence = 1.0 - error / NAMES.len() as f64;
    let term = |at: usize| {
        let values: Vec<f64> = fits.iter().map(|fit| fit[at]).collect();
        let contrast = BlockContrast::of(&values)?;
        let (mean, half) = (contrast.mean(), contrast.half_width(confidence));
        let interval = EffectInterval { low: scale.percent(mean - half), high: scale.percent(mean + half) };
        Some(SurfaceTerm {
            name: NAMES[at - 1].to_owned(),
            change: scale.percent(mean),
            interval: Some(interval).filter(|found| found.low.is_finite() && found.high.is_finite()),
        })
    };
    let terms: Option<Vec<SurfaceTerm>> = (1..TERMS).map(term).collect();
    Some(ResponseSurface {
        factors: [*first, *second],
        is_logarithmic: [u_logarithmic, v_logarithmic],
        terms: terms?,
        confidence,
        largest_misfit: scale.percent(largest_misfit(&rows, &complete, &fits)),
        blocks: fits.len(),
    })
}

/// The largest difference of the mean of a pair of levels from the fitted polynomial, on the scale of the analysis.
fn largest_misfit(rows: &[[f64; TERMS]], complete: &[Vec<f64>], fits: &[[f64; TERMS]]) -> f64 {
    let blocks = fits.len() as f64;
    let fit: Vec<f64> = (0..TERMS).map(|at| fits.iter().map(|fit| fit[at]).sum::<f64>() / blocks).collect();
    // Cases that differ only in other factors have the same row.
    let mut residuals: Vec<([f64; TERMS], f64, u32)> = Vec::new();
    for (case, row) in rows.iter().enumerate() {
        let mean = complete.iter().map(|values| values[case]).sum::<f64>() / blocks;
        let residual = mean - row.iter().zip(&fit).map(|(x, b)| x * b).sum::<f64>();
        match residuals.iter_mut().find(|(known, ..)| known == row) {
            Some((_, sum, count)) => (*sum, *count) = (*sum + residual, *count + 1),
            None => residuals.push((*row, residual, 1)),
        }
    }
    residuals.iter().map(|(_, sum, count)| (sum / f64::from(*count)).abs()).fold(0.0, f64::max)
}

/// The inverse of XᵀX by Gauss–Jordan elimination; `None` if the terms cannot be estimated separately.
fn inverse_of_squares(rows: &[[f64; TERMS]]) -> Option<[[f64; TERMS]; TERMS]> {
    let mut left = [[0.0; TERMS]; TERMS];
    for row in rows {
        for (i, line) in left.iter_mut().enumerate() {
            line.iter_mut().enumerate().for_each(|(j, cell)| *cell += row[i] * row[j] / rows.len() as f64);
        }
    }
    let mut right = [[0.0; TERMS]; TERMS];
    (0..TERMS).for_each(|at| right[at][at] = 1.0);
    for column in 0..TERMS {
        let pivot =
            (column..TERMS).max_by(|a, b| left[*a][column].abs().total_cmp(&left[*b][column].abs()))?;
        if left[pivot][column].abs() < SINGULAR {
            return None;
        }
        left.swap(column, pivot);
        right.swap(column, pivot);
        let by = left[column][column];
        (0..TERMS).for_each(|at| {
            (left[column][at], right[column][at]) = (left[column][at] / by, right[column][at] / by)
        });
        for line in (0..TERMS).filter(|line| *line != column) {
            let by = left[line][column];
            for at in 0..TERMS {
                left[line][at] -= by * left[column][at];
                right[line][at] -= by * right[column][at];
            }
        }
    }
    Some(right.map(|line| line.map(|cell| cell / rows.len() as f64)))
}

fn least_squares(rows: &[[f64; TERMS]], inverse: &[[f64; TERMS]; TERMS], values: &[f64]) -> [f64; TERMS] {
    let mut products = [0.0; TERMS];
    for (row, value) in rows.iter().zip(values) {
        products.iter_mut().zip(row).for_each(|(product, x)| *product += x * value);
    }
    std::array::from_fn(|at| inverse[at].iter().zip(products).map(|(cell, product)| cell * product).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::DesignFactor;
    use crate::effects::TrialValue;
    use crate::scale::ResponseScale;

    fn factor(name: &str, levels: &[&str]) -> DesignFactor {
        DesignFactor {
            name: name.to_owned(),
            levels: levels.iter().map(|&level| level.to_owned()).collect(),
            base: 0,
        }
    }

    #[test]
    fn the_numbers_of_levels_are_their_first_digits() {
        assert_eq!(level_number("50 %"), Some(50.0));
        assert_eq!(level_number("0.5s"), Some(0.5));
        assert_eq!(level_number("2000"), Some(2000.0));
        assert_eq!([level_number("5x5"), level_number("none"), level_number("8 users - 1 s")], [None; 3]);
        assert_eq!(level_numbers(&["1".to_owned(), "1.0".to_owned()]), None);
    }

    #[test]
    fn a_polynomial_is_found_exactly_and_the_interval_contains_its_coefficients() {
        let factors = vec![
            factor("users", &["10", "100", "1000"]),
            factor("size", &["1", "2", "3"]),
            factor("x", &["a", "b"]),
        ];
        let cases = CaseSet::new(DesignKind::FullFactorial, factors, 100).unwrap();
        let value = |block: u32, case: &crate::design::Case| {
            let (u, v) = (cases.level(case, 0) as f64 - 1.0, cases.level(case, 1) as f64 - 1.0);
            let noise = f64::from(block) * 0.001 * (u + v);
            (1.0 + 0.5 * u - 0.2 * v + 0.3 * u * u + 0.1 * u * v + f64::from(block) + noise).exp()
        };
        let values = (1..=4).flat_map(|block| {
            let value = &value;
            cases.cases().iter().map(move |case| TrialValue {
                block,
                case: case.number,
                value: value(block, case),
            })
        });
        let table =
            ResponseTable::new(cases.count(), ResponseScale::Ratio, values.collect::<Vec<_>>()).unwrap();
        let found = surfaces(&cases, &table, 0.05);
        assert_eq!(found.len(), 1);
        let surface = &found[0];
        assert_eq!((surface.factors, surface.is_logarithmic, surface.blocks), ([0, 1], [true, false], 4));
        let expected = [0.5025, -0.1975, 0.3, 0.0, 0.1].map(|coefficient: f64| 100.0 * coefficient.exp_m1());
        for (term, expected) in surface.terms.iter().zip(expected) {
            assert!((term.change - expected).abs() < 1e-6, "{term:?}, expected {expected}");
        }
        assert!(surface.terms[0].interval.unwrap().low < expected[0]);
        assert!(surface.largest_misfit < 1e-6);
    }

    #[test]
    fn two_levels_have_no_surface() {
        let factors = vec![factor("users", &["10", "100"]), factor("size", &["1", "2", "3"])];
        let cases = CaseSet::new(DesignKind::FullFactorial, factors, 100).unwrap();
        let table = ResponseTable::new(cases.count(), ResponseScale::Ratio, []).unwrap();
        assert!(surfaces(&cases, &table, 0.05).is_empty());
    }
}
