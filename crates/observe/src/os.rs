//! The operating system: CPUs, memory, disks, pressure, network.
//!
//! Metrics have the names of Prometheus' node_exporter where it has the same quantity, so that the same views show scraped series
//! and those of this probe.

mod cpu;
mod disks;
mod memory;
mod pressure;

use std::time::Duration;

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
}

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
        self.memory.read(reading);
        self.disks.read(reading);
        self.pressure.read(reading);
        self.network.read(reading);
        self.cpu.read(reading)
    }
}
