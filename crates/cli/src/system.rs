//! What the operating system grants and tells.

/// Open files this process may have, raised as far as it may raise it; `None` where the system does not tell.
#[cfg(unix)]
pub(crate) fn raise_open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current
}

/// Whether a path leads to a named pipe.
pub(crate) fn is_pipe(path: &std::path::Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        std::fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Largest resident memory of this process in bytes; `None` where the system does not tell.
pub(crate) fn memory_bytes_max() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// CPU time of the whole machine since it was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    /// Ticks in which it had work to do, had or not.
    wanted: u64,
    /// Those of them that the host of this virtual machine gave to others.
    stolen: u64,
}

impl CpuTimes {
    /// Until now; `None` where the system does not tell.
    pub(crate) fn now() -> Option<CpuTimes> {
        CpuTimes::read(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
    fn read(stat: &str) -> Option<CpuTimes> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|number| number.parse().ok()).collect();
        let &[user, nice, system, _, _, irq, softirq, stolen, ..] = &*ticks else { return None };
        Some(CpuTimes { wanted: user + nice + system + irq + softirq + stolen, stolen })
    }

    /// The part (0..=1) of what was wanted from `earlier` on that was stolen; `None` when hardly anything was wanted: the
    /// system counts in ticks.
    pub(crate) fn stolen_since(self, earlier: CpuTimes) -> Option<f64> {
        let wanted = self.wanted.checked_sub(earlier.wanted)?;
        let stolen = self.stolen.checked_sub(earlier.stolen)?;
        (wanted >= TICKS_MIN).then(|| stolen as f64 / wanted as f64)
    }
}

/// Fewer ticks say nothing.
const TICKS_MIN: u64 = 50;

/// Local ports for outgoing connections; `None` where the system does not tell.
pub(crate) fn local_ports() -> Option<u64> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(last.saturating_sub(first) + 1)
}

/// A seed nobody chose.
pub(crate) fn new_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let hasher = std::collections::hash_map::RandomState::new().build_hasher();
    // Short enough to be typed again.
    hasher.finish() % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_took_is_part_of_what_was_wanted() {
        let before = CpuTimes::read("cpu  100 0 50 9000 20 0 10 40 7 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(before, CpuTimes { wanted: 200, stolen: 40 });
        let after = CpuTimes::read("cpu  170 0 50 9900 20 0 10 70 7 0\n").unwrap();
        assert_eq!(after.stolen_since(before), Some(0.3));
        assert_eq!(before.stolen_since(before), None, "nothing was wanted");
        assert_eq!(before.stolen_since(after), None, "time does not run backwards");
        assert_eq!(CpuTimes::read("cpu 1 2 3 4"), None);
        assert_eq!(CpuTimes::read(""), None);
    }
}
