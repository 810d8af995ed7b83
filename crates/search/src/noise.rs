//! The noise of measured values between trials with the same load.

/// A distribution of Student's t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Noise {
    pub degrees: f64,
    /// The logarithm of the factor of its density that does not depend on the value.
    log_factor: f64,
    /// The value that 95 % are below.
    pub quantile_95: f64,
    pub log_prior: f64,
}

/// Almost normal noise, and one with heavy tails: two of three systems have the former, before any trial.
pub(crate) const NOISES: [Noise; 2] = [
    Noise { degrees: 30.0, log_factor: -0.927_267, quantile_95: 1.697_261, log_prior: -0.405_465 },
    Noise { degrees: 3.0, log_factor: -1.000_889, quantile_95: 2.353_363, log_prior: -1.098_612 },
];

impl Noise {
    /// The logarithm of the density.
    pub(crate) fn log_density(&self, value: f64) -> f64 {
        self.log_factor - (self.degrees + 1.0) / 2.0 * (value * value / self.degrees).ln_1p()
    }

    /// The weight of a value in a regression, 1 in the middle: distant values count less.
    pub(crate) fn weight(&self, value: f64) -> f64 {
        (self.degrees + 1.0) / (self.degrees + value * value)
    }

    /// The share of values below one, about: a logistic function that has the same quantile of 95 %.
    pub(crate) fn share_below(&self, value: f64) -> f64 {
        let logit = 19.0_f64.ln() * value / self.quantile_95;
        1.0 / (1.0 + (-logit).exp())
    }
}

/// The share of a normal distribution below a value (Abramowitz and Stegun 26.2.17; the error is below 1e-7).
pub(crate) fn normal_share(value: f64) -> f64 {
    let distance = value.abs();
    let t = 1.0 / (1.0 + 0.231_641_9 * distance);
    let polynomial = t
        * (0.319_381_530
            + t * (-0.356_563_782 + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let above = (-distance * distance / 2.0).exp() / std::f64::consts::TAU.sqrt() * polynomial;
    if value >= 0.0 { 1.0 - above } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_and_quantiles_belong_together() {
        for noise in NOISES {
            let step = 0.001;
            let density = |at: f64| noise.log_density(at).exp() * step;
            let below: f64 = (-400_000..0).map(|at| density((f64::from(at) + 0.5) * step)).sum();
            assert!((below - 0.5).abs() < 1e-4, "{noise:?} {below}");
            let steps = (noise.quantile_95 / step) as i32;
            let inner: f64 = (0..steps).map(|at| density((f64::from(at) + 0.5) * step)).sum();
            assert!((inner - 0.45).abs() < 1e-3, "{noise:?} {inner}");
            assert!((noise.share_below(noise.quantile_95) - 0.95).abs() < 1e-12);
        }
        assert!(
            (normal_share(1.644_854) - 0.95).abs() < 1e-6 && (normal_share(-1.959_964) - 0.025).abs() < 1e-6
        );
    }
}
