//! Runs a PerfMon Metrics Collector of a plan during the run.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use busyhour_launch::{ObserverError, PerfMonListener, RunEnded, RunInfo, RunObserver};
use busyhour_observe::perfmon::PerfMonCollector;
use busyhour_observe::perfmon::client_session::MetricRow;
use busyhour_observe::perfmon::sample::PerfMonSample;
use busyhour_program::clock::Clock;
use busyhour_record::ValueFile;
use busyhour_sample::RecorderEvent;

use crate::perfmon_series::PerfMonSeries;

/// Maximum number of different warnings of one collector.
const WARNINGS_MAX: usize = 50;

/// Receives warnings for the user, on the threads of the agents.
pub type WarningSink = Box<dyn FnMut(&str) + Send>;

/// Why the file of a collector is missing or incomplete.
#[derive(Debug, thiserror::Error)]
enum PerfMonError {
    /// The file cannot be opened.
    #[error("cannot write {path}")]
    Open {
        /// The path.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start the thread of an agent")]
    Thread(#[source] io::Error),
    /// Values were lost.
    #[error("{lost} values could not be written to {file}: {error}")]
    Lost {
        /// The path.
        file: String,
        /// Number of lost values.
        lost: u64,
        /// The system's error.
        error: String,
    },
}

/// Runs one PerfMon Metrics Collector from the start of a run to its end and writes its file.
///
/// An agent that does not answer yields failed rows and one warning; the run continues.
pub struct PerfMonObserver {
    listener: PerfMonListener,
    clock: Clock,
    values: Arc<Mutex<Values>>,
    collector: Option<PerfMonCollector>,
    error: Option<PerfMonError>,
}

/// Receives the samples of the agents' threads.
struct Values {
    name: String,
    file: Option<ValueFile>,
    series: Option<PerfMonSeries>,
    warn: WarningSink,
    warned: HashSet<String>,
}

impl std::fmt::Debug for PerfMonObserver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PerfMonObserver").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl PerfMonObserver {
    /// Prepares to run a collector. `clock` is the clock of the run. `series` also records the values as series, if the run is
    /// observed.
    #[must_use]
    pub fn new(
        listener: PerfMonListener,
        clock: Clock,
        series: Option<PerfMonSeries>,
        warn: WarningSink,
    ) -> Self {
        let values = Values { name: listener.name.clone(), file: None, series, warn, warned: HashSet::new() };
        Self { listener, clock, values: Arc::new(Mutex::new(values)), collector: None, error: None }
    }

    fn start(&mut self, hostname: &str) -> Result<(), PerfMonError> {
        if let Some(output) = self.listener.file.clone() {
            let path = output.path.display().to_string();
            let file =
                ValueFile::open(output, hostname).map_err(|source| PerfMonError::Open { path, source })?;
            lock(&self.values).file = Some(file);
        }
        let values = Arc::clone(&self.values);
        let sink = move |agent: &str, sample: &PerfMonSample| lock(&values).receive(agent, sample);
        let rows: Vec<MetricRow> = self.listener.rows.iter().map(metric_row).collect();
        let interval = PerfMonCollector::interval(self.listener.interval_ms);
        let collector = PerfMonCollector::start(&rows, interval, &self.clock, Box::new(sink));
        self.collector = Some(collector.map_err(PerfMonError::Thread)?);
        Ok(())
    }
}

fn metric_row(row: &busyhour_launch::PerfMonRow) -> MetricRow {
    MetricRow {
        host: row.host.clone(),
        port: row.port,
        metric: row.metric.clone(),
        parameters: row.parameters.clone(),
    }
}

fn lock(values: &Mutex<Values>) -> std::sync::MutexGuard<'_, Values> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Values {
    fn receive(&mut self, agent: &str, sample: &PerfMonSample) {
        if let Some(error) = &sample.error {
            // The label of a failed connection is the error itself.
            let what = if sample.label == *error { "" } else { &sample.label };
            self.warn_once(agent, what, error);
        }
        if let Some(series) = &self.series {
            series.record(agent, sample);
        }
        if let Some(file) = &mut self.file {
            file.append(&sample.row());
            // Each value is written immediately: there are few, and none is lost if the run is killed.
            file.flush();
        }
    }

