//! Limits and statistics of the operating system.

/// Raises the limit of open files as far as possible and returns it; `None` if unknown.
#[cfg(unix)]
pub(crate) fn raise_open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current
}

/// Whether a path is a named pipe.
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

/// Maximum resident memory of this process in bytes; `None` if unknown.
pub(crate) fn memory_bytes_max() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Number of bytes that this process may use: the memory of the machine or of its container, or the limit of its address
/// space; `None` if unknown.
pub(crate) fn available_memory() -> Option<u64> {
    let machine = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_memory(&text));
    let group = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_groups = group_files(&group, "memory.max", "memory", "memory.limit_in_bytes").into_iter();
    let of_groups =
        of_groups.filter_map(|path| std::fs::read_to_string(path).ok()?.trim().parse::<u64>().ok());
    of_groups.chain(machine).chain(address_space()).min()
}

/// The `MemTotal` of /proc/meminfo in bytes (proc(5)).
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// Files of the control groups that contain this process, from its /proc/self/cgroup: `unified` is the name of the file in version
/// 2, `name` that in the hierarchy of a controller of version 1. The limit of an outer group also applies to the groups inside it.
pub(crate) fn group_files(
    cgroup: &str,
    unified: &str,
    controller: &str,
    name: &str,
) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for line in cgroup.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let (root, name) = match controllers {
            "" => (String::from("/sys/fs/cgroup"), unified),
            // A hierarchy can have several controllers, and its directory has the names of all of them: cpu,cpuacct.
            list if list.split(',').any(|one| one == controller) => (format!("/sys/fs/cgroup/{list}"), name),
            _ => continue,
        };
        let root = std::path::Path::new(&root);
        let relative = std::path::Path::new(path.trim_start_matches('/'));
        files.extend(relative.ancestors().map(|group| root.join(group).join(name)));
    }
    files
}

#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

/// CPU time of the whole machine since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    /// Ticks of requested CPU time, including steal.
    requested: u64,
    /// Ticks of steal.
    stolen: u64,
}

impl CpuTimes {
    /// The current CPU times; `None` if unknown.
    pub(crate) fn now() -> Option<CpuTimes> {
        CpuTimes::read(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// The first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal (proc(5)).
    fn read(stat: &str) -> Option<CpuTimes> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = line.split_whitespace().map_while(|number| number.parse().ok()).collect();
        let &[user, nice, system, _, _, irq, softirq, stolen, ..] = &*ticks else { return None };
        Some(CpuTimes { requested: user + nice + system + irq + softirq + stolen, stolen })
    }

    /// The fraction (0 to 1) of the CPU time requested since `earlier` that was stolen; `None` if too few ticks were
    /// requested.
    pub(crate) fn stolen_since(self, earlier: CpuTimes) -> Option<f64> {
        let requested = self.requested.checked_sub(earlier.requested)?;
        let stolen = self.stolen.checked_sub(earlier.stolen)?;
        (requested >= TICKS_MIN).then(|| stolen as f64 / requested as f64)
    }
}

/// With fewer requested ticks, the stolen fraction is too imprecise.
const TICKS_MIN: u64 = 50;

/// Number of local ports for outgoing connections; `None` if unknown.
pub(crate) fn local_ports() -> Option<u64> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
    let mut numbers = range.split_whitespace().map(str::parse::<u64>);
    let (first, last) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    Some(last.saturating_sub(first) + 1)
}

/// A random seed.
pub(crate) fn new_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    let hasher = std::collections::hash_map::RandomState::new().build_hasher();
    // The seed is short enough to be typed.
    hasher.finish() % 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_limited_by_the_machine_and_by_groups() {
        assert_eq!(total_memory("MemTotal:        2048 kB\nMemFree: 1 kB\n"), Some(2 << 20));
        assert_eq!(total_memory("MemFree: 1 kB\n"), None);
        let files =
            group_files("3:memory:/a\n2:cpu:/b\n0::/c/d\n", "memory.max", "memory", "memory.limit_in_bytes");
        let expected = [
            "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            "/sys/fs/cgroup/c/d/memory.max",
            "/sys/fs/cgroup/c/memory.max",
            "/sys/fs/cgroup/memory.max",
        ];
        assert_eq!(files, expected.map(std::path::PathBuf::from));
        assert!(available_memory().is_none_or(|bytes| bytes > 0));
    }

    #[test]
    fn steal_is_a_share_of_the_requested_cpu_time() {
        let before = CpuTimes::read("cpu  100 0 50 9000 20 0 10 40 7 0\ncpu0 1 2 3\n").unwrap();
        assert_eq!(before, CpuTimes { requested: 200, stolen: 40 });
        let after = CpuTimes::read("cpu  170 0 50 9900 20 0 10 70 7 0\n").unwrap();
        assert_eq!(after.stolen_since(before), Some(0.3));
        assert_eq!(before.stolen_since(before), None, "no CPU time was requested");
        assert_eq!(before.stolen_since(after), None, "the times are in the wrong order");
        assert_eq!(CpuTimes::read("cpu 1 2 3 4"), None);
        assert_eq!(CpuTimes::read(""), None);
    }
}
