//! Causes whose mean level is high enough.
//!
//! A cause that does not vary cannot be found by the times of slow requests. Waiting can be compared with response times
//! instead, by Little's law (Operations Research 9, 1961, page 383): the mean number of requests that wait, divided by the rate of
//! requests, is the mean time that a request waits.

use busyhour_analysis::explanation::Cause;

use crate::series_pieces::mean_between;
use crate::signal::Signal;
use crate::slow_times::SlowTimes;

/// Waiting is a cause if it takes at least this share of the mean response time.
const WAITING_SHARE_MIN: f64 = 0.25;

/// Minimum number of waiting requests on average. Fewer can also be threads that serve no request.
const WAITING_MIN: f64 = 1.0;

/// The same limit for waiting that is normal in every system.
const NORMAL_SHARE_MIN: f64 = 0.8;

/// Connections that wait longer than this many times the response time wait for something else, such as new messages.
const DEPENDENCY_SHARE_MAX: f64 = 1.3;

/// Mean response times below this limit, in ms, are not slow.
const RESPONSE_MIN_MS: f64 = 5.0;

/// The same limit for waiting that is normal in every system.
const NORMAL_RESPONSE_MIN_MS: f64 = 100.0;

/// The means of the requests of the measured part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RequestMeans {
    /// Completed requests per second.
    pub(crate) rate_per_s: f64,
    /// The mean response time in ms.
    pub(crate) response_ms: f64,
}

/// Waiting, as a mean over the measured part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Waiting {
    /// Mean time that a request waited, in ms.
    pub(crate) per_request_ms: f64,
    /// Its share of the mean response time, up to 1.
    pub(crate) share: f64,
    /// The same without the limit of 1.
    ratio: f64,
    /// Share of the time in which requests waited.
    pub(crate) present: f64,
    /// For waiting for one of a limited number of connections: how long a request uses one, in ms.
    pub(crate) in_use_ms: Option<f64>,
}

impl Waiting {
    /// Whether waiting of this kind counts as a cause. Requests wait for responses of databases and other servers in
    /// any system, so that the share alone is not evidence against them.
    pub(crate) fn is_cause(&self, cause: Cause, requests: RequestMeans) -> bool {
        let is_normal = matches!(cause, Cause::DatabaseWork | Cause::SlowDependency);
        let needed = if is_normal { NORMAL_SHARE_MIN } else { WAITING_SHARE_MIN };
        let slow_ms = if is_normal { NORMAL_RESPONSE_MIN_MS } else { RESPONSE_MIN_MS };
        let is_possible = cause != Cause::SlowDependency || self.ratio <= DEPENDENCY_SHARE_MAX;
        self.share >= needed && requests.response_ms >= slow_ms && is_possible
    }
}

/// The mean waiting time of a request; `None` if the signal is not one of waiting, or no request was completed.
pub(crate) fn waiting(signal: &Signal, requests: RequestMeans) -> Option<Waiting> {
    if !signal.is_waiting || requests.rate_per_s <= 0.0 || requests.response_ms <= 0.0 {
        return None;
    }
    let mean = signal.mean().filter(|mean| *mean >= signal.relevant.max(WAITING_MIN))?;
    let per_request_ms = mean / requests.rate_per_s * 1e3;
    let ratio = per_request_ms / requests.response_ms;
    let in_use = mean_between(&signal.in_use, 0, u64::MAX);
    Some(Waiting {
        per_request_ms,
        share: ratio.min(1.0),
        ratio,
        present: signal.present()?,
        in_use_ms: in_use.map(|connections| connections / requests.rate_per_s * 1e3),
    })
}

/// How much longer a request waits while a signal of waiting is present: the ratio of the mean waiting times per
/// request with and without the signal. `None` if it is always present or never.
pub(crate) fn waiting_ratio(signal: &Signal, slow: &SlowTimes) -> Option<f64> {
    let level = signal.presence_level()?;
    let (mut with, mut without) = ((0.0, 0.0), (0.0, 0.0));
    for piece in &signal.pieces {
        let sum = if piece.value >= level { &mut with } else { &mut without };
        sum.0 += piece.value * (piece.to - piece.from) as f64;
        sum.1 += slow.between(piece.from, piece.to, 0).requests;
    }
    let per_request = |(waited, requests): (f64, f64)| (requests >= 1.0).then(|| waited / requests);
    // Without any waiting, the smallest relevant level counts.
    let least = signal.relevant * slow.length() as f64 / slow.total().requests.max(1.0) / 10.0;
    Some(per_request(with)? / per_request(without)?.max(least))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::{SignalPiece, SignalShape};

    #[test]
    fn the_waiting_time_is_the_number_of_waiting_requests_over_the_rate() {
        let signal = Signal {
            shape: SignalShape::Levels,
            is_waiting: true,
            relevant: 0.3,
            pieces: vec![SignalPiece { from: 0, to: 10, value: 4.0 }],
            ..Signal::of_intervals((Cause::DatabaseLock, "postgres", "blocked"), &[], 0, (0, 10))
        };
        let requests = RequestMeans { rate_per_s: 100.0, response_ms: 50.0 };
        let found = waiting(&signal, requests).unwrap();
        assert!((found.per_request_ms - 40.0).abs() < 1e-9 && (found.share - 0.8).abs() < 1e-9);
        assert!(found.is_cause(Cause::DatabaseLock, requests));
        assert!(!found.is_cause(Cause::DatabaseWork, requests), "a request of 50 ms is not slow");
        let slow = RequestMeans { rate_per_s: 10.0, response_ms: 400.0 };
        assert!(waiting(&signal, slow).unwrap().is_cause(Cause::SlowDependency, slow));
        let polls = RequestMeans { rate_per_s: 5.0, response_ms: 200.0 };
        let found = waiting(&signal, polls).unwrap();
        assert!(!found.is_cause(Cause::SlowDependency, polls), "four connections wait without a request");
        let few = Signal { relevant: 5.0, ..signal };
        assert_eq!(waiting(&few, requests), None);
    }
}
