//! Fits of capacity models to measurements at several loads, with findings.

use rand::Rng;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, FisherSnedecor};

use super::checks::{CheckedPoint, CheckedPoints, ExclusionReason, check_points};
use super::curve::{AsymptoticBounds, CapacityModel};
use super::curve_points::{CapacityCurvePoint, curve, predict_within_capacity};
use super::finding::{CapacityFinding, ReportedFinding};
use super::fit_settings::{FitSettings, ModelChoice, NEAR_SATURATION};
use super::fitted::{FittedModel, FittedPrediction, ModelForm};
use super::headroom::{CapacityRegion, Headroom, headroom};
use super::over_runs::bootstrap_over_runs;
use super::point::LoadPoint;
use super::profile::PlausibleModels;
use super::queue_fit::{FitData, FitPoint, fit_all, fit_latency};
use super::usl::{USL_POINTS_WANTED, UslFit, fit_usl};
use super::utilization_law::{ResourceDemand, demands};
use super::value::FittedValue;

/// Version of the JSON form.
pub const CAPACITY_VERSION: u32 = 1;

/// Minimum number of different numbers of users for a fit with intervals.
const LOADS_MIN: usize = 4;

/// All measurements are saturated if even the lowest throughput is more than this share of the capacity.
const SATURATED: f64 = 0.97;

/// The loads do not determine the capacity if the upper end of its interval is more than this many times the lower end.
const WIDE: f64 = 1.3;

/// Largest plausible c² of service times: the standard deviation is about three times the mean.
const SCV_PLAUSIBLE: f64 = 10.0;

/// The scalability law describes the throughputs better than the model if two conditions hold. The p-value of the ratio
/// of the residual variances is less than `USL_BETTER`. The model's throughputs have a relative error of at least
/// `USL_BETTER_MIN`.
const USL_BETTER: f64 = 0.01;
const USL_BETTER_MIN: f64 = 0.02;

/// Minimum relative error of the curve's throughput for which a point is reported. This is the required accuracy of
/// predictions.
const POOR_THROUGHPUT: f64 = 0.10;
/// Minimum relative error of the curve's response time for which a point is reported.
const POOR_RESPONSE: f64 = 0.25;

/// The method by which the parameters were determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FitMethod {
    /// The demands are the slopes of the utilization over the throughput.
    UtilizationLaw,
    /// Nonlinear least squares on X(N) and R(N).
    LeastSquares,
    /// The capacity 1/D_max is the best measured throughput.
    BestThroughput,
}

impl FitMethod {
    /// Description for reports.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            FitMethod::UtilizationLaw => "demands by the utilization law",
            FitMethod::LeastSquares => "least squares on X(N) and R(N)",
            FitMethod::BestThroughput => "the best measured throughput is the capacity",
        }
    }
}

/// A parameter of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// Name of the parameter.
    pub name: String,
    /// The unit: `s`, `1/s`, or empty.
    pub unit: &'static str,
    /// The estimate with the interval of the fit.
    #[serde(flatten)]
    pub fitted: FittedValue,
    /// The interval of the bootstrap over repeated runs; `None` without repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<(f64, f64)>,
    /// Whether the interval also covers other plausible models, such as models with another number of servers. The estimated
    /// capacity does not follow from such values, because it belongs to the chosen model.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub includes_other_models: bool,
}

/// A measurement and the values of the model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedPoint {
    /// The measurement.
    #[serde(flatten)]
    pub checked: CheckedPoint,
    /// Throughput X of the model per second.
    pub model_throughput_per_s: f64,
    /// Response time R of the model in seconds.
    pub model_response_s: f64,
}

/// A fitted capacity model.
#[derive(Debug, Clone, Serialize)]
pub struct CapacityFit {
    /// [`CAPACITY_VERSION`].
    pub version: u32,
    /// The findings, the most severe first.
    pub findings: Vec<ReportedFinding>,
    /// The factor by which the stated numbers of users were multiplied.
    pub users_times: u32,
    /// The think time of curves and bounds in seconds: the median of the measurements.
    pub think_s: f64,
    /// The model.
    pub model: CapacityModel,
    /// The method of the fit.
    pub method: FitMethod,
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// The measurements, ordered by users.
    pub points: Vec<ComparedPoint>,
    /// The asymptotic bounds; `None` for the scalability law.
    pub bounds: Option<AsymptoticBounds>,
    /// Capacity and headroom.
    pub headroom: Headroom,
    /// The Universal Scalability Law, fitted to the same throughputs; `None` with too few loads.
    pub usl: Option<UslFit>,
    /// Demands by the utilization law, if utilization is recorded.
    pub demands: Vec<ResourceDemand>,
    /// Points of the model's curve.
    pub curve: Vec<CapacityCurvePoint>,
    /// The model with the covariance of its parameters.
    pub fitted: FittedModel,
}

