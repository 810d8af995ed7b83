//! The number of active users at the end of each second.
//!
//! A run counts how many users started and ended in each second, so its numbers are exact, even in seconds in which no sample
//! ends. A result file contains only the number of active users at the end of each sample (`allThreads`). The last sample up to
//! the end of a second determines the number for that second. In seconds in which no sample ended, the number is at least the
//! number of requests in flight.

use std::collections::{BTreeMap, BTreeSet};

use crate::nanos::Nanos;
use crate::sample::Sample;
use crate::sample_flags::SampleFlags;
use crate::starts::SecondCounts;

/// The change of the number of active users in one second, on one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UserChange {
    /// Number of the second.
    pub second: u64,
    /// Number of users that started minus the number that ended.
    pub change: i64,
}

/// The number of active users at the end of each second.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsersOverTime {
    /// The seconds at whose end the number differs from that of the previous second, in order, each with its number.
    steps: Vec<(u64, u32)>,
    /// The largest number at any time; 0 if unknown.
    pub max: u32,
}

impl UsersOverTime {
    /// The number at the end of `second`; `None` if it is unknown.
    #[must_use]
    pub fn at_end_of(&self, second: u64) -> Option<u32> {
        let after = self.steps.partition_point(|(from, _)| *from <= second);
        after.checked_sub(1).map(|at| self.steps[at].1)
    }

    /// The seconds from the first with active users up to the last change.
    #[must_use]
    pub fn seconds(&self) -> std::ops::Range<u64> {
        match (self.steps.first(), self.steps.last()) {
            (Some((first, _)), Some((last, _))) => *first..*last,
            _ => 0..0,
        }
    }

    /// The users of all generators together.
    pub fn of(sources: &[UserCounts]) -> UsersOverTime {
        let sources: Vec<SourceSteps> = sources.iter().filter_map(UserCounts::steps).collect();
        let seconds: BTreeSet<u64> = sources.iter().flat_map(|source| source.0.keys().copied()).collect();
        let mut current = vec![(0u32, 0u32); sources.len()];
        let mut users = UsersOverTime::default();
        for second in seconds {
            for (at, SourceSteps(steps)) in sources.iter().enumerate() {
                current[at] = match steps.get(&second) {
                    Some(step) => *step,
                    None => (current[at].0, current[at].0),
                };
            }
            let sum = |of: fn(&(u32, u32)) -> u32| current.iter().map(of).fold(0, u32::saturating_add);
            let at_end = sum(|(at_end, _)| *at_end);
            users.max = users.max.max(sum(|(_, max)| *max));
            if users.steps.last().is_none_or(|(_, before)| *before != at_end) {
                users.steps.push((second, at_end));
            }
        }
        users
    }

    /// Makes all seconds relative to an origin that is `seconds` later, so that they become smaller.
    pub fn move_origin(&mut self, seconds: u64) {
        self.steps.iter_mut().for_each(|(second, _)| *second = second.saturating_sub(seconds));
    }
}

/// By second: the number of users at its end, and the maximum in it. The number at the end of a missing second is that of the
/// previous one.
struct SourceSteps(BTreeMap<u64, (u32, u32)>);

/// The active users of one generator.
#[derive(Debug, Clone, Default)]
pub struct UserCounts {
    /// By second: users that started minus users that ended. Empty for result files.
    changes: BTreeMap<u64, i64>,
    /// By second: the numbers of users according to the samples that ended in it.
    seen: BTreeMap<u64, SeenUsers>,
    /// The second of the last sample, which is not in `seen` yet.
    last: Option<(u64, SeenUsers)>,
    /// Number of requests that started in each second, and that ended in each second; `None` if the times are too far apart.
    started: Option<SecondCounts>,
    ended: Option<SecondCounts>,
}

/// The active users according to the samples that ended in one second.
#[derive(Debug, Clone, Copy, Default)]
struct SeenUsers {
    /// The last end of a sample, and the number of users at that time.
    latest: (Nanos, u32),
    most: u32,
}

impl SeenUsers {
    fn merge(&mut self, other: SeenUsers) {
        self.latest = self.latest.max(other.latest);
        self.most = self.most.max(other.most);
    }
}

impl UserCounts {
    /// Counts for a result file, for which requests are counted as well.
    pub fn of_file() -> UserCounts {
        let (started, ended) = (Some(SecondCounts::default()), Some(SecondCounts::default()));
        UserCounts { started, ended, ..UserCounts::default() }
    }

    /// Counts the users that a sample reports. Counts a request as started and ended.
    #[inline]
    pub fn sample(&mut self, sample: &Sample<'_>, is_request: bool) {
        let is_excluded = |flag| sample.flags.contains(flag);
        if is_excluded(SampleFlags::LISTENERS_ONLY) || is_excluded(SampleFlags::WARMUP) {
            return;
        }
        let end = sample.times.end;
        let seen = SeenUsers { latest: (end, sample.users.all), most: sample.users.all };
        match &mut self.last {
            Some((second, known)) if *second == end.second() => known.merge(seen),
            _ => self.next_second(end.second(), seen),
        }
        if is_request {
            count(&mut self.started, sample.times.start.second());
            count(&mut self.ended, end.second());
        }
    }

    #[cold]
    fn next_second(&mut self, second: u64, seen: SeenUsers) {
        if let Some((before, seen)) = self.last.replace((second, seen)) {
            self.seen.entry(before).or_default().merge(seen);
        }
    }

    /// Adds changes of the number of active users.
    pub fn change(&mut self, changes: &[UserChange]) {
        for UserChange { second, change } in changes {
            let sum = self.changes.entry(*second).or_default();
            *sum = sum.saturating_add(*change);
        }
    }

