//! The load at which trials keep the thresholds, estimated from how far the measured values are from their limits.
//!
//! The excess of a trial is 1 − limit / measured: negative if the trial passes. The reciprocal of a response time is about linear in
//! the load of a queue, and its sampling error is about the same at all loads. A local regression of the excess on the load, whose
//! curve always rises and is straight or bent, therefore has a constant noise, whose scale grows in shorter trials or does not. Noise is normal or has heavy tails. A trial
//! of full length passes in 95 % of the cases at the load where the curve is the 95 % quantile of the noise below 0.

use crate::noise::{NOISES, Noise, normal_share};
use crate::posterior::{Quantiles, weighted_quantile};
use crate::regression::{Coefficients, Fit, FitPoint, fit, residual_scale};

/// The scales of the noise on the grid, as logarithms of the ratio to the scale of the residuals, and the smallest scale.
const SCALES: std::ops::RangeInclusive<i32> = -4..=7;
const SCALE_STEP: f64 = 0.2;
const SCALE_MIN: f64 = 0.000_5;

/// How much the curve bends: the excess is a linear function of (e^(κt) − 1) / κ, where t is the relative load. Response times of
/// several servers are flat up to the knee, which a large κ describes.
const BENDS: [f64; 3] = [-1.0, 1.5, 4.0];

/// The exponents with which the noise grows in shorter trials, with equal prior probabilities.
const GROWTHS: [f64; 2] = [0.0, 0.5];

/// The exponents with which the noise grows with the load, with equal prior probabilities: response times vary most near saturation.
const LOAD_GROWTHS: [f64; 2] = [0.0, 3.0];

/// A scale for a first fit, which shows the residuals.
const ROUGH_SCALE: f64 = 0.1;

/// The half widths of the part of the loads that the regression uses, as logarithms: at first, and as a multiple of the distance
/// of the answer from the half-pass load.
const REACH: f64 = 0.35;
const REACH_MIN: f64 = 0.25;
const REACH_MAX: f64 = 0.7;
const REACH_FACTOR: f64 = 2.5;

/// The fewest trials near the limit, the smallest weight with which a trial counts as near, and the largest share of trials there
/// without a measured value.
const TRIALS_MIN: usize = 6;
const NEAR: f64 = 0.2;
const UNMEASURED_MAX: f64 = 0.2;

/// Short trials end before queues have built up; a stronger excess of a shorter trial is limited to that of this share.
const SHARE_MIN: f64 = 0.15;

/// Loads on the scale of logarithms for which probabilities are computed.
const GRID: usize = 200;
const BELOW: f64 = 0.9;
const ABOVE: f64 = 0.1;

/// The difference of the logarithms of loads over which a slope is computed, and the smallest slope.
const SLOPE_STEP: f64 = 0.01;
const SLOPE_MIN: f64 = 0.05;

/// Components with less weight are left out.
const WEIGHT_MIN: f64 = 1e-6;

/// A measured trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Measured {
    /// Logarithm of the load.
    pub x: f64,
    /// The length as a share of the full length, at most 1.
    pub share: f64,
    /// The excess; `None` if the trial has no measured value.
    pub excess: Option<f64>,
}

/// The excess of a measured value, from its relative distance to the limit: positive if the threshold failed. `None` if the value is
/// so far below the limit that its distance says nothing, such as no errors at all.
pub(crate) fn excess_of(margin: f64) -> Option<f64> {
    (margin.is_finite() && margin > -0.95).then(|| margin / (1.0 + margin))
}

/// What the measured values say about the pass curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MarginEstimate {
    /// The logarithm of the half-pass load.
    pub half_pass: Quantiles,
    /// The logarithm of the largest load that passes with a probability of at least 95 %.
    pub answer: Quantiles,
    components: Vec<Component>,
    center: f64,
}

/// A possible noise with the curve that belongs to it.
#[derive(Debug, Clone, PartialEq)]
struct Component {
    noise: Noise,
    bend: f64,
    growth: f64,
    load_growth: f64,
    /// The scale in trials of full length at the center.
    scale: f64,
    weight: f64,
    fit: Fit,
}

impl Component {
    /// The scale of the noise at a load, relative to the center, in a trial of this share of the full length.
    fn scale_at(&self, x: f64, share: f64) -> f64 {
        self.scale / inverse_scale(x, share, self.growth, self.load_growth)
    }
}

/// The reciprocal of the scale of the noise, for a scale of 1 in trials of full length at the center.
fn inverse_scale(x: f64, share: f64, growth: f64, load_growth: f64) -> f64 {
    share.max(SHARE_MIN).powf(growth) * (-load_growth * x).exp()
}

