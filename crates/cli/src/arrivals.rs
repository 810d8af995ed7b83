//! `busyhour report --arrivals`: arrival statistics of logs.

mod args;

use std::path::Path;

use busyhour_analysis::WebLogOptions;
use busyhour_diagnostic::Diagnostic;
use busyhour_record::RunDir;
use busyhour_report::{arrival_plots, log_tables, log_tables_csv, log_tables_json};
use busyhour_results::{Log, LogError, LogReport, LogTally, summarise};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, note, print, say};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputKind, note_written, write_files};
use busyhour_verb_inputs::reading::ReadingProgress;

pub(crate) use self::args::{ArrivalsArgs, TablesArgs, explanation};

/// Maximum number of labels in the hint for an unknown label.
const LABELS_LISTED: usize = 8;

pub(crate) fn main(args: &ArrivalsArgs) -> Exit {
    let options = args.options();
    let mut exit = Exit::Completed;
    let mut logs = Vec::new();
    for path in &args.logs {
        let name = path.display().to_string();
        match read(path, &name, &options, args) {
            Ok(log) if log.tables.selected == 0 => {
                exit = Exit::Refused;
                say(&nothing_selected(&log, args).to_string());
            }
            Ok(log) => {
                caveats(&log).iter().for_each(|caveat| say(&caveat.to_string()));
                logs.push(log);
            }
            Err(error) => {
                exit = Exit::Refused;
                let mut diagnostic = Diagnostic::error("log", error.to_string()).in_file(name);
                if let Some(cause) = std::error::Error::source(&error) {
                    diagnostic = diagnostic.with_error(cause);
                }
                if !error.hint().is_empty() {
                    diagnostic = diagnostic.with_hint(error.hint());
                }
                say(&diagnostic.to_string());
            }
        }
    }
    if logs.is_empty() {
        return exit;
    }
    let show = args.show();
    print(&if args.json {
        log_tables_json(&logs)
    } else if args.csv {
        log_tables_csv(&logs, show)
    } else {
        log_tables(&logs, show, Output::of_stdout().look)
    });
    let (folders, files): (Vec<_>, Vec<_>) =
        args.outputs.iter().cloned().partition(|file| file.kind == OutputKind::Dashboard);
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Csv => Ok(log_tables_csv(&logs, show)),
        _ => Ok(log_tables_json(&logs)),
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    for dir in args.plot.iter().chain(folders.iter().map(|folder| &folder.path)) {
        if let Err(message) = plot(dir, &logs) {
            return complain(Exit::Internal, &message);
        }
    }
    exit
}

fn read(
    path: &Path,
    name: &str,
    options: &WebLogOptions,
    args: &ArrivalsArgs,
) -> Result<LogReport, LogError> {
    let mut log = Log::open(path)?;
    if args.end_stamps {
        log = log.with_end_stamps();
    }
    let size = log.bytes();
    let mut progress = ReadingProgress::new(name);
    // For each label number: whether the label is selected.
    let new = || (LogTally::new(options, log.form()), Vec::new());
    let read = log.scan_in_order(
        new,
        |(tally, selected), row, names| {
            let at = row.label as usize;
            while selected.len() <= at {
                let name = names.name(selected.len() as u32);
                selected.push(
                    args.tables.label.is_empty() || args.tables.label.iter().any(|label| label == name),
                );
            }
            tally.add(row, selected[at]);
        },
        &mut |bytes| progress.show(bytes, size),
    );
    progress.clear();
    let ((tally, _), facts) = read?;
    let mut report = tally.finish(name.to_owned(), facts, args.load());
    // For a whole run directory, the verdicts on its workloads and their schedules are used. A part of it is judged like
    // other logs.
    if path.is_dir()
        && args.whole()
        && let Ok(summary) = summarise(&RunDir::open(path))
        && !summary.arrivals.is_empty()
    {
        report.verdicts = summary.arrivals;
    }
    Ok(report)
}

/// The error that is reported if no row of a log is selected, with the reason.
fn nothing_selected(log: &LogReport, args: &ArrivalsArgs) -> Diagnostic {
    let found = |message: String| Diagnostic::error("log", message).in_file(log.name.as_str());
    if log.tables.rows == 0 && log.facts.transactions > 0 {
        return found("the log contains only transactions, which are not arrivals".into())
            .with_hint("disable \"Generate parent sample\" in the Transaction Controllers");
    }
    if log.tables.rows == 0 {
        return found("the log contains no samples".into());
    }
    let known = |label: &&String| log.facts.labels.contains(label);
    if !args.tables.label.is_empty() && !args.tables.label.iter().any(|label| known(&label)) {
        let mut names: Vec<&str> = log.facts.labels.iter().take(LABELS_LISTED).map(String::as_str).collect();
        if log.facts.labels.len() > LABELS_LISTED {
            names.push("…");
        }
        return found(format!("no sample has the label {:?}", args.tables.label.join("\", \"")))
            .with_hint(format!("its labels are {}", names.join(", ")));
    }
    found("no sample starts in the window".into())
        .with_hint("--window FROM,TO counts from the first start of the log")
}

/// Caveats about the tables of a log.
fn caveats(log: &LogReport) -> Vec<Diagnostic> {
    let caveat = |message: String| Diagnostic::warning("log", message).in_file(log.name.as_str());
    let mut caveats = Vec::new();
    if let Some(first) = &log.facts.first_bad {
        caveats.push(caveat(format!(
            "skipped {} that cannot be read; the first: {first}",
            busyhour_report::numbers::counted(log.facts.bad_rows, "row")
        )));
    }
    if log.facts.of_several > 0 {
        caveats.push(
            caveat(format!(
                "{} rows each represent several samples, whose start times are unknown",
                log.facts.of_several
            ))
            .with_hint("use a log with a row for every sample (mode=StrippedBatch instead of Statistical)"),
        );
    }
    if log.facts.cut_off {
        caveats.push(caveat(
            "the log ends within a row, which was skipped; the run may have been killed".into(),
        ));
    }
    if !log.tables.by_threads.is_empty() && log.tables.threads_unknown == log.tables.selected {
        caveats.push(
            caveat("no thread name ends in a number, so there are no statistics by threads".into())
                .with_hint("the column threadName is needed (jmeter.save.saveservice.thread_name)"),
        );
    }
    if let Some(window) = log.tables.window
        && let Some(duration_ms) = log.tables.duration_ms
        && duration_ms < window.duration_s * 900.0
    {
        caveats.push(caveat(format!(
            "the log covers only {:.0} s of the window's {} s",
            duration_ms / 1e3,
            window.duration_s
        )));
    }
    caveats
}

fn plot(dir: &Path, logs: &[LogReport]) -> Result<(), CommandError> {
    let failed =
        |path: &Path, error: &dyn std::fmt::Display| format!("cannot write {}: {error}", path.display());
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    for file in arrival_plots(logs) {
        let path = dir.join(&file.name);
        RunDir::write_whole(&path, file.contents.as_bytes()).map_err(|error| {
            let cause =
                std::error::Error::source(&error).map_or_else(|| error.to_string(), ToString::to_string);
            failed(&path, &cause)
        })?;
    }
    note(&format!("wrote {}", dir.join("arrivals.html").display()));
    Ok(())
}
