//! Which part of a run is steady: seeded courses with ramps, warm-ups and trends.

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use busyhour_analysis::{Series, steady_part};

/// A run by the second: rate, response time and users, with noise.
fn series(length: u64, at: impl Fn(f64) -> (f64, f64, Option<f64>)) -> Series {
    noisy(length, 7, 0.03, at)
}

/// The same with a seed, and the noise of response times as a share.
fn noisy(length: u64, seed: u64, noisy: f64, at: impl Fn(f64) -> (f64, f64, Option<f64>)) -> Series {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let noise = Normal::new(0.0, 1.0).unwrap();
    let mut series = Series::default();
    for second in 0..length {
        let (rate, response, users) = at(second as f64);
        let rate = (rate + rate.sqrt() * noise.sample(&mut random)).max(0.0).round() as u64;
        series.second.push(second);
        series.requests.push(rate);
        series.response_mean.push(Some(response * (1.0 + noisy * noise.sample(&mut random))));
        series.users.push(users.map(|users| users as u32));
    }
    series
}

fn ramp(second: f64, length: f64) -> f64 {
    (second / 60.0).min(1.0).min((length - second) / 30.0)
}

#[test]
fn ramps_of_users_are_left_out() {
    let run = series(600, |s| (400.0 * ramp(s, 600.0), 20.0, Some((50.0 * ramp(s, 600.0)).ceil())));
    let (from, to) = steady_part(&run).window_s.unwrap();
    assert!((55.0..=65.0).contains(&from) && (565.0..=575.0).contains(&to), "{from} {to}");
}

#[test]
fn without_users_the_rate_tells() {
    let run = series(600, |s| (400.0 * ramp(s, 600.0), 20.0, None));
    let part = steady_part(&run);
    let (from, to) = part.window_s.unwrap();
    assert!((40.0..=80.0).contains(&from) && (560.0..=590.0).contains(&to), "{from} {to}");
    assert!(part.words.contains("MSER-5"));
}

#[test]
fn caches_that_warm_up_are_left_out_though_users_are_there() {
    let run = series(600, |s| (400.0, 20.0 + 200.0 * (-s / 20.0).exp(), Some(50.0)));
    let (from, to) = steady_part(&run).window_s.unwrap();
    // At 60 s there are 10 ms in 20 too many, at 180 s 0.02 ms, far below the noise.
    assert!((60.0..=180.0).contains(&from) && to == 600.0, "{from} {to}");
}

#[test]
fn a_steady_run_stays_whole() {
    for users in [None, Some(50.0)] {
        let part = steady_part(&series(300, |_| (400.0, 20.0, users)));
        assert_eq!(part.window_s, None, "{}", part.words);
        assert!(part.words.contains("steady from its beginning"));
    }
}

/// Of 200 runs those whose steady part begins and ends within the bounds; `None` stands for the whole run.
fn runs_within(
    from: std::ops::RangeInclusive<f64>,
    to: std::ops::RangeInclusive<f64>,
    make: impl Fn(u64) -> Series,
) -> usize {
    (0..200)
        .filter(|seed| {
            let run = make(*seed);
            let whole = (0.0, run.second.len() as f64);
            let (start, end) = steady_part(&run).window_s.unwrap_or(whole);
            from.contains(&start) && to.contains(&end)
        })
        .count()
}

#[test]
fn in_two_hundred_runs_ramps_are_left_out_and_steady_runs_are_not_cut() {
    let ramp_up = |s: f64| (s / 60.0).min(1.0);
    let found = [
        // A ramp of 60 s in 300 s with a column of users.
        runs_within(55.0..=75.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (20.0 * ramp_up(s), 20.0, Some((50.0 * ramp_up(s)).ceil())))
        }),
        // The same without it, at 200 and at 20 requests per second.
        runs_within(50.0..=80.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (200.0 * ramp_up(s), 20.0, None))
        }),
        runs_within(35.0..=90.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (20.0 * ramp_up(s), 20.0, None))
        }),
        // Response times that fall from 60 ms to 20 ms as code is compiled, at a constant load.
        runs_within(35.0..=100.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (200.0, 20.0 + 40.0 * (-s / 20.0).exp(), Some(50.0)))
        }),
        // Nothing to leave out.
        runs_within(0.0..=0.0, 300.0..=300.0, |seed| noisy(300, seed, 0.1, |_| (200.0, 20.0, Some(50.0)))),
        runs_within(0.0..=0.0, 300.0..=300.0, |seed| noisy(300, seed, 0.3, |_| (20.0, 20.0, None))),
    ];
    // Chance alone cuts a steady run now and then; a ramp at 20 requests per second is hard to see without users.
    let least = [195, 190, 175, 190, 185, 185];
    assert!(
        found.iter().zip(least).all(|(found, least)| *found >= least),
        "{found:?} where {least:?} are needed"
    );
}

#[test]
fn a_run_that_never_settles_is_not_cut() {
    let part = steady_part(&series(300, |s| (10.0 + 10.0 * s, 20.0, None)));
    assert_eq!(part.window_s, None);
    assert!(part.words.contains("never steady"), "{}", part.words);
    assert!(steady_part(&series(20, |_| (5.0, 1.0, None))).words.contains("too short"));
    assert_eq!(steady_part(&Series::default()).window_s, None);
}
