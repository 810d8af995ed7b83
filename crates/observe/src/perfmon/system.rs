//! Values of metrics from `/proc`, `/sys` and the file systems.

mod connections;
mod disks;
mod machine;
mod network;
mod process;

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::measure::Measure;
use super::request::{Metric, Quantity, Unit};
use crate::proc_root::{ProcRoot, read_bounded};

/// Longest file of `/proc` that is read, in bytes: the connections of a busy machine.
const FILE_MAX: usize = 64 << 20;

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
pub struct Snapshot<'r> {
    root: &'r ProcRoot,
    time: Duration,
    stat: OnceCell<String>,
    meminfo: OnceCell<String>,
    connections: OnceCell<connections::Connections>,
}

impl<'r> Snapshot<'r> {
    /// The state at `time`, a time since any fixed start. Files are read later.
    #[must_use]
    pub fn new(root: &'r ProcRoot, time: Duration) -> Self {
        Self { root, time, stat: OnceCell::new(), meminfo: OnceCell::new(), connections: OnceCell::new() }
    }

    /// The time of the snapshot.
    #[must_use]
    pub const fn time(&self) -> Duration {
        self.time
    }

    /// Reads a metric.
    ///
    /// # Errors
    /// The system does not have it, or it cannot be read.
    pub fn measure(&self, metric: &Metric) -> Result<Measure, MetricError> {
        let unit = metric.unit;
        match &metric.quantity {
            Quantity::Cpu(field, core) => machine::cpu(self.stat()?, &self.proc("stat"), *field, *core),
            Quantity::Memory(field) => machine::memory(self.meminfo()?, &self.proc("meminfo"), *field, unit),
            Quantity::Swap(field) => machine::swap(self, *field, unit),
            Quantity::ProcessCpu(field, name) => process::cpu(self, *field, name),
            Quantity::ProcessMemory(field, name) => process::memory(self, *field, name, unit),
            Quantity::Disk(field, path) => disks::measure(self, *field, path.as_deref(), unit),
            Quantity::Network(field, name) => network::measure(self, *field, name.as_deref(), unit),
            Quantity::Tcp(field) => Ok(Measure::Value(self.connections()?.count(*field))),
        }
    }

    fn proc(&self, file: &str) -> PathBuf {
        self.root.path("/proc").join(file)
    }

    fn stat(&self) -> Result<&str, MetricError> {
        cached(&self.stat, || read_text(&self.proc("stat"))).map(String::as_str)
    }

    fn meminfo(&self) -> Result<&str, MetricError> {
        cached(&self.meminfo, || read_text(&self.proc("meminfo"))).map(String::as_str)
    }

    fn connections(&self) -> Result<&connections::Connections, MetricError> {
        cached(&self.connections, || {
            let v4 = read_text(&self.proc("net/tcp"))?;
            // Missing without IPv6.
            let v6 = read_text(&self.proc("net/tcp6")).unwrap_or_default();
            Ok(connections::Connections::parse(&[&v4, &v6]))
        })
    }
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

fn read_text(path: &Path) -> Result<String, MetricError> {
    let bytes = read_bounded(path, FILE_MAX);
    let bytes = bytes.map_err(|source| MetricError::Read { path: path.to_owned(), source })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn missing(path: &Path, what: impl Into<String>) -> MetricError {
    MetricError::Missing { path: path.to_owned(), what: what.into() }
}

/// A size in bytes in the unit of the metric; KiB by default if `default_is_kib`.
fn in_unit(bytes: f64, unit: Unit, default_is_kib: bool) -> f64 {
    match unit {
        Unit::Default if default_is_kib => bytes / 1024.0,
        Unit::Default | Unit::Bytes => bytes,
        Unit::KiloBytes => bytes / 1024.0,
        Unit::MegaBytes => bytes / 1_048_576.0,
    }
}

/// A column of numbers separated by blanks.
fn column(line: &str, at: usize) -> Option<f64> {
    line.split_ascii_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests;
