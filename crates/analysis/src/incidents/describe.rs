//! Computes the values of an incident: percentiles, shares, rates, labels, errors, and whether the generator caused it.

use std::ops::Range;

use busyhour_sample::{ErrorKind, LabelSlice};

use super::find::Change;
use super::incident::{Incident, IncidentCause};
use super::join::Group;
use super::seconds::Seconds;
use super::track::{Track, error_share, p95_ms};
use crate::facts::RunFacts;
use crate::stalls::reported_stalls;

/// Minimum number of requests outside of incidents for computing usual values.
const USUAL_MIN: u64 = 10;
/// Minimum number of requests of a label inside the incident, and outside of it.
const LABEL_MIN: u64 = 5;

/// A label is affected if its times increase at least by the factor [`AFFECTED_MIN`] and, on a logarithmic scale, by this share
/// of the increase in the incident.
const AFFECTED_SHARE: f64 = 1.0 / 3.0;
/// Minimum factor by which the times or errors of an affected label increase.
const AFFECTED_MIN: f64 = 1.2;

/// The generator caused an incident if the increase of the lateness is at least this share of the increase of the mean response
/// time.
const LATE_SHARE_MIN: f64 = 0.5;

/// Responses that waited during a pause end within this number of seconds after it.
pub(super) const AFTER_PAUSE_S: u64 = 2;

/// Stalls explain an incident if it lasts at most this multiple of the stalls' length plus [`STALL_AFTER_S`].
const STALL_FACTOR: f64 = 3.0;
/// Time in seconds by which an incident may outlast the stalls that explain it, see [`STALL_FACTOR`].
const STALL_AFTER_S: f64 = 4.0;

/// The searched run, from which the values are computed.
pub(super) struct SearchedRun<'r> {
    pub(super) total: Track,
    pub(super) labels: Vec<(&'r str, Track)>,
    pub(super) seconds: Seconds,
    pub(super) facts: &'r RunFacts,
    pub(super) errors: &'r [ErrorKind],
}

/// Sums inside an incident, and outside of incidents.
struct Sums {
    inside: LabelSlice,
    usual: LabelSlice,
}

impl Sums {
    fn of(track: &Track, range: &Range<u64>, all: &[Range<u64>]) -> Option<Sums> {
        let inside = track.sum_of(std::slice::from_ref(range), true);
        let outside = track.sum_of(all, false);
        let usual = if outside.samples >= USUAL_MIN {
            outside
        } else {
            track.sum_of(std::slice::from_ref(range), false)
        };
        (usual.samples >= USUAL_MIN).then_some(Sums { inside, usual })
    }

    fn p95_ms(&self) -> Option<(f64, f64)> {
        Some((p95_ms(&self.inside)?, p95_ms(&self.usual)?))
    }
}

fn mean_ms(sum_us: u64, slice: &LabelSlice) -> f64 {
    sum_us as f64 / 1e3 / slice.samples.max(1) as f64
}

/// The index of the label whose values describe an incident. `None` if the values of all requests describe it, for
/// example because times and errors changed for different labels.
fn measured_label(group: &Group) -> Option<usize> {
    let label = |change: Change| group.first(change).map(|(label, _)| *label);
    match (label(Change::Times), label(Change::Errors)) {
        (Some(times), Some(errors)) if times != errors => None,
        (times, errors) => times.or(errors).flatten(),
    }
}

