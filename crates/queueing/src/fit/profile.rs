//! Which models and which capacities the measurements do not rule out.
//!
//! Several models describe the same loads about as well, and an interval that takes the chosen one for certain is too narrow.
//! So an interval of the capacity is a likelihood-ratio interval over all models together (profile likelihood; Venzon &
//! Moolgavkar, "A method for computing profile-likelihood-based confidence intervals", Applied Statistics 37, 1988): it contains
//! each value that some model can have with a sum of squares that is not significantly more than the chosen model's.

use super::curve::CapacityModel;
use super::fitted::{FittedModel, Meaning};
use super::least_squares::{Bounds, least_squares};
use super::queue_fit::{Candidate, FitData};
use super::value::{FittedValue, student_quantile};

/// An end that is this many times the estimate is no end.
const RATIO_MAX: f64 = 8.0;

/// Weight of the residual that fixes a quantity: large compared to the weight of a measurement.
const HOLD: f64 = 1e4;

/// An end is found when the root of its sum of squares is so near, as a part of what it may grow by.
const NEAR_ENOUGH: f64 = 0.03;

/// Evaluations of an end; the first few mostly suffice.
const EVALUATIONS_MAX: usize = 16;

/// Least variance of a residual: measurements without any noise are those of tests.
const SCALE_MIN: f64 = 1e-14;

/// A fitted model with the others that the measurements do not rule out.
pub(crate) struct Plausible<'d> {
    data: &'d FitData,
    /// The chosen one first.
    candidates: Vec<Candidate>,
    /// The largest sum of squares that is not significantly more than the chosen model's.
    limit: f64,
}

/// A positive quantity of a model.
type Quantity<'f> = &'f dyn Fn(&CapacityModel) -> f64;

