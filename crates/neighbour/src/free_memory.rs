//! The memory that a neighbour may use: the free memory of the machine and of the cgroup of this process.

use std::path::Path;

use crate::error::NeighbourError;

/// Bytes that always remain free.
pub(crate) const RESERVE_BYTES: u64 = 64 << 20;

/// The roots of the file systems that describe the machine; tests use other directories.
pub(crate) struct MemoryFiles<'a> {
    proc_dir: &'a Path,
    cgroup_dir: &'a Path,
}

impl MemoryFiles<'static> {
    /// Those of the running kernel.
    pub(crate) fn live() -> Self {
        Self { proc_dir: Path::new("/proc"), cgroup_dir: Path::new("/sys/fs/cgroup") }
    }
}

/// Memory that is free, and the source of that number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FreeMemory {
    pub(crate) bytes: u64,
    /// `MemAvailable`, or the directory of the cgroup whose limit is lower.
    pub(crate) source: String,
}

impl MemoryFiles<'_> {
    /// Checks that `bytes` can be allocated, with a reserve.
    pub(crate) fn check(&self, bytes: u64) -> Result<(), NeighbourError> {
        let free = self.free()?;
        if bytes.saturating_add(RESERVE_BYTES) <= free.bytes {
            return Ok(());
        }
        Err(NeighbourError::NotEnoughMemory {
            needed: bytes,
            free: free.bytes,
            reserve: RESERVE_BYTES,
            source_of_free: free.source,
        })
    }

    /// Memory that is free for this process.
    pub(crate) fn free(&self) -> Result<FreeMemory, NeighbourError> {
        let path = self.proc_dir.join("meminfo");
        let text = std::fs::read_to_string(&path)
            .map_err(|source| NeighbourError::MemoryUnknown { path: path.clone(), source: Some(source) })?;
        let machine = available_bytes(&text).ok_or(NeighbourError::MemoryUnknown { path, source: None })?;
        let machine = FreeMemory { bytes: machine, source: "MemAvailable".to_owned() };
        let lower = |least: FreeMemory, free: FreeMemory| if free.bytes < least.bytes { free } else { least };
        Ok(self.limits().into_iter().fold(machine, lower))
    }

    /// The free memory of the cgroups of this process and of their ancestors, for those with a limit.
    fn limits(&self) -> Vec<FreeMemory> {
        let own = std::fs::read_to_string(self.proc_dir.join("self/cgroup")).unwrap_or_default();
        let mut limits = Vec::new();
        for line in own.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let (root, files) = match controllers {
                "" => (self.cgroup_dir.to_owned(), &VERSION_2),
                list if list.split(',').any(|name| name == "memory") => {
                    (self.cgroup_dir.join("memory"), &VERSION_1)
                }
                _ => continue,
            };
            let dir = root.join(path.trim_start_matches('/'));
            let dirs = dir.ancestors().take_while(|dir| dir.starts_with(&root));
            limits.extend(dirs.filter_map(|dir| free_of_cgroup(dir, files)));
        }
        limits
    }
}

/// The names of a cgroup's files in a version of the interface.
struct CgroupFiles {
    limit: &'static str,
    used: &'static str,
    /// The start of the line of `memory.stat` with the file pages that can be dropped.
    inactive: &'static str,
}

const VERSION_1: CgroupFiles = CgroupFiles {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    inactive: "total_inactive_file ",
};

const VERSION_2: CgroupFiles =
    CgroupFiles { limit: "memory.max", used: "memory.current", inactive: "inactive_file " };

/// Asks the kernel to kill this process before any other if memory runs out.
pub(crate) fn prefer_as_victim() {
    // Without this, the system under test might be killed instead; if it fails, the check of free memory remains.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
}

/// The free memory of a cgroup: its limit minus the memory in use. File pages that can be dropped count as free.
fn free_of_cgroup(dir: &Path, files: &CgroupFiles) -> Option<FreeMemory> {
    let read = |file: &str| std::fs::read_to_string(dir.join(file)).ok();
    // Version 2 writes `max` for no limit, version 1 a number that is larger than any memory.
    let limit: u64 = read(files.limit)?.trim().parse().ok()?;
    let used: u64 = read(files.used)?.trim().parse().ok()?;
    let stat = read("memory.stat").unwrap_or_default();
    let inactive = stat.lines().find_map(|line| line.strip_prefix(files.inactive)?.trim().parse().ok());
    let used = used.saturating_sub(inactive.unwrap_or(0));
    let source = dir.join(files.limit).display().to_string();
    Some(FreeMemory { bytes: limit.saturating_sub(used), source })
}

