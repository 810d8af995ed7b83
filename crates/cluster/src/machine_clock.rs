//! The clock of the machine, which processes can compare as long as the machine is not started again.

/// Time since the start of the machine in ns, without the time in which it was suspended.
#[cfg(unix)]
pub(crate) fn machine_ns() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.saturating_mul(1_000_000_000).saturating_add(now.tv_nsec)
}

/// The time of day in ns since 1970, because this system has no clock that other processes can read.
#[cfg(not(unix))]
pub(crate) fn machine_ns() -> i64 {
    i64::try_from(busyhour_program::clock::wall_ns()).unwrap_or(i64::MAX)
}

/// An identifier of the start of this machine: equal for all processes until it is started again.
pub(crate) fn boot() -> String {
    let known = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    known.map(|id| id.trim().to_owned()).unwrap_or_default()
}
