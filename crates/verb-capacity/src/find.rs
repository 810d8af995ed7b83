//! `busyhour capacity find`: searches for the largest load that meets the thresholds.

use std::path::{Path, PathBuf};

use busyhour_diagnostic::io_hints::chain;
use busyhour_loadsearch::{
    LoadSearchEnd, LoadSearchError, LoadSearchPlan, LoadSearchRequest, execute_search, lowest_run_arguments,
    read_search,
};
use busyhour_report::{largest_load_html, largest_load_text};
use busyhour_search::{LargestLoad, LargestLoadReport, NoLoad, SearchEnd};
use busyhour_terminal::command_error::CommandLineCheck;
use busyhour_terminal::exit::{Exit, complain, hinted, note, print, say};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, OutputKind, note_written, output_files, write_files};
use busyhour_terminal::signals::stop_on_signals;
use busyhour_trials::{ExecuteError, StopRequest};

use super::find_args::FindArgs;
use super::find_progress::FindProgress;

/// Kinds of files that this verb can write.
const WRITTEN: [OutputKind; 2] = [OutputKind::Html, OutputKind::Json];

/// The page in the directory of the search.
const PAGE: &str = "report.html";

/// Runs the verb.
pub(crate) fn main(args: &FindArgs, check_run: CommandLineCheck) -> Exit {
    match find(args, check_run) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn find(args: &FindArgs, check_run: CommandLineCheck) -> Result<Exit, Exit> {
    let files = output_files(&args.output, &WRITTEN).map_err(|message| complain(Exit::Usage, &message))?;
    let (plan, dir) = args.plan().map_err(|message| complain(Exit::Usage, &message))?;
    let words = lowest_run_arguments(&plan).into_iter().chain(["--dir".into(), "trial".into()]);
    check_run(words.collect())
        .map_err(|message| complain(Exit::Usage, &format!("a trial cannot be run: {message}")))?;
    let end = execute(&plan, &dir);
    if let Err(error) = &end
        && is_refused(error)
    {
        return Err(explain(error));
    }
    // The result so far is shown in any case.
    let report = read_search(&dir).map_err(|error| explain(&error))?;
    show(&report, &dir, files, args.json)?;
    match end {
        Err(error) => Err(explain(&error)),
        Ok(LoadSearchEnd::Stopped) => {
            say("the search was stopped; run the same command again to continue");
            Ok(Exit::Stopped)
        }
        Ok(LoadSearchEnd::Completed(end)) => Ok(exit_of(&report, end)),
    }
}

fn execute(plan: &LoadSearchPlan, dir: &Path) -> Result<LoadSearchEnd, LoadSearchError> {
    let here = |source| ExecuteError::File { path: "this program".to_owned(), source };
    let stop = StopRequest::default();
    stop_on_signals(
        {
            let stop = stop.clone();
            move || stop.request()
        },
        "stopping the trial",
    )
    .map_err(here)?;
    let busyhour: PathBuf = std::env::current_exe().map_err(here)?;
    let request = LoadSearchRequest { plan, dir, busyhour };
    execute_search(&request, &stop, &mut FindProgress { kind: plan.kind })
}

/// Whether nothing was executed, and the directory may belong to another search.
fn is_refused(error: &LoadSearchError) -> bool {
    match error {
        LoadSearchError::OtherSearch { .. }
        | LoadSearchError::OtherTrials { .. }
        | LoadSearchError::OtherVersion { .. }
        | LoadSearchError::NoSearch(_)
        | LoadSearchError::Threshold(_)
        | LoadSearchError::Settings(_)
        | LoadSearchError::Journal(_) => true,
        LoadSearchError::SmallBudget { .. }
        | LoadSearchError::NoValidTrial { .. }
        | LoadSearchError::Failing { .. }
        | LoadSearchError::Report(_) => false,
    }
}

fn explain(error: &LoadSearchError) -> Exit {
    let message = chain(error);
    let (exit, hint) = match error {
        LoadSearchError::OtherSearch { .. } | LoadSearchError::OtherTrials { .. } => {
            (Exit::Refused, "use another directory (--dir), or the same settings")
        }
        LoadSearchError::Journal(ExecuteError::InUse(_) | ExecuteError::Journal { .. })
        | LoadSearchError::OtherVersion { .. }
        | LoadSearchError::NoSearch(_) => (Exit::Refused, ""),
        LoadSearchError::Settings(_) | LoadSearchError::Threshold(_) => (Exit::Usage, ""),
        LoadSearchError::SmallBudget { .. } => (Exit::Usage, "raise --budget, or start at a higher load"),
        LoadSearchError::NoValidTrial { .. } => {
            (Exit::Internal, "use a quieter machine, or start at a lower load")
        }
        LoadSearchError::Failing { .. } => {
            (Exit::Internal, "remove the cause, and run the same command again to continue")
        }
        LoadSearchError::Journal(_) | LoadSearchError::Report(_) => (Exit::Internal, ""),
    };
    complain(exit, &hinted(message, hint))
}

/// Prints the result and writes the files.
fn show(report: &LargestLoadReport, dir: &Path, files: Vec<OutputFile>, json: bool) -> Result<(), Exit> {
    if json {
        print(&to_json(report));
    } else {
        print(&largest_load_text(report, Output::of_stdout().look));
    }
    let own = OutputFile { path: dir.join(PAGE), kind: OutputKind::Html };
    let files: Vec<OutputFile> = files.into_iter().chain([own]).collect();
    for file in &files {
        let is_own = file.path.parent() == Some(dir);
        let prefix = if is_own { String::new() } else { format!("{}/", dir.display()) };
        write_files(std::slice::from_ref(file), &mut |kind| {
            Ok(match kind {
                OutputKind::Html => largest_load_html(report, &prefix),
                _ => to_json(report),
            })
        })?;
    }
    note_written(&files);
    note(&format!("the trials are in {}", dir.display()));
    Ok(())
}

fn exit_of(report: &LargestLoadReport, end: SearchEnd) -> Exit {
    let Some(search) = &report.search else { return Exit::Completed };
    match search.largest_load {
        LargestLoad::Found { .. } | LargestLoad::AtLeast { .. } => Exit::Completed,
        LargestLoad::Between { .. } | LargestLoad::Unavailable { reason: NoLoad::SmallBudget } => {
            Exit::NotJudged
        }
        LargestLoad::Unavailable { .. } => match end {
            SearchEnd::NotDelivered | SearchEnd::HostSpoiled => complain(Exit::Internal, end.reason()),
            _ => Exit::ThresholdFailed,
        },
    }
}

fn to_json(report: &LargestLoadReport) -> String {
    // A report consists of texts and numbers, which can always be serialized.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}
