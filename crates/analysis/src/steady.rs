//! Which part of a run was steady: where users were all there, and rate and response times had settled.
//!
//! Two rules, one after the other:
//!
//! 1. **Users.** Where the record tells how many users were active, and their number stood at its level (the median over
//!    the run, or more than 95 % of it) over a third of the run without a break, the steady part lies within that time.
//! 2. **MSER-5** (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997;
//!    White, Cobb and Spratt, 2000) on the starts and on the response times by the second, in batches of five: the
//!    first d batches are left out, where d, at most half of them, makes the standard error of the mean of the rest,
//!    Σ (Yᵢ − mean)² / (n − d)², least. The end is treated likewise, from the end; both are repeated until neither moves,
//!    because a ramp at one end hides the other.
//!
//! MSER leaves out too much by chance. So batches are taken back, beginning at the steady part, as long as they differ from
//! it by less than 5 %, or by less than three standard deviations of a batch: leaving those out would change no conclusion.
//! A series whose rest still rises or falls by more than that from its first to its last third never settled.

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

/// Standard deviations of a batch that are no ramp: of two neighbours each, and of the first or last batch alone.
const DEVIATIONS: (f64, f64) = (3.0, 5.0);

/// Both ends are looked at so often at most.
const ROUNDS_MAX: usize = 8;

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
    let parts = [settled(&rate, mean_of), settled(&seconds.response[within.clone()], median_of)];
    let found = match parts {
        [Some(rate), Some(response)] => {
            let from = within.start + rate.start.max(response.start);
            let to = within.start + rate.end.min(response.end);
            let is_enough = to.saturating_sub(from) as f64 >= STEADY_SHARE_MIN * all.len() as f64;
            if is_enough { Ok((from, to)) } else { Err("less than a third of it had settled") }
        }
        _ => Err("rate or response times did not settle"),
    };
    let (from, to) = match found {
        Ok(range) => range,
        // Where the users are known, their ramps are known as well.
        Err(why) if within != all => {
            let (from_s, to_s) = (seconds.first + within.start as u64, seconds.first + within.end as u64);
            return SteadyPart {
                window_s: Some((from_s as f64, to_s as f64)),
                words: format!(
                    "from {from_s} s to {to_s} s the users were all there, although the run was never steady: {why}"
                ),
            };
        }
        Err(why) => return whole(&format!("nothing is left out, although the run was never steady: {why}")),
    };
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

fn mean_of(values: &mut [f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Of response times, where one slow request must not make a second stand out.
fn median_of(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// The part of a series that has settled; `None` when it never does. `of_batch` is never given an empty batch.
fn settled(series: &[Option<f64>], of_batch: fn(&mut [f64]) -> f64) -> Option<Range<usize>> {
    let all = 0..series.len();
    let batches: Vec<f64> = series
        .chunks_exact(BATCH)
        .filter_map(|batch| {
            let mut known: Vec<f64> = batch.iter().copied().flatten().collect();
            (!known.is_empty()).then(|| of_batch(&mut known))
        })
        .collect();
    // Batches in which nothing ended would move all the others.
    if batches.len() < BATCHES_MIN || batches.len() != series.len() / BATCH {
        return Some(all);
    }
    let (front, back) = both_ends(&batches);
    let steady = taken_back(&batches, front..batches.len() - back);
    if !is_level(&batches[steady.clone()]) {
        return None;
    }
    let to = if steady.end == batches.len() { series.len() } else { steady.end * BATCH };
    Some(steady.start * BATCH..to)
}

/// How many batches MSER leaves out at the beginning and at the end, repeated until neither moves. Of the two orders that
/// which leaves more.
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

/// What a batch of a steady part may be away from its mean, when so many standard deviations are allowed.
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

/// The steady part with the batches beside it that do not differ from it.
fn taken_back(batches: &[f64], mut steady: Range<usize>) -> Range<usize> {
    let rest = &batches[steady.clone()];
    let mean = rest.iter().sum::<f64>() / rest.len().max(1) as f64;
    let (of_two, of_one) = (tolerance(rest, DEVIATIONS.0), tolerance(rest, DEVIATIONS.1));
    let differs = |at: usize| (batches[at] - mean).abs() > of_two;
    let differs_alone = |at: usize| (batches[at] - mean).abs() > of_one;
    // One batch that stands out is no ramp, unless it is the first or last of all and stands out far.
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

/// Whether the first and the last third of a part are as good as the same.
fn is_level(steady: &[f64]) -> bool {
    let third = steady.len() / 3;
    if third == 0 {
        return false;
    }
    let (mut first, mut last) = (steady[..third].to_vec(), steady[steady.len() - third..].to_vec());
    // A mean of k batches varies less than one of them.
    let chance = tolerance(steady, DEVIATIONS.0) * (2.0 / third as f64).sqrt();
    let mean = steady.iter().sum::<f64>() / steady.len() as f64;
    (median_of(&mut first) - median_of(&mut last)).abs() <= chance.max(2.0 * IMMATERIAL * mean.abs())
}

/// How many values MSER leaves out at the beginning: half of them at most.
fn truncation(values: impl DoubleEndedIterator<Item = f64> + ExactSizeIterator) -> usize {
    let total = values.len();
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // From the end: each value adds one to what is kept. Welford's recurrence keeps the digits.
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
