//! The observation of the system under test during a run.
//!
//! A [`SourceSpec`] names what to observe: `os`, `jvm:shop`, `gc:FILE`, `log:FILE`, `prometheus:URL` or `auto`. [`parse_sources`] reads a list
//! of them.
//!
//! [`PerfMonObserver`] runs a PerfMon Metrics Collector of the plan.

mod perfmon_observer;
mod source_spec;

pub use perfmon_observer::{PerfMonObserver, WarningSink};
pub use source_spec::{SourceSpec, SourceSpecError, parse_sources};
