//! A multiset of whole numbers, stored as counts of its values.

use hdrhistogram::Histogram;
use rustc_hash::FxHashMap;
use serde::Serialize;

/// Values below this are counted in an array.
const DENSE: u64 = 1 << 12;

/// Maximum number of distinct values of at least [`DENSE`] in one multiset.
const DISTINCT_MAX: usize = 1 << 20;

/// Maximum number of distinct values of at least [`DENSE`] in all multisets.
const DISTINCT_ALL: usize = 1 << 22;

/// Number of significant digits to which values are rounded if a limit is exceeded.
const DIGITS: u8 = 3;

/// Remaining number of distinct values that may be stored.
#[derive(Debug)]
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Budget {
        Budget(DISTINCT_ALL)
    }
}

#[cfg(test)]
impl Budget {
    pub(super) fn of(values: usize) -> Budget {
        Budget(values)
    }
}

/// Definition of the quantile of ordered values x₀ … xₙ₋₁.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuantileRule {
    /// x at (n−1)p with linear interpolation: type 7 of R. J. Hyndman and Y. Fan, *Sample Quantiles in Statistical
    /// Packages*, The American Statistician 50 (1996).
    #[default]
    Type7,
    /// As in the web-generator-toolkit: x at ⌊p(n−0.5)⌋, the median at ⌊(n−1)/2⌋.
    Toolkit,
}

/// Counts of values. Mean and variance are exact. Quantiles are exact unless there are too many distinct values; then their
/// relative error is up to 0.1 %.
#[derive(Debug, Default)]
pub(super) struct Counted {
    dense: Vec<u64>,
    sparse: FxHashMap<u64, u64>,
    /// Replaces `sparse` after a limit of distinct values was exceeded.
    rounded: Option<Box<Histogram<u64>>>,
    n: u64,
    sum: u128,
    squares: u128,
    extremes: Option<(u64, u64)>,
}

impl Counted {
    /// Adds a value.
    #[inline]
    pub(super) fn add(&mut self, value: u64, budget: &mut Budget) {
        self.n += 1;
        self.sum += u128::from(value);
        self.squares = self.squares.saturating_add(u128::from(value) * u128::from(value));
        let (least, most) = self.extremes.get_or_insert((value, value));
        *least = value.min(*least);
        *most = value.max(*most);
        self.count(value, 1, budget);
    }

    #[inline]
    fn count(&mut self, value: u64, times: u64, budget: &mut Budget) {
        if value < DENSE {
            let at = value as usize;
            if self.dense.len() <= at {
                self.dense.resize((at + 1).next_power_of_two(), 0);
            }
            self.dense[at] += times;
        } else if let Some(rounded) = &mut self.rounded {
            // Cannot fail: the histogram resizes itself.
            let _ = rounded.record_n(value, times);
        } else {
            let before = self.sparse.len();
            *self.sparse.entry(value).or_insert(0) += times;
            if self.sparse.len() > before {
                if budget.0 == 0 || before >= DISTINCT_MAX {
                    self.round(budget);
                } else {
                    budget.0 -= 1;
                }
            }
        }
    }

    #[cold]
    fn round(&mut self, budget: &mut Budget) {
        let Ok(mut rounded) = Histogram::new(DIGITS) else { return };
        let sparse = std::mem::take(&mut self.sparse);
        // The value that exceeded the limit was not deducted from the budget.
        budget.0 += sparse.len().saturating_sub(1);
        for (value, times) in sparse {
            let _ = rounded.record_n(value, times);
        }
        self.rounded = Some(Box::new(rounded));
    }

    /// Adds all values of another multiset.
    pub(super) fn absorb(&mut self, other: Counted, budget: &mut Budget) {
        if other.rounded.is_some() && self.rounded.is_none() {
            self.round(budget);
        }
        budget.0 += other.sparse.len();
        for (value, times) in other.steps() {
            self.count(value, times, budget);
        }
        self.n += other.n;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
        self.extremes = match (self.extremes, other.extremes) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (a, b) => a.or(b),
        };
    }

    pub(super) fn n(&self) -> u64 {
        self.n
    }

    pub(super) fn sum(&self) -> f64 {
        self.sum as f64
    }

    /// Minimum and maximum.
    pub(super) fn extremes(&self) -> Option<(u64, u64)> {
        self.extremes
    }

    /// Whether quantiles have a relative error of up to 0.1 %.
    pub(super) fn is_rounded(&self) -> bool {
        self.rounded.is_some()
    }

    pub(super) fn mean(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum as f64 / self.n as f64)
    }

    /// Variance with divisor n − 1.
    pub(super) fn variance(&self) -> Option<f64> {
        variance(self.n, self.sum, self.squares)
    }

    /// The values in order, each with its count.
    pub(super) fn steps(&self) -> Vec<(u64, u64)> {
        let mut steps: Vec<(u64, u64)> = (0..)
            .zip(&self.dense)
            .filter(|(_, count)| **count > 0)
            .map(|(value, count)| (value, *count))
            .collect();
        let from = steps.len();
        match &self.rounded {
            Some(rounded) => steps.extend(rounded.iter_recorded().map(|step| {
                let (least, most) = self.extremes.unwrap_or_default();
                let middle = rounded.median_equivalent(step.value_iterated_to());
                (middle.clamp(least, most), step.count_at_value())
            })),
            None => {
                steps.extend(self.sparse.iter().map(|(value, count)| (*value, *count)));
                steps[from..].sort_unstable();
            }
        }
        steps
    }

    /// The quantiles at `places`, 0 to 1; `None` without values.
    pub(super) fn quantiles(&self, places: &[f64], rule: QuantileRule) -> Option<Vec<f64>> {
        let last = self.n.checked_sub(1)?;
        let mut below = 0;
        // Cumulative counts.
        let steps: Vec<(u64, u64)> = self
            .steps()
            .into_iter()
            .map(|(value, count)| {
                below += count;
                (value, below)
            })
            .collect();
        let at = |rank: u64| {
            let step = steps.partition_point(|(_, upto)| *upto <= rank.min(last));
            steps.get(step).or(steps.last()).map_or(0.0, |(value, _)| *value as f64)
        };
        let quantile = |p: f64| match rule {
            QuantileRule::Toolkit if p == 0.5 => at(last / 2),
            QuantileRule::Toolkit => at((p * (self.n as f64 - 0.5)) as u64),
            QuantileRule::Type7 => {
                let place = p * last as f64;
                let (low, high) = (at(place as u64), at((place as u64).saturating_add(1)));
                low + (high - low) * place.fract()
            }
        };
        Some(places.iter().map(|p| quantile(*p)).collect())
    }
}

/// The variance (divisor n − 1) of `n` whole numbers with this sum and sum of squares.
pub(super) fn variance(n: u64, sum: u128, squares: u128) -> Option<f64> {
    let degrees = n.checked_sub(2)? + 1;
    let exact = u128::from(n)
        .checked_mul(squares)
        .zip(sum.checked_mul(sum))
        .filter(|_| squares < u128::MAX)
        .map(|(first, second)| first.saturating_sub(second) as f64 / n as f64);
    // If the exact value exceeds 38 digits, the rounding of floating-point numbers is negligible.
    let deviations = exact.unwrap_or_else(|| squares as f64 - sum as f64 * (sum as f64 / n as f64));
    Some(deviations.max(0.0) / degrees as f64)
}
