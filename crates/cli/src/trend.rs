//! `busyhour trend`: where a history of runs changed.

use std::path::PathBuf;

use busyhour_analysis::comparison::{Margins, Trend, TrendSettings};
use busyhour_report::trend_table;
use clap::{Args, ValueEnum};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::arrivals::look;
use crate::compare::read_all;
use crate::exit::{Exit, complain, print};
use crate::quantities::share;
use crate::results_args::ComparedArgs;
use crate::run_paths::runs_of;

#[derive(Debug, Args)]
#[command(
    after_help = "Runs are taken by the time of their start. A change is found some runs after it came, because a single odd run \
    is none; --least says how many.\n\n\
    Examples:\n  busyhour trend busyhour-runs\n  busyhour trend nightly/*.jtl --fail-on regression\n\n\
    Exit codes: 0 done, 1 the program or the system failed, 2 the command line cannot be understood, 3 a run cannot be \
    read, 8 the last change of a measure is a regression (--fail-on regression)"
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
    /// p-value of a change that counts.
    #[arg(long, value_name = "P", value_parser = share, default_value = "0.01")]
    significance: f64,
    /// Fewest runs between two changes, and at either end.
    #[arg(long, value_name = "RUNS", default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..))]
    least: u16,
    /// When to end with exit code 8.
    #[arg(long, value_enum, default_value_t = FailOn::None)]
    fail_on: FailOn,
    #[command(flatten)]
    compared: ComparedArgs,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Seed of the permutations.
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
    if args.significance <= 0.0 || args.significance >= 1.0 {
        return complain(Exit::Usage, "--significance must be between 0 and 1");
    }
    let reading = match args.compared.reading(None) {
        Ok(reading) => reading,
        Err(message) => return complain(Exit::Usage, &message),
    };
    let Some(runs) = read_all(&paths, &reading) else { return Exit::Refused };
    let default = TrendSettings::default();
    let settings = TrendSettings {
        clock: args.compared.clock(),
        window: args.compared.results.window(),
        steady: args.compared.results.is_steady(),
        margins: Margins { relative: args.margin, errors: args.error_margin },
        least: usize::from(args.least),
        significance: args.significance,
        // A p-value cannot be less than one in so many.
        permutations: default.permutations.max((2.0 / args.significance).ceil().min(1e5) as usize),
        seed: args.seed,
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(args.seed);
    let Some(trend) = Trend::new(runs, settings, &mut random) else {
        return complain(Exit::Internal, "there are no runs");
    };
    print(&if args.json { trend.to_json() } else { trend_table(&trend, look()) });
    if args.fail_on == FailOn::Regression && trend.regressions().next().is_some() {
        Exit::Worse
    } else {
        Exit::Completed
    }
}
