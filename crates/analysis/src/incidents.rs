//! Incidents of a run: times at which it became slower, failed more or completed less, and lasting changes of its level.

mod segments;
mod slices;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::row::Row;
use crate::series::Series;
use segments::{median, segments};
use slices::{Slice, Slices};

/// Least factor of the 95th percentile in an incident.
const SLOWER_MIN: f64 = 1.5;

/// Least factor of the 95th percentile between two lasting levels.
const SHIFT_MIN: f64 = 1.3;

/// The deviation of an incident is at least so many times the spread of equally long parts of the run; of a short one
/// more, because there are more short parts, and their spread has heavier tails.
const SPREADS_MIN: f64 = 5.0;
const SPREADS_OF_SHORT: f64 = 6.0;

/// Parts of at most so many slices are peaks, and so many peaks are no incidents.
const PEAK_SLICES: usize = 2;
const RECURRING_PEAKS: usize = 3;

/// A level that lasts to the end is a shift if it is at least this share of the run.
const SHIFT_SHARE_MIN: f64 = 0.15;

/// Most of the run that an incident takes; what lasts longer is the usual level.
const INCIDENT_SHARE_MAX: f64 = 0.5;

/// Changes of the load by this factor explain changes of times and rates in the same direction.
const LOAD_FACTOR: f64 = 1.15;

/// Least factor of the share of errors, and least difference of shares, in an error burst.
const ERRORS_FACTOR_MIN: f64 = 4.0;
const ERRORS_DIFFERENCE_MIN: f64 = 0.005;

/// Least evidence for an error burst: the logarithm of a bound of its probability at the usual share of errors.
const ERRORS_EVIDENCE_MIN: f64 = 14.0;

/// The completed requests of an incident are at most this share of the usual rate.
const RATE_MAX: f64 = 0.5;

/// A part of the run that differs from the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Incident {
    /// Start, in seconds from the start of the run.
    pub from_s: f64,
    /// End in seconds; `None` for a change that lasts to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_s: Option<f64>,
    /// Factor of the 95th percentile of the response time, compared with the usual level; `None` if it did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p95_factor: Option<f64>,
    /// Failed requests in per cent of those that ended; `None` if they did not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_percent: Option<f64>,
    /// Completed requests per second in relation to the usual rate; `None` if they did not decrease to half.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_factor: Option<f64>,
    /// The affected labels, most requests first; empty if all are affected, or unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Whether all labels are affected.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_labels: bool,
}

/// Finds the incidents of a run, in order of time. Times follow from slices of at least a second with at least 20 requests
/// in the median.
#[must_use]
pub fn incidents(series: &Series, labels: &[Row]) -> Vec<Incident> {
    let Some(slices) = Slices::of(series) else { return Vec::new() };
    let mut found: Vec<Part> = Vec::new();
    for part in slower(&slices).into_iter().chain(error_bursts(&slices)).chain(pauses(&slices)) {
        join(&mut found, part);
    }
    found.sort_by_key(|part| part.range.start);
    found.into_iter().map(|part| part.incident(&slices, labels)).collect()
}

/// A range of slices and what differs there.
#[derive(Debug, Clone, Default)]
struct Part {
    range: Range<usize>,
    lasts: bool,
    p95_factor: Option<f64>,
    error_percent: Option<f64>,
    rate_factor: Option<f64>,
}

/// Adds a part; parts that overlap become one.
fn join(found: &mut Vec<Part>, part: Part) {
    let overlaps = |known: &Part| {
        known.lasts == part.lasts
            && known.range.start <= part.range.end
            && part.range.start <= known.range.end
    };
    let Some(known) = found.iter_mut().find(|known| overlaps(known)) else { return found.push(part) };
    known.range = known.range.start.min(part.range.start)..known.range.end.max(part.range.end);
    known.p95_factor = known.p95_factor.or(part.p95_factor);
    known.error_percent = known.error_percent.or(part.error_percent);
    known.rate_factor = known.rate_factor.or(part.rate_factor);
}

