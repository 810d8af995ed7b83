//! Values of metrics from `/proc`, `/sys` and the file systems.

mod connections;
mod disks;
mod machine;
mod network;
mod process;
mod snapshot;

use super::measure::Measure;
use super::request::{Metric, Quantity};

pub use snapshot::{MetricError, Snapshot};

impl Snapshot<'_> {
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
            Quantity::Tcp(field) => Ok(Measure::Value(self.connections()?.of_field(*field))),
        }
    }
}

#[cfg(test)]
mod tests;
