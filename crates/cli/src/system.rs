//! What the operating system grants and tells.

/// Open files this process may have, raised as far as it may raise it; `None` where the system does not tell.
#[cfg(unix)]
pub(crate) fn raise_open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current
}

/// Largest resident memory of this process in bytes; `None` where the system does not tell.
pub(crate) fn memory_bytes_max() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

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
