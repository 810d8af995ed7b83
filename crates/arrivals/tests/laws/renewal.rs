//! Tests gamma and Weibull gaps.

use busyhour_stats::Moments;

use super::p_values::{PValues, SEEDS};
use super::parse;

/// P-values of the gaps after the first, transformed by their distribution function.
fn gaps(text: &str, distribution: impl Fn(f64) -> f64) -> PValues {
    let process = parse(text);
    let mut values = PValues::default();
    for seed in SEEDS {
        let at: Vec<f64> =
            process.schedule(seed).take(800).map(|arrival| process.cumulative(arrival.at_ns)).collect();
        values.uniform(at.windows(2).map(|pair| distribution(pair[1] - pair[0])).collect());
    }
    values
}

#[test]
fn gamma_gaps_have_their_distribution() {
    // CoV 1/2 is the Erlang distribution with four phases.
    let erlang = |x: f64| {
        let y = 4.0 * x;
        1.0 - libm::exp(-y) * (1.0 + y + y * y / 2.0 + y * y * y / 6.0)
    };
    gaps("gamma(100/s, cov 0.5) for 20s", erlang).assert_uniform("gamma, constant rate");
    gaps("ramp(10/s → 200/s) over 20s gamma cov 0.5", erlang).assert_uniform("gamma, in a ramp");
    // CoV √2 is shape 1/2: chi-square with one degree of freedom, the square of a normal variate.
    let text = format!("gamma(100/s, cov {}) for 20s", std::f64::consts::SQRT_2);
    gaps(&text, |x| libm::erf((x / 2.0).sqrt())).assert_uniform("gamma, shape below 1");
}

#[test]
fn weibull_gaps_have_their_distribution() {
    // Shape 1/2 has CoV √5, mean 2·scale.
    let text = format!("weibull(100/s, cov {}) for 60s", 5.0_f64.sqrt());
    gaps(&text, |x| -libm::expm1(-(2.0 * x).sqrt())).assert_uniform("weibull");
}

#[test]
fn gaps_have_the_requested_coefficient_of_variation() {
    for (law, cov, tolerance) in [
        ("gamma", 0.05, 0.001),
        ("gamma", 0.5, 0.01),
        ("gamma", 3.0, 0.15),
        ("weibull", 0.05, 0.001),
        ("weibull", 0.5, 0.01),
        ("weibull", 1.0, 0.03),
        ("weibull", 2.0, 0.15),
    ] {
        let process = parse(&format!("{law}(1000/s, cov {cov}) for 50s"));
        let mut moments = Moments::default();
        let mut last = None;
        for arrival in process.schedule(11) {
            if let Some(last) = last.replace(arrival.at_ns) {
                moments.add((arrival.at_ns - last) as f64);
            }
        }
        let (found, mean) = (moments.cov().unwrap(), moments.mean().unwrap());
        assert!((found - cov).abs() < tolerance, "{law} {cov}: {found}");
        // The mean of n gaps varies by cov/√n.
        assert!((mean / 1e6 - 1.0).abs() < 4.0 * cov / 50_000_f64.sqrt(), "{law} {cov}: mean gap {mean} ns");
    }
}

/// If the first arrival came after a whole gap, there would be too few (CoV below 1) or too many (CoV above 1) arrivals at first.
#[test]
fn the_expected_number_is_correct_from_the_start() {
    for text in [
        "gamma(1/s, cov 0.3) for 500ms",
        "gamma(1/s, cov 3) for 500ms",
        "weibull(1/s, cov 0.3) for 500ms",
        "weibull(1/s, cov 3) for 500ms",
    ] {
        let process = parse(text);
        let mut counts = Moments::default();
        for seed in 0..20_000 {
            counts.add(process.schedule(seed).count() as f64);
        }
        let (mean, sd) = (counts.mean().unwrap(), counts.sd().unwrap());
        assert!((mean - 0.5).abs() < 4.0 * sd / 20_000_f64.sqrt(), "{text}: {mean} arrivals");
    }
}
