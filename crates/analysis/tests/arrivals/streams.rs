//! Generates start times in ns from known processes, with fixed seeds.

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, Observed, RequestedProcess, Resolution, TallySettings,
    judge,
};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, Gamma};
use rand_xoshiro::Xoshiro256PlusPlus;

pub fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Start times in ns from gaps in s.
pub fn stamps(gaps_s: impl IntoIterator<Item = f64>) -> Vec<u64> {
    let mut at_ns = 5_000_000_000.0;
    gaps_s
        .into_iter()
        .map(|gap_s| {
            at_ns += gap_s * 1e9;
            at_ns as u64
        })
        .collect()
}

pub fn poisson(rate_per_s: f64, n: usize, seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    stamps((0..n).map(|_| random.sample::<f64, _>(Exp1) / rate_per_s))
}

/// Independent gaps with this coefficient of variation.
pub fn renewal(rate_per_s: f64, cov: f64, n: usize, seed: u64) -> Vec<u64> {
    let shape = 1.0 / (cov * cov);
    let law = Gamma::new(shape, 1.0 / shape / rate_per_s).unwrap();
    let mut random = generator(seed);
    stamps((0..n).map(|_| law.sample(&mut random)))
}

pub fn even(rate_per_s: f64, n: usize) -> Vec<u64> {
    (0..n).map(|i| 5_000_000_000 + (i as f64 / rate_per_s * 1e9) as u64).collect()
}

/// A Markov-modulated Poisson process with two states, given the rates and the mean times in each state.
pub fn mmpp(rates_per_s: [f64; 2], means_s: [f64; 2], n: usize, seed: u64) -> Vec<u64> {
    let mut random = generator(seed);
    let (mut state, mut at_s) = (0, 0.0);
    let mut left_s = random.sample::<f64, _>(Exp1) * means_s[0];
    let mut all = Vec::with_capacity(n);
    while all.len() < n {
        let gap_s = random.sample::<f64, _>(Exp1) / rates_per_s[state];
        if gap_s < left_s {
            left_s -= gap_s;
            at_s += gap_s;
            all.push((at_s * 1e9) as u64);
        } else {
            // Exponential gaps are memoryless, so the rest of the gap is drawn at the other rate.
            at_s += left_s;
            state = 1 - state;
            left_s = random.sample::<f64, _>(Exp1) * means_s[state];
        }
    }
    all
}

/// Start times rounded down to milliseconds, as in a JTL.
pub fn in_milliseconds(stamps: &[u64]) -> Vec<u64> {
    stamps.iter().map(|stamp| stamp / 1_000_000 * 1_000_000).collect()
}

pub fn observe(stamps: &[u64], settings: TallySettings) -> Observed {
    let mut tally = ArrivalTally::new(settings);
    for &stamp in stamps {
        tally.add(stamp);
    }
    tally.finish(&mut generator(99))
}

pub fn verdict(stamps: &[u64], resolution: Resolution, requested: RequestedProcess) -> ArrivalVerdict {
    judge(observe(stamps, TallySettings::new(resolution)), requested, &ArrivalContext::default())
}
