//! Finds changepoints in a series of measurements. The search is repeated after every new value, with a bounded rate of false
//! alarms.
//!
//! The only assumption is that, without a change, every order of the values is equally likely (the values are exchangeable).
//! Their distribution is arbitrary and can be heavy-tailed or discrete. Only ranks are used, so the influence of an outlier is
//! limited.
//!
//! For each possible changepoint k, the values before k and those from k on are ranked together. The evidence for a change at k
//! is a likelihood ratio of the order that is found. Its numerator is the probability of this order if the values before k
//! follow a distribution F and those from k on follow F^a (Lehmann, "The power of rank tests", Annals of Mathematical
//! Statistics 24, 1953; Savage, "Contributions to the theory of rank order statistics", 1956). Its denominator is 1/n!, because
//! n values have n! equally likely orders without a change. The ratio is averaged over several a and over both tails. Without a
//! change, it is a martingale in the number of values, with expectation 1. The probability that it ever reaches c is therefore
//! at most 1/c, even with a test after every value (Ville's inequality). A change is reported when the evidence for a
//! changepoint reaches a threshold c. Every value adds one candidate, so the probability of a false alarm in n values without a
//! change is at most n/c (e-detectors: Shin, Ramdas and Rinaldo, 2023). For several series, this probability is divided among
//! them (Bonferroni).
//!
//! Ties are broken by random numbers from the caller, so that the bound is also valid for measurements that are often equal,
//! such as shares of errors that are mostly 0.

/// Exponents a of the alternative hypotheses: a small step, a larger step, and nearly complete separation of the values.
const EXPONENTS: [f64; 3] = [2.0, 6.0, 30.0];

/// Prior weight of a change to larger values.
const UPWARDS: f64 = 0.75;

/// Maximum number of values before and after a candidate that are compared.
const BEFORE_MAX: usize = 60;
const AFTER_MAX: usize = 40;

/// Candidates are skipped if their rank sum deviates from its expectation by fewer standard deviations than this, because their
/// evidence cannot reach a useful threshold.
const DEVIATIONS_MIN: f64 = 2.3;

/// The changepoint is searched for within this number of values around the candidate with the most evidence.
const STEP_NEAR: usize = 5;

/// Settings for finding changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankChangeSettings {
    /// Minimum number of values before and after a change; at least 2.
    pub values_min: usize,
    /// Evidence at which a change is reported. The probability of a false alarm in n values is at most n divided by this
    /// number.
    pub threshold: f64,
}

/// A changepoint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankChange {
    /// Index of the first value after the change.
    pub at: usize,
    /// Index of the value at which the change was detected.
    pub detected_at: usize,
    /// The evidence at the time of detection. `None` for a return to the level before the preceding change, because a return is
    /// estimated and not tested.
    pub evidence: Option<f64>,
}

/// Returns the changes of `series`, in order. `ties` are independent uniform numbers that break ties between equal values.
///
/// After a change, the search continues with the values after it. A return to the earlier level is reported if the
/// latest [`RankChangeSettings::values_min`] values are all nearer to the level before the change than to the level after
/// it. The return starts at the first of these values.
#[must_use]
pub fn rank_changes(series: &[f64], ties: &[f64], settings: &RankChangeSettings) -> Vec<RankChange> {
    let least = settings.values_min.max(2);
    let mut found = Vec::new();
    let mut window: Vec<usize> = Vec::new();
    let mut former: Option<Vec<usize>> = None;
    for at in 0..series.len().min(ties.len()) {
        window.push(at);
        let place = strongest(&window, series, ties, least).filter(|place| place.1 >= settings.threshold);
        if let Some((split, evidence)) = place {
            let split = nearest_step(&window, series, split, least);
            let after = window.split_off(split);
            found.push(RankChange { at: after[0], detected_at: at, evidence: Some(evidence) });
            former = Some(std::mem::replace(&mut window, after));
        } else if let Some(before) = former.as_ref().filter(|_| window.len() >= 2 * least) {
            let split = window.len() - least;
            let level = |of: &[usize]| median(of.iter().map(|at| series[*at]).collect());
            let (old, new) = (level(before), level(&window[..split]));
            let is_back = |at: &usize| (series[*at] - old).abs() < (series[*at] - new).abs();
            if window[split..].iter().all(is_back) {
                let latest = window.split_off(split);
                found.push(RankChange { at: latest[0], detected_at: at, evidence: None });
                window.clone_from(before);
                window.extend(latest);
                former = None;
            }
        }
    }
    found
}

