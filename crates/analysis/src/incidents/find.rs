//! Searches tracks for changes of times, errors and rates.

use std::ops::Range;

use super::levels::{Levels, median};
use super::parts::{Worse, mean, worse_parts};
use super::period::{period, without_period};
use super::seconds::Seconds;
use super::shares::{ShareSegment, share_segments};
use super::track::{SLICES_MIN, Track, has_many_above, p95_ms};
use super::unsteady::Unsteady;

/// Minimum factor by which the 95th percentile of an incident exceeds the usual one.
const SLOWER_MIN: f64 = 1.5;
/// The minimum factor instead of [`SLOWER_MIN`] for an incident that lasts for at least [`LONG_SHARE`] of the run.
const SLOWER_LONG_MIN: f64 = 1.3;
/// Minimum length, as a share of the run, of an incident with a factor of less than [`SLOWER_MIN`].
const LONG_SHARE: f64 = 0.15;

/// A beginning with longer times counts as a warm-up if it lasts for less than this share of the run.
const WARM_UP_SHARE_MAX: f64 = 0.25;

/// Minimum difference between the 95th percentiles, in ms.
const DIFFERENCE_MIN_MS: f64 = 0.1;

/// Minimum number of requests in a slice for using its percentile.
const TIMES_MIN: u64 = 10;

/// Smaller differences between the logarithms of percentiles, or of rates, are ignored.
const RESOLUTION: f64 = 0.04;

/// Minimum factor by which the share of errors exceeds the usual one.
const ERRORS_FACTOR_MIN: f64 = 3.0;
/// Minimum difference between the share of errors and the usual one.
const ERRORS_DIFFERENCE_MIN: f64 = 0.003;
/// Minimum number of errors of an incident.
const ERRORS_MIN: f64 = 20.0;

/// Minimum share of the requests in segments whose share of errors is at most the usual one.
const ERRORS_USUAL_SHARE: f64 = 0.07;

/// Maximum rate of completed requests in an incident, as a share of the usual rate.
const RATE_MAX: f64 = 0.67;

/// Minimum number of requests in the median slice when changes of the rate are searched.
const RATE_REQUESTS_MIN: u64 = 10;
/// Maximum number of slices when changes of the rate are searched.
const RATE_SLICES_MAX: usize = 240;

/// Minimum number of requests that would usually be completed during a pause.
const PAUSE_REQUESTS_MIN: f64 = 25.0;
/// Minimum length of a pause, in seconds.
const PAUSE_SECONDS_MIN: u64 = 2;

/// Replaces [`PAUSE_REQUESTS_MIN`] if there are so few users that one slow response changes the total rate.
const PAUSE_REQUESTS_OF_FEW_MIN: f64 = 100.0;

/// If there are at least this many pauses, they count as a pattern, not as incidents.
const PAUSES_MANY: usize = 3;

/// Number of slices at which the penalty of a change is doubled. The fewer slices there are, the less precisely their
/// noise is known.
const FEW_SLICES: f64 = 12.0;

/// Factor of ln(number of slices) in the penalty of a change of level. The study in `tests/incidents/study.rs` shows its
/// effect.
const LEVEL_PENALTY: f64 = 2.25;
/// Factor of ln(number of slices) in the penalty of a change of the share of errors.
const SHARE_PENALTY: f64 = 3.5;

/// The penalty for a change, which increases with the number of slices and of searched tracks.
fn penalty(per_slice: f64, slices: usize, tracks: usize) -> f64 {
    let slices = slices as f64;
    (per_slice * slices.ln() + 2.0 * (tracks as f64).ln() + 3.0) * (1.0 + FEW_SLICES / slices)
}

/// The quantity that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Times,
    Errors,
    Rate,
    /// No request ended.
    Pause,
}

/// A part of the run that differs from the rest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    pub(super) change: Change,
    /// The seconds of the part, counted from the start of the run.
    pub(super) range: Range<u64>,
    /// Whether the part lasts to the end of the searched seconds.
    pub(super) is_last: bool,
}

/// The findings of one track.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Found {
    pub(super) parts: Vec<Part>,
    pub(super) unsteady: Vec<Unsteady>,
}

/// The logarithms of the 95th percentiles of a track, from the first slice that has a percentile.
struct Percentiles {
    track: Track,
    values: Vec<f64>,
    /// Number of slices before the first value.
    missing: usize,
}

impl Percentiles {
    fn of(track: &Track, resolution_ms: f64) -> Option<Percentiles> {
        let track = track.for_percentiles()?;
        let least_ms = (resolution_ms / 2.0).max(1e-3);
        let mut last = None;
        let mut values: Vec<f64> = Vec::with_capacity(track.slices.len());
        for slice in &track.slices {
            // A slice with too few requests for a percentile gets the percentile of the preceding slice.
            let enough = (slice.samples >= TIMES_MIN).then(|| p95_ms(slice)).flatten();
            last = enough.map(|p95| p95.max(least_ms).ln()).or(last);
            values.extend(last);
        }
        let missing = track.slices.len() - values.len();
        (values.len() >= SLICES_MIN).then_some(Percentiles { track, values, missing })
    }

