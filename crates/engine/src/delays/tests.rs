//! The distribution of each timer at a fixed seed, and the schedules of the throughput timer.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use busyhour_program::clock::Clock;

use super::*;
use crate::testing::{lone_user, run_with_stopped_clock};

const MS: u64 = 1_000_000;

fn think(draw: Draw, offset: &str, range: &str) -> ThinkTime {
    ThinkTime { draw, offset_ms: Template::literal(offset), range_ms: Template::literal(range), factor: 1.0 }
}

/// Mean and variance of many delays, in milliseconds.
fn moments(timer: &ThinkTime) -> (f64, f64) {
    const DRAWS: usize = 20_000;
    let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0);
    let delays: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let delay = timer.delay(&mut user);
            assert_eq!(delay.wait_ns % MS, 0, "delays are whole milliseconds");
            assert_eq!(delay.slot, None);
            (delay.wait_ns / MS) as f64
        })
        .collect();
    let mean = delays.iter().sum::<f64>() / DRAWS as f64;
    let variance = delays.iter().map(|delay| (delay - mean).powi(2)).sum::<f64>() / DRAWS as f64;
    (mean, variance)
}

fn near(value: f64, expected: f64, share: f64) {
    assert!((value - expected).abs() <= share * expected.abs(), "{value} is not near {expected}");
}

#[test]
fn constant_is_constant_and_never_negative() {
    assert_eq!(moments(&think(Draw::Constant, "300", "")), (300.0, 0.0));
    assert_eq!(moments(&think(Draw::Constant, "-5", "")), (0.0, 0.0));
    assert_eq!(moments(&think(Draw::Constant, "soon", "")), (0.0, 0.0));
}

#[test]
fn uniform_spreads_evenly_above_the_offset() {
    // Delays are truncated to whole milliseconds, so the mean is half a millisecond lower. Variance of U(0, r): r²/12.
    let (mean, variance) = moments(&think(Draw::Uniform, "500", "1000"));
    near(mean, 999.5, 0.01);
    near(variance, 1_000_000.0 / 12.0, 0.03);
    // A negative offset is reflected at 0: |U·1000 − 500| is U(0, 500).
    let (mean, variance) = moments(&think(Draw::Uniform, "-500", "1000"));
    near(mean, 249.5, 0.02);
    near(variance, 250_000.0 / 12.0, 0.03);
}

#[test]
fn gaussian_has_the_requested_deviation() {
    let (mean, variance) = moments(&think(Draw::Gaussian, "3000", "100"));
    near(mean, 2999.5, 0.002);
    near(variance, 10_000.0, 0.04);
    // With offset 0, this is the folded normal distribution: mean σ·√(2/π), variance σ²·(1 − 2/π).
    let (mean, variance) = moments(&think(Draw::Gaussian, "0", "1000"));
    near(mean, 1000.0 * (2.0 / std::f64::consts::PI).sqrt(), 0.02);
    near(variance, 1e6 * (1.0 - 2.0 / std::f64::consts::PI), 0.04);
}

#[test]
fn poisson_has_as_much_variance_as_mean() {
    for (range, mean_expected) in [("10", 10.0), ("400", 400.0)] {
        let (mean, variance) = moments(&think(Draw::Poisson, "100", range));
        near(mean, 100.0 + mean_expected, 0.02);
        near(variance, mean_expected, 0.04);
    }
    assert_eq!(moments(&think(Draw::Poisson, "7", "0")), (7.0, 0.0));
    assert_eq!(moments(&think(Draw::Poisson, "7", "-3")), (7.0, 0.0));
    assert_eq!(moments(&think(Draw::Poisson, "7", "")), (7.0, 0.0));
}

#[test]
fn the_factor_applies_to_every_kind() {
    let timer = ThinkTime { factor: 0.5, ..think(Draw::Constant, "301", "") };
    assert_eq!(moments(&timer), (151.0, 0.0));
    let (mean, _) = moments(&ThinkTime { factor: 2.0, ..think(Draw::Uniform, "0", "100") });
    near(mean, 99.0, 0.02);
    assert_eq!(moments(&ThinkTime { factor: 0.0, ..think(Draw::Gaussian, "9", "9") }), (0.0, 0.0));
}

#[test]
fn absurd_numbers_neither_panic_nor_wrap() {
    let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0);
    for text in ["9223372036854775807", "-9223372036854775808", "1e308", "NaN", "inf", "-inf", "", "x"] {
        for draw in [Draw::Constant, Draw::Uniform, Draw::Gaussian, Draw::Poisson] {
            for offset in ["0", "9223372036854775807", "-9223372036854775808"] {
                let _ = think(draw, offset, text).delay(&mut user);
            }
        }
        for mode in MODES {
            let _ = throughput(text, mode).delay(&mut user);
        }
    }
}

const MODES: [ThroughputMode; 5] = [
    ThroughputMode::ThisThreadOnly,
    ThroughputMode::AllActive,
    ThroughputMode::ActiveInGroup,
    ThroughputMode::AllActiveShared,
    ThroughputMode::ActiveInGroupShared,
];

fn throughput(per_minute: &str, mode: ThroughputMode) -> ConstantThroughput {
    ConstantThroughput {
        per_minute: Template::literal(per_minute),
        mode,
        shared_all: Arc::default(),
        shared_group: vec![SharedSlots::default()].into(),
        state: StateId(0),
    }
}

/// JMeter's rule for one user in milliseconds, implemented a second time: the previous target plus the wait, or now if that time
/// has passed.
#[derive(Default)]
struct Model {
    previous_ms: Option<u64>,
}

