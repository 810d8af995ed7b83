//! The trait of probes, which read sources.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::reading::Reading;

/// Why a source could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The content of the source is not in the expected format.
    #[error("{what} is not in the expected format: {detail}")]
    Format {
        /// The source or file that was read.
        what: String,
        /// What is wrong, with the position if possible.
        detail: String,
    },
    /// Permission is missing.
    #[error("no permission to read {what}: {advice}")]
    Denied {
        /// The source or file to be read.
        what: String,
        /// What would permit reading it.
        advice: String,
    },
    /// The source does not exist on this machine.
    #[error("{what} is not available: {advice}")]
    Missing {
        /// The source or file to be read.
        what: String,
        /// What would provide it.
        advice: String,
    },
    /// The source has ended for good, such as a process. The probe is not called again.
    #[error("{what} has ended")]
    Ended {
        /// The source that ended.
        what: String,
    },
    /// Another error, such as one of a network protocol.
    #[error("{what}: {source}")]
    Other {
        /// The source or action that failed.
        what: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ProbeError {
    /// The error of reading this file.
    pub fn read(path: impl Into<PathBuf>, source: io::Error) -> ProbeError {
        ProbeError::Read { path: path.into(), source }
    }

    /// A format error.
    pub fn format(what: impl Into<String>, detail: impl Into<String>) -> ProbeError {
        ProbeError::Format { what: what.into(), detail: detail.into() }
    }
}

/// Reads one source: a subsystem of the operating system, a process, an exporter.
///
/// # Order of calls
///
/// 1. [`source`](Self::source), [`interval_min`](Self::interval_min) and [`may_block`](Self::may_block) once, before anything
///    else. Their results do not change.
/// 2. [`read`](Self::read) once per interval until the watch ends. The interval is the user's (1 s by default, at least
///    100 ms) or [`interval_min`](Self::interval_min), whichever is longer. An interval that passes while the probe is
///    still reading is skipped and counted.
///
/// A watch that ends drops its probes. It does not wait for a probe that blocks.
///
/// # Threads and costs
///
/// Probes that do not block share one thread; a slow one delays the others, so reading should take microseconds. A
/// probe that waits for a network or another program returns `true` from [`may_block`](Self::may_block) and receives
/// its own thread. CPU time is measured per source and recorded as `busyhour_observe_cpu_seconds_total`. All probes
/// together should need at most 0.5 % of one core at 1 s and 1 % at 100 ms. Therefore, keep files open and read them
/// again from their start, keep [`SeriesId`](crate::SeriesId)s, and reuse buffers.
///
/// Memory and time of a reading are bounded, even if the source is hostile: limit the bytes that are read and the
/// number of parts that are used.
///
/// # Errors
///
/// If the source cannot be read at all, `read` returns an error. The state of the source becomes failed, with the
/// error's text as the reason; this is recorded once, not per interval. Reading continues, and the first success is
/// recorded too. After [`ProbeError::Ended`] the probe is dropped. Values that were set before the error are recorded.
///
/// If only some metrics cannot be read, `read` returns `Ok`, omits their values and calls [`Reading::unavailable`] for each of
/// them. It may do so at each reading; the reason is recorded once.
///
/// A probe that panics is not called again; the others continue.
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use busyhour_observe::{Metric, Probe, ProbeError, Reading, SeriesId, SeriesStore, ProbeRunner};
/// use busyhour_program::clock::Clock;
///
/// static OPEN: Metric = Metric::gauge("busyhour_open_files", "Open files of the system.");
///
/// struct OpenFiles {
///     series: Option<SeriesId>,
/// }
///
/// impl Probe for OpenFiles {
///     fn source(&self) -> &str {
///         "open-files"
///     }
///
///     fn interval_min(&self) -> Duration {
///         Duration::from_millis(100)
///     }
///
///     fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
///         let path = "/proc/sys/fs/file-nr";
///         let text = std::fs::read_to_string(path).map_err(|error| ProbeError::read(path, error))?;
///         let Some(open) = text.split_whitespace().next().and_then(|open| open.parse::<f64>().ok()) else {
///             return Err(ProbeError::format(path, "no number at its start"));
///         };
///         let series = *self.series.get_or_insert_with(|| reading.series(&OPEN, &[]));
///         reading.set(series, open);
///         Ok(())
///     }
/// }
///
/// let store = SeriesStore::in_memory();
/// let mut runner = ProbeRunner::new(&store, Box::new(OpenFiles { series: None }));
/// runner.read(&Clock::start());
/// # #[cfg(target_os = "linux")]
/// assert!(store.latest()[0].value > 0.0);
/// ```
pub trait Probe: Send {
    /// The name of the source: `os`, `process:4711`, `jvm:4711`, `prometheus:http://sut:9100/metrics`. Unique within a watch; without
    /// secrets, because it is stored and displayed.
    fn source(&self) -> &str;

    /// The shortest useful interval: 100 ms for `/proc`, 1 s for a scrape.
    fn interval_min(&self) -> Duration;

    /// Whether reading may wait for a network, a disk or another program.
    fn may_block(&self) -> bool {
        false
    }

    /// Reads the source once.
    ///
    /// # Errors
    /// The source cannot be read.
    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError>;
}