    /// Removes a repeated pattern from the values. Returns the pattern if it is strong enough to be reported.
    fn remove_pattern(&mut self) -> Option<Unsteady> {
        let period = period(&self.values)?;
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let (low, high) =
            (sorted[sorted.len() / 10].exp(), sorted[sorted.len() - 1 - sorted.len() / 20].exp());
        self.values = without_period(&self.values, period);
        (high / low >= SLOWER_MIN && high - low >= DIFFERENCE_MIN_MS).then(|| Unsteady::Recurs {
            period_s: (period as u64 * self.track.step_s) as f64,
            low_ms: low,
            high_ms: high,
        })
    }
}

/// Parts with longer times; `None` if there are too few requests. `resolution_ms` is the resolution of the times.
pub(super) fn slower(
    track: &Track,
    is_total: bool,
    seconds: &Seconds,
    tracks: usize,
    resolution_ms: f64,
) -> Option<Found> {
    let mut percentiles = Percentiles::of(track, resolution_ms)?;
    let mut found = Found::default();
    if is_total {
        found.unsteady.extend(percentiles.remove_pattern());
    }
    let Percentiles { track, values, missing } = percentiles;
    let resolution = RESOLUTION.max(resolution_ms / 2.0 / median(&values).exp());
    let levels = Levels::of(&values, penalty(LEVEL_PENALTY, values.len(), tracks), resolution);
    if let Some((from, to)) = levels.drift {
        if (to - from).abs() >= SLOWER_LONG_MIN.ln() {
            found.unsteady.push(Unsteady::Drift { from_ms: from.exp(), to_ms: to.exp() });
        }
        return Some(found);
    }
    let count = values.len();
    let visible_ms = DIFFERENCE_MIN_MS.max(2.0 * resolution_ms);
    // A level that cannot be distinguished from the usual one does not extend an adjacent part.
    let is_worse = |level: f64, usual: f64| {
        level - usual >= SLOWER_LONG_MIN.ln() && level.exp() - usual.exp() >= visible_ms
    };
    for part in worse_parts(&values, &levels, is_worse) {
        let Worse { range, difference, is_abrupt, .. } = part.clone();
        let p95_ms = mean(&values[range.clone()]).exp();
        let later_ms = p95_ms / difference.exp();
        let slices = range.start + missing..range.end + missing;
        let of_track = track.seconds(&slices);
        if !has_many_above(&track.sum(slices), later_ms) {
            continue;
        }
        let is_visible = p95_ms - later_ms >= visible_ms;
        if !is_slower(&part, count) || !is_visible || seconds.has_more_load(&of_track) {
            continue;
        }
        // A slower beginning of a run is a warm-up.
        let is_short = (range.len() as f64) < WARM_UP_SHARE_MAX * count as f64;
        if range.start == 0 && (is_short || !is_abrupt) {
            found.unsteady.push(Unsteady::WarmUp { until_s: of_track.end, p95_ms, later_ms });
        } else if is_abrupt {
            found.parts.push(Part { change: Change::Times, is_last: range.end == count, range: of_track });
        }
    }
    Some(found)
}

/// Whether the response times of a part are long enough, compared with the usual ones, for an incident.
fn is_slower(part: &Worse, count: usize) -> bool {
    let is_long = part.range.len() as f64 >= LONG_SHARE * count as f64;
    part.most >= SLOWER_MIN.ln() || (is_long && part.difference >= SLOWER_LONG_MIN.ln())
}

/// Parts in which a larger share of the requests failed than usual.
pub(super) fn failing(track: &Track, tracks: usize) -> Vec<Part> {
    let counts: Vec<(u64, u64)> = track.slices.iter().map(|slice| (slice.errors, slice.samples)).collect();
    let (segments, dispersion) = share_segments(&counts, penalty(SHARE_PENALTY, counts.len(), tracks));
    let Some(usual) = usual_share(&segments) else { return Vec::new() };
    let is_worse = |segment: &ShareSegment| {
        let share = segment.share();
        share >= usual * ERRORS_FACTOR_MIN.min(0.5 / usual.max(1e-9)).max(1.2)
            && share - usual >= ERRORS_DIFFERENCE_MIN
            && segment.errors as f64 >= ERRORS_MIN * dispersion.sqrt()
    };
    let mut found: Vec<Range<usize>> = Vec::new();
    for segment in segments.iter().filter(|segment| is_worse(segment)) {
        match found.last_mut() {
            Some(last) if segment.range.start <= last.end + 2 => last.end = segment.range.end,
            _ => found.push(segment.range.clone()),
        }
    }
    let part = |range: Range<usize>| Part {
        change: Change::Errors,
        is_last: range.end == counts.len(),
        range: track.seconds(&range),
    };
    found.into_iter().map(part).collect()
}