impl MarginEstimate {
    /// The estimate around a half-pass load. `None` if too few trials near it have a measured value.
    pub(crate) fn new(trials: &[Measured], half_pass: f64) -> Option<MarginEstimate> {
        let first = Self::around(trials, half_pass, REACH)?;
        let distance = first.half_pass.median - first.answer.median;
        let center = first.half_pass.median - distance / 2.0;
        let reach = (REACH_FACTOR * distance).clamp(REACH_MIN, REACH_MAX);
        Self::around(trials, center, reach).or(Some(first))
    }

    fn around(trials: &[Measured], center: f64, reach: f64) -> Option<MarginEstimate> {
        let weigh = |trial: &Measured| tricube((trial.x - center) / reach);
        let mut near: Vec<(&Measured, f64)> = trials.iter().map(|trial| (trial, weigh(trial))).collect();
        let near_count = near.iter().filter(|(_, weight)| *weight > NEAR).count();
        let measured = near.iter().filter(|(trial, weight)| *weight > NEAR && trial.excess.is_some()).count();
        if measured < TRIALS_MIN || ((near_count - measured) as f64) > UNMEASURED_MAX * near_count as f64 {
            return None;
        }
        near.retain(|(trial, weight)| *weight > 0.0 && trial.excess.is_some());
        let components = components(&near, center);
        if components.is_empty() {
            return None;
        }
        let low = near.iter().map(|(trial, _)| trial.x - center).fold(0.0, f64::min);
        let high = near.iter().map(|(trial, _)| trial.x - center).fold(0.0, f64::max);
        let (from, to) = (low - BELOW, high + ABOVE);
        let grid: Vec<f64> = (0..GRID).map(|at| from + (to - from) * at as f64 / (GRID - 1) as f64).collect();
        let quantiles = |has_noise: bool| {
            let not_below: Vec<f64> = grid.iter().map(|x| not_below(&components, *x, has_noise)).collect();
            load_quantiles(&grid, &not_below, center)
        };
        let (half_pass, answer) = (quantiles(false), quantiles(true));
        Some(MarginEstimate { half_pass, answer, components, center })
    }

    /// The distance of the loads with 90 % and 10 % passes from the half-pass load, as logarithms.
    pub(crate) fn tenth(&self) -> Quantiles {
        let mut values: Vec<(f64, f64)> =
            self.components.iter().map(|component| (self.tenth_of(component), component.weight)).collect();
        values.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
        Quantiles::of(|below| weighted_quantile(&values, below))
    }

    /// The expected value of a function of the distance of [`MarginEstimate::tenth`].
    pub(crate) fn mean_of_tenth(&self, of: impl Fn(f64) -> f64) -> f64 {
        self.components.iter().map(|component| component.weight * of(self.tenth_of(component))).sum()
    }

    fn tenth_of(&self, component: &Component) -> f64 {
        let at = |x: f64| component.fit.at(&terms(x - self.center, 1.0, component.bend)).0;
        let x = self.half_pass.median;
        let slope = (at(x + SLOPE_STEP) - at(x - SLOPE_STEP)) / (2.0 * SLOPE_STEP);
        // By the logistic function of `Noise::share_below`, 10 % are ln 9 / ln 19 of the distance of 5 % away.
        let scale = component.scale_at(x - self.center, 1.0);
        let noise = component.noise.quantile_95 * scale * 9.0_f64.ln() / 19.0_f64.ln();
        noise / slope.max(SLOPE_MIN)
    }

    /// The probability that a trial of this share of the full length passes.
    pub(crate) fn pass_probability(&self, x: f64, share: f64) -> f64 {
        let of = |component: &Component| {
            let (mean, variance) = component.fit.at(&terms(x - self.center, share, component.bend));
            let scale = component.scale_at(x - self.center, share);
            component.weight * component.noise.share_below(-mean / scale.hypot(variance.sqrt()))
        };
        self.components.iter().map(of).sum::<f64>().clamp(0.005, 0.995)
    }
}

/// Weights that fall to 0 at a distance of 1.
fn tricube(distance: f64) -> f64 {
    (1.0 - distance.abs().min(1.0).powi(3)).powi(3)
}

fn terms(x: f64, share: f64, bend: f64) -> Coefficients {
    [1.0, (bend * x.exp_m1()).exp_m1() / bend, 1.0 / share.max(SHARE_MIN) - 1.0]
}

/// All noises and bends with their probabilities.
fn components(near: &[(&Measured, f64)], center: f64) -> Vec<Component> {
    let mut found = Vec::new();
    for bend in BENDS {
        for growth in GROWTHS {
            for load_growth in LOAD_GROWTHS {
                found.extend(components_of(near, center, (bend, growth, load_growth)));
            }
        }
    }
    normalize(&mut found);
    found
}

