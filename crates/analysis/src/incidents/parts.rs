//! Finds the parts of a run whose level differs from the usual one.

use std::ops::Range;

use super::levels::{Levels, Segment};

/// The usual level is the lowest level for which the segments at or below it last for at least this share of the run in
/// total. The share is small so that an incident may last for most of the run.
const USUAL_SHARE_MIN: f64 = 0.07;

/// A level between two worse levels is not the usual level if it lasts for less than this share of the run.
const DIP_SHARE_MAX: f64 = 0.5;

/// Levels that differ from the usual one by at most this amount, on a logarithmic scale, are averaged with it.
const SAME: f64 = 0.1;

/// Minimum difference between a part and the usual level, in standard deviations of this difference.
const DEVIATIONS_MIN: f64 = 5.0;

/// At an abrupt edge of a part, the values change by at least this share of the difference from the usual level. A slower
/// change is a drift.
const EDGE_MIN: f64 = 0.5;

/// Maximum number of values on each side of an edge that are compared.
const EDGE_VALUES: usize = 5;

/// Parts with at most this number of slices between them are merged.
const APART_MAX: usize = 2;

/// A part of a sequence with a worse level than the usual one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Worse {
    pub(super) range: Range<usize>,
    /// Difference between the mean level of the part and the usual level.
    pub(super) difference: f64,
    /// The largest difference between the level of one of its segments and the usual level.
    pub(super) most: f64,
    /// Whether the part begins or ends abruptly.
    pub(super) is_abrupt: bool,
}

/// The parts whose level is worse than the usual one. `is_worse` receives a level and the usual level. Higher levels are worse.
pub(super) fn worse_parts(
    values: &[f64],
    levels: &Levels,
    is_worse: impl Fn(f64, f64) -> bool,
) -> Vec<Worse> {
    let count = values.len();
    let Some((usual, usual_length)) = usual_level(&levels.segments, count) else { return Vec::new() };
    let mut found: Vec<Worse> = Vec::new();
    for segment in levels.segments.iter().filter(|segment| is_worse(segment.level, usual)) {
        let difference = segment.level - usual;
        match found.last_mut() {
            Some(last) if segment.range.start <= last.range.end + APART_MAX => {
                let (before, more) = (last.range.len() as f64, segment.range.len() as f64);
                last.difference = (last.difference * before + difference * more) / (before + more);
                last.most = last.most.max(difference);
                last.range.end = segment.range.end;
            }
            _ => found.push(Worse {
                range: segment.range.clone(),
                difference,
                most: difference,
                is_abrupt: false,
            }),
        }
    }
    let deviation = |length: usize| levels.deviation_of_mean(length);
    found.retain(|part| {
        part.difference >= DEVIATIONS_MIN * deviation(part.range.len()).hypot(deviation(usual_length))
    });
    for part in &mut found {
        part.is_abrupt =
            [(part.range.start, true), (part.range.end, false)].into_iter().any(|(edge, begins)| {
                0 < edge && edge < count && {
                    let length = EDGE_VALUES.min(part.range.len());
                    let before = &values[edge.saturating_sub(length)..edge];
                    let after = &values[edge..(edge + length).min(count)];
                    let rise = if begins { mean(after) - mean(before) } else { mean(before) - mean(after) };
                    rise >= EDGE_MIN * part.difference
                }
            });
    }
    found
}

/// The usual level, and the number of values that have it.
pub(super) fn usual_level(segments: &[Segment], count: usize) -> Option<(f64, usize)> {
    let is_dip = |at: usize| {
        at > 0
            && at + 1 < segments.len()
            && segments[at].level < segments[at - 1].level
            && segments[at].level < segments[at + 1].level
            && (segments[at].range.len() as f64) < DIP_SHARE_MAX * count as f64
    };
    let mut sorted: Vec<&Segment> =
        segments.iter().enumerate().filter(|(at, _)| !is_dip(*at)).map(|(_, segment)| segment).collect();
    sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
    let least = (USUAL_SHARE_MIN * count as f64).max(2.0);
    let mut seen = 0;
    let usual = sorted.iter().find(|segment| {
        seen += segment.range.len();
        seen as f64 >= least
    })?;
    let same: Vec<&&Segment> =
        sorted.iter().filter(|segment| (segment.level - usual.level).abs() <= SAME).collect();
    let length: usize = same.iter().map(|segment| segment.range.len()).sum();
    let level = same.iter().map(|segment| segment.level * segment.range.len() as f64).sum::<f64>();
    Some((level / length as f64, length))
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