/// The usual share of errors: the smallest one such that at least [`ERRORS_USUAL_SHARE`] of the requests are in segments with
/// at most this share. `None` without requests.
fn usual_share(segments: &[ShareSegment]) -> Option<f64> {
    let mut sorted: Vec<&ShareSegment> = segments.iter().filter(|segment| segment.requests > 0).collect();
    sorted.sort_by(|a, b| a.share().total_cmp(&b.share()));
    let least = sorted.iter().map(|segment| segment.requests).sum::<u64>() as f64 * ERRORS_USUAL_SHARE;
    let mut seen = 0;
    let usual = sorted.into_iter().find(|segment| {
        seen += segment.requests;
        seen as f64 >= least
    })?;
    Some(usual.share())
}

/// Parts in which fewer requests were completed although the load was the same, and pauses; `None` if there are too few
/// requests.
pub(super) fn fewer(seconds: &Seconds, tracks: usize) -> Option<Found> {
    let mut found = pauses(seconds);
    let mut step = seconds.ended.len().div_ceil(RATE_SLICES_MAX).max(1);
    let counts = loop {
        let counts: Vec<u64> = seconds.ended.chunks_exact(step).map(|slice| slice.iter().sum()).collect();
        if counts.len() < SLICES_MIN {
            return None;
        }
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        if sorted[sorted.len() / 2] >= RATE_REQUESTS_MIN {
            break counts;
        }
        step += step.div_ceil(3);
    };
    let offered: Vec<u64> = seconds.offered.chunks_exact(step).map(|slice| slice.iter().sum()).collect();
    // The sign is reversed, because lower rates are worse and `worse_parts` expects higher values to be worse.
    let values: Vec<f64> = counts
        .iter()
        .enumerate()
        .map(|(at, count)| {
            let of = offered.get(at).map_or(1.0, |offered| *offered as f64 + 0.5);
            -((*count as f64 + 0.5) / of).ln()
        })
        .collect();
    let values = period(&values).map_or_else(|| values.clone(), |period| without_period(&values, period));
    let levels = Levels::of(&values, penalty(LEVEL_PENALTY, values.len(), tracks), RESOLUTION);
    if levels.drift.is_some() || seconds.has_few_users() {
        return Some(found);
    }
    for part in worse_parts(&values, &levels, |level, usual| level - usual >= -RATE_MAX.ln()) {
        let at = |slice: usize| seconds.from_s + (slice * step) as u64;
        let range = at(part.range.start)..at(part.range.end);
        // At the beginning of a run, the rate increases with the number of users.
        let is_pattern =
            !found.unsteady.is_empty() && (part.range.len() as f64) < LONG_SHARE * values.len() as f64;
        if part.is_abrupt && !is_pattern && part.range.start > 0 && !seconds.has_less_load(&range) {
            let is_last = part.range.end == values.len();
            found.parts.push(Part { change: Change::Rate, range, is_last });
        }
    }
    Some(found)
}

/// Times without completed requests in which many requests would usually be completed.
fn pauses(seconds: &Seconds) -> Found {
    let mut gaps: Vec<Range<u64>> = Vec::new();
    for (at, _) in seconds.ended.iter().enumerate().filter(|(_, ended)| **ended == 0) {
        let second = seconds.from_s + at as u64;
        match gaps.last_mut() {
            Some(last) if last.end == second => last.end += 1,
            _ => gaps.push(second..second + 1),
        }
    }
    let counts: Vec<f64> =
        seconds.ended.iter().filter(|ended| **ended > 0).map(|ended| *ended as f64).collect();
    if gaps.is_empty() || counts.is_empty() {
        return Found::default();
    }
    let usual = median(&counts);
    let least = if seconds.has_few_users() { PAUSE_REQUESTS_OF_FEW_MIN } else { PAUSE_REQUESTS_MIN };
    let length = |gap: &Range<u64>| gap.end - gap.start;
    let is_pause = |gap: &Range<u64>| {
        length(gap) >= PAUSE_SECONDS_MIN && length(gap) as f64 * usual >= least && !seconds.has_less_load(gap)
    };
    let long: Vec<&Range<u64>> = gaps.iter().filter(|gap| is_pause(gap)).collect();
    if long.len() >= PAUSES_MANY {
        let longest_s = long.iter().map(|gap| length(gap)).max().unwrap_or(0);
        let pauses = Unsteady::Pauses { pauses: long.len(), longest_s };
        return Found { parts: Vec::new(), unsteady: vec![pauses] };
    }
    // If single seconds without completed requests are common, slightly longer times without completed requests are not
    // pauses.
    let common = gaps.len() - long.len();
    let parts = long.into_iter().filter(|gap| length(gap) as f64 >= 2.0 * common as f64);
    let end = seconds.from_s + seconds.ended.len() as u64;
    let part = |gap: &Range<u64>| Part { change: Change::Pause, is_last: gap.end == end, range: gap.clone() };
    Found { parts: parts.map(part).collect(), unsteady: Vec::new() }
}
