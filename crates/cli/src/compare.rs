//! `busyhour compare`: differences between two groups of runs, the number of runs needed to detect one, and changes in a history.

use std::path::PathBuf;

use busyhour_analysis::Comparison;
use busyhour_analysis::comparison::{
    ComparisonSettings, Margins, RunDifference, RunsNeeded, Verdict, differences,
};
use busyhour_diagnostic::Diagnostic;
use busyhour_report::{
    ComparisonShow, comparison_csv, comparison_html, comparison_percent, comparison_table, power_table,
};
use busyhour_results::RunReading;
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain, print, say};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputKind, note_written, output_files, write_files};
use busyhour_terminal::quantities::share;
use busyhour_verb_inputs::results_args::ComparedArgs;
use busyhour_verb_inputs::run_paths::{read_all, runs_of};
use clap::{Args, ValueEnum};

use crate::trend::{self, DetectionArgs, TrendArgs};

#[derive(Debug, Args)]
#[command(
    after_help = "A run is a run directory or a JTL in any form that `busyhour report` reads. Join the files of several generators \
    of one run with commas: generator-1.jtl,generator-2.jtl. Use several runs on each side to measure the variation between runs; \
    with one run on each side it is unknown, and a caveat reports this. A difference is reported only if its confidence interval \
    excludes zero, corrected for the number of labels and measures, and \"slower\" only if the interval is beyond the margin.\n\n\
    Examples:\n  busyhour compare before after\n  busyhour compare before-1 before-2 before-3 -- after-1 after-2 after-3\n  \
    busyhour compare before.jtl after.jtl --as percent -o compared.html\n  busyhour compare --power 5% before-1 before-2 before-3\n  \
    busyhour compare --history busyhour-runs --fail-on regression\n\n\
    Exit codes: 0 success, 1 the program or the system failed, 2 the command line is wrong, 3 a run cannot be read, or \
    the runs are too different to compare (--allow-unlike), 8 something got worse (--fail-on), 11 a history has too few runs to detect a regression"
)]
pub(crate) struct CompareArgs {
    /// Runs before the change, or directories that contain runs; without --, exactly two: before and after.
    #[arg(required = true, value_name = "BASE")]
    base: Vec<PathBuf>,
    /// Runs after the change.
    #[arg(last = true, value_name = "NEW")]
    new: Vec<PathBuf>,
    /// Changes of times and throughput up to this size do not matter.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    margin: f64,
    /// Changes of the error rate up to this size, in percentage points, do not matter.
    #[arg(long, value_name = "POINTS", value_parser = share, default_value = "0.1%")]
    error_margin: f64,
    /// When to exit with code 8 (default: slower; with --history: none).
    #[arg(long, value_enum)]
    fail_on: Option<FailOn>,
    #[command(flatten)]
    compared: ComparedArgs,
    /// Compare runs of different plans, labels or loads anyway.
    #[arg(long)]
    allow_unlike: bool,
    /// Write a file: the page (.html), all numbers (.json), or one table (.csv); may be given several times.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    output: Vec<PathBuf>,
    /// Form of the result.
    #[arg(long = "as", value_enum, default_value_t = Form::Table, value_name = "FORM")]
    form: Form,
    /// Show every measure of every label with its interval.
    #[arg(long)]
    details: bool,
    /// Print the result as JSON.
    #[arg(long, conflicts_with_all = ["csv", "form"])]
    json: bool,
    #[arg(long, hide = true, conflicts_with_all = ["form", "power"])]
    csv: bool,
    /// Instead of comparing, compute the number and length of runs that detect a difference of this size, from several runs
    /// of one system.
    #[arg(long, value_name = "PERCENT", value_parser = share, conflicts_with = "new")]
    power: Option<f64>,
    /// Seed of the bootstrap.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Instead of comparing, find lasting changes in a history of runs: all runs given, in the order of their starts.
    ///
    /// A change is reported when enough runs after it confirm it: after 30 to 60 runs without a change, a change of five standard
    /// deviations needs 4 or 5 more runs. To check a single change at once, compare the runs before and after it.
    #[arg(long, help_heading = "History", conflicts_with_all = ["new", "power", "csv", "form", "allow_unlike", "details"])]
    history: bool,
    #[command(flatten, next_help_heading = "History")]
    detection: DetectionArgs,
}

/// When a comparison ends with [`Exit::Worse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Something got worse by more than the margin: the whole interval is beyond it.
    Slower,
    /// There is any difference, for better or worse, even within the margin.
    Any,
    /// With --history: the last change of a measure is for the worse and exceeds the margin.
    Regression,
    /// Never.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Changes with intervals and verdicts.
    Table,
    /// Median time, throughput and errors before and after, with changes in per cent.
    Percent,
}

/// Kinds of files that this verb can write.
const WRITTEN: [OutputKind; 3] = [OutputKind::Html, OutputKind::Json, OutputKind::Csv];

pub(crate) fn main(args: CompareArgs) -> Exit {
    if args.history {
        return match args.into_trend() {
            Ok(trend) => trend::main(&trend),
            Err(message) => complain(Exit::Usage, &message),
        };
    }
    compare(&args)
}