/// A fit was not possible.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{reason}")]
pub struct FitRefusal {
    /// The reason.
    pub reason: String,
    /// The findings of the checks.
    pub findings: Vec<ReportedFinding>,
}

impl CapacityFit {
    /// Checks measurements and fits a model to them. `random` is for the bootstrap over repeated runs.
    ///
    /// # Errors
    /// All measurements are excluded by the checks, or there are too few for the chosen model.
    pub fn new(
        points: &[LoadPoint],
        settings: &FitSettings,
        random: &mut (impl Rng + ?Sized),
    ) -> Result<CapacityFit, FitRefusal> {
        let CheckedPoints { mut points, mut findings, users_times } = check_points(points, &settings.check);
        if settings.choice == ModelChoice::Usl {
            // The scalability law also describes measurements beyond a peak, so these are not excluded.
            points.iter_mut().for_each(|point| {
                point.left_out = point.left_out.filter(|reason| *reason != ExclusionReason::BeyondPeak);
            });
        }
        let refuse = |reason: &str, findings: Vec<CapacityFinding>| {
            Err(FitRefusal { reason: reason.to_owned(), findings: reported(findings) })
        };
        let used: Vec<&CheckedPoint> = points.iter().filter(|point| point.left_out.is_none()).collect();
        if used.is_empty() {
            return refuse("no measurement is usable", findings);
        }
        let think_s = median_think_s(&used);
        let data = FitData::new(used.iter().map(|point| fit_point(point, think_s)).collect());
        if !data.has_errors {
            findings.push(CapacityFinding::NoStandardErrors);
        }
        let usl = fit_usl_to_points(&points);
        let measured: Vec<&LoadPoint> = used.iter().map(|point| &point.point).collect();
        let resources = demands(&measured, &mut findings);
        let mut region = None;
        let (method, fitted) = match settings.choice {
            ModelChoice::Usl => match &usl {
                Some(usl) => (FitMethod::LeastSquares, fitted_usl(usl)),
                None => {
                    return refuse(
                        "the Universal Scalability Law needs at least four different numbers of users",
                        findings,
                    );
                }
            },
            ModelChoice::Best => (FitMethod::BestThroughput, fit_best_throughput(&data, settings)),
            ModelChoice::Auto if !resources.is_empty() => {
                (FitMethod::UtilizationLaw, fit_by_utilization(&data, &resources, settings))
            }
            ModelChoice::Auto | ModelChoice::Queue => {
                let (method, fitted, plausible) = fit_queue(&data, settings, think_s, &mut findings);
                region = plausible;
                (method, fitted)
            }
        };
        let model = fitted.model();
        let bounds = model.bounds(think_s);
        let headroom = headroom(&fitted, region, &used, think_s, usl.as_ref(), settings);
        check_saturation(&fitted, &data, bounds, &headroom, &mut findings);
        findings.extend(check_model(&fitted, &data, usl.as_ref()));
        let compared = compare_points(&points, &model, think_s);
        check_residuals(&compared, bounds, &mut findings);
        if let Some(usl) = usl.as_ref().filter(|_| settings.choice == ModelChoice::Usl) {
            check_usl(usl, &mut findings);
        }
        let bootstrap = if method == FitMethod::LeastSquares {
            bootstrap_over_runs(&data, &fitted, random)
        } else {
            Vec::new()
        };
        Ok(CapacityFit {
            version: CAPACITY_VERSION,
            findings: reported(findings),
            users_times,
            think_s,
            parameters: parameters(&fitted, &resources, method, &bootstrap),
            points: compared,
            curve: curve(&fitted, &points, bounds, headroom.capacity_per_s, think_s),
            headroom,
            bounds,
            model,
            method,
            usl,
            demands: resources,
            fitted,
        })
    }

