//! From a run directory or a result file to a run that can be compared.

use std::path::{Path, PathBuf};

use busyhour_analysis::RunFacts;
use busyhour_analysis::comparison::{ComparedClock, MeasuredRun, RunTally, RunWindow, TalliedSample};
use busyhour_record::{
    LabelId, Log, LogError, LogForm, RunDir, RunDirError, SampleFlags, SampleKind, SamplesError,
    SamplesReader,
};
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// How runs are read for a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunReading {
    /// The clock that is compared. A JTL has one only.
    pub clock: ComparedClock,
    /// The part that counts; `None` for all.
    pub window: Option<RunWindow>,
    /// Seed of the bootstrap that tells how precise each run is; `None` leaves that out.
    pub seed: Option<u64>,
}

/// A run that cannot be compared.
#[derive(Debug)]
pub enum RunReadError {
    /// The run directory cannot be used.
    RunDir(RunDirError),
    /// The record of samples cannot be read.
    Samples {
        /// Which.
        path: PathBuf,
        /// Why.
        source: SamplesError,
    },
    /// The result file cannot be read.
    Log {
        /// Which.
        path: PathBuf,
        /// Why.
        source: LogError,
    },
    /// No request ended, or none in the window.
    Empty {
        /// Which.
        path: PathBuf,
        /// Whether a window was asked for.
        window: bool,
    },
}

impl std::fmt::Display for RunReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RunReadError::RunDir(error) => error.fmt(f),
            RunReadError::Samples { path, .. } | RunReadError::Log { path, .. } => {
                write!(f, "cannot read {}", path.display())
            }
            RunReadError::Empty { path, window: false } => {
                write!(f, "{} holds no sample that ended", path.display())
            }
            RunReadError::Empty { path, window: true } => {
                write!(f, "no sample of {} starts in the window", path.display())
            }
        }
    }
}

impl std::error::Error for RunReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunReadError::RunDir(error) => std::error::Error::source(error),
            RunReadError::Samples { source, .. } => Some(source),
            RunReadError::Log { source, .. } => Some(source),
            RunReadError::Empty { .. } => None,
        }
    }
}

impl RunReadError {
    /// What to do about it; empty when nothing is to be advised.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            RunReadError::Log { source, .. } => source.hint(),
            RunReadError::Empty { window: true, .. } => {
                "--window FROM,TO counts in seconds from the start of the run"
            }
            RunReadError::Empty { window: false, .. }
            | RunReadError::RunDir(_)
            | RunReadError::Samples { .. } => "",
        }
    }
}

/// Reads the run at `path` and measures it.
///
/// # Errors
/// It cannot be read, or nothing in it counts.
pub fn measure_run(path: &Path, reading: &RunReading) -> Result<MeasuredRun, RunReadError> {
    let dir = RunDir::open(path);
    if path.is_dir() && dir.samples_path().exists() {
        measure_dir(path, &dir, reading)
    } else {
        measure_log(path, reading)
    }
}

fn finish(
    path: &Path,
    facts: RunFacts,
    tally: RunTally,
    tick_ns: u64,
    label: impl Fn(u32) -> String,
    reading: &RunReading,
) -> Result<MeasuredRun, RunReadError> {
    let mut random = reading.seed.map(Xoshiro256PlusPlus::seed_from_u64);
    let tick_ms = tick_ns as f64 / 1e6;
    let name = path.display().to_string();
    MeasuredRun::new(name, facts, tally, tick_ms, label, random.as_mut())
        .ok_or_else(|| RunReadError::Empty { path: path.to_owned(), window: reading.window.is_some() })
}

fn measure_dir(path: &Path, dir: &RunDir, reading: &RunReading) -> Result<MeasuredRun, RunReadError> {
    let mut facts = RunFacts::from_manifest(&dir.read_manifest().map_err(RunReadError::RunDir)?);
    let samples = |source| RunReadError::Samples { path: dir.samples_path(), source };
    let reader = SamplesReader::open(&dir.samples_path()).map_err(samples)?.without_texts();
    let mut tally = RunTally::new(reading.window);
    let instant = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    let (end, _, labels) = reader
        .read(|_, sample| {
            if sample.flags.contains(SampleFlags::WARMUP) {
                return;
            }
            tally.add(&TalliedSample {
                label: sample.label.0,
                kind: SampleKind::of(sample.flags),
                start_ns: instant(sample.start.0),
                end_ns: instant(sample.end.0),
                time_ns: match reading.clock {
                    ComparedClock::Response => sample.response_ns(),
                    ComparedClock::Service => sample.service_ns(),
                },
                samples: sample.sample_count,
                errors: sample.error_count,
                user: Some(u64::from(sample.group) << 32 | u64::from(sample.user)),
            });
        })
        .map_err(samples)?;
    facts.record_cut = end.cut_at.is_some();
    let tick_ns = LogForm::Run.tick_ns();
    finish(path, facts, tally, tick_ns, |label| labels.name(LabelId(label)).to_string(), reading)
}

fn measure_log(path: &Path, reading: &RunReading) -> Result<MeasuredRun, RunReadError> {
    let failed = |source| RunReadError::Log { path: path.to_owned(), source };
    let log = Log::open(path).map_err(failed)?;
    let mut tally = RunTally::new(reading.window);
    // Rows stand in the order of their ends: the run began with the first, or a response time earlier.
    let mut origin_ns = None;
    let found = log
        .scan(
            |row, _| {
                let origin_ns = *origin_ns.get_or_insert(row.start_ns);
                let start_ns = row.start_ns.saturating_sub(origin_ns);
                tally.add(&TalliedSample {
                    label: row.label,
                    kind: SampleKind::Request,
                    start_ns,
                    end_ns: start_ns.saturating_add_unsigned(row.elapsed_ns),
                    time_ns: row.elapsed_ns,
                    samples: 1,
                    errors: u32::from(!row.success),
                    user: row.user.map(std::num::NonZeroU64::get),
                });
            },
            &mut |_| {},
        )
        .map_err(failed)?;
    let facts = RunFacts {
        source: path.display().to_string(),
        wall_anchor_ms: origin_ns.unwrap_or(0) / 1_000_000,
        record_cut: found.cut_off,
        one_clock: true,
        ..RunFacts::default()
    };
    let label = |label: u32| found.labels.get(label as usize).cloned().unwrap_or_default();
    finish(path, facts, tally, log.form().tick_ns(), label, reading)
}
