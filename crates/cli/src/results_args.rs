//! What `report`, `judge`, `export`, `compare` and `trend` are told about results: which part of them counts, how files are read, which clock.

use std::path::PathBuf;

use busyhour_analysis::comparison::{ComparedClock, RunWindow};
use busyhour_report::{ResultsOptions, ResultsPart, RunReading};
use clap::{Args, ValueEnum};

use crate::quantities::span;
use crate::report;
use crate::run_request::FlagSettings;
use crate::settings;

/// Which part of results counts, and how files are read.
#[derive(Debug, Args)]
pub(crate) struct ResultsArgs {
    /// Count what starts from FROM until TO, in seconds from the start (each run's own).
    #[arg(long, value_name = "FROM,TO", value_parser = span, conflicts_with = "steady")]
    window: Option<RunWindow>,
    /// Look for ramps at the beginning and the end (of each run), and leave them out.
    #[arg(long, value_name = "HOW")]
    steady: Option<SteadyHow>,
    /// Time stamps are the ends of samples (sampleresult.timestamp.start=false), not their starts.
    #[arg(long)]
    end_stamps: bool,
    /// Set a JMeter property, such as those with which a CSV without names of columns was written.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    jmeter_property: Vec<String>,
    /// JMeter properties file; may be given several times.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    additional: Vec<PathBuf>,
}

/// How ramps are found.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SteadyHow {
    /// By the number of users where it is known, by rate and response times.
    Auto,
}

impl ResultsArgs {
    /// The window on the command line.
    pub(crate) const fn window(&self) -> Option<RunWindow> {
        self.window
    }

    /// Whether ramps are looked for.
    pub(crate) const fn is_steady(&self) -> bool {
        self.steady.is_some()
    }

    fn part(&self) -> ResultsPart {
        match (self.window, self.steady) {
            (Some(RunWindow { from_s, to_s }), _) => ResultsPart::Window(from_s, to_s),
            (None, Some(SteadyHow::Auto)) => ResultsPart::Steady,
            (None, None) => ResultsPart::Whole,
        }
    }

    /// All of it, with what properties say besides.
    pub(crate) fn options(&self) -> Result<ResultsOptions, String> {
        let mut flags = FlagSettings { additional: self.additional.clone(), ..FlagSettings::default() };
        for text in &self.jmeter_property {
            flags.jmeter.push(settings::assignment("-J", text)?);
        }
        let properties = settings::load(&flags, 0)?.jmeter;
        let mut options = report::options(&properties)?;
        options.read.stamps_are_ends |= self.end_stamps;
        options.part = self.part();
        Ok(options)
    }
}

/// How runs are read that are compared.
#[derive(Debug, Args)]
pub(crate) struct ComparedArgs {
    #[command(flatten)]
    pub(crate) results: ResultsArgs,
    /// The clock: from the intended or from the actual start. A JTL has the latter only.
    #[arg(long, value_enum, default_value_t = Clock::Response)]
    clock: Clock,
}

/// The clock on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Clock {
    /// End − intended start.
    Response,
    /// End − actual start.
    Service,
}

impl ComparedArgs {
    pub(crate) const fn clock(&self) -> ComparedClock {
        match self.clock {
            Clock::Response => ComparedClock::Response,
            Clock::Service => ComparedClock::Service,
        }
    }

    /// With `seed` for the bootstrap within runs, or without it.
    pub(crate) fn reading(&self, seed: Option<u64>) -> Result<RunReading, String> {
        let ResultsOptions { read, part, .. } = self.results.options()?;
        Ok(RunReading { clock: self.clock(), part, read, seed })
    }
}
