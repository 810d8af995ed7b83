//! The observation of the system under test, during a run or without one.
//!
//! ```text
//! ObservationRequest ──prepare──▶ Observation ──start──▶ RunningObservation
//!   sources, targets                lines()               store(), stop()
//! ```
//!
//! A [`SourceSpec`] names what to observe: `os`, `jvm:shop`, `gc:FILE`, `log:FILE`, `prometheus:URL` or `auto`. [`parse_sources`]
//! reads a list of them. [`Observation::prepare`] finds the sources and opens them. [`Observation::lines`] states for each source
//! whether it is watched, and if not, why and what would enable it. [`SystemObserver`] observes a run. [`append_mark`] adds a
//! mark of the user to a run in progress. [`PerfMonObserver`] runs a PerfMon Metrics Collector of the plan.

mod followed;
mod gc_log_clock;
mod gc_log_files;
mod gc_log_followed;
mod gc_log_series;
mod gc_log_sources;
#[cfg(target_os = "linux")]
mod jvm_stacks;
#[cfg(target_os = "linux")]
mod local;
#[cfg(not(target_os = "linux"))]
#[path = "not_local.rs"]
mod local;
mod log_followed;
mod log_input;
mod log_redaction;
mod log_series;
mod log_sources;
mod marks_file;
mod neighbours_file;
mod observation;
mod observer;
mod perfmon_observer;
mod perfmon_series;
mod request;
mod search;
mod search_times;
mod select;
mod selected;
mod source_failures;
mod source_line;
mod source_spec;
mod sources_file;
mod stack_file;
mod stack_probe;
mod stack_sources;

pub use busyhour_gclog::{GC_FILE_NAME, GC_FILE_VERSION, GC_PART_KIND};
pub use gc_log_sources::GcLogSources;
pub use log_redaction::log_redactor;
pub use log_sources::{LogOptions, LogSources, LogSourcesError};
pub use marks_file::{MARK_TEXT_BYTES_MAX, MARKS_FILE_NAME, append_mark, marks_are_read};
pub use neighbours_file::NeighbourSink;
pub use observation::{Observation, ObservationError, RunningObservation};
pub use observer::{ObservedSeries, SourceLinesSink, SystemObserver};
pub use perfmon_observer::{PerfMonObserver, WarningSink};
pub use perfmon_series::PerfMonSeries;
pub use request::ObservationRequest;
pub use source_line::{LineSink, LineState, SourceLine};
pub use source_spec::{ProcessName, SourceSpec, SourceSpecError, parse_sources};
