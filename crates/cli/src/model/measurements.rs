//! Reads measurements from run directories, JTL files and tables of measurements.

use std::path::{Path, PathBuf};

use busyhour_queueing::fit::{CapacityFinding, CheckSettings, LoadPoint, ReportedFinding};
use busyhour_results::ResultsInput;
use busyhour_results::{MeasuredLoad, ResultsOptions, ResultsPart, measure_loads};
use clap::Args;

use super::points_file::PointsFile;
use super::probes::Probes;
use crate::command_error::CommandError;
use crate::exit::{Exit, complain};
use crate::properties::of_flags;
use crate::quantities::{seconds, share, span};
use crate::reading::ReadingProgress;
use crate::report::refuse;
use crate::results_options::results_options;

/// Sources of measurements and options for reading them.
#[derive(Debug, Args)]
pub(super) struct MeasurementArgs {
    /// Run directories and JTL files, each a run at its own number of users, and files of measurements
    /// (CSV or TOML with users, throughput_per_s, response_ms).
    #[arg(required = true, value_name = "RUN|JTL|POINTS")]
    inputs: Vec<PathBuf>,
    /// Think time: the time between a response and the user's next request. Overrides the think time determined from a
    /// run.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
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
    /// Use only requests that start between FROM and TO, in seconds from the start of each run (default: the part without ramps).
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

/// The measurements that were read.
pub(super) struct Measurements {
    pub(super) points: Vec<LoadPoint>,
    /// Caveats of the runs.
    pub(super) findings: Vec<ReportedFinding>,
    /// The runs, for access to individual times.
    pub(super) runs: Vec<MeasuredLoad>,
}

impl MeasurementArgs {
    /// Options for checking measurements.
    pub(super) fn check(&self) -> CheckSettings {
        CheckSettings { think_s: self.think, errors_max: self.errors_max, users_by_law: self.users_by_law }
    }

    /// The title of the page.
    pub(super) fn title(&self) -> String {
        match &self.inputs[..] {
            [input] => stem(input),
            inputs => format!("{} and {} more", stem(&inputs[0]), inputs.len() - 1),
        }
    }

    /// The name of a run: the last part of its path, or the whole path if that is ambiguous.
    fn name(&self, path: &Path) -> String {
        let same_names = self.inputs.iter().filter(|other| stem(other) == stem(path)).count();
        if same_names > 1 { path.display().to_string() } else { stem(path) }
    }

    /// Reads all measurements. Prints errors and returns the exit code.
    pub(super) fn read(&self) -> Result<Measurements, Exit> {
        let usage = |error: CommandError| complain(Exit::Usage, &error);
        let options = self.options().map_err(usage)?;
        let probes = self
            .cpu
            .iter()
            .map(|path| Probes::read(path))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|message| complain(Exit::Refused, &message))?;
        let mut found = Measurements { points: Vec::new(), findings: Vec::new(), runs: Vec::new() };
        // The index of the utilization file for each load; all loads of a run share one.
        let (mut runs, mut probes_of) = (0, Vec::new());
        for path in &self.inputs {
            match PointsFile::read(path).map_err(|message| complain(Exit::Refused, &message))? {
                PointsFile::Points(points) => found.points.extend(points),
                PointsFile::Other => {
                    found.runs.extend(read_run(path, &self.name(path), &options, !self.one_load)?);
                    probes_of.resize(found.runs.len(), runs);
                    runs += 1;
                }
            }
        }
        let is_for_all = matches!(&probes[..], [probe] if probe.has_clock_times());
        if !probes.is_empty() && probes.len() != runs && !is_for_all {
            return Err(usage(format!(
                "--cpu is given {} times for {} runs: give it once per run, or once for all runs with seconds since 1970",
                probes.len(),
                runs
            ).into()));
        }
        for (run, at) in found.runs.iter_mut().zip(probes_of) {
            found.findings.extend(run.findings.iter().cloned().map(ReportedFinding::from));
            if let Some(probes) = probes.get(at).or(probes.first()) {
                run.point.utilization = probes
                    .mean(run.window_s, run.wall_anchor_ms)
                    .map_err(|message| complain(Exit::Refused, &message))?;
            }
            if self.think.is_some() {
                run.point.think_s = self.think;
            }
            if !run.is_open {
                found.points.push(run.point.clone());
            }
        }
        if found.points.is_empty() {
            let open = CapacityFinding::OpenLoad { point: "every run".into() };
            return Err(complain(
                Exit::Refused,
                &format!(
                    "{open}: a run with an open load has no number of users, which a closed model needs"
                ),
            ));
        }
        Ok(found)
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

fn read_run(
    path: &Path,
    called: &str,
    options: &ResultsOptions,
    in_steps: bool,
) -> Result<Vec<MeasuredLoad>, Exit> {
    let name = path.display().to_string();
    let mut progress = ReadingProgress::new(&name);
    let found = measure_loads(called, ResultsInput::path(path), options, in_steps, &mut |bytes, of| {
        progress.show(bytes, of);
    });
    progress.clear();
    found.map_err(|error| refuse(&error))
}

fn stem(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
