//! The requests of one second: counts and times.

use serde::{Deserialize, Serialize};

use crate::time_histogram::band_end;

/// The requests that ended in one second of the run. Times in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SecondPoint {
    /// Number of the second, from 0.
    pub second: u64,
    /// Number of requests that ended.
    pub requests: u64,
    /// Number of failed requests.
    pub errors: u64,
    /// Number of bytes received.
    pub bytes: u64,
    /// Number of bytes sent.
    pub sent_bytes: u64,
    /// Service time (end − actual start).
    pub service: SecondTimes,
    /// Response time (end − intended start).
    pub response: SecondTimes,
}

/// The times of one second, in ms.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SecondTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Maximum.
    pub max: f64,
}

impl SecondTimes {
    /// Computes the figures from times in µs whose exact sum is `sum_ns`. Each percentile is the greatest value of its
    /// histogram band. Changes the order of `times_us`.
    pub(crate) fn of(times_us: &mut [u64], sum_ns: u128) -> SecondTimes {
        let count = times_us.len() as f64;
        let (mut rest, mut passed) = (times_us, 0);
        let mut quantile_ms = |q: f64| {
            let rank = ((q * count).ceil() as usize).saturating_sub(1) - passed;
            // The next quantile is not smaller than this one, so only the rest is searched.
            let behind = std::mem::take(&mut rest);
            if rank >= behind.len() {
                return 0.0;
            }
            let us = *behind.select_nth_unstable(rank).1;
            (rest, passed) = (&mut behind[rank..], passed + rank);
            band_end(us) as f64 / 1e3
        };
        let [p50, p95, p99, max] = [0.50, 0.95, 0.99, 1.0].map(&mut quantile_ms);
        SecondTimes { mean: sum_ns as f64 / count.max(1.0) / 1e6, p50, p95, p99, max }
    }
}