    /// The model's prediction for `users` with this think time, with the interval of the curve.
    #[must_use]
    pub fn predict(&self, users: f64, think_s: f64) -> FittedPrediction {
        predict_within_capacity(&self.fitted, self.headroom.capacity_per_s, users, think_s)
    }

    /// The JSON form.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        // Serialization cannot fail: all values are strings, numbers, lists and maps with string keys.
        serde_json::to_value(self).unwrap_or_default()
    }
}

fn median_think_s(points: &[&CheckedPoint]) -> f64 {
    let mut thinks: Vec<f64> = points.iter().filter_map(|point| point.point.think_s).collect();
    thinks.sort_unstable_by(f64::total_cmp);
    thinks.get(thinks.len() / 2).copied().unwrap_or(0.0)
}

/// Fits the plausible models of queues, and returns the region of their capacities. With too few loads, the best
/// throughput is the capacity.
fn fit_queue(
    data: &FitData,
    settings: &FitSettings,
    think_s: f64,
    findings: &mut Vec<CapacityFinding>,
) -> (FitMethod, FittedModel, Option<CapacityRegion>) {
    let all = if data.load_count() >= LOADS_MIN {
        fit_all(data, settings.servers, settings.service_scv)
    } else {
        vec![]
    };
    let Some(plausible) = PlausibleModels::select(data, all) else {
        let loads = data.load_count();
        findings.push(CapacityFinding::FewPoints { loads, wanted: LOADS_MIN });
        return (FitMethod::BestThroughput, fit_best_throughput(data, settings), None);
    };
    let models = plausible.alternatives();
    if !models.is_empty() {
        findings.push(CapacityFinding::OthersFitToo { models });
    }
    let region = CapacityRegion {
        capacity_per_s: plausible.capacity_per_s(think_s),
        knee_users: plausible.knee_users(think_s),
    };
    (FitMethod::LeastSquares, plausible.fitted(think_s), Some(region))
}

fn check_usl(usl: &UslFit, findings: &mut Vec<CapacityFinding>) {
    if usl.points < USL_POINTS_WANTED {
        findings.push(CapacityFinding::FewForUsl { points: usl.points });
    }
    if usl.curve.kappa == 0.0 {
        findings.push(CapacityFinding::NoCoherency);
    }
}

fn reported(mut findings: Vec<CapacityFinding>) -> Vec<ReportedFinding> {
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight()));
    findings.into_iter().map(ReportedFinding::from).collect()
}

fn fit_point(checked: &CheckedPoint, think_s: f64) -> FitPoint {
    let point = &checked.point;
    FitPoint {
        users: checked.users,
        think_s: point.think_s.unwrap_or(think_s),
        throughput_per_s: point.throughput_per_s,
        response_s: point.response_s,
        throughput_error: point.throughput_error.map(|error| error / point.throughput_per_s),
        response_error: point.response_s.zip(point.response_error_s).map(|(mean, error)| error / mean),
    }
}

/// Fits the scalability law to all valid measurements, including those beyond the peak.
fn fit_usl_to_points(points: &[CheckedPoint]) -> Option<UslFit> {
    let usl_points: Vec<_> = points
        .iter()
        .filter(|point| matches!(point.left_out, None | Some(ExclusionReason::BeyondPeak)))
        .map(|point| (point.users, point.point.throughput_per_s, point.point.throughput_error))
        .collect();
    fit_usl(&usl_points)
}

fn fitted_usl(usl: &UslFit) -> FittedModel {
    FittedModel {
        form: ModelForm::Usl,
        parameters: vec![usl.curve.lambda_per_s, usl.curve.sigma, usl.curve.kappa],
        covariance: Some(usl.covariance.clone()),
        freedom: usl.freedom,
        at_bound: [usl.lambda_per_s, usl.sigma, usl.kappa].iter().map(|value| value.high.is_none()).collect(),
        squares: 0.0,
        aicc: None,
        alternatives: Vec::new(),
    }
}

/// The form of one queue with the known properties; exponential service by default.
fn single_queue_form(settings: &FitSettings) -> ModelForm {
    match (settings.servers.unwrap_or(1), settings.service_scv) {
        (1, Some(scv)) => ModelForm::SingleServer { scv: Some(scv) },
        (servers, _) => ModelForm::Queue { servers },
    }
}

