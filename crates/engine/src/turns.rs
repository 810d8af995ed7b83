//! Reduces the time until a core's thread gets the CPU when it is woken.

/// The requested length of scheduling slices, in nanoseconds: the shortest that Linux grants.
const TURN_NS: u64 = 100_000;

/// Requests short scheduling slices for the calling thread, so that it gets the CPU early. Since Linux 6.12, a thread
/// that wakes up preempts a thread with longer slices. Otherwise it would wait some milliseconds for the end of the
/// other slice. Its share of the CPU does not change. If each thread has a CPU core of its own, this has no effect. If
/// the recorder's thread has to run on the same CPU core as a generator's thread, it does not delay the arrivals of an
/// open workload.
///
/// Older kernels and other systems ignore the request.
pub(crate) fn request_short_slices() {
    #[cfg(target_os = "linux")]
    linux::set_turn(TURN_NS);
}

#[cfg(target_os = "linux")]
mod linux {
    /// `struct sched_attr` in its first version, with 48 bytes.
    #[repr(C)]
    #[derive(Default)]
    struct SchedAttr {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }

    pub(super) fn set_turn(turn_ns: u64) {
        let size = size_of::<SchedAttr>() as u32;
        let mut attributes = SchedAttr::default();
        // SAFETY: 0 means the calling thread. The kernel writes at most `size` bytes into the struct, which has this size and
        // the layout that the kernel expects, and for which every bit pattern is valid.
        let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
        // If the thread has another policy, it was configured on purpose and is not changed.
        if got != 0 || attributes.policy != libc::SCHED_OTHER as u32 {
            return;
        }
        attributes.size = size;
        attributes.runtime = turn_ns;
        // SAFETY: the kernel only reads the struct, which contains its own size. If the call fails, the length of slices does
        // not change.
        let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}
