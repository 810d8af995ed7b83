//! The length of trials: a quantile needs enough requests for a verdict.

use serde::{Deserialize, Serialize};

/// Requests above the quantile in a trial of full length. The share of slow requests then has a standard error of 10 % of
/// its value if requests are independent.
const REQUESTS_ABOVE_FULL: f64 = 100.0;

/// The quantile that a threshold tests, and the rate at which requests arrive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TestedQuantile {
    /// The quantile, such as 0.99.
    pub quantile: f64,
    /// Requests per second and unit of load: 1 for a rate of requests, requests per second of one user for users.
    pub requests_per_second_per_load: f64,
}

/// The lengths of trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrialLength {
    /// The length to which the answer refers, in seconds. Trials are longer if the quantile needs more requests.
    pub full_seconds: f64,
    /// The shortest useful trial in seconds: the system has to reach its steady state.
    pub shortest_seconds: f64,
    /// The quantile of the threshold. `None`: trials need no number of requests.
    pub tested: Option<TestedQuantile>,
}

impl TrialLength {
    pub(crate) fn is_valid(&self) -> bool {
        let tested = self.tested.is_none_or(|tested| {
            tested.quantile > 0.0
                && tested.quantile < 1.0
                && tested.requests_per_second_per_load.is_finite()
                && tested.requests_per_second_per_load > 0.0
        });
        tested
            && self.full_seconds.is_finite()
            && self.shortest_seconds > 0.0
            && self.shortest_seconds <= self.full_seconds
    }

    /// Seconds of a trial of full length at a load.
    #[must_use]
    pub fn full_seconds_at(&self, load: f64) -> f64 {
        self.full_seconds.max(self.seconds_for(load, requests_for_full_trial))
    }

    /// Seconds of the shortest trial at a load.
    #[must_use]
    pub fn shortest_seconds_at(&self, load: f64) -> f64 {
        self.shortest_seconds.max(self.seconds_for(load, requests_for_verdict))
    }

    fn seconds_for(&self, load: f64, requests: fn(f64) -> f64) -> f64 {
        self.tested
            .map_or(0.0, |tested| requests(tested.quantile) / (tested.requests_per_second_per_load * load))
    }
}

/// The smallest number of requests from which a verdict on a quantile is possible: the largest of fewer independent values
/// is below the quantile with a probability of more than 5 %.
#[must_use]
pub fn requests_for_verdict(quantile: f64) -> f64 {
    (0.05_f64.ln() / quantile.ln()).ceil()
}

/// The number of requests of a trial of full length: 100 of them are expected above the quantile.
#[must_use]
pub fn requests_for_full_trial(quantile: f64) -> f64 {
    (REQUESTS_ABOVE_FULL / (1.0 - quantile) - 1e-6).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_need_requests() {
        // 0.99^298 = 0.0500…, 0.95^58 = 0.051, 0.95^59 = 0.0485.
        assert_eq!([0.95, 0.99].map(requests_for_verdict), [59.0, 299.0]);
        assert_eq!([0.5, 0.95, 0.99].map(requests_for_full_trial), [200.0, 2_000.0, 10_000.0]);
    }

    #[test]
    fn trials_are_longer_if_requests_are_rare() {
        let tested = TestedQuantile { quantile: 0.99, requests_per_second_per_load: 0.2 };
        let length = TrialLength { full_seconds: 60.0, shortest_seconds: 10.0, tested: Some(tested) };
        assert!(length.is_valid());
        // 100 users make 20 requests per second.
        assert_eq!((length.shortest_seconds_at(100.0), length.full_seconds_at(100.0)), (14.95, 500.0));
        assert_eq!((length.shortest_seconds_at(1e5), length.full_seconds_at(1e5)), (10.0, 60.0));
        let without = TrialLength { tested: None, ..length };
        assert_eq!((without.shortest_seconds_at(1.0), without.full_seconds_at(1.0)), (10.0, 60.0));
        assert!(!TrialLength { shortest_seconds: 90.0, ..length }.is_valid());
    }
}
