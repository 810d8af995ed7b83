//! Tests the statistical tests: p-values are uniform under the null hypothesis, and small under alternatives.

use busyhour_stats::{
    TestResult, anderson_darling_exponential, autocorrelations, kolmogorov_uniform, lilliefors_exponential,
    lilliefors_rounded, ljung_box,
};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

const REPLICATES: u64 = 200;

/// Minimum p-value of the test whether p-values are uniform. Smaller values occur by chance for one in a thousand choices of
/// seeds; the seeds are fixed.
const UNIFORM_MIN: f64 = 0.001;

fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

fn exponential(n: usize, seed: u64) -> Vec<f64> {
    let mut random = generator(seed);
    (0..n).map(|_| random.sample::<f64, _>(Exp1) * 31.5).collect()
}

/// Renewal gaps with mean 1 and this coefficient of variation.
fn gamma(n: usize, cov: f64, seed: u64) -> Vec<f64> {
    let shape = 1.0 / (cov * cov);
    let law = Gamma::new(shape, 1.0 / shape).unwrap();
    let mut random = generator(seed);
    (0..n).map(|_| law.sample(&mut random)).collect()
}

#[track_caller]
fn assert_uniform(test: impl Fn(u64) -> Option<TestResult>) {
    let mut p_values: Vec<f64> = (0..REPLICATES).map(|seed| test(seed).unwrap().p_value).collect();
    assert!(p_values.iter().all(|p| (0.0..=1.0).contains(p)));
    let found = kolmogorov_uniform(&mut p_values).unwrap();
    assert!(found.p_value > UNIFORM_MIN, "not uniform: {found:?} {p_values:?}");
}

/// Share of seeds in which the test rejects at 1 %.
fn power(test: impl Fn(u64) -> Option<TestResult>) -> f64 {
    let rejected = (0..50).filter(|&seed| test(seed).unwrap().p_value < 0.01).count();
    rejected as f64 / 50.0
}

#[test]
fn p_values_of_kolmogorov_are_uniform_for_few_and_many_values() {
    for n in [5, 20, 500] {
        assert_uniform(|seed| {
            let mut random = generator(seed);
            let mut values: Vec<f64> = (0..n).map(|_| random.random()).collect();
            kolmogorov_uniform(&mut values)
        });
    }
    let squares = |seed| {
        let mut random = generator(seed);
        kolmogorov_uniform(&mut (0..300).map(|_| random.random::<f64>().powi(2)).collect::<Vec<_>>())
    };
    assert_eq!(power(squares), 1.0);
}

#[test]
fn p_values_of_lilliefors_are_uniform_for_an_estimated_mean() {
    for n in [20, 100, 1_000] {
        assert_uniform(|seed| lilliefors_exponential(&mut exponential(n, seed)));
    }
    let naive = |seed| {
        let gaps = exponential(100, seed);
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        kolmogorov_uniform(&mut gaps.iter().map(|gap| -(-gap / mean).exp_m1()).collect::<Vec<_>>())
    };
    let mut p_values: Vec<f64> = (0..REPLICATES).map(|seed| naive(seed).unwrap().p_value).collect();
    assert!(
        kolmogorov_uniform(&mut p_values).unwrap().p_value < 1e-6,
        "the tables for a known mean are wrong for an estimated one"
    );
}

#[test]
fn lilliefors_detects_gaps_that_vary_too_little_or_too_much() {
    for cov in [0.8, 1.25] {
        let found = power(|seed| lilliefors_exponential(&mut gamma(2_000, cov, seed)));
        assert!(found > 0.95, "{cov}: {found}");
    }
}

#[test]
fn p_values_of_anderson_darling_are_uniform_and_it_detects_deviating_tails() {
    for n in [20, 100, 1_000] {
        assert_uniform(|seed| anderson_darling_exponential(&mut exponential(n, seed)));
    }
    for cov in [0.8, 1.25] {
        let found = power(|seed| anderson_darling_exponential(&mut gamma(2_000, cov, seed)));
        assert!(found > 0.95, "{cov}: {found}");
    }
    // A gap of 0 is impossible for an exponential distribution, so the statistic is infinite.
    let found = anderson_darling_exponential(&mut [0.0, 1.0, 2.0]).unwrap();
    assert_eq!((found.statistic, found.p_value), (f64::INFINITY, 0.0));
}

/// Gaps in whole ticks of a clock, with `per_tick` arrivals per tick.
fn ticks(gaps: &[f64], per_tick: f64) -> Vec<u64> {
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let (mut at, mut before) = (0.37, 0);
    gaps.iter()
        .map(|gap| {
            at += gap / mean / per_tick;
            let now = at as u64;
            now - std::mem::replace(&mut before, now)
        })
        .collect()
}

#[test]
fn p_values_for_rounded_gaps_are_uniform() {
    for per_tick in [0.03, 0.5] {
        assert_uniform(|seed| {
            lilliefors_rounded(&ticks(&exponential(300, seed), per_tick), 99, &mut generator(1_000 + seed))
        });
    }
    // The test for continuous values rejects a true Poisson log; the test for rounded values does not.
    let rounded = ticks(&exponential(20_000, 1), 0.03);
    let mut as_continuous: Vec<f64> = rounded.iter().map(|&gap| gap as f64).collect();
    assert!(lilliefors_exponential(&mut as_continuous).unwrap().p_value < 1e-3);
    assert!(lilliefors_rounded(&rounded, 99, &mut generator(3)).unwrap().p_value > 0.05);
    let bunched =
        |seed| lilliefors_rounded(&ticks(&gamma(2_000, 1.25, seed), 0.03), 199, &mut generator(seed));
    assert!(power(bunched) > 0.95);
}

#[test]
fn p_values_of_ljung_box_are_uniform_and_it_detects_autocorrelation() {
    assert_uniform(|seed| ljung_box(&autocorrelations(&[&exponential(1_000, seed)], 5)?));
    let correlated = |seed| {
        let fresh = exponential(1_000, seed);
        let mixed: Vec<f64> = fresh.windows(2).map(|pair| pair[0] + 0.3 * pair[1]).collect();
        ljung_box(&autocorrelations(&[&mixed], 5)?)
    };
    assert_eq!(power(correlated), 1.0);
}
