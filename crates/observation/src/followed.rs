//! The logs that an observation follows, and the files of the run directory with their counts.

use std::path::Path;

use busyhour_observe::{Probe, SeriesStore};
use busyhour_program::clock::Clock;
use busyhour_record::RunPart;

use crate::gc_log_sources::GcLogSources;
use crate::log_sources::{LogOptions, LogSources, LogSourcesError};
use crate::request::ObservationRequest;
use crate::source_spec::SourceSpec;

/// Application logs and garbage-collection logs of one run.
#[derive(Debug)]
pub(crate) struct FollowedLogs {
    logs: LogSources,
    gc_logs: GcLogSources,
}

impl FollowedLogs {
    /// The logs among the sources, and their probes.
    pub(crate) fn new(
        run_dir: &Path,
        clock: &Clock,
        request: &ObservationRequest,
    ) -> (FollowedLogs, Vec<Box<dyn Probe>>) {
        let options = LogOptions { keeps_secrets: request.keep_secrets, ..LogOptions::default() };
        let mut followed = FollowedLogs {
            logs: LogSources::new(run_dir, clock, options),
            gc_logs: GcLogSources::new(run_dir, clock),
        };
        let mut probes: Vec<Box<dyn Probe>> = Vec::new();
        for source in &request.sources {
            match source {
                SourceSpec::GcLog(path) => probes.push(followed.gc_logs.probe(path)),
                SourceSpec::Log(_) | SourceSpec::Journal(_) => probes.extend(followed.logs.probe(source)),
                SourceSpec::Auto
                | SourceSpec::Os
                | SourceSpec::Process(_)
                | SourceSpec::Jvm(_)
                | SourceSpec::Prometheus(_)
                | SourceSpec::Postgres(_)
                | SourceSpec::MySql(_)
                | SourceSpec::Rdt
                | SourceSpec::Perf(_)
                | SourceSpec::Stacks(_) => {}
            }
        }
        (followed, probes)
    }

    /// The files of the run directory that are written for these sources.
    pub(crate) fn parts(sources: &[SourceSpec]) -> Vec<RunPart> {
        let mut parts = LogSources::parts(sources);
        parts.extend(GcLogSources::parts(sources));
        parts
    }

    /// Reads the rest of the logs, after the watch has stopped. Returns the errors.
    pub(crate) fn finish(self, store: &SeriesStore) -> Vec<LogSourcesError> {
        [self.logs.finish(store), self.gc_logs.finish(store)].into_iter().filter_map(Result::err).collect()
    }
}
