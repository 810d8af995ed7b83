//! `busyhour experiment run`.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::chain;
use busyhour_terminal::exit::{Exit, complain, hinted, note, print, say};
use busyhour_terminal::signals::stop_on_signals;
use busyhour_trials::{ExecuteEnd, ExecuteError, ExecuteRequest, JAVA_OPTIONS, StopRequest, execute};

use super::args::RunArgs;
use super::checks::{self, TrialProgram};
use super::file::{LoadedExperiment, Selection, levels_with, load};
use super::progress::ProgressLines;
use super::shipped::{not_found_hint, shipped};
use super::{dry_run, report};

/// The directory of experiments without `--dir`.
const DIRECTORY: &str = "busyhour-experiments";

/// Runs the verb.
pub(super) fn main(args: &RunArgs, program: TrialProgram) -> Exit {
    match run(args, program) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn run(args: &RunArgs, program: TrialProgram) -> Result<Exit, Exit> {
    let files = report::requested(&args.shown)?;
    let dir = directory(args)?;
    let file = experiment_file(args, &dir)?;
    let files = report::absolute(files)?;
    let mut selection = Selection { seed: args.seed, is_short: args.short, ..Selection::default() };
    let mut loaded = load(&file, &selection)?;
    let base_dir = loaded.base_dir.clone();
    if args.skip_unavailable {
        let unavailable = checks::controls(&loaded, program).unavailable;
        let names: Vec<&str> =
            unavailable.iter().filter_map(|control| control.treatment.as_deref()).collect();
        selection.left_out = levels_with(&loaded.experiment, &names);
        for control in &unavailable {
            say(&format!("warning: levels with {} are left out: {}", control.name, control.reason));
        }
        loaded = load(&file, &selection)?;
    }
    // Paths in the file are relative to its directory.
    std::env::set_current_dir(&base_dir)
        .map_err(|error| complain(Exit::Internal, &format!("{}: {error}", base_dir.display())))?;
    let errors = checks::errors(&loaded, program);
    errors.iter().for_each(|error| say(&format!("error: {}: {error}", loaded.name)));
    let checked = checks::controls(&loaded, program);
    checked.notes.iter().for_each(|text| say(&format!("note: {text}")));
    let unavailable = checked.unavailable;
    for control in &unavailable {
        say(&format!("error: {}: {} is not available: {}", loaded.name, control.name, control.reason));
    }
    if !unavailable.is_empty() {
        say("hint: --skip-unavailable leaves out the levels with these controls");
    }
    if args.dry_run {
        print(&dry_run::text(&loaded, &unavailable));
    }
    if !errors.is_empty() || !unavailable.is_empty() {
        return Err(Exit::Refused);
    }
    if args.dry_run {
        return Ok(Exit::Completed);
    }
    let end = execute_trials(&loaded, &selection, &dir);
    // The result so far is shown in any case.
    let shown = match &end {
        Err(ExecuteError::InUse(_) | ExecuteError::OtherExperiment { .. } | ExecuteError::Journal { .. }) => {
            Exit::Completed
        }
        _ => report::show(&loaded, &dir, &files, args.shown.json),
    };
    note(&format!("the trials are in {}", dir.display()));
    match end {
        Ok(ExecuteEnd::Completed) => Ok(shown),
        Ok(ExecuteEnd::Stopped) => {
            say("the experiment was stopped; run the same command again to continue");
            Ok(Exit::Stopped)
        }
        Err(error) => Err(explain(&error)),
    }
}

fn explain(error: &ExecuteError) -> Exit {
    let message = chain(error);
    match error {
        ExecuteError::OtherExperiment { .. } => {
            let hint = "use another directory (--dir), or undo the change; title, responses, limits, repetitions and attempts may change";
            complain(Exit::Refused, &hinted(message, hint))
        }
        ExecuteError::InUse(_) | ExecuteError::Journal { .. } => complain(Exit::Refused, &message),
        ExecuteError::Failing { .. } => complain(
            Exit::Internal,
            &hinted(message, "remove the cause, and run the same command again to continue"),
        ),
        ExecuteError::File { .. } | ExecuteError::NotUndone { .. } => complain(Exit::Internal, &message),
    }
}

/// The directory of the experiment, as an absolute path.
fn directory(args: &RunArgs) -> Result<PathBuf, Exit> {
    let dir = args.dir.clone().unwrap_or_else(|| {
        let mut name = args.file.file_stem().unwrap_or(args.file.as_os_str()).to_owned();
        if args.short {
            name.push("-short");
        }
        PathBuf::from(DIRECTORY).join(name)
    });
    std::path::absolute(&dir).map_err(|error| complain(Exit::Usage, &format!("{}: {error}", dir.display())))
}

/// The file: the given one, or that of a shipped experiment, which is written to the directory of the experiment.
fn experiment_file(args: &RunArgs, dir: &Path) -> Result<PathBuf, Exit> {
    if args.file.exists() {
        return Ok(args.file.clone());
    }
    if let Some(found) = shipped(&args.file) {
        return found.write_for(dir);
    }
    let message = format!("there is no file and no experiment {}", args.file.display());
    Err(complain(Exit::Refused, &hinted(message, &not_found_hint(&args.file))))
}

fn execute_trials(
    loaded: &LoadedExperiment,
    selection: &Selection,
    dir: &Path,
) -> Result<ExecuteEnd, ExecuteError> {
    let here = |source| ExecuteError::File { path: "this program".to_owned(), source };
    let stop = StopRequest::default();
    stop_on_signals(
        {
            let stop = stop.clone();
            move || stop.request()
        },
        "stopping the trial and the system",
    )
    .map_err(here)?;
    let request = ExecuteRequest {
        experiment: &loaded.experiment,
        text: &loaded.text,
        is_short: selection.is_short,
        left_out: selection.left_out.clone(),
        base_dir: loaded.base_dir.clone(),
        dir: dir.to_owned(),
        busyhour: std::env::current_exe().map_err(here)?,
        java_options: std::env::var(JAVA_OPTIONS).ok(),
    };
    let response = loaded.experiment.responses.first();
    let mut progress = ProgressLines {
        response: response.map(|response| (String::from(response.clone()), response.unit())),
    };
    execute(&request, &loaded.design, &stop, &mut progress)
}
