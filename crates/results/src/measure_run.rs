//! Measures a run for a comparison. Reads run directories and result files, of one generator or of several.

use std::path::{Path, PathBuf};

use crate::{InputFacts, ReadSettings, Results, ResultsError, ResultsInput};
use busyhour_analysis::RunFacts;
use busyhour_analysis::comparison::{ComparedClock, MeasuredRun, RunTally, RunWindow, TalliedSample};
use busyhour_analysis::system::SystemFigures;
use busyhour_record::{Manifest, RunDir, RunDirError};
use busyhour_sample::{LabelId, Labels, Sample, SampleFlags, SampleKind};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::error::run_dir_hint;
use crate::run_facts::facts_of_inputs;
use crate::summarise::{ResultsPart, find_steady};
use crate::system_figures::{SystemWindow, run_system_figures, series_path};

/// Settings for reading runs for a comparison.
#[derive(Debug, Clone, Default)]
pub struct RunReading {
    /// The clock that is compared. A JTL file has only one.
    pub clock: ComparedClock,
    /// The part of each run that is compared.
    pub part: ResultsPart,
    /// Settings for reading the result files.
    pub read: ReadSettings,
    /// Seed of the bootstrap that estimates the precision of each run; `None` for no bootstrap.
    pub seed: Option<u64>,
}

/// The error if a run cannot be compared.
#[derive(Debug)]
pub enum MeasureRunError {
    /// The run directory cannot be used.
    RunDir(RunDirError),
    /// The results of the run cannot be read.
    Results(ResultsError),
    /// No request ended, or none ended in the requested part.
    Empty {
        /// Name of the run.
        name: String,
        /// Whether a part was requested.
        part: bool,
    },
}

impl std::fmt::Display for MeasureRunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MeasureRunError::RunDir(error) => error.fmt(f),
            MeasureRunError::Results(error) => write!(f, "cannot read {}", error.name),
            MeasureRunError::Empty { name, part: false } => write!(f, "{name} contains no completed samples"),
            MeasureRunError::Empty { name, part: true } => {
                write!(f, "no sample of {name} starts in the window")
            }
        }
    }
}

impl std::error::Error for MeasureRunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            MeasureRunError::RunDir(error) => std::error::Error::source(error),
            MeasureRunError::Results(error) => Some(&error.source),
            MeasureRunError::Empty { .. } => None,
        }
    }
}

impl From<ResultsError> for MeasureRunError {
    fn from(error: ResultsError) -> MeasureRunError {
        MeasureRunError::Results(error)
    }
}

impl MeasureRunError {
    /// Advice for the user; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            MeasureRunError::Results(error) => error.source.hint(),
            MeasureRunError::Empty { part: true, .. } => {
                "--window FROM,TO counts in seconds from the start of the run"
            }
            MeasureRunError::RunDir(error) => run_dir_hint(error),
            MeasureRunError::Empty { part: false, .. } => "",
        }
    }
}

/// Reads and measures a run: a run directory or a result file, or one of them for each generator of the run.
///
/// # Errors
/// The run cannot be read, or no sample is in the requested part.
pub fn measure_run(run: &[PathBuf], reading: &RunReading) -> Result<MeasuredRun, MeasureRunError> {
    let dir = match run {
        [path] => run_dir(path)?,
        _ => None,
    };
    let (window, start_ms) = match reading.part {
        ResultsPart::Whole => (None, None),
        ResultsPart::Window(from_s, to_s) => (Some(RunWindow { from_s, to_s }), None),
        ResultsPart::Steady => {
            let (steady, start_ms) = find_steady(inputs(run), &reading.read)?;
            (steady.window_s.map(|(from_s, to_s)| RunWindow { from_s, to_s }), Some(start_ms))
        }
    };
    let mut tallied = Tallied::of(run, reading, window, start_ms)?;
    if let Some(start_ms) = tallied.earlier_ms.filter(|_| start_ms.is_none()) {
        // A later row can show that the run, and with it the window, started before the first row.
        tallied = Tallied::of(run, reading, window, Some(start_ms))?;
    }
    let Tallied { tally, labels, inputs, start_ms, .. } = tallied;
    let mut facts = facts_of_inputs(&inputs, start_ms);
    if let Some((_, manifest)) = &dir {
        facts =
            RunFacts { record_tail_missing: facts.record_tail_missing, ..RunFacts::from_manifest(manifest) };
    }
    let tick_ns = inputs.iter().map(|input| input.form.duration_step_ns()).max().unwrap_or(1);
    let mut random = reading.seed.map(Xoshiro256PlusPlus::seed_from_u64);
    let name = name_of(run);
    let label = |label: u32| labels.name(LabelId(label)).to_string();
    let mut measured =
        MeasuredRun::new(name.clone(), facts, tally, tick_ns as f64 / 1e6, label, random.as_mut())
            .ok_or(MeasureRunError::Empty { name, part: reading.part != ResultsPart::Whole })?;
    measured.system = dir.as_ref().and_then(|(dir, manifest)| system_of(dir, manifest, &measured));
    Ok(measured)
}

