//! The delivery of the sessions of an open workload, compared with their schedule.

use busyhour_analysis::RunFacts;
use busyhour_analysis::arrivals::{ArrivalVerdict, JudgedStarts};

use crate::numbers::{counted, ms};

/// Formats a short duration with a suitable unit.
fn span(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns / 1_000),
        _ => format!("{} ms", ms(ns as f64 / 1e6)),
    }
}

fn arrivals(count: Option<u64>, what: &str) -> String {
    match count {
        Some(0) => format!("; none {what}"),
        Some(count) => format!("; {} {what}", counted(count, "arrival")),
        None => String::new(),
    }
}

/// `starts were late by 12 µs at the median, …; no arrival waited for a user, none was dropped`; `None` if no schedule is known.
pub(crate) fn delivery(verdict: &ArrivalVerdict, run: &RunFacts) -> Option<String> {
    // Users of a closed workload have no schedule.
    let late = verdict.lateness.filter(|_| verdict.scope == JudgedStarts::SessionStarts)?;
    let [p50, p99, max] = [late.p50_ns, late.p99_ns, late.max_ns].map(span);
    let mut line = format!("starts were late by {p50} at the median, {p99} at p99, {max} at most");
    // Arrivals that wait until the end are not in the record, so the statement that no arrival waited would be wrong.
    let is_left = run.arrivals.is_some_and(|arrivals| arrivals.left_waiting > 0);
    let waited = verdict.waited.filter(|waited| *waited > 0 || !is_left);
    line += &arrivals(waited, "waited for a free user");
    if let Some(waits) = verdict.waits {
        line += &format!(" ({} at the median, {} at most)", span(waits.p50_ns), span(waits.max_ns));
    }
    line += &arrivals(verdict.discarded, "dropped");
    if let Some(cov) = verdict.schedule.as_ref().and_then(|schedule| schedule.cov) {
        line += &format!("; the schedule's own CoV is {:.2}", cov.value);
    }
    Some(line)
}

/// The users and sessions of the load, as far as they are known: `300 sessions, 5 users, 12 arrivals not started`.
pub(crate) fn who(run: &RunFacts) -> Vec<String> {
    let Some(arrivals) = run.arrivals else {
        return run.load_users().map(|users| counted(users, "user")).into_iter().collect();
    };
    // Each session is counted as a started user; the number of users that served them is not shown.
    let mut parts = vec![counted(arrivals.begun, "session")];
    let users = run.load_users().unwrap_or(0);
    if users > 0 {
        parts.push(counted(users, "user"));
    }
    if arrivals.left_waiting > 0 {
        parts.push(format!("{} not started", counted(arrivals.left_waiting, "arrival")));
    }
    parts
}
