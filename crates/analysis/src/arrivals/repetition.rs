//! Repetition: whether the same pattern of starts recurs at a fixed interval.
//!
//! The start times are counted in windows of several widths, and the autocovariance of the counts is compared with that of
//! Poisson arrivals at each lag. For independent Poisson counts with mean m in N windows the sum of products
//! (c_k − m)(c_{k+ℓ} − m) has the mean 0, the variance (N − ℓ)m² and the skewness 1/√((N − ℓ)m²), like a Poisson variable with
//! the mean (N − ℓ)m². A slowly changing rate and groups of requests increase the sums of many adjacent lags, so each sum is
//! compared with the median of the surrounding lags. The p-value is multiplied by the number of lags searched, over all
//! widths. A lag is a period only if the sum at twice the lag is increased as well. This distinguishes a repeated pattern from
//! pairs of requests that follow each other at a fixed distance.

use busyhour_stats::poisson_upper_tail;
use serde::{Deserialize, Serialize};

/// Widths of the windows, in ns.
const WIDTHS_NS: [u64; 5] = [100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// Maximum number of lags per width.
const LAGS: usize = 512;
/// The shortest lag that is searched. Shorter lags cannot be distinguished from adjacent ones.
const LAG_MIN: usize = 4;

/// Minimum number of lags per width.
const LAGS_MIN: usize = 24;

/// Minimum expected number of pairs of arrivals per lag.
const PAIRS_MIN: f64 = 12.0;

/// Probability that Poisson arrivals show a repetition, over all widths and lags.
const SIZE: f64 = 0.002;

/// Number of lags on each side of a lag from which the usual covariance is estimated: the minimum, and as a share of the lag.
const AROUND: (usize, f64) = (10, 0.2);

/// Minimum excess at twice the lag, in standard deviations and as a share of the excess at the lag. Requests that queue in a
/// generator also start at a fixed distance, but rarely three of them in a row.
const CONFIRMED: (f64, f64) = (3.0, 0.4);

/// If a shorter lag has at least this share of the largest excess, that lag is the period.
const SAME: f64 = 0.7;

/// A repetition is material if at least the first share of the starts recurs, or if the number of pairs of starts exceeds that of
/// Poisson arrivals by at least the second share.
const MATERIAL: (f64, f64) = (0.15, 0.5);

/// Number of phases of a period in which starts are counted.
const PHASES: usize = 50;
/// Number of consecutive periods that are counted together.
const PERIODS: u64 = 8;

/// A pattern of starts that recurs at a fixed interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// The interval, in s.
    pub period_s: f64,
    /// Width of the windows in which arrivals were counted, in s.
    pub window_s: f64,
    /// Autocorrelation of the counts at this lag, above that of the surrounding lags.
    pub correlation: f64,
    /// The autocorrelation that Poisson arrivals exceed at any of the lags searched in at most 1 of 500 runs.
    pub band: f64,
    /// Probability of such an autocorrelation for Poisson arrivals, multiplied by the number of lags searched.
    pub p_value: f64,
    /// Mean number of starts per period in the busiest 4 % of the period; `None` if it is at most three times the usual number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<f64>,
}

/// Finds the strongest material repetition in sorted start times, whose clock has ticks of `tick_ns`.
pub(super) fn find(starts_ns: &[u64], tick_ns: u64) -> Option<Repetition> {
    let (first_ns, last_ns) = (*starts_ns.first()?, *starts_ns.last()?);
    let rows: Vec<Covariances> = WIDTHS_NS
        .iter()
        .filter(|width_ns| **width_ns >= tick_ns)
        .filter_map(|width_ns| Covariances::of(starts_ns, first_ns, last_ns, *width_ns))
        .collect();
    let searched: usize = rows.iter().map(Covariances::candidates).sum();
    let found = rows.iter().filter_map(|row| row.strongest(searched));
    let (_, repetition) = found.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let together = together(starts_ns, (repetition.period_s * 1e9).round() as u64);
    Some(Repetition { together, ..repetition })
}

/// Autocovariances of the counts in windows of one width.
struct Covariances {
    width_ns: u64,
    windows: f64,
    mean: f64,
    variance_sum: f64,
    /// The sum of products at each lag, from lag 1 on.
    sums: Vec<f64>,
}

/// The difference between the sum at one lag and the usual sum at the surrounding lags.
#[derive(Clone, Copy)]
struct Excess {
    sum: f64,
    deviation: f64,
    /// Standard deviation for Poisson counts.
    poisson: f64,
}

