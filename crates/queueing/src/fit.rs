//! Fits models to measurements, and validates them.
//!
//! [`CapacityFit::new`] takes measurements at several loads ([`LoadPoint`]), checks them against operational laws
//! ([`check_points`]), and fits a model to the remaining ones: queues by least squares or by the utilization law, or the
//! Universal Scalability Law ([`fit_usl`]). [`judge_model`] compares the predictions of a model with measurements that were
//! not used to fit it. [`fit_service_law`] fits probability laws to measured times.
//!
//! ```
//! use busyhour_queueing::fit::{CapacityFit, FitSettings, LoadPoint};
//! # use rand::SeedableRng as _;
//! # let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
//!
//! // One server with a service time of 10 ms, and users with a think time of a second.
//! let measured = |users: f64| {
//!     let found = busyhour_queueing::mva::single::exact(users as u64, 1.0, &[0.01]);
//!     LoadPoint {
//!         users,
//!         throughput_per_s: found.rate_per_s,
//!         response_s: Some(found.response_s),
//!         think_s: Some(1.0),
//!         ..LoadPoint::default()
//!     }
//! };
//! let points = [10.0, 50.0, 90.0, 110.0, 150.0].map(measured);
//! let fit = CapacityFit::new(&points, &FitSettings::default(), &mut random).unwrap();
//! assert!((fit.headroom.capacity_per_s.unwrap().value - 100.0).abs() < 0.1);
//! ```

mod capacity;
mod checks;
mod curve;
mod curve_points;
mod finding;
mod fit_settings;
mod fitted;
mod headroom;
mod judgement;
mod least_squares;
mod network;
mod over_runs;
mod point;
mod profile;
mod queue_fit;
#[cfg(test)]
mod selection_tests;
mod service_law;
#[cfg(test)]
mod tests;
mod usl;
mod utilization_law;
mod value;

pub use capacity::{CAPACITY_VERSION, CapacityFit, ComparedPoint, FitMethod, FitRefusal, Parameter};
pub use checks::{CheckSettings, CheckedPoint, CheckedPoints, ExclusionReason, check_points};
pub use curve::{AsymptoticBounds, CapacityModel, Prediction};
pub use curve_points::CapacityCurvePoint;
pub use finding::{CapacityFinding, FindingSeverity, ReportedFinding};
pub use fit_settings::{FitSettings, ModelChoice};
pub use fitted::{FittedModel, FittedPrediction};
pub use headroom::Headroom;
pub use judgement::{
    ChiSquareTest, JUDGEMENT_VERSION, JudgeSettings, JudgedPoint, MeasuredComparison, ModelJudgement,
    ModelPrediction, ModelVerdict, judge_model,
};
pub use point::{LoadPoint, Utilization};
pub use service_law::{FittedLaw, LawCandidate, ServiceLawFit, VALUES_MAX, VALUES_MIN, fit_service_law};
pub use usl::{USL_POINTS_WANTED, UslCurve, UslFit, UslPoint, fit_usl};
pub use utilization_law::ResourceDemand;
pub use value::{CONFIDENCE, FittedValue, significant};
