//! What was measured, from run directories, JTL files and files of measurements.

use std::path::{Path, PathBuf};

use busyhour_queueing::fit::{CapacityFinding, CheckSettings, LoadPoint, ToldFinding};
use busyhour_record::ResultsInput;
use busyhour_runs::{MeasuredLoad, ResultsOptions, ResultsPart, measure_loads};
use clap::Args;

use super::points_file::PointsFile;
use super::probes::Probes;
use crate::exit::{Exit, complain};
use crate::quantities::{seconds, share, span};
use crate::reading::ReadingProgress;
use crate::report::refuse;
use crate::results_options::results_options;
use crate::settings;
use crate::settings::FlagSettings;

/// Where measurements come from, and how they are read.
#[derive(Debug, Args)]
pub(super) struct MeasurementArgs {
    /// Run directories and JTL files, each a run at its own number of users, and files of measurements
    /// (CSV or TOML with users, throughput_per_s, response_ms).
    #[arg(required = true, value_name = "RUN|JTL|POINTS")]
    inputs: Vec<PathBuf>,
    /// Think time: all that a user does between a response and the next request. A run tells its own; this one counts before
    /// it.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    think: Option<f64>,
    /// Leave out measurements in which more requests failed.
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value = "1%")]
    errors_max: f64,
    /// Take X(R + Z) for the number of users, whatever is stated.
    #[arg(long)]
    users_by_law: bool,
    /// Utilization recorded beside a run: CSV with seconds and a column for each resource; once for each run, in their order,
    /// or once for all with seconds since 1970.
    #[arg(long, value_name = "FILE")]
    cpu: Vec<PathBuf>,
    /// Count what started from FROM to TO seconds after the start of each run (default: the part without ramps).
    #[arg(long, value_name = "FROM,TO", value_parser = span, conflicts_with = "whole")]
    window: Option<busyhour_analysis::comparison::RunWindow>,
    /// Count all of each run, ramps too.
    #[arg(long)]
    whole: bool,
    /// Take each run for one load. Otherwise a run whose users go in steps (a stepping or ultimate thread group) is a load for each
    /// step, called RUN@N users.
    #[arg(long)]
    one_load: bool,
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

/// What was read.
pub(super) struct Measurements {
    pub(super) points: Vec<LoadPoint>,
    /// What the runs themselves put in doubt.
    pub(super) findings: Vec<ToldFinding>,
    /// The runs, for what needs single times.
    pub(super) runs: Vec<MeasuredLoad>,
}

impl MeasurementArgs {
    /// How measurements are checked.
    pub(super) fn check(&self) -> CheckSettings {
        CheckSettings { think_s: self.think, errors_max: self.errors_max, users_by_law: self.users_by_law }
    }

    /// What the page is of.
    pub(super) fn title(&self) -> String {
        match &self.inputs[..] {
            [one] => stem(one),
            several => format!("{} and {} more", stem(&several[0]), several.len() - 1),
        }
    }

    /// What a run is called: the end of its path, or all of it where others end alike.
    fn name(&self, path: &Path) -> String {
        let alike = self.inputs.iter().filter(|other| stem(other) == stem(path)).count();
        if alike > 1 { path.display().to_string() } else { stem(path) }
    }

    /// Reads everything. Says what is wrong, and gives the exit code.
    pub(super) fn read(&self) -> Result<Measurements, Exit> {
        let usage = |message: String| complain(Exit::Usage, &message);
        let options = self.options().map_err(usage)?;
        let probes = self
            .cpu
            .iter()
            .map(|path| Probes::read(path))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|message| complain(Exit::Refused, &message))?;
        let mut found = Measurements { points: Vec::new(), findings: Vec::new(), runs: Vec::new() };
        // Which recording of probes belongs to each load: those of a run share its.
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
        let is_for_all = matches!(&probes[..], [one] if one.is_of_the_clock());
        if !probes.is_empty() && probes.len() != runs && !is_for_all {
            return Err(usage(format!(
                "--cpu is given {} times for {} runs: once for each, or once for all with seconds since 1970",
                probes.len(),
                runs
            )));
        }
        for (run, at) in found.runs.iter_mut().zip(probes_of) {
            found.findings.extend(run.findings.iter().cloned().map(ToldFinding::from));
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
                &format!("{open}: there is no number of users to fit a closed model to"),
            ));
        }
        Ok(found)
    }

    fn options(&self) -> Result<ResultsOptions, String> {
        let mut flags = FlagSettings { additional: self.additional.clone(), ..FlagSettings::default() };
        for text in &self.jmeter_property {
            flags.jmeter.push(settings::assignment("-J", text)?);
        }
        let properties = settings::load(&flags, 0)?.jmeter;
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
