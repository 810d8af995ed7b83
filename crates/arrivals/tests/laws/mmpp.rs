//! Tests bursty arrivals.

use busyhour_arrivals::Process;
use busyhour_stats::Moments;

use super::parse;

#[test]
fn the_dispersion_of_counts_equals_the_formula() {
    let process = parse("mmpp(20/s for 1s, 200/s for 500ms) for 400s");
    let Process::Mmpp(mmpp) = &process.stages()[0].process else { panic!("no MMPP") };
    assert!((mmpp.rate_mean_per_s() - 80.0).abs() < 1e-9);
    for window_ns in [100_000_000_u64, 1_000_000_000, 5_000_000_000] {
        let expected = mmpp.dispersion(window_ns).unwrap();
        let windows = (process.duration_ns() / window_ns) as usize;
        let (mut dispersion, mut mean) = (Moments::default(), Moments::default());
        for seed in 0..40 {
            let mut counts = vec![0_u32; windows];
            for arrival in process.schedule(seed) {
                counts[(arrival.at_ns / window_ns) as usize] += 1;
            }
            let mut moments = Moments::default();
            counts.iter().for_each(|count| moments.add(f64::from(*count)));
            mean.add(moments.mean().unwrap());
            // The variance about the known mean is used, because the variance about the sample mean would be too small: adjacent
            // windows are correlated.
            let about = 80.0 * window_ns as f64 / 1e9;
            let square: f64 = counts.iter().map(|count| (f64::from(*count) - about).powi(2)).sum();
            dispersion.add(square / windows as f64 / about);
        }
        let near = |found: &Moments, expected: f64, what: &str| {
            let (value, error) = (found.mean().unwrap(), found.sd().unwrap() / 40_f64.sqrt());
            assert!(
                (value - expected).abs() < 4.0 * error,
                "{what} in windows of {window_ns} ns: {value} ± {error}, not {expected}"
            );
        };
        near(&dispersion, expected, "dispersion");
        near(&mean, 80.0 * window_ns as f64 / 1e9, "mean");
    }
}

#[test]
fn a_state_may_have_rate_zero() {
    let process = parse("mmpp(0/s for 1s, 100/s for 1s) for 1000s");
    let count = process.schedule(1).count() as f64;
    let Process::Mmpp(mmpp) = &process.stages()[0].process else { panic!("no MMPP") };
    let sd = (50_000.0 * mmpp.dispersion(process.duration_ns()).unwrap()).sqrt();
    assert!((count - 50_000.0).abs() < 4.0 * sd, "{count}");
}

#[test]
fn two_equal_states_are_poisson() {
    let process = parse("mmpp(10/s for 1s, 10/s for 3s) for 1s");
    let Process::Mmpp(mmpp) = &process.stages()[0].process else { panic!("no MMPP") };
    assert_eq!(mmpp.dispersion(1_000_000_000), Some(1.0));
    assert_eq!(mmpp.dispersion(0), None);
}
