//! Watches the system under test: probes read the operating system, processes and other sources at a regular interval and
//! record series of values on the clock of a run.
//!
//! * A [`Probe`] reads one subsystem into a [`Reading`].
//! * [`Watch`] schedules probes, measures their cost and stores their readings in a [`SeriesStore`].
//! * The store keeps the latest values for live views and appends everything to a series file (`docs/series-file.md`), which
//!   [`busyhour_series`] writes and reads.
//!
//! A value that cannot be read is never recorded as 0: it is absent, and [`Reading::unavailable`] records the reason.

#[cfg(target_os = "linux")]
mod budget;
#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod cgroup;
pub mod database;
#[cfg(target_os = "linux")]
mod declared;
#[cfg(target_os = "linux")]
mod discovery;
#[cfg(target_os = "linux")]
mod fields;
pub mod jvm;
#[cfg(target_os = "linux")]
mod neighbours;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod os;
#[cfg(target_os = "linux")]
pub mod perf;
pub mod perfmon;
#[cfg(target_os = "linux")]
mod pressure_file;
mod probe;
#[cfg(unix)]
mod proc_root;
#[cfg(target_os = "linux")]
mod process;
#[cfg(target_os = "linux")]
mod process_stat;
pub mod prometheus;
pub mod rdt;
mod reading;
mod runner;
mod schedule;
mod series_id;
mod series_key;
#[cfg(target_os = "linux")]
mod sock_diag;
#[cfg(target_os = "linux")]
mod socket_owners;
#[cfg(target_os = "linux")]
mod stall;
mod status;
mod store;
#[cfg(target_os = "linux")]
mod tcp_table;
mod watch;

pub use busyhour_series::{LatestValue, Mark, MarkKind, Metric, MetricKind, SourceState};
#[cfg(target_os = "linux")]
pub use capabilities::{Capability, CapabilityState, capabilities};
#[cfg(target_os = "linux")]
pub use cgroup::{CgroupError, CgroupPath, CgroupProbe};
#[cfg(target_os = "linux")]
pub use discovery::{
    Container, ContainerRuntime, DiscoveredEntry, DiscoveryStart, EntryOrigin, FoundProcess, Location,
    NetworkNamespace, ObservableSource, ServerKind, SourceAvailability, discover, discover_from,
    find_processes,
};
#[cfg(target_os = "linux")]
pub use neighbours::{FoundNeighbours, NeighbourProbe, NeighbourSink};
#[cfg(target_os = "linux")]
pub use network::NetworkProbe;
#[cfg(target_os = "linux")]
pub use os::OsProbe;
pub use probe::{Probe, ProbeError};
#[cfg(unix)]
pub use proc_root::{KeptFile, ProcRoot};
#[cfg(target_os = "linux")]
pub use process::{ProcessProbe, WatchedProcesses};
pub use reading::Reading;
pub use runner::ProbeRunner;
pub use schedule::ProbeSchedule;
pub use series_id::SeriesId;
#[cfg(target_os = "linux")]
pub use stall::{StallHistogram, StallProbe};
pub use status::{RecordedMark, SourceChange, SourceStatus, UnavailableMetric, WatchStatus};
pub use store::SeriesStore;
pub use watch::{INTERVAL_MIN, Watch, WatchError, WatchOptions};
