//! Incidents of a run: times at which it became slower, failed more or completed less, and lasting changes of its level.
//!
//! The run is divided into up to 240 slices of at least a second. Changes of the 95th percentile and of the share of errors are
//! searched in all requests and in those of each label, and changes of the number of completed requests in all requests.
//! `docs/reports.md` describes the method and its error rates, which `tests/incidents/study.rs` measures.

mod describe;
mod find;
mod incident;
mod join;
mod levels;
mod not_searched;
mod parts;
mod period;
mod seconds;
mod shares;
mod track;
mod unsteady;

use std::ops::Range;

use busyhour_sample::{LabelSlices, LabelTotals, RunTotals, SampleKind};

pub use incident::{Incident, IncidentCause};
pub use not_searched::NotSearched;
pub use unsteady::Unsteady;

use crate::facts::RunFacts;
use crate::series::Series;
use describe::SearchedRun;
use find::{Change, failing, fewer, slower};
use join::{Group, Shown, join};
use seconds::Seconds;
use track::{SLICES_MIN, Track};

/// Maximum number of labels that are searched: those with the most requests.
const LABELS_MAX: usize = 50;

/// Resolution of times in logs with one clock, in ms.
const LOG_RESOLUTION_MS: f64 = 1.0;

/// In logs with times in whole milliseconds, small changes of a 95th percentile below this value, in ms, are not visible.
const LOG_P95_MIN_MS: f64 = 3.0;

/// The findings of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Findings {
    pub(crate) incidents: Vec<Incident>,
    pub(crate) unsteady: Vec<Unsteady>,
    pub(crate) not_searched: Vec<NotSearched>,
}

/// Searches a run for incidents. `window_s` is the measured part in seconds from the start of the run; `None` for the whole run.
pub(crate) fn search(
    facts: &RunFacts,
    totals: &RunTotals,
    series: &Series,
    window_s: Option<(f64, f64)>,
) -> Findings {
    let mut findings = Findings::default();
    let Some(range) = searched_seconds(facts, totals, series, window_s) else { return findings };
    if range.end - range.start < SLICES_MIN as u64 {
        let seconds = range.end - range.start;
        findings.not_searched.push(NotSearched::TooShort { seconds });
        return findings;
    }
    let resolution_ms = match &facts.other_tool {
        Some(tool) => tool.duration_step_s * 1e3,
        None if facts.only_actual_starts => LOG_RESOLUTION_MS,
        None => 0.0,
    };
    let searched = searched(facts, totals, series, &range);
    let large = searched.labels.iter().filter(|(_, track)| track.has_enough_requests()).count();
    let small = totals.labels.iter().filter(|label| label.kind == SampleKind::Request).count() - large;
    let tracks = 1 + large;
    let mut parts: Vec<Shown> = Vec::new();
    let of_times = slower(&searched.total, true, &searched.seconds, tracks, resolution_ms);
    let of_rate = fewer(&searched.seconds, tracks);
    if of_times.is_none() || of_rate.is_none() {
        findings.not_searched.push(NotSearched::TooFewRequests { requests: searched.total.requests() });
    }
    for found in [of_times, of_rate].into_iter().flatten() {
        parts.extend(found.parts.into_iter().map(|part| (None, part)));
        findings.unsteady.extend(found.unsteady);
    }
    parts.extend(failing(&searched.total, tracks).into_iter().map(|part| (None, part)));
    for (at, (_, track)) in searched.labels.iter().enumerate() {
        let times = slower(track, false, &searched.seconds, tracks, resolution_ms).unwrap_or_default();
        let errors = if track.has_enough_requests() { failing(track, tracks) } else { Vec::new() };
        parts.extend(times.parts.into_iter().chain(errors).map(|part| (Some(at), part)));
    }
    let groups = join(parts);
    let ranges: Vec<Range<u64>> = groups.iter().map(unusual).collect();
    findings.incidents = groups.iter().filter_map(|group| searched.describe(group, &ranges)).collect();
    findings.not_searched.extend(limits(&searched, small, resolution_ms));
    findings
}

/// The seconds of an incident, which are excluded from the usual values. After a pause, they include the seconds in which the
/// delayed requests end.
fn unusual(group: &Group) -> Range<u64> {
    let has_pause = group.parts.iter().any(|(_, part)| part.change == Change::Pause);
    let after_s = if has_pause { describe::AFTER_PAUSE_S } else { 0 };
    group.range.start..group.range.end + after_s
}

