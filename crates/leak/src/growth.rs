//! How a series of sizes grows over rounds, and which growth a search could have found.

use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::kendall::RankTest;
use crate::rounds::ROUNDS_MAX;

/// The smallest number of rounds that can show a leak.
pub const ROUNDS_MIN: usize = 5;

/// The significance level of the last half, and of the slowing down.
const HALF: f64 = 0.05;

/// A growth below this share of that in the first half may be slowing down.
const SLOWER: f64 = 0.8;

/// The number of random orders in which a growth is searched, and the share in which it has to be found.
const ORDERS: usize = 100;
const POWER: f64 = 0.8;

/// The kind of growth of a series whose rise is significant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// It continues in the last half at no lower rate.
    Lasting,
    /// It continues in the last half, but slows down or is uncertain there.
    Slowing,
    /// It has ended: a cache or a pool that is full, or a step.
    Ended,
}

/// The kind of growth of `values` over the requests so far.
pub(crate) fn growth(test: &mut RankTest, requests: &[f64], values: &[f64]) -> Growth {
    let half = values.len() / 2;
    let (last_requests, last) = (&requests[half..], &values[half..]);
    let slope = |test: &mut RankTest, requests: &[f64], values: &[f64]| {
        test.slope(requests, values, 0.95).map_or(0.0, |slope| slope.value)
    };
    let first_slope = slope(test, &requests[..=half], &values[..=half]);
    let last_slope = slope(test, last_requests, last);
    let rise = test.rise(last);
    // Three values cannot reach the level; they have to rise without exception.
    let p_attainable = (1..=last.len()).map(|rank| 1.0 / rank as f64).product::<f64>();
    let is_rising = rise.p <= HALF.max(p_attainable);
    if !is_rising {
        let whole = slope(test, requests, values);
        return if last_slope >= whole / 2.0 && last_slope > 0.0 { Growth::Slowing } else { Growth::Ended };
    }
    let fall: Vec<f64> = rates(requests, values).iter().map(|rate| -rate).collect();
    if last_slope < SLOWER * first_slope && test.rise(&fall).p <= HALF {
        return Growth::Slowing;
    }
    Growth::Lasting
}

/// The growth per request from each round to the next.
fn rates(requests: &[f64], values: &[f64]) -> Vec<f64> {
    let pairs = requests.windows(2).zip(values.windows(2));
    pairs.map(|(requests, values)| (values[1] - values[0]) / (requests[1] - requests[0])).collect()
}

/// The variation of a series around its trend, to find out which growth would be noticed.
pub(crate) struct Variation {
    residuals: Vec<f64>,
    requests_per_round: f64,
    level: f64,
    least: f64,
}

impl Variation {
    /// The variation of `values`; `level` is the significance level of the search, and `least` the growth per request below
    /// which it suspects nothing.
    pub(crate) fn of(
        test: &mut RankTest,
        requests: &[f64],
        values: &[f64],
        level: f64,
        least: f64,
    ) -> Variation {
        let slope = test.slope(requests, values, 0.95).map_or(0.0, |slope| slope.value);
        let residuals =
            requests.iter().zip(values).map(|(requests, value)| value - slope * requests).collect();
        let span = requests.last().unwrap_or(&0.0) - requests.first().unwrap_or(&0.0);
        let requests_per_round = span / (requests.len().max(2) - 1) as f64;
        Variation { residuals, requests_per_round, level, least }
    }

    /// Whether a growth per request would be found after this many rounds in at least 80 % of the searches.
    pub(crate) fn finds(&self, test: &mut RankTest, per_request: f64, rounds: usize) -> bool {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let requests: Vec<f64> = (0..rounds).map(|round| round as f64 * self.requests_per_round).collect();
        let mut noise: Vec<f64> = self.residuals.iter().copied().cycle().take(rounds).collect();
        let found = (0..ORDERS)
            .filter(|_| {
                noise.shuffle(&mut random);
                let values: Vec<f64> = noise
                    .iter()
                    .zip(&requests)
                    .map(|(noise, requests)| noise + per_request * requests)
                    .collect();
                test.rise(&values).p <= self.level
                    && test.slope(&requests, &values, 0.95).is_some_and(|slope| slope.value >= self.least)
                    && growth(test, &requests, &values) == Growth::Lasting
            })
            .count();
        found as f64 >= POWER * ORDERS as f64
    }

