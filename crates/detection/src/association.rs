//! Tests whether the harm is larger when a candidate uses more CPU time, by more than noise explains.
//!
//! The values of the harm are replaced by their ranks, so that its tail does not matter. The part that follows the
//! system's own CPU time is subtracted. The number of independent readings is computed with Bartlett's formula for two
//! autocorrelated series, from the autocorrelations of the remaining harm and of the candidate.

use statrs::distribution::{ContinuousCDF as _, Gamma, StudentsT};

use crate::basis::{Basis, dot};
use crate::candidates::Candidate;
use crate::history::History;
use crate::scores::NormalScores;

/// Number of readings that are compared: those of four minutes, with one reading per second.
pub(crate) const WINDOW: usize = 240;

/// Minimum number of readings with known harm.
const READINGS_MIN: usize = 20;

/// Minimum number of independent readings, in addition to the number of columns of the basis.
const INDEPENDENT_MIN: f64 = 6.0;

/// The harm of a window that the system's own CPU time does not explain.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// Readings with known harm.
    pub(crate) at: Vec<usize>,
    pub(crate) basis: Basis,
    /// The unexplained part of the ranked harm, with length 1.
    pub(crate) target: Vec<f64>,
    /// The harm without its largest percent.
    trimmed: Vec<f64>,
}

impl Window {
    /// The window that ends with the newest reading; `None` if too little is known. The CPU time of candidates that were `found` is
    /// subtracted, too.
    pub(crate) fn new(
        history: &History,
        harm: usize,
        found: &[&Candidate],
        scores: &mut NormalScores,
    ) -> Option<Window> {
        let at = history.known(harm, history.len().saturating_sub(WINDOW));
        if at.len() < READINGS_MIN {
            return None;
        }
        let values: Vec<f64> = at.iter().map(|at| history.harm[harm][*at]).collect();
        let own: Vec<f64> = scores.of(&at.iter().map(|at| history.own[*at]).collect::<Vec<f64>>());
        let mut basis = Basis::constant(at.len());
        basis.add(&own);
        basis.add(&own.iter().map(|own| own * own).collect::<Vec<f64>>());
        for candidate in found {
            basis.add(&at.iter().map(|at| candidate.roots[*at]).collect::<Vec<f64>>());
        }
        let target = basis.unit_residual(&scores.of(&values))?;
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let largest = sorted[(sorted.len() * 99 / 100).min(sorted.len() - 1)];
        let trimmed = values.iter().map(|value| value.min(largest)).collect();
        Some(Window { at, basis, target, trimmed })
    }

    /// The same window with the CPU time of a candidate subtracted; `None` if it explains everything.
    pub(crate) fn without(&self, candidate: &Candidate) -> Option<Window> {
        let mut basis = self.basis.clone();
        basis.add(&self.roots(candidate));
        let target = basis.unit_residual(&self.target)?;
        Some(Window { basis, target, ..self.clone() })
    }

    /// The correlation of the CPU time of two candidates in the window.
    pub(crate) fn similarity(&self, one: &Candidate, other: &Candidate) -> f64 {
        let rest = |candidate: &Candidate| self.basis.unit_residual(&self.roots(candidate));
        if one.id == other.id {
            return 1.0;
        }
        rest(one).zip(rest(other)).map_or(0.0, |(one, other)| dot(&one, &other))
    }

    /// The mean score of the last `count` readings, in standard deviations of one reading.
    pub(crate) fn recent_mean(&self, count: usize) -> f64 {
        let last = &self.target[self.target.len().saturating_sub(count)..];
        last.iter().sum::<f64>() / last.len() as f64 * (self.target.len() as f64).sqrt()
    }

    /// The CPU time of a candidate in the window, as square roots.
    pub(crate) fn roots(&self, candidate: &Candidate) -> Vec<f64> {
        self.at.iter().map(|at| candidate.roots[*at]).collect()
    }

    /// The correlation with the CPU time of a candidate that is moved by `lag` readings within the history of `count` readings.
    pub(crate) fn moved_correlation(&self, candidate: &Candidate, lag: usize, count: usize) -> f64 {
        let moved = self.at.iter().enumerate().filter_map(|(place, at)| {
            let from = if *at >= lag { at - lag } else { at + count - lag };
            let root = candidate.roots[from];
            (root > 0.0).then_some((place, root))
        });
        self.basis.sparse_correlation(moved, &self.target)
    }
}

/// The association of a candidate with the harm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Association {
    pub(crate) correlation: f64,
    /// Probability of a correlation that is at least as large in noise.
    pub(crate) p: f64,
    /// Minimum CPU time, in cores, with which the candidate counts as active.
    pub(crate) active: f64,
    /// Mean CPU time while it is active.
    pub(crate) cores: f64,
    /// The harm while the candidate is inactive.
    pub(crate) without: f64,
    /// The additional harm that is associated with the candidate's CPU time while it is active.
    pub(crate) excess: f64,
    /// Readings in which it is active.
    pub(crate) readings: usize,
}

