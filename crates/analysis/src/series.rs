//! The time series of a run in seconds, and the quantile functions of its times.

use std::collections::BTreeSet;

use busyhour_sample::{RunTotals, SecondTimes, TimeDistribution};
use serde::{Deserialize, Serialize};

use crate::rounding::round;

/// Maximum length of a run, in seconds, for which the series contains seconds without requests: 30 days.
const USER_SECONDS_MAX: u64 = 30 * 86_400;

/// One entry per second of the run, in columns of equal length. Seconds in which no request started or
/// ended and no user was active are missing. Times are in ms, and `None` in seconds in which no request ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Number of the second, from 0.
    pub second: Vec<u64>,
    /// Requests that ended.
    pub requests: Vec<u64>,
    /// Requests that ended with a failure.
    pub errors: Vec<u64>,
    /// Bytes received.
    pub bytes: Vec<u64>,
    /// Bytes sent.
    pub sent_bytes: Vec<u64>,
    /// Requests that started; empty when starts were not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub started: Vec<u64>,
    /// Arrivals of open workloads that were offered in the second; empty for a run without open workloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offered: Vec<u64>,
    /// Active users at the end of the second, whether or not a request ended in it; `None` if they are unknown.
    pub users: Vec<Option<u32>>,
    /// Mean response time.
    pub response_mean: Vec<Option<f64>>,
    /// Median response time.
    pub response_p50: Vec<Option<f64>>,
    /// 95th percentile of the response time.
    pub response_p95: Vec<Option<f64>>,
    /// 99th percentile of the response time.
    pub response_p99: Vec<Option<f64>>,
    /// Largest response time.
    pub response_max: Vec<Option<f64>>,
    /// Mean service time.
    pub service_mean: Vec<Option<f64>>,
    /// 95th percentile of the service time.
    pub service_p95: Vec<Option<f64>>,
}

impl Series {
    /// Joins the seconds in which requests ended, the counts of starts and of offered arrivals, and active users.
    pub(crate) fn of(totals: &RunTotals) -> Series {
        let (ended, users) = (&totals.seconds, &totals.users);
        let (started, offered) = (totals.started.as_ref(), totals.offered.as_ref());
        let mut series = Series::default();
        let counted = [started, offered].into_iter().flatten();
        let nonzero = counted.flat_map(|counts| (counts.first..).zip(&counts.counts));
        let nonzero = nonzero.filter(|(_, count)| **count > 0).map(|(second, _)| second);
        let mut seconds: BTreeSet<u64> = nonzero.chain(ended.iter().map(|point| point.second)).collect();
        // Seconds in which users only wait or think are included, unless there are so many that time stamps must be damaged.
        let with_users = users.seconds();
        if with_users.end - with_users.start < USER_SECONDS_MAX {
            seconds
                .extend(with_users.filter(|second| users.at_end_of(*second).is_some_and(|users| users > 0)));
        }
        let mut points = ended.iter().peekable();
        for second in seconds {
            let point = points.next_if(|point| point.second == second);
            series.second.push(second);
            series.requests.push(point.map_or(0, |point| point.requests));
            series.errors.push(point.map_or(0, |point| point.errors));
            series.bytes.push(point.map_or(0, |point| point.bytes));
            series.sent_bytes.push(point.map_or(0, |point| point.sent_bytes));
            series.started.extend(started.map(|counts| counts.of(second)));
            series.offered.extend(offered.map(|counts| counts.of(second)));
            series.users.push(users.at_end_of(second));
            let response = |of: fn(&SecondTimes) -> f64| point.map(|point| round(of(&point.response)));
            series.response_mean.push(response(|times| times.mean));
            series.response_p50.push(response(|times| times.p50));
            series.response_p95.push(response(|times| times.p95));
            series.response_p99.push(response(|times| times.p99));
            series.response_max.push(response(|times| times.max));
            series.service_mean.push(point.map(|point| round(point.service.mean)));
            series.service_p95.push(point.map(|point| round(point.service.p95)));
        }
        series
    }

