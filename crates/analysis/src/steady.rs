//! Finds the steady part of a run: all users are active, and rate and response times have settled.
//!
//! Two rules are applied in this order:
//!
//! 1. **Users.** The steady part is limited to the longest interval in which the number of active users is at least 95 % of its
//!    median over the run. The rule is skipped when the number is unknown or the interval is shorter than a third of the run.
//! 2. **MSER-5** (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997;
//!    White, Cobb and Spratt, 2000) is applied to starts and mean response times per second, in batches of five seconds. The
//!    first d batches are truncated, where d (at most half of them) minimizes the standard error of the mean of the rest,
//!    Σ (Yᵢ − mean)² / (n − d)². The end is truncated in the same way on the reversed series. Both steps are repeated until
//!    neither changes, because a ramp at one end can hide the ramp at the other.
//!
//! MSER sometimes truncates too much by chance. Truncated batches next to the steady part are therefore restored as
//! long as their difference from the steady part is small: less than 5 %, or less than three standard deviations of a
//! batch. Excluding such batches would not change any conclusion. If the steady part still rises or falls by more than
//! that between its first and its last third, the series never settled.
//!
//! Both rules detect ramps and warm-ups. Parts in which the system became worse are never truncated: neither a beginning that
//! is faster than the rest under the same load, nor an incident ([`crate::incidents`]) that begins after the start of the run.
//! Incidents are ignored in the search for ramps, and a run with an incident is never called steady.

use std::ops::Range;

use crate::incidents::Incident;
use crate::rounding::digits;
use crate::series::Series;

/// Seconds in a batch.
const BATCH: usize = 5;

/// Minimum number of batches in a run whose steady part can be found.
const BATCHES_MIN: usize = 6;

/// All users count as active while their number is at least this share of its median.
const LEVEL_SHARE: f64 = 0.95;

/// Minimum length of the steady part, as a share of the run.
const STEADY_SHARE_MIN: f64 = 1.0 / 3.0;

/// A difference below this share of the mean changes no conclusion.
const IMMATERIAL: f64 = 0.05;

/// A batch belongs to a ramp if it deviates from the mean by more than this many standard deviations. The first number is for two
/// adjacent batches, the second for a single batch at either end of the run.
const DEVIATIONS: (f64, f64) = (3.0, 5.0);

/// A beginning or an end counts as having less load if its rate is at most this share of the rate of the rest.
const LESS_LOAD: f64 = 0.9;

/// An incident that begins within this many seconds after the start counts as beginning with the run, because the search for
/// incidents skips the first second.
const FIRST_SECONDS: f64 = 2.0;

/// Maximum number of repetitions of the truncation of both ends.
const ROUNDS_MAX: usize = 8;

/// The steady part of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyPart {
    /// Start and end in seconds from the start of the run; `None` when no part of the run is excluded.
    pub window_s: Option<(f64, f64)>,
    /// How the part was found, or why nothing is excluded, as a clause for reports.
    pub reason: String,
}

/// The time series of a run, with an entry for every second.
struct Seconds {
    first: u64,
    rate: Vec<f64>,
    /// Mean response time; `None` if no request ended.
    response: Vec<Option<f64>>,
    users: Vec<Option<f64>>,
}

/// Finds the steady part of a run from its time series and its incidents.
#[must_use]
pub fn steady_part(series: &Series, incidents: &[Incident]) -> SteadyPart {
    let mut part = without_ramps(series, incidents);
    let (from_s, to_s) = part.window_s.unwrap_or((0.0, f64::INFINITY));
    let mut inside = incidents
        .iter()
        .filter(|incident| incident.from_s < to_s && incident.to_s.is_none_or(|end_s| end_s > from_s));
    if let Some(first) = inside.next() {
        let more = match inside.count() {
            0 => String::new(),
            1 => ", and there is one more incident".to_owned(),
            count => format!(", and there are {count} more incidents"),
        };
        part.reason = format!("{}; the run is not steady: {}{more}", part.reason, describe(first));
    }
    part
}

