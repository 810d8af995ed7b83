//! Finds the part of a run with a steady rate when the requested rate is unknown.
//!
//! The coefficient of variation is meaningless while the rate changes: even a perfect ramp has a CoV above 1. Without a
//! known rate, ramps and pauses are therefore excluded. The run is divided into up to 64 equal intervals. The judged
//! part is the longest sequence of intervals that meets both conditions below. L is the number of its intervals, S_k is
//! the number of arrivals in its first k intervals minus k times the mean count, and s is the standard deviation of a
//! count:
//!
//! 1. The cumulative count deviates from a straight line by no more than chance explains: max |S_k| ≤ 1.95·s·√L, the 0.1 %
//!    point of the Brownian bridge (a CUSUM test for a change of rate). Alternatively, it deviates by at most 0.5 % of all
//!    arrivals, which is the deviation of a linear drift from 2 % below to 2 % above the mean.
//! 2. No interval deviates from the mean by more than both 5·s and 5 %; such an interval would be a pause or a burst.
//!
//! s² is the mean count times the index of dispersion of adjacent intervals, which slow changes do not affect (the median of
//! (c_j − c_{j+1})²/(c_j + c_{j+1}) divided by that of χ²₁). The index is at least 1, its value for Poisson arrivals, so that the
//! regularity of even and closed loads does not make the test stricter. If the part does not reach an end of the run, one more interval is
//! excluded at that end, because a ramp ends inside an interval.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Maximum number of intervals.
const INTERVALS_MAX: usize = 64;

/// Minimum number of intervals of a steady part.
const STEADY_INTERVALS_MIN: usize = 8;

/// Minimum mean number of arrivals per interval: with fewer, a change of rate cannot be detected.
const COUNT_MIN: f64 = 10.0;

/// 0.1 % point of max |Brownian bridge|.
const BRIDGE: f64 = 1.949;

/// Largest cumulative deviation that is too small to change a conclusion, as a share of all arrivals.
const IMMATERIAL: f64 = 0.005;

/// Minimum deviation of a pause or burst from the mean, in standard deviations and as a share of the mean.
const OUTLIER: (f64, f64) = (5.0, 0.05);

/// Median of χ² with one degree of freedom.
const CHI_SQUARE_MEDIAN: f64 = 0.454_94;

/// The judged part of the arrivals, and why it was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All arrivals, because their rate was steady.
    Whole,
    /// The longest part with a steady rate, without ramps and pauses.
    Steady,
    /// All arrivals, because no part with a steady rate was long enough. The statistics mix changes of rate with the process.
    NeverSteady,
    /// All arrivals, rescaled by the known rate.
    Rescaled,
    /// All arrivals, as configured in the settings.
    All,
    /// All arrivals, because there are too few to determine whether their rate was steady.
    Few,
}

/// Replaces the counts of slices with a stall by the mean of nearby slices, so that a stall, which is reported separately, does not
/// split a run.
pub(super) fn fill_stalls(counts: &mut [f64], is_stall: &[bool]) {
    const NEIGHBOURS: usize = 8;
    for at in (0..counts.len()).filter(|at| is_stall[*at]) {
        let known = |range: Range<usize>| range.filter(|other| !is_stall[*other]);
        let before = known(0..at).rev().take(NEIGHBOURS);
        let after = known(at + 1..counts.len()).take(NEIGHBOURS);
        let near: Vec<f64> = before.chain(after).map(|other| counts[other]).collect();
        if !near.is_empty() {
            counts[at] = near.iter().sum::<f64>() / near.len() as f64;
        }
    }
}

