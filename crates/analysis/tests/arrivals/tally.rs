//! The tally against the same measures from all stamps, and its bounds.

use busyhour_analysis::arrivals::{ArrivalTally, Part, TallySettings};
use busyhour_stats::{DispersionCounter, GapStatistics};
use proptest::prelude::*;

use crate::streams::{generator, observe, poisson};

#[test]
fn it_sums_what_the_stamps_are() {
    let all = poisson(2_000.0, 50_000, 1);
    let observed = observe(&all, TallySettings::default());
    assert_eq!((observed.arrivals, observed.gaps, observed.part), (50_000, 49_999, Part::Whole));
    let whole = GapStatistics::of_stamps(&all);
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    assert!(near(observed.cov.unwrap().value, whole.moments().cov().unwrap()));
    assert!(near(observed.rate_per_s.unwrap().value, 1e9 / whole.moments().mean().unwrap()));
    for row in &observed.dispersion {
        let mut counter = DispersionCounter::new((row.scale_s * 1e9).round() as u64);
        all.iter().for_each(|&stamp| counter.add(stamp));
        assert_eq!(row.windows, counter.windows());
        assert!(near(row.index.value, counter.index().unwrap().value), "{row:?}");
    }
    let short = observed.short_gaps.unwrap();
    assert_eq!(short.shorter_than_s, 2e-5);
    let shorter = all.windows(2).filter(|pair| pair[1] - pair[0] < 20_000).count();
    assert!(near(short.share.value, shorter as f64 / 49_999.0));
}

#[test]
fn it_can_be_asked_at_any_time() {
    let mut tally = ArrivalTally::new(TallySettings::default());
    for (i, stamp) in poisson(1_000.0, 20_000, 2).into_iter().enumerate() {
        tally.add(stamp);
        if i % 5_000 == 4_999 {
            let observed = tally.finish(&mut generator(0));
            assert_eq!(observed.arrivals, i as u64 + 1);
            assert!((observed.cov.unwrap().value - 1.0).abs() < 0.05);
        }
    }
}

#[test]
fn rates_from_one_an_hour_to_ten_million_a_second() {
    for rate_per_s in [1.0 / 3_600.0, 0.1, 10.0, 1e5, 1e7] {
        let observed = observe(&poisson(rate_per_s, 20_000, 3), TallySettings::default());
        let rate = observed.rate_per_s.unwrap();
        assert!(rate.low < rate_per_s && rate_per_s < rate.high, "{rate:?}");
        assert!((observed.cov.unwrap().value - 1.0).abs() < 0.05);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_stamps_break_it(mut all in prop::collection::vec(any::<u64>(), 0..60), near in prop::bool::ANY) {
        if near {
            all.iter_mut().for_each(|stamp| *stamp >>= 30);
        }
        for sorted in [false, true] {
            if sorted {
                all.sort_unstable();
            }
            let observed = observe(&all, TallySettings::default());
            prop_assert_eq!(observed.arrivals, all.len() as u64);
            prop_assert!(!sorted || observed.disordered == 0);
        }
    }
}
