//! Checks of measurements against operational laws, which hold for every system and all distributions.
//!
//! The laws (Denning & Buzen, "The Operational Analysis of Queueing Network Models", Computing Surveys 10, 1978) are:
//!
//! * Little's law for the whole loop, N = X(R + Z), and for parts of it
//! * the utilization law U = X·S with U ≤ 1, and therefore X ≤ 1/S_max
//!
//! In addition, the throughput of a network of queues does not decrease with more users.

use serde::{Deserialize, Serialize};

use super::finding::CapacityFinding;
use super::point::LoadPoint;

/// Relative difference between N and X(R + Z) that is not reported: users start, end and are counted at other times than
/// requests.
const POPULATION_TOLERANCE: f64 = 0.10;

/// A measurement is excluded if its relative difference is at least this.
const POPULATION_LIMIT: f64 = 0.25;

/// Several generators are assumed if no ratio X(R + Z)/N differs from an integer by a larger relative difference.
const WHOLE_TOLERANCE: f64 = 0.20;

/// If N is at least this many times X(R + Z), it may be the number of samples.
const SAMPLES_RATIO: f64 = 20.0;

/// A throughput is a decrease if it is less than the peak by at least this share and by three standard errors.
const DECREASE_MIN: f64 = 0.05;

/// Maximum measurement error of a utilization.
const UTILIZATION_SLACK: f64 = 0.005;

/// Think times of one system under test are considered equal within this relative difference.
const THINK_TOLERANCE: f64 = 0.10;

/// How measurements are checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheckSettings {
    /// Default think time of measurements in seconds.
    pub think_s: Option<f64>,
    /// Measurements with a larger share of failed requests are excluded.
    pub errors_max: f64,
    /// Whether X(R + Z) is used as the number of users if it can be computed.
    pub users_by_law: bool,
}

impl Default for CheckSettings {
    fn default() -> CheckSettings {
        CheckSettings { think_s: None, errors_max: 0.01, users_by_law: false }
    }
}

/// Why a measurement is excluded from the fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExclusionReason {
    /// A value is missing or invalid.
    NotUsable,
    /// Too many requests failed.
    Errors,
    /// The number of users contradicts Little's law.
    WrongPopulation,
    /// The throughput is lower than with fewer users. Queues have no such peak, but the Universal Scalability Law has one.
    #[serde(rename = "behind_peak")]
    BeyondPeak,
}

impl ExclusionReason {
    /// Label for reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            ExclusionReason::NotUsable => "not usable",
            ExclusionReason::Errors => "errors",
            ExclusionReason::WrongPopulation => "wrong users",
            ExclusionReason::BeyondPeak => "beyond the peak",
        }
    }
}

/// A measurement with the results of its checks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckedPoint {
    /// The measurement as given, with an estimated think time if it had none.
    pub point: LoadPoint,
    /// The number of users for the fit: as stated, a multiple of it, or by Little's law.
    pub users: f64,
    /// Why the measurement is excluded from the fit; `None` if it is included.
    pub left_out: Option<ExclusionReason>,
}

/// The results of the checks.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedPoints {
    /// The measurements, ordered by users.
    pub points: Vec<CheckedPoint>,
    /// The findings.
    pub findings: Vec<CapacityFinding>,
    /// The factor by which the stated numbers of users were multiplied.
    pub users_times: u32,
}

/// Checks measurements of one system.
#[must_use]
pub fn check_points(points: &[LoadPoint], settings: &CheckSettings) -> CheckedPoints {
    let mut findings = Vec::new();
    let mut checked: Vec<CheckedPoint> = points
        .iter()
        .map(|point| {
            let think_s = point.think_s.or(settings.think_s);
            let point = LoadPoint { think_s, ..point.clone() };
            CheckedPoint { users: point.users, left_out: None, point }
        })
        .collect();
    checked.sort_by(|a, b| a.users.total_cmp(&b.users));
    for checked in &mut checked {
        check_point(checked, settings, &mut findings);
    }
    let users_times = check_populations(&mut checked, settings, &mut findings);
    estimate_think_times(&mut checked, &mut findings);
    checked.sort_by(|a, b| a.users.total_cmp(&b.users));
    exclude_beyond_peak(&mut checked, &mut findings);
    CheckedPoints { points: checked, findings, users_times }
}

