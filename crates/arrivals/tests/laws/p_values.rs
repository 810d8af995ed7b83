//! Tests of one sample, and the test that their p-values over many seeds are uniform.

use busyhour_stats::{autocorrelations, kolmogorov_uniform, ljung_box};

/// Seeds of every test here.
pub const SEEDS: std::ops::Range<u64> = 0..200;

/// P-values of one kind of test over the seeds.
#[derive(Default)]
pub struct PValues(Vec<f64>);

impl PValues {
    /// Kolmogorov–Smirnov of values that should be uniform.
    pub fn uniform(&mut self, mut values: Vec<f64>) {
        self.0.push(kolmogorov_uniform(&mut values).unwrap().p_value);
    }

    /// χ² of counts with these means against Poisson counts: Σ (c − μ)²/μ, by Wilson and Hilferty's cube root, which
    /// is good to three digits with a hundred windows or more. Small and large values both are evidence, so the
    /// p-value is of one side: uniform if the counts are Poisson, near 0 if they vary too much, near 1 if too little.
    pub fn dispersion(&mut self, counts: &[u64], mean: f64) {
        let windows = counts.len() as f64;
        let chi: f64 = counts.iter().map(|count| (*count as f64 - mean).powi(2) / mean).sum();
        let spread = 2.0 / (9.0 * windows);
        let z = ((chi / windows).cbrt() - (1.0 - spread)) / spread.sqrt();
        self.0.push(0.5 * libm::erfc(z / std::f64::consts::SQRT_2));
    }

    /// Ljung and Box's test of serial correlation up to lag 5.
    pub fn independence(&mut self, values: &[f64]) {
        self.0.push(ljung_box(&autocorrelations(&[values], 5).unwrap()).unwrap().p_value);
    }

    /// Fails unless the p-values look uniform. The seeds are fixed: this passes or fails for ever, and a law that is
    /// right fails with probability 0.001 at the time the seeds are chosen.
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

    /// Fails if the p-values look uniform: shows that a test can tell.
    #[track_caller]
    pub fn assert_not_uniform(mut self, what: &str) {
        assert!(kolmogorov_uniform(&mut self.0).unwrap().p_value < 1e-6, "{what} went unnoticed");
    }
}