impl CompareArgs {
    fn into_trend(self) -> Result<TrendArgs, CommandError> {
        let fail_on = match self.fail_on {
            None | Some(FailOn::None) => trend::FailOn::None,
            Some(FailOn::Regression) => trend::FailOn::Regression,
            Some(FailOn::Slower | FailOn::Any) => {
                return Err("--history has --fail-on regression or none".into());
            }
        };
        Ok(TrendArgs {
            runs: self.base,
            margin: self.margin,
            error_margin: self.error_margin,
            detection: self.detection,
            fail_on,
            compared: self.compared,
            json: self.json,
            seed: self.seed,
            outputs: output_files(&self.output, &[OutputKind::Json])?,
        })
    }
}

fn compare(args: &CompareArgs) -> Exit {
    if args.fail_on == Some(FailOn::Regression) {
        return complain(Exit::Usage, "--fail-on regression needs --history");
    }
    let files = match output_files(&args.output, &WRITTEN) {
        Ok(files) => files,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let reading = match args.compared.reading(Some(args.seed)) {
        Ok(reading) => reading,
        Err(message) => return complain(Exit::Usage, &message),
    };
    if let Some(difference) = args.power {
        return plan(args, difference, &reading);
    }
    // All arguments after `--` are runs.
    if let Some(option) = args.new.iter().find(|run| run.to_string_lossy().starts_with('-') && !run.exists())
    {
        let message = format!(
            "run {0} not found; options go before the runs: busyhour compare {0} … BASE… -- NEW…",
            option.display()
        );
        return complain(Exit::Usage, &message);
    }
    let (base, new) = match (&args.base[..], &args.new[..]) {
        ([base, new], []) => (std::slice::from_ref(base), std::slice::from_ref(new)),
        ([_], []) => {
            return complain(Exit::Usage, "expected a second run to compare with: busyhour compare BASE NEW");
        }
        (_, []) => {
            return complain(
                Exit::Usage,
                "separate the runs before and after the change with --: busyhour compare BASE… -- NEW…",
            );
        }
        (base, new) => (base, new),
    };
    let (base, new) = match (runs_of(base), runs_of(new)) {
        (Ok(base), Ok(new)) => (base, new),
        (Err(exit), _) | (_, Err(exit)) => return exit,
    };
    let (Some(base), Some(new)) = (read_all(&base, &reading), read_all(&new, &reading)) else {
        return Exit::Refused;
    };
    let unlike = differences(&base, &new);
    if !args.allow_unlike && unlike.iter().any(RunDifference::prevents_comparison) {
        say(&refusal(&unlike).to_string());
        return Exit::Refused;
    }
    let settings = ComparisonSettings {
        clock: args.compared.clock(),
        margins: Margins { relative: args.margin, errors: args.error_margin },
        window: args.compared.results.window(),
        steady: args.compared.results.is_steady(),
        seed: args.seed,
        ..ComparisonSettings::default()
    };
    let Some(comparison) = Comparison::new(&base, &new, settings, unlike) else {
        return complain(Exit::Internal, "nothing to compare");
    };
    let look = Output::of_stdout().look;
    print(&if args.json {
        comparison.to_json()
    } else if args.csv {
        comparison_csv(&comparison)
    } else if args.form == Form::Percent {
        comparison_percent(&comparison, look)
    } else {
        comparison_table(&comparison, ComparisonShow { details: args.details }, look)
    });
    let written = write_files(&files, &mut |kind| match kind {
        OutputKind::Csv => Ok(comparison_csv(&comparison)),
        OutputKind::Json => Ok(comparison.to_json()),
        _ => Ok(comparison_html(&comparison)),
    });
    if let Err(exit) = written {
        return exit;
    }
    note_written(&files);
    exit_code(&comparison, args.fail_on.unwrap_or(FailOn::Slower))
}

fn exit_code(comparison: &Comparison, fail_on: FailOn) -> Exit {
    let failed = match fail_on {
        FailOn::None | FailOn::Regression => false,
        FailOn::Slower => comparison.count(Verdict::Worse) > 0,
        FailOn::Any => {
            comparison.rows().flat_map(|row| &row.effects).any(|effect| effect.verdict.is_difference())
        }
    };
    if failed { Exit::Worse } else { Exit::Completed }
}

fn refusal(unlike: &[RunDifference]) -> Diagnostic {
    let mut diagnostic = Diagnostic::error("unlike", "these runs are too different to compare".to_owned());
    for unlike in unlike.iter().filter(|unlike| unlike.prevents_comparison()) {
        diagnostic = diagnostic.with_cause(unlike.to_string());
    }
    diagnostic.with_hint("--allow-unlike compares them anyway and lists the differences as caveats")
}

fn plan(args: &CompareArgs, difference: f64, reading: &RunReading) -> Exit {
    if difference <= 0.0 {
        return complain(Exit::Usage, "--power needs a difference greater than 0, e.g. 5%");
    }
    let paths = match runs_of(&args.base) {
        Ok(paths) => paths,
        Err(exit) => return exit,
    };
    let Some(runs) = read_all(&paths, reading) else { return Exit::Refused };
    let Some(plan) = RunsNeeded::new(&runs, difference, args.details) else {
        return complain(Exit::Internal, "the runs contain no measurements for planning");
    };
    let look = Output::of_stdout().look;
    print(&if args.json { plan.to_json() } else { power_table(&plan, look) });
    Exit::Completed
}
