//! The garbage-collection logs of a run: probes that follow them, and `gc.json`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use busyhour_gclog::{GC_FILE_NAME, GC_FILE_VERSION, GC_PART_KIND, GcFile, GcSource};
use busyhour_observe::{Probe, ProbeError, ProbeRunner, Reading, SeriesStore};
use busyhour_program::clock::Clock;
use busyhour_record::{RunDir, RunPart};

use crate::gc_log_followed::FollowedGcLog;
use crate::log_sources::LogSourcesError;
use crate::source_spec::SourceSpec;

/// The garbage-collection logs of a run.
///
/// [`GcLogSources::probe`] makes a probe for each log, which follows it from now on. [`GcLogSources::finish`] reads the rest after the watch
/// has stopped and writes `gc.json`.
#[derive(Debug)]
pub struct GcLogSources {
    path: PathBuf,
    clock: Clock,
    logs: Vec<SharedGcLog>,
}

/// A log with its name.
#[derive(Debug, Clone)]
struct SharedGcLog {
    name: String,
    log: Arc<Mutex<FollowedGcLog>>,
}

impl GcLogSources {
    /// Logs of the run in this directory, on its clock.
    #[must_use]
    pub fn new(run_dir: &Path, clock: &Clock) -> GcLogSources {
        GcLogSources { path: run_dir.join(GC_FILE_NAME), clock: clock.clone(), logs: Vec::new() }
    }

    /// The entries of the manifest for these sources: `gc.json` if one of them is a garbage-collection log.
    #[must_use]
    pub fn parts(specs: &[SourceSpec]) -> Vec<RunPart> {
        match specs.iter().any(|spec| matches!(spec, SourceSpec::GcLog(_))) {
            true => vec![RunPart::new(GC_PART_KIND, GC_FILE_NAME, GC_FILE_VERSION)],
            false => Vec::new(),
        }
    }

    /// The probe of a log, source `gc:PATH`, which begins to follow it.
    #[must_use]
    pub fn probe(&mut self, path: &Path) -> Box<dyn Probe> {
        let log = FollowedGcLog::new(path, self.clock.wall_start_ms(), self.clock.now());
        let log = SharedGcLog { name: format!("gc:{}", path.display()), log: Arc::new(Mutex::new(log)) };
        self.logs.push(log.clone());
        Box::new(GcLogProbe { log })
    }

    /// Reads the rest of all logs, records it in the store, and writes `gc.json`. Call it after the watch has stopped.
    ///
    /// # Errors
    /// The file cannot be written, or a log was still being read.
    pub fn finish(self, store: &SeriesStore) -> Result<(), LogSourcesError> {
        let mut sources = Vec::new();
        let mut busy = None;
        for log in &self.logs {
            if matches!(log.log.try_lock(), Err(TryLockError::WouldBlock)) {
                busy = Some(log.name.clone());
                continue;
            }
            ProbeRunner::new(store, Box::new(GcLogProbe { log: log.clone() })).read(&self.clock);
            let mut followed = log.log.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = followed.summarise() {
                sources.push(GcSource {
                    name: log.name.clone(),
                    origin_s: found.origin_s,
                    uncertainty_s: found.uncertainty_s,
                    summary: found.summary,
                });
            }
        }
        if !self.logs.is_empty() {
            let mut text = serde_json::to_vec(&GcFile { version: GC_FILE_VERSION, sources })?;
            text.push(b'\n');
            RunDir::write_whole(&self.path, &text)?;
        }
        match busy {
            Some(source_name) => Err(LogSourcesError::Busy { source_name }),
            None => Ok(()),
        }
    }
}

/// Follows a garbage-collection log.
#[derive(Debug)]
struct GcLogProbe {
    log: SharedGcLog,
}

impl Probe for GcLogProbe {
    fn source(&self) -> &str {
        &self.log.name
    }

    /// Short intervals are permitted, because they align uptimes more precisely.
    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    /// The file may be on a network file system.
    fn may_block(&self) -> bool {
        true
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        self.log.log.lock().unwrap_or_else(PoisonError::into_inner).read(reading)
    }
}

#[cfg(test)]
mod tests;