impl SearchedRun<'_> {
    /// Describes an incident. `all` are the seconds of all incidents; the other seconds count as usual. `None` if no value is
    /// known.
    pub(super) fn describe(&self, group: &Group, all: &[Range<u64>]) -> Option<Incident> {
        let measured = measured_label(group);
        let track = measured.map_or(&self.total, |label| &self.labels[label].1);
        let sums = |change: Change| group.first(change).and_then(|_| Sums::of(track, &group.range, all));
        let (times, failed) = (sums(Change::Times), sums(Change::Errors));
        let p95 = times.as_ref().and_then(Sums::p95_ms);
        let shares = failed.as_ref().map(|sums| (error_share(&sums.inside), error_share(&sums.usual)));
        let pauses = group.parts.iter().map(|(_, part)| part).filter(|part| part.change == Change::Pause);
        let pause = pauses.max_by_key(|part| part.range.end - part.range.start);
        let pause_s = pause.map(|part| (part.range.end - part.range.start) as f64);
        let longest_ms =
            pause.and_then(|part| self.seconds.longest_ms(&(part.range.end..part.range.end + AFTER_PAUSE_S)));
        // If a pause takes at least half of the incident, its rate is not reported.
        let length_s = (group.range.end - group.range.start) as f64;
        let is_pause = pause_s.is_some_and(|pause_s| 2.0 * pause_s >= length_s);
        let rates = group.first(Change::Rate).filter(|_| !is_pause).and_then(|_| {
            let inside = self.seconds.rate(std::slice::from_ref(&group.range), true)?;
            Some((inside, self.seconds.rate(all, false).filter(|usual| *usual > 0.0)?))
        });
        if p95.is_none() && shares.is_none() && rates.is_none() && pause_s.is_none() {
            return None;
        }
        let (labels, all_labels) = self.affected(group, p95, shares);
        let percent = |share: f64| share * 100.0;
        Some(Incident {
            from_s: group.range.start as f64,
            to_s: (!group.is_last).then_some(group.range.end as f64),
            p95_factor: p95.map(|(inside, usual)| inside / usual),
            p95_ms: p95.map(|(inside, _)| inside),
            usual_p95_ms: p95.map(|(_, usual)| usual),
            error_percent: shares.map(|(inside, _)| percent(inside)),
            usual_error_percent: shares.map(|(_, usual)| percent(usual)),
            main_error: shares.and_then(|_| self.main_error(&group.range)),
            rate_factor: rates.map(|(inside, usual)| inside / usual),
            rate_per_s: rates.map(|(inside, _)| inside),
            usual_rate_per_s: rates.map(|(_, usual)| usual),
            pause_s,
            longest_ms,
            measured_label: measured.map(|label| self.labels[label].0.to_owned()),
            labels,
            all_labels,
            cause: self.cause(group, times.as_ref()),
        })
    }

    /// The affected labels, in descending order of their requests, and whether all labels are affected. The list is
    /// empty if all labels are affected.
    fn affected(
        &self,
        group: &Group,
        p95: Option<(f64, f64)>,
        shares: Option<(f64, f64)>,
    ) -> (Vec<String>, bool) {
        let range = std::slice::from_ref(&group.range);
        let (mut known, mut found) = (0, Vec::new());
        for (at, (name, track)) in self.labels.iter().enumerate() {
            let is_shown = group.parts.iter().any(|(label, _)| *label == Some(at));
            let (inside, outside) = (track.sum_of(range, true), track.sum_of(range, false));
            if !is_shown && (inside.samples < LABEL_MIN || outside.samples < LABEL_MIN) {
                continue;
            }
            known += 1;
            let is_slower = p95.is_some_and(|(of_all, usual)| {
                let least = (of_all / usual).powf(AFFECTED_SHARE).max(AFFECTED_MIN);
                p95_ms(&inside)
                    .zip(p95_ms(&outside))
                    .is_some_and(|(inside, outside)| inside >= least * outside)
            });
            let fails = shares.is_some_and(|(of_all, _)| {
                let share = error_share(&inside);
                share >= of_all * AFFECTED_SHARE && share >= AFFECTED_MIN * error_share(&outside)
            });
            if is_shown || is_slower || fails || (p95.is_none() && shares.is_none()) {
                found.push((outside.samples + inside.samples, *name));
            }
        }
        if known > 1 && found.len() == known {
            return (Vec::new(), true);
        }
        found.sort_by_key(|(samples, _)| std::cmp::Reverse(*samples));
        (found.into_iter().map(|(_, name)| name.to_owned()).collect(), false)
    }

    /// Code and message of the main kind of error in the range: a kind that makes up more than half of all errors of the run and
    /// occurs in the range, or otherwise the most frequent kind that occurs only in the range.
    fn main_error(&self, range: &Range<u64>) -> Option<String> {
        let step = self.total.step_s as f64;
        let (from, to) = (range.start as f64, range.end as f64);
        let span = |kind: &ErrorKind| (kind.first.as_secs_f64(), kind.last.as_secs_f64());
        let inside = |kind: &&ErrorKind| {
            let (first, last) = span(kind);
            first >= from - step && last <= to + step
        };
        let all: u64 = self.errors.iter().map(|kind| kind.count).sum();
        let is_most = |kind: &&ErrorKind| {
            let (first, last) = span(kind);
            first < to && last >= from && 2 * kind.count > all
        };
        // The kinds are sorted by their number of errors, in descending order.
        let kind = self.errors.iter().find(is_most).or_else(|| self.errors.iter().find(inside))?;
        let text = [kind.code.trim(), kind.message.trim()].join(" ");
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// The cause of the incident if it is known to be outside of the system under test; otherwise `None`.
    fn cause(&self, group: &Group, times: Option<&Sums>) -> Option<IncidentCause> {
        let (from, to) = (group.range.start as f64, group.range.end as f64);
        let step = self.total.step_s as f64;
        let stalled_s: f64 = reported_stalls(&self.facts.generator.stalls)
            .map(|stall| (stall.at_ns as f64 / 1e9, stall.length_ns as f64 / 1e9))
            .filter(|(at, length)| *at < to && at + length > from - step)
            .map(|(_, length)| length)
            .sum();
        let has_errors = group.first(Change::Errors).is_some();
        if stalled_s > 0.0 && !has_errors && to - from <= stalled_s * STALL_FACTOR + STALL_AFTER_S.max(step) {
            return Some(IncidentCause::GeneratorStalled { seconds: stalled_s });
        }
        let Sums { inside, usual } = times?;
        let response_ms = mean_ms(inside.response_us, inside);
        let service_ms = mean_ms(inside.service_us, inside);
        let rise = response_ms - mean_ms(usual.response_us, usual);
        let usual_late = mean_ms(usual.response_us, usual) - mean_ms(usual.service_us, usual);
        let late = response_ms - service_ms - usual_late;
        if has_errors || rise <= 0.0 || late < LATE_SHARE_MIN * rise {
            return None;
        }
        let has_waited = self.facts.arrivals.is_some_and(|counts| counts.waited > 0);
        Some(if has_waited {
            IncidentCause::WaitedForUsers { response_ms, service_ms }
        } else {
            IncidentCause::GeneratorLate { response_ms, service_ms }
        })
    }
}
