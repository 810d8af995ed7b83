//! Values of metrics from `/proc`, `/sys` and the file systems.

mod connections;
mod disks;
mod machine;
mod network;
mod process;
mod snapshot;

use super::measure::PerfMonMeasure;
use super::request::{PerfMonMetric, PerfMonQuantity};

pub use snapshot::{MetricError, SystemCounters};

impl SystemCounters<'_> {
    /// Reads a metric.
    ///
    /// # Errors
    /// The system does not have it, or it cannot be read.
    pub fn measure(&self, metric: &PerfMonMetric) -> Result<PerfMonMeasure, MetricError> {
        let unit = metric.unit;
        match &metric.quantity {
            PerfMonQuantity::Cpu(field, core) => {
                machine::cpu(self.stat()?, &self.proc("stat"), *field, *core)
            }
            PerfMonQuantity::Memory(field) => {
                machine::memory(self.meminfo()?, &self.proc("meminfo"), *field, unit)
            }
            PerfMonQuantity::Swap(field) => machine::swap(self, *field, unit),
            PerfMonQuantity::ProcessCpu(field, name) => process::cpu(self, *field, name),
            PerfMonQuantity::ProcessMemory(field, name) => process::memory(self, *field, name, unit),
            PerfMonQuantity::Disk(field, path) => disks::measure(self, *field, path.as_deref(), unit),
            PerfMonQuantity::Network(field, name) => network::measure(self, *field, name.as_deref(), unit),
            PerfMonQuantity::Tcp(field) => Ok(PerfMonMeasure::Value(self.connections()?.of_field(*field))),
        }
    }
}

#[cfg(test)]
mod tests;
