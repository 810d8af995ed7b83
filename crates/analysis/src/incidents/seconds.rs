//! The searched part of a run by second: completed and started requests, offered arrivals, and the number of users.

use std::ops::Range;

use super::levels::median;

/// A change of the load by at least this factor explains a change of times or rates in the same direction.
const LOAD_FACTOR: f64 = 1.15;

/// If the number of users usually changes by at most this share from one second to the next, the plan determines it. Otherwise
/// users start and end with the arrivals, so that there are more users while the system is slow.
const USERS_CHANGE_MAX: f64 = 0.02;

/// With fewer users than this, one user that waits for a response changes the total rate.
const FEW_USERS: f64 = 5.0;

/// Counts per second.
#[derive(Debug, Clone, Default)]
pub(super) struct Seconds {
    /// Number of the first second.
    pub(super) from_s: u64,
    pub(super) ended: Vec<u64>,
    /// Number of started requests; empty if unknown.
    pub(super) started: Vec<u64>,
    /// Number of offered arrivals of open workloads; empty without open workloads.
    pub(super) offered: Vec<u64>,
    /// Number of active users; `None` if unknown.
    pub(super) users: Vec<Option<f64>>,
    /// Longest response time in ms; `None` if no request ended.
    pub(super) longest_ms: Vec<Option<f64>>,
}

impl Seconds {
    fn inside(&self, range: &Range<u64>) -> Range<usize> {
        let at = |second: u64| (second.saturating_sub(self.from_s) as usize).min(self.ended.len());
        at(range.start)..at(range.end)
    }

    /// The median of `values` in the range, divided by the median outside of it; 1 if one of them is unknown.
    fn factor(&self, values: &[f64], range: &Range<u64>) -> f64 {
        let inside = self.inside(range);
        if values.len() < inside.end || inside.is_empty() {
            return 1.0;
        }
        let outside: Vec<f64> = values[..inside.start].iter().chain(&values[inside.end..]).copied().collect();
        if outside.is_empty() {
            return 1.0;
        }
        let usual = median(&outside);
        if usual > 0.0 { median(&values[inside]) / usual } else { 1.0 }
    }

    fn known_users(&self) -> Vec<f64> {
        let mut last = self.users.iter().copied().flatten().next().unwrap_or(0.0);
        self.users
            .iter()
            .map(|users| {
                last = users.unwrap_or(last);
                last
            })
            .collect()
    }

    /// Whether the plan determines the number of users.
    fn has_set_users(&self) -> bool {
        let users = self.known_users();
        if !self.offered.is_empty() || users.len() < 2 {
            return false;
        }
        let changes: Vec<f64> = users.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        let middle = median(&users);
        middle > 0.0 && median(&changes) <= USERS_CHANGE_MAX * middle
    }

    /// Whether so few users wait for responses that one slow response changes the total rate.
    pub(super) fn has_few_users(&self) -> bool {
        self.has_set_users() && median(&self.known_users()) < FEW_USERS
    }

    /// Whether the requested load is known: arrivals, or a number of users.
    pub(super) fn has_load(&self) -> bool {
        !self.offered.is_empty() || self.known_users().iter().any(|users| *users > 0.0)
    }

    /// Whether the load was higher in the range than outside of it.
    pub(super) fn has_more_load(&self, range: &Range<u64>) -> bool {
        let counts = |values: &[u64]| values.iter().map(|count| *count as f64).collect::<Vec<_>>();
        let more = |values: &[f64]| self.factor(values, range) >= LOAD_FACTOR;
        if !self.offered.is_empty() {
            return more(&counts(&self.offered));
        }
        more(&counts(&self.started)) || (self.has_set_users() && more(&self.known_users()))
    }

    /// Whether the load was lower in the range than outside of it, or is unknown.
    pub(super) fn has_less_load(&self, range: &Range<u64>) -> bool {
        let less = |values: &[f64]| self.factor(values, range) <= 1.0 / LOAD_FACTOR;
        if !self.offered.is_empty() {
            let offered: Vec<f64> = self.offered.iter().map(|count| *count as f64).collect();
            return less(&offered);
        }
        !self.has_load() || less(&self.known_users())
    }

    /// The longest response time in the range, in ms.
    pub(super) fn longest_ms(&self, range: &Range<u64>) -> Option<f64> {
        self.longest_ms.get(self.inside(range))?.iter().copied().flatten().reduce(f64::max)
    }

    /// Completed requests per second inside the ranges if `inside` is set, otherwise outside of them; `None` if there is no
    /// such second.
    pub(super) fn rate(&self, ranges: &[Range<u64>], inside: bool) -> Option<f64> {
        let (mut count, mut seconds) = (0, 0_u32);
        for (at, ended) in self.ended.iter().enumerate() {
            let second = self.from_s + at as u64;
            if ranges.iter().any(|range| range.contains(&second)) == inside {
                count += ended;
                seconds += 1;
            }
        }
        (seconds > 0).then(|| count as f64 / f64::from(seconds))
    }
}
