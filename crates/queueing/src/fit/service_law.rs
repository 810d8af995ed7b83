//! Probability laws of measured times.
//!
//! Each family is fitted by maximum likelihood and ranked by Akaike's criterion. The best law is tested with Anderson
//! and Darling's statistic, whose null distribution is simulated with parameters fitted for each sample (the
//! parametric bootstrap of Stute, Gonzáles Manteiga and Presedo Quindimil, "Bootstrap based goodness-of-fit tests",
//! Metrika 40, 1993). The standard tables assume known parameters; with them, the test would accept laws far too often.
//!
//! Times in whole milliseconds are not continuous. Therefore equal values are spread evenly over their millisecond, both in
//! the measurement and in each simulation.

mod families;

use rand::Rng;
use serde::Serialize;

pub use families::FittedLaw;
use families::{FAMILIES, Family};

/// Maximum number of values. With more values the test would be slow and reject every law; values are selected at regular
/// intervals.
pub const VALUES_MAX: usize = 5_000;

/// Minimum number of values; fewer values do not distinguish laws.
pub const VALUES_MIN: usize = 30;

/// A fitted law and its quality.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LawCandidate {
    /// The law.
    pub law: FittedLaw,
    /// Akaike's criterion: 2k − 2 ln L. The lowest value is the best.
    pub aic: f64,
    /// Difference from the lowest value. A law with more than 10 has almost no support (Burnham & Anderson, "Model
    /// Selection", 2002).
    pub aic_excess: f64,
}

/// The laws fitted to a sample of times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ServiceLawFit {
    /// Number of values that were used.
    pub values: usize,
    /// Number of values that were given.
    pub values_given: usize,
    /// Mean of the values in seconds.
    pub mean_s: f64,
    /// Coefficient of variation of the values.
    pub cov: f64,
    /// The laws, best first.
    pub candidates: Vec<LawCandidate>,
    /// Anderson and Darling's A² of the best law.
    pub statistic: f64,
    /// Probability of a statistic at least this large if the best law is true.
    pub p_value: f64,
    /// Number of simulations. The p-value is at least 1/(1 + replicates).
    pub replicates: u32,
}

/// Fits all families to times in seconds, which are rounded to multiples of `rounded_to_s` (0 if they are not rounded). `None`
/// with fewer than [`VALUES_MIN`] values, with a negative value, or if all values are equal.
#[must_use]
pub fn fit_service_law(
    values_s: &[f64],
    rounded_to_s: f64,
    replicates: u32,
    random: &mut (impl Rng + ?Sized),
) -> Option<ServiceLawFit> {
    let step = values_s.len().div_ceil(VALUES_MAX).max(1);
    let taken: Vec<f64> = values_s.iter().copied().step_by(step).collect();
    if taken.len() < VALUES_MIN || taken.iter().any(|value| !value.is_finite() || *value < 0.0) {
        return None;
    }
    let sorted = spread(taken, rounded_to_s);
    let n = sorted.len() as f64;
    let mean_s = sorted.iter().sum::<f64>() / n;
    let variance = sorted.iter().map(|value| (value - mean_s).powi(2)).sum::<f64>() / (n - 1.0);
    // The variance of equal values is not exactly 0, because of rounding errors in the mean.
    if variance <= 1e-18 * mean_s * mean_s || sorted[0] <= 0.0 {
        return None;
    }
    let mut candidates: Vec<(Family, LawCandidate)> = FAMILIES
        .iter()
        .filter_map(|family| {
            let law = family.fit(&sorted)?;
            let aic = 2.0 * law.free_parameters() - 2.0 * law.log_likelihood(&sorted);
            aic.is_finite().then_some((*family, LawCandidate { law, aic, aic_excess: 0.0 }))
        })
        .collect();
    candidates.sort_by(|a, b| a.1.aic.total_cmp(&b.1.aic));
    let (family, best) = candidates.first().cloned()?;
    let statistic = anderson_darling(&sorted, &best.law);
    let mut exceeded = 0_u32;
    for _ in 0..replicates {
        let drawn = (0..sorted.len()).map(|_| best.law.draw(random)).collect();
        let drawn = spread(round(drawn, rounded_to_s), rounded_to_s);
        // If the family cannot be fitted to a simulation, its statistic is infinite.
        let simulated = family.fit(&drawn).map_or(f64::INFINITY, |law| anderson_darling(&drawn, &law));
        exceeded += u32::from(simulated >= statistic);
    }
    Some(ServiceLawFit {
        values: sorted.len(),
        values_given: values_s.len(),
        mean_s,
        cov: variance.sqrt() / mean_s,
        candidates: candidates
            .into_iter()
            .map(|(_, candidate)| LawCandidate { aic_excess: candidate.aic - best.aic, ..candidate })
            .collect(),
        statistic,
        p_value: f64::from(1 + exceeded) / f64::from(1 + replicates),
        replicates,
    })
}

