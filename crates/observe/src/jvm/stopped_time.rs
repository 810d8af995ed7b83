//! The time for which a JVM has stopped its application.

use super::counters::CounterId;
use super::locate::{CounterFileLocateError, OpenJvm};
use crate::proc_root::ProcRoot;

/// Reads how long a JVM has stopped its application since its start, for all reasons together.
#[derive(Debug)]
pub struct StoppedTime {
    jvm: OpenJvm,
    counters: Vec<CounterId>,
    /// Ticks per second.
    frequency: i64,
}

impl StoppedTime {
    /// Opens the counters of a process; `None` if the JVM does not publish the time.
    ///
    /// # Errors
    /// The process is not a JVM, publishes no counters or belongs to another user.
    pub fn open(root: &ProcRoot, pid: u32) -> Result<Option<StoppedTime>, CounterFileLocateError> {
        let jvm = OpenJvm::open(root, pid)?;
        let frequency = jvm.index.long_of(jvm.file.bytes(), "sun.os.hrt.frequency");
        let counters = jvm.identity.stall_counters().and_then(|names| {
            names.iter().map(|name| jvm.index.find(name)).collect::<Option<Vec<CounterId>>>()
        });
        Ok(match (frequency, counters) {
            (Some(frequency @ 1..), Some(counters)) => Some(StoppedTime { jvm, counters, frequency }),
            _ => None,
        })
    }

    /// The time in ns; `None` if it cannot be read.
    pub fn read_ns(&mut self) -> Option<u64> {
        let bytes = self.jvm.file.read().ok()?;
        if !self.jvm.index.describes(bytes) {
            return None;
        }
        let mut ticks = 0i64;
        for counter in &self.counters {
            ticks = ticks.checked_add(self.jvm.index.long(bytes, *counter)?)?;
        }
        u64::try_from(i128::from(ticks) * 1_000_000_000 / i128::from(self.frequency)).ok()
    }
}
