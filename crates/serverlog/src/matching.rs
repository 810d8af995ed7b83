//! Matches the requests of a run with the lines of a log.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::entry::LoggedRequest;
use crate::matches::{LostRequest, MatchCounts, MatchedRequest, Matches, StatusChange};
use crate::offset::{OffsetOverTime, find_offset};
use crate::rough_offset::rough_offset;
use crate::sent::SentRequest;
use crate::window_match::{Found, Grouped, Interval, Point};

/// Settings of [`match_requests`].
#[derive(Debug, Clone, Copy)]
pub struct MatchSettings {
    /// Maximum offset between the clocks in ns.
    pub offset_max_ns: i64,
    /// Maximum number of lost requests in [`Matches::lost`].
    pub listed_max: usize,
}

impl Default for MatchSettings {
    fn default() -> MatchSettings {
        MatchSettings { offset_max_ns: 900_000_000_000, listed_max: 20 }
    }
}

/// A line may be stamped this much before the start or after the end of its request, in addition to the bounds of the offset.
const SLACK_NS: i64 = 2_000_000;

/// The same for requests and lines that are left over: a server can be interrupted between the response and its log.
const LATE_LINE_NS: i64 = 100_000_000;

/// A server may write the line of a request without a response this much later, in ns: it notices the closed connection only when it
/// answers.
const LATE_NS: i64 = 60_000_000_000;

/// If fewer than this share of the requests to a server have a line, while others have one, the log belongs to other servers.
const COVERED_MIN: f64 = 0.02;

/// If fewer than this share of the requests have a line, the comparison is repeated without queries.
const QUERY_MIN: f64 = 0.3;

/// An address belongs to the generator if at least this share of its lines during the run have a request.
const OWN_MIN: f64 = 0.5;

/// Matches requests, sorted by start, with lines, sorted by stamp.
///
/// Without identifiers, a line and a request can belong together if they have the same path, query and status and the stamp lies
/// between the start and the end of the request. The result has the largest possible number of pairs. A lost request is therefore
/// not noticed if another client sent the same request at the same time.
#[must_use]
pub fn match_requests(sent: &[SentRequest], logged: &[LoggedRequest], settings: MatchSettings) -> Matches {
    let with_query = Matching::new(sent, logged, settings, Comparison::Target).run();
    let few = |matches: &Matches| (matches.counts.arrived as f64) < QUERY_MIN * sent.len() as f64;
    if !few(&with_query) {
        return with_query;
    }
    let mut without = Matching::new(sent, logged, settings, Comparison::Path).run();
    if few(&without) || without.counts.arrived <= with_query.counts.arrived {
        return with_query;
    }
    without.counts.without_query = true;
    without
}

/// The properties that a request and its line have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Target,
    Path,
}

