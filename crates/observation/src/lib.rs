//! The observation of the system under test during a run.
//!
//! A [`SourceSpec`] names what to observe: `os`, `jvm:shop`, `gc:FILE`, `log:FILE`, `prometheus:URL` or `auto`. [`parse_sources`] reads a list
//! of them.

mod gc_log_clock;
mod gc_log_followed;
mod gc_log_series;
mod gc_log_sources;
mod log_followed;
mod log_input;
mod log_redaction;
mod log_series;
mod log_sources;
mod source_spec;

pub use gc_log_sources::{GC_FILE_NAME, GC_FILE_VERSION, GC_PART_KIND, GcLogSources};
pub use log_redaction::log_redactor;
pub use log_sources::{LogOptions, LogSources, LogSourcesError};
pub use source_spec::{SourceSpec, SourceSpecError, parse_sources};