/// Describes an incident: `from 120 s to the end p95 was 151 ms instead of 50.6 ms`.
fn describe(incident: &Incident) -> String {
    let when = match incident.to_s {
        Some(to_s) => format!("from {:.0} s to {to_s:.0} s", incident.from_s),
        None => format!("from {:.0} s to the end", incident.from_s),
    };
    let times = incident.p95_ms.zip(incident.usual_p95_ms);
    let rates = incident.rate_per_s.zip(incident.usual_rate_per_s);
    let mut parts = Vec::new();
    parts.extend(
        times.map(|(p95, usual)| format!("p95 was {} ms instead of {} ms", digits(p95), digits(usual))),
    );
    parts.extend(
        incident.error_percent.map(|percent| format!("{} % of the requests failed", digits(percent))),
    );
    parts.extend(rates.map(|(rate, usual)| {
        format!("{} instead of {} requests per second ended", digits(rate), digits(usual))
    }));
    parts.extend(incident.pause_s.map(|pause_s| format!("no request ended for {pause_s:.0} s")));
    format!("{when} {}", parts.join(" and "))
}

/// Finds the part without ramps and warm-ups.
fn without_ramps(series: &Series, incidents: &[Incident]) -> SteadyPart {
    let whole = |reason: &str| SteadyPart { window_s: None, reason: reason.to_owned() };
    let Some(mut seconds) = Seconds::of(series) else {
        return whole("nothing is left out: no request started");
    };
    let is_damaged = seconds.replace_incidents(incidents);
    let all = 0..seconds.rate.len();
    if all.len() < BATCHES_MIN * BATCH {
        return whole("nothing is left out: the run is too short to detect ramps (30 s are needed)");
    }
    let level = seconds.level();
    let within = level.clone().unwrap_or_else(|| all.clone());
    let rate: Vec<Option<f64>> = seconds.rate[within.clone()].iter().copied().map(Some).collect();
    let ramps = [settled(&rate, mean_of), settled(&seconds.response[within.clone()], median_of)];
    let parts = ramps.clone().map(|part| part.map(|part| seconds.without_damage(part, &within)));
    let has_changed = parts != ramps;
    let found = match parts {
        [Some(rate), Some(response)] => {
            let from = within.start + rate.start.max(response.start);
            let to = within.start + rate.end.min(response.end);
            let is_enough = to.saturating_sub(from) as f64 >= STEADY_SHARE_MIN * all.len() as f64;
            if is_enough { Ok((from, to)) } else { Err("less than a third of the run had settled") }
        }
        _ => Err("rate or response times did not settle"),
    };
    let (from, to) = match found {
        Ok(range) => range,
        // The number of users had ramps, which are excluded even if rate and response times did not settle.
        Err(why) if within != all => {
            let (from_s, to_s) = (seconds.first + within.start as u64, seconds.first + within.end as u64);
            return SteadyPart {
                window_s: Some((from_s as f64, to_s as f64)),
                reason: format!(
                    "from {from_s} s to {to_s} s all users were active, although the run was never steady: {why}"
                ),
            };
        }
        Err(why) => return whole(&format!("nothing is left out, although the run was never steady: {why}")),
    };
    if (from, to) == (all.start, all.end) {
        return whole(if has_changed {
            "nothing is left out, although the run was not steady: its response times rose under the same load"
        } else if is_damaged {
            "nothing is left out: there is no ramp or warm-up"
        } else {
            "nothing is left out: the run was steady from its beginning to its end"
        });
    }
    let (from_s, to_s) = (seconds.first + from as u64, seconds.first + to as u64);
    let by = match (level, (from, to) == (within.start, within.end)) {
        (Some(_), true) => "all users were active",
        (Some(_), false) => "all users were active, and rate and response times had settled (MSER-5)",
        (None, _) => "rate and response times had settled (MSER-5)",
    };
    SteadyPart {
        window_s: Some((from_s as f64, to_s as f64)),
        reason: format!("from {from_s} s to {to_s} s {by}"),
    }
}

impl Seconds {
    fn of(series: &Series) -> Option<Seconds> {
        let (first, last) = (*series.second.first()?, *series.second.last()?);
        let length = usize::try_from(last - first + 1).ok()?;
        let mut seconds = Seconds {
            first,
            rate: vec![0.0; length],
            response: vec![None; length],
            users: vec![None; length],
        };
        let rate = if series.started.is_empty() { &series.requests } else { &series.started };
        for (at, second) in series.second.iter().enumerate() {
            let to = (second - first) as usize;
            seconds.rate[to] = rate[at] as f64;
            seconds.response[to] = series.response_mean[at];
            seconds.users[to] = series.users[at].map(f64::from);
        }
        Some(seconds)
    }

