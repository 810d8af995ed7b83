//! Profile-likelihood intervals over all plausible models.
//!
//! Several models often describe the same loads about equally well, and an interval that treats the chosen model as certain is
//! too narrow. The interval of the capacity is therefore a likelihood-ratio interval over all models (profile likelihood;
//! Venzon & Moolgavkar, "A method for computing profile-likelihood-based confidence intervals", Applied Statistics 37, 1988).
//! It contains every value that some model can have with a sum of squares that is not significantly larger than that of the
//! chosen model.

use super::curve::CapacityModel;
use super::fitted::{FittedModel, SharedParameter};
use super::least_squares::{Bounds, least_squares};
use super::queue_fit::{Candidate, FitData};
use super::value::{FittedValue, student_quantile};

/// An interval is unlimited if its end differs from the estimate by more than this factor.
const RATIO_MAX: f64 = 8.0;

/// Weight of the residual that fixes a quantity: large compared to the weight of a measurement.
const CONSTRAINT_WEIGHT: f64 = 1e4;

/// Tolerance for an end. At an end, the sum of squares has increased by the allowed amount. The tolerance is the difference
/// between the square roots of the two increases, divided by the square root of the allowed increase.
const END_TOLERANCE: f64 = 0.03;

/// Maximum number of evaluations for an end; a few are usually sufficient.
const EVALUATIONS_MAX: usize = 16;

/// Minimum variance of a residual, for measurements without noise, which occur in tests.
const SCALE_MIN: f64 = 1e-14;

/// The chosen model with the other models that the measurements do not rule out.
pub(crate) struct PlausibleModels<'d> {
    data: &'d FitData,
    /// The chosen model first.
    candidates: Vec<Candidate>,
    /// The largest sum of squares that is not significantly larger than that of the chosen model.
    limit: f64,
}

/// A positive quantity of a model.
type Quantity<'f> = &'f dyn Fn(&CapacityModel) -> f64;

