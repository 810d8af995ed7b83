//! Tests exponential gaps between rounded time stamps.
//!
//! In a log with whole milliseconds, gaps are whole milliseconds. Some of them are 0, which is impossible for a continuous
//! exponential distribution. For a true Poisson log of 20 minutes with 32 arrivals per second, the statistic of the continuous
//! test is three times the critical value. The gaps must therefore be compared with exponential gaps that were rounded in the
//! same way.

use rand::Rng;

use crate::kolmogorov::TestResult;

/// Distribution of the gaps of Poisson arrivals whose time stamps are rounded down to ticks of a clock.
///
/// The first arrival is uniformly distributed within its tick. Therefore the gap D, in ticks, has P(D = 0) = 1 − (1 − e^(−a))/a
/// and P(D > k) = (1 − e^(−a))·e^(−ka)/a, where a is the number of arrivals per tick. The mean of D is 1/a, as without
/// rounding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundedExponential {
    per_tick: f64,
}

impl RoundedExponential {
    /// The distribution for this number of arrivals per tick of the clock; `None` unless the number is positive and finite.
    #[must_use]
    pub fn new(arrivals_per_tick: f64) -> Option<RoundedExponential> {
        (arrivals_per_tick > 0.0 && arrivals_per_tick.is_finite())
            .then_some(RoundedExponential { per_tick: arrivals_per_tick })
    }

    /// P(D ≤ k): the share of gaps of at most k ticks.
    #[must_use]
    pub fn cumulative_probability(&self, ticks: u64) -> f64 {
        let a = self.per_tick;
        1.0 + (-a).exp_m1() * (-(ticks as f64) * a).exp() / a
    }

    /// Coefficient of variation of the rounded gaps: √(a(1 + e^(−a))/(1 − e^(−a)) − 1), about 1 + a²/12. It is above 1 because of
    /// the rounding.
    #[must_use]
    pub fn cov(&self) -> f64 {
        let a = self.per_tick;
        (a * (1.0 + (-a).exp()) / -(-a).exp_m1() - 1.0).sqrt()
    }
}

/// Tests whether gaps between rounded time stamps are those of Poisson arrivals with unknown rate. Gaps are whole numbers of
/// ticks.
///
/// The statistic is Lilliefors' D: the largest distance between the sample's distribution function and that of the exponential
/// distribution with the sample's mean, on both sides of each step. The p-value is simulated. For each replicate, the same number
/// of exponential gaps with the same mean is drawn. The resulting time stamps are rounded down, and D is computed from their
/// gaps. Then p = (1 + number of replicates with at least this distance) / (1 + number of replicates) (Davison and Hinkley,
/// "Bootstrap Methods and their Application", 4.2.1). The time is proportional to n × replicates. `None` for fewer than two
/// gaps, without replicates, or if all gaps are 0.
#[must_use]
pub fn lilliefors_rounded(
    gaps_ticks: &[u64],
    replicates: u32,
    random: &mut (impl Rng + ?Sized),
) -> Option<TestResult> {
    let n = gaps_ticks.len();
    let total: u64 = gaps_ticks.iter().sum();
    if n < 2 || total == 0 || replicates == 0 {
        return None;
    }
    let mean = total as f64 / n as f64;
    let mut counts = Counts::default();
    let statistic = counts.distance(gaps_ticks.iter().copied());
    let mut at_least_as_large = 0_u32;
    for _ in 0..replicates {
        // The first arrival is uniformly distributed in its tick.
        let mut at: f64 = random.random();
        let mut tick = 0_u64;
        let drawn = counts.distance((0..n).map(|_| {
            // 1 − u is in (0, 1], so the logarithm is finite.
            at -= mean * (1.0 - random.random::<f64>()).ln();
            let now = at as u64;
            now - std::mem::replace(&mut tick, now)
        }));
        // Distances that differ only by rounding errors are treated as equal.
        at_least_as_large += u32::from(drawn >= statistic - 1e-12);
    }
    let p_value = f64::from(1 + at_least_as_large) / f64::from(1 + replicates);
    Some(TestResult { statistic, p_value, n: n as u64 })
}

/// Counts of whole numbers. The memory is reused for all replicates.
#[derive(Default)]
struct Counts {
    /// The counts of values below [`DENSE`], by value.
    dense: Vec<u32>,
    /// All values of at least [`DENSE`], which are stored individually.
    sparse: Vec<u64>,
}

/// Values below this limit are counted in an array.
const DENSE: u64 = 4_096;

impl Counts {
    /// The statistic D of whole numbers, for the exponential distribution with their mean.
    fn distance(&mut self, values: impl Iterator<Item = u64>) -> f64 {
        self.dense.clear();
        self.sparse.clear();
        let (mut n, mut total) = (0_u64, 0.0);
        for value in values {
            n += 1;
            total += value as f64;
            if value < DENSE {
                let at = value as usize;
                if at >= self.dense.len() {
                    self.dense.resize(at + 1, 0);
                }
                self.dense[at] += 1;
            } else {
                self.sparse.push(value);
            }
        }
        self.sparse.sort_unstable();
        let (n, mean) = (n as f64, total / n as f64);
        let (mut below, mut largest) = (0.0, 0.0_f64);
        let mut step = |value: f64, times: f64| {
            let expected = -(-value / mean).exp_m1();
            largest = largest.max((expected - below / n).abs());
            below += times;
            largest = largest.max((below / n - expected).abs());
        };
        for (value, &times) in self.dense.iter().enumerate() {
            if times > 0 {
                step(value as f64, f64::from(times));
            }
        }
        for chunk in self.sparse.chunk_by(|a, b| a == b) {
            step(chunk[0] as f64, chunk.len() as f64);
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_one_and_have_the_expected_mean() {
        for per_tick in [0.01, 0.2, 1.0, 5.0] {
            let rounded = RoundedExponential::new(per_tick).unwrap();
            let (mut mean, mut square, mut before) = (0.0, 0.0, 0.0);
            for ticks in 0..20_000_u64 {
                let share = rounded.cumulative_probability(ticks) - before;
                before += share;
                assert!(share >= 0.0);
                mean += share * ticks as f64;
                square += share * (ticks * ticks) as f64;
            }
            assert!((before - 1.0).abs() < 1e-9, "{per_tick}: {before}");
            assert!((mean * per_tick - 1.0).abs() < 1e-9, "{per_tick}: {mean}");
            let cov = (square - mean * mean).sqrt() / mean;
            assert!((cov - rounded.cov()).abs() < 1e-6, "{per_tick}: {cov}");
        }
        assert_eq!(RoundedExponential::new(0.0), None);
    }

    #[test]
    fn the_distance_is_exact_for_small_and_large_values() {
        let mut counts = Counts::default();
        // If all values are equal, their distribution function has one step from 0 to 1, where the exponential distribution
        // function is 1 − 1/e.
        for value in [7, 7_000_000] {
            let found = counts.distance([value; 5].into_iter());
            assert!((found - (1.0 - (-1.0_f64).exp())).abs() < 1e-12, "{found}");
        }
    }
}
