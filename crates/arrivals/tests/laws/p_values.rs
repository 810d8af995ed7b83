//! Statistical tests of one schedule, and a test that their p-values over many seeds are uniform.

use busyhour_stats::{autocorrelations, kolmogorov_uniform, ljung_box};

/// The seeds of all tests.
pub const SEEDS: std::ops::Range<u64> = 0..200;

/// The p-values of one statistical test over all seeds.
#[derive(Default)]
pub struct PValues(Vec<f64>);

impl PValues {
    /// Kolmogorov–Smirnov test for uniform values.
    pub fn uniform(&mut self, mut values: Vec<f64>) {
        self.0.push(kolmogorov_uniform(&mut values).unwrap().p_value);
    }

    /// χ² test for Poisson counts with this mean: Σ (c − μ)²/μ, by Wilson and Hilferty's cube root, which is accurate to three
    /// digits for a hundred windows or more. The p-value is one-sided: uniform for Poisson counts, near 0 if they vary too much,
    /// near 1 if they vary too little.
    pub fn dispersion(&mut self, counts: &[u64], mean: f64) {
        let windows = counts.len() as f64;
        let chi: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
        let spread = 2.0 / (9.0 * windows);
        let z = ((chi / windows).cbrt() - (1.0 - spread)) / spread.sqrt();
        self.0.push(0.5 * libm::erfc(z / std::f64::consts::SQRT_2));
    }

    /// Ljung and Box's test of autocorrelation up to lag 5.
    pub fn independence(&mut self, values: &[f64]) {
        self.0.push(ljung_box(&autocorrelations(&[values], 5).unwrap()).unwrap().p_value);
    }

    /// Asserts that the p-values are uniform. A correct distribution fails with probability 0.001 over the choice of seeds; as the
    /// seeds are fixed, the result never changes.
    #[track_caller]
    pub fn assert_uniform(mut self, what: &str) {
        let test = kolmogorov_uniform(&mut self.0).unwrap();
        let tenth = self.0.iter().filter(|p| **p < 0.1).count();
        assert!(
            test.p_value > 0.001,
            "{what}: p-values of {} seeds are not uniform (KS p = {:.2e}; {tenth} below 0.1)",
            self.0.len(),
            test.p_value
        );
    }

    /// Asserts that the p-values are not uniform, to show that a test has power.
    #[track_caller]
    pub fn assert_not_uniform(mut self, what: &str) {
        assert!(kolmogorov_uniform(&mut self.0).unwrap().p_value < 1e-6, "{what} was not detected");
    }
}
