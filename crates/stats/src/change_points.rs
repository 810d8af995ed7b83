//! Where a series of measurements changed for good.
//!
//! E-divisive means (Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate
//! data", JASA 109, 2014), as it is used for performance regressions by Daly et al., "The use of change point detection
//! to identify software performance regressions in a continuous integration system", ICPE 2020: the series is cut where
//! the energy distance of the two sides is largest, the parts are cut again, and each cut must stand against
//! permutations of the values within the parts. A part is compared with what follows it, up to the next cut or less far.

use rand::Rng;
use rand::seq::SliceRandom as _;

/// How change points are looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeSettings {
    /// Fewest values between two changes, and at either end: at least 2.
    pub least: usize,
    /// A cut stands when its p-value is at most this.
    pub significance: f64,
    /// Permutations per cut; no p-value is less than one over one more than this.
    pub permutations: usize,
}

impl Default for ChangeSettings {
    fn default() -> ChangeSettings {
        ChangeSettings { least: 3, significance: 0.01, permutations: 499 }
    }
}

/// A change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// The first value after it.
    pub at: usize,
    /// Share of permutations, the series itself counted, with a cut at least as good.
    pub p_value: f64,
}

/// The best cut of a part of the series.
#[derive(Debug, Clone, Copy)]
struct Cut {
    at: usize,
    energy: f64,
}

/// The change points of `series` in order.
pub fn change_points(
    series: &[f64],
    settings: &ChangeSettings,
    random: &mut (impl Rng + ?Sized),
) -> Vec<ChangePoint> {
    let least = settings.least.max(2);
    let mut found: Vec<ChangePoint> = Vec::new();
    loop {
        let mut edges: Vec<usize> = found.iter().map(|change| change.at).collect();
        edges.extend([0, series.len()]);
        edges.sort_unstable();
        let mut shuffled = series.to_vec();
        let Some(best) = best_cut(&shuffled, &edges, least) else { break };
        // As soon as too many permutations are as good, the rest cannot save the cut.
        let allowed = settings.significance * (settings.permutations + 1) as f64 - 1.0;
        let mut as_good = 0_usize;
        for _ in 0..settings.permutations {
            for part in edges.windows(2) {
                shuffled[part[0]..part[1]].shuffle(random);
            }
            let energy = best_cut(&shuffled, &edges, least).map_or(0.0, |cut| cut.energy);
            // Sums of the same numbers in another order differ in their last digits.
            as_good += usize::from(energy >= best.energy * (1.0 - 1e-9));
            if as_good as f64 > allowed {
                break;
            }
        }
        if as_good as f64 > allowed {
            break;
        }
        let p_value = (as_good + 1) as f64 / (settings.permutations + 1) as f64;
        found.push(ChangePoint { at: best.at, p_value });
    }
    found.sort_by_key(|change| change.at);
    found
}

/// The best cut of all parts between neighbouring `edges`; `None` when none is long enough, or nothing varies.
fn best_cut(series: &[f64], edges: &[usize], least: usize) -> Option<Cut> {
    let cuts = edges.windows(2).filter_map(|part| {
        let cut = cut(&series[part[0]..part[1]], least)?;
        Some(Cut { at: part[0] + cut.at, ..cut })
    });
    cuts.filter(|cut| cut.energy > 0.0).max_by(|a, b| a.energy.total_cmp(&b.energy))
}

