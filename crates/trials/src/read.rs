//! Reads the directory of an experiment, and analyses its trials.

use std::collections::BTreeMap;
use std::path::Path;

use busyhour_experiment::{
    Design, Experiment, ExperimentReport, ReportedTrial, ResponseVariable, TrialOutcome, response_table,
};
use busyhour_record::RunDir;

use crate::error::ExecuteError;
use crate::journal_file::{EndedTrial, JOURNAL_FILE_NAME, JournalContent};
use crate::planned::{planned_blocks, window_s};
use crate::trial_files::trial_dir;
use crate::values;

/// The name of the copy of the file of the experiment.
pub const EXPERIMENT_FILE_NAME: &str = "experiment.toml";

/// Analyses the trials in a directory.
///
/// # Errors
/// The journal cannot be read, or belongs to another experiment.
pub fn read_report(
    experiment: &Experiment,
    design: &Design,
    content: &JournalContent,
    dir: &Path,
) -> Result<ExperimentReport, ExecuteError> {
    let outcomes = content.outcomes(design, &dir.join(JOURNAL_FILE_NAME))?;
    let trials = reported_trials(experiment, design, content, dir);
    let blocks = planned_blocks(experiment, design, &outcomes, |blocks| {
        response_table(design, experiment.responses.first()?, &trials, blocks)
    });
    let given_up = outcomes.given_up().collect();
    let open = outcomes.open_count(blocks);
    Ok(ExperimentReport::new(experiment, design, (outcomes.counts(), given_up), open, trials))
}

/// The trials for the report, in the order of their execution. Responses that the journal does not contain are computed from the
/// runs.
pub(crate) fn reported_trials(
    experiment: &Experiment,
    design: &Design,
    content: &JournalContent,
    dir: &Path,
) -> Vec<ReportedTrial> {
    let cases = design.cases();
    let reported = content.ended.iter().map(|ended| {
        let id = ended.entry.trial;
        let run = trial_dir(dir, id);
        ReportedTrial {
            entry: ended.entry.clone(),
            case_name: cases.case(id.case).map_or_else(String::new, |case| cases.case_name(case)),
            seconds: ended.seconds,
            values: values_of(experiment, ended, &run),
            quantiles: ended.quantiles.clone(),
            cause: ended.cause.clone(),
            failed_thresholds: ended.failed_thresholds.clone(),
            notes: ended.notes.clone(),
            dir: format!("trials/{id}"),
            has_report: RunDir::open(&run).report_path().is_file(),
        }
    });
    reported.collect()
}

fn values_of(experiment: &Experiment, ended: &EndedTrial, run: &Path) -> BTreeMap<String, Option<f64>> {
    let mut found = ended.values.clone();
    if ended.entry.outcome == TrialOutcome::Finished {
        let is_missing =
            |response: &&ResponseVariable| !found.contains_key(&String::from((*response).clone()));
        let missing: Vec<ResponseVariable> =
            experiment.responses.iter().filter(is_missing).cloned().collect();
        if !missing.is_empty() {
            found.extend(values::responses(run, &missing, window_s(experiment)).values);
        }
    }
    found
}
