//! Processes, which are recognized by their number and the time of their start.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::ControlError;
use crate::system::System;

/// A process. A later process with the same number has another start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its start in clock ticks since the system was booted.
    pub start_ticks: u64,
}

impl Process {
    /// The process that has this number now.
    ///
    /// # Errors
    /// There is none.
    pub fn of_pid(system: &dyn System, pid: u32) -> Result<Self, ControlError> {
        let start_ticks = start_ticks(system, pid).ok_or(ControlError::ProcessEnded { pid })?;
        Ok(Self { pid, start_ticks })
    }

    /// Whether the process still runs.
    pub(crate) fn is_running(&self, system: &dyn System) -> bool {
        start_ticks(system, self.pid) == Some(self.start_ticks)
    }

    /// The numbers of its threads; none after it ended.
    pub(crate) fn threads(&self, system: &dyn System) -> Vec<u32> {
        if !self.is_running(system) {
            return Vec::new();
        }
        let names =
            system.directories(&PathBuf::from(format!("/proc/{}/task", self.pid))).unwrap_or_default();
        names.iter().filter_map(|name| name.parse().ok()).collect()
    }
}

/// Field 22 of `/proc/PID/stat`. The name of the program, in parentheses, can contain blanks and parentheses.
fn start_ticks(system: &dyn System, pid: u32) -> Option<u64> {
    let text = system.read(&PathBuf::from(format!("/proc/{pid}/stat"))).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::LinuxSystem;

    #[test]
    fn this_process_runs() {
        let system = LinuxSystem::new();
        let process = Process::of_pid(&system, std::process::id()).unwrap();
        assert!(process.is_running(&system));
        assert!(process.threads(&system).contains(&process.pid));
        let earlier = Process { start_ticks: process.start_ticks - 1, ..process };
        assert!(!earlier.is_running(&system));
        assert!(earlier.threads(&system).is_empty());
        assert!(matches!(
            Process::of_pid(&system, u32::MAX),
            Err(ControlError::ProcessEnded { pid: u32::MAX })
        ));
    }
}
