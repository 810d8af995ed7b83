//! The test whether the pass rate falls with the load.
//!
//! The statistic is the logarithm of a likelihood ratio: the best curve with four levels in any order against the best
//! falling curve (isotonic regression). Its distribution is that of outcomes simulated with the best falling curve.

use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Levels of the alternative: enough for a window of loads that fail, with passes on both sides.
const LEVELS: usize = 4;

/// Simulated sets of outcomes.
const SIMULATIONS: u32 = 999;

/// Statistics below this value are not significant; most sets of outcomes end here without simulations.
const STATISTIC_MIN: f64 = 1.5;

/// Passes and trials at one load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LoadCounts {
    pub passes: f64,
    pub trials: f64,
}

/// Largest number of loads; neighbours are pooled beyond. The time is quadratic in it.
const LOADS_MAX: usize = 64;

/// Counts the outcomes per load, in the order of the loads.
pub(crate) fn counts(outcomes: impl Iterator<Item = (f64, bool)>) -> Vec<LoadCounts> {
    let mut sorted: Vec<(f64, bool)> = outcomes.collect();
    sorted.sort_by(|one, two| one.0.total_cmp(&two.0));
    let same = sorted.chunk_by(|one, two| one.0 == two.0);
    let mut counts: Vec<LoadCounts> = same
        .map(|trials| LoadCounts {
            passes: trials.iter().filter(|(_, passed)| *passed).count() as f64,
            trials: trials.len() as f64,
        })
        .collect();
    while counts.len() > LOADS_MAX {
        counts = counts.chunks(2).map(pooled).collect();
    }
    counts
}

fn pooled(neighbours: &[LoadCounts]) -> LoadCounts {
    let sum = |of: fn(&LoadCounts) -> f64| neighbours.iter().map(of).sum();
    LoadCounts { passes: sum(|count| count.passes), trials: sum(|count| count.trials) }
}

/// The probability of outcomes that fit a falling curve as badly, if the curve falls. The simulations have a fixed seed.
pub(crate) fn p_value(counts: &[LoadCounts]) -> f64 {
    let falling = falling_rates(counts);
    let statistic = misfit(counts, &falling);
    if statistic < STATISTIC_MIN {
        return 1.0;
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut simulated = counts.to_vec();
    let mut as_large = 0;
    for _ in 0..SIMULATIONS {
        for (count, rate) in simulated.iter_mut().zip(&falling) {
            let passes = (0..count.trials as u32).filter(|_| random.random::<f64>() < *rate).count();
            count.passes = passes as f64;
        }
        let rates = falling_rates(&simulated);
        as_large += u32::from(misfit(&simulated, &rates) >= statistic - 1e-9);
    }
    f64::from(as_large + 1) / f64::from(SIMULATIONS + 1)
}

fn misfit(counts: &[LoadCounts], falling: &[f64]) -> f64 {
    let of_falling: f64 = counts
        .iter()
        .zip(falling)
        .map(|(count, rate)| log_likelihood(count.passes, count.trials, *rate))
        .sum();
    best_levels(counts) - of_falling
}

fn log_likelihood(passes: f64, trials: f64, rate: f64) -> f64 {
    let term = |number: f64, share: f64| if number == 0.0 { 0.0 } else { number * share.ln() };
    term(passes, rate) + term(trials - passes, 1.0 - rate)
}

/// Isotonic regression: pools neighbouring loads until the pass rate falls.
fn falling_rates(counts: &[LoadCounts]) -> Vec<f64> {
    // Passes, trials and number of loads of each pool.
    let mut pools: Vec<(f64, f64, usize)> = Vec::with_capacity(counts.len());
    for count in counts {
        let mut pool = (count.passes, count.trials, 1);
        while let Some(last) = pools.last().filter(|last| last.0 * pool.1 < pool.0 * last.1) {
            pool = (pool.0 + last.0, pool.1 + last.1, pool.2 + last.2);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|(passes, trials, loads)| std::iter::repeat_n(passes / trials, *loads)).collect()
}

/// The largest log-likelihood of a curve with up to [`LEVELS`] levels.
fn best_levels(counts: &[LoadCounts]) -> f64 {
    let n = counts.len();
    let mut sums = vec![(0.0, 0.0); n + 1];
    for (at, count) in counts.iter().enumerate() {
        sums[at + 1] = (sums[at].0 + count.passes, sums[at].1 + count.trials);
    }
    let one_level = |from: usize, to: usize| {
        let (passes, trials) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        log_likelihood(passes, trials, passes / trials)
    };
    let mut best: Vec<f64> = (0..=n).map(|to| if to == 0 { 0.0 } else { one_level(0, to) }).collect();
    for _ in 1..LEVELS.min(n.max(1)) {
        for to in (1..=n).rev() {
            let with_more = (1..to).map(|from| best[from] + one_level(from, to));
            best[to] = with_more.fold(best[to], f64::max);
        }
    }
    best[n]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(outcomes: &[(f64, &str)]) -> f64 {
        let all = outcomes.iter().flat_map(|(load, text)| text.chars().map(|c| (*load, c == '+')));
        p_value(&counts(all))
    }

    #[test]
    fn falling_pass_rates_fit() {
        assert_eq!(p(&[(1.0, "+++"), (2.0, "++-"), (3.0, "-")]), 1.0);
        let noisy = p(&[(1.0, "+-+"), (2.0, "+-++"), (3.0, "-+"), (4.0, "---")]);
        assert!(noisy > 0.1, "{noisy}");
        assert_eq!(p(&[]), 1.0);
    }

    #[test]
    fn rising_pass_rates_and_windows_are_found() {
        let rising = p(&[(1.0, "-----"), (2.0, "+++++"), (4.0, "--")]);
        assert!(rising < 0.01, "{rising}");
        let window = p(&[(1.0, "+++"), (2.0, "-----"), (4.0, "+++++"), (5.0, "--")]);
        assert!(window < 0.01, "{window}");
        // One failure is no pattern.
        let outlier = p(&[(1.0, "-"), (2.0, "+++++"), (4.0, "--")]);
        assert!(outlier > 0.05, "{outlier}");
    }

    #[test]
    fn many_loads_are_pooled() {
        let counts = counts((0..500).map(|at| (f64::from(at), at < 250)));
        assert!(counts.len() <= LOADS_MAX);
        assert_eq!(counts.iter().map(|count| count.trials).sum::<f64>(), 500.0);
        assert_eq!(counts.iter().map(|count| count.passes).sum::<f64>(), 250.0);
    }

    #[test]
    fn the_falling_curve_pools_neighbours() {
        let counts = counts([(1.0, true), (2.0, false), (3.0, true), (3.0, true), (4.0, false)].into_iter());
        assert_eq!(falling_rates(&counts), [1.0, 2.0 / 3.0, 2.0 / 3.0, 0.0]);
        assert!((best_levels(&counts)).abs() < 1e-12);
    }
}
