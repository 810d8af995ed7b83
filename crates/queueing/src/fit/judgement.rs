//! Validation: tests whether a model describes measurements that it was not fitted to.
//!
//! The residual of a measurement is the logarithm of the ratio of prediction and measurement. It is divided by its standard
//! error. This combines the standard error of the measurement, the standard error of the model's curve if it is known, and the
//! allowed relative error of the model (`allowed`). If the model describes the system, the sum of the squares has a χ²
//! distribution (Jain, "The Art of Computer Systems Performance Analysis", 1991, chapter 25 on validation). X and R of a
//! measurement are not independent, so there is a separate sum for each of them; the smaller p-value, doubled (Bonferroni),
//! decides.

use serde::Serialize;
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::checks::{CheckSettings, CheckedPoint, CheckedPoints, ExclusionReason, check_points};
use super::finding::{CapacityFinding, ReportedFinding};
use super::point::LoadPoint;
use super::value::FittedValue;

/// Version of the JSON form.
pub const JUDGEMENT_VERSION: u32 = 1;

/// Settings of a validation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgeSettings {
    /// Settings of the checks of measurements.
    pub check: CheckSettings,
    /// Allowed relative error of the model, 0 or more.
    pub allowed: f64,
    /// Default relative standard error of measurements; `None`: measurements without a standard error are not tested.
    pub measurement_error: Option<f64>,
    /// The model is rejected if the p-value is less than this.
    pub significance: f64,
}

impl Default for JudgeSettings {
    fn default() -> JudgeSettings {
        JudgeSettings {
            check: CheckSettings::default(),
            allowed: 0.05,
            measurement_error: None,
            significance: 0.01,
        }
    }
}

/// The prediction of a model for a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelPrediction {
    /// Throughput X per second, with its interval if it is known.
    pub throughput_per_s: FittedValue,
    /// Response time R in seconds.
    pub response_s: FittedValue,
}

/// A predicted and a measured value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeasuredComparison {
    /// The predicted value.
    pub model: FittedValue,
    /// The measured value.
    pub measured: f64,
    /// Relative error of the prediction: prediction / measurement − 1.
    pub off: f64,
    /// Residual in standard errors; `None` if the standard error of the measurement is unknown.
    pub errors_off: Option<f64>,
}

/// A measurement and the predictions for it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedPoint {
    /// The measurement.
    #[serde(flatten)]
    pub checked: CheckedPoint,
    /// Throughput per second.
    pub throughput: MeasuredComparison,
    /// Response time in seconds; `None` if it was not measured.
    pub response: Option<MeasuredComparison>,
}

/// A test of all measurements together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChiSquareTest {
    /// Sum of the squared residuals.
    pub statistic: f64,
    /// Degrees of freedom: the number of measurements.
    pub freedom: u32,
    /// Probability of a sum at least this large if the model describes the system.
    pub p_value: f64,
}

/// The verdict on a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelVerdict {
    /// There is no evidence against the model.
    #[serde(rename = "kept")]
    NotRejected,
    /// The model does not describe the measurements.
    Rejected,
    /// The precision of the measurements is unknown, or no measurement is usable.
    NotJudged,
}

/// The result of a validation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelJudgement {
    /// [`JUDGEMENT_VERSION`].
    pub version: u32,
    /// The findings about the measurements and the model.
    pub findings: Vec<ReportedFinding>,
    /// The factor by which the stated numbers of users were multiplied.
    pub users_times: u32,
    /// The measurements, ordered by users.
    pub points: Vec<JudgedPoint>,
    /// The test of the throughputs.
    pub throughput_test: Option<ChiSquareTest>,
    /// The test of the response times.
    pub response_test: Option<ChiSquareTest>,
    /// p-value of both tests together; `None` if there is no test.
    pub p_value: Option<f64>,
    /// The p-value below which the model is rejected.
    pub significance: f64,
    /// Allowed relative error of the model.
    pub allowed: f64,
    /// The verdict.
    pub verdict: ModelVerdict,
}

