//! `busyhour report`: tables and pages from run directories and result files, with thresholds and arrival statistics.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_analysis::thresholds::Criterion;
use busyhour_diagnostic::io_hints::chain;
use busyhour_record::RunDir;
use busyhour_report::{
    Look, RunShow, Written, end_of_run, explanation_text, html_report_with_system, prepare_dashboard,
    server_log_text, stacks_text, summary_json, summary_markdown, thresholds_junit, write_dashboard,
};
use busyhour_results::{
    LogLoad, ResultsOptions, ResultsPart, SystemRecord, is_observation, judge_results, summarise_results,
};
use busyhour_sample::ApdexLimits;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, REPORT_TABLE, complain, print};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, OutputKind, note_written, output_files, write_files};
use busyhour_terminal::quantities::{log_window, refuse_bare_time, seconds};
use busyhour_verb_inputs::inputs::Inputs;
use busyhour_verb_inputs::observed_dir;
use busyhour_verb_inputs::reading::{refuse, with_progress};
use busyhour_verb_inputs::results_args::{ResultsArgs, WorkloadArgs};
use busyhour_verb_inputs::thresholds::{ThresholdArgs, ThresholdFiles};
use clap::{Args, ValueEnum};

use crate::arrivals::{ArrivalsArgs, TablesArgs, explanation};
use crate::judge;
use crate::percentiles;
use crate::report_links::report_command;
use crate::server_log::ServerLogArgs;

/// Kinds of files that this verb can write.
const WRITTEN: [OutputKind; 5] =
    [OutputKind::Html, OutputKind::Json, OutputKind::Markdown, OutputKind::Junit, OutputKind::Dashboard];

/// Kinds of files that can be written with `--arrivals`. A directory is for plots.
pub(crate) const ARRIVALS_WRITTEN: [OutputKind; 3] =
    [OutputKind::Json, OutputKind::Csv, OutputKind::Dashboard];

#[derive(Debug, Args)]
#[command(
    after_help = format!("Inputs are run directories, JTL files (CSV with or without a header line, or XML) and files of k6, vegeta, Gatling, oha, \
    Locust, wrk2 and HdrHistogram (docs/other-tools.md), also compressed with gzip or Zstandard. The format is detected from the \
    content. Several inputs count as results of several generators in one \
    test; their samples are merged by label. Percentiles are computed from all samples, with an error of at most 0.1 %.\n\n\
    Examples:\n  busyhour report results.jtl -o report.html\n  busyhour report busyhour-runs/plan-20260101-120000\n  \
    busyhour report --steady auto generator-*.jtl.gz -o report.html\n  \
    busyhour report --why busyhour-runs/plan-20260101-120000\n  \
    busyhour report --window 1min,11min --apdex 300ms,1200ms results.jtl\n  \
    busyhour report results.jtl --threshold 'p95 of checkout < 800ms' -o junit.xml\n  \
    busyhour report busyhour-runs/plan-20260101-120000 --server-log access.log\n  \
    busyhour report results.jtl --arrivals --by-threads 1,2,...,200 -o plots\n  \
    zstdcat results.jtl.zst | busyhour report -\n\n{REPORT_TABLE}")
)]
pub(crate) struct ReportArgs {
    /// JTL files, files of other tools, and run directories; - is standard input.
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// Write a file: the report (.html, .json, .md), the outcome of thresholds (.xml, JUnit), or a directory with JMeter's
    /// dashboard; may be given several times. With --arrivals: .json, .csv, or a directory with plots.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    #[arg(long, value_name = "FILE", hide = true)]
    json_file: Option<PathBuf>,
    #[command(flatten)]
    results: ResultsArgs,
    /// Also show a table for each thread group (derived from the thread names).
    #[arg(long)]
    by_group: bool,
    /// Print all tables and caveats, as into a pipe or file (default on a terminal: one screen).
    #[arg(long)]
    details: bool,
    /// Print only why requests were slow: the cause with its evidence, the other causes, and what was not examined.
    #[arg(long, conflicts_with_all = ["json", "by_group", "details"])]
    why: bool,
    /// APDEX limits (default: 500ms,1500ms, or JMeter's properties).
    #[arg(long, value_name = "SATISFIED,TOLERATED", value_parser = apdex)]
    apdex: Option<ApdexLimits>,
    #[command(flatten)]
    workload: WorkloadArgs,
    #[command(flatten)]
    thresholds: ThresholdArgs,
    #[command(flatten, next_help_heading = "Log of the server")]
    server_log: ServerLogArgs,
    /// When to exit with code 6; 'threshold' without thresholds checks those stored in the run directories (default: threshold
    /// if any are given).
    #[arg(long, value_enum, help_heading = "Thresholds")]
    fail_on: Option<FailOn>,
    /// Show arrival statistics of each log instead: rates, gaps, counts, and a verdict.
    #[arg(long, help_heading = "Arrivals", long_help = format!(
        "Show arrival statistics of each log instead: rates, gaps, counts, and a verdict. {}", explanation()
    ), conflicts_with_all =
        ["steady", "by_group", "apdex", "threshold", "fail_if", "thresholds", "fail_on"])]
    arrivals: bool,
    #[command(flatten, next_help_heading = "Arrivals")]
    tables: TablesArgs,
}