/// The components with a bend and growths of the noise, with the logarithms of their weights.
fn components_of(
    near: &[(&Measured, f64)],
    center: f64,
    (bend, growth, load_growth): (f64, f64, f64),
) -> Vec<Component> {
    let points = |scale: f64| -> Vec<FitPoint> {
        let point = |(trial, weight): &(&Measured, f64)| FitPoint {
            terms: terms(trial.x - center, trial.share, bend),
            excess: trial.excess.unwrap_or_default(),
            weight: *weight,
            inverse_scale: inverse_scale(trial.x - center, trial.share, growth, load_growth) / scale,
        };
        near.iter().map(point).collect()
    };
    let rough = points(ROUGH_SCALE);
    let Some(first) = fit(&rough, NOISES[0]) else { return Vec::new() };
    let middle = (residual_scale(&rough, &first) * ROUGH_SCALE).max(SCALE_MIN);
    let mut found = Vec::with_capacity(NOISES.len() * SCALES.count());
    for scale in SCALES.map(|step| middle * (f64::from(step) * SCALE_STEP).exp()) {
        let points = points(scale);
        found.extend(NOISES.into_iter().filter_map(|noise| {
            let fit = fit(&points, noise)?;
            let weight = fit.log_evidence + noise.log_prior;
            Some(Component { noise, bend, growth, load_growth, scale, weight, fit })
        }));
    }
    found
}

/// Weights from their logarithms.
fn normalize(components: &mut Vec<Component>) {
    let highest = components.iter().map(|component| component.weight).fold(f64::NEG_INFINITY, f64::max);
    for component in components.iter_mut() {
        component.weight = (component.weight - highest).exp();
    }
    components.retain(|component| component.weight > WEIGHT_MIN);
    let total: f64 = components.iter().map(|component| component.weight).sum();
    for component in components {
        component.weight /= total;
    }
}

/// The probability that the answer, or the half-pass load, is not below a load.
fn not_below(components: &[Component], x: f64, has_noise: bool) -> f64 {
    let of = |component: &Component| {
        let (mean, variance) = component.fit.at(&terms(x, 1.0, component.bend));
        let noise = if has_noise { component.noise.quantile_95 * component.scale_at(x, 1.0) } else { 0.0 };
        component.weight * normal_share(-(mean + noise) / variance.sqrt().max(1e-9))
    };
    components.iter().map(of).sum()
}

/// The quantiles of a load from the probabilities that it is not below those of the grid.
fn load_quantiles(grid: &[f64], not_below: &[f64], center: f64) -> Quantiles {
    // The largest load counts: a load is kept if a larger one is.
    let mut falling = not_below.to_vec();
    for at in (1..falling.len()).rev() {
        falling[at - 1] = falling[at - 1].max(falling[at]);
    }
    let at = |below: f64| {
        let wanted = 1.0 - below;
        let right = falling.partition_point(|share| *share > wanted);
        if right == 0 {
            return center + grid[0];
        }
        if right == grid.len() {
            return center + grid[grid.len() - 1];
        }
        let (high, low) = (falling[right - 1], falling[right]);
        center + grid[right - 1] + (grid[right] - grid[right - 1]) * (high - wanted) / (high - low)
    };
    Quantiles::of(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Excesses 2 × (relative load − 1) with a noise whose quantiles are those of a normal distribution of this deviation.
    fn trials(deviation: f64, count: usize) -> Vec<Measured> {
        // Normal scores, so that the sample has the deviation without chance.
        let scores = [0.0, -0.67, 0.67, -1.28, 1.28, 0.32, -0.32, 1.0, -1.0, 1.8, -1.8];
        (0..count)
            .map(|at| {
                let load = [0.9, 0.95, 1.0, 1.05][at % 4];
                let excess = 2.0 * (load - 1.0) + deviation * scores[at % scores.len()];
                Measured { x: f64::ln(100.0 * load), share: 1.0, excess: Some(excess) }
            })
            .collect()
    }

    #[test]
    fn the_answer_is_the_noise_below_the_half_pass_load() {
        let found = MarginEstimate::new(&trials(0.06, 44), 100.0_f64.ln()).unwrap();
        assert!((found.half_pass.median.exp() - 100.0).abs() < 1.0, "{found:?}");
        // 1.645 × 0.06 / 2 = 0.049.
        let answer = found.answer.median.exp();
        assert!((answer - 95.1).abs() < 1.2, "{answer}");
        assert!(found.answer.low < found.answer.median && found.answer.median < found.answer.high);
        assert!((found.pass_probability(100.0_f64.ln(), 1.0) - 0.5).abs() < 0.1);
        assert!(found.pass_probability(95.1_f64.ln(), 1.0) > 0.9);
    }

    #[test]
    fn few_or_unmeasured_trials_have_no_estimate() {
        let at = 100.0_f64.ln();
        assert_eq!(MarginEstimate::new(&trials(0.06, 5), at), None);
        let mut unmeasured = trials(0.06, 20);
        unmeasured.iter_mut().step_by(2).for_each(|trial| trial.excess = None);
        assert_eq!(MarginEstimate::new(&unmeasured, at), None);
        assert_eq!((excess_of(-1.0), excess_of(f64::NAN), excess_of(1.0)), (None, None, Some(0.5)));
    }
}