    /// The smallest growth per request, to about 5 %, that would have been found. `None` if none would.
    pub(crate) fn smallest_found(&self, test: &mut RankTest) -> Option<f64> {
        let rounds = self.residuals.len();
        let ends = self
            .residuals
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(*value), high.max(*value)));
        let range = (ends.1 - ends.0).max(0.0);
        if range <= 0.0 {
            // Without variation, one more byte in each round is found. The margin is for rounding errors.
            let smallest = (1.0 / self.requests_per_round).max(1.001 * self.least);
            return self.finds(test, smallest, rounds).then_some(smallest);
        }
        // With this growth, every round exceeds the previous one in spite of its variation.
        let (mut low, mut high) = (0.0, self.least + 1.01 * range / self.requests_per_round);
        if !self.finds(test, high, rounds) {
            high *= 4.0;
            if !self.finds(test, high, rounds) {
                return None;
            }
        }
        while high - low > 0.05 * high {
            let middle = f64::midpoint(low, high);
            if self.finds(test, middle, rounds) {
                high = middle
            } else {
                low = middle
            }
            if high < 1e-6 * range / self.requests_per_round {
                break;
            }
        }
        Some(high)
    }

    /// The number of rounds after which a growth per request would be found. `None` if the maximum does not suffice.
    pub(crate) fn rounds_needed(&self, test: &mut RankTest, per_request: f64) -> Option<usize> {
        let (mut too_few, mut enough) = (self.residuals.len(), ROUNDS_MAX);
        if !self.finds(test, per_request, enough) {
            return None;
        }
        while enough - too_few > 1 {
            let middle = usize::midpoint(too_few, enough);
            if self.finds(test, per_request, middle) { enough = middle } else { too_few = middle }
        }
        Some(enough)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> Vec<f64> {
        (0..9).map(|round| f64::from(round) * 1000.0).collect()
    }

    #[test]
    fn growth_that_ends_or_slows_down_does_not_last() {
        let test = &mut RankTest::default();
        let of = |test: &mut RankTest, value: fn(f64) -> f64| {
            let values: Vec<f64> = (0..9).map(|round| value(f64::from(round))).collect();
            growth(test, &requests(), &values)
        };
        assert_eq!(of(test, |round| 5.0 * round), Growth::Lasting);
        assert_eq!(of(test, |round| 5.0 * round.min(4.0)), Growth::Ended);
        assert_eq!(of(test, |round| 100.0 * (1.0 - (-round / 4.0).exp())), Growth::Slowing);
        assert_eq!(of(test, |round| if round < 4.0 { 1.0 } else { 2.0 }), Growth::Ended);
    }

    #[test]
    fn the_smallest_found_growth_depends_on_the_variation_and_the_rounds() {
        let test = &mut RankTest::default();
        let noisy: Vec<f64> = (0..9).map(|round| 1e6 + 1e4 * f64::from(round * 7 % 5)).collect();
        let found = |test: &mut RankTest, values: &[f64]| {
            Variation::of(test, &requests(), values, 0.01, 0.0).smallest_found(test)
        };
        let (noisy_found, constant) = (found(test, &noisy).unwrap(), found(test, &[5.0; 9]).unwrap());
        assert_eq!(constant, 0.001);
        assert!((2.0..40.0).contains(&noisy_found), "{noisy_found}");
        let variation = Variation::of(test, &requests(), &noisy, 0.01, 0.0);
        let needed = variation.rounds_needed(test, noisy_found / 3.0).unwrap();
        assert!((10..40).contains(&needed), "{needed}");
        assert_eq!(variation.rounds_needed(test, 0.0), None);
    }
}
