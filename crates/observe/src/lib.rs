//! Watches the system under test: probes read the operating system, processes and other sources at a regular interval and
//! record series of values on the clock of a run.
//!
//! * A [`Probe`] reads one subsystem into a [`Reading`].
//! * [`Watch`] schedules probes, measures their cost and stores their readings in a [`SeriesStore`].
//! * The store keeps the latest values for live views and appends everything to a series file (`docs/series-file.md`), which
//!   [`series_file`] writes and reads.
//!
//! A value that cannot be read is never recorded as 0: it is absent, and [`Reading::unavailable`] records the reason.

pub mod jvm;
mod mark;
mod metric;
mod probe;
mod proc_root;
mod reading;
mod runner;
mod schedule;
pub mod series_file;
mod series_id;
mod series_key;
mod status;
mod store;
mod watch;

pub use mark::{Mark, MarkKind};
pub use metric::{Metric, MetricKind};
pub use probe::{Probe, ProbeError};
pub use proc_root::{KeptFile, ProcRoot};
pub use reading::Reading;
pub use runner::ProbeRunner;
pub use schedule::ProbeSchedule;
pub use series_id::SeriesId;
pub use status::{LatestValue, RecordedMark, SourceState, SourceStatus, UnavailableMetric, WatchStatus};
pub use store::SeriesStore;
pub use watch::{Watch, WatchError, WatchOptions};
