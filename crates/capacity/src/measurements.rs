//! Reads measurements from run directories, JTL files and tables of measurements.

use std::path::{Path, PathBuf};

use busyhour_queueing::fit::{CapacityFinding, CheckSettings, LoadPoint, ReportedFinding, Utilization};
use busyhour_results::{MeasuredLoad, ResultsInput, ResultsOptions, measure_loads, resource_utilizations};

use crate::error::MeasurementsError;
use crate::points_file::PointsFile;
use crate::utilization_file::UtilizationFile;

/// Utilization that a resource must have at one of the loads at least.
const UTILIZATION_MIN: f64 = 0.05;

/// Sources of measurements and options for reading them.
#[derive(Debug)]
pub struct MeasurementSources {
    /// Run directories, JTL files and files of measurements.
    pub inputs: Vec<PathBuf>,
    /// Settings for checking measured points. The think time in the settings overrides that of the runs.
    pub check: CheckSettings,
    /// Files with recorded utilization: one file per run, or one file for all runs.
    pub utilization: Vec<PathBuf>,
    /// Settings for reading results.
    pub results: ResultsOptions,
    /// If the number of users of a run changes in steps: whether each step is a separate measured point.
    pub in_steps: bool,
}

/// The measurements that were read.
pub struct Measurements {
    /// The measured points of a model; there is at least one.
    pub points: Vec<LoadPoint>,
    /// Caveats about the measurements.
    pub findings: Vec<ReportedFinding>,
    /// The runs with their individual response times.
    pub runs: Vec<MeasuredLoad>,
}

impl MeasurementSources {
    /// A title that consists of the names of all inputs.
    #[must_use]
    pub fn title(&self) -> String {
        match &self.inputs[..] {
            [] => String::new(),
            [input] => stem(input),
            [first, others @ ..] => format!("{} and {} more", stem(first), others.len()),
        }
    }

    /// The name of a run: the last part of its path, or the whole path if several runs end with the same name.
    fn name(&self, path: &Path) -> String {
        let same_names = self.inputs.iter().filter(|other| stem(other) == stem(path)).count();
        if same_names > 1 { path.display().to_string() } else { stem(path) }
    }

    /// Reads all measurements. Calls `progress` with the input that is being read, the number of bytes read so far, and the total
    /// number of bytes if it is known.
    pub fn read(
        &self,
        progress: &mut dyn FnMut(&Path, u64, Option<u64>),
    ) -> Result<Measurements, MeasurementsError> {
        let files = self.utilization.iter().map(|path| UtilizationFile::read(path));
        let files = files.collect::<Result<Vec<_>, _>>().map_err(MeasurementsError::File)?;
        let mut found = Measurements { points: Vec::new(), findings: Vec::new(), runs: Vec::new() };
        // `file_of` contains the index of the utilization file for each measured load. All loads of a run have the same file.
        let (mut runs, mut file_of) = (0, Vec::new());
        let mut inputs_of: Vec<&Path> = Vec::new();
        for path in &self.inputs {
            match PointsFile::read(path).map_err(MeasurementsError::File)? {
                PointsFile::Points(points) => found.points.extend(points),
                PointsFile::Other => {
                    let (name, input) = (self.name(path), ResultsInput::path(path));
                    let mut read = |bytes, of| progress(path, bytes, of);
                    found.runs.extend(measure_loads(&name, input, &self.results, self.in_steps, &mut read)?);
                    file_of.resize(found.runs.len(), runs);
                    inputs_of.push(path);
                    runs += 1;
                }
            }
        }
        let is_for_all = matches!(&files[..], [file] if file.has_clock_times());
        if !files.is_empty() && files.len() != runs && !is_for_all {
            return Err(MeasurementsError::Inputs(format!(
                "--cpu is given {} times for {runs} runs: give it once per run, or once for all runs with seconds since 1970",
                files.len(),
            ).into()));
        }
        if files.is_empty() {
            add_observed_utilization(&mut found.runs, &file_of, &inputs_of);
        }
        for (run, at) in found.runs.iter_mut().zip(file_of) {
            found.findings.extend(run.findings.iter().cloned().map(ReportedFinding::from));
            if let Some(file) = files.get(at).or(files.first()) {
                run.point.utilization =
                    file.mean(run.window_s, run.wall_anchor_ms).map_err(MeasurementsError::File)?;
            }
            if self.check.think_s.is_some() {
                run.point.think_s = self.check.think_s;
            }
            if !run.is_open {
                found.points.push(run.point.clone());
            }
        }
        if found.points.is_empty() {
            let open = CapacityFinding::OpenLoad { point: "every run".into() };
            return Err(MeasurementsError::File(
                format!("{open}: a run with an open load has no number of users, which a closed model needs")
                    .into(),
            ));
        }
        Ok(found)
    }
}

/// Adds the utilization of the resources that the runs observed. Resources that one of the runs did not observe are left out, because
/// a model needs them at all loads, and those that are hardly used at any load, because they would only add noise.
fn add_observed_utilization(runs: &mut [MeasuredLoad], input_of: &[usize], inputs: &[&Path]) {
    let mut observed: Vec<Vec<(String, f64)>> = runs
        .iter()
        .zip(input_of)
        .map(|(run, input)| resource_utilizations(inputs[*input], run.window_s))
        .collect();
    let share = |of: &[(String, f64)], name: &str| {
        of.iter().find(|(resource, _)| resource == name).map(|(_, share)| *share)
    };
    let names: Vec<String> = observed.first().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let kept: Vec<String> = names
        .into_iter()
        .filter(|name| {
            let shares: Option<Vec<f64>> = observed.iter().map(|of| share(of, name)).collect();
            shares.is_some_and(|shares| shares.iter().any(|share| *share >= UTILIZATION_MIN))
        })
        .collect();
    for (run, of) in runs.iter_mut().zip(&mut observed) {
        of.retain(|(name, _)| kept.contains(name));
        let utilization = of.drain(..).map(|(resource, share)| Utilization { resource, share });
        run.point.utilization = utilization.collect();
    }
}

fn stem(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
