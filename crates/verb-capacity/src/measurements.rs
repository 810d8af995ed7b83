//! Reads measurements from run directories, JTL files and tables of measurements.

use std::path::PathBuf;

use busyhour_capacity::{MeasurementSources, Measurements, MeasurementsError};
use busyhour_queueing::fit::CheckSettings;
use busyhour_results::{ResultsOptions, ResultsPart};
use busyhour_terminal::command_error::CommandError;
use busyhour_terminal::exit::{Exit, complain};
use busyhour_terminal::quantities::{share, span, time_s};
use busyhour_verb_inputs::properties::of_flags;
use busyhour_verb_inputs::reading::{ReadingProgress, refuse};
use busyhour_verb_inputs::results_options::results_options;
use clap::Args;

/// Sources of measurements and options for reading them.
#[derive(Debug, Args)]
pub(super) struct MeasurementArgs {
    /// Run directories and JTL files, each a run at its own number of users, and files of measurements
    /// (CSV or TOML with users, throughput_per_s, response_ms).
    #[arg(required = true, value_name = "RUN|JTL|POINTS")]
    inputs: Vec<PathBuf>,
    /// Think time: the time between a response and the user's next request. Overrides the think time determined from a
    /// run.
    #[arg(long, value_name = "TIME", value_parser = time_s)]
    think: Option<f64>,
    /// Exclude measurements with a larger share of failed requests.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%")]
    errors_max: f64,
    /// Compute the number of users as X(R + Z), even if it is given.
    #[arg(long)]
    users_by_law: bool,
    /// Utilization recorded during a run: CSV with seconds and a column for each resource; once per run, in the order of the
    /// runs, or once for all runs with seconds since 1970.
    #[arg(long, value_name = "FILE")]
    cpu: Vec<PathBuf>,
    /// Use only requests that start between FROM and TO, counted from the start of each run, e.g. 10s,2min (default: the part without ramps).
    #[arg(long, value_name = "FROM,TO", value_parser = span, conflicts_with = "whole")]
    window: Option<busyhour_analysis::comparison::RunWindow>,
    /// Use the whole of each run, including ramps.
    #[arg(long)]
    whole: bool,
    /// Treat each run as one load. By default, each step of a run whose number of users changes in steps (a stepping or ultimate
    /// thread group) is a separate load, called RUN@N users.
    #[arg(long)]
    one_load: bool,
    /// Time stamps are the ends of samples (sampleresult.timestamp.start=false), not their starts.
    #[arg(long)]
    end_stamps: bool,
    /// Set a JMeter property, e.g. for the columns of a CSV file without a header line.
    #[arg(short = 'J', value_name = "NAME=VALUE")]
    jmeter_property: Vec<String>,
    /// JMeter properties file; may be given several times.
    #[arg(short = 'q', long = "addprop", value_name = "FILE")]
    additional: Vec<PathBuf>,
}

impl MeasurementArgs {
    /// The sources, with options that properties set.
    pub(super) fn sources(&self) -> Result<MeasurementSources, Exit> {
        Ok(MeasurementSources {
            inputs: self.inputs.clone(),
            check: CheckSettings {
                think_s: self.think,
                errors_max: self.errors_max,
                users_by_law: self.users_by_law,
            },
            utilization: self.cpu.clone(),
            results: self.options().map_err(|error| complain(Exit::Usage, &error))?,
            in_steps: !self.one_load,
        })
    }

    fn options(&self) -> Result<ResultsOptions, CommandError> {
        let properties = of_flags(&self.jmeter_property, &self.additional)?.all;
        let mut options = results_options(&properties)?;
        options.read.stamps_are_ends |= self.end_stamps;
        options.part = match (self.window, self.whole) {
            (Some(window), _) => ResultsPart::Window(window.from_s, window.to_s),
            (None, true) => ResultsPart::Whole,
            (None, false) => ResultsPart::Steady,
        };
        Ok(options)
    }
}

/// Reads all measurements and shows the progress. Prints errors and returns the exit code.
pub(super) fn read(sources: &MeasurementSources) -> Result<Measurements, Exit> {
    let mut shown: Option<(PathBuf, ReadingProgress)> = None;
    let found = sources.read(&mut |path, bytes, of| {
        if shown.as_ref().is_none_or(|(current, _)| current != path) {
            shown = Some((path.to_owned(), ReadingProgress::new(&path.display().to_string())));
        }
        if let Some((_, progress)) = &mut shown {
            progress.show(bytes, of);
        }
    });
    if let Some((_, progress)) = &mut shown {
        progress.clear();
    }
    found.map_err(|error| match error {
        MeasurementsError::Inputs(message) => complain(Exit::Usage, &message),
        MeasurementsError::File(message) => complain(Exit::Refused, &message),
        MeasurementsError::Run(error) => refuse(&error),
    })
}
