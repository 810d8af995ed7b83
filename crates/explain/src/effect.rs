//! How much slower requests were when a cause was present.

use crate::signal::Signal;
use crate::slow_times::SlowTimes;
use crate::sums::Sums;

/// Maximum number of windows that are listed.
const WINDOWS_MAX: usize = 200;

/// Requests with and without a cause.
#[derive(Clone, Debug, PartialEq)]
pub struct CauseEffect {
    /// Share of the time above the median that would be absent if all requests had been as fast as those without the cause;
    /// at least 0.
    pub time_share: f64,
    /// Share of the requests beyond the 95th percentile that would be absent if slow requests were as rare as without the
    /// cause; at least 0.
    pub slow_share: f64,
    /// Share of the time in which the cause was present.
    pub present: f64,
    /// Share of the requests that were meant to start while the cause was present.
    pub requests: f64,
    /// The mean time above the median of requests with the cause, in ms.
    pub with_ms: f64,
    /// The mean time above the median of requests without the cause, in ms.
    pub without_ms: f64,
    /// Share of the requests beyond the 95th percentile of their labels, with the cause.
    pub slow_with: f64,
    /// Share of the requests beyond the 95th percentile of their labels, without the cause.
    pub slow_without: f64,
    /// Times in which the cause was present, in ns since the start of the run: the longest ones, in the order of time.
    pub windows: Vec<(u64, u64)>,
}

impl CauseEffect {
    /// The larger one of the two shares: in a distribution with a heavy tail, a few requests have most of the time.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.time_share.max(self.slow_share)
    }
}

/// The effect of a cause; `None` if, at the starts of the requests, it was always present or never.
#[must_use]
pub fn effect(slow: &SlowTimes, signal: &Signal) -> Option<CauseEffect> {
    let level = signal.presence_level()?;
    let (mut with, mut without) = (Sums::default(), Sums::default());
    let (mut time_with, mut time) = (0.0, 0.0);
    let mut windows: Vec<(u64, u64)> = Vec::new();
    for piece in &signal.pieces {
        let sums = slow.between(piece.from, piece.to, 0);
        let length = (piece.to - piece.from) as f64;
        time += length;
        if piece.value >= level {
            with.add(sums);
            time_with += length;
            match windows.last_mut() {
                Some(last) if last.1 == piece.from => last.1 = piece.to,
                _ => windows.push((piece.from, piece.to)),
            }
        } else {
            without.add(sums);
        }
    }
    if with.requests < 1.0 || without.requests < 1.0 {
        return None;
    }
    let mean = |sums: Sums, value: f64| value / sums.requests;
    let all_ms = (with.excess_ms + without.excess_ms) / (with.requests + without.requests);
    let without_ms = mean(without, without.excess_ms);
    let slow_all = (with.slow + without.slow) / (with.requests + without.requests);
    let slow_without = mean(without, without.slow);
    let absent = |without: f64, all: f64| if all > 0.0 { (1.0 - without / all).max(0.0) } else { 0.0 };
    windows.sort_by_key(|(from, to)| std::cmp::Reverse(to - from));
    windows.truncate(WINDOWS_MAX);
    windows.sort_unstable();
    Some(CauseEffect {
        time_share: absent(without_ms, all_ms),
        slow_share: absent(slow_without, slow_all),
        present: time_with / time,
        requests: with.requests / (with.requests + without.requests),
        with_ms: mean(with, with.excess_ms),
        without_ms,
        slow_with: mean(with, with.slow),
        slow_without,
        windows,
    })
}

#[cfg(test)]
mod tests {
    use busyhour_analysis::explanation::Cause;
    use busyhour_sample::Nanos;

    use super::*;
    use crate::request_times::TimedRequest;

    #[test]
    fn the_share_is_the_part_that_would_be_absent_without_the_cause() {
        let second = 1_000_000_000;
        let requests: Vec<TimedRequest> = (0..1_000u64)
            .map(|number| {
                let start = number * second / 100;
                let in_pause = start % second < second / 10;
                TimedRequest {
                    start: Nanos(start),
                    response_ns: if in_pause { 51_000_000 } else { 1_000_000 },
                    label: 0,
                }
            })
            .collect();
        let slow = SlowTimes::new(&requests, (0, 10 * second), false).unwrap();
        let pauses: Vec<(u64, u64)> = (0..10).map(|at| (at * second, at * second + second / 20)).collect();
        let signal = Signal::of_intervals((Cause::GcPauses, "gc", "pauses"), &pauses, 0, (0, 10 * second));
        let effect = effect(&slow, &signal).unwrap();
        assert!((effect.time_share - 1.0).abs() < 1e-9, "{effect:?}");
        assert!((effect.present - 0.1).abs() < 1e-9);
        assert!((effect.with_ms - 50.0).abs() < 1e-9 && effect.without_ms.abs() < 1e-9);
        assert_eq!(effect.windows.len(), 10);
    }
}
