//! Options of `report`, `judge`, `export`, `compare` and `trend` on reading results: time window, file format, clock.

use std::path::PathBuf;

use busyhour_analysis::comparison::{ComparedClock, RunWindow};
use busyhour_results::{ResultsOptions, ResultsPart, RunReading};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::quantities::span;
use clap::{Args, ValueEnum};

use crate::properties::of_flags;
use crate::results_options::results_options;

/// Time window and file format of results.
#[derive(Debug, Args)]
pub struct ResultsArgs {
    /// Use only samples that start between FROM and TO, counted from the start of each run, e.g. 10s,2min.
    #[arg(long, value_name = "FROM,TO", value_parser = span, conflicts_with = "steady")]
    window: Option<RunWindow>,
    /// Detect the ramps at the start and the end of each run and exclude them.
    #[arg(long, value_name = "HOW")]
    steady: Option<SteadyHow>,
    /// Time stamps are the ends of samples, not their starts (sampleresult.timestamp.start=false).
    #[arg(long)]
    end_stamps: bool,
    /// Set a JMeter property, e.g. for the columns of a CSV file without a header line.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    jmeter_property: Vec<String>,
    /// JMeter properties file; may be given several times.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    additional: Vec<PathBuf>,
}

/// The kind of load of a log.
#[derive(Debug, Default, Args)]
pub struct WorkloadArgs {
    /// Workload of a JTL: open if requests started on a schedule, closed if threads waited for each response, as in JMeter
    /// (default: closed). A run directory contains this information.
    #[arg(long, value_enum, value_name = "KIND")]
    workload: Option<Workload>,
    #[arg(long, hide = true, conflicts_with = "workload")]
    open: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Workload {
    Open,
    Closed,
}

impl WorkloadArgs {
    /// Whether requests started on a schedule.
    pub fn is_open(&self) -> bool {
        self.open || self.workload == Some(Workload::Open)
    }
}

/// Method of ramp detection.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SteadyHow {
    /// By the number of users if known, else by rate and response times.
    Auto,
}

impl ResultsArgs {
    /// The window on the command line, if one was given.
    pub const fn window(&self) -> Option<RunWindow> {
        self.window
    }

    /// Whether time stamps are the ends of samples.
    pub const fn are_end_stamps(&self) -> bool {
        self.end_stamps
    }

    /// Whether ramps are excluded.
    pub const fn is_steady(&self) -> bool {
        self.steady.is_some()
    }

    fn part(&self) -> ResultsPart {
        match (self.window, self.steady) {
            (Some(RunWindow { from_s, to_s }), _) => ResultsPart::Window(from_s, to_s),
            (None, Some(SteadyHow::Auto)) => ResultsPart::Steady,
            (None, None) => ResultsPart::Whole,
        }
    }

    /// The options for reading results, including those that properties set.
    pub fn options(&self) -> Result<ResultsOptions, CommandError> {
        let properties = of_flags(&self.jmeter_property, &self.additional)?.all;
        let mut options = results_options(&properties)?;
        options.read.stamps_are_ends |= self.end_stamps;
        options.part = self.part();
        Ok(options)
    }
}

/// Options on reading runs for a comparison.
#[derive(Debug, Args)]
pub struct ComparedArgs {
    #[command(flatten)]
    /// Time window and file format.
    pub results: ResultsArgs,
    /// Measure times from the intended or from the actual start. A JTL has only the latter.
    #[arg(long, value_enum, default_value_t = Clock::Response)]
    clock: Clock,
}

/// The clock on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clock {
    /// From the intended start to the end.
    Response,
    /// From the actual start to the end.
    Service,
}

impl ComparedArgs {
    /// The clock that times are measured with.
    pub const fn clock(&self) -> ComparedClock {
        match self.clock {
            Clock::Response => ComparedClock::Response,
            Clock::Service => ComparedClock::Service,
        }
    }

    /// The settings for reading runs; with a `seed`, they include a bootstrap within each run.
    pub fn reading(&self, seed: Option<u64>) -> Result<RunReading, CommandError> {
        let ResultsOptions { read, part, .. } = self.results.options()?;
        Ok(RunReading { clock: self.clock(), part, read, seed })
    }
}
