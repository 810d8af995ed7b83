//! Service demands from recorded utilization.
//!
//! U = U₀ + X·D: the demand D of a request is the slope of the utilization over the throughput, and U₀ is the utilization
//! without requests. The slope of each resource is fitted by least squares (Lazowska, Zahorjan, Graham & Sevcik, "Quantitative
//! System Performance", 1984, chapter 12), through the origin unless U₀ is significant.

use serde::{Deserialize, Serialize};

use super::finding::CapacityFinding;
use super::point::LoadPoint;
use super::value::{FittedValue, student_quantile};

/// Minimum background utilization U₀ for which a parameter is fitted.
const BACKGROUND_MIN: f64 = 0.01;

/// The demand of a request at one resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResourceDemand {
    /// Name of the resource.
    pub resource: String,
    /// Seconds of the whole resource (of all its servers) per request.
    pub demand_s: FittedValue,
    /// Utilization without requests, 0 to 1.
    pub background: f64,
    /// Number of measurements.
    pub points: usize,
    /// Variance of the demand; 0 if unknown.
    #[serde(skip)]
    pub(crate) variance: f64,
    #[serde(skip)]
    pub(crate) freedom: f64,
}

/// The demands at all resources of the measurements, in the order in which their names first occur.
pub(crate) fn demands(points: &[&LoadPoint], findings: &mut Vec<CapacityFinding>) -> Vec<ResourceDemand> {
    let mut names: Vec<&str> = Vec::new();
    for used in points.iter().flat_map(|point| &point.utilization) {
        if !names.contains(&used.resource.as_str()) {
            names.push(&used.resource);
        }
    }
    let mut found = Vec::new();
    for name in names {
        let pairs: Vec<(f64, f64)> = points
            .iter()
            .filter_map(|point| Some((point.throughput_per_s, point.utilization_of(name)?)))
            .filter(|(_, share)| (0.0..=1.005).contains(share))
            .collect();
        let Some(demand) = demand(name, &pairs) else { continue };
        if demand.background >= BACKGROUND_MIN {
            findings.push(CapacityFinding::BackgroundLoad {
                resource: name.to_owned(),
                share: demand.background,
            });
        }
        found.push(demand);
    }
    found
}

/// The slope of utilization over throughput; `None` without points or without utilization.
fn demand(name: &str, pairs: &[(f64, f64)]) -> Option<ResourceDemand> {
    let n = pairs.len() as f64;
    let sum = |term: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(term).sum::<f64>();
    let (xx, xu) = (sum(&|(x, _)| x * x), sum(&|(x, u)| x * u));
    let through_origin = xu / xx;
    if through_origin.is_nan() || through_origin <= 0.0 {
        return None;
    }
    let result = |slope: f64, background: f64, variance: f64, freedom: f64| ResourceDemand {
        resource: name.to_owned(),
        demand_s: if freedom > 0.0 {
            FittedValue::with_error(slope, variance.sqrt(), freedom, 0.0)
        } else {
            FittedValue::without_interval(slope)
        },
        background,
        points: pairs.len(),
        variance: if freedom > 0.0 { variance } else { 0.0 },
        freedom,
    };
    if pairs.len() >= 4 {
        let (mean_x, mean_u) = (sum(&|(x, _)| *x) / n, sum(&|(_, u)| *u) / n);
        let spread = sum(&|(x, _)| (x - mean_x).powi(2));
        let slope = sum(&|(x, u)| (x - mean_x) * (u - mean_u)) / spread;
        let background = mean_u - slope * mean_x;
        let residual_variance = sum(&|(x, u)| (u - background - slope * x).powi(2)) / (n - 2.0);
        let error = (residual_variance * (1.0 / n + mean_x * mean_x / spread)).sqrt();
        if spread > 0.0
            && slope > 0.0
            && background >= BACKGROUND_MIN
            && background > student_quantile(n - 2.0) * error
        {
            return Some(result(slope, background, residual_variance / spread, n - 2.0));
        }
    }
    let residual_variance = sum(&|(x, u)| (u - through_origin * x).powi(2)) / (n - 1.0).max(1.0);
    Some(result(through_origin, 0.0, residual_variance / xx, n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit::point::Utilization;

    fn point(x: f64, share: f64) -> LoadPoint {
        LoadPoint {
            throughput_per_s: x,
            utilization: vec![Utilization { resource: "cpu".into(), share }],
            ..LoadPoint::default()
        }
    }

    fn demands_of(points: &[LoadPoint]) -> (Vec<ResourceDemand>, Vec<CapacityFinding>) {
        let mut findings = Vec::new();
        let found = demands(&points.iter().collect::<Vec<_>>(), &mut findings);
        (found, findings)
    }

    #[test]
    fn a_slope_through_the_origin_calculated_by_hand() {
        // Σxu/Σxx = (10·.1 + 20·.22 + 30·.3)/1400 = 14.4/1400.
        let (found, findings) = demands_of(&[point(10.0, 0.1), point(20.0, 0.22), point(30.0, 0.3)]);
        assert!((found[0].demand_s.value - 14.4 / 1400.0).abs() < 1e-12);
        assert!(found[0].demand_s.contains(0.01) && findings.is_empty());
        assert_eq!((found[0].background, found[0].points), (0.0, 3));
    }

    #[test]
    fn a_background_is_not_part_of_the_demand() {
        let noise = [0.001, -0.001, 0.0005, -0.0005, 0.0];
        let points: Vec<LoadPoint> = (1..=5)
            .map(|i| point(f64::from(i) * 10.0, 0.2 + 0.01 * f64::from(i) + noise[i as usize - 1]))
            .collect();
        let (found, findings) = demands_of(&points);
        assert!(
            (found[0].demand_s.value - 0.001).abs() < 5e-5 && (found[0].background - 0.2).abs() < 3e-3,
            "{found:?}"
        );
        assert!(matches!(&findings[0], CapacityFinding::BackgroundLoad { .. }));
    }

    #[test]
    fn a_single_measurement_has_no_interval() {
        let (found, _) = demands_of(&[point(10.0, 0.5)]);
        assert_eq!(found[0].demand_s, FittedValue::without_interval(0.05));
        assert!(demands_of(&[LoadPoint::default()]).0.is_empty());
    }
}
