//! A control group: CPU and its quota, memory and its limit, pressure, disks.
//!
//! Metrics have the names of cAdvisor where it has the same quantity.

mod cpu;
mod io;
mod locate;
mod memory;
mod pressure;
mod tasks;

use std::path::PathBuf;
use std::time::Duration;

use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::reading::Reading;

use cpu::CpuReader;
use io::IoReader;
use memory::MemoryReader;
use pressure::PressureReader;
use tasks::TaskReader;

pub use locate::{CgroupError, CgroupPath};

/// Reads the cgroup of a process; source `cgroup:PATH`. The controllers may be of cgroup version 1, version 2 or both.
#[derive(Debug)]
pub struct CgroupProbe {
    source: String,
    directories: Vec<PathBuf>,
    cpu: CpuReader,
    memory: MemoryReader,
    io: IoReader,
    pressure: PressureReader,
    tasks: TaskReader,
}

impl CgroupProbe {
    /// A probe of the cgroup of a process.
    ///
    /// # Errors
    /// The process does not exist, cgroups are not mounted, or the process is outside the mounted part of the hierarchy.
    pub fn of_process(root: &ProcRoot, pid: u32) -> Result<CgroupProbe, CgroupError> {
        Ok(CgroupProbe::new(&CgroupPath::of_process(root, pid)?))
    }

    /// A probe of a cgroup.
    #[must_use]
    pub fn new(path: &CgroupPath) -> CgroupProbe {
        CgroupProbe {
            source: format!("cgroup:{}", path.name()),
            directories: path.directories().map(PathBuf::from).collect(),
            cpu: CpuReader::new(path),
            memory: MemoryReader::new(path),
            io: IoReader::new(path),
            pressure: PressureReader::new(path),
            tasks: TaskReader::new(path),
        }
    }
}

impl Probe for CgroupProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        if !self.directories.iter().any(|directory| directory.exists()) {
            let advice = "it was removed; it will be watched if it is created again";
            return Err(ProbeError::Missing { what: self.source.clone(), advice: advice.to_owned() });
        }
        self.cpu.read(reading);
        self.memory.read(reading);
        self.io.read(reading);
        self.pressure.read(reading);
        self.tasks.read(reading);
        Ok(())
    }
}