impl Covariances {
    /// Computes the autocovariances; `None` if there are too few windows or arrivals for this width.
    fn of(starts_ns: &[u64], first_ns: u64, last_ns: u64, width_ns: u64) -> Option<Covariances> {
        let windows = usize::try_from((last_ns - first_ns) / width_ns).ok()?;
        let lags = LAGS.min(windows / 4);
        let mean = starts_ns.len() as f64 / windows.max(1) as f64;
        if lags < LAGS_MIN || starts_ns.len() as f64 * mean < PAIRS_MIN {
            return None;
        }
        // Windows with arrivals: index and count. An incomplete window at the end is excluded.
        let mut counted: Vec<(usize, f64)> = Vec::new();
        for start_ns in starts_ns {
            let window = ((start_ns - first_ns) / width_ns) as usize;
            match counted.last_mut() {
                _ if window >= windows => break,
                Some(last) if last.0 == window => last.1 += 1.0,
                _ => counted.push((window, 1.0)),
            }
        }
        let total: f64 = counted.iter().map(|(_, count)| count).sum();
        let mean = total / windows as f64;
        let squares: f64 = counted.iter().map(|(_, count)| count * count).sum();
        let mut sums = vec![0.0; lags];
        for (at, (window, count)) in counted.iter().enumerate() {
            for (later, other) in &counted[at + 1..] {
                match sums.get_mut(later - window - 1) {
                    Some(sum) => *sum += count * other,
                    None => break,
                }
            }
        }
        // Converts sums of products to sums of products of deviations from the mean. Counts near both ends are in fewer
        // products.
        let (mut head, mut tail) = (Ends::new(counted.iter()), Ends::new(counted.iter().rev()));
        for (lag, sum) in (1..).zip(&mut sums) {
            let without_tail = total - tail.before(|window| window + lag >= windows);
            let without_head = total - head.before(|window| window < lag);
            *sum += (windows - lag) as f64 * mean * mean - mean * (without_tail + without_head);
        }
        let variance_sum = squares - total * mean;
        Some(Covariances { width_ns, windows: windows as f64, mean, variance_sum, sums })
    }

    /// Number of lags that may be periods. The sum at twice the lag must be known as well.
    fn candidates(&self) -> usize {
        (self.sums.len() / 2).saturating_sub(LAG_MIN - 1)
    }

    fn excess(&self, lag: usize) -> Excess {
        let reach = AROUND.0.max((lag as f64 * AROUND.1) as usize);
        let around = lag.saturating_sub(reach).max(1)..=(lag + reach).min(self.sums.len());
        let mut others: Vec<f64> =
            around.filter(|other| other.abs_diff(lag) > 1).map(|other| self.sums[other - 1]).collect();
        let usual = median(&mut others);
        others.iter_mut().for_each(|sum| *sum = (*sum - usual).abs());
        // The median absolute deviation of a normal variable is 0.6745 standard deviations.
        let spread = median(&mut others) / 0.6745;
        let poisson = (self.windows - lag as f64).sqrt() * self.mean;
        Excess { sum: self.sums[lag - 1] - usual, deviation: poisson.max(spread), poisson }
    }

    /// Whether the pattern also recurs after two periods.
    fn is_confirmed(&self, lag: usize, once: Excess) -> bool {
        let twice = (2 * lag).saturating_sub(1)..=(2 * lag + 1).min(self.sums.len());
        twice.map(|lag| self.excess(lag)).any(|excess| {
            excess.sum >= CONFIRMED.0 * excess.deviation && excess.sum >= CONFIRMED.1 * once.sum
        })
    }

    /// The excess at a lag plus the larger excess of its neighbours: a period of 50.6 windows increases the sums at lags 50 and
    /// 51.
    fn strength(&self, lag: usize) -> f64 {
        let beside = self.excess(lag - 1).sum.max(self.excess(lag + 1).sum);
        self.excess(lag).sum + beside.max(0.0)
    }

    /// The period in windows, computed from multiples of the lag: a period of 50.6 windows increases the sum at lag 506, not at
    /// 510.
    fn refined(&self, lag: usize) -> f64 {
        let mut period = lag as f64;
        for multiple in 2.. {
            let near = (period * f64::from(multiple)).round() as usize;
            if near + 1 > self.sums.len() {
                break;
            }
            let around = (near - 1..=near + 1).map(|lag| (lag, self.excess(lag)));
            let Some((best, excess)) = around.max_by(|a, b| a.1.sum.total_cmp(&b.1.sum)) else { break };
            if excess.sum < CONFIRMED.0 * excess.deviation {
                break;
            }
            period = best as f64 / f64::from(multiple);
        }
        period
    }

