//! How slow requests were over time.
//!
//! Each request has a score: −ln(1 − u) − 1, where u is the rank of its response time among those of its label, between
//! 0 and 1 (Savage's scores). The score has mean 0, emphasizes slow requests, and does not depend on the tail of the
//! distribution. The part of the score that follows the offered load and a slow drift is subtracted: both are common
//! causes of slow requests and of busy resources.

use std::collections::BTreeMap;

use crate::load::Adjustment;
use crate::request_times::TimedRequest;
use crate::sums::Sums;

/// The largest number of slices of the measured part.
const SLICES_MAX: u64 = 1 << 16;

/// The shortest slice in ns.
const SLICE_MIN_NS: u64 = 5_000_000;

/// Labels with fewer requests are ranked together.
const LABEL_MIN: usize = 20;

/// How slow requests were, in slices of the measured part.
#[derive(Clone, Debug)]
pub struct SlowTimes {
    /// Start of the measured part in ns since the start of the run.
    pub from: u64,
    /// End of the measured part in ns since the start of the run.
    pub to: u64,
    slice_ns: u64,
    /// Sums from the start up to the start of each slice, and up to the end.
    until: Vec<Sums>,
    /// The median response time of all requests in ms.
    pub median_ms: f64,
}

impl SlowTimes {
    /// Distributes the requests that were meant to start between `from` and `to`. `is_open` states whether the requests'
    /// rate does not depend on their response times: only then is the score adjusted for the load. `None` for fewer than 100
    /// requests.
    #[must_use]
    pub fn new(requests: &[TimedRequest], (from, to): (u64, u64), is_open: bool) -> Option<SlowTimes> {
        const REQUESTS_MIN: usize = 100;
        let inside: Vec<&TimedRequest> =
            requests.iter().filter(|request| (from..to).contains(&request.start.0)).collect();
        if inside.len() < REQUESTS_MIN {
            return None;
        }
        let slice_ns = ((to - from).div_ceil(SLICES_MAX)).max(SLICE_MIN_NS);
        let slices = (to - from).div_ceil(slice_ns) as usize;
        let mut sums = vec![Sums::default(); slices];
        for of_label in by_label(&inside) {
            rank(of_label, |request, score, excess_ms, is_slow| {
                let slice = &mut sums[((request.start.0 - from) / slice_ns) as usize];
                *slice = slice.combined(
                    Sums { requests: 1.0, score, excess_ms, slow: f64::from(u8::from(is_slow)) },
                    1.0,
                );
            });
        }
        Adjustment::fit(&sums, slice_ns, is_open).apply(&mut sums);
        let mut until = Vec::with_capacity(slices + 1);
        let mut sum = Sums::default();
        until.push(sum);
        for slice in &sums {
            sum = sum.combined(*slice, 1.0);
            until.push(sum);
        }
        let mut times: Vec<u64> = inside.iter().map(|request| request.response_ns).collect();
        let middle = times.len() / 2;
        let median_ms = *times.select_nth_unstable(middle).1 as f64 / 1e6;
        Some(SlowTimes { from, to, slice_ns, until, median_ms })
    }

    /// The sums over the whole part.
    #[must_use]
    pub fn total(&self) -> Sums {
        self.until.last().copied().unwrap_or_default()
    }

    /// Length of the measured part in ns.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.to - self.from
    }

    /// The sums from the start up to a time after it, in ns; the part repeats after its end.
    fn up_to(&self, after: u64) -> Sums {
        let (rounds, after) = (after / self.length(), after % self.length());
        let slice = (after / self.slice_ns) as usize;
        let share = (after % self.slice_ns) as f64 / self.slice_ns as f64;
        let (before, next) = (self.until[slice], self.until[(slice + 1).min(self.until.len() - 1)]);
        let inside = before.combined(next.combined(before, -1.0), share);
        inside.combined(self.total(), rounds as f64)
    }

    /// The sums between two times of the run in ns, moved later by `shift`; beyond the end of the part, they are those after
    /// its start.
    #[must_use]
    pub fn between(&self, from: u64, to: u64, shift: u64) -> Sums {
        let first = from.saturating_sub(self.from) + shift;
        let last = to.saturating_sub(self.from) + shift;
        self.up_to(last).combined(self.up_to(first), -1.0)
    }
}