/// Finds the slices to judge. `counts` are the numbers of arrivals in complete slices of equal length.
pub(super) fn find(counts: &[f64]) -> (Part, Range<usize>) {
    let all = 0..counts.len();
    let total: f64 = counts.iter().sum();
    let intervals = ((total / COUNT_MIN) as usize).min(INTERVALS_MAX);
    if intervals < STEADY_INTERVALS_MIN || counts.len() < STEADY_INTERVALS_MIN {
        return (Part::Few, all);
    }
    let length = counts.len().div_ceil(intervals);
    // An incomplete interval at the end would look like a pause.
    let joined: Vec<f64> = counts.chunks_exact(length).map(|chunk| chunk.iter().sum()).collect();
    if joined.len() < STEADY_INTERVALS_MIN {
        return (Part::Few, all);
    }
    let row = longest_steady_sequence(&joined, dispersion_of_neighbours(&joined));
    if row.len() == joined.len() {
        return (Part::Whole, all);
    }
    let from = if row.start > 0 { row.start + 1 } else { 0 };
    let to = if row.end < joined.len() { row.end.saturating_sub(1) } else { joined.len() };
    // A steady part of less than a third of the run is not accepted.
    if to.saturating_sub(from) < STEADY_INTERVALS_MIN.max(joined.len() / 3) {
        return (Part::NeverSteady, all);
    }
    let end = if to == joined.len() { counts.len() } else { to * length };
    (Part::Steady, from * length..end)
}

fn dispersion_of_neighbours(counts: &[f64]) -> f64 {
    let mut squares: Vec<f64> = counts
        .windows(2)
        .filter(|pair| pair[0] + pair[1] > 0.0)
        .map(|pair| (pair[0] - pair[1]).powi(2) / (pair[0] + pair[1]))
        .collect();
    squares.sort_unstable_by(f64::total_cmp);
    let median = squares.get(squares.len() / 2).copied().unwrap_or(0.0);
    (median / CHI_SQUARE_MEDIAN).max(1.0)
}

fn longest_steady_sequence(counts: &[f64], dispersion: f64) -> Range<usize> {
    for length in (STEADY_INTERVALS_MIN..=counts.len()).rev() {
        // Of equally long sequences, take the one with the most arrivals, so that a pause is not preferred to the load.
        let best = (0..=counts.len() - length)
            .map(|start| start..start + length)
            .filter(|row| is_steady(&counts[row.clone()], dispersion))
            .map(|row| (counts[row.clone()].iter().sum::<f64>(), row))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, row)) = best {
            return row;
        }
    }
    0..0
}

fn is_steady(counts: &[f64], dispersion: f64) -> bool {
    let length = counts.len() as f64;
    let total: f64 = counts.iter().sum();
    let mean = total / length;
    if mean <= 0.0 {
        return false;
    }
    let deviation = (mean * dispersion).sqrt();
    let (mut sum, mut deviation_max) = (0.0, 0.0_f64);
    for count in counts {
        if (count - mean).abs() > (OUTLIER.0 * deviation).max(OUTLIER.1 * mean) {
            return false;
        }
        sum += count - mean;
        deviation_max = deviation_max.max(sum.abs());
    }
    deviation_max <= (BRIDGE * deviation * length.sqrt()).max(IMMATERIAL * total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_run_is_judged_whole() {
        assert_eq!(find(&[100.0; 300]), (Part::Whole, 0..300));
        assert_eq!(find(&[0.1; 300]).0, Part::Few);
    }

    #[test]
    fn ramps_at_both_ends_are_left_out() {
        let ramp = |i: usize| match i {
            0..60 => i as f64 * 10.0,
            60..240 => 600.0,
            _ => (300 - i) as f64 * 10.0,
        };
        let (part, judged) = find(&(0..300).map(ramp).collect::<Vec<_>>());
        assert_eq!(part, Part::Steady);
        assert!(
            judged.start >= 58 && judged.start <= 75 && judged.end >= 225 && judged.end <= 242,
            "{judged:?}"
        );
    }

    #[test]
    fn a_pause_splits_the_run() {
        let counts: Vec<f64> = (0..300).map(|i| if (100..120).contains(&i) { 0.0 } else { 500.0 }).collect();
        let (part, judged) = find(&counts);
        assert_eq!(part, Part::Steady);
        assert!(judged.start >= 120 && judged.end == 300, "{judged:?}");
    }

    #[test]
    fn a_ramp_alone_is_never_steady() {
        let counts: Vec<f64> = (0..300).map(|i| f64::from(i) * 100.0).collect();
        assert_eq!(find(&counts), (Part::NeverSteady, 0..300));
    }
}