    /// The strongest material repetition, with its excess in standard deviations.
    fn strongest(&self, searched: usize) -> Option<(f64, Repetition)> {
        let lags = LAG_MIN..=self.sums.len() / 2;
        let found: Vec<(usize, Excess)> = lags
            .map(|lag| (lag, self.excess(lag)))
            .filter(|(lag, excess)| {
                self.is_material(*excess) && self.p_value(*lag, *excess, searched) <= SIZE
            })
            .filter(|(lag, excess)| self.is_confirmed(*lag, *excess))
            .collect();
        let largest = found.iter().map(|(lag, _)| self.strength(*lag)).reduce(f64::max)?;
        let (lag, _) = *found.iter().find(|(lag, _)| self.strength(*lag) >= SAME * largest)?;
        // Selects the lag with the larger excess from this lag and the next one: a period of 2.5 windows increases both.
        let next = found.iter().filter(|(other, _)| (lag..=lag + 1).contains(other));
        let (lag, excess) = *next.max_by(|a, b| a.1.sum.total_cmp(&b.1.sum))?;
        let width_s = self.width_ns as f64 / 1e9;
        let repetition = Repetition {
            period_s: self.refined(lag) * width_s,
            window_s: width_s,
            correlation: (excess.sum / self.variance_sum).min(1.0),
            band: self.band(lag, searched),
            p_value: self.p_value(lag, excess, searched),
            together: None,
        };
        Some((excess.sum / excess.deviation, repetition))
    }

    fn is_material(&self, excess: Excess) -> bool {
        let pairs = self.windows * self.mean * self.mean;
        excess.sum >= MATERIAL.0 * self.variance_sum || excess.sum >= MATERIAL.1 * pairs
    }

    fn p_value(&self, lag: usize, excess: Excess, searched: usize) -> f64 {
        let pairs = (self.windows - lag as f64) * self.mean * self.mean;
        let count = pairs + excess.sum * excess.poisson / excess.deviation;
        (poisson_upper_tail(count, pairs) * searched as f64).min(1.0)
    }

    /// The autocorrelation at which the p-value is `SIZE`.
    fn band(&self, lag: usize, searched: usize) -> f64 {
        let poisson = (self.windows - lag as f64).sqrt() * self.mean;
        let is_beyond = |deviations: f64| {
            let excess = Excess { sum: deviations * poisson, deviation: poisson, poisson };
            self.p_value(lag, excess, searched) <= SIZE
        };
        let (mut low, mut high) = (0.0, 100.0);
        for _ in 0..24 {
            let middle = f64::midpoint(low, high);
            if is_beyond(middle) { high = middle } else { low = middle }
        }
        (high * poisson / self.variance_sum).min(1.0)
    }
}

/// Adds up counts from one end of the run.
struct Ends<'a, I: Iterator<Item = &'a (usize, f64)>> {
    counted: std::iter::Peekable<I>,
    sum: f64,
}

impl<'a, I: Iterator<Item = &'a (usize, f64)>> Ends<'a, I> {
    fn new(counted: I) -> Self {
        Ends { counted: counted.peekable(), sum: 0.0 }
    }

    /// The sum, from this end on, of the counts in windows that meet the condition.
    fn before(&mut self, is_before: impl Fn(usize) -> bool) -> f64 {
        while let Some((_, count)) = self.counted.next_if(|(window, _)| is_before(*window)) {
            self.sum += count;
        }
        self.sum
    }
}

fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    if values.is_empty() {
        return 0.0;
    }
    *values.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// Mean number of starts per period in the busiest phase; `None` if it is not much larger than usual.
