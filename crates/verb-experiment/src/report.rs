//! `busyhour experiment report`, and the report at the end of an execution.

use std::path::Path;

use busyhour_diagnostic::io_hints::chain;
use busyhour_experiment::{ExperimentReport, GivenUp, missing_results_hint};
use busyhour_report::{experiment_csv, experiment_html, experiment_text};
use busyhour_terminal::exit::{Exit, complain, hinted, print};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, OutputKind, note_written, output_files, write_files};
use busyhour_trials::{EXPERIMENT_FILE_NAME, JournalContent, read_report};

use super::args::ReportArgs;
use super::file::{LoadedExperiment, Selection, load};
use super::shown_args::ShownArgs;

/// Kinds of files that this verb can write.
const WRITTEN: [OutputKind; 3] = [OutputKind::Html, OutputKind::Json, OutputKind::Csv];

/// The page in the directory of the experiment.
const PAGE: &str = "report.html";

/// Runs the verb.
pub(super) fn main(args: &ReportArgs) -> Exit {
    match report(args) {
        Ok(exit) | Err(exit) => exit,
    }
}

fn report(args: &ReportArgs) -> Result<Exit, Exit> {
    let files = absolute(requested(&args.shown)?)?;
    let file = args.dir.join(EXPERIMENT_FILE_NAME);
    if !file.is_file() {
        let message = format!("{} contains no experiment", args.dir.display());
        let hint =
            "give the directory that `busyhour experiment run` wrote, such as busyhour-experiments/NAME";
        return Err(complain(Exit::Refused, &hinted(message, hint)));
    }
    let content = JournalContent::read(&args.dir).map_err(|error| complain(Exit::Refused, &chain(&error)))?;
    let selection = content.start.map_or_else(Selection::default, |start| Selection {
        seed: Some(start.seed),
        is_short: start.is_short,
        left_out: start.left_out,
    });
    let loaded = load(&file, &selection)?;
    let dir = std::path::absolute(&args.dir)
        .map_err(|error| complain(Exit::Refused, &format!("{}: {error}", args.dir.display())))?;
    Ok(show(&loaded, &dir, &files, args.shown.json))
}

/// The files to write.
pub(super) fn requested(shown: &ShownArgs) -> Result<Vec<OutputFile>, Exit> {
    output_files(&shown.output, &WRITTEN).map_err(|message| complain(Exit::Usage, &message))
}

/// The files with absolute paths.
pub(super) fn absolute(files: Vec<OutputFile>) -> Result<Vec<OutputFile>, Exit> {
    let made = files.into_iter().map(|file| {
        let path = std::path::absolute(&file.path);
        path.map(|path| OutputFile { path, kind: file.kind })
            .map_err(|error| complain(Exit::Usage, &format!("-o: {error}")))
    });
    made.collect()
}

/// Analyses the trials in a directory, prints the result and writes files.
pub(super) fn show(loaded: &LoadedExperiment, dir: &Path, files: &[OutputFile], json: bool) -> Exit {
    let content = match JournalContent::read(dir) {
        Ok(content) => content,
        Err(error) => return complain(Exit::Refused, &chain(&error)),
    };
    let found = match read_report(&loaded.experiment, &loaded.design, &content, dir) {
        Ok(found) => found,
        Err(error) => return complain(Exit::Refused, &chain(&error)),
    };
    if json {
        print(&to_json(&found));
    } else {
        print(&experiment_text(&found, Output::of_stdout().look));
    }
    let own = OutputFile { path: dir.join(PAGE), kind: OutputKind::Html };
    let files: Vec<OutputFile> = files.iter().cloned().chain([own]).collect();
    for file in &files {
        let prefix = prefix(dir, &file.path);
        let written = write_files(std::slice::from_ref(file), &mut |kind| {
            Ok(match kind {
                OutputKind::Html => experiment_html(&found, &prefix),
                OutputKind::Csv => experiment_csv(&found),
                _ => to_json(&found),
            })
        });
        if let Err(exit) = written {
            return exit;
        }
    }
    note_written(&files);
    if found.given_up.is_empty() { Exit::Completed } else { report_missing_results(&found.given_up, dir) }
}

/// Reports that some cases of some blocks have no result after all attempts.
fn report_missing_results(given_up: &[GivenUp], dir: &Path) -> Exit {
    let what = match given_up.len() {
        1 => "1 trial has".to_owned(),
        count => format!("{count} trials have"),
    };
    let message = format!("{what} no result after all attempts, see {}", dir.join("trials").display());
    complain(Exit::Internal, &hinted(message, missing_results_hint(given_up)))
}

fn to_json(report: &ExperimentReport) -> String {
    // A report consists of texts and numbers, which can always be serialized.
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

/// The prefix of the links of a page: empty in the directory of the experiment, otherwise the path of this directory.
fn prefix(dir: &Path, page: &Path) -> String {
    match page.parent() {
        Some(parent) if parent == dir => String::new(),
        _ => format!("{}/", dir.display()),
    }
}
