//! The test of Mann and Kendall with the exact distribution of S, and the slope of Theil and Sen with its interval.
//!
//! The distribution is that over all orders of the values, given their ties. The number of orders of a multiset with k
//! inversions is a coefficient of the Gaussian multinomial, and S is the number of untied pairs minus 2 k. More than
//! [`EXACT_MAX`] values use the normal approximation with ties and a correction for continuity.

use std::collections::HashMap;

use busyhour_stats::normal_p_value;

/// Largest number of values with the exact distribution. There are 627 patterns of ties of 20 values, so the cache is small.
pub(crate) const EXACT_MAX: usize = 20;

/// A test of one series against a rise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rise {
    /// Kendall's S.
    pub s: i64,
    /// Probability of an S at least as large without a trend.
    pub p: f64,
    /// Smallest p value that values with these ties can have.
    pub p_min: f64,
}

/// Tests series; keeps the distributions that it has computed.
#[derive(Debug, Default)]
pub(crate) struct RankTest {
    /// The probabilities of 0, 1, … inversions, by the sizes of the groups of equal values.
    distributions: HashMap<Vec<usize>, Vec<f64>>,
}

impl RankTest {
    /// Tests whether the values rise.
    pub(crate) fn rise(&mut self, values: &[f64]) -> Rise {
        let s = kendall_s(values);
        let groups = tie_groups(values);
        let pairs = groups.iter().fold(pairs(values.len()), |pairs, group| pairs - self::pairs(*group));
        if values.len() > EXACT_MAX {
            let variance = tied_variance(values.len(), &groups);
            return Rise { s, p: normal_tail(s, variance), p_min: normal_tail(pairs as i64, variance) };
        }
        let distribution = self.distributions.entry(groups).or_insert_with_key(|groups| inversions(groups));
        let most_inversions = ((pairs as i64 - s) / 2) as usize;
        let p = distribution.iter().take(most_inversions + 1).sum::<f64>().min(1.0);
        Rise { s, p, p_min: distribution[0] }
    }

    /// The slope of `values` over `abscissas` with an interval of at least `confidence`. The interval is missing if
    /// the values are too few for it. `None` for fewer than two values.
    pub(crate) fn slope(&mut self, abscissas: &[f64], values: &[f64], confidence: f64) -> Option<Slope> {
        let slopes = pair_slopes(abscissas, values);
        let middle = slopes.len() / 2;
        let value = match slopes.len() {
            0 => return None,
            even if even % 2 == 0 => f64::midpoint(slopes[middle - 1], slopes[middle]),
            _ => slopes[middle],
        };
        let excluded = self.excluded_slopes(values.len(), (1.0 - confidence) / 2.0);
        let interval = excluded
            .filter(|excluded| 2 * excluded < slopes.len())
            .map(|excluded| (slopes[excluded], slopes[slopes.len() - 1 - excluded]));
        Some(Slope { value, interval })
    }

    /// The number of slopes at each end that are outside the interval: one less than the largest number of
    /// inversions whose probability in each tail is at most `tail`.
    fn excluded_slopes(&mut self, n: usize, tail: f64) -> Option<usize> {
        let distinct: Vec<f64> = (0..n).map(|value| value as f64).collect();
        let is_outside = |excluded: usize, test: &mut RankTest| {
            let s = pairs(n) as i64 - 2 * excluded as i64;
            test.tail_of_distinct(&distinct, s) <= tail
        };
        (0..pairs(n).div_ceil(2)).take_while(|excluded| is_outside(*excluded, self)).last()
    }

    fn tail_of_distinct(&mut self, distinct: &[f64], s: i64) -> f64 {
        if distinct.len() > EXACT_MAX {
            return normal_tail(s, tied_variance(distinct.len(), &[]));
        }
        let groups = vec![1; distinct.len()];
        let distribution = self.distributions.entry(groups).or_insert_with_key(|groups| inversions(groups));
        distribution.iter().take(((pairs(distinct.len()) as i64 - s) / 2) as usize + 1).sum()
    }
}

/// The slope of Theil and Sen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slope {
    /// Median of the slopes of all pairs.
    pub value: f64,
    /// Ends of its interval.
    pub interval: Option<(f64, f64)>,
}

/// The slopes of all pairs with different abscissas, in increasing order.
fn pair_slopes(abscissas: &[f64], values: &[f64]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(pairs(values.len()));
    for later in 1..values.len().min(abscissas.len()) {
        for earlier in 0..later {
            let distance = abscissas[later] - abscissas[earlier];
            if distance > 0.0 {
                slopes.push((values[later] - values[earlier]) / distance);
            }
        }
    }
    slopes.sort_by(f64::total_cmp);
    slopes
}

fn pairs(n: usize) -> usize {
    n * n.saturating_sub(1) / 2
}

fn kendall_s(values: &[f64]) -> i64 {
    let mut s = 0;
    for (at, later) in values.iter().enumerate() {
        s += values[..at]
            .iter()
            .map(|earlier| i64::from(later > earlier) - i64::from(later < earlier))
            .sum::<i64>();
    }
    s
}

/// The sizes of the groups of equal values, in increasing order.
fn tie_groups(values: &[f64]) -> Vec<usize> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut groups: Vec<usize> = sorted.chunk_by(|one, two| one == two).map(<[f64]>::len).collect();
    groups.sort_unstable();
    groups
}