/// The minimum number of values that a series needs so that a change can reach `threshold`; `None` if 100 values, the most that
/// are compared, are not enough.
#[must_use]
pub fn values_for_change(threshold: f64, least: usize) -> Option<usize> {
    let least = least.max(2);
    // The evidence is largest for a changepoint in the middle of the series with complete separation.
    let best = |n: usize| {
        let from = n.saturating_sub(AFTER_MAX).max(least);
        let splits = from..=n.saturating_sub(least).min(BEFORE_MAX);
        splits.map(|split| evidence(&(0..n).map(|at| at >= split).collect::<Vec<_>>())).fold(0.0, f64::max)
    };
    (2 * least..=BEFORE_MAX + AFTER_MAX).find(|n| best(*n) >= threshold)
}

/// The candidate with the most evidence, as an index into `window`, and its evidence.
fn strongest(window: &[usize], series: &[f64], ties: &[f64], least: usize) -> Option<(usize, f64)> {
    let n = window.len();
    let first = n.saturating_sub(AFTER_MAX).max(least);
    let from = first.saturating_sub(BEFORE_MAX);
    let mut order: Vec<usize> = (from..n).collect();
    let key = |at: &usize| (series[window[*at]], ties[window[*at]]);
    order.sort_by(|a, b| {
        let ((a, a_tie), (b, b_tie)) = (key(a), key(b));
        a.total_cmp(&b).then(a_tie.total_cmp(&b_tie))
    });
    let mut is_after = Vec::with_capacity(order.len());
    let mut best: Option<(usize, f64)> = None;
    for split in first..=n.checked_sub(least)? {
        let begin = split.saturating_sub(BEFORE_MAX);
        is_after.clear();
        is_after.extend(order.iter().filter(|at| **at >= begin).map(|at| *at >= split));
        if deviations(&is_after, n - split).abs() < DEVIATIONS_MIN {
            continue;
        }
        let found = evidence(&is_after);
        if best.is_none_or(|best| found > best.1) {
            best = Some((split, found));
        }
    }
    best
}

/// The changepoint near `split` for which two constant levels fit the values best, measured by absolute deviations from the
/// medians. Ranks alone cannot determine whether a high value just before a step belongs to the step.
fn nearest_step(window: &[usize], series: &[f64], split: usize, least: usize) -> usize {
    let misfit = |part: &[usize]| {
        let values: Vec<f64> = part.iter().map(|at| series[*at]).collect();
        let level = median(values.clone());
        values.iter().map(|value| (value - level).abs()).sum::<f64>()
    };
    let near = split.saturating_sub(STEP_NEAR).max(least)..=(split + STEP_NEAR).min(window.len() - least);
    near.map(|split| (misfit(&window[..split]) + misfit(&window[split..]), split))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(split, |(_, split)| split)
}

/// Deviation of the rank sum of the `after` values after the changepoint from its expectation, in standard deviations.
fn deviations(is_after: &[bool], after: usize) -> f64 {
    let sum: usize = is_after.iter().zip(1..).filter(|(after, _)| **after).map(|(_, rank)| rank).sum();
    let (n, after) = (is_after.len() as f64, after as f64);
    let variance = after * (n - after) * (n + 1.0) / 12.0;
    (sum as f64 - after * (n + 1.0) / 2.0) / variance.sqrt()
}

/// The likelihood ratio of an order, averaged over the alternatives. For each value, in ascending order of the values, `is_after`
/// contains whether it is after the changepoint.
fn evidence(is_after: &[bool]) -> f64 {
    let mut sum = 0.0;
    for a in EXPONENTS {
        let ascending = |raised: bool| ratio(is_after.iter().map(|after| *after == raised), a);
        let descending = |raised: bool| ratio(is_after.iter().rev().map(|after| *after == raised), a);
        // After a change to larger values, the later values are distributed like maxima of several earlier values, or the earlier
        // values like minima of several later values.
        sum += UPWARDS * f64::midpoint(ascending(true), descending(false));
        sum += (1.0 - UPWARDS) * f64::midpoint(ascending(false), descending(true));
    }
    sum / EXPONENTS.len() as f64
}

