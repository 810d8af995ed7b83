//! Coordinated omission: bounds on percentiles that include the requests that slow responses and stalls kept from starting.
//!
//! A user that waits for a slow response sends nothing in that time, and a generator that does not run sends nothing at all.
//! Requests that were due in that time would have been slow, but percentiles do not include them. The measured percentile is
//! therefore a lower bound.
//!
//! The upper bound is the correction of HdrHistogram (`copyCorrectedForCoordinatedOmission`) with the tool's own
//! interval: a time `v` that is longer than the interval `i` represents requests that take `v − i`, `v − 2i`, ….
//! HdrHistogram assumes that requests were due at a fixed interval from the start of the slow request, and counts
//! `v/i − 1` of them. If pauses are random, `v/i` requests are due on average, evenly spread over the time. This module
//! uses that number. It applies the correction
//!
//! * to each response time, with the usual time between two starts of one user, and
//! * to each stall, a time in which no request started, with the usual time between two starts of all users. The requests that
//!   started together after the stall were late, so they count as sent during the stall.
//!
//! The bound holds under two conditions. Users intended to send requests at a rate that does not depend on responses. The system
//! answers the omitted requests as soon as the stall is over; if it needs time for them, response times are even longer.

use busyhour_sample::TimeHistogram;
use serde::{Deserialize, Serialize};

use crate::rounding::round;

/// An upper bound matters if it exceeds the measured percentile by this share and this time.
const MATERIAL_SHARE: f64 = 0.1;
const MATERIAL_MS: f64 = 1.0;

/// A closed load has at least this share of its largest number of users for at least half of the seconds.
const USERS_SHARE: f64 = 0.9;

/// If the median response takes more than this share of a user's interval, its requests follow the responses, and no rate was
/// intended.
const BUSY_SHARE_MAX: f64 = 0.5;

/// Steps of the search for a percentile; each halves the range.
const SEARCH_STEPS: u32 = 60;

/// The possible effect of omitted requests on percentiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Omission {
    /// Bounds on percentiles; `None` if neither response times nor stalls could be judged, or there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<OmissionBounds>,
    /// Why single response times were not corrected; `None` if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<OmissionLimit>,
}

/// Why the requests that single slow responses kept from starting are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OmissionLimit {
    /// Arrivals do not wait for responses, so that no response keeps a request from starting.
    Open,
    /// The file does not contain the number of users.
    UnknownUsers,
    /// The number of users keeps changing, as in an open load.
    UsersVary,
    /// Responses take most of the time of users, so that no rate was intended.
    NoPauses,
}

/// Bounds on percentiles.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OmissionBounds {
    /// Maximum number of requests that were kept from starting.
    pub omitted: u64,
    /// Number of stalls, in which no request started.
    pub stalls: u64,
    /// Total time of the stalls in s.
    pub stalled_s: f64,
    /// The usual time between two starts of one user in s; `None` if it is unknown.
    pub user_interval_s: Option<f64>,
    /// Bounds on the 95th percentile.
    pub p95: PercentileBounds,
    /// Bounds on the 99th percentile.
    pub p99: PercentileBounds,
}

/// Bounds on a percentile in ms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PercentileBounds {
    /// The measured value, the lower bound.
    pub measured_ms: f64,
    /// The upper bound.
    pub upper_ms: f64,
}

impl PercentileBounds {
    /// Whether the bounds differ so much that conclusions could change.
    #[must_use]
    pub fn is_material(&self) -> bool {
        let more_ms = self.upper_ms - self.measured_ms;
        more_ms > MATERIAL_MS && more_ms > MATERIAL_SHARE * self.measured_ms
    }
}

impl OmissionBounds {
    /// Whether the bounds of a percentile differ so much that conclusions could change.
    #[must_use]
    pub fn is_material(&self) -> bool {
        self.p95.is_material() || self.p99.is_material()
    }
}

/// A time in which no request started although requests were due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StartGap {
    /// Length in s.
    pub(crate) length_s: f64,
    /// Number of requests that started together afterwards.
    pub(crate) backlog: u64,
}

/// The usual time in s between two starts of one user: the median over seconds of users divided by starts.
pub(crate) fn user_interval(
    users: &[Option<u32>],
    starts: &[u64],
    users_max: u32,
    service_median_s: f64,
) -> Result<f64, OmissionLimit> {
    let known = users.iter().zip(starts).filter_map(|(users, starts)| Some(((*users)?, *starts)));
    let known: Vec<(u32, u64)> = known.filter(|(users, _)| *users > 0).collect();
    if users_max == 0 || known.is_empty() {
        return Err(OmissionLimit::UnknownUsers);
    }
    let least = USERS_SHARE * f64::from(users_max);
    let plateau: Vec<&(u32, u64)> = known.iter().filter(|(users, _)| f64::from(*users) >= least).collect();
    if plateau.len() * 2 < known.len() {
        return Err(OmissionLimit::UsersVary);
    }
    let busy = plateau.iter().filter(|(_, starts)| *starts > 0);
    let mut intervals: Vec<f64> = busy.map(|(users, starts)| f64::from(*users) / *starts as f64).collect();
    intervals.sort_by(f64::total_cmp);
    let Some(interval_s) = intervals.get(intervals.len() / 2).copied() else {
        return Err(OmissionLimit::UnknownUsers);
    };
    if service_median_s > BUSY_SHARE_MAX * interval_s { Err(OmissionLimit::NoPauses) } else { Ok(interval_s) }
}

