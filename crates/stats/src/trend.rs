//! Monotonic trends: the test of Mann and Kendall with the correction of Hamed and Rao, and the slope of Theil and Sen.

use statrs::distribution::{ContinuousCDF, Normal};

/// Maximum number of values of a series. It is limited because the slope is the median over all pairs of values.
pub const TREND_VALUES_MAX: usize = 512;

/// Minimum number of values. With fewer values, the normal approximation of the test is poor.
pub const TREND_VALUES_MIN: usize = 8;

/// A monotonic trend of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MonotonicTrend {
    /// Number of values.
    pub n: usize,
    /// Kendall's S: the number of rising pairs minus the number of falling pairs.
    pub s: i64,
    /// Factor by which serial correlation increases the variance of S; at least 1.
    pub correction: f64,
    /// One-sided p-value: the probability, in a series without trend, of an S that is at least as large.
    pub p_rising: f64,
    /// One-sided p-value: the probability, in a series without trend, of an S that is at most as large.
    pub p_falling: f64,
    /// Median of the slopes of all pairs, in units of the values per unit of time.
    pub slope: f64,
    /// Lower end of the confidence interval of the slope.
    pub slope_low: f64,
    /// Upper end of the confidence interval of the slope.
    pub slope_high: f64,
}

/// The trend of `values` at increasing `times`, with a confidence interval of the slope at `confidence`.
///
/// The variance of S takes ties (Kendall, "Rank Correlation Methods", 1975) and serial correlation into account. For serial
/// correlation (Hamed and Rao, "A modified Mann-Kendall trend test for autocorrelated data", Journal of Hydrology 204, 1998),
/// the slope is removed from the values, and the significant autocorrelations of the ranks of the remainders are used. If they
/// decrease the variance, they are ignored, which makes the test conservative. The interval of the slope is that of Sen
/// ("Estimates of the regression coefficient based on Kendall's tau", Journal of the American Statistical Association 63,
/// 1968) with the corrected variance.
///
/// `None` with fewer than [`TREND_VALUES_MIN`] or more than [`TREND_VALUES_MAX`] values, if times do not increase, or if values
/// are not finite.
#[must_use]
pub fn monotonic_trend(times: &[f64], values: &[f64], confidence: f64) -> Option<MonotonicTrend> {
    let n = values.len();
    let is_increasing = times.windows(2).all(|pair| pair[0] < pair[1]);
    if n != times.len()
        || !(TREND_VALUES_MIN..=TREND_VALUES_MAX).contains(&n)
        || !is_increasing
        || !times.iter().chain(values).all(|value| value.is_finite())
        || !(0.0..1.0).contains(&confidence)
    {
        return None;
    }
    let (s, slopes) = pairs(times, values);
    let slope = median(&slopes);
    let variance = tied_variance(values);
    let rest: Vec<f64> = times.iter().zip(values).map(|(time, value)| value - slope * time).collect();
    let correction = correction(&ranks(&rest));
    let sd = (variance * correction).sqrt();
    let normal = Normal::standard();
    let tail = |s: f64| if sd > 0.0 { 1.0 - normal.cdf((s - 1.0) / sd) } else { 1.0 };
    let half = normal.inverse_cdf(0.5 + confidence / 2.0) * sd / 2.0;
    let middle = slopes.len() as f64 / 2.0;
    let at = |rank: f64| slopes[(rank.max(0.0) as usize).min(slopes.len() - 1)];
    Some(MonotonicTrend {
        n,
        s,
        correction,
        p_rising: tail(s as f64),
        p_falling: tail(-s as f64),
        slope,
        slope_low: at((middle - half).floor() - 1.0),
        slope_high: at((middle + half).ceil()),
    })
}

/// Kendall's S, and the slopes of all pairs in increasing order.
fn pairs(times: &[f64], values: &[f64]) -> (i64, Vec<f64>) {
    let mut s = 0;
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for later in 1..values.len() {
        for earlier in 0..later {
            let rise = values[later] - values[earlier];
            s += i64::from(rise > 0.0) - i64::from(rise < 0.0);
            slopes.push(rise / (times[later] - times[earlier]));
        }
    }
    slopes.sort_by(f64::total_cmp);
    (s, slopes)
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

/// The variance of S for independent values, some of which may be equal.
fn tied_variance(values: &[f64]) -> f64 {
    let term = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|one, two| one == two).map(|group| term(group.len() as f64)).sum();
    (term(values.len() as f64) - ties) / 18.0
}