/// Parts with longer times, and lasting changes of their level.
fn slower(slices: &Slices) -> Vec<Part> {
    // Slices without requests have no time; the neighbours count.
    let mut last = match slices.all.iter().find_map(|slice| slice.ln_p95) {
        Some(first) => first,
        None => return Vec::new(),
    };
    let values: Vec<f64> = slices
        .all
        .iter()
        .map(|slice| {
            last = slice.ln_p95.unwrap_or(last);
            last
        })
        .collect();
    let levels: Vec<(Range<usize>, f64)> =
        segments(&values).into_iter().map(|range| (range.clone(), mean(&values[range]))).collect();
    let Some(usual) = usual_level(&levels) else { return Vec::new() };
    let count = values.len();
    let mut found = Vec::new();
    let mut at = 0;
    while at < levels.len() {
        if levels[at].1 - usual < SHIFT_MIN.ln() {
            at += 1;
            continue;
        }
        // Neighbouring segments above the usual level are one part.
        let begin = at;
        while at < levels.len() && levels[at].1 - usual >= SHIFT_MIN.ln() {
            at += 1;
        }
        let range = levels[begin].0.start..levels[at - 1].0.end;
        let part = &values[range.clone()];
        let (highest, typical) =
            (levels[begin..at].iter().map(|level| level.1).fold(usual, f64::max), mean(part));
        let load = load_factor(&slices.all, &range);
        let lasts = range.end == count && range.len() as f64 >= SHIFT_SHARE_MIN * count as f64;
        let factor_min = if lasts { SHIFT_MIN } else { SLOWER_MIN };
        let difference = if lasts { typical } else { highest } - usual;
        if load >= LOAD_FACTOR
            || difference < factor_min.ln()
            || typical - usual < spreads_min(range.len()) * spread_of_parts(&values, &range)
            || (!lasts && range.len() as f64 > INCIDENT_SHARE_MAX * count as f64)
        {
            continue;
        }
        found.push(Part { range, lasts, p95_factor: Some(difference.exp()), ..Part::default() });
    }
    // Peaks that recur are the variation of this system.
    let is_peak = |part: &Part| !part.lasts && part.range.len() <= PEAK_SLICES;
    if found.iter().filter(|part| is_peak(part)).count() >= RECURRING_PEAKS {
        found.retain(|part| !is_peak(part));
    }
    found
}

/// The least deviation of a part of so many slices, in spreads.
fn spreads_min(length: usize) -> f64 {
    SPREADS_MIN + SPREADS_OF_SHORT / length as f64
}

/// The level of the longest time: the weighted median of the levels of the segments.
fn usual_level(levels: &[(Range<usize>, f64)]) -> Option<f64> {
    let mut sorted: Vec<(f64, usize)> = levels.iter().map(|(range, level)| (*level, range.len())).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half: usize = sorted.iter().map(|(_, length)| length).sum::<usize>() / 2;
    let mut seen = 0;
    sorted
        .into_iter()
        .find(|(_, length)| {
            seen += length;
            seen > half
        })
        .map(|(level, _)| level)
}

/// The spread of the means of parts that are as long as `range`, from the rest of the run: 1.48 times their median absolute
/// deviation, which is the standard deviation for a normal distribution.
fn spread_of_parts(values: &[f64], range: &Range<usize>) -> f64 {
    let rest: Vec<f64> = values[..range.start].iter().chain(&values[range.end..]).copied().collect();
    let length = range.len().min(rest.len() / 4).max(1);
    if rest.len() < 4 {
        return f64::INFINITY;
    }
    let means: Vec<f64> = rest.windows(length).map(mean).collect();
    let middle = median(&means);
    let deviations: Vec<f64> = means.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&deviations)
}

/// The load in the range in relation to that outside; 1 if unknown.
fn load_factor(slices: &[Slice], range: &Range<usize>) -> f64 {
    let loads = |part: &mut dyn Iterator<Item = &Slice>| -> Vec<f64> {
        part.filter_map(|slice| slice.load).collect()
    };
    let inside = loads(&mut slices[range.clone()].iter());
    let outside = loads(&mut slices[..range.start].iter().chain(&slices[range.end..]));
    if inside.is_empty() || outside.is_empty() { 1.0 } else { median(&inside) / median(&outside).max(1e-9) }
}

/// Parts in which more requests failed than usual.
fn error_bursts(slices: &Slices) -> Vec<Part> {
    let mut flags = vec![false; slices.all.len()];
    // The usual share is that of the other slices, so it is estimated again without the bursts.
    for _ in 0..3 {
        let usual_slices =
            || slices.all.iter().zip(&flags).filter(|(_, flag)| !**flag).map(|(slice, _)| slice);
        let errors: u64 = usual_slices().map(|slice| slice.errors).sum();
        let requests: u64 = usual_slices().map(|slice| slice.requests).sum();
        let usual = (errors as f64 + 0.5) / (requests as f64 + 1.0);
        flags = slices.all.iter().map(|slice| is_burst(slice, usual)).collect();
    }
    let parts = runs_of(&flags).into_iter().filter(|range| range.len() * 5 <= flags.len() * 3);
    parts
        .map(|range| {
            let part = &slices.all[range.clone()];
            let count = |of: fn(&Slice) -> u64| part.iter().map(of).sum::<u64>() as f64;
            let percent = count(|slice| slice.errors) / count(|slice| slice.requests).max(1.0) * 100.0;
            Part { range, error_percent: Some(percent), ..Part::default() }
        })
        .collect()
}

fn is_burst(slice: &Slice, usual: f64) -> bool {
    let share = slice.errors as f64 / slice.requests.max(1) as f64;
    share >= usual * ERRORS_FACTOR_MIN
        && share - usual >= ERRORS_DIFFERENCE_MIN
        && slice.requests as f64 * divergence(share, usual) >= ERRORS_EVIDENCE_MIN
}

