//! Fits of queueing models to X(N) and R(N).
//!
//! Residuals are logarithms of ratios, so light loads have the same weight as heavy loads. They are divided by the relative
//! standard errors if all of them are known. X and R of a measurement are not independent (N = X(R + Z)), so intervals are
//! based on the number of points, not on the number of values.

use super::curve::CapacityModel;
use super::fitted::{FittedModel, ModelForm};
use super::least_squares::{Bounds, Minimum, least_squares};

/// Relative difference between repeated runs in addition to their standard errors; the squares are added.
pub(super) const ERROR_BETWEEN_RUNS: f64 = 0.02;

/// Upper bound of the fitted c² of service times.
const SCV_MAX: f64 = 30.0;

/// Penalty per parameter in the criterion of the choice if there are too few points for Akaike's corrected criterion. It is
/// larger than any misfit.
const PARAMETER_PENALTY: f64 = 1e6;

/// Numbers of servers that are tried by default.
const SERVERS_TRIED: [u32; 13] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64];

/// A measurement as the input of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FitPoint {
    pub(crate) users: f64,
    pub(crate) think_s: f64,
    pub(crate) throughput_per_s: f64,
    pub(crate) response_s: Option<f64>,
    /// Relative standard error of the throughput.
    pub(crate) throughput_error: Option<f64>,
    pub(crate) response_error: Option<f64>,
}

impl FitPoint {
    /// Number of measured values.
    fn value_count(&self) -> usize {
        1 + usize::from(self.response_s.is_some())
    }
}

/// The measurements of a fit.
#[derive(Debug, Clone)]
pub(crate) struct FitData {
    pub(crate) points: Vec<FitPoint>,
    /// Whether all measured values have standard errors.
    pub(crate) has_errors: bool,
}

impl FitData {
    pub(crate) fn new(points: Vec<FitPoint>) -> FitData {
        let has_errors = |point: &FitPoint| {
            point.throughput_error.is_some() && (point.response_s.is_none() || point.response_error.is_some())
        };
        FitData { has_errors: !points.is_empty() && points.iter().all(has_errors), points }
    }

