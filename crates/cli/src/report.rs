//! `busyhour report`: tables and a page from run directories and result files.

use std::path::{Path, PathBuf};

use busyhour_analysis::Summary;
use busyhour_diagnostic::Diagnostic;
use busyhour_record::RunDir;
use busyhour_report::{RunShow, Written, end_of_run, html_report};
use busyhour_results::ResultsInput;
use busyhour_results::{LogLoad, ReadRunError, ResultsOptions, ResultsPart, summarise_results};
use busyhour_sample::ApdexLimits;
use clap::Args;

use crate::command_error::CommandError;
use crate::exit::{Exit, complain, print, say};
use crate::inputs::{Inputs, is_stdin};
use crate::output::{Output, report_command};
use crate::reading::ReadingProgress;
use crate::results_args::ResultsArgs;
use busyhour_diagnostic::io_hints::chain;

#[derive(Debug, Args)]
#[command(
    after_help = "Inputs are run directories and JTL files: CSV with or without a header line, or XML, also compressed with \
    gzip or Zstandard. The format is detected from the content. Several inputs count as results of several generators in one \
    test; their samples are merged by label. Percentiles are computed from all samples, with an error of at most 0.1 %.\n\n\
    Examples:\n  busyhour report results.jtl -o report.html\n  busyhour report busyhour-runs/plan-20260101-120000\n  \
    busyhour report --steady auto generator-*.jtl.gz -o report.html\n  \
    busyhour report --window 60,660 --apdex 300,1200 results.jtl\n  zstdcat results.jtl.zst | busyhour report -\n\n\
    Exit codes: 0 success, 1 the program or the system failed, 2 the command line is wrong, 3 an input cannot be read"
)]
pub(crate) struct ReportArgs {
    /// JTL files and run directories; - is standard input.
    #[arg(required = true, value_name = "FILE|DIR")]
    inputs: Vec<PathBuf>,
    /// Write the HTML report to this file.
    #[arg(short = 'o', long = "output", value_name = "FILE.html")]
    output: Option<PathBuf>,
    /// Write the summary as JSON to this file; - is standard output and replaces the tables.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    results: ResultsArgs,
    /// Also show a table for each thread group (derived from the thread names).
    #[arg(long)]
    by_group: bool,
    /// Print all tables and caveats, as into a pipe or file (default on a terminal: one screen).
    #[arg(long)]
    details: bool,
    /// APDEX limits in ms (default: 500,1500, or JMeter's properties).
    #[arg(long, value_name = "SATISFIED,TOLERATED", value_parser = apdex)]
    apdex: Option<ApdexLimits>,
    /// Treat a JTL as the result of an open workload (default: threads wait for each response, as in JMeter). A run directory
    /// contains this information.
    #[arg(long)]
    open: bool,
}

pub(crate) fn main(args: &ReportArgs) -> Exit {
    let options = match args.options() {
        Ok(options) => options,
        Err(message) => return complain(Exit::Usage, &message),
    };
    if let Some(folder) = args.output.iter().chain(&args.json).find(|path| path.is_dir()) {
        let text = format!("{} is a directory; give the name of a file", folder.display());
        return complain(Exit::Usage, &text);
    }
    // A time window may need a second pass over the input.
    let once = options.part == ResultsPart::Whole;
    let inputs = match if once { Inputs::once(&args.inputs) } else { Inputs::kept(&args.inputs) } {
        Ok(inputs) => inputs,
        Err((exit, message)) => return complain(exit, &message),
    };
    let summary = match read(inputs.all, &options) {
        Ok(summary) => summary,
        Err(error) => return refuse(&error),
    };
    let mut written = Vec::new();
    let json_to_stdout = args.json.as_deref().is_some_and(is_stdin);
    for (path, contents) in [
        (args.output.as_ref(), args.output.as_ref().map(|_| html_report(&summary))),
        (args.json.as_ref().filter(|_| !json_to_stdout), args.json.as_ref().map(|_| summary.to_json())),
    ] {
        let (Some(path), Some(contents)) = (path, contents) else { continue };
        if let Err(error) = RunDir::write_whole(path, contents.as_bytes()) {
            return complain(Exit::Internal, &chain(&error));
        }
        written.push(path);
    }
    print(&if json_to_stdout {
        summary.to_json()
    } else {
        let out = Output::of_stdout();
        let paths: Vec<&Path> = args.inputs.iter().map(PathBuf::as_path).collect();
        let page =
            args.output.as_deref().map(|page| std::path::absolute(page).unwrap_or_else(|_| page.to_owned()));
        let shown = Written {
            page,
            has_links: out.has_links,
            details_command: Some(report_command(&paths)),
            ..Written::default()
        };
        let show =
            RunShow { by_group: args.by_group, details: args.details || !out.is_terminal, lines_below: 0 };
        end_of_run(&summary, show, &shown, out.look)
    });
    for path in written {
        say(&format!("wrote {}", path.display()));
    }
    Exit::Completed
}

impl ReportArgs {
    fn options(&self) -> Result<ResultsOptions, CommandError> {
        let mut options = self.results.options()?;
        options.apdex = self.apdex.unwrap_or(options.apdex);
        options.load = if self.open { LogLoad::Open } else { LogLoad::Closed };
        Ok(options)
    }
}

/// Reads the inputs and shows the progress.
pub(crate) fn read(inputs: Vec<ResultsInput>, options: &ResultsOptions) -> Result<Summary, ReadRunError> {
    with_progress(inputs, |inputs, progress| summarise_results(inputs, options, progress))
}

/// Reads `inputs` with `summarise` and shows the progress.
pub(crate) fn with_progress<T>(
    inputs: Vec<ResultsInput>,
    summarise: impl FnOnce(Vec<ResultsInput>, &mut dyn FnMut(u64, Option<u64>)) -> T,
) -> T {
    let name = match &inputs[..] {
        [one] => one.name.clone(),
        several => format!("{} inputs", several.len()),
    };
    let mut progress = ReadingProgress::new(&name);
    let summary = summarise(inputs, &mut |bytes, of| progress.show(bytes, of));
    progress.clear();
    summary
}

/// Prints why results cannot be read.
pub(crate) fn refuse(error: &ReadRunError) -> Exit {
    let mut diagnostic = Diagnostic::error("results", error.to_string());
    if let Some(cause) = std::error::Error::source(error) {
        diagnostic = diagnostic.with_error(cause);
    }
    if !error.hint().is_empty() {
        diagnostic = diagnostic.with_hint(error.hint());
    }
    say(&diagnostic.to_string());
    Exit::Refused
}

fn apdex(text: &str) -> Result<ApdexLimits, CommandError> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
    let two = text.split_once(',').and_then(|(from, to)| Some((number(from)?, number(to)?)));
    let (satisfied, tolerated) = two.filter(|(satisfied, tolerated)| tolerated > satisfied).ok_or(
        "expected two increasing numbers of milliseconds, e.g. 500,1500: the limits of satisfied and tolerated responses",
    )?;
    let ns = |ms: f64| (ms * 1e6).round() as u64;
    Ok(ApdexLimits { satisfied_ns: ns(satisfied), tolerated_ns: ns(tolerated) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_numbers() {
        for wrong in ["60", "660,60", "a,b", "-1,5", "5,5", "nan,1"] {
            assert!(apdex(wrong).is_err(), "{wrong}");
        }
        assert_eq!(apdex("0.5,2").map(|limits| limits.satisfied_ns), Ok(500_000));
    }
}
