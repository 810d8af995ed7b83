//! Formats the state of a run as texts and numbers.

use std::collections::BTreeMap;

use busyhour_launch::LoadState;
use busyhour_report::describe_change;
use busyhour_report::numbers::{clock, counted, ms, percent, thousands};
use busyhour_sample::ArrivalsInSecond;
use busyhour_series::Mark;

use crate::live_run::{Figures, LiveLabel, LiveRun};
use crate::system::{SHOWN, SystemHistory, is_frequent};

/// Shown for unknown values.
const UNKNOWN: &str = "–";

/// Maximum number of changes that are shown; the latest ones are shown.
const CHANGES_SHOWN: usize = 20;

fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}

/// The time and the users, for example `0:34 of 1:00 · 12 active users`.
pub(crate) fn when(state: &LoadState) -> String {
    let elapsed = clock(state.elapsed.as_secs());
    let of = known_length(state).map(|length| format!(" of {length}")).unwrap_or_default();
    format!("{elapsed}{of} · {}", counted(state.active, "active user"))
}

fn known_length(state: &LoadState) -> Option<String> {
    state.length.map(|length| clock(length.as_secs()))
}

/// Number of arrivals in the last second, and their total with its unit; `None` if the load has no arrivals.
#[must_use]
pub fn offered(run: &LiveRun) -> Option<[String; 2]> {
    arrivals(run, |arrivals| arrivals.scheduled, "arrival")
}

/// Number of sessions started in the last second, and their total with its unit. A session can consist of several requests.
/// `None` if the load has no arrivals.
#[must_use]
pub fn started(run: &LiveRun) -> Option<[String; 2]> {
    arrivals(run, |arrivals| arrivals.begun, "session")
}

/// Number of requests completed in the last second, and their total with its unit; `None` if no second has ended yet.
#[must_use]
pub fn completed(run: &LiveRun) -> Option<[String; 2]> {
    run.last_second()?;
    Some([thousands(run.last().completed), counted(run.total().completed, "request")])
}

fn arrivals(run: &LiveRun, of: fn(ArrivalsInSecond) -> u64, unit: &str) -> Option<[String; 2]> {
    let all = run.total().arrivals?;
    // If an open workload had no arrivals in the last second, the value is 0.
    Some([thousands(run.last().arrivals.map_or(0, of)), counted(of(all), unit)])
}

/// Texts for the elements of the page, by element id ([`busyhour_report::LIVE_TEXT_IDS`]).
pub(crate) fn words(run: &LiveRun, state: &LoadState) -> BTreeMap<&'static str, String> {
    let (now, all) = (run.last(), run.total());
    let mut words =
        BTreeMap::from([("live-when", when(state)), ("live-state", state.phase.name().to_owned())]);
    for (ids, amount) in [
        (["offered-now", "offered-all"], offered(run)),
        (["started-now", "started-all"], started(run)),
        (["completed-now", "completed-all"], completed(run)),
    ] {
        let [now, all] = amount.unwrap_or_else(|| [UNKNOWN, UNKNOWN].map(str::to_owned));
        words.insert(ids[0], now);
        words.insert(ids[1], all);
    }
    let failed = |figures: &Figures| {
        known(figures.failed_percent(), |part| match figures.failed {
            0 => "none".to_owned(),
            failed => format!("{} ({} %)", thousands(failed), percent(part)),
        })
    };
    words.insert("failed-now", failed(now));
    words.insert("failed-all", failed(all));
    words.insert("users-now", thousands(state.active));
    words.insert("users-all", known(all.users, |users| format!("{} at most", thousands(users.into()))));
    words.insert("cov-now", known(run.regularity(), |live| format!("{:.2}", live.cov)));
    words.insert("cov-all", "last 10 s".to_owned());
    let figures: [(&str, &str, fn(&Figures) -> Option<f64>); 5] = [
        ("mean-now", "mean-all", |figures| figures.response.mean_ms()),
        ("p50-now", "p50-all", |figures| figures.response.quantile_ms(0.5)),
        ("p95-now", "p95-all", |figures| figures.response.quantile_ms(0.95)),
        ("p99-now", "p99-all", |figures| figures.response.quantile_ms(0.99)),
        ("max-now", "max-all", |figures| figures.response.max_ms()),
    ];
    for (id_now, id_all, of) in figures {
        words.insert(id_now, known(of(now), ms));
        words.insert(id_all, known(of(all), ms));
    }
    system_words(run.system(), &mut words);
    words
}

/// The elements of the name and of the last value of each series of the system.
const SYSTEM_IDS: [(&str, &str); SHOWN] = [
    ("system-0-name", "system-0-now"),
    ("system-1-name", "system-1-now"),
    ("system-2-name", "system-2-now"),
    ("system-3-name", "system-3-now"),
];

/// Texts about the observed system.
fn system_words(system: &SystemHistory, words: &mut BTreeMap<&'static str, String>) {
    let mut shown = system.shown().into_iter();
    for (name, now) in SYSTEM_IDS {
        let (name_text, now_text) = shown.next().map_or_else(Default::default, |one| (one.name, one.now));
        words.insert(name, name_text);
        words.insert(now, now_text);
    }
    let note = if system.is_observed() { "" } else { "Not observed." };
    words.insert("system-note", note.to_owned());
}

