//! Finds the resource that saturates first. The use of each resource over the rate of requests is extrapolated to its
//! full use.
//!
//! The utilization law (Denning and Buzen, Computing Surveys 10, 1978) states U = X·D: the use of a resource is the
//! rate multiplied by the demand of a request. The measured part is divided into blocks. If the rate differs between
//! them, a line through the blocks also gives the use without load; otherwise all use is attributed to requests. The
//! load of saturation is the rate at which the line reaches 1. Its interval comes from inverse regression (Fieller,
//! JRSS B 16, 1954).

mod resources;

use busyhour_analysis::saturation::{ResourceLoad, Saturation};
use busyhour_series::SeriesSet;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::request_times::Requests;
use crate::series_pieces::mean_between;
use crate::signals::{ExhaustedPool, exhausted};

pub use resources::{RESOURCE_METRICS, is_resource_metric};
use resources::{Resource, resources};

/// The largest number of blocks.
const BLOCKS_MAX: u64 = 30;

/// The smallest number of blocks for an interval.
const BLOCKS_MIN: usize = 6;

/// The shortest block in ns: two readings at the usual interval.
const BLOCK_MIN_NS: u64 = 2_000_000_000;

/// Minimum ratio of the 80th to the 20th percentile of the rates of blocks for estimating the use without load.
const RATES_DIFFER: f64 = 1.4;

/// Share of the blocks with the highest rates, whose use is shown.
const HIGHEST: f64 = 0.2;

/// A smaller use of a resource is too small to be extrapolated.
const USE_MIN: f64 = 0.05;

/// A resource is saturated if this share of it is in use, because queues in front of it are then long.
const SATURATED: f64 = 0.9;

/// A pool was exhausted if requests waited for a connection in at least this share of the time. In a shorter time, chance can
/// be the reason.
const EXHAUSTED: f64 = 0.1;

/// Confidence on each side.
const SIDE: f64 = 0.975;

/// A block: the rate of completed requests, and the use of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    rate_per_s: f64,
    used: f64,
}

/// Resources and their load of saturation in the part from `from` to `to`, in ns since the start of the run. `None` without resources
/// or requests.
#[must_use]
pub fn saturation(set: &SeriesSet, requests: &Requests, part: (u64, u64)) -> Option<Saturation> {
    let rates = rates(requests, part);
    let pools: Vec<ExhaustedPool<'_>> = exhausted(set, requests).collect();
    let exhausted = |resource: &Resource| {
        let (source, peer) = resource.pool.as_ref()?;
        let pool = pools.iter().find(|pool| pool.is(*source, peer))?;
        Some(pool.share(part)).filter(|share| *share >= EXHAUSTED)
    };
    let mut loads: Vec<JudgedLoad> = resources(set)
        .into_iter()
        .filter_map(|resource| {
            let exhausted = exhausted(&resource);
            load_of(resource, exhausted, &rates)
        })
        .collect();
    let highest_per_s = highest(&rates.iter().map(|(_, _, rate)| *rate).collect::<Vec<_>>())?;
    if loads.is_empty() || highest_per_s <= 0.0 {
        return None;
    }
    loads.sort_by(|a, b| {
        let at = |judged: &JudgedLoad| judged.load.saturation_per_s.unwrap_or(f64::INFINITY);
        let order = b.state.is_saturated().cmp(&a.state.is_saturated()).then(at(a).total_cmp(&at(b)));
        order.then(b.load.utilization.total_cmp(&a.load.utilization))
    });
    let sentence = sentence(&loads, highest_per_s);
    Some(Saturation { sentence, highest_per_s, resources: loads.into_iter().map(|one| one.load).collect() })
}

/// A resource with its state in the measured part.
struct JudgedLoad {
    load: ResourceLoad,
    state: LoadState,
}

/// The state of a resource in the measured part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LoadState {
    /// A part of it was free.
    Free,
    /// It was nearly all in use.
    Saturated,
    /// It is a pool, and requests waited for it in this share of the time.
    Exhausted(f64),
}

impl LoadState {
    fn is_saturated(self) -> bool {
        self != LoadState::Free
    }
}

/// The mean use of each resource between two times, in ns since the start of the run.
#[must_use]
pub fn utilizations(set: &SeriesSet, (from, to): (u64, u64)) -> Vec<(String, f64)> {
    let mean = |resource: Resource| Some((resource.name, mean_between(&resource.used, from, to)?.min(1.0)));
    resources(set).into_iter().filter(|resource| resource.hidden.is_none()).filter_map(mean).collect()
}

