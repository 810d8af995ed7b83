//! Tests the detection of the steady part with simulated runs that have ramps, warm-ups and trends.

use rand::SeedableRng as _;
use rand_distr::{Distribution as _, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;

use busyhour_analysis::incidents::Incident;
use busyhour_analysis::{Series, SteadyPart};

/// The steady part of a run without incidents.
fn steady_part(series: &Series) -> SteadyPart {
    busyhour_analysis::steady_part(series, &[])
}

/// The time series of a run with the given rate, response time and users per second, plus noise.
fn series(length: u64, at: impl Fn(f64) -> (f64, f64, Option<f64>)) -> Series {
    noisy(length, 7, 0.03, at)
}

/// Like `series`, with a seed. `noisy` is the standard deviation of the noise as a share of the response times.
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
fn ramps_of_users_are_excluded() {
    let run = series(600, |s| (400.0 * ramp(s, 600.0), 20.0, Some((50.0 * ramp(s, 600.0)).ceil())));
    let (from, to) = steady_part(&run).window_s.unwrap();
    assert!((55.0..=65.0).contains(&from) && (565.0..=575.0).contains(&to), "{from} {to}");
}

#[test]
fn ramps_of_the_rate_are_excluded_when_users_are_unknown() {
    let run = series(600, |s| (400.0 * ramp(s, 600.0), 20.0, None));
    let part = steady_part(&run);
    let (from, to) = part.window_s.unwrap();
    assert!((40.0..=80.0).contains(&from) && (560.0..=590.0).contains(&to), "{from} {to}");
    assert!(part.reason.contains("MSER-5"));
}

#[test]
fn warm_up_of_response_times_is_excluded_at_a_constant_number_of_users() {
    let run = series(600, |s| (400.0, 20.0 + 200.0 * (-s / 20.0).exp(), Some(50.0)));
    let (from, to) = steady_part(&run).window_s.unwrap();
    // The response time exceeds 20 ms by 10 ms at 60 s, and by 0.02 ms at 180 s, which is far below the noise.
    assert!((60.0..=180.0).contains(&from) && to == 600.0, "{from} {to}");
}

#[test]
fn no_part_of_a_steady_run_is_excluded() {
    for users in [None, Some(50.0)] {
        let part = steady_part(&series(300, |_| (400.0, 20.0, users)));
        assert_eq!(part.window_s, None, "{}", part.reason);
        assert!(part.reason.contains("steady from its beginning"));
    }
}

/// Number of 200 runs whose steady part begins and ends within the bounds.
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
fn in_most_of_200_runs_ramps_are_excluded_and_steady_runs_are_not_truncated() {
    let ramp_up = |s: f64| (s / 60.0).min(1.0);
    let found = [
        // A ramp of 60 s in 300 s, with known users.
        runs_within(55.0..=75.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (20.0 * ramp_up(s), 20.0, Some((50.0 * ramp_up(s)).ceil())))
        }),
        // The same with unknown users, at 200 and at 20 requests per second.
        runs_within(50.0..=80.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (200.0 * ramp_up(s), 20.0, None))
        }),
        runs_within(35.0..=90.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (20.0 * ramp_up(s), 20.0, None))
        }),
        // Response times that fall from 60 ms to 20 ms at a constant load, as during JIT compilation.
        runs_within(35.0..=100.0, 280.0..=300.0, |seed| {
            noisy(300, seed, 0.1, |s| (200.0, 20.0 + 40.0 * (-s / 20.0).exp(), Some(50.0)))
        }),
        // Steady runs.
        runs_within(0.0..=0.0, 300.0..=300.0, |seed| noisy(300, seed, 0.1, |_| (200.0, 20.0, Some(50.0)))),
        runs_within(0.0..=0.0, 300.0..=300.0, |seed| noisy(300, seed, 0.3, |_| (20.0, 20.0, None))),
    ];
    // Chance truncates a few steady runs. A ramp at 20 requests per second is hard to detect when users are unknown.
    let least = [195, 190, 175, 190, 185, 185];
    assert!(
        found.iter().zip(least).all(|(found, least)| *found >= least),
        "{found:?} where {least:?} are needed"
    );
}

#[test]
fn a_run_that_never_settles_is_not_truncated() {
    let part = steady_part(&series(300, |s| (10.0 + 10.0 * s, 20.0, None)));
    assert_eq!(part.window_s, None);
    assert!(part.reason.contains("never steady"), "{}", part.reason);
    assert!(steady_part(&series(20, |_| (5.0, 1.0, None))).reason.contains("too short"));
    assert_eq!(steady_part(&Series::default()).window_s, None);
}

#[test]
fn a_faster_beginning_under_the_same_load_is_not_a_warm_up() {
    for users in [None, Some(50.0)] {
        let run = series(300, |s| (200.0, if s < 120.0 { 50.0 } else { 150.0 }, users));
        let part = steady_part(&run);
        assert_eq!(part.window_s, None, "{}", part.reason);
        assert!(!part.reason.contains("steady from its beginning"), "{}", part.reason);
    }
}

#[test]
fn incidents_are_reported_and_not_excluded() {
    let damage = Incident {
        from_s: 180.0,
        error_percent: Some(100.0),
        p95_ms: Some(60.0),
        usual_p95_ms: Some(20.0),
        ..Incident::default()
    };
    let steady = busyhour_analysis::steady_part;
    let run = series(300, |s| (200.0, if s < 180.0 { 20.0 } else { 60.0 }, Some(50.0)));
    let part = steady(&run, std::slice::from_ref(&damage));
    assert_eq!(part.window_s, None, "{}", part.reason);
    assert_eq!(
        part.reason,
        "nothing is left out: there is no ramp or warm-up; the run is not steady: from 180 s to the end p95 was 60.0 ms \
         instead of 20.0 ms and 100 % of the requests failed"
    );
    // A ramp before the incident is still excluded.
    let ramp = |s: f64| (s / 60.0).min(1.0);
    let run = series(300, |s| {
        (200.0 * ramp(s), if s < 180.0 { 20.0 } else { 60.0 }, Some((50.0 * ramp(s)).ceil()))
    });
    let part = steady(&run, &[damage]);
    let (from, to) = part.window_s.unwrap();
    assert!((50.0..=65.0).contains(&from) && to == 300.0, "{from} {to} {}", part.reason);
    assert!(part.reason.contains("the run is not steady: from 180 s to the end"), "{}", part.reason);
}