/// When a report ends with [`Exit::ThresholdFailed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// A threshold failed.
    Threshold,
    /// Never.
    None,
}

pub(crate) fn main(args: ReportArgs) -> Exit {
    if args.arrivals {
        return match args.into_arrivals() {
            Ok(arrivals) => crate::arrivals::main(&arrivals),
            Err(message) => complain(Exit::Usage, &message),
        };
    }
    match report(args) {
        Ok(exit) => exit,
        Err((exit, message)) if message.is_empty() => exit,
        Err((exit, message)) => complain(exit, &message),
    }
}

/// The report to create, after the command line was checked.
struct Request {
    options: ResultsOptions,
    files: Vec<OutputFile>,
    criteria: Vec<Criterion>,
    threshold_files: ThresholdFiles,
    fails: bool,
}

fn report(mut args: ReportArgs) -> Result<Exit, (Exit, String)> {
    let request = args.request()?;
    let paths = &args.inputs;
    if let [path] = paths.as_slice()
        && is_observation(path)
    {
        return Ok(observed_dir::show(path, args.details, &request.files));
    }
    let judges = request.options.part != ResultsPart::Whole || !request.criteria.is_empty();
    if let [path] = paths.as_slice()
        && let Some(exit) = percentiles::show(path, args.json, judges, &request.files)
    {
        return Ok(exit);
    }
    // With a time window or thresholds, a second pass over the input may be necessary.
    let once = request.options.part == ResultsPart::Whole && request.criteria.is_empty();
    let inputs = if once { Inputs::once(paths)? } else { Inputs::kept(paths)? };
    let (options, criteria) = (&request.options, request.criteria.clone());
    let mut summary = with_progress(inputs.all, |inputs, progress| match criteria.is_empty() {
        true => summarise_results(inputs, options, progress),
        false => judge_results(inputs, options, criteria, progress),
    })
    .map_err(|error| (refuse(&error), String::new()))?;
    args.server_log.add(paths, &mut summary)?;
    if !request.criteria.is_empty() {
        judge::warn_about_missing_parts(paths, &summary);
    }
    write(&request.files, &summary, run_dir(paths).as_ref())?;
    print_report(&args, &request, &summary);
    note_written(&request.files);
    let outcome = judge::write_outcome(paths, &request.criteria, &request.threshold_files, &summary);
    Ok(if request.fails { outcome } else { Exit::Completed })
}

/// The directory of the run, if the input is one.
fn run_dir(paths: &[PathBuf]) -> Option<RunDir> {
    match paths {
        [path] if path.is_dir() => Some(RunDir::open(path)),
        _ => None,
    }
}

fn write(files: &[OutputFile], summary: &Summary, run: Option<&RunDir>) -> Result<(), (Exit, String)> {
    for folder in files.iter().filter(|file| file.kind == OutputKind::Dashboard) {
        prepare_dashboard(&folder.path).map_err(|error| (Exit::Usage, chain(&error)))?;
        write_dashboard(&folder.path, summary, run).map_err(|error| (Exit::Internal, chain(&error)))?;
    }
    let texts: Vec<_> = files.iter().filter(|file| file.kind != OutputKind::Dashboard).cloned().collect();
    write_files(&texts, &mut |kind| summary_text(summary, run, kind)).map_err(|exit| (exit, String::new()))
}

/// The content of a file that contains the summary. The page contains what was observed of the system in the run directory.
pub(crate) fn summary_text(
    summary: &Summary,
    run: Option<&RunDir>,
    kind: OutputKind,
) -> Result<String, CommandError> {
    match kind {
        OutputKind::Html => {
            let system = run.and_then(|run| SystemRecord::of_summary(run, summary));
            Ok(html_report_with_system(summary, system.as_ref()))
        }
        OutputKind::Json => Ok(summary_json(summary)),
        OutputKind::Markdown => Ok(summary_markdown(summary)),
        OutputKind::Junit => Ok(thresholds_junit(summary)),
        OutputKind::Csv | OutputKind::Parquet | OutputKind::Toml | OutputKind::Dashboard => {
            Err("a summary cannot be written in this form".into())
        }
    }
}

