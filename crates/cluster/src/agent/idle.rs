//! How much of the machine's CPU time is idle.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// The idle share of the CPU time between the last two readings.
#[derive(Debug)]
pub(super) struct IdleTime {
    last: Mutex<Option<CpuTime>>,
    /// In percent; `UNKNOWN` before two readings, and on systems that do not report it.
    percent: AtomicU32,
}

const UNKNOWN: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CpuTime {
    idle: u64,
    total: u64,
}

impl Default for IdleTime {
    fn default() -> Self {
        Self { last: Mutex::default(), percent: AtomicU32::new(UNKNOWN) }
    }
}

impl IdleTime {
    /// Reads the CPU times of the machine.
    pub(super) fn update(&self) {
        let now = std::fs::read_to_string("/proc/stat").ok().and_then(|stat| cpu_time(&stat));
        let Ok(mut last) = self.last.lock() else { return };
        let percent = match (*last, now) {
            (Some(before), Some(now)) if now.total > before.total => {
                let idle = now.idle.saturating_sub(before.idle);
                u32::try_from(idle * 100 / (now.total - before.total)).unwrap_or(UNKNOWN)
            }
            _ => UNKNOWN,
        };
        *last = now;
        self.percent.store(percent, Ordering::Relaxed);
    }

    /// The idle share in percent; `None` if it is unknown.
    pub(super) fn percent(&self) -> Option<u32> {
        Some(self.percent.load(Ordering::Relaxed)).filter(|percent| *percent != UNKNOWN)
    }
}

/// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)). Guest time is part of user.
fn cpu_time(stat: &str) -> Option<CpuTime> {
    let times = stat.lines().next()?.strip_prefix("cpu ")?;
    let times: Vec<u64> = times.split_whitespace().take(8).map_while(|text| text.parse().ok()).collect();
    let idle = times.get(3)? + times.get(4)?;
    Some(CpuTime { idle, total: times.iter().sum() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_idle_share_includes_waiting_for_disks() {
        let time = cpu_time("cpu  10 0 20 60 5 1 2 2 7 0\ncpu0 1 2\n").unwrap();
        assert_eq!(time, CpuTime { idle: 65, total: 100 });
        assert_eq!(cpu_time("nothing"), None);
        assert_eq!(IdleTime::default().percent(), None);
    }
}