/// The cut of `part` with the largest energy, mn/(m+n) · (2 E|X−Y| − E|X−X'| − E|Y−Y'|), of all that is left of it against
/// what follows it up to some place: what came back to where it was does not hide that it had left.
fn cut(part: &[f64], least: usize) -> Option<Cut> {
    let n = part.len();
    if n < 2 * least {
        return None;
    }
    // Sums of distances over rectangles: `sums[i * (n + 1) + j]` is that between the first i and the first j values.
    let width = n + 1;
    let mut sums = vec![0.0; width * width];
    for i in 0..n {
        let mut row = 0.0;
        for j in 0..n {
            row += (part[i] - part[j]).abs();
            sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
        }
    }
    let between_firsts = |i: usize, j: usize| sums[i * width + j];
    let pairs = |n: f64| n * (n - 1.0) / 2.0;
    let mut best: Option<Cut> = None;
    for at in least..=n - least {
        let within_left = between_firsts(at, at) / 2.0;
        for end in at + least..=n {
            let between = between_firsts(at, end) - between_firsts(at, at);
            let within_right =
                (between_firsts(end, end) - 2.0 * between_firsts(at, end) + between_firsts(at, at)) / 2.0;
            let (left, right) = (at as f64, (end - at) as f64);
            let distance =
                2.0 * between / (left * right) - within_left / pairs(left) - within_right / pairs(right);
            let energy = distance * left * right / (left + right);
            if best.is_none_or(|cut| energy > cut.energy) {
                best = Some(Cut { at, energy });
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn seeded(seed: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(seed)
    }

    /// Values around each of the levels in turn.
    fn levels(levels: &[(f64, usize)], random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
        let mut series = Vec::new();
        for (level, length) in levels {
            series.extend((0..*length).map(|_| level + random.sample::<f64, _>(StandardNormal)));
        }
        series
    }

    fn places(series: &[f64], seed: u64) -> Vec<usize> {
        let found = change_points(series, &ChangeSettings::default(), &mut seeded(seed));
        assert!(found.iter().all(|change| change.p_value <= 0.01));
        found.iter().map(|change| change.at).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let series = levels(&[(0.0, 20), (6.0, 25), (1.0, 15)], &mut seeded(1));
        assert_eq!(places(&series, 2), [20, 45]);
    }

    #[test]
    fn a_single_odd_value_is_no_change() {
        let mut series = levels(&[(0.0, 40)], &mut seeded(3));
        series[20] = 30.0;
        assert_eq!(places(&series, 4), [0; 0]);
    }

    #[test]
    fn of_series_that_do_not_change_few_seem_to() {
        let changed = (0..200)
            .filter(|seed| {
                let series = levels(&[(0.0, 30)], &mut seeded(1_000 + seed));
                !places(&series, *seed).is_empty()
            })
            .count();
        // One in a hundred is allowed: 200 series give more than 7 with a probability below one in a thousand.
        assert!(changed <= 7, "{changed}");
    }

    #[test]
    fn a_step_of_three_deviations_is_nearly_always_found() {
        let found = (0..50)
            .filter(|seed| {
                let series = levels(&[(0.0, 12), (3.0, 12)], &mut seeded(2_000 + seed));
                places(&series, *seed).iter().any(|at| at.abs_diff(12) <= 1)
            })
            .count();
        assert!(found >= 45, "{found}");
    }

    #[test]
    fn short_and_even_series_have_no_changes() {
        for series in [&[][..], &[1.0], &[1.0, 1.0, 1.0, 9.0, 9.0], &[4.0; 30]] {
            assert_eq!(places(series, 5), [0; 0]);
        }
    }

    proptest! {
        #[test]
        fn the_energy_is_that_of_its_definition(part in proptest::collection::vec(-9.0..9.0_f64, 4..16)) {
            let found = cut(&part, 2).unwrap();
            let mean = |a: &[f64], b: &[f64], pairs: f64| {
                a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).sum::<f64>() / pairs
            };
            let energy = |at: usize, end: usize| {
                let (left, right) = (&part[..at], &part[at..end]);
                let (m, n) = (left.len() as f64, right.len() as f64);
                let distance = 2.0 * mean(left, right, m * n)
                    - mean(left, left, m * (m - 1.0))
                    - mean(right, right, n * (n - 1.0));
                distance * m * n / (m + n)
            };
            let best = |at: usize| {
                (at + 2..=part.len()).map(|end| energy(at, end)).fold(f64::NEG_INFINITY, f64::max)
            };
            prop_assert!((best(found.at) - found.energy).abs() < 1e-9);
            for at in 2..=part.len() - 2 {
                prop_assert!(best(at) <= found.energy + 1e-9);
            }
        }
    }
}