/// The Kullback-Leibler divergence of two probabilities. n times it bounds the logarithm of the probability of a share of at
/// least `share` in n trials with probability `usual` (Chernoff).
fn divergence(share: f64, usual: f64) -> f64 {
    let term = |a: f64, b: f64| if a > 0.0 { a * (a / b).ln() } else { 0.0 };
    term(share, usual) + term(1.0 - share, 1.0 - usual)
}

/// Parts in which fewer requests ended than usual, although the load did not decrease.
fn pauses(slices: &Slices) -> Vec<Part> {
    let rates: Vec<f64> = slices.all.iter().map(|slice| slice.requests as f64).collect();
    let usual = median(&rates);
    let deviations: Vec<f64> = rates.iter().map(|rate| (rate - usual).abs()).collect();
    let low = (usual * RATE_MAX).min(usual - 6.0 * 1.4826 * median(&deviations));
    let flags: Vec<bool> = rates.iter().map(|rate| *rate < low).collect();
    let count = flags.len();
    runs_of(&flags)
        .into_iter()
        // At the ends, rates rise and fall with the users.
        .filter(|range| range.start > 0 && range.end < count && range.len() * 2 <= count)
        .filter(|range| load_factor(&slices.all, range) > 1.0 / LOAD_FACTOR)
        .map(|range| {
            let factor = mean(&rates[range.clone()]) / usual;
            Part { range, rate_factor: Some(factor), ..Part::default() }
        })
        .collect()
}

/// The ranges of flags that are set; single unset ones between them are included.
fn runs_of(flags: &[bool]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in (0..flags.len()).filter(|at| flags[*at]) {
        match found.last_mut() {
            Some(last) if at <= last.end + 1 => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

impl Part {
    fn incident(self, slices: &Slices, labels: &[Row]) -> Incident {
        let (from_s, to_s) = (slices.begin_s(self.range.start), slices.begin_s(self.range.end));
        let mut affected: Vec<&Row> = Vec::new();
        let mut known = 0;
        for row in labels {
            let Some(is_affected) = self.affects(row, from_s, to_s) else { continue };
            known += 1;
            affected.extend(is_affected.then_some(row));
        }
        affected.sort_by_key(|row| std::cmp::Reverse(row.samples));
        let all_labels = known > 1 && affected.len() == known;
        let names = affected.into_iter().map(|row| row.label.clone());
        Incident {
            from_s,
            to_s: (!self.lasts).then_some(to_s),
            p95_factor: self.p95_factor,
            error_percent: self.error_percent,
            rate_factor: self.rate_factor,
            labels: if all_labels { Vec::new() } else { names.collect() },
            all_labels,
        }
    }

    /// Whether a label shows the incident in its own series; `None` if too little is known of it.
    fn affects(&self, row: &Row, from_s: f64, to_s: f64) -> Option<bool> {
        let series = row.series.as_ref()?;
        let (mut inside, mut outside) = (LabelPart::default(), LabelPart::default());
        for (at, &requests) in series.requests.iter().enumerate() {
            let begin = series.from_s + at as f64 * series.step_s;
            // A slice counts for the part that contains its middle, and at least the one in which the incident begins.
            let middle = begin + series.step_s / 2.0;
            let is_inside =
                (from_s..to_s).contains(&middle) || (begin..begin + series.step_s).contains(&from_s);
            let part = if is_inside { &mut inside } else { &mut outside };
            part.add(requests, series.errors[at], series.response_p95[at]);
        }
        if outside.requests == 0 || (inside.requests == 0 && self.rate_factor.is_none()) {
            return None;
        }
        let slower = self.p95_factor.is_some_and(|factor| {
            inside.ln_p95() - outside.ln_p95() >= factor.ln() / 3.0 && inside.requests > 0
        });
        let failed = self.error_percent.is_some_and(|percent| {
            inside.error_share() >= percent / 300.0 && inside.error_share() > outside.error_share()
        });
        Some(slower || failed || (self.p95_factor.is_none() && self.error_percent.is_none()))
    }
}

/// Sums of a label's slices.
#[derive(Default)]
struct LabelPart {
    requests: u64,
    errors: u64,
    logarithms: f64,
}

impl LabelPart {
    fn add(&mut self, requests: u64, errors: u64, p95: Option<f64>) {
        if let Some(p95) = p95.filter(|p95| *p95 > 0.0) {
            self.requests += requests;
            self.errors += errors;
            self.logarithms += p95.ln() * requests as f64;
        }
    }

    fn ln_p95(&self) -> f64 {
        self.logarithms / self.requests.max(1) as f64
    }

    fn error_share(&self) -> f64 {
        self.errors as f64 / self.requests.max(1) as f64
    }
}
