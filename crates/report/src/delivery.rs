//! How the sessions of an open workload were delivered, beside how they were scheduled.

use busyhour_analysis::arrivals::ArrivalVerdict;

use crate::numbers::{counted, ms};

/// A short time in its unit.
fn span(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns / 1_000),
        _ => format!("{} ms", ms(ns as f64 / 1e6)),
    }
}

/// `starts were late by 12 µs at the median, …; no arrival waited for a user, none was dropped`; `None` where no
/// schedule is known.
pub(crate) fn delivery(verdict: &ArrivalVerdict) -> Option<String> {
    let late = verdict.lateness?;
    let [p50, p99, max] = [late.p50_ns, late.p99_ns, late.max_ns].map(span);
    let mut line = format!("starts were late by {p50} at the median, {p99} at p99, {max} at most");
    let mut add = |count: Option<u64>, what: &str| match count {
        Some(0) => line += &format!("; none {what}"),
        Some(count) => line += &format!("; {} {what}", counted(count, "arrival")),
        None => {}
    };
    add(verdict.waited, "waited for a free user");
    add(verdict.drops, "dropped");
    Some(line)
}
