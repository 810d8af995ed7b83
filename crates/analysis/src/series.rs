//! What happened second by second, and the whole distribution.

use busyhour_record::{Clock, SecondPoint};
use serde::{Deserialize, Serialize};

use crate::row::round;

/// The run by the second, in columns of equal length. Seconds in which no request ended are missing. Times in ms.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Number of the second, from 0.
    pub second: Vec<u64>,
    /// Requests that ended.
    pub requests: Vec<u64>,
    /// Failed ones among them.
    pub errors: Vec<u64>,
    /// Bytes received.
    pub bytes: Vec<u64>,
    /// Bytes sent.
    pub sent_bytes: Vec<u64>,
    /// Most active users that a request saw.
    pub users: Vec<u32>,
    /// Mean response time.
    pub response_mean: Vec<f64>,
    /// Median response time.
    pub response_p50: Vec<f64>,
    /// 95th percentile of the response time.
    pub response_p95: Vec<f64>,
    /// 99th percentile of the response time.
    pub response_p99: Vec<f64>,
    /// Largest response time.
    pub response_max: Vec<f64>,
    /// Mean service time.
    pub service_mean: Vec<f64>,
    /// 95th percentile of the service time.
    pub service_p95: Vec<f64>,
}

impl Series {
    pub(crate) fn of(seconds: &[SecondPoint]) -> Series {
        let mut series = Series::default();
        for point in seconds {
            series.second.push(point.second);
            series.requests.push(point.requests);
            series.errors.push(point.errors);
            series.bytes.push(point.bytes);
            series.sent_bytes.push(point.sent_bytes);
            series.users.push(point.users);
            series.response_mean.push(round(point.response.mean));
            series.response_p50.push(round(point.response.p50));
            series.response_p95.push(round(point.response.p95));
            series.response_p99.push(round(point.response.p99));
            series.response_max.push(round(point.response.max));
            series.service_mean.push(round(point.service.mean));
            series.service_p95.push(round(point.service.p95));
        }
        series
    }

    /// How many seconds there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.second.len()
    }

    /// Whether no request ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.second.is_empty()
    }
}

/// One point of the quantile function.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DistributionPoint {
    /// The percentile, 0 to 100.
    pub percentile: f64,
    /// Response time in ms.
    pub response_ms: f64,
    /// Service time in ms.
    pub service_ms: f64,
}

/// The quantile functions of the two clocks, denser towards the tail, up to the last percentile that the number of
/// samples supports, and the maximum.
pub(crate) fn distribution(response: &Clock, service: &Clock) -> Vec<DistributionPoint> {
    let count = response.count();
    if count == 0 {
        return Vec::new();
    }
    // The part of the samples beyond each point: twentieths, then seven steps per decade.
    let mut beyond: Vec<f64> = (3..=20).rev().map(|step| f64::from(step) * 0.05).collect();
    let mut decade = 0.1;
    while decade * count as f64 >= 1.0 {
        beyond.extend([1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2].map(|step| decade * step));
        decade /= 10.0;
    }
    beyond.retain(|tail| tail * count as f64 >= 1.0);
    beyond.push(0.0);
    beyond
        .into_iter()
        .map(|tail| {
            let q = 1.0 - tail;
            DistributionPoint {
                percentile: (q * 1e8).round() / 1e6,
                response_ms: round(if tail == 0.0 { response.max_ms() } else { response.quantile_ms(q) }),
                service_ms: round(if tail == 0.0 { service.max_ms() } else { service.quantile_ms(q) }),
            }
        })
        .collect()
}
