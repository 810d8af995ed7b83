//! The CPU clock of another process, in nanoseconds. A tick of `/proc/PID/stat` (10 ms) would be 10 % of an interval of 100 ms.

/// The kernel's limit of process IDs. Larger ones would overlap with the IDs of other clocks.
const PID_MAX: libc::pid_t = 4_194_304;

/// CPU time of all threads of a process, also of those that ended, in ns; `None` if it does not exist.
pub(crate) fn process_cpu_ns(pid: u32) -> Option<u64> {
    let pid = libc::pid_t::try_from(pid).ok().filter(|pid| (1..=PID_MAX).contains(pid))?;
    // The ID of a process's CPU clock, as clock_getcpuclockid(3) computes it.
    let clock: libc::clockid_t = (!pid << 3) | 2;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is valid for the call; an invalid clock is an error.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if result != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(time.tv_nsec).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_this_process_runs() {
        let before = process_cpu_ns(std::process::id()).unwrap();
        let mut value = 1u64;
        for round in 0..1_000_000u64 {
            value = std::hint::black_box(value.wrapping_mul(31).wrapping_add(round));
        }
        let after = process_cpu_ns(std::process::id()).unwrap();
        assert!(after > before, "{before} {after} {value}");
        assert_eq!(process_cpu_ns(0), None);
        assert_eq!(process_cpu_ns(u32::MAX), None);
        assert_eq!(process_cpu_ns(i32::MAX as u32), None);
    }
}