/// The requests of each label; those of rare labels together.
fn by_label<'r>(requests: &[&'r TimedRequest]) -> Vec<Vec<&'r TimedRequest>> {
    let mut labels: BTreeMap<u32, Vec<&TimedRequest>> = BTreeMap::new();
    for request in requests {
        labels.entry(request.label).or_default().push(request);
    }
    let (mut frequent, mut rare) = (Vec::new(), Vec::new());
    for of_label in labels.into_values() {
        if of_label.len() < LABEL_MIN {
            rare.extend(of_label);
        } else {
            frequent.push(of_label);
        }
    }
    if !rare.is_empty() {
        frequent.push(rare);
    }
    frequent
}

/// Calls `see` with each request of a label, its score, its time above the median in ms, and whether it is beyond the 95th
/// percentile.
fn rank(mut requests: Vec<&TimedRequest>, mut see: impl FnMut(&TimedRequest, f64, f64, bool)) {
    requests.sort_unstable_by_key(|request| (request.response_ns, request.start));
    let count = requests.len() as f64;
    let median = requests[requests.len() / 2].response_ns;
    let limit = requests[(requests.len() * 95 / 100).min(requests.len() - 1)].response_ns;
    let mut before = 0.0;
    // Equal times have the same score.
    for equal in requests.chunk_by(|a, b| a.response_ns == b.response_ns) {
        let rank = (before + equal.len() as f64 / 2.0) / count;
        let score = -(1.0 - rank).ln() - 1.0;
        for request in equal {
            let excess_ms = request.response_ns.saturating_sub(median) as f64 / 1e6;
            see(request, score, excess_ms, request.response_ns > limit);
        }
        before += equal.len() as f64;
    }
}

#[cfg(test)]
mod tests {
    use busyhour_sample::Nanos;

    use super::*;

    fn requests() -> Vec<TimedRequest> {
        (0..1_000u64)
            .map(|number| TimedRequest {
                start: Nanos(number * 10_000_000),
                response_ns: if number % 10 == 0 { 9_000_000 } else { 1_000_000 + number },
                label: 0,
            })
            .collect()
    }

    #[test]
    fn sums_are_of_the_requested_times_and_repeat() {
        let slow = SlowTimes::new(&requests(), (0, 10_000_000_000), false).unwrap();
        let total = slow.total();
        assert!((total.requests - 1_000.0).abs() < 1e-9);
        assert!(total.score.abs() < 20.0, "{total:?}");
        assert!((total.excess_ms - 800.0).abs() < 1.0, "{total:?}");
        let first = slow.between(0, 1_000_000_000, 0);
        assert!((first.requests - 100.0).abs() < 1e-9);
        let wrapped = slow.between(9_500_000_000, 10_000_000_000, 1_000_000_000);
        let direct = slow.between(500_000_000, 1_000_000_000, 0);
        assert!((wrapped.excess_ms - direct.excess_ms).abs() < 1e-6);
        assert!((slow.median_ms - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_drift_is_removed_from_the_scores() {
        let rows: Vec<TimedRequest> = (0..4_000u64)
            .map(|number| TimedRequest {
                start: Nanos(number * 10_000_000),
                response_ns: 1_000_000 + number * 1_000 + (number * 7_919 % 1_000) * 3_000,
                label: 0,
            })
            .collect();
        let slow = SlowTimes::new(&rows, (0, 40_000_000_000), false).unwrap();
        let score = |from_s: u64, to_s: u64| {
            let sums = slow.between(from_s * 1_000_000_000, to_s * 1_000_000_000, 0);
            sums.score / sums.requests
        };
        let (first, last) = (score(0, 20), score(20, 40));
        assert!(first.abs() < 0.1 && last.abs() < 0.1, "{first} {last}");
    }
}
