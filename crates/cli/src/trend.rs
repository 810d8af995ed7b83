//! `busyhour trend`: where a history of runs changed.

use std::path::PathBuf;

use busyhour_analysis::comparison::{Margins, Trend, TrendOutcome, TrendSettings};
use busyhour_report::trend_table;
use clap::{Args, ValueEnum};

use crate::arrivals::look;
use crate::compare::read_all;
use crate::exit::{Exit, complain, print};
use crate::quantities::share;
use crate::results_args::ComparedArgs;
use crate::run_paths::runs_of;

#[derive(Debug, Args)]
#[command(
    after_help = "Runs are put in the order of their starts. A change is reported once enough runs after it show it: 4 to 8 runs \
    after 30 to 60 earlier ones for a change of five standard deviations of a run. To judge a single change at once, compare \
    runs before and after it: busyhour compare.\n\n\
    Examples:\n  busyhour trend busyhour-runs\n  busyhour trend nightly/*.jtl --fail-on regression\n\n\
    Exit codes: 0 done, 1 the program or the system failed, 2 the command line cannot be understood, 3 a run cannot be \
    read; with --fail-on regression also 8 the last change of a measure is a regression, 11 too few runs to judge"
)]
pub(crate) struct TrendArgs {
    /// Runs (run directories, JTL files), or directories that hold them.
    #[arg(required = true, value_name = "RUN|DIR")]
    runs: Vec<PathBuf>,
    /// A change of times and throughput up to this is small.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    margin: f64,
    /// A change of the share of errors up to this, in percentage points, is small.
    #[arg(long, value_name = "POINTS", value_parser = share, default_value = "0.1%")]
    error_margin: f64,
    /// Probability of a false alarm in 100 runs, over all measures and labels together.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "5%")]
    false_alarms: f64,
    /// Fewest runs between two changes, and at either end.
    #[arg(long, value_name = "RUNS", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..))]
    least: u16,
    /// When to end with exit code 8, or with 11 if there are too few runs to judge.
    #[arg(long, value_enum, default_value_t = FailOn::None)]
    fail_on: FailOn,
    #[command(flatten)]
    compared: ComparedArgs,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Seed of the order of equal values.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// When a history ends with [`Exit::Worse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// The last change of some measure is one for the worse by more than the margin.
    Regression,
    /// Never.
    None,
}

pub(crate) fn main(args: &TrendArgs) -> Exit {
    let paths = match runs_of(&args.runs) {
        Ok(paths) => paths,
        Err(exit) => return exit,
    };
    if args.false_alarms <= 0.0 || args.false_alarms >= 1.0 {
        return complain(Exit::Usage, "--false-alarms must be between 0 and 100 %, such as 5%");
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
        least: usize::from(args.least),
        false_alarms: args.false_alarms,
        seed: args.seed,
    };
    let Some(trend) = Trend::new(runs, settings) else {
        return complain(Exit::Internal, "there are no runs");
    };
    print(&if args.json { trend.to_json() } else { trend_table(&trend, look()) });
    match (args.fail_on, trend.outcome) {
        (FailOn::Regression, TrendOutcome::Regression { .. }) => Exit::Worse,
        (FailOn::Regression, TrendOutcome::NotJudged { .. }) => Exit::NotJudged,
        (FailOn::Regression, TrendOutcome::NoRegression) | (FailOn::None, _) => Exit::Completed,
    }
}