/// The key of a path and a status.
fn keyed(target: u64, status: u16) -> u64 {
    target.wrapping_add(u64::from(status).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

struct Matching<'a> {
    sent: &'a [SentRequest],
    logged: std::borrow::Cow<'a, [LoggedRequest]>,
    requests: std::borrow::Cow<'a, [SentRequest]>,
    settings: MatchSettings,
}

/// The state of a comparison: the line of each request and the request of each line.
struct Assignment {
    line_of: Vec<Option<(u32, bool)>>,
    has_request: Vec<bool>,
}

impl Assignment {
    fn new(requests: usize, lines: usize) -> Assignment {
        Assignment { line_of: vec![None; requests], has_request: vec![false; lines] }
    }

    fn add(&mut self, found: &[Found]) {
        for pair in found {
            self.line_of[pair.interval as usize] = Some((pair.point, pair.is_certain));
            self.has_request[pair.point as usize] = true;
        }
    }
}

impl<'a> Matching<'a> {
    fn new(
        sent: &'a [SentRequest],
        logged: &'a [LoggedRequest],
        settings: MatchSettings,
        comparison: Comparison,
    ) -> Matching<'a> {
        match comparison {
            Comparison::Target => Matching { sent, logged: logged.into(), requests: sent.into(), settings },
            Comparison::Path => Matching {
                sent,
                logged: logged.iter().map(|line| LoggedRequest { target: line.path, ..*line }).collect(),
                requests: sent
                    .iter()
                    .map(|request| SentRequest { target: request.path, ..*request })
                    .collect(),
                settings,
            },
        }
    }

    fn run(&self) -> Matches {
        let by_id = self.has_ids();
        let rough_ns = rough_offset(&self.requests, &self.logged, self.settings.offset_max_ns).unwrap_or(0);
        let offset = find_offset(&self.requests, &self.logged, rough_ns, keyed);
        let Some(offset) = offset else {
            return self.result(Assignment::new(self.sent.len(), self.logged.len()), None, &[], &[], by_id);
        };
        let all_requests = vec![true; self.sent.len()];
        let all_lines = vec![true; self.logged.len()];
        let first = self.assign(&offset, &all_requests, &all_lines, by_id);
        let other_servers = self.other_servers(&first);
        let own_lines = self.own_lines(&first, &offset);
        let covered: Vec<bool> = self
            .sent
            .iter()
            .map(|request| !other_servers.iter().any(|(server, _)| *server == request.server))
            .collect();
        let assignment = if other_servers.is_empty() && own_lines.iter().all(|own| *own) {
            first
        } else {
            self.assign(&offset, &covered, &own_lines, by_id)
        };
        self.result(assignment, Some(&offset), &other_servers, &own_lines, by_id)
    }

    /// Whether requests and lines have identifiers in common.
    fn has_ids(&self) -> bool {
        let ids: FxHashSet<u64> =
            self.sent.iter().filter(|request| request.id > 0).map(|request| request.id).collect();
        let common = self.logged.iter().filter(|line| ids.contains(&line.id)).count();
        !ids.is_empty() && common * 2 >= ids.len().min(self.logged.len())
    }

    /// The largest matching: first of requests with a response and lines with the same status, then of those left over with late lines,
    /// then with lines of any status, then of requests without a response.
    fn assign(&self, offset: &OffsetOverTime, requests: &[bool], lines: &[bool], by_id: bool) -> Assignment {
        let mut assignment = Assignment::new(self.sent.len(), self.logged.len());
        type Wanted = fn(&SentRequest) -> bool;
        let answered: Wanted = |request| request.status > 0;
        let failed: Wanted = |request| request.status == 0;
        let passes = [
            (answered, true, SLACK_NS, 0),
            (answered, true, LATE_LINE_NS, 0),
            (answered, false, LATE_LINE_NS, 0),
            (failed, false, LATE_LINE_NS, LATE_NS),
        ];
        for (wanted, with_status, slack_ns, late_ns) in passes {
            let slack_ns = offset.half_width_ns.saturating_add(slack_ns);
            let key = |target: u64, status: u16, id: u64| match (by_id, with_status) {
                (true, _) => id,
                (_, true) => keyed(target, status),
                _ => target,
            };
            // The start of a failed request is known if the log has it; its end is not.
            let by_start = late_ns > 0 && self.logged.iter().all(|line| line.start_ns().is_some());
            let late_ns = if by_id {
                LATE_NS
            } else if by_start {
                0
            } else {
                late_ns
            };
            let intervals: Vec<Interval> = (0..)
                .zip(&*self.requests)
                .filter(|&(at, request)| {
                    wanted(request) && requests[at as usize] && assignment.line_of[at as usize].is_none()
                })
                .map(|(index, request)| Interval {
                    key: key(request.target, request.status, request.id),
                    from_ns: request.start_ns,
                    to_ns: request.end_ns.saturating_add(late_ns),
                    index,
                })
                .collect();
            if intervals.is_empty() {
                continue;
            }
            let points: Vec<Point> = (0..)
                .zip(&*self.logged)
                .filter(|(at, line)| {
                    lines[*at as usize] && !assignment.has_request[*at as usize] && (!by_id || line.id > 0)
                })
                .map(|(index, line)| {
                    let (ns, tick_ns) = match line.start_ns().filter(|_| by_start) {
                        Some(start_ns) => (start_ns, line.start_tick_ns()),
                        None => (line.end_ns(), line.end_tick_ns()),
                    };
                    let tick_ns = i64::try_from(tick_ns).unwrap_or(i64::MAX / 4);
                    Point { key: key(line.target, line.status, line.id), ns, tick_ns, index }
                })
                .collect();
            let mut found = Grouped::new(intervals, points).pairs(&|at| offset.at(at), slack_ns);
            if !with_status || slack_ns >= LATE_LINE_NS {
                // A pair of leftovers may consist of a request and the line of another one.
                found.iter_mut().for_each(|pair| pair.is_certain &= by_id);
            }
            assignment.add(&found);
        }
        assignment
    }

    /// The servers whose requests have no lines, although those of others have.
    fn other_servers(&self, assignment: &Assignment) -> Vec<(u32, u64)> {
        let mut counts: FxHashMap<u32, (u64, u64)> = FxHashMap::default();
        for (request, line) in self.sent.iter().zip(&assignment.line_of) {
            let (requests, arrived) = counts.entry(request.server).or_default();
            *requests += 1;
            *arrived += u64::from(line.is_some());
        }
        let share = |(requests, arrived): (u64, u64)| arrived as f64 / requests as f64;
        if counts.values().all(|counts| share(*counts) < COVERED_MIN) {
            return Vec::new();
        }
        let mut others: Vec<(u32, u64)> = counts
            .into_iter()
            .filter(|(_, counts)| share(*counts) < COVERED_MIN)
            .map(|(server, (requests, _))| (server, requests))
            .collect();
        others.sort_unstable();
        others
    }

    /// The lines from addresses of the generator; all lines if the log has no addresses.
    fn own_lines(&self, assignment: &Assignment, offset: &OffsetOverTime) -> Vec<bool> {
        let (from_ns, to_ns) = self.window_ns(offset);
        let mut counts: FxHashMap<u64, (u64, u64)> = FxHashMap::default();
        for (line, has_request) in self.logged.iter().zip(&assignment.has_request) {
            if (from_ns..=to_ns).contains(&line.stamp_ns) {
                let (lines, matched) = counts.entry(line.client).or_default();
                *lines += 1;
                *matched += u64::from(*has_request);
            }
        }
        let is_own = |client: u64| {
            counts.get(&client).is_none_or(|(lines, matched)| *matched as f64 >= OWN_MIN * *lines as f64)
        };
        self.logged.iter().map(|line| is_own(line.client)).collect()
    }

    /// The time of the run by the clock of the server.
    fn window_ns(&self, offset: &OffsetOverTime) -> (i64, i64) {
        let first = self.sent.first().map_or(0, |request| request.start_ns);
        let last = self.sent.iter().map(|request| request.end_ns).max().unwrap_or(0);
        let tick =
            self.logged.first().map_or(0, |line| i64::try_from(line.end_tick_ns()).unwrap_or(i64::MAX / 4));
        (
            first.saturating_add(offset.at(first)).saturating_sub(offset.half_width_ns).saturating_sub(tick),
            last.saturating_add(offset.at(last)).saturating_add(offset.half_width_ns),
        )
    }

    fn result(
        &self,
        assignment: Assignment,
        offset: Option<&OffsetOverTime>,
        other_servers: &[(u32, u64)],
        own_lines: &[bool],
        by_id: bool,
    ) -> Matches {
        let mut counts = MatchCounts { by_id, ..MatchCounts::default() };
        let (mut pairs, mut lost) = (Vec::new(), Vec::new());
        let mut changes: FxHashMap<(u16, u16), u64> = FxHashMap::default();
        for (index, (request, line)) in (0_u32..).zip(self.sent.iter().zip(&assignment.line_of)) {
            if other_servers.iter().any(|(server, _)| *server == request.server) {
                continue;
            }
            counts.sent += 1;
            let has_response = request.status > 0;
            let Some((line, is_certain)) = *line else {
                if has_response {
                    counts.answered_elsewhere += 1;
                } else {
                    counts.lost += 1;
                }
                if lost.len() < self.settings.listed_max {
                    lost.push(LostRequest { sent: index, has_response });
                }
                continue;
            };
            counts.arrived += 1;
            counts.arrived_without_response += u64::from(!has_response);
            let logged = self.logged[line as usize].status;
            if has_response && logged != request.status && logged > 0 {
                counts.other_status += 1;
                *changes.entry((request.status, logged)).or_default() += 1;
            }
            pairs.push(MatchedRequest { sent: index, line, is_certain });
        }
        let lines_of_run = self.count_lines(&assignment, offset, own_lines, &mut counts);
        let mut status_changes: Vec<StatusChange> = changes
            .into_iter()
            .map(|((received, logged), requests)| StatusChange { received, logged, requests })
            .collect();
        status_changes
            .sort_unstable_by_key(|change| (u64::MAX - change.requests, change.received, change.logged));
        let bounds = offset.map(|offset| offset.bounds);
        let other_servers = other_servers.to_vec();
        Matches { counts, offset: bounds, pairs, lost, lines_of_run, status_changes, other_servers }
    }

    /// Counts the lines, and returns those of the run.
    fn count_lines(
        &self,
        assignment: &Assignment,
        offset: Option<&OffsetOverTime>,
        own_lines: &[bool],
        counts: &mut MatchCounts,
    ) -> Vec<u32> {
        let Some(offset) = offset else {
            counts.outside = self.logged.len() as u64;
            return Vec::new();
        };
        let (from_ns, to_ns) = self.window_ns(offset);
        let ids: FxHashSet<u64> = match counts.by_id {
            true => self.sent.iter().map(|request| request.id).collect(),
            false => FxHashSet::default(),
        };
        let mut of_run = Vec::new();
        for (index, (line, has_request)) in (0_u32..).zip(self.logged.iter().zip(&assignment.has_request)) {
            let is_own = match counts.by_id {
                true => line.id > 0 && ids.contains(&line.id),
                false => own_lines[index as usize],
            };
            if *has_request {
                of_run.push(index);
            } else if !(from_ns..=to_ns).contains(&line.stamp_ns) {
                counts.outside += 1;
            } else if is_own {
                counts.repeated += 1;
                of_run.push(index);
            } else {
                counts.foreign += 1;
            }
        }
        of_run
    }
}
