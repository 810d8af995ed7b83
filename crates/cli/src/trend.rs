//! `busyhour compare --history`: finds lasting changes in a history of runs.

use std::path::PathBuf;

use busyhour_analysis::comparison::{Margins, Trend, TrendOutcome, TrendSettings};
use busyhour_report::trend_table;
use busyhour_terminal::exit::{Exit, complain, print};
use busyhour_terminal::output::Output;
use busyhour_terminal::outputs::{OutputFile, note_written, write_files};
use busyhour_terminal::quantities::share;
use busyhour_verb_inputs::results_args::ComparedArgs;
use busyhour_verb_inputs::run_paths::{read_all, runs_of};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(
    after_help = "Runs are ordered by their start times. A change is reported when enough runs after it confirm it: after 30 to 60 \
    runs without a change, a change of five standard deviations needs 4 or 5 more runs. To check a single change at once, use \
    busyhour compare.\n\n\
    Examples:\n  busyhour compare --history busyhour-runs\n  busyhour compare --history nightly/*.jtl --fail-on regression\n\n\
    Exit codes: 0 success, 1 the program or the system failed, 2 the command line is wrong, 3 a run cannot be read; with \
    --fail-on regression also 8 the last change of a measure is a regression, 11 too few runs"
)]
pub(crate) struct TrendArgs {
    /// Runs (run directories, JTL files), or directories that contain runs.
    #[arg(required = true, value_name = "RUN|DIR")]
    pub(crate) runs: Vec<PathBuf>,
    /// Changes of times and throughput up to this size are small.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    pub(crate) margin: f64,
    /// Changes of the error rate up to this size, in percentage points, are small.
    #[arg(long, value_name = "POINTS", value_parser = share, default_value = "0.1%")]
    pub(crate) error_margin: f64,
    #[command(flatten)]
    pub(crate) detection: DetectionArgs,
    /// When to exit with code 8, or with 11 if there are too few runs.
    #[arg(long, value_enum, default_value_t = FailOn::None)]
    pub(crate) fail_on: FailOn,
    #[command(flatten)]
    pub(crate) compared: ComparedArgs,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Seed of the random order of equal values.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The files of `compare --history -o`.
    #[arg(skip)]
    pub(crate) outputs: Vec<OutputFile>,
}

/// How changes are detected.
#[derive(Debug, Args)]
pub(crate) struct DetectionArgs {
    /// Maximum probability of a false alarm in 100 runs, for all measures and labels together.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    false_alarms: f64,
    /// Minimum number of runs between two changes, and at both ends.
    #[arg(long, value_name = "RUNS", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..))]
    least: u16,
}

/// When a history ends with [`Exit::Worse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// The last change of a measure is for the worse and exceeds the margin.
    Regression,
    /// Never.
    None,
}

pub(crate) fn main(args: &TrendArgs) -> Exit {
    let paths = match runs_of(&args.runs) {
        Ok(paths) => paths,
        Err(exit) => return exit,
    };
    if args.detection.false_alarms <= 0.0 || args.detection.false_alarms >= 1.0 {
        return complain(Exit::Usage, "--false-alarms must be between 0 and 100 %, e.g. 5%");
    }
    let reading = match args.compared.reading(None) {
        Ok(reading) => reading,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let Some(runs) = read_all(&paths, &reading) else { return Exit::Refused };
    let settings = TrendSettings {
        clock: args.compared.clock(),
        window: args.compared.results.window(),
        steady: args.compared.results.is_steady(),
        margins: Margins { relative: args.margin, errors: args.error_margin },
        runs_min: usize::from(args.detection.least),
        false_alarms: args.detection.false_alarms,
        seed: args.seed,
    };
    let Some(trend) = Trend::new(runs, settings) else {
        return complain(Exit::Internal, "no runs found");
    };
    print(&if args.json { trend.to_json() } else { trend_table(&trend, Output::of_stdout().look) });
    if let Err(exit) = write_files(&args.outputs, &mut |_| Ok(trend.to_json())) {
        return exit;
    }
    note_written(&args.outputs);
    match (args.fail_on, trend.outcome) {
        (FailOn::Regression, TrendOutcome::Regression { .. }) => Exit::Worse,
        (FailOn::Regression, TrendOutcome::NotJudged { .. }) => Exit::NotJudged,
        (FailOn::Regression, TrendOutcome::NoRegression) | (FailOn::None, _) => Exit::Completed,
    }
}