impl<'d> PlausibleModels<'d> {
    /// Selects the plausible models from all candidates. The first candidate is the chosen model. `None` without
    /// candidates.
    pub(crate) fn select(data: &'d FitData, all: Vec<Candidate>) -> Option<PlausibleModels<'d>> {
        let chosen = all.first()?;
        let quantile = student_quantile(chosen.fitted.freedom);
        let limit = chosen.fitted.squares + chosen.scale.max(SCALE_MIN) * quantile * quantile;
        let candidates = all.into_iter().filter(|candidate| candidate.fitted.squares <= limit).collect();
        Some(PlausibleModels { data, candidates, limit })
    }

    /// The chosen model with those alternatives that determine an end of an interval.
    pub(crate) fn fitted(&self, think_s: f64) -> FittedModel {
        let mut chosen = self.candidates[0].fitted.clone();
        let measured = self.data.points.iter().map(|point| point.users).fold(1.0, f64::max);
        let knee = chosen.bounds(think_s).map_or(measured, |bounds| bounds.knee_users.min(4.0 * measured));
        let mut loads: Vec<f64> = self.data.points.iter().map(|point| point.users).collect();
        loads.extend([0.5, 0.7, 0.85, 1.0, 1.15, 1.5].map(|part| part * knee));
        let ends: Vec<Vec<(f64, f64)>> =
            self.candidates.iter().map(|candidate| ends(&candidate.fitted, &loads, think_s)).collect();
        let determines_an_end = |own: &Vec<(f64, f64)>| {
            own.iter().enumerate().any(|(at, (low, high))| {
                ends.iter().all(|other| *low <= other[at].0) || ends.iter().all(|other| *high >= other[at].1)
            })
        };
        chosen.alternatives = self.candidates[1..]
            .iter()
            .zip(&ends[1..])
            .filter(|(_, ends)| determines_an_end(ends))
            .map(|(candidate, _)| candidate.fitted.clone())
            .collect();
        chosen
    }

    /// The interval of the capacity.
    pub(crate) fn capacity_per_s(&self, think_s: f64) -> Option<FittedValue> {
        self.interval(&|model| model.bounds(think_s).map_or(f64::NAN, |bounds| bounds.throughput_max_per_s))
    }

    /// The interval of the knee.
    pub(crate) fn knee_users(&self, think_s: f64) -> Option<FittedValue> {
        self.interval(&|model| model.bounds(think_s).map_or(f64::NAN, |bounds| bounds.knee_users))
    }

    /// The interval of a quantity that decreases with the first variable of the [`Search`](super::queue_fit::Search).
    fn interval(&self, quantity: Quantity<'_>) -> Option<FittedValue> {
        let value = quantity(&self.candidates[0].fitted.model());
        if !(value > 0.0 && value.is_finite()) {
            return None;
        }
        let end = |sign: f64| {
            // The most extreme candidates first, so that one evaluation is usually sufficient for each of the others.
            let mut order: Vec<&Candidate> = self.candidates.iter().collect();
            let position = |candidate: &Candidate| sign * quantity(&candidate.fitted.model()).ln();
            order.sort_by(|a, b| position(b).total_cmp(&position(a)));
            let mut furthest = value.ln();
            for candidate in order {
                furthest =
                    sign * (sign * self.end(candidate, quantity, sign, furthest)?).max(sign * furthest);
                if sign * (furthest - value.ln()) > RATIO_MAX.ln() {
                    return None;
                }
            }
            Some(furthest.exp())
        };
        Some(FittedValue { value, low: end(-1.0), high: end(1.0) })
    }

    /// The end of the interval of a candidate in one direction, as a logarithm. The result is at least `beyond`, the end for
    /// the preceding candidates. `None` if the interval is unlimited.
    fn end(&self, candidate: &Candidate, quantity: Quantity<'_>, sign: f64, beyond: f64) -> Option<f64> {
        let own = quantity(&candidate.fitted.model()).ln();
        let allowed = (self.limit - candidate.fitted.squares).max(0.0).sqrt();
        let mut at = candidate.at.clone();
        // √(increase of the sum of squares at this distance from the estimate) − √(allowed increase).
        let mut excess = |distance: f64| {
            let (found, squares) = self.constrained_fit(candidate, quantity, own + sign * distance, &at)?;
            at = found;
            Some((squares - candidate.fitted.squares).max(0.0).sqrt() - allowed)
        };
        let reached = sign * (beyond - own);
        let (mut inside, mut inside_excess) = (0.0, -allowed);
        let mut distance = self.first_step(candidate, quantity, allowed);
        if reached > 0.0 {
            // The intervals of the preceding candidates already extend to this distance.
            match excess(reached) {
                Some(found) if found < -END_TOLERANCE * allowed => (inside, inside_excess) = (reached, found),
                _ => return Some(beyond),
            }
            distance = reached + distance.max(0.5 * reached);
        }
        let mut outside: Option<(f64, f64)> = None;
        for _ in 0..EVALUATIONS_MAX {
            // A failed fit counts as outside of the interval.
            let found = excess(distance).unwrap_or(allowed.max(1.0));
            if found.abs() <= END_TOLERANCE * allowed {
                return Some(own + sign * distance);
            }
            if found > 0.0 {
                outside = Some((distance, found));
            } else {
                (inside, inside_excess) = (distance, found);
            }
            distance = match outside {
                Some((outside, outside_excess)) => {
                    let share = -inside_excess / (outside_excess - inside_excess);
                    inside + (outside - inside) * share.clamp(0.1, 0.9)
                }
                None if distance > RATIO_MAX.ln() => return None,
                None => distance * (allowed / (found + allowed).max(1e-3 * allowed)).clamp(1.2, 3.0),
            };
        }
        // The shortest distance that was found to be outside of the interval is a conservative end.
        Some(own + sign * outside.map_or(inside, |(outside, _)| outside))
    }

    /// The distance at which the end would be if the sum of squares were a parabola.
    fn first_step(&self, candidate: &Candidate, quantity: Quantity<'_>, allowed: f64) -> f64 {
        let own = quantity(&candidate.fitted.model()).ln();
        let variance = candidate.fitted.variance(&|model| quantity(model).ln() - own).unwrap_or(0.01);
        let step = allowed * (variance / candidate.scale.max(SCALE_MIN)).sqrt();
        if step.is_finite() { step.clamp(1e-6, 1.0) } else { 0.1 }
    }

    /// Minimizes the sum of squares subject to a given logarithm of the quantity. Returns the end point of the search and the
    /// sum of squares.
    fn constrained_fit(
        &self,
        candidate: &Candidate,
        quantity: Quantity<'_>,
        logarithm: f64,
        near: &[f64],
    ) -> Option<(Vec<f64>, f64)> {
        let search = &candidate.search;
        let mut start = near.to_vec();
        // The quantity is nearly inversely proportional to the first variable.
        let ratio = (logarithm - quantity(&search.model(near)).ln()).exp();
        start[0] = (start[0] / ratio).clamp(search.bounds[0].0, search.bounds[0].1);
        let weight = CONSTRAINT_WEIGHT * candidate.scale.max(SCALE_MIN).sqrt();
        let bounds: Vec<Bounds> = search.bounds.clone();
        let found = least_squares(&start, &bounds, |at, out| {
            let model = search.model(at);
            self.data.residuals(&model, out);
            out.push(weight * (quantity(&model).ln() - logarithm));
        })?;
        let residual = weight * (quantity(&search.model(&found.parameters)).ln() - logarithm);
        let squares = found.squares - residual * residual;
        // The bounds of the search may exclude the value.
        (residual.abs() < 1e-2 * weight).then_some((found.parameters, squares))
    }

    /// Descriptions of the alternatives, the more likely ones first.
    pub(crate) fn alternatives(&self) -> Vec<String> {
        self.candidates[1..].iter().map(|candidate| candidate.fitted.model().description()).collect()
    }
}

/// The intervals of a model: of its parameters that other models have, too, and of its curve. Unknown intervals are empty, so
/// that they do not determine an end.
fn ends(fitted: &FittedModel, loads: &[f64], think_s: f64) -> Vec<(f64, f64)> {
    const EMPTY: (f64, f64) = (f64::MAX, f64::MIN);
    let mut all: Vec<(f64, f64)> = [SharedParameter::Service, SharedParameter::Latency]
        .iter()
        .map(|&parameter| {
            let found = fitted.value_of(parameter);
            found.map_or(EMPTY, |found| (found.low.unwrap_or(found.value), found.high.unwrap_or(found.value)))
        })
        .collect();
    for users in loads {
        let band = fitted.own_curve(*users, think_s).1;
        all.push(band.map_or(EMPTY, |band| band.throughput_per_s));
        all.push(band.map_or(EMPTY, |band| band.response_s));
    }
    all
}
