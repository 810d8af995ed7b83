//! The sources of an observation: their outcomes, their costs, and their metrics without values.

use std::collections::BTreeMap;

use busyhour_series::SourceState;

use super::model::{SourceOutcome, SourceRow, Unavailable};
use super::source_list::{self, ListedSource, ListedState};
use super::survey::Survey;

/// Maximum number of listed sources. Further sources are only counted.
const SOURCES_MAX: usize = 200;

/// Maximum number of listed reasons. Further reasons are only counted.
const REASONS_MAX: usize = 200;

/// The sources of the file, followed by those that were not watched, and the number of sources that are not listed.
pub(super) fn sources(survey: &Survey, listed: &[ListedSource]) -> (Vec<SourceRow>, usize) {
    let about = source_list::by_name(listed);
    let mut rows: Vec<SourceRow> =
        survey.sources.iter().map(|name| row(name, about.get(name.as_str()).copied())).collect();
    for change in &survey.states {
        let Some(row) = rows.get_mut(change.source as usize) else { continue };
        let at_s = Some(change.time.0 as f64 / 1e9);
        match &change.state {
            SourceState::Watching => {
                row.at_s = None;
                row.outcome =
                    listed.iter().find(|one| one.name == row.name).map_or(SourceOutcome::Observed, outcome);
            }
            SourceState::Failed(reason) => {
                row.failures += 1;
                row.at_s = at_s;
                row.outcome = SourceOutcome::Failed(reason.clone());
            }
            SourceState::Ended(reason) => {
                row.at_s = at_s;
                row.outcome = SourceOutcome::Ended(reason.clone());
            }
        }
    }
    let by_name: BTreeMap<&str, usize> =
        survey.sources.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    for one in &survey.series {
        if let Some(row) = rows.get_mut(one.info.source as usize) {
            row.series += 1;
        }
        let of = one.label("source").and_then(|source| by_name.get(source)).and_then(|at| rows.get_mut(*at));
        let Some(row) = of else { continue };
        match one.info.name.as_str() {
            "busyhour_observe_cpu_seconds_total" => row.cost_percent = one.mean().map(|cores| cores * 100.0),
            "busyhour_observe_readings_skipped_total" => row.skipped = one.increase as u64,
            _ => {}
        }
    }
    let is_new = |one: &&ListedSource| !by_name.contains_key(one.name.as_str());
    // Several sources of one kind may have been refused, each for its own reason.
    rows.extend(listed.iter().filter(is_new).map(|one| row(&one.name, Some(one))));
    let further = rows.len().saturating_sub(SOURCES_MAX);
    // Sources that failed or were not watched come first. The order is otherwise kept.
    rows.sort_by_key(|row| matches!(row.outcome, SourceOutcome::Observed));
    rows.truncate(SOURCES_MAX);
    (rows, further)
}

fn row(name: &str, listed: Option<&ListedSource>) -> SourceRow {
    SourceRow {
        name: name.to_owned(),
        about: listed.map(|one| one.about.clone()).unwrap_or_default(),
        outcome: listed.map_or(SourceOutcome::Observed, outcome),
        at_s: None,
        failures: 0,
        series: 0,
        cost_percent: None,
        skipped: 0,
    }
}

fn outcome(one: &ListedSource) -> SourceOutcome {
    match one.state {
        ListedState::Observed => SourceOutcome::Observed,
        ListedState::Limited => {
            SourceOutcome::Limited { missing: one.reason.clone(), advice: one.advice.clone() }
        }
        ListedState::NotObserved => {
            SourceOutcome::NotObserved { reason: one.reason.clone(), advice: one.advice.clone() }
        }
    }
}

/// CPU time of the whole observation, as a share of a core in %; `None` if it was not recorded.
pub(super) fn cost_percent(survey: &Survey) -> Option<f64> {
    let is_cost = |name: &str| {
        name == "busyhour_observe_cpu_seconds_total" || name == "busyhour_stall_cpu_seconds_total"
    };
    let costs = survey.series.iter().filter(|one| is_cost(&one.info.name)).filter_map(|one| one.mean());
    costs.map(|cores| cores * 100.0).reduce(|sum, cost| sum + cost)
}

/// Metrics without values, grouped by source and reason, and the number of groups that are not listed.
pub(super) fn unavailable(survey: &Survey) -> (Vec<Unavailable>, usize) {
    let mut reasons: BTreeMap<(u32, &str), Vec<String>> = BTreeMap::new();
    for info in &survey.unavailable {
        let metrics = reasons.entry((info.source, &info.reason)).or_default();
        if !metrics.contains(&info.metric) && metrics.len() < REASONS_MAX {
            metrics.push(info.metric.clone());
        }
    }
    let further = reasons.len().saturating_sub(REASONS_MAX);
    let rows = reasons.into_iter().take(REASONS_MAX).map(|((source, reason), metrics)| Unavailable {
        source: survey.source(source).to_owned(),
        metrics,
        reason: reason.to_owned(),
    });
    (rows.collect(), further)
}