impl<'d> Plausible<'d> {
    /// Of all candidates, the chosen one first; `None` without any.
    pub(crate) fn of(data: &'d FitData, all: Vec<Candidate>) -> Option<Plausible<'d>> {
        let chosen = all.first()?;
        let quantile = student_quantile(chosen.fitted.freedom);
        let limit = chosen.fitted.squares + chosen.scale.max(SCALE_MIN) * quantile * quantile;
        let candidates = all.into_iter().filter(|one| one.fitted.squares <= limit).collect();
        Some(Plausible { data, candidates, limit })
    }

    /// The chosen model, whose intervals contain those of the others. Only others that set an end are kept.
    pub(crate) fn fitted(&self, think_s: f64) -> FittedModel {
        let mut chosen = self.candidates[0].fitted.clone();
        let measured = self.data.points.iter().map(|point| point.users).fold(1.0, f64::max);
        let knee = chosen.bounds(think_s).map_or(measured, |bounds| bounds.knee_users.min(4.0 * measured));
        let mut loads: Vec<f64> = self.data.points.iter().map(|point| point.users).collect();
        loads.extend([0.5, 0.7, 0.85, 1.0, 1.15, 1.5].map(|part| part * knee));
        let ends: Vec<Vec<(f64, f64)>> =
            self.candidates.iter().map(|one| ends(&one.fitted, &loads, think_s)).collect();
        let sets_an_end = |own: &Vec<(f64, f64)>| {
            own.iter().enumerate().any(|(at, (low, high))| {
                ends.iter().all(|other| *low <= other[at].0) || ends.iter().all(|other| *high >= other[at].1)
            })
        };
        chosen.alternatives = self.candidates[1..]
            .iter()
            .zip(&ends[1..])
            .filter(|(_, ends)| sets_an_end(ends))
            .map(|(one, _)| one.fitted.clone())
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

    /// The interval of a quantity that falls with the first number of the search.
    fn interval(&self, of: Quantity<'_>) -> Option<FittedValue> {
        let value = of(&self.candidates[0].fitted.model());
        if !(value > 0.0 && value.is_finite()) {
            return None;
        }
        let end = |sign: f64| {
            // Those that lie furthest out first, so that the others are mostly ruled out by one look.
            let mut order: Vec<&Candidate> = self.candidates.iter().collect();
            let far = |one: &Candidate| sign * of(&one.fitted.model()).ln();
            order.sort_by(|a, b| far(b).total_cmp(&far(a)));
            let mut furthest = value.ln();
            for candidate in order {
                furthest = sign * (sign * self.end(candidate, of, sign, furthest)?).max(sign * furthest);
                if sign * (furthest - value.ln()) > RATIO_MAX.ln() {
                    return None;
                }
            }
            Some(furthest.exp())
        };
        Some(FittedValue { value, low: end(-1.0), high: end(1.0) })
    }

    /// How far a candidate reaches in a direction, as a logarithm, when that is further than `beyond`; `None` when there
    /// is no end.
    fn end(&self, candidate: &Candidate, of: Quantity<'_>, sign: f64, beyond: f64) -> Option<f64> {
        let own = of(&candidate.fitted.model()).ln();
        let spare = (self.limit - candidate.fitted.squares).max(0.0).sqrt();
        let mut at = candidate.at.clone();
        // How much more than allowed the root of the sum of squares has grown, so far out.
        let mut growth = |out: f64| {
            let (found, squares) = self.held(candidate, of, own + sign * out, &at)?;
            at = found;
            Some((squares - candidate.fitted.squares).max(0.0).sqrt() - spare)
        };
        let already = sign * (beyond - own);
        let (mut inside, mut inside_growth) = (0.0, -spare);
        let mut out = self.first_step(candidate, of, spare);
        if already > 0.0 {
            // Others reach there.
            match growth(already) {
                Some(found) if found < -NEAR_ENOUGH * spare => (inside, inside_growth) = (already, found),
                _ => return Some(beyond),
            }
            out = already + out.max(0.5 * already);
        }
        let mut outside: Option<(f64, f64)> = None;
        for _ in 0..EVALUATIONS_MAX {
            // What cannot be computed is not allowed.
            let found = growth(out).unwrap_or(spare.max(1.0));
            if found.abs() <= NEAR_ENOUGH * spare {
                return Some(own + sign * out);
            }
            if found > 0.0 {
                outside = Some((out, found));
            } else {
                (inside, inside_growth) = (out, found);
            }
            out = match outside {
                Some((outside, outside_growth)) => {
                    let share = -inside_growth / (outside_growth - inside_growth);
                    inside + (outside - inside) * share.clamp(0.1, 0.9)
                }
                None if out > RATIO_MAX.ln() => return None,
                None => out * (spare / (found + spare).max(1e-3 * spare)).clamp(1.2, 3.0),
            };
        }
        // The last one outside is never too near.
        Some(own + sign * outside.map_or(inside, |(outside, _)| outside))
    }

    /// How far out the end is if the sum of squares is a parabola.
    fn first_step(&self, candidate: &Candidate, of: Quantity<'_>, spare: f64) -> f64 {
        let own = of(&candidate.fitted.model()).ln();
        let variance = candidate.fitted.variance(&|model| of(model).ln() - own).unwrap_or(0.01);
        let step = spare * (variance / candidate.scale.max(SCALE_MIN)).sqrt();
        if step.is_finite() { step.clamp(1e-6, 1.0) } else { 0.1 }
    }

    /// The candidate with the least sum of squares whose quantity has that logarithm: where the search ends, and the sum.
    fn held(
        &self,
        candidate: &Candidate,
        of: Quantity<'_>,
        logarithm: f64,
        near: &[f64],
    ) -> Option<(Vec<f64>, f64)> {
        let search = &candidate.search;
        let mut start = near.to_vec();
        // Nearly in inverse proportion.
        let ratio = (logarithm - of(&search.model(near)).ln()).exp();
        start[0] = (start[0] / ratio).clamp(search.bounds[0].0, search.bounds[0].1);
        let weight = HOLD * candidate.scale.max(SCALE_MIN).sqrt();
        let bounds: Vec<Bounds> = search.bounds.clone();
        let found = least_squares(&start, &bounds, |at, out| {
            let model = search.model(at);
            self.data.residuals(&model, out);
            out.push(weight * (of(&model).ln() - logarithm));
        })?;
        let held = weight * (of(&search.model(&found.parameters)).ln() - logarithm);
        let squares = found.squares - held * held;
        // A bound of the search may keep it from there.
        (held.abs() < 1e-2 * weight).then_some((found.parameters, squares))
    }

    /// The other models in words, the likelier first.
    pub(crate) fn others(&self) -> Vec<String> {
        self.candidates[1..].iter().map(|one| one.fitted.model().words()).collect()
    }
}

/// The intervals of a model: of its parameters that others have, too, and of its curve. What is not known is empty, so that
/// it sets no end.
fn ends(fitted: &FittedModel, loads: &[f64], think_s: f64) -> Vec<(f64, f64)> {
    const NOTHING: (f64, f64) = (f64::MAX, f64::MIN);
    let mut all: Vec<(f64, f64)> = [Meaning::Service, Meaning::Latency]
        .iter()
        .map(|&meaning| {
            let found = fitted.value_of(meaning);
            found.map_or(NOTHING, |found| {
                (found.low.unwrap_or(found.value), found.high.unwrap_or(found.value))
            })
        })
        .collect();
    for users in loads {
        let band = fitted.own_curve(*users, think_s).1;
        all.push(band.map_or(NOTHING, |band| band.throughput_per_s));
        all.push(band.map_or(NOTHING, |band| band.response_s));
    }
    all
}