/// Estimates unknown think times by Little's law: Z = N/X − R.
fn estimate_think_times(checked: &mut [CheckedPoint], findings: &mut Vec<CapacityFinding>) {
    let is_used = |checked: &&mut CheckedPoint| checked.left_out.is_none();
    let mut is_unknown = false;
    for checked in checked.iter_mut().filter(is_used).filter(|checked| checked.point.think_s.is_none()) {
        is_unknown = true;
        let point = &mut checked.point;
        point.think_s =
            point.response_s.map(|response_s| (checked.users / point.throughput_per_s - response_s).max(0.0));
    }
    if is_unknown {
        findings.push(CapacityFinding::ThinkTimeUnknown);
    }
    let thinks: Vec<f64> = checked
        .iter()
        .filter(|checked| checked.left_out.is_none())
        .filter_map(|checked| checked.point.think_s)
        .collect();
    let (least_s, most_s) = extremes(&thinks);
    if most_s > least_s * (1.0 + THINK_TOLERANCE) && most_s > least_s + 0.01 {
        findings.push(CapacityFinding::ThinkTimesDiffer { least_s, most_s });
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    (values.iter().copied().fold(f64::INFINITY, f64::min), values.iter().copied().fold(0.0, f64::max))
}

/// Checks the consistency of a single measurement.
fn check_point(checked: &mut CheckedPoint, settings: &CheckSettings, findings: &mut Vec<CapacityFinding>) {
    let point = &checked.point;
    let name = || point.name.clone();
    if !point.is_sound() {
        findings.push(CapacityFinding::NotUsable { point: name() });
        checked.left_out = Some(ExclusionReason::NotUsable);
        return;
    }
    for used in &point.utilization {
        if !(0.0..=1.0 + UTILIZATION_SLACK).contains(&used.share) {
            let (resource, share) = (used.resource.clone(), used.share);
            findings.push(CapacityFinding::OverUtilized { point: name(), resource, share });
        }
    }
    if let (Some(in_system), Some(response_s)) = (point.in_system, point.response_s) {
        let by_law = point.throughput_per_s * response_s;
        if (in_system / by_law - 1.0).abs() > POPULATION_TOLERANCE {
            findings.push(CapacityFinding::LittleViolated { point: name(), in_system, by_law });
        }
    }
    if let Some(share) = point.error_share.filter(|share| *share > settings.errors_max) {
        findings.push(CapacityFinding::ManyErrors { point: name(), share });
        checked.left_out = Some(ExclusionReason::Errors);
    }
}

/// Checks N ≈ X(R + Z), and corrects or excludes measurements that violate it. Returns the factor by which the stated numbers
/// of users were multiplied.
fn check_populations(
    checked: &mut [CheckedPoint],
    settings: &CheckSettings,
    findings: &mut Vec<CapacityFinding>,
) -> u32 {
    let is_fitted = |checked: &CheckedPoint| checked.left_out.is_none();
    let ratio = |checked: &CheckedPoint| Some(checked.point.users_by_law()? / checked.users);
    let mut ratios: Vec<f64> =
        checked.iter().filter(|checked| is_fitted(checked)).filter_map(ratio).collect();
    let times = whole_multiple(&ratios);
    if settings.users_by_law {
        for checked in checked.iter_mut() {
            checked.users = checked.point.users_by_law().unwrap_or(checked.users);
        }
        return 1;
    }
    if times > 1 {
        ratios.sort_unstable_by(f64::total_cmp);
        findings.push(CapacityFinding::SeveralGenerators { times, ratios });
        checked.iter_mut().for_each(|checked| checked.users *= f64::from(times));
        return times;
    }
    for checked in checked.iter_mut().filter(|checked| is_fitted(checked)) {
        // Without a think time, only the lower bound X·R is known.
        let in_system = |point: &LoadPoint| {
            let in_system = point.throughput_per_s * point.response_s?;
            (in_system > point.users).then_some(in_system)
        };
        let Some(users_by_law) = checked.point.users_by_law().or_else(|| in_system(&checked.point)) else {
            continue;
        };
        let (point, users) = (checked.point.name.clone(), checked.users);
        let ratio = users_by_law / users;
        let seconds = users / checked.point.throughput_per_s;
        // If the duration of the measurement is known, N is compared with the number of samples.
        let may_be_samples =
            checked.point.seconds.is_none_or(|known| (seconds / known - 1.0).abs() < POPULATION_TOLERANCE);
        if 1.0 / ratio > SAMPLES_RATIO && may_be_samples {
            findings.push(CapacityFinding::SamplesAsUsers { point, users, users_by_law, seconds });
            checked.left_out = Some(ExclusionReason::WrongPopulation);
        } else if (ratio - 1.0).abs() > POPULATION_TOLERANCE {
            findings.push(CapacityFinding::WrongPopulation { point, users, users_by_law });
            let limit = 1.0 + POPULATION_LIMIT;
            if !(limit.recip()..=limit).contains(&ratio) {
                checked.left_out = Some(ExclusionReason::WrongPopulation);
            }
        }
    }
    1
}

/// The integer of at least 2 that all ratios are close to; 1 if there is none.
fn whole_multiple(ratios: &[f64]) -> u32 {
    let mut sorted = ratios.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let Some(median) = sorted.get(sorted.len() / 2) else { return 1 };
    let times = median.round();
    let is_near = |ratio: &f64| (ratio / times - 1.0).abs() <= WHOLE_TOLERANCE;
    // Every large number is close to an integer, relative to its size.
    if (2.0..=16.0).contains(&times)
        && (median / times - 1.0).abs() <= POPULATION_TOLERANCE
        && sorted.iter().all(is_near)
    {
        times as u32
    } else {
        1
    }
}

/// Excludes measurements with more users than the peak and a significantly lower throughput.
fn exclude_beyond_peak(checked: &mut [CheckedPoint], findings: &mut Vec<CapacityFinding>) {
    let used = || checked.iter().filter(|checked| checked.left_out.is_none());
    let Some(peak) =
        used().max_by(|a, b| a.point.throughput_per_s.total_cmp(&b.point.throughput_per_s)).cloned()
    else {
        return;
    };
    let peak_per_s = peak.point.throughput_per_s;
    let noise = |checked: &CheckedPoint| {
        let errors = [checked.point.throughput_error, peak.point.throughput_error];
        3.0 * errors.iter().flatten().map(|error| error * error).sum::<f64>().sqrt()
    };
    let is_beyond_peak = |checked: &CheckedPoint| {
        checked.users > peak.users
            && peak_per_s - checked.point.throughput_per_s > (DECREASE_MIN * peak_per_s).max(noise(checked))
    };
    let lowest = used()
        .filter(|checked| is_beyond_peak(checked))
        .min_by(|a, b| a.point.throughput_per_s.total_cmp(&b.point.throughput_per_s));
    let Some(lowest) = lowest else { return };
    findings.push(CapacityFinding::ThroughputFalls {
        peak: peak.point.name.clone(),
        peak_per_s,
        point: lowest.point.name.clone(),
        throughput_per_s: lowest.point.throughput_per_s,
    });
    for checked in checked.iter_mut().filter(|checked| checked.left_out.is_none()) {
        if is_beyond_peak(checked) {
            checked.left_out = Some(ExclusionReason::BeyondPeak);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::finding::FindingSeverity;
    use crate::fit::point::Utilization;

    fn point(users: f64, throughput_per_s: f64, response_ms: Option<f64>) -> LoadPoint {
        LoadPoint {
            name: format!("{users} users"),
            users,
            throughput_per_s,
            response_s: response_ms.map(|ms| ms / 1e3),
            think_s: Some(0.7),
            ..LoadPoint::default()
        }
    }

    fn check(points: &[LoadPoint]) -> CheckedPoints {
        check_points(points, &CheckSettings::default())
    }

    #[test]
    fn twice_the_stated_users_are_recognized_in_the_seed_study() {
        let found = check(&[
            point(50.0, 135.49, Some(64.0)),
            point(100.0, 157.0, None),
            point(200.0, 148.2, Some(1907.0)),
        ]);
        assert_eq!(found.users_times, 2);
        assert!(
            matches!(&found.findings[0], CapacityFinding::SeveralGenerators { times: 2, .. }),
            "{found:?}"
        );
        assert!(
            found.findings[0].to_string().starts_with("about twice the stated number of users ran"),
            "{}",
            found.findings[0]
        );
        assert_eq!(found.points.iter().map(|point| point.users).collect::<Vec<_>>(), [100.0, 200.0, 400.0]);
        assert_eq!(found.points[2].left_out, Some(ExclusionReason::BeyondPeak), "148 after 157");
    }

    #[test]
    fn a_number_of_samples_entered_as_users_is_recognized() {
        let found = check(&[point(34_281.0, 135.49, Some(64.0))]);
        let CapacityFinding::SamplesAsUsers { users_by_law, seconds, .. } = &found.findings[0] else {
            panic!("{found:?}")
        };
        assert_eq!(format!("{:.0} {seconds:.0}", 34_281.0 / users_by_law), "331 253");
        assert_eq!(found.points[0].left_out, Some(ExclusionReason::WrongPopulation));
        assert_eq!(found.findings[0].weight(), FindingSeverity::Contradiction);
        assert!(
            found.findings[0].to_string().contains("samples were entered as users"),
            "{}",
            found.findings[0]
        );
        // If the measurement is known to be much shorter, the number of users is wrong for another reason.
        let short = LoadPoint { seconds: Some(60.0), ..point(34_281.0, 135.49, Some(64.0)) };
        assert!(matches!(check(&[short]).findings[0], CapacityFinding::WrongPopulation { .. }));
    }

    #[test]
    fn consistent_measurements_have_no_findings() {
        // N = 100: X (R + Z) = 125 × (0.1 + 0.7) = 100.
        let found = check(&[point(100.0, 125.0, Some(100.0)), point(50.0, 66.0, Some(50.0))]);
        assert_eq!((found.findings, found.users_times), (vec![], 1));
    }

    #[test]
    fn too_many_stated_users_are_a_wrong_population() {
        let half = point(200.0, 125.0, Some(100.0));
        let found = check(std::slice::from_ref(&half));
        assert!(matches!(&found.findings[0], CapacityFinding::WrongPopulation { .. }), "{found:?}");
        assert_eq!(found.points[0].left_out, Some(ExclusionReason::WrongPopulation));
        let by_law = CheckSettings { users_by_law: true, ..CheckSettings::default() };
        let found = check_points(&[half], &by_law);
        assert!(
            (found.points[0].users - 100.0).abs() < 1e-9 && found.points[0].left_out.is_none(),
            "{found:?}"
        );
    }

    #[test]
    fn findings_on_single_measurements() {
        let busy = LoadPoint {
            utilization: vec![Utilization { resource: "cpu".into(), share: 1.2 }],
            in_system: Some(30.0),
            ..point(100.0, 125.0, Some(100.0))
        };
        let failed = LoadPoint { error_share: Some(0.03), ..point(120.0, 140.0, Some(150.0)) };
        let missing = point(10.0, f64::NAN, None);
        let found = check(&[busy, failed, missing]);
        let has = |wanted: fn(&CapacityFinding) -> bool| found.findings.iter().any(wanted);
        assert!(has(|finding| matches!(finding, CapacityFinding::OverUtilized { .. })));
        // 30 requests in the system, but X·R = 12.5.
        assert!(has(|finding| matches!(finding, CapacityFinding::LittleViolated { .. })));
        assert!(has(|finding| matches!(finding, CapacityFinding::ManyErrors { .. })));
        assert!(has(|finding| matches!(finding, CapacityFinding::NotUsable { .. })));
        let left_out: Vec<_> = found.points.iter().filter_map(|point| point.left_out).collect();
        assert_eq!(left_out.len(), 2);
    }

    #[test]
    fn unknown_think_times_are_estimated() {
        let unknown = |users, x, ms| LoadPoint { think_s: None, ..point(users, x, Some(ms)) };
        let found = check(&[unknown(100.0, 125.0, 100.0), unknown(8.0, 125.0, 100.0)]);
        assert!(found.findings.contains(&CapacityFinding::ThinkTimeUnknown));
        assert!(found.points[1].point.think_s.is_some_and(|think_s| (think_s - 0.7).abs() < 1e-12));
        // Eight users cannot have 12.5 requests in the system.
        assert_eq!(found.points[0].left_out, Some(ExclusionReason::WrongPopulation), "{found:?}");
    }

    #[test]
    fn a_decrease_within_the_noise_is_ignored() {
        let noisy =
            |users, x| LoadPoint { throughput_error: Some(3.0), think_s: None, ..point(users, x, None) };
        assert!(
            !check(&[noisy(10.0, 100.0), noisy(20.0, 92.0)])
                .findings
                .iter()
                .any(|finding| matches!(finding, CapacityFinding::ThroughputFalls { .. }))
        );
        let found = check(&[noisy(10.0, 100.0), noisy(20.0, 80.0)]);
        assert!(found.findings.contains(&CapacityFinding::ThinkTimeUnknown));
        assert_eq!(
            found.points[0].point.think_s, None,
            "without a response time, Little's law does not determine the think time"
        );
        assert!(
            found.findings.iter().any(|finding| matches!(finding, CapacityFinding::ThroughputFalls { .. }))
        );
    }
}
