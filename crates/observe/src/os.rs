//! The operating system: CPUs, memory, disks, pressure, network.
//!
//! Metrics have the names of Prometheus' node_exporter where it has the same quantity, so that the same views show scraped series
//! and those of this probe.

mod cpu;
mod disks;
mod memory;
mod pressure;

use std::time::Duration;

use crate::budget::Budget;
use crate::network::NetworkReader;
use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::reading::Reading;

use cpu::CpuReader;
use disks::DiskReader;
use memory::MemoryReader;
use pressure::PressureReader;

/// Reads the operating system, source `os`. A part that cannot be read is unavailable with the reason; the others continue.
#[derive(Debug)]
pub struct OsProbe {
    cpu: CpuReader,
    memory: MemoryReader,
    disks: DiskReader,
    pressure: PressureReader,
    network: NetworkReader,
    memory_budget: Budget,
    disk_budget: Budget,
}

/// Memory and disks are read at each time, unless each of them would take more than 1/2,000 of a core: the kernel sums counters of
/// all CPUs for them.
const SLOW_PART: Budget = Budget::new(0, 2_000);

impl OsProbe {
    /// A probe of the system under this root. Network figures are those of Busyhour's own network namespace.
    #[must_use]
    pub fn new(root: &ProcRoot) -> OsProbe {
        OsProbe {
            cpu: CpuReader::new(root),
            memory: MemoryReader::new(root),
            disks: DiskReader::new(root),
            pressure: PressureReader::new(root),
            network: NetworkReader::of_own_namespace(root),
            memory_budget: SLOW_PART,
            disk_budget: SLOW_PART,
        }
    }
}

impl Probe for OsProbe {
    fn source(&self) -> &str {
        "os"
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let now = reading.time();
        self.memory_budget.run(now, || self.memory.read(reading));
        self.disk_budget.run(now, || self.disks.read(reading));
        self.pressure.read(reading);
        self.network.read(reading);
        self.cpu.read(reading)
    }
}
