//! Queueing models fitted to X(N) and R(N).
//!
//! Residuals are logarithms of ratios, so that a light load weighs as much as a heavy one, over the relative standard errors
//! where all are known. X and R of one measurement are two views of the same loop (N = X(R + Z)), not two independent
//! measurements: intervals count the points, not the numbers.

use super::curve::CapacityModel;
use super::fitted::{FittedModel, ModelForm};
use super::least_squares::{Bounds, Minimum, least_squares};

/// Repeated runs hardly agree better than this, whatever their own standard errors say.
const ERROR_LEAST: f64 = 0.005;

/// Numbers of servers that are tried when nobody says it.
const SERVERS_TRIED: [u32; 13] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64];

/// A measurement as a fit needs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FitPoint {
    pub(crate) users: f64,
    pub(crate) think_s: f64,
    pub(crate) throughput_per_s: f64,
    pub(crate) response_s: Option<f64>,
    /// Relative standard errors.
    pub(crate) throughput_error: Option<f64>,
    pub(crate) response_error: Option<f64>,
}

impl FitPoint {
    fn numbers(&self) -> usize {
        1 + usize::from(self.response_s.is_some())
    }
}

/// The measurements of a fit.
#[derive(Debug, Clone)]
pub(crate) struct FitData {
    pub(crate) points: Vec<FitPoint>,
    /// Whether each number has a standard error.
    pub(crate) has_errors: bool,
}

impl FitData {
    pub(crate) fn of(points: Vec<FitPoint>) -> FitData {
        let known = |point: &FitPoint| {
            point.throughput_error.is_some() && (point.response_s.is_none() || point.response_error.is_some())
        };
        FitData { has_errors: !points.is_empty() && points.iter().all(known), points }
    }

    /// Different numbers of users for which a response time is known.
    pub(crate) fn loads(&self) -> usize {
        let mut users: Vec<f64> =
            self.points.iter().filter(|point| point.response_s.is_some()).map(|point| point.users).collect();
        users.sort_unstable_by(f64::total_cmp);
        users.dedup();
        users.len()
    }

    pub(crate) fn best_per_s(&self) -> f64 {
        self.points.iter().map(|point| point.throughput_per_s).fold(0.0, f64::max)
    }

    fn shortest_s(&self) -> f64 {
        self.points.iter().filter_map(|point| point.response_s).fold(f64::INFINITY, f64::min)
    }

    /// The residuals of a model.
    fn residuals(&self, model: &CapacityModel, out: &mut Vec<f64>) {
        for point in &self.points {
            let found = model.predict(point.users, point.think_s);
            let mut add = |found: f64, measured: f64, error: Option<f64>| {
                let weight =
                    if self.has_errors { error.unwrap_or(1.0).max(ERROR_LEAST).recip() } else { 1.0 };
                out.push((found.max(1e-12) / measured).ln() * weight);
            };
            add(found.throughput_per_s, point.throughput_per_s, point.throughput_error);
            if let Some(measured) = point.response_s {
                add(found.response_s, measured, point.response_error);
            }
        }
    }
}

/// A form in the units in which it is searched.
struct Search {
    form: ModelForm,
    bounds: Vec<Bounds>,
    starts: Vec<Vec<f64>>,
    /// From what is searched to the parameters.
    to_parameters: Box<dyn Fn(&[f64]) -> Vec<f64>>,
}

fn one_queue(data: &FitData, servers: u32) -> Search {
    // A service time in units of that with which the best throughput would be the most there can be.
    let (unit, shortest_s) = (f64::from(servers) / data.best_per_s(), data.shortest_s());
    let start = |share: f64| {
        let service = share.min(0.9 * shortest_s / unit).max(1e-3);
        vec![service, ((shortest_s - service * unit) / shortest_s).max(0.01)]
    };
    Search {
        form: ModelForm::Queue { servers },
        bounds: vec![(1e-6, 2.0), (0.0, 2.0)],
        starts: [0.98, 0.7, 0.3].map(start).to_vec(),
        to_parameters: Box::new(move |at| vec![at[0] * unit, at[1] * shortest_s]),
    }
}

fn two_queues(data: &FitData) -> Search {
    let (unit, shortest_s) = (data.best_per_s().recip(), data.shortest_s());
    let start = |share: f64, ratio: f64| {
        let first = share.min(0.6 * shortest_s / unit).max(1e-3);
        vec![first, ratio, ((shortest_s - first * unit * (1.0 + ratio)) / shortest_s).max(0.01)]
    };
    Search {
        form: ModelForm::Queues { count: 2 },
        bounds: vec![(1e-6, 2.0), (0.0, 1.0), (0.0, 2.0)],
        starts: vec![start(0.98, 0.5), start(0.95, 0.9), start(0.6, 0.3)],
        to_parameters: Box::new(move |at| vec![at[0] * unit, at[0] * at[1] * unit, at[2] * shortest_s]),
    }
}