/// Ranks from 1; equal values have the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, two| values[*one].total_cmp(&values[*two]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    for group in order.chunk_by(|one, two| values[*one] == values[*two]) {
        let rank = from as f64 + (group.len() as f64 + 1.0) / 2.0;
        group.iter().for_each(|at| ranks[*at] = rank);
        from += group.len();
    }
    ranks
}

/// The correction factor n / n* of Hamed and Rao, at least 1.
fn correction(ranks: &[f64]) -> f64 {
    let n = ranks.len() as f64;
    let mean = (n + 1.0) / 2.0;
    let square: f64 = ranks.iter().map(|rank| (rank - mean) * (rank - mean)).sum();
    if square <= 0.0 {
        return 1.0;
    }
    let band = 1.96 / n.sqrt();
    let sum: f64 = (1..ranks.len() - 2)
        .map(|lag| {
            let products: f64 =
                ranks.iter().zip(&ranks[lag..]).map(|(one, two)| (one - mean) * (two - mean)).sum();
            let coefficient = products / square;
            let left = n - lag as f64;
            if coefficient.abs() > band { left * (left - 1.0) * (left - 2.0) * coefficient } else { 0.0 }
        })
        .sum();
    (1.0 + 2.0 * sum / (n * (n - 1.0) * (n - 2.0))).max(1.0)
}

#[cfg(test)]
mod tests {
    use rand::{Rng as _, SeedableRng as _};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn times(n: u32) -> Vec<f64> {
        (0..n).map(f64::from).collect()
    }

    #[test]
    fn a_rising_line_has_its_slope() {
        let values: Vec<f64> = times(20).iter().map(|time| 3.0 + 0.5 * time).collect();
        let trend = monotonic_trend(&times(20), &values, 0.95).unwrap();
        assert_eq!((trend.s, trend.slope, trend.slope_low, trend.slope_high), (190, 0.5, 0.5, 0.5));
        assert!(trend.p_rising < 1e-8 && trend.p_falling > 0.99, "{trend:?}");
    }

    #[test]
    fn s_and_its_variance_are_those_counted_by_hand() {
        // 31 pairs rise, 13 fall and one is tied.
        let values = [1.0, 3.0, 2.0, 4.0, 4.0, 6.0, 3.5, 7.0, 5.0, 2.5];
        let trend = monotonic_trend(&times(10), &values, 0.95).unwrap();
        assert_eq!(trend.s, 18);
        assert!((tied_variance(&values) - (10.0 * 9.0 * 25.0 - 2.0 * 9.0) / 18.0).abs() < 1e-12);
    }

    #[test]
    fn series_that_cannot_be_judged_have_no_trend() {
        let short = times(7);
        assert_eq!(monotonic_trend(&short, &short, 0.95), None);
        let mut values = times(10);
        assert_eq!(monotonic_trend(&[0.0; 10], &values, 0.95), None);
        values[3] = f64::NAN;
        assert_eq!(monotonic_trend(&times(10), &values, 0.95), None);
        let constant = monotonic_trend(&times(10), &[5.0; 10], 0.95).unwrap();
        assert_eq!((constant.s, constant.slope, constant.p_rising), (0, 0.0, 1.0));
    }

    /// Share of simulated series without trend for which a rising trend is found at the 5 % level.
    fn size(correlation: f64, seeds: u64) -> f64 {
        let rising = (0..seeds)
            .filter(|seed| {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(*seed);
                let mut value = 0.0;
                let values: Vec<f64> = (0..60)
                    .map(|_| {
                        let noise: f64 = random.sample(StandardNormal);
                        value = correlation * value + (1.0 - correlation * correlation).sqrt() * noise;
                        value
                    })
                    .collect();
                monotonic_trend(&times(60), &values, 0.95).unwrap().p_rising < 0.05
            })
            .count();
        rising as f64 / seeds as f64
    }

    #[test]
    fn false_alarms_are_at_the_nominal_level_for_independent_values_and_near_it_for_correlated_ones() {
        let independent = size(0.0, 400);
        assert!((0.01..0.09).contains(&independent), "{independent}");
        // Without the correction, the share would be about 0.28.
        let correlated = size(0.7, 400);
        assert!(correlated < 0.15, "{correlated}");
    }
}
