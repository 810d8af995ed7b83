//! The seconds in which slow requests were in flight.

use std::collections::BTreeMap;

/// Labels with fewer requests are ranked together.
const LABEL_MIN: usize = 20;

/// The longest part of a run that is divided into seconds.
const SECONDS_MAX: u64 = 1 << 20;

const SECOND_NS: u64 = 1_000_000_000;

/// A request between its intended start and its end, in ns since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Its intended start.
    pub from: u64,
    /// The end of its response.
    pub to: u64,
    /// A number for the label.
    pub label: u32,
}

/// The seconds of a part of the run in which slow requests were in flight unusually often: of the requests in flight in the second, at
/// least twice as large a share as in the whole part belongs to the slowest tenth of their label. If that share is more than a third,
/// the limit is halfway between the share and 1. Seconds that follow each other are joined.
#[must_use]
pub fn slow_seconds(requests: &[InFlight], part: (u64, u64)) -> Vec<(u64, u64)> {
    let count = part.1.saturating_sub(part.0).div_ceil(SECOND_NS);
    if count == 0 || count > SECONDS_MAX {
        return Vec::new();
    }
    let is_slow = slowest_tenth(requests);
    // Changes of the number of requests in flight, slow and all, at the start of each second.
    let mut changes = vec![(0i64, 0i64); count as usize + 1];
    for (request, is_slow) in requests.iter().zip(&is_slow) {
        if request.to < part.0 || request.from >= part.1 {
            continue;
        }
        let first = request.from.saturating_sub(part.0) / SECOND_NS;
        let last = (request.to.min(part.1 - 1) - part.0) / SECOND_NS;
        let slow = i64::from(*is_slow);
        let (start, end) = (&mut changes[first as usize], last as usize + 1);
        *start = (start.0 + slow, start.1 + 1);
        let end = &mut changes[end];
        *end = (end.0 - slow, end.1 - 1);
    }
    let (mut slow, mut all) = (0, 0);
    let seconds: Vec<(i64, i64)> = changes[..count as usize]
        .iter()
        .map(|change| {
            (slow, all) = (slow + change.0, all + change.1);
            (slow, all)
        })
        .collect();
    joined(&seconds, part)
}

/// The seconds beyond the limit as windows.
fn joined(seconds: &[(i64, i64)], part: (u64, u64)) -> Vec<(u64, u64)> {
    let (slow, all) = seconds.iter().fold((0, 0), |sum, second| (sum.0 + second.0, sum.1 + second.1));
    if slow == 0 {
        return Vec::new();
    }
    let share = slow as f64 / all as f64;
    let limit = (2.0 * share).min(f64::midpoint(1.0, share));
    let mut windows: Vec<(u64, u64)> = Vec::new();
    for (number, (slow, all)) in seconds.iter().enumerate() {
        if *slow == 0 || (*slow as f64) < limit * *all as f64 {
            continue;
        }
        let from = part.0 + number as u64 * SECOND_NS;
        let to = (from + SECOND_NS).min(part.1);
        match windows.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => windows.push((from, to)),
        }
    }
    windows
}

/// Whether each request belongs to the slowest tenth of its label.
fn slowest_tenth(requests: &[InFlight]) -> Vec<bool> {
    let mut labels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, request) in requests.iter().enumerate() {
        labels.entry(request.label).or_default().push(at);
    }
    let (frequent, rare): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
        labels.into_values().partition(|requests| requests.len() >= LABEL_MIN);
    let mut is_slow = vec![false; requests.len()];
    for of_label in frequent.into_iter().chain([rare.concat()]) {
        let mut times: Vec<u64> =
            of_label.iter().map(|at| requests[*at].to.saturating_sub(requests[*at].from)).collect();
        let limit_at = times.len() * 9 / 10;
        if limit_at >= times.len() {
            continue;
        }
        let limit = *times.select_nth_unstable(limit_at).1;
        for at in of_label {
            let time = requests[at].to.saturating_sub(requests[at].from);
            // Equal times at the limit do not make most requests slow.
            is_slow[at] = time > limit || (time == limit && times[..limit_at].iter().all(|t| *t < limit));
        }
    }
    is_slow
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(from_ms: u64, length_ms: u64) -> InFlight {
        InFlight { from: from_ms * 1_000_000, to: (from_ms + length_ms) * 1_000_000, label: 0 }
    }

    #[test]
    fn seconds_with_slow_requests_in_flight_are_found() {
        let requests: Vec<InFlight> = (0..2_000u64)
            .map(|number| {
                let at = number * 20;
                let is_held = (10_000..12_000).contains(&at);
                request(at, if is_held { 12_500 - at } else { 5 + number % 7 })
            })
            .collect();
        let windows = slow_seconds(&requests, (0, 40_000_000_000));
        assert_eq!(windows, [(10_000_000_000, 13_000_000_000)]);
    }

    #[test]
    fn equal_times_are_not_slow() {
        let requests: Vec<InFlight> = (0..500).map(|number| request(number * 20, 5)).collect();
        assert_eq!(slow_seconds(&requests, (0, 10_000_000_000)), []);
        assert_eq!(slow_seconds(&[], (0, 10_000_000_000)), []);
        assert_eq!(slow_seconds(&requests, (5, 5)), []);
    }
}