    /// Replaces the values of seconds in incidents by those of other seconds, so that incidents do not affect the search for
    /// ramps. Incidents that begin with the run may be warm-ups and are not replaced. Returns whether any values were
    /// replaced.
    fn replace_incidents(&mut self, incidents: &[Incident]) -> bool {
        let is_inside = |at: usize| {
            let second = (self.first + at as u64) as f64;
            incidents
                .iter()
                .filter(|incident| incident.from_s > self.first as f64 + FIRST_SECONDS)
                .any(|incident| incident.from_s <= second && incident.to_s.is_none_or(|to_s| second < to_s))
        };
        let inside: Vec<usize> = (0..self.rate.len()).filter(|at| is_inside(*at)).collect();
        let rest: Vec<usize> = (0..self.rate.len()).filter(|at| !is_inside(*at)).collect();
        // Ramps and warm-ups are in the first half of the seconds outside of incidents, so values are taken from the second half.
        let typical = &rest[rest.len() / 2..];
        if !typical.is_empty() {
            for (&at, &other) in inside.iter().zip(typical.iter().cycle()) {
                self.rate[at] = self.rate[other];
                self.response[at] = self.response[other];
            }
        }
        !inside.is_empty()
    }

    /// Extends `part` to the beginning of `within` if the beginning was faster under the same load, and to its end if the end
    /// was slower under the same load, because such changes are not ramps.
    fn without_damage(&self, mut part: Range<usize>, within: &Range<usize>) -> Range<usize> {
        let middles = |of: Range<usize>| {
            let range = within.start + of.start..within.start + of.end;
            let mut response: Vec<f64> = self.response[range.clone()].iter().copied().flatten().collect();
            let mut rate = self.rate[range].to_vec();
            (!response.is_empty()).then(|| (median_of(&mut response), median_of(&mut rate)))
        };
        let (before, after) = (0..part.start, part.end..within.len());
        let Some((response, rate)) = middles(part.clone()) else { return part };
        if middles(before).is_some_and(|(first, load)| first < response && load > LESS_LOAD * rate) {
            part.start = 0;
        }
        if middles(after).is_some_and(|(last, load)| last > response && load > LESS_LOAD * rate) {
            part.end = within.len();
        }
        part
    }

    /// The longest range in which the number of users was near its median; `None` if the number is unknown or the range is too
    /// short.
    fn level(&self) -> Option<Range<usize>> {
        let mut known: Vec<f64> = self.users.iter().copied().flatten().filter(|users| *users > 0.0).collect();
        known.sort_unstable_by(f64::total_cmp);
        let level = *known.get(known.len() / 2)?;
        // The number of users is unknown in seconds in which no request ended; such seconds do not end the range.
        let below = |users: &Option<f64>| users.is_some_and(|users| users < LEVEL_SHARE * level);
        let (mut best, mut from) = (0..0, 0);
        for at in 0..=self.users.len() {
            if at == self.users.len() || below(&self.users[at]) {
                if at - from > best.len() {
                    best = from..at;
                }
                from = at + 1;
            }
        }
        (best.len() as f64 >= STEADY_SHARE_MIN * self.users.len() as f64).then_some(best)
    }
}