/// Fits one form; `None` when its parameters outnumber the loads, or no start leads anywhere.
fn fit(data: &FitData, search: &Search, searched_too: usize) -> Option<FittedModel> {
    let parameters = search.bounds.len();
    if data.loads() <= parameters {
        return None;
    }
    let model = |at: &[f64]| search.form.model(&(search.to_parameters)(at));
    let found = search
        .starts
        .iter()
        .filter_map(|start| least_squares(start, &search.bounds, |at, out| data.residuals(&model(at), out)))
        .min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let points = data.points.len() as f64;
    let numbers = data.points.iter().map(FitPoint::numbers).sum::<usize>() as f64;
    let free = found.at_bound.iter().filter(|at_bound| !**at_bound).count();
    let freedom = points - free as f64;
    // Variance of one number, times the numbers of a point: they are not independent of each other.
    let observed = found.squares / freedom;
    let scale = if data.has_errors { observed.max(numbers / points) } else { observed };
    let covariance = covariance_of_parameters(&found, search, scale);
    let k = (parameters + searched_too + 1) as f64;
    let aicc = (points - k - 1.0 > 0.0).then(|| {
        // Per point, as the points are what is independent.
        let mean_square = (found.squares / numbers).max(1e-16);
        points * mean_square.ln() + 2.0 * k + 2.0 * k * (k + 1.0) / (points - k - 1.0)
    });
    Some(FittedModel {
        form: search.form,
        parameters: (search.to_parameters)(&found.parameters),
        covariance,
        freedom,
        at_bound: found.at_bound.clone(),
        squares: found.squares,
        aicc,
    })
}

/// From the covariance of what is searched to that of the parameters.
fn covariance_of_parameters(found: &Minimum, search: &Search, scale: f64) -> Option<Vec<Vec<f64>>> {
    let inner = found.covariance.as_ref()?;
    let here = (search.to_parameters)(&found.parameters);
    let count = here.len();
    // ∂ parameter / ∂ searched.
    let slopes: Vec<Vec<f64>> = (0..count)
        .map(|j| {
            let step = 1e-6 * found.parameters[j].abs().max(1e-6);
            let mut moved = found.parameters.clone();
            moved[j] += step;
            (search.to_parameters)(&moved).iter().zip(&here).map(|(new, old)| (new - old) / step).collect()
        })
        .collect();
    let entry = |a: usize, b: usize| -> f64 {
        (0..count).map(|i| (0..count).map(|j| slopes[i][a] * inner[i][j] * slopes[j][b]).sum::<f64>()).sum()
    };
    Some((0..count).map(|a| (0..count).map(|b| scale * entry(a, b)).collect()).collect())
}

/// All forms that the measurements suffice for, the best one first. Among those within 2 of the least criterion the simpler
/// counts as better: fewer parameters, then fewer servers.
pub(crate) fn fit_all(data: &FitData, servers: Option<u32>) -> Vec<FittedModel> {
    let single: Vec<FittedModel> = match servers {
        Some(servers) => fit(data, &one_queue(data, servers), 0).into_iter().collect(),
        None => SERVERS_TRIED
            .iter()
            .filter_map(|&servers| fit(data, &one_queue(data, servers), usize::from(servers > 1)))
            .collect(),
    };
    let mut all = single;
    if servers.is_none() {
        all.extend(fit(data, &two_queues(data), 0));
    }
    // Too few points for the criterion: what lies nearer is better.
    let criterion = |fitted: &FittedModel| fitted.aicc.unwrap_or(1e6 + fitted.squares);
    let least = all.iter().map(criterion).fold(f64::INFINITY, f64::min);
    let simplicity = |fitted: &FittedModel| match fitted.form {
        ModelForm::Queue { servers: 1 } => 0,
        ModelForm::Queue { servers } => 1 + servers,
        ModelForm::Queues { .. } | ModelForm::Usl => 1_000,
    };
    all.sort_by(|a, b| {
        let is_near = |fitted: &FittedModel| criterion(fitted) <= least + 2.0;
        match (is_near(a), is_near(b)) {
            (true, true) => simplicity(a).cmp(&simplicity(b)),
            (false, false) => criterion(a).total_cmp(&criterion(b)),
            (a, b) => b.cmp(&a),
        }
    });
    all
}

/// The same form once more, for other measurements: without its covariance.
pub(crate) fn refit(data: &FitData, form: ModelForm) -> Option<Vec<f64>> {
    let search = match form {
        ModelForm::Queue { servers } => one_queue(data, servers),
        ModelForm::Queues { count: 2 } => two_queues(data),
        ModelForm::Queues { .. } | ModelForm::Usl => return None,
    };
    fit(data, &search, 0).map(|fitted| fitted.parameters)
}

/// The latency that, with these demands, lies nearest to the measured response times; and its variance.
pub(crate) fn fit_latency(data: &FitData, demands_s: &[f64]) -> Option<(f64, f64)> {
    let timed: Vec<&FitPoint> = data.points.iter().filter(|point| point.response_s.is_some()).collect();
    let shortest_s = data.shortest_s();
    if timed.is_empty() {
        return None;
    }
    let found = least_squares(&[0.5], &[(0.0, 2.0)], |at, out| {
        let model = CapacityModel::Queues { demands_s: demands_s.to_vec(), latency_s: at[0] * shortest_s };
        for point in &timed {
            let response_s = model.predict(point.users, point.think_s).response_s.max(1e-12);
            out.extend(point.response_s.map(|measured| (response_s / measured).ln()));
        }
    })?;
    let freedom = timed.len() as f64 - 1.0;
    let variance = match found.covariance {
        Some(covariance) if freedom > 0.0 => covariance[0][0] * found.squares / freedom * shortest_s.powi(2),
        _ => 0.0,
    };
    Some((found.parameters[0] * shortest_s, variance))
}