/// Whether a candidate changed in the window, and whether a comparison could find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Glance {
    /// It used the same CPU time in all readings.
    Unchanged,
    /// Its correlation with the harm would be too small even if all readings were independent.
    TooWeak,
    /// A comparison has to decide.
    Open,
}

/// The smallest correlation that can be found, times the square root of the number of readings.
const STATISTIC_MIN: f64 = 3.0;

/// A quick comparison of a candidate with the harm.
pub(crate) fn glance(window: &Window, candidate: &Candidate) -> Glance {
    let roots = window.roots(candidate);
    if roots.iter().all(|root| *root == roots[0]) {
        return Glance::Unchanged;
    }
    let correlation = window.basis.correlation(&roots, &window.target);
    if correlation * (roots.len() as f64).sqrt() < STATISTIC_MIN { Glance::TooWeak } else { Glance::Open }
}

/// Compares a candidate with the harm; `None` if it did not change in the window, or is associated with less harm.
pub(crate) fn associate(window: &Window, candidate: &Candidate) -> Option<Association> {
    let roots = window.roots(candidate);
    let use_rest = window.basis.unit_residual(&roots)?;
    let correlation = dot(&use_rest, &window.target);
    if correlation <= 0.0 {
        return None;
    }
    let rest: Vec<f64> =
        window.target.iter().zip(&use_rest).map(|(harm, used)| harm - correlation * used).collect();
    let product = persistence(&rest, &window.at) * persistence(&use_rest, &window.at);
    let count = roots.len() as f64;
    let independent = count * (1.0 - product) / (1.0 + product) - window.basis.len() as f64 - 1.0;
    if independent < INDEPENDENT_MIN {
        return None;
    }
    let statistic = correlation * (independent / (1.0 - correlation * correlation).max(1e-9)).sqrt();
    let by_t = StudentsT::new(0.0, 1.0, independent).map_or(1.0, |t| t.sf(statistic));
    let skewness = skewness(&window.target) * skewness(&use_rest) / independent.sqrt();
    let p = by_t.max(skewed_tail(correlation * independent.sqrt(), skewness));
    let largest = roots.iter().copied().fold(0.0, f64::max);
    let level = largest / 2.0;
    let mean = |values: &[f64], is_active: bool| {
        let chosen = roots.iter().zip(values).filter(|(root, _)| (**root >= level) == is_active);
        let (sum, count) = chosen.fold((0.0, 0.0), |(sum, count), (_, value)| (sum + value, count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    };
    let squares: Vec<f64> = roots.iter().map(|root| root * root).collect();
    let slope = dot(&window.basis.residual(&window.trimmed), &use_rest)
        / dot(&roots, &use_rest).max(f64::MIN_POSITIVE);
    Some(Association {
        correlation,
        p,
        active: level * level,
        cores: mean(&squares, true),
        readings: roots.iter().filter(|root| **root >= level).count(),
        without: mean(&window.trimmed, false),
        excess: slope * (mean(&roots, true) - mean(&roots, false)),
    })
}

/// The skewness of values with mean 0 and length 1.
fn skewness(values: &[f64]) -> f64 {
    values.iter().map(|value| value.powi(3)).sum::<f64>() * (values.len() as f64).sqrt()
}

/// The probability that noise gives a statistic at least as large, if its distribution is skewed. Permutations of two
/// skewed columns approximately have Pearson's type III distribution. Rare harm and rare use of the CPU are skewed.
fn skewed_tail(statistic: f64, skewness: f64) -> f64 {
    if skewness < 0.01 {
        return 0.0;
    }
    let shape = 4.0 / (skewness * skewness);
    Gamma::new(shape, 1.0).map_or(1.0, |gamma| gamma.sf(shape + statistic * shape.sqrt()))
}

/// The correlation of neighbouring readings: the largest of those that the correlations over one, two and four readings imply, with a
/// correction for their bias (Kendall, Biometrika 41, 1954).
fn persistence(values: &[f64], at: &[usize]) -> f64 {
    let variance = dot(values, values) / values.len() as f64;
    if variance <= 0.0 {
        return 0.0;
    }
    let over = |lag: usize| {
        let (mut sum, mut count) = (0.0, 0.0);
        for place in lag..values.len() {
            if at[place] - at[place - lag] == lag {
                sum += values[place] * values[place - lag];
                count += 1.0;
            }
        }
        if count > 0.0 { (sum / count / variance).max(0.0).powf(1.0 / lag as f64) } else { 0.0 }
    };
    let raw = over(1).max(if over(1) > 0.1 { over(2).max(over(4)) } else { 0.0 });
    (raw + (1.0 + 3.0 * raw) / values.len() as f64).clamp(0.0, 0.98)
}
