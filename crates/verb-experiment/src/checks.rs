//! Checks the texts that the reader of the file leaves unparsed: schedules, sources, thresholds, properties and options.

use std::collections::BTreeSet;

use busyhour_arrivals::ArrivalProcess;
use busyhour_experiment::Case;
use busyhour_terminal::command_error::{CommandError, CommandLineCheck};
use busyhour_trials::{CaseSetting, CheckedControls, check_controls, example_arguments};

use super::file::LoadedExperiment;
use super::recorded_command::RecordedCommand;

/// The program that executes the runs of trials.
#[derive(Clone, Copy, Debug)]
pub struct TrialProgram {
    /// Checks the command line of a run, which begins with the word `run`.
    pub check_run: CommandLineCheck,
    /// Reads the command line of a run, which begins with the name of the program.
    pub read_run: fn(&[String]) -> Result<RecordedCommand, CommandError>,
    /// Whether it contains neighbours.
    pub has_neighbours: bool,
}

/// The options that the experiment itself gives to each run.
const OWN: [&str; 4] = ["--seed", "1", "--dir", "trial"];

/// Checks the controls without changing anything.
pub(super) fn controls(loaded: &LoadedExperiment, program: TrialProgram) -> CheckedControls {
    check_controls(&loaded.experiment, program.has_neighbours)
}

/// Checks the command line of the run for each level. Returns all errors. The working directory must be that of the file.
pub(super) fn errors(loaded: &LoadedExperiment, program: TrialProgram) -> Vec<String> {
    let experiment = &loaded.experiment;
    let mut errors = Vec::new();
    if let Some(plan) = &experiment.load.plan
        && !loaded.base_dir.join(plan).is_file()
    {
        errors.push(format!("the plan {plan} is not a file in {}", loaded.base_dir.display()));
    }
    let mut seen = BTreeSet::new();
    for case in first_cases(loaded) {
        let setting = CaseSetting::of(experiment, loaded.design.cases(), case, None);
        let checked = check_length(loaded, &setting).and_then(|()| check_run(loaded, &setting, program));
        if let Err(error) = checked
            && seen.insert(error.to_string())
        {
            errors.push(format!("case {}: {error}", loaded.design.cases().case_name(case)));
        }
    }
    errors
}

/// The first case of each level.
fn first_cases(loaded: &LoadedExperiment) -> impl Iterator<Item = &Case> {
    let cases = loaded.design.cases();
    let mut seen = BTreeSet::new();
    cases.cases().iter().filter(move |case| {
        let levels = (0..cases.factors().len()).map(|factor| (factor, cases.level(case, factor)));
        // All levels are inserted, so `any` must not end early.
        levels.filter(|level| seen.insert(*level)).count() > 0
    })
}

/// If the schedule has a length, it must equal the duration of the trials.
fn check_length(loaded: &LoadedExperiment, setting: &CaseSetting<'_>) -> Result<(), CommandError> {
    let Some(process) = setting.schedule.and_then(|text| ArrivalProcess::parse(text).ok()) else {
        return Ok(());
    };
    let (own_s, duration_s) =
        (process.duration_ns() as f64 / 1e9, loaded.experiment.trials.duration.seconds());
    if process.unresolved().is_none() && (own_s - duration_s).abs() > 0.01 * duration_s {
        return Err(format!(
            "the schedule lasts {own_s} s, and `duration` of [trials] is {duration_s} s\n  \
             hint: make them equal, or omit the length of the last stage"
        )
        .into());
    }
    Ok(())
}

/// Parses the command line of the run.
fn check_run(
    loaded: &LoadedExperiment,
    setting: &CaseSetting<'_>,
    program: TrialProgram,
) -> Result<(), CommandError> {
    let arguments = example_arguments(&loaded.experiment, setting);
    let words = arguments.into_iter().chain(OWN.map(str::to_owned));
    (program.check_run)(words.map(Into::into).collect())
}