fn print_report(args: &ReportArgs, request: &Request, summary: &Summary) {
    if args.json {
        print(&summary_json(summary));
        return;
    }
    let out = Output::of_stdout();
    if args.why {
        print(&why(summary, out.look));
        return;
    }
    let paths: Vec<&Path> = args.inputs.iter().map(PathBuf::as_path).collect();
    let page = request.files.iter().find(|file| file.kind == OutputKind::Html);
    let page = page.map(|file| std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone()));
    let shown = Written {
        page,
        has_links: out.has_links,
        details_command: Some(report_command(&paths)),
        ..Written::default()
    };
    let show = RunShow { by_group: args.by_group, details: args.details || !out.is_terminal, lines_below: 0 };
    print(&end_of_run(summary, show, &shown, out.look));
    if let Some(log) = &summary.server_log {
        print(&server_log_text(log, out.look));
    }
}

/// The explanation of slow requests.
fn why(summary: &Summary, look: Look) -> String {
    let explanation = match &summary.explanation {
        Some(explanation) => explanation_text(explanation, summary.saturation.as_ref(), look),
        None => "The cause of slow requests is unknown: the system under test was not observed, or fewer than 100 requests started.\n\
                 Run the plan with --observe and at least 100 requests.\n"
            .to_owned(),
    };
    match stacks_text(&summary.stacks, look) {
        stacks if stacks.is_empty() => explanation,
        stacks => format!("{explanation}\n{stacks}"),
    }
}

impl ReportArgs {
    /// Checks the command line.
    fn request(&mut self) -> Result<Request, (Exit, String)> {
        let usage = |error: CommandError| (Exit::Usage, error.to_string());
        self.json_of_old_form();
        if let Some(option) = self.tables.given() {
            return Err((Exit::Usage, format!("{option} needs --arrivals")));
        }
        let files = output_files(&self.output, &WRITTEN).map_err(usage)?;
        let has_stored = self.fail_on == Some(FailOn::Threshold);
        let (mut criteria, threshold_files) = std::mem::take(&mut self.thresholds).read().map_err(usage)?;
        if criteria.is_empty() && has_stored {
            criteria = judge::stored_criteria(&self.inputs)?;
        }
        let writes_junit = files.iter().any(|file| file.kind == OutputKind::Junit);
        if criteria.is_empty() && (writes_junit || threshold_files.are_requested()) {
            let text =
                "the outcome of thresholds needs thresholds; add --threshold CRITERION or --thresholds FILE";
            return Err((Exit::Usage, text.into()));
        }
        let mut options = self.results.options().map_err(usage)?;
        options.apdex = self.apdex.unwrap_or(options.apdex);
        options.load = if self.workload.is_open() { LogLoad::Open } else { LogLoad::Closed };
        let fails = self.fail_on != Some(FailOn::None) && !criteria.is_empty();
        Ok(Request { options, files, criteria, threshold_files, fails })
    }

    /// Applies `--json FILE`, the old form of `--json` and `-o FILE.json`.
    fn json_of_old_form(&mut self) {
        match self.json_file.take() {
            Some(path) if path.as_os_str() == "-" => self.json = true,
            Some(path) => self.output.push(path),
            None => {}
        }
    }

    fn into_arrivals(mut self) -> Result<ArrivalsArgs, CommandError> {
        self.json_of_old_form();
        Ok(ArrivalsArgs {
            outputs: output_files(&self.output, &ARRIVALS_WRITTEN)?,
            end_stamps: self.results.are_end_stamps(),
            window: self.results.window().map(log_window),
            logs: self.inputs,
            tables: self.tables,
            workload: self.workload,
            details: self.details,
            json: self.json,
            ..ArrivalsArgs::default()
        })
    }
}

fn apdex(text: &str) -> Result<ApdexLimits, CommandError> {
    text.split(',').try_for_each(refuse_bare_time)?;
    let two = text.split_once(',').and_then(|(from, to)| Some((seconds(from).ok()?, seconds(to).ok()?)));
    let (satisfied, tolerated) = two.filter(|(satisfied, tolerated)| tolerated > satisfied).ok_or(
        "expected two increasing times, e.g. 500ms,1500ms: the limits of satisfied and tolerated responses",
    )?;
    let ns = |seconds: f64| (seconds * 1e9).round() as u64;
    Ok(ApdexLimits { satisfied_ns: ns(satisfied), tolerated_ns: ns(tolerated) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_apdex_are_two_times() {
        for wrong in ["60ms", "660ms,60ms", "a,b", "-1ms,5ms", "5ms,5ms", "nan,1s"] {
            assert!(apdex(wrong).is_err(), "{wrong}");
        }
        assert_eq!(apdex("300,1200"), Err("`300` has no unit; write 300s or 300ms".into()));
        assert_eq!(apdex("0.5ms,2ms").map(|limits| limits.satisfied_ns), Ok(500_000));
    }
}