/// Times in which requests were kept from starting: `count` times of `length_ms` each, in which a request was due every
/// `interval_ms`. Each of these requests takes `more_ms` after the end of the time.
struct BlockedTime {
    length_ms: f64,
    count: f64,
    interval_ms: f64,
    more_ms: f64,
}

impl BlockedTime {
    /// The number of omitted requests.
    fn omitted(&self) -> f64 {
        self.count * self.length_ms / self.interval_ms
    }

    /// The number of omitted requests that take more than `ms`.
    fn above(&self, ms: f64) -> f64 {
        let due_ms = (self.length_ms - (ms - self.more_ms)).clamp(0.0, self.length_ms);
        self.count * due_ms / self.interval_ms
    }
}

/// Bounds on the percentiles of `times`. `interval` is the usual time between two starts of one user in s, `rate_per_s` the usual
/// rate of all starts.
pub(crate) fn omission(
    times: &TimeHistogram,
    interval: Result<f64, OmissionLimit>,
    stalls: &[StartGap],
    rate_per_s: Option<f64>,
) -> Omission {
    let measured: Vec<(f64, f64)> =
        times.bands().map(|(_, end_us, count)| (end_us as f64 / 1e3, count as f64)).collect();
    let of_user = |interval_s: f64| {
        let interval_ms = interval_s * 1e3;
        let long = measured.iter().filter(move |(ms, _)| *ms > interval_ms);
        long.map(move |(ms, count)| BlockedTime { length_ms: *ms, count: *count, interval_ms, more_ms: 0.0 })
    };
    let slow: Vec<BlockedTime> =
        interval.iter().filter(|interval_s| **interval_s > 0.0).flat_map(|s| of_user(*s)).collect();
    let median_ms = times.quantile_us(0.5) as f64 / 1e3;
    let rate = rate_per_s.filter(|rate| *rate > 0.0);
    let stalled: Vec<BlockedTime> = rate
        .iter()
        .flat_map(|rate| stalls.iter().map(move |stall| (stall.length_s * 1e3, 1e3 / rate)))
        .map(|(length_ms, interval_ms)| BlockedTime {
            length_ms,
            count: 1.0,
            interval_ms,
            more_ms: median_ms,
        })
        .collect();
    let limit = interval.err();
    if limit.is_some() && stalls.is_empty() {
        return Omission { bounds: None, limit };
    }
    // The measured times of requests that started together after a stall are too short.
    let late: f64 =
        stalled.iter().zip(stalls).map(|(blocked, stall)| blocked.omitted().min(stall.backlog as f64)).sum();
    let bounds = |q: f64| {
        let measured_ms = times.quantile_us(q) as f64 / 1e3;
        let upper = [
            percentile(&measured, &[&slow], 0.0, q),
            percentile(&measured, &[&stalled], late, q),
            percentile(&measured, &[&slow, &stalled], late, q),
        ];
        let upper_ms = upper.into_iter().fold(measured_ms, f64::max);
        PercentileBounds { measured_ms: round(measured_ms), upper_ms: round(upper_ms) }
    };
    let omitted: f64 = [&slow, &stalled].into_iter().flatten().map(BlockedTime::omitted).sum();
    let bounds = OmissionBounds {
        omitted: omitted as u64,
        stalls: stalls.len() as u64,
        stalled_s: round(stalls.iter().fold(0.0, |sum, stall| sum + stall.length_s)),
        user_interval_s: interval.ok().map(round),
        p95: bounds(0.95),
        p99: bounds(0.99),
    };
    Omission { bounds: Some(bounds), limit }
}

/// The quantile `q` in ms of the measured times, without `late` of the shortest ones, together with the omitted requests.
fn percentile(measured: &[(f64, f64)], blocked: &[&[BlockedTime]], late: f64, q: f64) -> f64 {
    let blocked = || blocked.iter().copied().flatten();
    let total = measured.iter().map(|(_, count)| count).sum::<f64>() - late
        + blocked().map(BlockedTime::omitted).sum::<f64>();
    let allowed = (1.0 - q) * total;
    let above = |ms: f64| {
        let from = measured.partition_point(|(value, _)| *value <= ms);
        measured[from..].iter().map(|(_, count)| count).sum::<f64>()
            + blocked().map(|blocked| blocked.above(ms)).sum::<f64>()
    };
    let longest = blocked().map(|blocked| blocked.length_ms + blocked.more_ms).fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, measured.last().map_or(0.0, |(ms, _)| *ms).max(longest));
    for _ in 0..SEARCH_STEPS {
        let middle = f64::midpoint(low, high);
        if above(middle) <= allowed { high = middle } else { low = middle }
    }
    high
}