/// Start and end of each block, and the requests that were completed per second.
fn rates(requests: &Requests, (from, to): (u64, u64)) -> Vec<(u64, u64, f64)> {
    let count = ((to - from) / BLOCK_MIN_NS).clamp(1, BLOCKS_MAX);
    let length = ((to - from) / count).max(1);
    let mut completed = vec![0u64; count as usize];
    for request in requests.kept() {
        let end = request.start.0.saturating_add(request.response_ns);
        let block = end.checked_sub(from).map(|after| (after / length) as usize);
        if let Some(count) = block.and_then(|block| completed.get_mut(block)) {
            *count += 1;
        }
    }
    let rate = |count: u64| (count * requests.per_kept()) as f64 / (length as f64 / 1e9);
    (0..count)
        .zip(completed)
        .map(|(at, done)| (from + at * length, from + (at + 1) * length, rate(done)))
        .collect()
}

/// The mean of the largest values.
fn highest(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let count = ((values.len() as f64 * HIGHEST).ceil() as usize).max(1);
    (!sorted.is_empty()).then(|| sorted[..count].iter().sum::<f64>() / count as f64)
}

fn load_of(resource: Resource, exhausted: Option<f64>, rates: &[(u64, u64, f64)]) -> Option<JudgedLoad> {
    let blocks: Vec<Block> = rates
        .iter()
        .filter_map(|(from, to, rate_per_s)| {
            let used = mean_between(&resource.used, *from, *to)?;
            Some(Block { rate_per_s: *rate_per_s, used })
        })
        .collect();
    let mut by_rate = blocks.clone();
    by_rate.sort_by(|a, b| b.rate_per_s.total_cmp(&a.rate_per_s));
    by_rate.truncate(((blocks.len() as f64 * HIGHEST).ceil() as usize).max(1));
    let utilization = by_rate.iter().map(|block| block.used).sum::<f64>() / by_rate.len().max(1) as f64;
    let line = Line::fit(&blocks)?;
    let is_known = resource.hidden.is_none();
    let state = match exhausted {
        Some(share) => LoadState::Exhausted(share),
        None if is_known && utilization >= SATURATED => LoadState::Saturated,
        None => LoadState::Free,
    };
    let (saturation, reason) = if let Some(hidden) = resource.hidden {
        (None, Some(hidden))
    } else if let Some(share) = exhausted {
        (None, Some(format!("requests waited for it in {:.0} % of the time", share * 100.0)))
    } else if utilization < USE_MIN {
        (None, Some("it is hardly used".to_owned()))
    } else {
        match line.reaches(1.0) {
            Some(load) => (Some(load), None),
            None => (None, Some("its use does not grow with the load".to_owned())),
        }
    };
    // The use that falls with the load is no use by requests.
    let grows = is_known && line.demand_s > 0.0;
    let load = ResourceLoad {
        resource: resource.name,
        source: resource.source,
        utilization,
        background: if grows { line.background.max(0.0) } else { utilization },
        demand_ms: grows.then_some(line.demand_s * 1e3),
        saturation_per_s: saturation.map(|(load, _)| load),
        interval_per_s: saturation.and_then(|(_, interval)| interval),
        reason,
    };
    Some(JudgedLoad { load, state })
}

/// The use of a resource over the rate.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    background: f64,
    demand_s: f64,
    /// Whether the use without load is estimated; otherwise it is 0.
    has_background: bool,
    blocks: f64,
    mean_rate: f64,
    /// Sum of squared deviations of the rates: from their mean if the use without load is estimated, otherwise from 0.
    squares: f64,
    /// Standard deviation of the blocks around the line.
    deviation: f64,
}

impl Line {
    /// The line through blocks; `None` without requests.
    fn fit(blocks: &[Block]) -> Option<Line> {
        let count = blocks.len() as f64;
        let mean = |of: fn(&Block) -> f64| blocks.iter().map(of).sum::<f64>() / count;
        let (mean_rate, mean_used) = (mean(|block| block.rate_per_s), mean(|block| block.used));
        if blocks.is_empty() || mean_rate <= 0.0 {
            return None;
        }
        let mut sorted: Vec<f64> = blocks.iter().map(|block| block.rate_per_s).collect();
        sorted.sort_by(f64::total_cmp);
        let at = |share: f64| sorted[((count - 1.0) * share).round() as usize];
        let has_background = blocks.len() >= BLOCKS_MIN && at(0.8) >= RATES_DIFFER * at(0.2);
        let (mut demand_s, mut background) = (mean_used / mean_rate, 0.0);
        let centre = if has_background { mean_rate } else { 0.0 };
        let squares: f64 = blocks.iter().map(|block| (block.rate_per_s - centre).powi(2)).sum();
        if has_background {
            let product: f64 =
                blocks.iter().map(|block| (block.rate_per_s - mean_rate) * (block.used - mean_used)).sum();
            demand_s = product / squares;
            background = mean_used - demand_s * mean_rate;
        }
        let residuals: Vec<f64> =
            blocks.iter().map(|block| block.used - background - demand_s * block.rate_per_s).collect();
        let squared: f64 = residuals.iter().map(|residual| residual * residual).sum();
        let freedom = count - if has_background { 2.0 } else { 1.0 };
        let deviation = if freedom > 0.0 {
            (squared / freedom * inflation(&residuals, squared)).sqrt()
        } else {
            f64::NAN
        };
        Some(Line { background, demand_s, has_background, blocks: count, mean_rate, squares, deviation })
    }