    fn warn_once(&mut self, agent: &str, metric: &str, error: &str) {
        let text = if metric.is_empty() {
            format!("the agent {agent} of the collector {:?} does not answer: {error}", self.name)
        } else {
            format!("the agent {agent} of the collector {:?} has no value of {metric}: {error}", self.name)
        };
        if self.warned.len() < WARNINGS_MAX && self.warned.insert(text.clone()) {
            (self.warn)(&text);
        }
    }
}

impl RunObserver for PerfMonObserver {
    fn started(&mut self, run: &RunInfo) {
        self.error = self.start(&run.hostname).err();
    }

    fn ended(&mut self, _run: &RunEnded) -> Result<(), ObserverError> {
        if let Some(collector) = self.collector.take() {
            collector.stop();
        }
        let file = lock(&self.values).file.take();
        if let Some(RecorderEvent::LostOutput { file, error, lost }) = file.and_then(ValueFile::finish) {
            self.error.get_or_insert(PerfMonError::Lost { file, lost, error });
        }
        self.error.take().map_or(Ok(()), |error| Err(error.into()))
    }

    /// The observer does not use the seconds of the run, because the threads of the agents receive the values.
    fn seconds_waiting_max(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::mpsc::channel;

    use busyhour_launch::PerfMonRow;
    use busyhour_record::{ResultFileConfig, SampleFilter, SaveConfig};
    use busyhour_sample::RunEnd;

    use super::*;

    const ENDED: RunEnded = RunEnded { end: RunEnd::Completed, seconds_lost: 0 };

    fn listener(path: std::path::PathBuf, port: u16) -> PerfMonListener {
        let row = |metric: &str| PerfMonRow {
            host: "127.0.0.1".into(),
            port,
            metric: metric.into(),
            parameters: String::new(),
        };
        PerfMonListener {
            name: "watch".into(),
            rows: vec![row("CPU"), row("Memory")],
            file: Some(ResultFileConfig {
                path,
                config: SaveConfig { field_names: true, ..SaveConfig::default() },
                filter: SampleFilter::All,
            }),
            interval_ms: 1000,
        }
    }

    #[test]
    fn an_unreachable_agent_causes_one_warning_and_failed_rows() {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("perfmon.csv");
        let (send, warnings) = channel();
        let warn = Box::new(move |text: &str| send.send(text.to_owned()).unwrap());
        let mut observer = PerfMonObserver::new(listener(path.clone(), port), Clock::start(), None, warn);
        observer.started(&RunInfo::default());
        let warning = warnings.recv().unwrap();
        observer.ended(&ENDED).unwrap();
        drop(observer);
        assert_eq!(
            warning,
            format!(
                "the agent 127.0.0.1:{port} of the collector \"watch\" does not answer: java.net.ConnectException: \
                 Connection refused"
            )
        );
        assert_eq!(warnings.iter().count(), 0, "the warning is not repeated");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.starts_with("timeStamp,elapsed,label,"), "{text}");
        let row = text.lines().nth(1).unwrap();
        assert!(row.contains(",-1000,java.net.ConnectException: Connection refused,"), "{row}");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error_at_the_end() {
        let dir = tempfile::tempdir().unwrap();
        let listener = listener(dir.path().to_owned(), 9);
        let mut observer =
            PerfMonObserver::new(listener, Clock::start(), None, Box::new(|text| panic!("{text}")));
        observer.started(&RunInfo::default());
        let error = observer.ended(&ENDED).unwrap_err().to_string();
        assert_eq!(error, format!("cannot write {}", dir.path().display()));
    }
}
