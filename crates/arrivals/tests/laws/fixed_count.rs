//! Tests JMeter's random arrivals: a fixed number of independent points.

use super::p_values::{PValues, SEEDS};
use super::parse;

fn places(text: &str, distribution: impl Fn(f64) -> f64, count: usize) -> PValues {
    let process = parse(text);
    assert_eq!(process.expected_count(), count as f64);
    let mut values = PValues::default();
    for seed in SEEDS {
        let parts: Vec<f64> = process
            .schedule(seed)
            .map(|arrival| distribution(arrival.at_ns as f64 / process.duration_ns() as f64))
            .collect();
        assert_eq!(parts.len(), count);
        values.uniform(parts);
    }
    values
}

#[test]
fn points_have_the_density_of_the_rate() {
    places("fixed(100/s) for 8s", |part| part, 800).assert_uniform("constant");
    places("ramp(0/s → 100/s) over 16s fixed", |part| part * part, 800).assert_uniform("rising");
    places("ramp(100/s → 0/s) over 16s fixed", |part| 1.0 - (1.0 - part).powi(2), 800)
        .assert_uniform("falling");
}

#[test]
fn a_ramp_has_two_layers() {
    // A ramp from 2/s to 6/s over 100 s has 200 uniform points and 200 points with rising density. Half of the uniform points and
    // a quarter of the others are in the first half of the time.
    let process = parse("ramp(2/s → 6/s) over 100s fixed");
    let half = process.duration_ns() / 2;
    let early: usize =
        SEEDS.map(|seed| process.schedule(seed).take_while(|arrival| arrival.at_ns < half).count()).sum();
    let seeds = SEEDS.end as f64;
    let sd = ((200.0 * 0.25 + 200.0 * 0.1875) / seeds).sqrt();
    assert!((early as f64 / seeds - 150.0).abs() < 4.0 * sd);
}

#[test]
fn the_count_can_be_given() {
    assert_eq!(parse("fixed(10/s) for 1s count 3").schedule(0).count(), 3);
    assert_eq!(parse("fixed(3.7/s) for 1s").schedule(0).count(), 3);
    assert_eq!(parse("fixed(10/s) for 1s count 0").schedule(0).count(), 0);
}