/// A queue whose capacity is the best measured throughput. The latency is estimated from the lightest load, if that has less
/// than half of the best throughput.
fn fit_best_throughput(data: &FitData, settings: &FitSettings) -> FittedModel {
    let form = single_queue_form(settings);
    let servers = settings.servers.unwrap_or(1);
    let best_per_s = data.best_per_s();
    let service_s = f64::from(servers) / best_per_s;
    let light = data
        .points
        .iter()
        .filter(|point| point.throughput_per_s < 0.5 * best_per_s)
        .min_by(|a, b| a.users.total_cmp(&b.users));
    let latency_s = light.map_or(0.0, |point| {
        let without_latency = form.model(&[service_s, 0.0]);
        let queue_s = without_latency.predict(point.users, point.think_s).response_s;
        point.response_s.map_or(0.0, |response_s| (response_s - queue_s).max(0.0))
    });
    FittedModel {
        form,
        parameters: vec![service_s, latency_s],
        covariance: None,
        freedom: 0.0,
        at_bound: vec![false; 2],
        squares: 0.0,
        aicc: None,
        alternatives: Vec::new(),
    }
}

/// Queues with the demands from the utilization law, and a latency fitted to the response times.
fn fit_by_utilization(data: &FitData, resources: &[ResourceDemand], settings: &FitSettings) -> FittedModel {
    let demands_s: Vec<f64> = resources.iter().map(|resource| resource.demand_s.value).collect();
    // The demand is the time that all m servers of the resource need together. One server alone takes m times as long.
    let form = match resources {
        [_] if settings.servers.is_some() || settings.service_scv.is_some() => single_queue_form(settings),
        _ => ModelForm::Queues { count: demands_s.len() },
    };
    let unit = match form {
        ModelForm::Queue { servers } => f64::from(servers),
        ModelForm::SingleServer { .. } | ModelForm::Queues { .. } | ModelForm::Usl => 1.0,
    };
    let mut parameters: Vec<f64> = demands_s.iter().map(|demand_s| demand_s * unit).collect();
    let with_latency = |latency_s: f64| form.model(&[&parameters[..], &[latency_s]].concat());
    let (latency_s, latency_variance) = fit_latency(data, with_latency).unwrap_or((0.0, 0.0));
    parameters.push(latency_s);
    let variances: Vec<f64> =
        resources.iter().map(|resource| resource.variance * unit * unit).chain([latency_variance]).collect();
    let freedom = resources.iter().map(|resource| resource.freedom).fold(f64::INFINITY, f64::min);
    let covariance = (0..variances.len())
        .map(|i| (0..variances.len()).map(|j| if i == j { variances[i] } else { 0.0 }).collect())
        .collect();
    FittedModel {
        form,
        at_bound: variances.iter().map(|variance| *variance == 0.0).collect(),
        parameters,
        covariance: (freedom > 0.0).then_some(covariance),
        freedom,
        squares: 0.0,
        aicc: None,
        alternatives: Vec::new(),
    }
}

/// Reports findings if the loads do not range from light to saturated.
fn check_saturation(
    fitted: &FittedModel,
    data: &FitData,
    bounds: Option<AsymptoticBounds>,
    headroom: &Headroom,
    findings: &mut Vec<CapacityFinding>,
) {
    let Some(bounds) = bounds.filter(|_| fitted.covariance.is_some()) else { return };
    let utilizations = data.points.iter().map(|point| point.throughput_per_s / bounds.throughput_max_per_s);
    let (lowest, highest) = utilizations.fold((f64::INFINITY, 0.0_f64), |(low, high), utilization| {
        (low.min(utilization), high.max(utilization))
    });
    if highest < NEAR_SATURATION {
        findings.push(CapacityFinding::NotNearSaturation { utilization: highest });
    } else if let Some(FittedValue { value, low: Some(low), high }) = headroom.capacity_per_s
        && high.is_none_or(|high| high > WIDE * low)
    {
        let reached = data.best_per_s() / value;
        findings.push(CapacityFinding::CapacityNotDetermined { reached, low_per_s: low, high_per_s: high });
    }
    if lowest > SATURATED {
        findings.push(CapacityFinding::AllSaturated);
    }
}

