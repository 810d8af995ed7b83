//! The values of a run over time, in slices that a plot can show.

use busyhour_analysis::Series;
use serde::Serialize;

/// Maximum number of points of a plot over time; for longer runs, a point represents several seconds.
const POINTS_MAX: u64 = 900;

/// Shorter runs keep their last second even if it is incomplete, because there is little else to show.
const SECONDS_FEW: u64 = 3;

/// Rounds to three decimals, which is more than a plot shows.
fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

/// The series in slices of equal length, without gaps on the x axis.
#[derive(Debug, Default, Serialize)]
pub(super) struct Steps {
    /// Start of the first slice, in s from the start of the run.
    pub(super) from_s: u64,
    /// Length of a slice in s.
    pub(super) step_s: u64,
    /// Scheduled arrivals of open workloads, per s; empty if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) offered: Vec<f64>,
    /// Started requests, per s; empty if they were not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) started: Vec<f64>,
    /// Requests that ended, per s.
    pub(super) ended: Vec<f64>,
    /// Requests that ended and failed, per s.
    pub(super) errors: Vec<f64>,
    /// Maximum number of active users.
    pub(super) users: Vec<Option<f64>>,
    /// Percentiles of the response time in ms: the largest of the slice's seconds.
    pub(super) p50: Vec<Option<f64>>,
    pub(super) p95: Vec<Option<f64>>,
    pub(super) p99: Vec<Option<f64>>,
    /// KiB received per s.
    pub(super) received_kib: Vec<f64>,
    /// KiB sent per s.
    pub(super) sent_kib: Vec<f64>,
    /// Whether an incomplete last second was omitted.
    #[serde(skip)]
    pub(super) is_cut: bool,
}

impl Steps {
    /// The series of a run whose last request ended at `last_end_s`; `None` if nothing happened.
    pub(super) fn of(series: &Series, last_end_s: f64) -> Option<Steps> {
        let first = *series.second.first()?;
        let mut last = *series.second.last()?;
        // The rate of an incomplete second would be wrong.
        let is_cut = last > first + SECONDS_FEW && last_end_s < last as f64 + 0.95;
        last -= u64::from(is_cut);
        let length = last - first + 1;
        let step_s = length.div_ceil(POINTS_MAX);
        let slices = Slices { first, last, step_s };
        let rates = |of: &dyn Fn(usize) -> f64| slices.rates(&series.second, of);
        let largest = |of: &dyn Fn(usize) -> Option<f64>| slices.largest_values(&series.second, of);
        let where_counted = |counts: &[u64]| {
            if counts.len() == series.len() { rates(&|at| counts[at] as f64) } else { Vec::new() }
        };
        Some(Steps {
            from_s: first,
            step_s,
            offered: where_counted(&series.offered),
            started: where_counted(&series.started),
            ended: rates(&|at| series.requests[at] as f64),
            errors: rates(&|at| series.errors[at] as f64),
            users: largest(&|at| series.users[at].map(f64::from)),
            p50: largest(&|at| series.response_p50[at]),
            p95: largest(&|at| series.response_p95[at]),
            p99: largest(&|at| series.response_p99[at]),
            received_kib: rates(&|at| series.bytes[at] as f64 / 1024.0),
            sent_kib: rates(&|at| series.sent_bytes[at] as f64 / 1024.0),
            is_cut,
        })
    }

    /// Start of a slice, in s from the start of the run.
    pub(super) fn begin_s(&self, slice: usize) -> f64 {
        (self.from_s + slice as u64 * self.step_s) as f64
    }
}

/// Slices of `step_s` from second `first` to second `last`.
struct Slices {
    first: u64,
    last: u64,
    step_s: u64,
}

impl Slices {
    fn count(&self) -> usize {
        (self.last - self.first + 1).div_ceil(self.step_s) as usize
    }

    /// The index of each second that is shown, with its slice.
    fn of<'s>(&'s self, seconds: &'s [u64]) -> impl Iterator<Item = (usize, usize)> + 's {
        let shown = seconds.iter().enumerate().filter(|(_, second)| **second <= self.last);
        shown.map(|(at, second)| (at, ((second - self.first) / self.step_s) as usize))
    }

    /// The rate per second of each slice.
    fn rates(&self, seconds: &[u64], amount: &dyn Fn(usize) -> f64) -> Vec<f64> {
        let mut sums = vec![0.0; self.count()];
        self.of(seconds).for_each(|(at, slice)| sums[slice] += amount(at));
        let length = self.last - self.first + 1;
        let within = |slice: usize| (length - slice as u64 * self.step_s).min(self.step_s) as f64;
        sums.into_iter().enumerate().map(|(slice, sum)| round(sum / within(slice))).collect()
    }

    /// The largest value of each slice.
    fn largest_values(&self, seconds: &[u64], value: &dyn Fn(usize) -> Option<f64>) -> Vec<Option<f64>> {
        let mut largest: Vec<Option<f64>> = vec![None; self.count()];
        for (at, slice) in self.of(seconds) {
            if let Some(value) = value(at) {
                largest[slice] = Some(largest[slice].map_or(value, |known| known.max(value)));
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(seconds: &[u64]) -> Series {
        let none = |_: &u64| None;
        Series {
            second: seconds.to_vec(),
            requests: seconds.iter().map(|_| 10).collect(),
            errors: seconds.iter().map(|_| 1).collect(),
            bytes: seconds.iter().map(|_| 2048).collect(),
            sent_bytes: seconds.iter().map(|_| 0).collect(),
            users: seconds.iter().map(|second| Some(*second as u32)).collect(),
            response_p50: seconds.iter().map(none).collect(),
            response_p95: seconds.iter().map(|second| Some(*second as f64)).collect(),
            response_p99: seconds.iter().map(none).collect(),
            ..Series::default()
        }
    }

    #[test]
    fn seconds_without_requests_have_zero_rates_and_unknown_times() {
        let steps = Steps::of(&series(&[2, 3, 6]), 7.0).unwrap();
        assert_eq!((steps.from_s, steps.step_s, steps.is_cut), (2, 1, false));
        assert_eq!(steps.ended, [10.0, 10.0, 0.0, 0.0, 10.0]);
        assert_eq!(steps.p95, [Some(2.0), Some(3.0), None, None, Some(6.0)]);
        assert_eq!(steps.received_kib[0], 2.0);
        assert!(steps.started.is_empty() && steps.p50.iter().all(Option::is_none));
    }

    #[test]
    fn points_of_a_long_run_cover_several_seconds() {
        let seconds: Vec<u64> = (0..2_000).collect();
        let steps = Steps::of(&series(&seconds), 1_999.5).unwrap();
        assert!(steps.is_cut);
        assert_eq!((steps.step_s, steps.ended.len()), (3, 667));
        // The last slice contains only one second: 1998.
        assert_eq!((steps.ended[666], steps.p95[666]), (10.0, Some(1_998.0)));
        assert_eq!((steps.ended[0], steps.p95[0]), (10.0, Some(2.0)));
    }

    #[test]
    fn an_empty_series_has_no_slices() {
        assert!(Steps::of(&Series::default(), 0.0).is_none());
    }
}