/// The limitations of the search, for reports.
fn limits(searched: &SearchedRun<'_>, small: usize, resolution_ms: f64) -> Vec<NotSearched> {
    let mut found = Vec::new();
    let p95_ms = track::p95_ms(&searched.total.sum_of(&[], false));
    if let Some(p95_ms) = p95_ms.filter(|p95| resolution_ms > 0.0 && *p95 < LOG_P95_MIN_MS) {
        found.push(NotSearched::WholeMilliseconds { p95_ms });
    }
    if !searched.seconds.has_load() {
        found.push(NotSearched::UnknownLoad);
    } else if searched.seconds.has_few_users() {
        found.push(NotSearched::FewUsers);
    }
    if small > 0 {
        found.push(NotSearched::SmallLabels { labels: small as u64 });
    }
    found
}

/// The complete seconds of the measured part, up to the last start of a request. Only slow requests end after the last start, so
/// the seconds after it are excluded.
fn searched_seconds(
    facts: &RunFacts,
    totals: &RunTotals,
    series: &Series,
    window_s: Option<(f64, f64)>,
) -> Option<Range<u64>> {
    let (first, last) = (*series.second.first()?, *series.second.last()?);
    let started = totals.started.as_ref();
    let last_start = started.and_then(|starts| {
        let at = starts.counts.iter().rposition(|count| *count > 0)?;
        Some(starts.first + at as u64)
    });
    let (mut from, mut to) = (first + 1, last_start.unwrap_or(last).min(last));
    if let Some(duration_s) = facts.duration_s.filter(|_| is_stuck(facts, series)) {
        to = to.max(duration_s as u64);
    }
    if let Some((from_s, to_s)) = window_s {
        from = from.max(from_s.ceil() as u64);
        to = to.min(to_s.floor() as u64);
    }
    Some(from..to.max(from))
}

/// Whether at least half of the users were still waiting for a response when the run was stopped. If so, no requests started at
/// the end because none were completed.
fn is_stuck(facts: &RunFacts, series: &Series) -> bool {
    let users = series.users.iter().rev().copied().flatten().next().map_or(0, u64::from);
    users > 0 && 2 * facts.generator.interrupted_samples >= users
}

fn searched<'r>(
    facts: &'r RunFacts,
    totals: &'r RunTotals,
    series: &Series,
    range: &Range<u64>,
) -> SearchedRun<'r> {
    let requests = totals.labels.iter().filter(|label| label.kind == SampleKind::Request);
    let mut all: Vec<(&LabelTotals, &LabelSlices)> =
        requests.filter_map(|label| Some((label, label.slices.as_ref()?))).collect();
    let samples = |slices: &LabelSlices| slices.slices.iter().map(|slice| slice.samples).sum::<u64>();
    all.sort_by_key(|(_, slices)| std::cmp::Reverse(samples(slices)));
    let mut total = Track::default();
    let mut labels: Vec<(&str, Track)> = Vec::new();
    for (label, slices) in all {
        let track = Track::of(slices, range);
        total.add(&track);
        if labels.len() < LABELS_MAX {
            labels.push((&label.name, track));
        }
    }
    SearchedRun { total, labels, seconds: seconds_of(series, range), facts, errors: &totals.errors }
}

/// The seconds of the range, including seconds that `series` does not contain.
fn seconds_of(series: &Series, range: &Range<u64>) -> Seconds {
    let length = usize::try_from(range.end - range.start).unwrap_or(0);
    let column = |values: &[u64]| if values.is_empty() { Vec::new() } else { vec![0; length] };
    let mut seconds = Seconds {
        from_s: range.start,
        ended: vec![0; length],
        started: column(&series.started),
        offered: column(&series.offered),
        users: vec![None; length],
        longest_ms: vec![None; length],
    };
    for (at, second) in series.second.iter().enumerate().filter(|(_, second)| range.contains(second)) {
        let to = (second - range.start) as usize;
        seconds.ended[to] = series.requests[at];
        seconds.users[to] = series.users[at].map(f64::from);
        seconds.longest_ms[to] = series.response_max[at];
        for (into, from) in [(&mut seconds.started, &series.started), (&mut seconds.offered, &series.offered)]
        {
            if let (Some(into), Some(count)) = (into.get_mut(to), from.get(at)) {
                *into = *count;
            }
        }
    }
    seconds
}