impl ModelJudgement {
    /// The JSON form.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        // Serialization cannot fail: all values are strings, numbers, lists and maps with string keys.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Validates a model against measurements. `predict` returns the prediction for a number of users and their think time in
/// seconds. If neither the measurement nor the settings define the think time, it is `None`, and the model uses its own.
/// `capacity_per_s` is the capacity of the model.
///
/// # Errors
/// The errors of `predict`.
pub fn judge_model<E>(
    points: &[LoadPoint],
    settings: &JudgeSettings,
    capacity_per_s: Option<f64>,
    mut predict: impl FnMut(f64, Option<f64>) -> Result<ModelPrediction, E>,
) -> Result<ModelJudgement, E> {
    let CheckedPoints { points, mut findings, users_times } = check_points(points, &settings.check);
    let mut judged = Vec::new();
    for checked in points.into_iter().filter(|point| point.left_out != Some(ExclusionReason::NotUsable)) {
        let prediction = predict(checked.users, checked.point.think_s)?;
        let point = &checked.point;
        let throughput =
            compare(prediction.throughput_per_s, point.throughput_per_s, point.throughput_error, settings);
        let response = point
            .response_s
            .map(|measured| compare(prediction.response_s, measured, point.response_error_s, settings));
        let noise = 3.0 * point.throughput_error.unwrap_or(0.0);
        if let Some(capacity_per_s) = capacity_per_s
            && checked.left_out.is_none()
            && point.throughput_per_s > capacity_per_s * 1.01 + noise
        {
            findings.push(CapacityFinding::BeyondCapacity {
                point: point.name.clone(),
                throughput_per_s: point.throughput_per_s,
                capacity_per_s,
            });
        }
        judged.push(JudgedPoint { throughput, response, checked });
    }
    // A queueing model is also compared with measurements beyond a peak, because it predicts that there is no peak.
    let is_tested =
        |point: &&JudgedPoint| matches!(point.checked.left_out, None | Some(ExclusionReason::BeyondPeak));
    let throughput_test =
        chi_square(judged.iter().filter(is_tested).map(|point| point.throughput.errors_off));
    let response_test =
        chi_square(judged.iter().filter(is_tested).filter_map(|point| Some(point.response?.errors_off)));
    let tests: Vec<f64> =
        [throughput_test, response_test].iter().flatten().map(|test| test.p_value).collect();
    let p_value = (!tests.is_empty())
        .then(|| (tests.iter().copied().fold(1.0, f64::min) * tests.len() as f64).min(1.0));
    if p_value.is_none() {
        findings.push(CapacityFinding::NoStandardErrors);
    }
    let verdict = match p_value {
        None => ModelVerdict::NotJudged,
        Some(p_value) if p_value < settings.significance => ModelVerdict::Rejected,
        Some(_) => ModelVerdict::NotRejected,
    };
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.weight()));
    Ok(ModelJudgement {
        version: JUDGEMENT_VERSION,
        findings: findings.into_iter().map(ReportedFinding::from).collect(),
        users_times,
        points: judged,
        throughput_test,
        response_test,
        p_value,
        significance: settings.significance,
        allowed: settings.allowed,
        verdict,
    })
}

fn compare(
    model: FittedValue,
    measured: f64,
    error: Option<f64>,
    settings: &JudgeSettings,
) -> MeasuredComparison {
    let measurement_error = error.map(|error| error / measured).or(settings.measurement_error);
    // Half the width of an interval is about two standard errors.
    let model_error = match (model.low, model.high) {
        (Some(low), Some(high)) if low > 0.0 => (high / low).ln() / (2.0 * 1.96),
        _ => 0.0,
    };
    let errors_off = measurement_error.map(|measurement_error| {
        let error = (measurement_error.powi(2) + model_error.powi(2) + settings.allowed.powi(2)).sqrt();
        (model.value.max(1e-12) / measured).ln() / error.max(1e-12)
    });
    MeasuredComparison { model, measured, off: model.value / measured - 1.0, errors_off }
}

