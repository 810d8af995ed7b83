//! Renewal processes with gamma or Weibull gaps, generated in rescaled time with rate 1.

use super::position::Position;
use crate::linear_rate::LinearRate;
use crate::random::Source;

/// The distribution of a gap with mean 1.
#[derive(Clone, Copy, Debug)]
enum Gap {
    /// A gamma distribution with shape k and scale 1/k.
    Gamma { shape: f64 },
    /// A Weibull distribution with shape c, and the scale for which its mean is 1.
    Weibull { shape: f64, scale: f64 },
}

/// A stationary renewal process: it behaves as if it had been running before the stage. The expected number of arrivals is
/// therefore the integral of the rate from the start of the stage on. The first step is the residual life, a uniform fraction
/// of a length-biased gap (Cox, "Renewal Theory", 1962, ch. 5).
#[derive(Clone, Debug)]
pub(crate) struct Renewal {
    source: Source,
    line: LinearRate,
    duration_ns: u64,
    gap: Gap,
    is_started: bool,
    position: Position,
}

impl Renewal {
    pub(crate) fn gamma(source: Source, line: LinearRate, duration_ns: u64, cov: f64) -> Renewal {
        Renewal::new(source, line, duration_ns, Gap::Gamma { shape: 1.0 / (cov * cov) })
    }

    pub(crate) fn weibull(source: Source, line: LinearRate, duration_ns: u64, cov: f64) -> Renewal {
        let shape = weibull_shape(cov);
        let scale = libm::exp(-libm::lgamma(1.0 + 1.0 / shape));
        Renewal::new(source, line, duration_ns, Gap::Weibull { shape, scale })
    }

    fn new(source: Source, line: LinearRate, duration_ns: u64, gap: Gap) -> Renewal {
        Renewal { source, line, duration_ns, gap, is_started: false, position: Position::default() }
    }

    pub(crate) fn next_ns(&mut self) -> Option<u64> {
        let rescaled_gap =
            if self.is_started { self.draw_gap() } else { self.draw_biased() * self.source.uniform() };
        self.is_started = true;
        let step_ns = self.line.step(self.position.ns(), rescaled_gap);
        self.position = self.position.step(step_ns, self.duration_ns)?;
        Some(self.position.whole_ns())
    }

    fn draw_gap(&mut self) -> f64 {
        match self.gap {
            Gap::Gamma { shape } => self.source.gamma(shape) / shape,
            Gap::Weibull { shape, scale } => scale * libm::pow(self.source.exponential(), 1.0 / shape),
        }
    }

    /// Draws a length-biased gap, whose density is proportional to x·f(x). For gamma gaps it is a gamma variate with a shape
    /// larger by 1; for Weibull gaps it is the power of a gamma variate.
    fn draw_biased(&mut self) -> f64 {
        match self.gap {
            Gap::Gamma { shape } => self.source.gamma(shape + 1.0) / shape,
            Gap::Weibull { shape, scale } => {
                scale * libm::pow(self.source.gamma(1.0 + 1.0 / shape), 1.0 / shape)
            }
        }
    }
}

/// The shape c of the Weibull distribution with this coefficient of variation. It is the root of Γ(1+2/c)/Γ(1+1/c)² = 1 + cov²,
/// whose left side decreases with c; the root is found by bisection of ln c. Accurate for 0.005 ≤ cov ≤ 400.
fn weibull_shape(cov: f64) -> f64 {
    let target = libm::log1p(cov * cov);
    let (mut low, mut high) = (libm::log(0.1), libm::log(400.0));
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        let inverse = libm::exp(-middle);
        let reached = libm::lgamma(1.0 + 2.0 * inverse) - 2.0 * libm::lgamma(1.0 + inverse);
        if reached > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weibull_shapes_of_known_distributions_are_found() {
        // Shape 1 is the exponential distribution. Shape 2 is the Rayleigh distribution, with CoV √(4/π − 1). Shape 1/2 has CoV
        // √5.
        assert!((weibull_shape(1.0) - 1.0).abs() < 1e-9);
        assert!((weibull_shape((4.0 / std::f64::consts::PI - 1.0_f64).sqrt()) - 2.0).abs() < 1e-9);
        assert!((weibull_shape(5.0_f64.sqrt()) - 0.5).abs() < 1e-9);
    }
}