fn together(starts_ns: &[u64], period_ns: u64) -> Option<f64> {
    let first_ns = *starts_ns.first()?;
    let phase_ns = (period_ns / PHASES as u64).max(1);
    let stretch = |start_ns: &u64| (start_ns - first_ns) / (PERIODS * period_ns).max(1);
    let (mut sum, mut stretches) = (0.0, 0.0);
    for starts in starts_ns.chunk_by(|a, b| stretch(a) == stretch(b)) {
        let mut phases = [0.0_f64; PHASES];
        for start_ns in starts {
            phases[(((start_ns - first_ns) % period_ns / phase_ns) as usize).min(PHASES - 1)] += 1.0;
        }
        // Two adjacent phases, because a group of starts may be on the boundary.
        let pairs = (0..PHASES).map(|at| phases[at] + phases[(at + 1) % PHASES]);
        sum += pairs.fold(0.0, f64::max) / PERIODS as f64;
        stretches += 1.0;
    }
    let busiest = sum / stretches;
    let span_ns = starts_ns.last()? - first_ns;
    let usual = starts_ns.len() as f64 / span_ns.max(1) as f64 * (2 * phase_ns) as f64;
    (busiest >= 2.0 && busiest >= 3.0 * usual).then_some(busiest)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uniform numbers in \[0, 1), by SplitMix64.
    struct Uniform(u64);

    impl Uniform {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        fn below(&mut self, limit: u64) -> u64 {
            (self.next() * limit as f64) as u64
        }
    }

    fn poisson(rate_per_s: f64, n: usize, seed: u64) -> Vec<u64> {
        let mut random = Uniform(seed);
        let mut at = 0.0;
        let mut gap = || -(1.0 - random.next()).ln() / rate_per_s;
        std::iter::repeat_with(|| {
            at += gap();
            (at * 1e9) as u64
        })
        .take(n)
        .collect()
    }

    #[test]
    fn the_covariances_equal_their_definition() {
        let starts = poisson(300.0, 2_000, 1);
        let found = Covariances::of(&starts, starts[0], starts[1_999], 10_000_000).unwrap();
        let windows = found.windows as usize;
        let mut counts = vec![0.0; windows];
        for start in &starts {
            if let Some(count) = counts.get_mut(((start - starts[0]) / 10_000_000) as usize) {
                *count += 1.0;
            }
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        for lag in [1, 7, found.sums.len()] {
            let sum: f64 = (lag..windows).map(|at| (counts[at] - mean) * (counts[at - lag] - mean)).sum();
            assert!((sum - found.sums[lag - 1]).abs() < 1e-6, "lag {lag}: {sum} {}", found.sums[lag - 1]);
        }
    }

    #[test]
    fn poisson_arrivals_do_not_repeat() {
        for (rate, n) in [(100.0, 500), (100.0, 10_000), (5_000.0, 20_000)] {
            for seed in 0..10 {
                assert_eq!(find(&poisson(rate, n, seed), 1), None, "{rate} {n} {seed}");
            }
        }
    }

    #[test]
    fn users_with_a_fixed_cycle_repeat_its_pattern() {
        let mut random = Uniform(1);
        let phases: Vec<f64> = (0..100).map(|_| random.next() * 0.25).collect();
        let mut starts: Vec<u64> = (0..240)
            .flat_map(|cycle| {
                phases.iter().map(move |phase| phase + 0.25 * f64::from(cycle)).collect::<Vec<_>>()
            })
            .map(|at| ((at + 0.0006 * random.next()) * 1e9) as u64)
            .collect();
        starts.sort_unstable();
        let found = find(&starts, 1).unwrap();
        assert!((found.period_s - 0.25).abs() < 1e-3, "{found:?}");
        assert!(found.correlation > 0.4 && found.band < 0.1 && found.p_value < 1e-6, "{found:?}");
        // The period is not a multiple of the width of the windows.
        let mut starts: Vec<u64> = (0..2_000_u64).map(|at| at / 10 * 50_600_000 + at % 10 * 20_000).collect();
        starts.iter_mut().for_each(|at| *at += random.below(300_000));
        starts.sort_unstable();
        let found = find(&starts, 1).unwrap();
        assert!((found.period_s / 0.050_6 - 1.0).abs() < 0.003, "{found:?}");
        assert!((8.0..=10.0).contains(&found.together.unwrap()), "{found:?}");
        // Five groups of twenty users that start together.
        let mut starts: Vec<u64> = (0..2_400_u64)
            .flat_map(|at| (0..20).map(move |user| at * 50_000_000 + user * 30_000))
            .map(|at| at + random.below(100_000))
            .collect();
        starts.sort_unstable();
        let found = find(&starts, 1).unwrap();
        assert!((found.period_s - 0.05).abs() < 2e-4, "{found:?}");
        assert!((18.0..=20.0).contains(&found.together.unwrap()), "{found:?}");
    }

    #[test]
    fn a_fixed_distance_between_two_requests_is_not_a_period() {
        let mut starts: Vec<u64> =
            poisson(50.0, 5_000, 3).iter().flat_map(|at| [*at, at + 50_000_000]).collect();
        starts.sort_unstable();
        assert_eq!(find(&starts, 1), None);
    }
}
