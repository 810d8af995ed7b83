//! The report of an experiment: its result in a sentence, effects, cases and trials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::design::{CaseSet, Design, GivenUp, JournalEntry, TrialCounts, TrialId, TrialOutcome};
use crate::effects::{
    AnalysisSettings, ExperimentAnalysis, LookPlan, RecoveredLoss, ResponseSurface, ResponseTable,
    TrialValue, analyse, effect_name, failures_sentence, recovered_loss, sentence, surfaces,
};
use crate::file::{Experiment, Repetitions, ResponseMeasure, ResponseVariable};
use crate::scale::ResponseScale;

/// Version of the format of reports.
pub const REPORT_VERSION: u32 = 1;

/// The probability that an effect on a response is claimed although there is none.
const ERROR: f64 = 0.05;

/// A trial in a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedTrial {
    /// The trial, and how it ended.
    #[serde(flatten)]
    pub entry: JournalEntry,
    /// The case, as text.
    pub case_name: String,
    /// Time of the trial with the start and stop of the system, in s.
    pub seconds: f64,
    /// The responses; `None` for unavailable ones.
    pub values: BTreeMap<String, Option<f64>>,
    /// Quantiles of the response times of all requests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quantiles: Vec<TrialQuantile>,
    /// The cause of slow requests that the explanation names; `None` if nothing was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The thresholds that failed.
    pub failed_thresholds: Vec<String>,
    /// Further facts.
    pub notes: Vec<String>,
    /// The directory, relative to that of the experiment.
    pub dir: String,
    /// Whether the directory contains a report of the run.
    pub has_report: bool,
}

/// The result for one response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedResponse {
    /// The response as in the file, such as `p95 of checkout`.
    pub response: String,
    /// Its name in reports.
    pub name: String,
    /// The unit of its values; empty for numbers without one.
    pub unit: String,
    /// The result in a sentence.
    pub sentence: String,
    /// The names of the effects, in the order of the analysis.
    pub effect_names: Vec<String>,
    /// The effects.
    pub analysis: ExperimentAnalysis,
    /// The surfaces of pairs of numeric factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub surfaces: Vec<ResponseSurface>,
    /// The part of the loss that each treatment recovers, if the file asks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovered: Vec<ReportedRecovery>,
}

/// The recovered part of a loss.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedRecovery {
    /// The treated case, counted from 1.
    pub case: u32,
    /// The recovered part; `None` if it is unknown.
    pub recovered: Option<RecoveredLoss>,
    /// Why it is unknown; empty otherwise.
    pub reason: String,
}

/// A quantile of the response times of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrialQuantile {
    /// The share of requests that did not take longer.
    pub share: f64,
    /// The response time in ms.
    pub ms: f64,
}

/// How often the explanation of a trial named each cause of slow requests, for a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseCauses {
    /// The case, counted from 1.
    pub case: u32,
    /// The identifiers of causes with their numbers of trials, most frequent first.
    pub causes: Vec<(String, u32)>,
}

/// The report of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExperimentReport {
    /// Version of the format, [`REPORT_VERSION`].
    pub version: u32,
    /// The title; empty if the file has none.
    pub title: String,
    /// The result for the first response in a sentence.
    pub sentence: String,
    /// Whether all trials of the planned repetitions are finished or given up.
    pub is_complete: bool,
    /// Number of open trials.
    pub open: u64,
    /// The factors with the names of their levels. The first response can be plotted against them.
    pub factors: Vec<ReportedFactor>,
    /// The names of the cases, in the order of their numbers.
    pub case_names: Vec<String>,
    /// The levels of each case, as indices.
    pub case_levels: Vec<Vec<usize>>,
    /// The number of the base case.
    pub base_case: u32,
    /// The responses.
    pub responses: Vec<ReportedResponse>,
    /// The causes of slow requests for each case with an explained trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<CaseCauses>,
    /// Numbers of attempts by outcome, without warm-up trials.
    pub counts: TrialCounts,
    /// The blocks and cases without a result.
    pub given_up: Vec<GivenUp>,
    /// All trials in the order of their execution, with warm-up, failed and spoiled ones.
    pub trials: Vec<ReportedTrial>,
}

/// A factor in a report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedFactor {
    /// The name.
    pub name: String,
    /// The names of the levels.
    pub levels: Vec<String>,
}

impl ExperimentReport {
    /// Analyses trials, which are in the order of their execution. `blocks` is the number of blocks that are planned now, and
    /// `open` the number of their open trials.
    #[must_use]
    pub fn new(
        experiment: &Experiment,
        design: &Design,
        (counts, given_up): (TrialCounts, Vec<GivenUp>),
        open: u64,
        trials: Vec<ReportedTrial>,
    ) -> ExperimentReport {
        let cases = design.cases();
        let responses: Vec<ReportedResponse> = experiment
            .responses
            .iter()
            .map(|response| reported(experiment, design, response, &trials))
            .collect();
        let levels = cases.cases().iter().map(|case| {
            (0..cases.factors().len()).map(|factor| cases.level(case, factor)).collect::<Vec<usize>>()
        });
        ExperimentReport {
            version: REPORT_VERSION,
            title: experiment.title.clone(),
            sentence: responses.first().map(|first| first.sentence.clone()).unwrap_or_default(),
            is_complete: open == 0,
            open,
            factors: cases
                .factors()
                .iter()
                .map(|factor| ReportedFactor { name: factor.name.clone(), levels: factor.levels.clone() })
                .collect(),
            case_names: cases.cases().iter().map(|case| cases.case_name(case)).collect(),
            case_levels: levels.collect(),
            base_case: cases
                .cases()
                .iter()
                .find(|case| case.changed.is_empty())
                .map_or(1, |case| case.number),
            responses,
            causes: case_causes(&trials),
            counts,
            given_up,
            trials,
        }
    }
}

