//! The logs of a run: probes that follow them, and the files of the run directory.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use busyhour_logs::{LOGS_FILE_NAME, LOGS_FILE_VERSION, LOGS_PART_KIND, LogsFile, Query, Zone};
use busyhour_observe::{Probe, ProbeError, ProbeRunner, Reading, SeriesStore};
use busyhour_program::clock::Clock;
use busyhour_record::{RunDir, RunDirError, RunPart};
use busyhour_sample::Nanos;

use crate::log_followed::{FollowSettings, FollowedLog};
#[cfg(unix)]
use crate::log_input::JournalStart;
use crate::log_input::LogInput;
use crate::log_redaction::log_redactor;
use crate::source_spec::SourceSpec;

/// The interval at which `logs.json` is written.
const WRITE_INTERVAL: Nanos = Nanos(10_000_000_000);

/// How the logs of a run are read.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// Which entries are problems: by default exceptions, errors and failed requests.
    pub query: Query,
    /// The zone of stamps without an offset. If it is `None`, the offset is found from the times at which lines arrive.
    pub zone: Option<Zone>,
    /// Whether examples and templates keep secrets (`--keep-secrets`).
    pub keeps_secrets: bool,
}

/// Why the files of logs are incomplete.
#[derive(Debug, thiserror::Error)]
pub enum LogSourcesError {
    /// A file cannot be written.
    #[error("cannot write the counts of the run's logs")]
    Write(#[from] RunDirError),
    /// The counts cannot be encoded.
    #[error("cannot encode the counts of the run's logs")]
    Encode(#[from] serde_json::Error),
    /// A log was still being read when the run ended.
    #[error("{source_name} was still being read when the run ended; its last lines are not counted")]
    Busy {
        /// The name of the source.
        source_name: String,
    },
}

/// The logs of a run. It makes a probe for each log; all of them write one `logs.json`.
///
/// ```text
/// let mut logs = LogSources::new(run_dir, &clock, LogOptions::default());
/// for spec in &specs {
///     if let Some(probe) = logs.probe(spec) {
///         watch.add(probe)?;
///     }
/// }
/// // … the run …
/// let store = watch.store().clone();
/// watch.stop();
/// logs.finish(&store)?;
/// ```
///
/// Only lines that are written after [`LogSources::probe`] are read. A file that does not exist yet is read from its
/// beginning when it appears; until then, the state of the source is that it is missing. `logs.json` exists after the
/// first reading and is replaced every ten seconds, so that a run that is killed leaves the latest version.
#[derive(Debug)]
pub struct LogSources {
    shared: Arc<Shared>,
    settings: FollowSettings,
}

/// The state that the probes of a run share.
#[derive(Debug)]
struct Shared {
    path: PathBuf,
    clock: Clock,
    logs: Mutex<Vec<SharedLog>>,
    next_write: Mutex<Nanos>,
}

/// A log with its name.
#[derive(Debug, Clone)]
struct SharedLog {
    name: String,
    log: Arc<Mutex<FollowedLog>>,
}

impl LogSources {
    /// Logs of the run in this directory, on its clock.
    #[must_use]
    pub fn new(run_dir: &Path, clock: &Clock, options: LogOptions) -> LogSources {
        let LogOptions { query, zone, keeps_secrets } = options;
        LogSources {
            shared: Arc::new(Shared {
                path: run_dir.join(LOGS_FILE_NAME),
                clock: clock.clone(),
                logs: Mutex::default(),
                next_write: Mutex::new(Nanos(0)),
            }),
            settings: FollowSettings { query, zone, redactor: log_redactor(keeps_secrets) },
        }
    }

    /// The entries of the manifest for these sources: `logs.json` if one of them is a log.
    #[must_use]
    pub fn parts(specs: &[SourceSpec]) -> Vec<RunPart> {
        let is_log = |spec: &SourceSpec| matches!(spec, SourceSpec::Log(_) | SourceSpec::Journal(_));
        match specs.iter().any(is_log) {
            true => vec![RunPart::new(LOGS_PART_KIND, LOGS_FILE_NAME, LOGS_FILE_VERSION)],
            false => Vec::new(),
        }
    }

    /// The probe of a source, which begins to follow it; `None` if the source is not a log.
    #[must_use]
    pub fn probe(&mut self, spec: &SourceSpec) -> Option<Box<dyn Probe>> {
        let (name, input) = match spec {
            SourceSpec::Log(path) => (format!("log:{}", path.display()), LogInput::file(path.clone())),
            #[cfg(unix)]
            SourceSpec::Journal(unit) => {
                let name =
                    unit.as_ref().map_or_else(|| "journal".to_owned(), |unit| format!("journal:{unit}"));
                let since_ms = self.shared.clock.wall_ms(self.shared.clock.now());
                let since_unix_ns = i64::try_from(since_ms).unwrap_or(i64::MAX).saturating_mul(1_000_000);
                (name, LogInput::journal(JournalStart::Unit(unit.clone()), since_unix_ns))
            }
            #[cfg(not(unix))]
            SourceSpec::Journal(_) => return None,
            SourceSpec::Auto
            | SourceSpec::Os
            | SourceSpec::Process(_)
            | SourceSpec::Jvm(_)
            | SourceSpec::GcLog(_)
            | SourceSpec::Prometheus(_)
            | SourceSpec::Postgres(_)
            | SourceSpec::MySql(_)
            | SourceSpec::Rdt
            | SourceSpec::Perf(_)
            | SourceSpec::Stacks(_) => return None,
        };
        Some(Box::new(self.follow(name, input)))
    }

    fn follow(&mut self, name: String, input: LogInput) -> LogProbe {
        let log = FollowedLog::new(input, &self.shared.clock, &self.settings);
        let log = SharedLog { name, log: Arc::new(Mutex::new(log)) };
        locked(&self.shared.logs).push(log.clone());
        LogProbe { log, shared: Some(self.shared.clone()) }
    }

    /// Reads the rest of all logs, records it in the store, and writes `logs.json` for the last time. Call it after the watch has
    /// stopped.
    ///
    /// # Errors
    /// The file cannot be written, or a log was still being read, for example from a network that does not answer.
    pub fn finish(self, store: &SeriesStore) -> Result<(), LogSourcesError> {
        let logs = locked(&self.shared.logs).clone();
        if logs.is_empty() {
            return Ok(());
        }
        let is_busy = |log: &SharedLog| matches!(log.log.try_lock(), Err(TryLockError::WouldBlock));
        let (busy, idle): (Vec<_>, Vec<_>) = logs.into_iter().partition(is_busy);
        for log in &idle {
            let probe = LogProbe { log: log.clone(), shared: None };
            ProbeRunner::new(store, Box::new(probe)).read(&self.shared.clock);
        }
        self.shared.write(&idle)?;
        match busy.into_iter().next() {
            Some(log) => Err(LogSourcesError::Busy { source_name: log.name }),
            None => Ok(()),
        }
    }
}

impl Shared {
    /// Writes `logs.json` if this is due and no other probe is writing it.
    fn write_if_due(&self, now: Nanos) {
        let Ok(mut next) = self.next_write.try_lock() else { return };
        if now < *next {
            return;
        }
        *next = Nanos(now.0.saturating_add(WRITE_INTERVAL.0));
        let logs = locked(&self.logs).clone();
        // A later attempt may succeed. If the last one at the end of the run fails, its error is reported.
        let _ = self.write(&logs);
    }

    fn write(&self, logs: &[SharedLog]) -> Result<(), LogSourcesError> {
        let length_s = self.clock.now().0 as f64 / 1e9;
        // A log that is being read is locked for less than its interval.
        let sources = logs.iter().map(|log| locked(&log.log).logged(&log.name, length_s)).collect();
        let text = LogsFile::new(sources).to_json()?;
        RunDir::write_whole(&self.path, &text)?;
        Ok(())
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows a log; source `log:PATH` or `journal:UNIT`.
#[derive(Debug)]
struct LogProbe {
    log: SharedLog,
    /// `None` for the probe of the last reading of a run.
    shared: Option<Arc<Shared>>,
}

impl Probe for LogProbe {
    fn source(&self) -> &str {
        &self.log.name
    }

    /// The counts of a log are per second.
    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// A file may be on a network, and reading a fast log takes a large part of the interval.
    fn may_block(&self) -> bool {
        true
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let mut log = locked(&self.log.log);
        let Some(shared) = &self.shared else { return log.finish(reading) };
        let result = log.read(reading);
        drop(log);
        shared.write_if_due(reading.time());
        result
    }
}

#[cfg(test)]
mod tests;
