//! Tests the coverage of confidence intervals for independent and dependent values.

use busyhour_stats::{DispersionCounter, Estimate, GapStatistics, proportion};
use rand::{Rng, SeedableRng};
use rand_distr::Exp1;
use rand_xoshiro::Xoshiro256PlusPlus;

const REPLICATES: u64 = 300;

/// Share of replicates whose interval contains the true value.
fn coverage(truth: f64, estimate: impl Fn(&mut Xoshiro256PlusPlus) -> Estimate) -> f64 {
    let held = (0..REPLICATES)
        .filter(|&seed| {
            let found = estimate(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
            assert!(found.low <= found.value && found.value <= found.high && found.confidence == 0.95);
            (found.low..=found.high).contains(&truth)
        })
        .count();
    held as f64 / REPLICATES as f64
}

fn exponential_gaps(n: usize, random: &mut Xoshiro256PlusPlus) -> GapStatistics {
    let mut gaps = GapStatistics::default();
    for _ in 0..n {
        gaps.add(random.sample::<f64, _>(Exp1) / 20.0);
    }
    gaps
}

#[test]
fn intervals_cover_the_statistics_of_poisson_gaps() {
    for n in [500, 3_000] {
        let cov = coverage(1.0, |random| exponential_gaps(n, random).coefficient_of_variation().unwrap());
        assert!((0.90..=0.99).contains(&cov), "{n}: {cov}");
        let rate = coverage(20.0, |random| exponential_gaps(n, random).rate().unwrap());
        assert!((0.92..=0.99).contains(&rate), "{n}: {rate}");
    }
}

#[test]
fn the_standard_error_for_exponential_gaps_equals_the_theoretical_one() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let found = exponential_gaps(40_000, &mut random).coefficient_of_variation().unwrap();
    let theory = 2.0 / 40_000.0_f64.sqrt();
    assert!((found.half_width() / theory - 1.0).abs() < 0.3, "{} {theory}", found.half_width());
}

/// Gaps whose scale follows a two-state Markov chain that changes its state every 20 gaps on average.
fn slow_gaps(n: usize, random: &mut Xoshiro256PlusPlus) -> GapStatistics {
    let mut gaps = GapStatistics::default();
    let mut scale = 1.0;
    for _ in 0..n {
        if random.random::<f64>() < 0.05 {
            scale = 4.0 - scale;
        }
        gaps.add(scale * random.sample::<f64, _>(Exp1));
    }
    gaps
}

#[test]
fn intervals_cover_the_statistics_of_dependent_gaps() {
    // The scales are 1 and 3 with equal probability: mean 2, mean square 2·(1 + 9)/2 = 10, variance 6.
    let truth = 6.0_f64.sqrt() / 2.0;
    let found = coverage(truth, |random| slow_gaps(8_000, random).coefficient_of_variation().unwrap());
    assert!((0.89..=0.99).contains(&found), "{found}");
    let rate = coverage(0.5, |random| slow_gaps(8_000, random).rate().unwrap());
    assert!((0.89..=0.99).contains(&rate), "{rate}");
}

#[test]
fn intervals_cover_the_dispersion_of_poisson_counts() {
    // Many short windows with few arrivals each, and few long windows.
    for width in [1_000_000, 300_000_000_u64] {
        let found = coverage(1.0, |random| {
            let mut counter = DispersionCounter::new(width);
            let mut at = 0.0;
            for _ in 0..3_000 {
                at += random.sample::<f64, _>(Exp1) * 3_000_000.0;
                counter.add(at as u64);
            }
            counter.index().unwrap()
        });
        assert!((0.92..=1.0).contains(&found), "{width}: {found}");
    }
}

#[test]
fn intervals_cover_shares() {
    let found = coverage(0.05, |random| {
        let mut parts = vec![(0.0, 0.0); 40];
        for i in 0..4_000 {
            let part = &mut parts[i / 100];
            part.0 += f64::from(u8::from(random.random::<f64>() < 0.05));
            part.1 += 1.0;
        }
        proportion(&parts).unwrap()
    });
    assert!((0.91..=0.99).contains(&found), "{found}");
    let none = proportion(&[(0.0, 10.0); 5]).unwrap();
    assert!(
        none.low == 0.0 && (0.06..0.08).contains(&none.high),
        "the interval for 0 of 50 has a width: {none:?}"
    );
}

#[test]
fn the_interval_for_even_gaps_has_width_zero() {
    let stamps: Vec<u64> = (0..10_000).map(|i| 1_000_000_000_000_000 + i * 1_000_003).collect();
    let gaps = GapStatistics::of_stamps(&stamps);
    let cov = gaps.coefficient_of_variation().unwrap();
    assert_eq!((cov.value, cov.low, cov.high), (0.0, 0.0, 0.0));
    assert!((gaps.rate().unwrap().value * 1_000_003.0 - 1.0).abs() < 1e-12);
}

#[test]
fn the_interval_for_a_few_gaps_is_infinite() {
    let mut gaps = GapStatistics::default();
    assert_eq!(gaps.coefficient_of_variation(), None);
    for gap in [1.0, 2.0, 3.0] {
        gaps.add(gap);
    }
    let cov = gaps.coefficient_of_variation().unwrap();
    assert_eq!((cov.value, cov.low, cov.high), (0.5, 0.0, f64::INFINITY));
}
