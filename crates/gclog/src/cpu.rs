//! CPU times of collections: `User=0.01s Sys=0.00s Real=0.00s`, up to JDK 8 `[Times: user=0.01 sys=0.00, real=0.00 secs]`.

use serde::{Deserialize, Serialize};

use crate::size::number;

/// The shortest pause that is compared with its CPU time, s; the JVM prints hundredths of seconds.
const WAIT_MIN_S: f64 = 0.1;

/// If a pause is longer than its CPU time by more than this factor, the collector waited.
const WAIT_FACTOR: f64 = 2.0;

/// CPU times of one collection or phase, s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CpuTimes {
    pub user_s: f64,
    pub sys_s: f64,
    pub real_s: f64,
}

impl CpuTimes {
    /// Whether the collector got less than half of one processor.
    pub fn has_waited(&self) -> bool {
        self.real_s >= WAIT_MIN_S && self.real_s > WAIT_FACTOR * (self.user_s + self.sys_s)
    }
}

/// The CPU times of a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
pub struct CpuSums {
    /// Time of the collector's threads in user mode, s.
    pub user_s: f64,
    /// Time of the collector's threads in the kernel, s.
    pub sys_s: f64,
    /// Pauses of 0.1 s and more in which the collector's threads together ran for less than half of the time. In the
    /// rest of the time, they waited for a processor, for memory that was swapped out, or for the disk that the log is
    /// on.
    pub waited: u64,
    /// The sum of these pauses, s.
    pub waited_s: f64,
}

impl CpuSums {
    /// Adds the times of one collection or phase.
    pub(crate) fn add(&mut self, times: &CpuTimes, is_pause: bool) {
        self.user_s += times.user_s;
        self.sys_s += times.sys_s;
        if is_pause && times.has_waited() {
            self.waited += 1;
            self.waited_s += times.real_s;
        }
    }
}

/// Reads CPU times from a text that contains them.
pub(crate) fn cpu_times(text: &str) -> Option<CpuTimes> {
    let value = |names: [&str; 2]| {
        let rest = names.iter().find_map(|name| text.split_once(name))?.1;
        number(rest.trim_start()).map(|(seconds, _)| seconds)
    };
    Some(CpuTimes {
        user_s: value(["User=", "user="])?,
        sys_s: value(["Sys=", "sys="])?,
        real_s: value(["Real=", "real="])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_are_read() {
        let expected = Some(CpuTimes { user_s: 0.38, sys_s: 0.01, real_s: 0.09 });
        assert_eq!(cpu_times("User=0.38s Sys=0.01s Real=0.09s"), expected);
        assert_eq!(cpu_times(" [Times: user=0,38 sys=0,01, real=0,09 secs]"), expected);
        assert_eq!(cpu_times("User=0.38s Sys="), None);
    }

    #[test]
    fn a_collector_without_a_processor_has_waited() {
        let times = |real_s| CpuTimes { user_s: 0.05, sys_s: 0.01, real_s };
        assert!(times(0.9).has_waited());
        assert!(!times(0.11).has_waited() && !times(0.01).has_waited());
    }
}