    /// The rate at which the line reaches a use, with the confidence interval if there are enough blocks. `None` if it does not grow.
    #[allow(clippy::type_complexity, reason = "a value with an interval that may have no upper end")]
    fn reaches(&self, used: f64) -> Option<(f64, Option<(f64, Option<f64>)>)> {
        let load = (used - self.background) / self.demand_s;
        if self.demand_s <= 0.0 || !load.is_finite() || load <= 0.0 {
            return None;
        }
        let freedom = self.blocks - if self.has_background { 2.0 } else { 1.0 };
        if self.blocks < BLOCKS_MIN as f64 {
            return Some((load, None));
        }
        let t = StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(SIDE));
        let error = t * self.deviation;
        if !self.has_background {
            let of_demand = error / self.squares.sqrt();
            let high = (self.demand_s > of_demand).then(|| used / (self.demand_s - of_demand));
            return Some((load, Some((used / (self.demand_s + of_demand), high))));
        }
        // |used − a − D·x| = error·√(1/n + (x − mean)²/squares), solved for x − mean.
        let (d, rest) = (self.demand_s, used - self.background - self.demand_s * self.mean_rate);
        let a = d * d - error * error / self.squares;
        let c = rest * rest - error * error / self.blocks;
        let root = (d * d * rest * rest - a * c).max(0.0).sqrt();
        if a <= 0.0 {
            // The slope may be 0.
            return None;
        }
        let ends = [(d * rest - root) / a, (d * rest + root) / a].map(|end| end + self.mean_rate);
        Some((load, Some((ends[0].max(0.0), Some(ends[1])))))
    }
}

/// The factor by which the variance of means grows because neighbouring blocks are correlated: (1 + r)/(1 − r), where r
/// is the correlation of neighbours. Its estimate is too small by about (1 + 3r)/n (Kendall, Biometrika 41, 1954).
fn inflation(residuals: &[f64], squared: f64) -> f64 {
    if squared <= 0.0 {
        return 1.0;
    }
    let product: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = product / squared;
    let correlation = (found + (1.0 + 3.0 * found) / residuals.len() as f64).clamp(0.0, 0.9);
    (1.0 + correlation) / (1.0 - correlation)
}

/// A rate with three significant digits.
fn per_s(rate: f64) -> String {
    let digits = (2 - rate.abs().max(1e-9).log10().floor() as i32).clamp(0, 3);
    format!("{rate:.*}/s", usize::try_from(digits).unwrap_or(0))
}

fn sentence(loads: &[JudgedLoad], highest_per_s: f64) -> String {
    let with_interval = |load: &ResourceLoad| match (load.saturation_per_s, load.interval_per_s) {
        (Some(at), Some((low, Some(high)))) => {
            format!("at about {} ({} to {})", per_s(at), per_s(low), per_s(high))
        }
        (Some(at), Some((low, None))) => format!("at about {} (at least {})", per_s(at), per_s(low)),
        (Some(at), None) => format!("at about {}", per_s(at)),
        (None, _) => "at an unknown load".to_owned(),
    };
    let saturated = loads.iter().find(|one| one.state.is_saturated());
    let mut growing = loads.iter().map(|one| &one.load).filter(|load| load.saturation_per_s.is_some());
    match (saturated, growing.next()) {
        (Some(JudgedLoad { load, state: LoadState::Exhausted(share) }), _) => format!(
            "{} was exhausted: requests waited for it in {:.0} % of the time, at up to {}.",
            capital(&load.resource),
            share * 100.0,
            per_s(highest_per_s)
        ),
        (Some(JudgedLoad { load, .. }), _) => format!(
            "{} was saturated: {:.0} % in use at {}.",
            capital(&load.resource),
            load.utilization * 100.0,
            per_s(highest_per_s)
        ),
        (None, Some(first)) => {
            let next = growing.next().map_or_else(String::new, |next| {
                format!("; the next one is {}, {}", next.resource, with_interval(next))
            });
            format!(
                "If the load grows, {} saturates first, {}: {:.0} % were in use at {}{next}.",
                first.resource,
                with_interval(first),
                first.utilization * 100.0,
                per_s(highest_per_s)
            )
        }
        (None, None) => "No observed resource is used enough to say which one saturates first.".to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests;
