//! Compares the tally with statistics computed from all start times, and tests edge cases.

use std::sync::Arc;

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, Finding, KnownRate, Part, RequestedProcess, Resolution,
    TallySettings, judge,
};
use busyhour_stats::{Decision, DispersionCounter, GapStatistics};
use proptest::prelude::*;

use crate::streams::{generator, in_milliseconds, observe, poisson};

#[test]
fn the_tally_equals_statistics_of_all_start_times() {
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
fn statistics_are_available_at_any_time() {
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
fn rates_from_one_per_hour_to_ten_million_per_second_are_estimated() {
    for rate_per_s in [1.0 / 3_600.0, 0.1, 10.0, 1e5, 1e7] {
        let observed = observe(&poisson(rate_per_s, 20_000, 3), TallySettings::default());
        let rate = observed.rate_per_s.unwrap();
        assert!(rate.low < rate_per_s && rate_per_s < rate.high, "{rate:?}");
        assert!((observed.cov.unwrap().value - 1.0).abs() < 0.05);
    }
}

#[test]
fn arrivals_after_the_end_of_the_schedule_keep_their_gaps() {
    // 100/s for 10 s, with all arrivals one second late.
    let rate = KnownRate::new(Arc::new(|at_ns: u64| at_ns as f64 / 1e7), 10_000_000_000).unwrap();
    let late: Vec<u64> = (0..1_000).map(|i| 1_000_000_000 + i * 10_000_000).collect();
    let observed = observe(&late, TallySettings::default().with_known_rate(rate));
    assert_eq!((observed.equal_stamps, observed.cov.unwrap().value), (0, 0.0));
}

#[test]
fn a_span_of_almost_the_whole_range_of_start_times_is_accepted() {
    let observed = observe(&[0, 18_436_897_232_306_339_134], TallySettings::default());
    assert_eq!((observed.arrivals, observed.disordered), (2, 0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_start_times_are_accepted(mut all in prop::collection::vec(any::<u64>(), 0..60), near in prop::bool::ANY) {
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

    #[test]
    fn arbitrary_gaps_yield_a_verdict(
        gaps in prop::collection::vec(prop_oneof![Just(0), 0..1_000_u64, 0..10_000_000_u64, 0..3_000_000_000_u64], 0..300),
        milliseconds in any::<bool>(),
        cov in 0.0..5.0_f64,
    ) {
        let mut at_ns = 0;
        let mut all: Vec<u64> = gaps.iter().map(|gap| { at_ns += gap; at_ns }).collect();
        let resolution = if milliseconds { Resolution::Millisecond } else { Resolution::Nanosecond };
        if milliseconds {
            all = in_milliseconds(&all);
        }
        let observed = observe(&all, TallySettings::new(resolution));
        for estimate in [observed.cov, observed.rate_per_s, observed.short_gaps.map(|short| short.share)] {
            prop_assert!(estimate.is_none_or(|it| it.low <= it.value && it.value <= it.high), "{:?}", estimate);
        }
        let schedule = Some(&observed);
        for requested in [
            RequestedProcess::Unknown,
            RequestedProcess::Even,
            RequestedProcess::Jittered,
            RequestedProcess::Renewal { cov },
            RequestedProcess::Bursty,
            RequestedProcess::Closed { users: Some(3.0), response_s: Some(0.2), think_s: None },
        ] {
            for schedule in [None, schedule] {
                let context = ArrivalContext { schedule, ..ArrivalContext::default() };
                let found = judge(observed.clone(), requested, &context);
                prop_assert!(found.line.starts_with("Arrivals: ") && !found.line.contains("NaN"), "{}", found.line);
                prop_assert!(found.decision == Decision::Inside || found.finding != Finding::AsRequested);
                let json = serde_json::to_value(&found).unwrap();
                prop_assert_eq!(serde_json::from_value::<ArrivalVerdict>(json).unwrap(), found);
            }
        }
    }
}

proptest! {
    #[test]
    fn add_many_equals_repeated_add(
        stamps in prop::collection::vec((0..2_000_u64, 0..9_u64), 1..300),
        in_order: bool,
    ) {
        let mut stamps = stamps;
        if in_order {
            stamps.sort_unstable();
        }
        let tally = || ArrivalTally::new(TallySettings::new(Resolution::Millisecond));
        let (mut single, mut together) = (tally(), tally());
        for (ms, arrivals) in stamps {
            (0..arrivals).for_each(|_| single.add(ms * 1_000_000));
            together.add_many(ms * 1_000_000, arrivals);
        }
        prop_assert_eq!(single.arrivals(), together.arrivals());
        if single.arrivals() > 1 {
            prop_assert_eq!(single.finish(&mut generator(1)), together.finish(&mut generator(1)));
        }
    }
}