/// Maximum number of listed marks of the system, separately for kinds that can occur often and for other kinds.
const SYSTEM_MARKS_LISTED: usize = 3;

/// The latest marks of the system, the newest first.
pub(crate) fn system_marks(system: &SystemHistory) -> Vec<String> {
    let newest = |frequent: bool| {
        let of_kind = move |marked: &&(String, Mark)| is_frequent(&marked.1) == frequent;
        let marks: Vec<_> = system.marks().filter(of_kind).collect();
        marks.into_iter().rev().take(SYSTEM_MARKS_LISTED)
    };
    let marks = newest(false).chain(newest(true));
    let text = |(source, mark): &(String, Mark)| {
        format!("{} {source}: {}", clock(mark.from.0 / 1_000_000_000), mark.text)
    };
    marks.map(|mark| busyhour_report::label_shown(&text(mark))).collect()
}

/// The cells of a label's row.
pub(crate) fn label_row(label: &LiveLabel) -> [String; 8] {
    let at = |q: f64| known(label.response.quantile_ms(q), ms);
    let failed = (label.completed > 0).then(|| label.failed as f64 * 100.0 / label.completed as f64);
    [
        busyhour_report::label_shown(&label.label),
        thousands(label.completed),
        thousands(label.last),
        known(failed, percent),
        known(label.response.mean_ms(), ms),
        at(0.5),
        at(0.95),
        at(0.99),
    ]
}

/// The changes so far, latest first.
#[must_use]
pub fn changes(state: &LoadState) -> Vec<String> {
    state.changes.iter().rev().take(CHANGES_SHOWN).map(describe_change).collect()
}

/// Caveats that are known during the run. `unwritten`: number of results that could not be written so far.
#[must_use]
pub fn caveats(run: &LiveRun, unwritten: u64) -> Vec<String> {
    let mut caveats = Vec::new();
    let total = run.total();
    if let Some(arrivals) = total.arrivals {
        if arrivals.dropped > 0 {
            caveats.push(format!("{} dropped: no user was free", counted(arrivals.dropped, "arrival")));
        }
        if arrivals.waited > 0 {
            caveats.push(format!("{} waited for a free user", counted(arrivals.waited, "arrival")));
        }
    }
    if let (Some(response), Some(service)) = (total.response.mean_ms(), total.service.mean_ms())
        && let Some(late_ms) = busyhour_analysis::late_ms(response, service)
    {
        caveats.push(format!(
            "{} % of the mean response time is waiting before requests started",
            percent(late_ms / response * 100.0)
        ));
    }
    if unwritten > 0 {
        caveats.push("some results could not be written: see run.log".to_owned());
    }
    caveats
}

/// Symbol of the outcome (`✓`, `✗` or `·`), criterion and observed value of each threshold so far.
#[must_use]
pub fn threshold_lines(run: &LiveRun) -> Vec<[String; 3]> {
    let line = |threshold: &busyhour_analysis::thresholds::ThresholdResult| {
        let mark = match threshold.passed {
            None => "·",
            Some(true) => "✓",
            Some(false) => "✗",
        };
        let what = threshold.name.clone().unwrap_or_else(|| threshold.text.clone());
        let seen = threshold
            .observed_text
            .as_ref()
            .map_or_else(|| "nothing yet".to_owned(), |_| threshold.describe_observed());
        [mark.to_owned(), what, seen]
    };
    run.thresholds().iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use busyhour_sample::{LiveArrivals, Snapshot};

    use super::*;
    use crate::live_run::tests::snapshot;

    #[test]
    fn values_are_unknown_before_the_first_second() {
        let words = words(&LiveRun::new(), &LoadState::default());
        let unknown = ["offered-all", "completed-now", "failed-all", "p99-all", "cov-now"];
        assert!(unknown.iter().all(|id| words[id] == UNKNOWN), "{words:?}");
        assert_eq!(words.len(), busyhour_report::LIVE_TEXT_IDS.len());
        assert!(busyhour_report::LIVE_TEXT_IDS.iter().all(|id| words.contains_key(id)));
        assert_eq!(words["live-when"], "00:00:00 · 0 active users");
    }

    #[test]
    fn caveats_are_shown_when_they_arise() {
        let mut run = LiveRun::new();
        run.take(
            &Snapshot {
                arrivals: Some(ArrivalsInSecond { scheduled: 9, begun: 7, waited: 3, dropped: 2 }),
                regularity: Some(LiveArrivals { cov: 0.987, gaps: 100 }),
                ..snapshot(0, &[("a", &[1_000_000; 4], 1)])
            },
            &[],
        );
        insta::assert_debug_snapshot!((
            caveats(&run, 1),
            words(
                &run,
                &LoadState {
                    elapsed: Duration::from_secs(3_700),
                    length: Some(Duration::from_secs(7_200)),
                    active: 2_500,
                    ..LoadState::default()
                }
            )
        ));
    }
}