    /// The number of distinct numbers of users with a measured response time.
    pub(crate) fn load_count(&self) -> usize {
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

    /// Number of measured values of all points.
    fn value_count(&self) -> f64 {
        self.points.iter().map(FitPoint::value_count).sum::<usize>() as f64
    }

    /// Appends the weighted residuals of a model to `out`.
    pub(super) fn residuals(&self, model: &CapacityModel, out: &mut Vec<f64>) {
        for point in &self.points {
            let found = model.predict(point.users, point.think_s);
            let mut add = |found: f64, measured: f64, error: Option<f64>| {
                let weight = if self.has_errors {
                    error.unwrap_or(1.0).hypot(ERROR_BETWEEN_RUNS).recip()
                } else {
                    1.0
                };
                out.push((found.max(1e-12) / measured).ln() * weight);
            };
            add(found.throughput_per_s, point.throughput_per_s, point.throughput_error);
            if let Some(measured) = point.response_s {
                add(found.response_s, measured, point.response_error);
            }
        }
    }
}

/// The search for the parameters of a form, in scaled variables. In all forms the first variable is the ratio of the best
/// measured throughput and the capacity.
pub(super) struct Search {
    pub(super) form: ModelForm,
    pub(super) bounds: Vec<Bounds>,
    starts: Vec<Vec<f64>>,
    /// Converts the variables to the parameters.
    to_parameters: Box<dyn Fn(&[f64]) -> Vec<f64>>,
}

impl Search {
    /// The model at a point of the search.
    pub(super) fn model(&self, at: &[f64]) -> CapacityModel {
        self.form.model(&(self.to_parameters)(at))
    }
}

fn one_queue(data: &FitData, servers: u32) -> Search {
    // The unit is the service time for which the best throughput equals the capacity.
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

/// One server whose service times have the given c². With `None`, c² is fitted as well.
fn single_server(data: &FitData, scv: Option<f64>) -> Search {
    let simple = one_queue(data, 1);
    let (unit, shortest_s) = (data.best_per_s().recip(), data.shortest_s());
    let (mut bounds, mut starts) = (simple.bounds, simple.starts);
    if scv.is_none() {
        bounds.push((0.0, SCV_MAX));
        starts = [0.1, 1.0, 4.0]
            .iter()
            .flat_map(|scv| starts.iter().map(|start| [&start[..], &[*scv]].concat()))
            .collect();
    }
    Search {
        form: ModelForm::SingleServer { scv },
        bounds,
        starts,
        to_parameters: Box::new(move |at| {
            [at[0] * unit, at[1] * shortest_s].into_iter().chain(at.get(2).copied()).collect()
        }),
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

/// A fitted form.
pub(crate) struct Candidate {
    pub(super) search: Search,
    /// The variables at the end of the search.
    pub(super) at: Vec<f64>,
    pub(crate) fitted: FittedModel,
    /// Variance of a residual.
    pub(super) scale: f64,
    /// The criterion of the choice; lower is better.
    criterion: f64,
}

/// Fits a form. `None` if there are not more loads than parameters, or if the search fails for all starts. `extra_parameters` is
/// the number of parameters besides those of the form, such as the number of servers.
fn fit(data: &FitData, search: Search, extra_parameters: usize) -> Option<Candidate> {
    let parameters = search.bounds.len();
    if data.load_count() <= parameters {
        return None;
    }
    let found = search
        .starts
        .iter()
        .filter_map(|start| {
            least_squares(start, &search.bounds, |at, out| data.residuals(&search.model(at), out))
        })
        .min_by(|a, b| a.squares.total_cmp(&b.squares))?;
    let points = data.points.len() as f64;
    let values = data.value_count();
    let free = found.at_bound.iter().filter(|at_bound| !**at_bound).count();
    let freedom = points - free as f64;
    // The variance of a value times the number of values per point, because the values of a point are not independent.
    let observed = found.squares / freedom;
    let scale = if data.has_errors { observed.max(values / points) } else { observed };
    let covariance = covariance_of_parameters(&found, &search, scale);
    let k = (parameters + extra_parameters + 1) as f64;
    // The likelihood is based on points, because only different points are independent.
    let misfit = points * (found.squares / values).max(1e-16).ln() + 2.0 * k;
    let aicc = (points - k - 1.0 > 0.0).then(|| misfit + 2.0 * k * (k + 1.0) / (points - k - 1.0));
    let fitted = FittedModel {
        form: search.form,
        parameters: (search.to_parameters)(&found.parameters),
        covariance,
        freedom,
        at_bound: found.at_bound.clone(),
        squares: found.squares,
        aicc,
        alternatives: Vec::new(),
    };
    // If there are too few points for the corrected criterion, the form with the fewest parameters is chosen; among forms with
    // equally many parameters, the best fit.
    Some(Candidate {
        criterion: aicc.unwrap_or(PARAMETER_PENALTY * k + misfit),
        at: found.parameters,
        search,
        fitted,
        scale,
    })
}

/// Converts the covariance of the variables to the covariance of the parameters.
fn covariance_of_parameters(found: &Minimum, search: &Search, scale: f64) -> Option<Vec<Vec<f64>>> {
    let inner = found.covariance.as_ref()?;
    let parameters = (search.to_parameters)(&found.parameters);
    let count = parameters.len();
    // ∂ parameter / ∂ variable.
    let slopes: Vec<Vec<f64>> = (0..count)
        .map(|j| {
            let step = 1e-6 * found.parameters[j].abs().max(1e-6);
            let mut moved = found.parameters.clone();
            moved[j] += step;
            (search.to_parameters)(&moved)
                .iter()
                .zip(&parameters)
                .map(|(new, old)| (new - old) / step)
                .collect()
        })
        .collect();
    let entry = |a: usize, b: usize| -> f64 {
        (0..count).map(|i| (0..count).map(|j| slopes[i][a] * inner[i][j] * slopes[j][b]).sum::<f64>()).sum()
    };
    Some((0..count).map(|a| (0..count).map(|b| scale * entry(a, b)).collect()).collect())
}

/// Fits all forms for which there are sufficient measurements; the best one is first. Among forms whose criterion is within 2 of
/// the lowest, the simplest is the best: fewer parameters, then exponential service, then fewer servers.
///
/// Exponential and constant service are two forms with the same number of parameters. A fitted c² is one more parameter.
pub(crate) fn fit_all(data: &FitData, servers: Option<u32>, scv: Option<f64>) -> Vec<Candidate> {
    let tried: Vec<(Search, usize)> = match (servers, scv) {
        (Some(servers), _) if servers > 1 => vec![(one_queue(data, servers), 0)],
        (_, Some(scv)) => vec![(single_server(data, Some(scv)), 0)],
        (servers, None) => {
            let counts = if servers.is_some() { &SERVERS_TRIED[..1] } else { &SERVERS_TRIED };
            let queues = counts.iter().map(|&count| (one_queue(data, count), usize::from(count > 1)));
            let single_servers = [Some(0.0), None].map(|scv| (single_server(data, scv), 0));
            let two = servers.is_none().then(|| (two_queues(data), 0));
            queues.chain(single_servers).chain(two).collect()
        }
    };
    let mut all: Vec<Candidate> = tried
        .into_iter()
        .filter_map(|(search, extra_parameters)| fit(data, search, extra_parameters))
        .collect();
    let lowest = all.iter().map(|candidate| candidate.criterion).fold(f64::INFINITY, f64::min);
    let complexity = |candidate: &Candidate| match candidate.fitted.form {
        ModelForm::Queue { servers: 1 } => 0,
        ModelForm::SingleServer { scv: Some(_) } => 1,
        ModelForm::Queue { servers } => 1 + servers,
        ModelForm::SingleServer { scv: None } => 1_000,
        ModelForm::Queues { .. } | ModelForm::Usl => 1_001,
    };
    all.sort_by(|a, b| {
        let is_near = |candidate: &Candidate| candidate.criterion <= lowest + 2.0;
        match (is_near(a), is_near(b)) {
            (true, true) => complexity(a).cmp(&complexity(b)),
            (false, false) => a.criterion.total_cmp(&b.criterion),
            (a, b) => b.cmp(&a),
        }
    });
    all
}

/// Fits the parameters of a form to other measurements.
pub(crate) fn refit(data: &FitData, form: ModelForm) -> Option<Vec<f64>> {
    let search = match form {
        ModelForm::Queue { servers } => one_queue(data, servers),
        ModelForm::SingleServer { scv } => single_server(data, scv),
        ModelForm::Queues { count: 2 } => two_queues(data),
        ModelForm::Queues { .. } | ModelForm::Usl => return None,
    };
    fit(data, search, 0).map(|found| found.fitted.parameters)
}

/// Fits the latency of `model` to the measured response times. Returns the latency and its variance.
pub(crate) fn fit_latency(data: &FitData, model: impl Fn(f64) -> CapacityModel) -> Option<(f64, f64)> {
    let timed: Vec<&FitPoint> = data.points.iter().filter(|point| point.response_s.is_some()).collect();
    let shortest_s = data.shortest_s();
    if timed.is_empty() {
        return None;
    }
    let found = least_squares(&[0.5], &[(0.0, 2.0)], |at, out| {
        let model = model(at[0] * shortest_s);
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