impl Model {
    fn delay_ms(&mut self, now: u64, wait: u64) -> u64 {
        let target = self.previous_ms.map(|previous| previous + wait).filter(|target| now <= *target);
        self.previous_ms = Some(target.unwrap_or(now));
        target.map_or(0, |target| target - now)
    }
}

#[test]
fn throughput_of_a_user_follows_its_own_schedule() {
    // (mode, active users, milliseconds between two samples of one user at 600 a minute)
    let cases = [
        (ThroughputMode::ThisThreadOnly, 7, 100),
        (ThroughputMode::AllActive, 7, 700),
        (ThroughputMode::ActiveInGroup, 7, 300),
    ];
    for (mode, all, wait_ms) in cases {
        let clock = Clock::manual(1_700_000_000_000);
        let shared = run_with_stopped_clock(&clock);
        shared.active.store(all, Relaxed);
        shared.groups[0].active.store(3, Relaxed);
        let timer = throughput("600", mode);
        let (mut user, mut model) = (lone_user(&shared, 0), Model::default());
        // Service times that are shorter and longer than the interval.
        for service_ms in [0, 5, 50, 99, 100, 101, 2500, 3, 3, 3, 800, 0, 0] {
            let now_ms = clock.now().0 / MS;
            let delay = timer.delay(&mut user);
            assert_eq!(delay.wait_ns / MS, model.delay_ms(now_ms, wait_ms), "{mode:?} at {now_ms}");
            clock.advance(Duration::from_nanos(delay.wait_ns) + Duration::from_millis(service_ms));
        }
    }
}

#[test]
fn a_shared_schedule_gives_each_slot_once() {
    for mode in [ThroughputMode::AllActiveShared, ThroughputMode::ActiveInGroupShared] {
        let clock = Clock::manual(0);
        let shared = run_with_stopped_clock(&clock);
        clock.advance(Duration::from_secs(1));
        let timer = throughput("6000", mode);
        let mut users: Vec<_> = (0..10).map(|number| lone_user(&shared, number)).collect();
        let mut first = Vec::new();
        // As in JMeter, a user's first sample is never delayed, but it takes a slot.
        for user in &mut users {
            assert_eq!(timer.delay(user).wait_ns, 0);
        }
        for user in &mut users {
            let delay = timer.delay(user);
            first.push(delay.wait_ns / MS);
            assert_eq!(delay.slot, Some(clock.now() + delay.wait_ns));
        }
        assert_eq!(first, (10..20).map(|slot| slot * 10).collect::<Vec<u64>>(), "{mode:?}");
    }
}

/// A third of the users runs at a third of a rate that all users share. A rate per user is not divided.
#[test]
fn a_share_of_the_load_has_its_part_of_shared_rates() {
    for (mode, wait_ms) in [
        (ThroughputMode::ThisThreadOnly, 100),
        (ThroughputMode::AllActive, 9 * 100),
        (ThroughputMode::ActiveInGroup, 9 * 100),
        (ThroughputMode::AllActiveShared, 300),
        (ThroughputMode::ActiveInGroupShared, 300),
    ] {
        let shared = run_with_stopped_clock(&Clock::manual(1_700_000_000_000));
        shared.part.set_share(busyhour_arrivals::LoadShare::part(1, 3).unwrap());
        shared.active.store(3, Relaxed);
        shared.groups[0].active.store(3, Relaxed);
        let timer = throughput("600", mode);
        let mut user = lone_user(&shared, 0);
        timer.delay(&mut user);
        assert_eq!(timer.delay(&mut user).wait_ns / MS, wait_ms, "{mode:?}");
    }
}

#[test]
fn groups_have_separate_schedules_only_if_requested() {
    let clock = Clock::manual(0);
    let (shared, _) =
        crate::testing::shared_with(clock, 1, 2, busyhour_program::variables::Names::default(), 4);
    for (mode, waits) in
        [(ThroughputMode::AllActiveShared, [200, 300]), (ThroughputMode::ActiveInGroupShared, [100, 100])]
    {
        let timer = ConstantThroughput {
            shared_group: vec![SharedSlots::default(), SharedSlots::default()].into(),
            ..throughput("600", mode)
        };
        let mut users = [0, 1].map(|group| UserState::new(Arc::clone(&shared), None, group, 0));
        for user in &mut users {
            timer.delay(user);
        }
        assert_eq!(users.each_mut().map(|user| timer.delay(user).wait_ns / MS), waits);
    }
}

#[test]
fn a_late_sample_keeps_the_slot_it_missed() {
    let clock = Clock::manual(0);
    let timer = throughput("60", ThroughputMode::ThisThreadOnly);
    let mut user = lone_user(&run_with_stopped_clock(&clock), 0);
    assert_eq!(timer.delay(&mut user), Delay { wait_ns: 0, slot: None });
    clock.advance(Duration::from_millis(2500));
    let missed = Delay { wait_ns: 0, slot: Some(Nanos::from_secs(1)) };
    assert_eq!(timer.delay(&mut user), missed, "the response time counts from the intended start");
}

#[test]
fn a_rate_of_zero_waits_for_ever() {
    let mut user = lone_user(&run_with_stopped_clock(&Clock::manual(0)), 0);
    let timer = throughput("0", ThroughputMode::ThisThreadOnly);
    timer.delay(&mut user);
    assert!(timer.delay(&mut user).wait_ns > 200 * 365 * 86_400 * 1_000_000_000);
}