/// Reports findings if the model has an implausible parameter, or describes the throughputs worse than the scalability law.
fn check_model(fitted: &FittedModel, data: &FitData, usl: Option<&UslFit>) -> Vec<CapacityFinding> {
    let mut findings = Vec::new();
    if let (ModelForm::SingleServer { scv: None }, Some(&scv)) = (fitted.form, fitted.parameters.get(2))
        && scv > SCV_PLAUSIBLE
    {
        findings.push(CapacityFinding::ImplausibleVariability { scv });
    }
    let Some(usl) = usl.filter(|_| fitted.form != ModelForm::Usl && fitted.covariance.is_some()) else {
        return findings;
    };
    let model = fitted.model();
    let squares = |predict: &dyn Fn(&FitPoint) -> f64| -> f64 {
        data.points.iter().map(|point| (predict(point) / point.throughput_per_s).ln().powi(2)).sum()
    };
    let queue = squares(&|point| model.predict(point.users, point.think_s).throughput_per_s);
    let law = squares(&|point| usl.curve.throughput_per_s(point.users));
    let points = data.points.len() as f64;
    let (queue_freedom, law_freedom) = (points - fitted.parameters.len() as f64, points - 3.0);
    let Ok(test) = FisherSnedecor::new(queue_freedom, law_freedom) else { return findings };
    let queue_off = (queue / points).sqrt();
    let ratio = (queue / queue_freedom) / (law / law_freedom);
    if queue_off > USL_BETTER_MIN && ratio.is_finite() && test.sf(ratio) < USL_BETTER {
        let law_off = (law / points).sqrt();
        findings.push(CapacityFinding::ScalabilityLawFitsBetter { queue_off, law_off });
    }
    findings
}

fn compare_points(points: &[CheckedPoint], model: &CapacityModel, think_s: f64) -> Vec<ComparedPoint> {
    let compare = |checked: &CheckedPoint| {
        let found = model.predict(checked.users, checked.point.think_s.unwrap_or(think_s));
        ComparedPoint {
            checked: checked.clone(),
            model_throughput_per_s: found.throughput_per_s,
            model_response_s: found.response_s,
        }
    };
    points.iter().filter(|point| point.left_out != Some(ExclusionReason::NotUsable)).map(compare).collect()
}

/// Reports points that are far from the curve or exceed the capacity of the model.
fn check_residuals(
    points: &[ComparedPoint],
    bounds: Option<AsymptoticBounds>,
    findings: &mut Vec<CapacityFinding>,
) {
    for compared in points.iter().filter(|compared| compared.checked.left_out.is_none()) {
        let point = &compared.checked.point;
        let noise = 3.0 * point.throughput_error.unwrap_or(0.0);
        if let Some(capacity_per_s) = bounds.map(|bounds| bounds.throughput_max_per_s)
            && point.throughput_per_s > capacity_per_s * 1.03 + noise
        {
            findings.push(CapacityFinding::BeyondCapacity {
                point: point.name.clone(),
                throughput_per_s: point.throughput_per_s,
                capacity_per_s,
            });
        }
        let mut check = |what: &str, model: f64, measured: f64, limit: f64| {
            let off = model / measured - 1.0;
            if off.abs() > limit {
                let (point, what) = (point.name.clone(), what.to_owned());
                findings.push(CapacityFinding::PoorFit { point, what, off });
            }
        };
        check("throughput", compared.model_throughput_per_s, point.throughput_per_s, POOR_THROUGHPUT);
        if let Some(measured) = point.response_s {
            check("response time", compared.model_response_s, measured, POOR_RESPONSE);
        }
    }
}

fn parameters(
    fitted: &FittedModel,
    resources: &[ResourceDemand],
    method: FitMethod,
    bootstrap: &[(f64, f64)],
) -> Vec<Parameter> {
    let unit = |at: usize| match (fitted.form, at) {
        (ModelForm::Usl, 0) => "1/s",
        (ModelForm::Usl, _) | (ModelForm::SingleServer { scv: None }, 2) => "",
        _ => "s",
    };
    let name = |at: usize, name: String| match (method, resources.get(at)) {
        (FitMethod::UtilizationLaw, Some(resource)) => format!("demand at {}", resource.resource),
        _ => name,
    };
    let names = fitted.form.names();
    names
        .into_iter()
        .enumerate()
        .map(|(at, form_name)| Parameter {
            name: name(at, form_name),
            unit: unit(at),
            fitted: fitted.value(at),
            bootstrap: bootstrap.get(at).copied(),
            includes_other_models: fitted.is_widened(at),
        })
        .collect()
}