/// The figures of the system under test in the measured part.
fn system_of(dir: &RunDir, manifest: &Manifest, run: &MeasuredRun) -> Option<SystemFigures> {
    let path = series_path(dir, Some(manifest))?;
    let (from_s, to_s) = run.span_s;
    let requests_between = |from_s, to_s| run.series.requests_between(from_s, to_s);
    let window = SystemWindow { from_s, to_s, requests_between: &requests_between };
    Some(run_system_figures(dir, &path, window))
}

/// The directory and its manifest if the run is a run directory, otherwise `None`.
fn run_dir(path: &Path) -> Result<Option<(RunDir, Manifest)>, MeasureRunError> {
    let dir = RunDir::open(path);
    if !path.is_dir() || !dir.samples_path().exists() {
        return Ok(None);
    }
    let manifest = dir.read_manifest().map_err(MeasureRunError::RunDir)?;
    Ok(Some((dir, manifest)))
}

fn inputs(run: &[PathBuf]) -> Vec<ResultsInput> {
    run.iter().map(ResultsInput::path).collect()
}

fn name_of(run: &[PathBuf]) -> String {
    run.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(",")
}

/// The result of reading a run once.
struct Tallied {
    tally: RunTally,
    labels: Labels,
    inputs: Vec<InputFacts>,
    /// Time zero of the run, in ms since 1970.
    start_ms: i64,
    /// The actual start of the run, if a sample shows that the run started earlier than expected.
    earlier_ms: Option<i64>,
}

impl Tallied {
    fn of(
        run: &[PathBuf],
        reading: &RunReading,
        window: Option<RunWindow>,
        start_ms: Option<i64>,
    ) -> Result<Tallied, MeasureRunError> {
        // Users are identified by thread names, so all columns are read.
        let settings = ReadSettings { start_ms, all_columns: true, ..reading.read.clone() };
        let results = Results::open(inputs(run), &settings)?;
        let start_ms = results.start_ms();
        let origin_ns = (start_ms - results.wall_anchor_ms()).saturating_mul(1_000_000);
        let labels = results.labels().clone();
        let mut tally = RunTally::new(window);
        let mut earliest_ns = 0;
        let instant = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX).saturating_sub(origin_ns);
        let mut see = |sample: &Sample<'_>| {
            if sample.flags.contains(SampleFlags::WARMUP) {
                return;
            }
            let start_ns = instant(sample.times.start.0);
            earliest_ns = earliest_ns.min(start_ns);
            let user = u64::from(sample.group) << 32 | u64::from(sample.user);
            tally.add(&TalliedSample {
                label: sample.label.0,
                kind: SampleKind::of(sample.flags),
                start_ns,
                end_ns: instant(sample.times.end.0),
                time_ns: match reading.clock {
                    ComparedClock::Response => sample.response_ns(),
                    ComparedClock::Service => sample.service_ns(),
                },
                samples: sample.sample_count,
                errors: sample.error_count,
                // Threads are numbered from 1. Number 0 means that the thread has no name, so its user is unknown.
                user: (sample.user > 0).then_some(user),
            });
        };
        let inputs = results.read(&mut see, &mut |_| {})?.inputs;
        let earlier_ms = (earliest_ns < 0).then(|| start_ms + earliest_ns.div_euclid(1_000_000));
        Ok(Tallied { tally, labels, inputs, start_ms, earlier_ms })
    }
}