    /// Offered arrivals per second, averaged over the whole seconds in the window. Without a window, the average is
    /// over `span_s`, the time from the first start to the last end of a request. `None` without open workloads, or if
    /// the window contains no whole second.
    pub(crate) fn offered_per_s(&self, window_s: Option<(f64, f64)>, span_s: f64) -> Option<f64> {
        let Some((from_s, to_s)) = window_s else {
            let offered: u64 = self.offered.iter().sum();
            return (!self.offered.is_empty() && span_s > 0.0).then(|| round(offered as f64 / span_s));
        };
        let inside = |second: u64| second as f64 >= from_s && (second + 1) as f64 <= to_s;
        let seconds = self.second.iter().zip(&self.offered).filter(|(second, _)| inside(**second));
        let (seconds, offered) = seconds.fold((0u64, 0u64), |sum, (_, offered)| (sum.0 + 1, sum.1 + offered));
        (seconds > 0).then(|| round(offered as f64 / seconds as f64))
    }

    /// Requests that ended between two times, in seconds from the start of the run. If one of the times is inside a
    /// second, the requests of that second count in proportion.
    #[must_use]
    pub fn requests_between(&self, from_s: f64, to_s: f64) -> f64 {
        let start = self.second.partition_point(|second| ((second + 1) as f64) <= from_s);
        let seconds = self.second.iter().zip(&self.requests).skip(start);
        let seconds = seconds.take_while(|(second, _)| (**second as f64) < to_s);
        let part = |second: u64| to_s.min((second + 1) as f64) - from_s.max(second as f64);
        seconds.map(|(second, requests)| *requests as f64 * part(*second).max(0.0)).sum()
    }

    /// Number of seconds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.second.len()
    }

    /// Whether no request started or ended.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.second.is_empty()
    }
}

/// One point of the quantile functions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DistributionPoint {
    /// The percentile, 0 to 100.
    pub percentile: f64,
    /// Response time in ms.
    pub response_ms: f64,
    /// Service time in ms.
    pub service_ms: f64,
}

/// The quantile functions of response and service time: denser towards the tail, up to the last percentile that the number of
/// samples supports, followed by the maximum.
pub(crate) fn distribution(
    response: &TimeDistribution,
    service: &TimeDistribution,
) -> Vec<DistributionPoint> {
    // Shares of the samples above each point: multiples of a twentieth, then seven steps per decade.
    let twentieths = (3..=20).rev().map(|step| f64::from(step) * 0.05);
    points(response, service, twentieths, &[1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2])
}

/// The quantile functions in at most about 40 points: multiples of a tenth, then three steps per decade.
pub(crate) fn short_distribution(
    response: &TimeDistribution,
    service: &TimeDistribution,
) -> Vec<DistributionPoint> {
    points(response, service, (2..=9).rev().map(|step| f64::from(step) * 0.1), &[1.0, 0.5, 0.2])
}

/// The quantile functions, as points with given shares of the samples above them: first the shares `beyond`, then the shares
/// `steps` times 0.1, 0.01, …, as far as there are enough samples. The last point is the maximum.
fn points(
    response: &TimeDistribution,
    service: &TimeDistribution,
    beyond: impl Iterator<Item = f64>,
    steps: &[f64],
) -> Vec<DistributionPoint> {
    let count = response.count() as f64;
    if count == 0.0 {
        return Vec::new();
    }
    let mut beyond: Vec<f64> = beyond.collect();
    let mut decade = 0.1;
    while decade * count >= 1.0 {
        beyond.extend(steps.iter().map(|step| decade * step));
        decade /= 10.0;
    }
    beyond.retain(|tail| tail * count >= 1.0);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_of_cut_seconds_count_in_proportion() {
        let series = Series { second: vec![0, 1, 5], requests: vec![10, 20, 40], ..Series::default() };
        assert_eq!(series.requests_between(0.0, 6.0), 70.0);
        assert_eq!(series.requests_between(0.5, 1.5), 15.0);
        assert_eq!(series.requests_between(1.25, 1.75), 10.0);
        assert_eq!(series.requests_between(2.0, 5.0), 0.0);
        assert_eq!(series.requests_between(3.0, 1.0), 0.0);
    }
}
