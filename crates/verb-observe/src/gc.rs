//! `busyhour observe gc`: figures of garbage-collection logs.

use std::path::PathBuf;

use busyhour_gclog::{GcComparison, GcSummary};
use busyhour_report::numbers::counted;
use busyhour_report::{NamedGcLog, gc_comparison_html, gc_html};
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::outputs::{OutputKind, note_written, requested, write_files};
use clap::Args;
use serde_json::json;

use super::gc_files::{GcFileError, read_log};
use super::gc_text::{comparison_text, summary_text};

/// The kinds of files that the verb writes.
const WRITTEN: [OutputKind; 3] = [OutputKind::Html, OutputKind::Json, OutputKind::Csv];

#[derive(Debug, Args)]
#[command(
    after_help = "The logs of HotSpot since JDK 5 are read: unified logging (-Xlog:gc, -Xlog:gc*) with any decorations, and \
    -verbose:gc with or without -XX:+PrintGCDetails; all collectors. Several files are the parts of one rotated log; their \
    order is that of their first stamps. Files after -- are the log to compare with.\n\n\
    The first table has the figures and definitions of GCViewer; --json and .csv contain all of its figures under its names.\n\n\
    Examples:\n  busyhour observe gc gc.log\n  \
    busyhour observe gc gc.log gc.log.0 gc.log.1 -o gc.html\n  \
    busyhour observe gc before.log -o gc.html -- after.log\n  \
    busyhour observe gc before.log --fail-if-worse 10% -- after.log\n\n\
    Exit codes: 0 success, 2 the command line is wrong, 3 a log cannot be read or contains no collection, \
    8 a figure became worse by more than --fail-if-worse"
)]
pub(crate) struct GcArgs {
    /// The log, or the parts of a rotated log.
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// The log to compare with, after `--`.
    #[arg(last = true, value_name = "AFTER")]
    after: Vec<PathBuf>,
    /// Write a page with plots (.html) or all figures (.json, .csv) to a file; may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print all figures as JSON.
    #[arg(long)]
    json: bool,
    /// End with exit code 8 if a figure of the second log is worse by at least this share: 10%.
    #[arg(long, value_name = "SHARE", value_parser = busyhour_terminal::quantities::share, requires = "after")]
    fail_if_worse: Option<f64>,
}

/// Runs the verb.
pub(crate) fn main(args: &GcArgs) -> Exit {
    let (files, prints_json) = match requested(&args.output, args.json, None, &WRITTEN) {
        Ok(requested) => requested,
        Err(exit) => return exit,
    };
    let mut logs = Vec::new();
    for paths in [&args.logs, &args.after] {
        if paths.is_empty() {
            continue;
        }
        match summarised(paths) {
            Ok(log) => logs.push(log),
            Err(error) => return complain(Exit::Refused, &error),
        }
    }
    let comparison = match &logs[..] {
        [before, after] => Some(GcComparison::of(&before.summary, &after.summary)),
        _ => None,
    };
    for log in &logs {
        report_damage(log);
    }
    if prints_json {
        print(&json_text(&logs, comparison.as_ref()));
    } else {
        let mut text: String = logs.iter().map(summary_text).collect::<Vec<_>>().join("\n");
        if let Some(comparison) = &comparison {
            text += "\n";
            text += &comparison_text(&logs, comparison);
        }
        print(&text);
    }
    let written = write_files(&files, &mut |kind| {
        Ok(match kind {
            OutputKind::Csv => csv_text(&logs),
            OutputKind::Html => page(&logs, comparison.as_ref()),
            _ => json_text(&logs, comparison.as_ref()),
        })
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    let worse = args.fail_if_worse.zip(comparison.as_ref()).and_then(|(share, comparison)| {
        let names: Vec<&str> = comparison.worse_by(share * 100.0).map(|figure| figure.label).collect();
        (!names.is_empty()).then_some(names)
    });
    match worse {
        Some(names) => {
            say(&format!("worse: {}", names.join(", ")));
            Exit::Worse
        }
        None => Exit::Completed,
    }
}

fn summarised(paths: &[PathBuf]) -> Result<NamedGcLog, GcFileError> {
    let log = read_log(paths)?;
    let name = match paths {
        [one] => one.display().to_string(),
        [first, ..] => format!("{} and {} more", first.display(), paths.len() - 1),
        [] => String::new(),
    };
    Ok(NamedGcLog { name, summary: GcSummary::of(&log) })
}

/// Warns about lines that could not be read. The log may be damaged, or the program may not know their format, so such
/// lines are always reported.
fn report_damage(log: &NamedGcLog) {
    let (lines, first) = (&log.summary.lines, log.summary.damaged_lines.first());
    if lines.damaged > 0 {
        let example =
            first.map(|line| format!("; the first is line {}: {}", line.line, line.text)).unwrap_or_default();
        let count = counted(lines.damaged, "damaged line");
        let verb = if lines.damaged == 1 { "was" } else { "were" };
        say(&format!("warning: {}: {count} {verb} skipped{example}", log.name));
    }
    if lines.beyond_limit > 0 {
        let (name, kept) = (&log.name, busyhour_gclog::EVENTS_MAX);
        let lost = lines.beyond_limit;
        say(&format!(
            "warning: {name}: only the first {kept} events are included in the figures; {lost} more are not"
        ));
    }
}

fn json_text(logs: &[NamedGcLog], comparison: Option<&GcComparison>) -> String {
    let logs: Vec<_> = logs.iter().map(|log| json!({ "name": log.name, "summary": log.summary })).collect();
    format!("{:#}\n", json!({ "logs": logs, "comparison": comparison }))
}

/// The page of one log, or of two.
fn page(logs: &[NamedGcLog], comparison: Option<&GcComparison>) -> String {
    match (logs, comparison) {
        ([before, after], Some(comparison)) => gc_comparison_html(before, after, comparison),
        _ => logs.first().map(gc_html).unwrap_or_default(),
    }
}

/// The figures in the CSV format of GCViewer's summary. If there are several logs, each has a heading.
fn csv_text(logs: &[NamedGcLog]) -> String {
    match logs {
        [one] => one.summary.to_csv(),
        several => several.iter().map(|log| format!("# {}\n{}", log.name, log.summary.to_csv())).collect(),
    }
}
