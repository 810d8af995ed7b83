//! Which part of a run was steady: where users were all there, and rate and response times had settled.
//!
//! Two rules, one after the other:
//!
//! 1. **Users.** Where the record tells how many users were active, and their number stood at its level (the median over
//!    the run, or more than 95 % of it) over a third of the run without a break, the steady part lies within that time.
//! 2. **MSER-5** (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997;
//!    White, Cobb and Spratt, 2000) on the starts and on the mean response times by the second, in batches of five: the
//!    first d batches are left out, where d makes the standard error of the mean of the rest,
//!    Σ (Yᵢ − mean)² / (n − d)², least. What is left out at the end is found likewise, from the end, in what is left. As its authors advise,
//!    a d in the second half says that the series never settled. A start or end whose mean differs from the rest's by less
//!    than 5 % is left in: leaving it out would change no conclusion.

use std::ops::Range;

use crate::series::Series;

/// Seconds in a batch.
const BATCH: usize = 5;

/// Runs of fewer batches are too short to tell.
const BATCHES_MIN: usize = 6;

/// A level of users is one where they are so near it.
const LEVEL_SHARE: f64 = 0.95;

/// So much of a run must be steady.
const STEADY_SHARE_MIN: f64 = 1.0 / 3.0;

/// What differs by less than this share of the mean changes no conclusion.
const IMMATERIAL: f64 = 0.05;

/// The part of a run that was steady.
#[derive(Debug, Clone, PartialEq)]
pub struct SteadyPart {
    /// From where to where, in seconds from the start of the run; `None` when nothing is to be left out.
    pub window_s: Option<(f64, f64)>,
    /// Why, in a sentence.
    pub words: String,
}

/// The run by the second, without gaps.
struct Seconds {
    first: u64,
    rate: Vec<f64>,
    /// `None` where no request ended.
    response: Vec<Option<f64>>,
    users: Vec<Option<f64>>,
}

/// Finds the steady part of the run of which `series` tells.
#[must_use]
pub fn steady_part(series: &Series) -> SteadyPart {
    let whole = |words: &str| SteadyPart { window_s: None, words: words.to_owned() };
    let Some(seconds) = Seconds::of(series) else { return whole("nothing is left out: no request started") };
    let all = 0..seconds.rate.len();
    if all.len() < BATCHES_MIN * BATCH {
        return whole("nothing is left out: the run is too short to see ramps in it (30 s are needed)");
    }
    let level = seconds.level();
    let within = level.clone().unwrap_or_else(|| all.clone());
    let rate: Vec<Option<f64>> = seconds.rate[within.clone()].iter().copied().map(Some).collect();
    let parts = [settled(&rate), settled(&seconds.response[within.clone()])];
    let [Some(rate), Some(response)] = parts else {
        return whole(
            "nothing is left out, although the run was never steady: rate or response times did not settle",
        );
    };
    let from = within.start + rate.start.max(response.start);
    let to = within.start + rate.end.min(response.end);
    if (to.saturating_sub(from) as f64) < STEADY_SHARE_MIN * all.len() as f64 {
        return whole(
            "nothing is left out, although the run was never steady: less than a third of it had settled",
        );
    }
    if (from, to) == (all.start, all.end) {
        return whole("nothing is left out: the run was steady from its beginning to its end");
    }
    let (from_s, to_s) = (seconds.first + from as u64, seconds.first + to as u64);
    let by = match (level, (from, to) == (within.start, within.end)) {
        (Some(_), true) => "the users were all there",
        (Some(_), false) => "the users were all there, and rate and response times had settled (MSER-5)",
        (None, _) => "rate and response times had settled (MSER-5)",
    };
    SteadyPart {
        window_s: Some((from_s as f64, to_s as f64)),
        words: format!("from {from_s} s to {to_s} s {by}"),
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

    /// Where the users stood at their level; `None` when that is unknown, or nowhere long enough.
    fn level(&self) -> Option<Range<usize>> {
        let mut known: Vec<f64> = self.users.iter().copied().flatten().filter(|users| *users > 0.0).collect();
        known.sort_unstable_by(f64::total_cmp);
        let level = *known.get(known.len() / 2)?;
        // Ramps are seconds below the level: those in which nothing ended tell nothing, and break nothing.
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

/// The part of a series that has settled; `None` when it never does.
fn settled(series: &[Option<f64>]) -> Option<Range<usize>> {
    let all = 0..series.len();
    let batches: Vec<f64> = series
        .chunks_exact(BATCH)
        .filter_map(|batch| {
            let known: Vec<f64> = batch.iter().copied().flatten().collect();
            (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
        })
        .collect();
    // Batches in which nothing ended would move all the others.
    if batches.len() < BATCHES_MIN || batches.len() != series.len() / BATCH {
        return Some(all);
    }
    let (front, back) = both_ends(&batches)?;
    if front + back >= batches.len() {
        return None;
    }
    let rest = &batches[front..batches.len() - back];
    let mean = rest.iter().sum::<f64>() / rest.len() as f64;
    let matters = |left_out: &[f64]| {
        let other = left_out.iter().sum::<f64>() / left_out.len() as f64;
        !left_out.is_empty() && (other - mean).abs() > IMMATERIAL * mean.abs()
    };
    let from = if matters(&batches[..front]) { front * BATCH } else { 0 };
    let to =
        if matters(&batches[batches.len() - back..]) { (batches.len() - back) * BATCH } else { series.len() };
    Some(from..to)
}

/// How many batches are left out at the beginning and at the end. One of them is looked for in what the other leaves: a long
/// ramp at one end would hide, from the other, what is steady. From whichever end that can be told.
fn both_ends(batches: &[f64]) -> Option<(usize, usize)> {
    let at_front = |batches: &[f64]| truncation(batches.iter().copied());
    let at_back = |batches: &[f64]| truncation(batches.iter().rev().copied());
    let front_first = || {
        let front = at_front(batches)?;
        Some((front, at_back(&batches[front..])?))
    };
    let back_first = || {
        let back = at_back(batches)?;
        Some((at_front(&batches[..batches.len() - back])?, back))
    };
    front_first().or_else(back_first)
}

/// How many values MSER leaves out at the beginning; `None` when that is in the second half.
fn truncation(values: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator) -> Option<usize> {
    let total = values.len();
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // From the end: each value adds one to what is kept. Welford's recurrence keeps the digits.
    for (kept, value) in (1..=total).zip(values.rev()) {
        count += 1.0;
        let step: f64 = value - mean;
        mean += step / count;
        squares += step * (value - mean);
        // A mean of a handful of values has a small error by chance alone.
        if kept < BATCHES_MIN.min(total) {
            continue;
        }
        let error = squares / (count * count);
        if error <= best.0 {
            best = (error, total - kept);
        }
    }
    (best.1 * 2 <= total).then_some(best.1)
}
