//! Where a rate that nobody told us was steady.
//!
//! A raw coefficient of variation says nothing while the rate changes: a perfect ramp has one above 1. Without a
//! known rate, ramps and pauses are left out by a simple rule. The run is cut into up to 64 equal intervals; the part
//! judged is the longest row of them in which
//!
//! 1. the cumulative count strays from a straight line by less than chance would let it: max |S_k| ≤ 1.95·s·√L, the 0.1 %
//!    point of the Brownian bridge (a CUSUM test of a change of rate), or by less than 0.5 % of all, which a drift of
//!    2 % up or down makes and which changes no conclusion; and
//! 2. no interval lies further from the mean than 5 s, or 5 %: that would be a pause or a burst of its own.
//!
//! s² is the mean count times the index of dispersion from neighbouring intervals, which slow changes do not touch (the
//! median of (c_j − c_{j+1})²/(c_j + c_{j+1}) over that of χ²₁), and at least 1, Poisson's: so even and closed loads are
//! not cut finer for their regularity. Where something was left out, one interval more is left out at that end, because
//! a ramp ends inside an interval.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Intervals the run is cut into, at most.
const INTERVALS_MAX: usize = 64;

/// A row of fewer intervals is no steady part.
const ROW_MIN: usize = 8;

/// Arrivals per interval below which no change of rate could be seen.
const COUNT_MIN: f64 = 10.0;

/// 0.1 % point of max |Brownian bridge|.
const BRIDGE: f64 = 1.949;

/// A cumulative deviation that changes no conclusion, as a share of all arrivals.
const IMMATERIAL: f64 = 0.005;

/// Standard deviations, and share of the mean, from which on an interval is a pause or a burst.
const OUTLIER: (f64, f64) = (5.0, 0.05);

/// Median of χ² with one degree of freedom.
const CHI_SQUARE_MEDIAN: f64 = 0.454_94;

/// Which part of the arrivals was judged, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All: their rate was steady.
    Whole,
    /// The longest part with a steady rate; ramps and pauses are left out.
    Steady,
    /// All, although no part with a steady rate was long enough: what is said of them is of rate and process together.
    NeverSteady,
    /// All, on the clock of the known rate.
    Rescaled,
    /// All, because the settings say so.
    All,
    /// All: they are too few to see whether their rate was steady.
    Few,
}

/// What the slices in which there was a stall would have counted: their neighbours' mean. A stall is reported on its own and
/// does not cut a run in two.
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

/// The slices to judge, of `counts` in equal slices of time, of which all are over.
pub(super) fn find(counts: &[f64]) -> (Part, Range<usize>) {
    let all = 0..counts.len();
    let total: f64 = counts.iter().sum();
    let intervals = ((total / COUNT_MIN) as usize).min(INTERVALS_MAX);
    if intervals < ROW_MIN || counts.len() < ROW_MIN {
        return (Part::Few, all);
    }
    let length = counts.len().div_ceil(intervals);
    // An incomplete interval at the end would look like a pause.
    let joined: Vec<f64> = counts.chunks_exact(length).map(|chunk| chunk.iter().sum()).collect();
    if joined.len() < ROW_MIN {
        return (Part::Few, all);
    }
    let row = longest_row(&joined, dispersion_of_neighbours(&joined));
    if row.len() == joined.len() {
        return (Part::Whole, all);
    }
    let from = if row.start > 0 { row.start + 1 } else { 0 };
    let to = if row.end < joined.len() { row.end.saturating_sub(1) } else { joined.len() };
    // Less than a third of the run is no steady run with a ramp, but one that was never steady.
    if to.saturating_sub(from) < ROW_MIN.max(joined.len() / 3) {
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

fn longest_row(counts: &[f64], dispersion: f64) -> Range<usize> {
    for length in (ROW_MIN..=counts.len()).rev() {
        // Of equally long ones that with the most arrivals: not the silence beside the load.
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
    let (mut sum, mut strayed) = (0.0, 0.0_f64);
    for count in counts {
        if (count - mean).abs() > (OUTLIER.0 * deviation).max(OUTLIER.1 * mean) {
            return false;
        }
        sum += count - mean;
        strayed = strayed.max(sum.abs());
    }
    strayed <= (BRIDGE * deviation * length.sqrt()).max(IMMATERIAL * total)
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