    /// The numbers by second; `None` if they are unknown.
    fn steps(&self) -> Option<SourceSteps> {
        let mut seen = self.seen.clone();
        if let Some((second, last)) = self.last {
            seen.entry(second).or_default().merge(last);
        }
        if !self.changes.is_empty() {
            return Some(self.exact_steps(&seen));
        }
        if seen.values().all(|seen| seen.most == 0) {
            return None;
        }
        let in_flight = self.in_flight();
        let mut steps = BTreeMap::new();
        let mut before: Option<(u64, u32)> = None;
        for (second, seen) in &seen {
            let at_end = seen.latest.1;
            if let Some((last, users)) = before {
                let between = in_flight.range(last + 1..*second);
                steps.extend(
                    between
                        .map(|(second, requests)| (*second, *requests.max(&users)))
                        .map(|(second, users)| (second, (users, users))),
                );
            }
            steps.insert(*second, (at_end, seen.most));
            before = Some((*second, at_end));
        }
        let (last, _) = before?;
        steps.insert(last + 1, (0, 0));
        Some(SourceSteps(steps))
    }

    fn exact_steps(&self, seen: &BTreeMap<u64, SeenUsers>) -> SourceSteps {
        let mut steps = BTreeMap::new();
        let mut users = 0i64;
        let seconds: BTreeSet<u64> = self.changes.keys().chain(seen.keys()).copied().collect();
        for second in seconds {
            users = users.saturating_add(self.changes.get(&second).copied().unwrap_or(0));
            let at_end = u32::try_from(users.max(0)).unwrap_or(u32::MAX);
            let most = seen.get(&second).map_or(0, |seen| seen.most);
            steps.insert(second, (at_end, at_end.max(most)));
        }
        SourceSteps(steps)
    }

    /// The requests in flight at the end of each second in which no request ended.
    fn in_flight(&self) -> BTreeMap<u64, u32> {
        let (Some(started), Some(ended)) = (&self.started, &self.ended) else { return BTreeMap::new() };
        let mut in_flight = BTreeMap::new();
        let mut now = 0i64;
        let last = ended.first + ended.counts.len() as u64;
        for second in started.first..last {
            let ended = ended.of(second);
            now += started.of(second) as i64 - ended as i64;
            if ended == 0 {
                in_flight.insert(second, u32::try_from(now.max(0)).unwrap_or(u32::MAX));
            }
        }
        in_flight
    }
}

fn count(counts: &mut Option<SecondCounts>, second: u64) {
    if let Some(known) = counts
        && !known.add(second, 1)
    {
        *counts = None;
    }
}

/// Merges `change` of `second` into the changes of a core, which are in order of time.
pub fn note_change(changes: &mut Vec<UserChange>, second: u64, change: i64) {
    match changes.last_mut() {
        Some(last) if last.second == second => last.change = last.change.saturating_add(change),
        _ => changes.push(UserChange { second, change }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{ActiveUsers, SampleTimes};

    fn sample(start_ms: u64, end_ms: u64, users: u32) -> Sample<'static> {
        let (start, end) = (Nanos::from_millis(start_ms), Nanos::from_millis(end_ms));
        Sample {
            times: SampleTimes { intended: start, start, end, ..SampleTimes::default() },
            users: ActiveUsers { group: users, all: users },
            ..Sample::default()
        }
    }

    fn ends(users: &UsersOverTime, seconds: std::ops::Range<u64>) -> Vec<Option<u32>> {
        seconds.map(|second| users.at_end_of(second)).collect()
    }

    #[test]
    fn users_of_a_run_are_known_while_nothing_completes() {
        let mut counts = UserCounts::default();
        counts.sample(&sample(0, 500, 3), true);
        let change = |second, change| UserChange { second, change };
        // The second core reports later.
        counts.change(&[change(0, 2), change(1, 100), change(2, 100)]);
        counts.change(&[change(0, 1), change(3, -203)]);
        counts.sample(&sample(1_000, 3_500, 203), true);
        let users = UsersOverTime::of(&[counts]);
        assert_eq!(ends(&users, 0..5), [Some(3), Some(103), Some(203), Some(0), Some(0)]);
        assert_eq!((users.max, users.seconds()), (203, 0..3));
    }

    #[test]
    fn users_of_a_file_are_those_of_the_last_row_or_of_the_requests_in_flight() {
        let rows = [
            sample(100, 300, 4),
            sample(200, 700, 5),
            // If two samples end at the same time, the larger number is used.
            sample(300, 700, 4),
            // Nothing ends from 1 s to 4 s, while requests start.
            sample(1_200, 4_100, 9),
            sample(1_300, 4_100, 8),
            sample(1_400, 4_100, 8),
            sample(2_400, 4_200, 7),
            sample(2_500, 4_200, 7),
            sample(2_600, 4_300, 7),
        ];
        let mut forward = UserCounts::of_file();
        rows.iter().for_each(|row| forward.sample(row, true));
        let mut backward = UserCounts::of_file();
        rows.iter().rev().for_each(|row| backward.sample(row, true));
        let users = UsersOverTime::of(&[forward.clone()]);
        assert_eq!(users, UsersOverTime::of(&[backward]));
        assert_eq!(ends(&users, 0..6), [Some(5), Some(5), Some(6), Some(6), Some(7), Some(0)]);
        assert_eq!(users.max, 9);
        // The users of several generators are added.
        let both = UsersOverTime::of(&[forward.clone(), forward]);
        assert_eq!((ends(&both, 0..3), both.max), (vec![Some(10), Some(10), Some(12)], 18));
        assert_eq!(UsersOverTime::of(&[UserCounts::of_file()]).at_end_of(3), None);
    }
}
