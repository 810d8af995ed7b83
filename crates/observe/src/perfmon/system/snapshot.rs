//! The state of the system at one time, read from files when it is needed.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::request::MetricUnit;
use super::connections::Connections;
use crate::proc_root::{ProcRoot, read_bounded};
use crate::process_stat::PROCESSES_MAX;
use crate::tcp_table::read_tcp_table;

/// Longest file that is read, in bytes.
const FILE_MAX: usize = 16 << 20;

/// The largest number of TCP sockets that are counted per version of IP.
const SOCKETS_MAX: usize = 1_000_000;

/// Why a metric has no value now.
#[derive(Debug, thiserror::Error)]
pub enum MetricError {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file has no such value.
    #[error("{} has no {what}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: String,
    },
    /// There is no such process.
    #[error("there is no process {0}")]
    NoProcess(String),
    /// There is no such file system, interface or core.
    #[error("there is no {0}")]
    NoPart(String),
}

/// The state of the system at one time. Each file is read at most once per snapshot, when a metric first needs it.
#[derive(Debug)]
pub struct SystemCounters<'r> {
    root: &'r ProcRoot,
    time: Duration,
    stat: OnceCell<String>,
    meminfo: OnceCell<String>,
    connections: OnceCell<Connections>,
    executables: OnceCell<Vec<(u32, String)>>,
}

impl<'r> SystemCounters<'r> {
    /// The state at `time`, a time since any fixed start. Files are read later.
    #[must_use]
    pub fn new(root: &'r ProcRoot, time: Duration) -> Self {
        Self {
            root,
            time,
            stat: OnceCell::new(),
            meminfo: OnceCell::new(),
            connections: OnceCell::new(),
            executables: OnceCell::new(),
        }
    }

    /// The time of the snapshot.
    #[must_use]
    pub const fn time(&self) -> Duration {
        self.time
    }

    /// The root of the files.
    pub(super) const fn root(&self) -> &ProcRoot {
        self.root
    }

    pub(super) fn proc(&self, file: &str) -> PathBuf {
        self.root.path("/proc").join(file)
    }

    pub(super) fn stat(&self) -> Result<&str, MetricError> {
        cached(&self.stat, || read_text(&self.proc("stat"))).map(String::as_str)
    }

    pub(super) fn meminfo(&self) -> Result<&str, MetricError> {
        cached(&self.meminfo, || read_text(&self.proc("meminfo"))).map(String::as_str)
    }

    pub(super) fn connections(&self) -> Result<&Connections, MetricError> {
        cached(&self.connections, || {
            let path = self.proc("net/tcp");
            let table = read_tcp_table(&path, SOCKETS_MAX);
            let mut rows = table.map_err(|source| MetricError::Read { path, source })?.rows;
            // Machines without IPv6 do not have this file.
            if let Ok(table) = read_tcp_table(&self.proc("net/tcp6"), SOCKETS_MAX) {
                rows.extend(table.rows);
            }
            Ok(Connections::count(&rows))
        })
    }

    /// The processes in the order of their process IDs, with the names of their executable files. Processes whose executable file
    /// cannot be read are left out.
    pub(super) fn executables(&self) -> Result<&[(u32, String)], MetricError> {
        let executables = cached(&self.executables, || {
            let mut pids = self.root.pids(PROCESSES_MAX).map_err(|source| {
                let path = self.root.path("/proc");
                MetricError::Read { path, source }
            })?;
            pids.sort_unstable();
            Ok(pids.into_iter().filter_map(|pid| Some((pid, executable(self.root, pid)?))).collect())
        });
        executables.map(Vec::as_slice)
    }
}

/// The name of the executable file of a process.
fn executable(root: &ProcRoot, pid: u32) -> Option<String> {
    let path = std::fs::read_link(root.process(pid, "exe")).ok()?;
    let file = path.file_name()?.to_string_lossy();
    // The kernel appends this text to the name of a file that was replaced since the start of the process.
    Some(file.trim_end_matches(" (deleted)").to_owned())
}

fn cached<T>(cell: &OnceCell<T>, read: impl FnOnce() -> Result<T, MetricError>) -> Result<&T, MetricError> {
    match cell.get() {
        Some(value) => Ok(value),
        None => {
            let value = read()?;
            Ok(cell.get_or_init(|| value))
        }
    }
}

pub(super) fn read_text(path: &Path) -> Result<String, MetricError> {
    let bytes = read_bounded(path, FILE_MAX);
    let bytes = bytes.map_err(|source| MetricError::Read { path: path.to_owned(), source })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(super) fn missing(path: &Path, what: impl Into<String>) -> MetricError {
    MetricError::Missing { path: path.to_owned(), what: what.into() }
}

/// A size in bytes in the unit of the metric; KiB by default if `default_is_kib`.
pub(super) fn in_unit(bytes: f64, unit: MetricUnit, default_is_kib: bool) -> f64 {
    match unit {
        MetricUnit::Default if default_is_kib => bytes / 1024.0,
        MetricUnit::Default | MetricUnit::Bytes => bytes,
        MetricUnit::KiloBytes => bytes / 1024.0,
        MetricUnit::MegaBytes => bytes / 1_048_576.0,
    }
}

/// The number in a column; columns are separated by white space.
pub(super) fn column(line: &str, at: usize) -> Option<f64> {
    line.split_ascii_whitespace().nth(at)?.parse().ok()
}