/// The probabilities of 0, 1, … inversions of a multiset with groups of these sizes.
fn inversions(groups: &[usize]) -> Vec<f64> {
    let mut counts = vec![1.0];
    let mut placed = 0;
    for group in groups {
        placed += group;
        counts = product(&counts, &gaussian_binomial(placed, *group));
    }
    let all: f64 = counts.iter().sum();
    counts.iter().map(|count| count / all).collect()
}

/// The coefficients of the Gaussian binomial of `n` over `k`, by Pascal's rule. All terms are positive, so rounding
/// errors stay small.
fn gaussian_binomial(n: usize, k: usize) -> Vec<f64> {
    let mut row: Vec<Vec<f64>> = vec![vec![1.0]];
    for m in 1..=n {
        let next = |choice: usize| {
            let mut sum = vec![0.0; choice * (m - choice) + 1];
            if choice > 0 {
                row[choice - 1].iter().zip(&mut sum).for_each(|(term, sum)| *sum += term);
            }
            if choice < m {
                row[choice].iter().zip(&mut sum[choice..]).for_each(|(term, sum)| *sum += term);
            }
            sum
        };
        row = (0..=k.min(m)).map(next).collect();
    }
    row.pop().unwrap_or_default()
}

fn product(one: &[f64], two: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; one.len() + two.len() - 1];
    for (at, factor) in one.iter().enumerate() {
        two.iter().zip(&mut product[at..]).for_each(|(term, sum)| *sum += factor * term);
    }
    product
}

fn tied_variance(n: usize, groups: &[usize]) -> f64 {
    let term = |n: usize| (n * n.saturating_sub(1) * (2 * n + 5)) as f64;
    (term(n) - groups.iter().map(|group| term(*group)).sum::<f64>()) / 18.0
}

/// The probability of at least `s` by the normal approximation with a correction for continuity.
fn normal_tail(s: i64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (s as f64 - 1.0) / variance.sqrt();
    let half = normal_p_value(z) / 2.0;
    if z >= 0.0 { half } else { 1.0 - half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, two: f64) -> bool {
        (one - two).abs() <= 1e-12 + 1e-9 * two.abs()
    }

    /// All orders of the values, counted one by one.
    fn counted(values: &[f64]) -> f64 {
        fn orders(rest: &mut Vec<f64>, from: usize, count: &mut impl FnMut(&[f64])) {
            if from == rest.len() {
                return count(rest);
            }
            for at in from..rest.len() {
                rest.swap(from, at);
                orders(rest, from + 1, count);
                rest.swap(from, at);
            }
        }
        let (s, mut all, mut at_least) = (kendall_s(values), 0.0, 0.0);
        orders(&mut values.to_vec(), 0, &mut |order| {
            all += 1.0;
            at_least += f64::from(u8::from(kendall_s(order) >= s));
        });
        at_least / all
    }

    #[test]
    fn p_values_equal_those_of_all_orders_counted() {
        let mut test = RankTest::default();
        let series: [&[f64]; 6] = [
            &[1.0, 2.0, 3.0, 4.0, 5.0],
            &[1.0, 3.0, 2.0, 4.0, 5.0, 7.0, 6.0],
            &[1.0, 1.0, 2.0, 2.0, 2.0, 3.0],
            &[2.0, 1.0, 2.0, 1.0, 3.0, 3.0, 3.0],
            &[5.0, 4.0, 4.0, 2.0],
            &[3.0, 3.0, 3.0],
        ];
        for values in series {
            let found = test.rise(values);
            assert!(near(found.p, counted(values)), "{values:?}: {found:?}, {}", counted(values));
        }
        let rising: Vec<f64> = (0..10).map(f64::from).collect();
        let found = test.rise(&rising);
        assert!(near(found.p, 1.0 / 3_628_800.0) && found.p == found.p_min, "{found:?}");
        assert_eq!(test.rise(&[7.0; 9]), Rise { s: 0, p: 1.0, p_min: 1.0 });
    }

    #[test]
    fn the_normal_approximation_continues_the_exact_distribution() {
        let mut test = RankTest::default();
        let noisy: Vec<f64> = (0..20).map(|at| f64::from(at + 9 * (at * 7 % 5))).collect();
        let exact = test.rise(&noisy);
        let approximate = normal_tail(exact.s, tied_variance(20, &tie_groups(&noisy)));
        assert!((exact.p / approximate - 1.0).abs() < 0.1, "{exact:?} {approximate}");
        assert!(test.rise(&(0..40).map(|at| f64::from(-at)).collect::<Vec<_>>()).p > 0.999);
    }

    #[test]
    fn slopes_have_the_tabulated_intervals() {
        let mut test = RankTest::default();
        // Hollander and Wolfe, table A.30: for 5 values, P(S >= 8) = 0.042 and P(S >= 10) = 0.008.
        let x: Vec<f64> = (0..5).map(f64::from).collect();
        let slope = test.slope(&x, &[1.0, 2.0, 4.0, 4.5, 6.0], 0.95).unwrap();
        assert_eq!(slope.interval, Some((0.5, 2.0)), "{slope:?}");
        let wider = test.slope(&x, &[1.0, 2.0, 4.0, 4.5, 6.0], 0.9).unwrap();
        assert_eq!(wider.interval, Some((1.0, 1.5)), "{wider:?}");
        assert_eq!(test.slope(&x[..3], &[1.0, 2.0, 3.0], 0.95).unwrap().interval, None);
        assert_eq!(test.slope(&x[..1], &[1.0], 0.95), None);
    }
}