fn round(mut values: Vec<f64>, step: f64) -> Vec<f64> {
    if step > 0.0 {
        values.iter_mut().for_each(|value| *value = (*value / step).round() * step);
    }
    values
}

/// Sorts values, and spreads equal values over the rounding interval of width `step` around them. Zeros are spread over its
/// upper half.
fn spread(mut values: Vec<f64>, step: f64) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    if step <= 0.0 {
        return values;
    }
    for equal in values.chunk_by_mut(|a, b| (a - b).abs() < 1e-3 * step) {
        let (value, count) = (equal[0], equal.len() as f64);
        let (from, to) = ((value - step / 2.0).max(0.0), value + step / 2.0);
        for (at, value) in equal.iter_mut().enumerate() {
            *value = from + (to - from) * (at as f64 + 0.5) / count;
        }
    }
    values
}

/// A² of sorted values (Anderson & Darling, "A test of goodness of fit", JASA 49, 1954).
fn anderson_darling(sorted: &[f64], law: &FittedLaw) -> f64 {
    let n = sorted.len();
    let shares: Vec<f64> = sorted.iter().map(|value| law.cdf(*value).clamp(1e-15, 1.0 - 1e-15)).collect();
    let sum: f64 =
        (0..n).map(|i| (2 * i + 1) as f64 * (shares[i].ln() + (1.0 - shares[n - 1 - i]).ln())).sum();
    -(n as f64) - sum / n as f64
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn draws(law: &FittedLaw, count: usize, seed: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count).map(|_| law.draw(&mut random)).collect()
    }

    #[test]
    fn each_law_is_recovered_from_its_sample() {
        let laws = [
            FittedLaw::Exponential { mean_s: 0.05 },
            FittedLaw::Erlang { shape: 4, mean_s: 0.05 },
            FittedLaw::Lognormal { median_s: 0.05, sigma: 1.0 },
            FittedLaw::Weibull { shape: 0.6, scale_s: 0.05 },
            FittedLaw::Pareto { alpha: 2.5, least_s: 0.01 },
            FittedLaw::Hyperexponential { share: 0.9, first_s: 0.01, second_s: 0.2 },
        ];
        for (seed, law) in (1..).zip(&laws) {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(99);
            let found = fit_service_law(&draws(law, 1_500, seed), 0.0, 19, &mut random).unwrap();
            let has_same_family =
                |a: &FittedLaw, b: &FittedLaw| std::mem::discriminant(a) == std::mem::discriminant(b);
            let candidate =
                found.candidates.iter().find(|candidate| has_same_family(&candidate.law, law)).unwrap();
            // A family with another parameter may have a slightly lower criterion by chance.
            assert!(candidate.aic_excess < 3.0, "{law:?}: {found:?}");
            assert!(found.p_value > 0.05, "{law:?}: {found:?}");
            assert!(
                (candidate.law.mean_s().unwrap() / law.mean_s().unwrap() - 1.0).abs() < 0.15,
                "{law:?}: {candidate:?}"
            );
        }
    }

    #[test]
    fn other_distributions_are_rejected() {
        // Two narrow peaks.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut values = draws(&FittedLaw::Erlang { shape: 400, mean_s: 0.01 }, 500, 1);
        values.extend(draws(&FittedLaw::Erlang { shape: 400, mean_s: 0.1 }, 500, 2));
        let found = fit_service_law(&values, 0.0, 39, &mut random).unwrap();
        assert!(found.p_value <= 0.05, "{found:?}");
    }

    #[test]
    fn a_true_law_is_not_rejected_for_whole_milliseconds() {
        // With a mean of five milliseconds, there are only a few distinct rounded values.
        let law = FittedLaw::Exponential { mean_s: 0.005 };
        let rounded = round(draws(&law, 2_000, 8), 0.001);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let found = fit_service_law(&rounded, 0.001, 39, &mut random).unwrap();
        assert!(found.p_value > 0.05, "{found:?}");
        assert!((found.mean_s / 0.005 - 1.0).abs() < 0.1);
    }

    #[test]
    fn there_is_no_result_without_values() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        assert_eq!(fit_service_law(&[0.1; 29], 0.0, 9, &mut random), None);
        assert_eq!(fit_service_law(&[0.1; 50], 0.0, 9, &mut random), None);
        assert_eq!(fit_service_law(&[-0.1; 50], 0.0, 9, &mut random), None);
    }
}