fn mean_of(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The median. Batches of response times use it, so that one second with a slow request does not make its batch an outlier.
fn median_of(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// The part of a series that has settled; `None` if it never settles. `of_batch` computes the value of a batch and is never
/// called with an empty one.
fn settled(series: &[Option<f64>], of_batch: fn(&mut [f64]) -> f64) -> Option<Range<usize>> {
    let all = 0..series.len();
    let batches: Vec<f64> = series
        .chunks_exact(BATCH)
        .filter_map(|batch| {
            let mut known: Vec<f64> = batch.iter().copied().flatten().collect();
            (!known.is_empty()).then(|| of_batch(&mut known))
        })
        .collect();
    // A batch in which no request ended would shift the index of every later batch.
    if batches.len() < BATCHES_MIN || batches.len() != series.len() / BATCH {
        return Some(all);
    }
    let (front, back) = both_ends(&batches);
    let steady = restore_batches(&batches, front..batches.len() - back);
    if !is_level(&batches[steady.clone()]) {
        return None;
    }
    let to = if steady.end == batches.len() { series.len() } else { steady.end * BATCH };
    Some(steady.start * BATCH..to)
}

/// The number of batches that MSER truncates at the beginning and at the end, repeated until neither changes. Both orders are
/// tried; the one that truncates less is used.
fn both_ends(batches: &[f64]) -> (usize, usize) {
    let n = batches.len();
    let repeated = |front_first: bool| {
        let (mut front, mut back) = (0, 0);
        for _ in 0..ROUNDS_MAX {
            let before = (front, back);
            let cut_front = |back: usize| truncation(batches[..n - back].iter().copied());
            let cut_back = |front: usize| truncation(batches[front..].iter().rev().copied());
            if front_first {
                front = cut_front(back);
                back = cut_back(front);
            } else {
                back = cut_back(front);
                front = cut_front(back);
            }
            if (front, back) == before {
                break;
            }
        }
        (front, back.min(n - front))
    };
    let (first, second) = (repeated(true), repeated(false));
    if first.0 + first.1 <= second.0 + second.1 { first } else { second }
}

/// The maximum distance of a batch from the mean of the steady part, given the number of standard deviations allowed.
fn tolerance(steady: &[f64], deviations: f64) -> f64 {
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    let mut steps: Vec<f64> = steady.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    if steps.is_empty() {
        return IMMATERIAL * mean.abs();
    }
    // The median of |X − Y| of two normal values is 0.954 standard deviations.
    let deviation = median_of(&mut steps) / 0.954;
    (IMMATERIAL * mean.abs()).max(deviations * deviation)
}

/// Extends the steady part by adjacent batches as long as they do not differ from it.
fn restore_batches(batches: &[f64], mut steady: Range<usize>) -> Range<usize> {
    let rest = &batches[steady.clone()];
    let mean = rest.iter().sum::<f64>() / rest.len().max(1) as f64;
    let (of_two, of_one) = (tolerance(rest, DEVIATIONS.0), tolerance(rest, DEVIATIONS.1));
    let differs = |at: usize| (batches[at] - mean).abs() > of_two;
    let differs_alone = |at: usize| (batches[at] - mean).abs() > of_one;
    // A single outlying batch is not a ramp, unless it is the first or the last batch of the run and deviates strongly.
    while steady.start > 0 {
        let at = steady.start - 1;
        if differs(at) && (at > 0 && differs(at - 1) || at == 0 && differs_alone(at)) {
            break;
        }
        steady.start = at;
    }
    while steady.end < batches.len() {
        let at = steady.end;
        let is_last = at + 1 == batches.len();
        if differs(at) && (!is_last && differs(at + 1) || is_last && differs_alone(at)) {
            break;
        }
        steady.end = at + 1;
    }
    steady
}

/// Whether the first and the last third of a part differ by no more than chance explains.
fn is_level(steady: &[f64]) -> bool {
    let third = steady.len() / 3;
    if third == 0 {
        return false;
    }
    let (mut first, mut last) = (steady[..third].to_vec(), steady[steady.len() - third..].to_vec());
    // The mean of k batches varies less than a single batch.
    let chance = tolerance(steady, DEVIATIONS.0) * (2.0 / third as f64).sqrt();
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    (median_of(&mut first) - median_of(&mut last)).abs() <= chance.max(2.0 * IMMATERIAL * mean.abs())
}

/// The number of values that MSER truncates at the beginning, at most half of them.
fn truncation(values: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator) -> usize {
    let total = values.len();
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // Values are processed from the end, so that each value extends the remaining part by one. Welford's recurrence avoids
    // cancellation.
    for (kept, value) in (1..=total).zip(values.rev()) {
        count += 1.0;
        let step: f64 = value - mean;
        mean += step / count;
        squares += step * (value - mean);
        if 2 * kept < total || kept < BATCHES_MIN.min(total) {
            continue;
        }
        let error = squares / (count * count);
        if error <= best.0 {
            best = (error, total - kept);
        }
    }
    best.1
}
