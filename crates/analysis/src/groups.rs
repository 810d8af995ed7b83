//! The results of each thread group. Detects totals that mix groups which should be read separately.

use std::collections::BTreeMap;

use busyhour_sample::{ApdexLimits, GroupTotals, RunTotals, SampleKind};
use serde::{Deserialize, Serialize};

use crate::rounding::round;
use crate::row::Row;

/// A group is ignored if its shares of the requests and of the total response time are both below this.
const SHARE_MIN: f64 = 0.01;

/// Groups that overlap by at most this share of the shorter one count as consecutive.
const OVERLAP_MAX: f64 = 0.05;

/// Maximum number of thread groups or labels that a caveat lists.
const NAMED_MAX: usize = 4;

/// The results of one thread group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupRows {
    /// The group's name in the plan.
    pub name: String,
    /// The group's number, from 1, as in the names of its threads; 0 when unknown.
    pub number: u32,
    /// Whether the group is a setUp or tearDown thread group. JMeter's result files do not contain this information.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub set_up_or_tear_down: bool,
    /// First start of a request, in seconds from the start of the run.
    pub from_s: f64,
    /// Last end of a request, in seconds from the start of the run.
    pub to_s: f64,
    /// All requests of the group. Rates are computed over the time from `from_s` to `to_s`, or over the window of the summary.
    pub total: Row,
    /// Requests and transactions of the group by label.
    pub labels: Vec<Row>,
}

impl GroupRows {
    /// The rows of each group of a run; `window_s` is the length of the measured part, unless that is the whole run.
    pub(crate) fn of(totals: &RunTotals, window_s: Option<f64>) -> Vec<GroupRows> {
        totals.groups.iter().map(|group| GroupRows::of_group(group, window_s, totals.apdex)).collect()
    }

    fn of_group(group: &GroupTotals, window_s: Option<f64>, apdex: ApdexLimits) -> GroupRows {
        let (from_s, to_s) = span_s(group).unwrap_or_default();
        let over_s = window_s.unwrap_or(to_s - from_s);
        let row = |label: &str, kind, totals| {
            // The distribution of a label's times is stored only for all groups together.
            Row { distribution: Vec::new(), ..Row::of(label, kind, totals, over_s, apdex) }
        };
        GroupRows {
            name: group.name.name.clone(),
            number: group.name.number,
            set_up_or_tear_down: group.is_set_up_or_tear_down,
            from_s: round(from_s),
            to_s: round(to_s),
            total: row("Total", SampleKind::Request, &group.total),
            labels: group.labels.iter().map(|label| row(&label.name, label.kind, &label.totals)).collect(),
        }
    }
}

/// First start and last end of a group's requests, in seconds from the start of the run.
fn span_s(group: &GroupTotals) -> Option<(f64, f64)> {
    group.span().map(|(first, last)| (first.as_secs_f64(), last.as_secs_f64()))
}

/// A thread group in a caveat.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPhase {
    /// Name of the group.
    pub name: String,
    /// First start of a request, in seconds from the start of the run.
    pub from_s: f64,
    /// Last end of a request, in seconds from the start of the run.
    pub to_s: f64,
    /// Number of requests of the group.
    pub requests: u64,
}

/// The groups in order of time, if some of them ran before or after others. `None` if they ran at the same time, or if
/// only one of them has a noticeable share of the requests.
pub(crate) fn mixed_phases(totals: &RunTotals) -> Option<Vec<GroupPhase>> {
    let all_ns = totals.total.response.sum_ns as f64;
    let matters = |group: &&GroupTotals| {
        let requests = group.total.samples as f64 / totals.total.samples.max(1) as f64;
        let time = group.total.response.sum_ns as f64 / all_ns.max(1.0);
        group.total.samples > 0 && (requests >= SHARE_MIN || time >= SHARE_MIN)
    };
    let mut groups: Vec<&GroupTotals> = totals.groups.iter().filter(matters).collect();
    if groups.len() < 2 {
        return None;
    }
    groups.sort_by_key(|group| group.total.first_start);
    let mut end_s = 0.0_f64;
    let mut shortest_s = f64::INFINITY;
    let are_consecutive =
        groups.iter().filter_map(|group| span_s(group)).enumerate().any(|(at, (from, to))| {
            shortest_s = shortest_s.min(to - from);
            // The last request of one group may still be in flight when the next group starts.
            let is_after = at > 0 && from >= end_s - OVERLAP_MAX * shortest_s;
            end_s = end_s.max(to);
            is_after
        });
    if !are_consecutive && !groups.iter().any(|group| group.is_set_up_or_tear_down) {
        return None;
    }
    let phase = |group: &&GroupTotals| {
        let (from_s, to_s) = span_s(group)?;
        let (name, requests) = (group.name.name.clone(), group.total.samples);
        Some(GroupPhase { name, from_s, to_s, requests })
    };
    Some(groups.iter().filter_map(phase).collect())
}

/// Labels that occur in the samples of several thread groups, in order of first appearance.
pub(crate) fn shared_labels(totals: &RunTotals) -> Vec<String> {
    let mut parts: BTreeMap<(&str, SampleKind), Vec<u64>> = BTreeMap::new();
    for label in totals.groups.iter().flat_map(|group| &group.labels) {
        parts.entry((&label.name, label.kind)).or_default().push(label.totals.samples);
    }
    let is_shared = |name: &str, kind| {
        let Some(parts) = parts.get(&(name, kind)) else { return false };
        let all: u64 = parts.iter().sum();
        parts.iter().filter(|part| **part as f64 >= SHARE_MIN * all as f64 && **part > 0).count() > 1
    };
    let labels = totals.labels.iter().filter(|label| is_shared(&label.name, label.kind));
    labels.map(|label| label.name.clone()).collect()
}

/// Describes the groups: `Data Injection (0.0 s to 12.3 s, 10213 requests), Throughput test (…)`.
pub(crate) fn describe_phases(phases: &[GroupPhase]) -> String {
    let describe = |phase: &GroupPhase| {
        let GroupPhase { name, from_s, to_s, requests } = phase;
        format!("{} ({from_s:.1} s to {to_s:.1} s, {requests} requests)", shorten_name(name))
    };
    join_names(phases.len(), phases.iter().map(describe))
}

/// Joins the first few of `count` names: `a, b, c and 3 more`.
pub(crate) fn join_names(count: usize, names: impl Iterator<Item = String>) -> String {
    let named: Vec<String> = names.take(NAMED_MAX).collect();
    let more = count.saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &more
}

/// Truncates a name to a length that fits into a sentence.
pub(crate) fn shorten_name(name: &str) -> String {
    const CHARS_MAX: usize = 60;
    match name.char_indices().nth(CHARS_MAX) {
        None => name.to_owned(),
        Some((at, _)) => format!("{}…", &name[..at]),
    }
}