/// `MemAvailable` of `/proc/meminfo`.
fn available_bytes(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with 1 GiB of free memory.
    fn machine() -> (tempfile::TempDir, std::path::PathBuf, std::path::PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let (proc_dir, cgroup_dir) = (root.path().join("proc"), root.path().join("cgroup"));
        std::fs::create_dir_all(proc_dir.join("self")).unwrap();
        std::fs::create_dir_all(cgroup_dir.join("a/b")).unwrap();
        let meminfo = "MemTotal:        2097152 kB\nMemFree:          100 kB\nMemAvailable:    1048576 kB\n";
        std::fs::write(proc_dir.join("meminfo"), meminfo).unwrap();
        (root, proc_dir, cgroup_dir)
    }

    #[test]
    fn more_than_is_available_is_refused() {
        let (_root, proc_dir, cgroup_dir) = machine();
        let files = MemoryFiles { proc_dir: &proc_dir, cgroup_dir: &cgroup_dir };
        assert_eq!(files.free().unwrap(), FreeMemory { bytes: 1 << 30, source: "MemAvailable".to_owned() });
        files.check((1 << 30) - RESERVE_BYTES).unwrap();
        let error = files.check(1 << 30).unwrap_err().to_string();
        assert_eq!(
            error,
            "1.00 GiB of memory are needed, but 1.00 GiB are free (MemAvailable), of which 64.0 MiB remain \
             unused"
        );
        files.check(u64::MAX).unwrap_err();
    }

    #[test]
    fn the_lowest_limit_of_the_cgroups_counts() {
        let (_root, proc_dir, cgroup_dir) = machine();
        let files = MemoryFiles { proc_dir: &proc_dir, cgroup_dir: &cgroup_dir };
        std::fs::write(proc_dir.join("self/cgroup"), "1:cpu:/\n0::/a/b\n").unwrap();
        let write = |file: &str, text: &str| std::fs::write(cgroup_dir.join(file), text).unwrap();
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "5\n");
        assert_eq!(files.free().unwrap().bytes, 1 << 30);
        write("a/memory.max", "300000000\n");
        write("a/memory.current", "200000000\n");
        write("a/memory.stat", "anon 1\ninactive_file 50000000\n");
        let free = files.free().unwrap();
        assert_eq!(free.bytes, 150_000_000);
        assert!(free.source.ends_with("a/memory.max"), "{}", free.source);
        write("a/memory.current", "900000000\n");
        assert_eq!(files.free().unwrap().bytes, 0);
    }

    #[test]
    fn limits_of_the_first_version_count_too() {
        let (_root, proc_dir, cgroup_dir) = machine();
        let files = MemoryFiles { proc_dir: &proc_dir, cgroup_dir: &cgroup_dir };
        // In a container, the path can be that of the host, which does not exist below the container's root.
        std::fs::write(proc_dir.join("self/cgroup"), "2:cpu,memory:/not/here\n1:cpu:/\n0::/\n").unwrap();
        std::fs::create_dir(cgroup_dir.join("memory")).unwrap();
        let write =
            |file: &str, text: &str| std::fs::write(cgroup_dir.join("memory").join(file), text).unwrap();
        write("memory.limit_in_bytes", "9223372036854771712\n");
        write("memory.usage_in_bytes", "400000000\n");
        write("memory.stat", "inactive_file 0\ntotal_inactive_file 100000000\n");
        assert_eq!(files.free().unwrap().source, "MemAvailable");
        write("memory.limit_in_bytes", "700000000\n");
        let free = files.free().unwrap();
        assert_eq!(free.bytes, 400_000_000);
        assert!(free.source.ends_with("memory/memory.limit_in_bytes"), "{}", free.source);
    }

    #[test]
    fn a_kernel_without_the_number_is_an_error() {
        let (_root, proc_dir, cgroup_dir) = machine();
        let files = MemoryFiles { proc_dir: &proc_dir, cgroup_dir: &cgroup_dir };
        std::fs::write(proc_dir.join("meminfo"), "MemFree: 100 kB\n").unwrap();
        assert!(files.free().unwrap_err().to_string().contains("unavailable"));
        std::fs::remove_file(proc_dir.join("meminfo")).unwrap();
        assert!(files.check(0).unwrap_err().to_string().contains("unavailable"));
    }
}