/// The χ² test of the known residuals; `None` if there are none.
fn chi_square(errors_off: impl Iterator<Item = Option<f64>>) -> Option<ChiSquareTest> {
    let known: Vec<f64> = errors_off.flatten().collect();
    let statistic: f64 = known.iter().map(|value| value * value).sum();
    let law = ChiSquared::new(known.len() as f64).ok()?;
    Some(ChiSquareTest { statistic, freedom: known.len() as u32, p_value: law.sf(statistic) })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::fit::curve::CapacityModel;

    const MODEL: CapacityModel = CapacityModel::Queue { servers: 1, service_s: 0.01, latency_s: 0.005 };

    fn judge(points: &[LoadPoint], settings: &JudgeSettings) -> ModelJudgement {
        let capacity = MODEL.bounds(1.0).map(|bounds| bounds.throughput_max_per_s);
        let judged = judge_model(points, settings, capacity, |users, think_s| {
            let found = MODEL.predict(users, think_s.unwrap_or(1.0));
            Ok::<_, Infallible>(ModelPrediction {
                throughput_per_s: FittedValue::without_interval(found.throughput_per_s),
                response_s: FittedValue::without_interval(found.response_s),
            })
        });
        judged.unwrap_or_else(|never| match never {})
    }

    /// Measurements with a relative error of `off` in the response time, and with relative standard errors of 2 %.
    fn measured(off: f64, with_errors: bool) -> Vec<LoadPoint> {
        [40.0, 80.0, 120.0]
            .iter()
            .map(|&users| {
                let found = MODEL.predict(users, 1.0);
                let response_s = found.response_s * (1.0 + off);
                let throughput_per_s = users / (response_s + 1.0);
                LoadPoint {
                    name: format!("{users} users"),
                    users,
                    throughput_per_s,
                    response_s: Some(response_s),
                    throughput_error: with_errors.then_some(0.02 * throughput_per_s),
                    response_error_s: with_errors.then_some(0.02 * response_s),
                    think_s: Some(1.0),
                    ..LoadPoint::default()
                }
            })
            .collect()
    }

    #[test]
    fn wrong_models_are_rejected_and_true_ones_are_not() {
        let settings = JudgeSettings::default();
        let not_rejected = judge(&measured(0.03, true), &settings);
        assert_eq!((not_rejected.verdict, not_rejected.points.len()), (ModelVerdict::NotRejected, 3));
        let rejected = judge(&measured(0.6, true), &settings);
        assert_eq!(rejected.verdict, ModelVerdict::Rejected);
        assert!(rejected.p_value.is_some_and(|p| p < 1e-6));
        let off = rejected.points[0].response.map(|comparison| comparison.off);
        assert!(off.is_some_and(|off| (off - (1.0 / 1.6 - 1.0)).abs() < 1e-9), "{off:?}");
    }

    #[test]
    fn chi_square_calculated_by_hand() {
        // One residual of two standard errors: P(χ²₁ > 4) = 0.0455.
        let test = chi_square([Some(2.0), None].into_iter()).unwrap();
        assert_eq!(test.freedom, 1);
        assert!((test.p_value - 0.045_500_26).abs() < 1e-6, "{test:?}");
        assert_eq!(chi_square([None].into_iter()), None);
    }

    #[test]
    fn without_standard_errors_there_is_no_verdict() {
        let found = judge(&measured(0.6, false), &JudgeSettings::default());
        assert_eq!((found.verdict, found.p_value), (ModelVerdict::NotJudged, None));
        assert!(found.findings.iter().any(|reported| reported.finding == CapacityFinding::NoStandardErrors));
        let assumed = JudgeSettings { measurement_error: Some(0.02), ..JudgeSettings::default() };
        assert_eq!(judge(&measured(0.6, false), &assumed).verdict, ModelVerdict::Rejected);
    }

    #[test]
    fn measurements_above_the_capacity_are_reported() {
        let beyond = LoadPoint {
            name: "beyond".into(),
            users: 300.0,
            throughput_per_s: 130.0,
            ..LoadPoint::default()
        };
        let found = judge(&[beyond], &JudgeSettings::default());
        assert!(
            found
                .findings
                .iter()
                .any(|reported| matches!(reported.finding, CapacityFinding::BeyondCapacity { .. }))
        );
    }
}