/// What to do about trials without a result.
#[must_use]
pub fn missing_results_hint(given_up: &[GivenUp]) -> &'static str {
    let failed: u32 = given_up.iter().map(|one| one.failed).sum();
    let spoiled: u32 = given_up.iter().map(|one| one.spoiled).sum();
    if failed >= spoiled {
        "most attempts failed: remove the cause, which the table of trials names, and run the experiment again for new attempts"
    } else {
        "most attempts were spoiled: give the generator cores of its own (`cores` of [load]), or use a quieter machine; run the experiment again for new attempts"
    }
}

/// The values of a response in the finished trials of the first `blocks` blocks.
#[must_use]
pub fn response_table(
    design: &Design,
    response: &ResponseVariable,
    trials: &[ReportedTrial],
    blocks: u32,
) -> Option<ResponseTable> {
    let text = String::from(response.clone());
    let values = trials.iter().filter_map(|trial| {
        let TrialId { block, case, .. } = trial.entry.trial;
        let is_used = trial.entry.outcome == TrialOutcome::Finished && (1..=blocks).contains(&block);
        let value = trial.values.get(&text).copied().flatten().filter(|_| is_used)?;
        Some(TrialValue { block, case, value })
    });
    ResponseTable::new(design.cases().count(), response.scale(), values).ok()
}

fn reported(
    experiment: &Experiment,
    design: &Design,
    response: &ResponseVariable,
    trials: &[ReportedTrial],
) -> ReportedResponse {
    let cases = design.cases();
    let text = String::from(response.clone());
    let table = response_table(design, response, trials, u32::MAX);
    let table = table.unwrap_or_else(|| empty_table(design, response.scale()));
    let error = match experiment.trials.repetitions() {
        Repetitions::Fixed(_) => ERROR,
        Repetitions::Until { min, max, .. } => {
            let blocks = u32::try_from(table.blocks()).unwrap_or(u32::MAX);
            LookPlan::new(min, max, ERROR).map_or(ERROR, |looks| looks.error_at(blocks))
        }
    };
    let analysis = analyse(cases, &table, AnalysisSettings { error });
    let mut told = sentence(cases, &analysis, &response.title());
    if let Some(failures) = failures(cases, response, trials) {
        told = format!("{told} {failures}");
    }
    ReportedResponse {
        unit: response.unit().to_owned(),
        sentence: told,
        name: response.title(),
        effect_names: analysis.effects.iter().map(|effect| effect_name(cases, effect.kind)).collect(),
        response: text,
        surfaces: surfaces(cases, &table, error),
        recovered: recovered(experiment, cases, &table, error),
        analysis,
    }
}

/// The cases in which many requests failed, for a response that is compared between all requests, failed ones included.
fn failures(cases: &CaseSet, response: &ResponseVariable, trials: &[ReportedTrial]) -> Option<String> {
    if response.measure == ResponseMeasure::Errors {
        return None;
    }
    let errors = String::from(ResponseVariable::errors());
    let shares = trials.iter().filter_map(|trial| {
        let id = trial.entry.trial;
        let is_used = trial.entry.outcome == TrialOutcome::Finished && !id.is_warm_up();
        let share = trial.values.get(&errors).copied().flatten().filter(|_| is_used)?;
        Some((id.case, share))
    });
    failures_sentence(cases, shares)
}

/// The part of the loss that each treated case recovers. All intervals together have the confidence of the analysis.
fn recovered(
    experiment: &Experiment,
    cases: &CaseSet,
    table: &ResponseTable,
    error: f64,
) -> Vec<ReportedRecovery> {
    let Some(plan) = experiment.recovery.as_ref().and_then(|plan| plan.cases(cases)) else {
        return Vec::new();
    };
    let confidence = 1.0 - error / plan.treated.len() as f64;
    let one = |case: &u32| match recovered_loss(table, plan.without, plan.with, *case, confidence) {
        Ok(recovered) => ReportedRecovery { case: *case, recovered: Some(recovered), reason: String::new() },
        Err(reason) => ReportedRecovery { case: *case, recovered: None, reason: reason.to_string() },
    };
    plan.treated.iter().map(one).collect()
}

/// The causes that the explanations of finished trials name.
fn case_causes(trials: &[ReportedTrial]) -> Vec<CaseCauses> {
    let mut counts: BTreeMap<u32, BTreeMap<&str, u32>> = BTreeMap::new();
    for trial in trials {
        let id = trial.entry.trial;
        let is_used = trial.entry.outcome == TrialOutcome::Finished && !id.is_warm_up();
        if let Some(cause) = trial.cause.as_deref().filter(|_| is_used) {
            *counts.entry(id.case).or_default().entry(cause).or_default() += 1;
        }
    }
    let sorted = |(case, causes): (u32, BTreeMap<&str, u32>)| {
        let mut causes: Vec<(String, u32)> =
            causes.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        causes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        CaseCauses { case, causes }
    };
    counts.into_iter().map(sorted).collect()
}

fn empty_table(design: &Design, scale: ResponseScale) -> ResponseTable {
    match ResponseTable::new(design.cases().count(), scale, []) {
        Ok(table) => table,
        // Only values can make a table invalid.
        Err(_) => unreachable!("a table without values is valid"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_follows_from_the_outcomes() {
        let one = GivenUp { block: 1, case: 1, failed: 3, spoiled: 0 };
        assert!(missing_results_hint(&[one]).contains("most attempts failed"));
        let other = GivenUp { failed: 1, spoiled: 5, ..one };
        assert!(missing_results_hint(&[one, other]).contains("`cores` of [load]"));
    }
}
