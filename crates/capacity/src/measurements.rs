//! Reads measurements from run directories, JTL files and tables of measurements.

use std::path::{Path, PathBuf};

use busyhour_queueing::fit::{CapacityFinding, CheckSettings, LoadPoint, ReportedFinding};
use busyhour_results::{MeasuredLoad, ResultsInput, ResultsOptions, measure_loads};

use crate::error::MeasurementsError;
use crate::points_file::PointsFile;
use crate::utilization_file::UtilizationFile;

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
        for path in &self.inputs {
            match PointsFile::read(path).map_err(MeasurementsError::File)? {
                PointsFile::Points(points) => found.points.extend(points),
                PointsFile::Other => {
                    let (name, input) = (self.name(path), ResultsInput::path(path));
                    let mut read = |bytes, of| progress(path, bytes, of);
                    found.runs.extend(measure_loads(&name, input, &self.results, self.in_steps, &mut read)?);
                    file_of.resize(found.runs.len(), runs);
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

fn stem(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