/// The product of j·cⱼ/(c₁ + … + cⱼ) over the values in order, where c is `a` for raised values and 1 for the others.
fn ratio(is_raised: impl Iterator<Item = bool>, a: f64) -> f64 {
    let (mut weights, mut product, mut rank) = (0.0, 1.0, 0.0);
    for raised in is_raised {
        let weight = if raised { a } else { 1.0 };
        rank += 1.0;
        weights += weight;
        product *= rank * weight / weights;
    }
    product
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const SETTINGS: RankChangeSettings = RankChangeSettings { values_min: 3, threshold: 14_000.0 };

    fn seeded(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    fn changes(series: &[f64], seed: u64) -> Vec<RankChange> {
        let mut random = seeded(seed);
        let ties: Vec<f64> = series.iter().map(|_| random.random()).collect();
        rank_changes(series, &ties, &SETTINGS)
    }

    /// A series with values around consecutive levels.
    fn levels(levels: &[(f64, usize)], seed: u64) -> Vec<f64> {
        let mut random = seeded(seed);
        let mut series = Vec::new();
        for (level, length) in levels {
            series.extend((0..*length).map(|_| level + random.sample::<f64, _>(StandardNormal)));
        }
        series
    }

    #[test]
    fn the_expected_evidence_of_all_orders_is_one() {
        // All 6!/(2!·4!) orders of two later and four earlier values are equally likely without a change.
        let orders: Vec<Vec<bool>> = (0_u32..64)
            .filter(|bits| bits.count_ones() == 2)
            .map(|bits| (0..6).map(|at| bits >> at & 1 == 1).collect())
            .collect();
        let mean = orders.iter().map(|order| evidence(order)).sum::<f64>() / orders.len() as f64;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
        // The evidence for complete separation is at most the number of orders.
        assert!(ratio((0..20).map(|at| at >= 10), 1e9) > 184_000.0);
        assert!(ratio((0..20).map(|at| at >= 10), 1e9) <= 184_756.0);
    }

    #[test]
    fn steps_are_located_exactly_and_detected_soon() {
        let found = changes(&levels(&[(0.0, 30), (5.0, 30), (11.0, 30)], 1), 2);
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [30, 60]);
        assert!(found.iter().all(|change| change.detected_at < change.at + 8), "{found:?}");
    }

    #[test]
    fn a_return_to_the_previous_level_is_found() {
        let found = changes(&levels(&[(0.0, 30), (6.0, 12), (0.0, 20)], 3), 4);
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [30, 42]);
        assert_eq!((found[1].evidence, found[1].detected_at), (None, 44));
    }

    #[test]
    fn outliers_are_not_changes() {
        let mut series = levels(&[(0.0, 80)], 5);
        for at in [20, 40, 41, 79] {
            series[at] = 1_000.0;
        }
        assert_eq!(changes(&series, 6), []);
    }

    #[test]
    fn constant_and_short_series_have_no_changes() {
        // Random tie-breaking alone must not cause a change.
        let alarms = (0..200).filter(|seed| !changes(&[4.0; 100], *seed).is_empty()).count();
        assert!(alarms <= 5, "{alarms}");
        for series in [&[][..], &[1.0], &[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]] {
            assert_eq!(changes(series, 7), []);
        }
        let needed = values_for_change(SETTINGS.threshold, 3).unwrap();
        assert!((15..=22).contains(&needed), "{needed}");
        let step = |n: usize| (0..n).map(|at| if at < n / 2 { 0.0 } else { 1.0 }).collect::<Vec<_>>();
        assert_eq!(changes(&step(needed - 1), 8), []);
        assert_eq!(changes(&step(needed), 8).len(), 1);
        assert_eq!(values_for_change(1e300, 3), None);
    }

    #[test]
    fn the_rate_of_false_alarms_is_bounded_for_any_distribution() {
        // The threshold allows false alarms in 20 % of series of 100 values. The distributions are normal, heavy-tailed, and a
        // share of errors that is mostly 0.
        let settings = RankChangeSettings { threshold: 500.0, ..SETTINGS };
        let laws: [fn(&mut Xoshiro256PlusPlus) -> f64; 3] = [
            |random| random.sample(StandardNormal),
            |random| 1.0 / random.random::<f64>().powi(2),
            |random| f64::from((0..4).filter(|_| random.random_bool(0.05)).count() as u32),
        ];
        for (law, draw) in laws.into_iter().enumerate() {
            let alarms = (0..200)
                .filter(|seed| {
                    let mut random = seeded(1_000 * law as u64 + seed);
                    let series: Vec<f64> = (0..100).map(|_| draw(&mut random)).collect();
                    let ties: Vec<f64> = (0..100).map(|_| random.random()).collect();
                    !rank_changes(&series, &ties, &settings).is_empty()
                })
                .count();
            assert!(alarms <= 40, "law {law}: {alarms} of 200");
        }
    }
}
