//! How soon a core's thread has the CPU again when something wakes it.

/// The requested length of scheduling slices, in nanoseconds: the shortest that Linux grants.
const TURN_NS: u64 = 100_000;

/// Requests short scheduling slices for the calling thread, so that it runs early: since Linux 6.12 a thread that wakes up
/// preempts one with longer slices, instead of waiting some milliseconds until that slice is over.
/// Its share of the CPU does not change. With a core for every thread this has no effect; if
/// the recorder's thread has to run on a generator's core, it does not delay arrivals of an open load.
///
/// Older kernels and other systems ignore it.
pub(crate) fn request_short_turns() {
    #[cfg(target_os = "linux")]
    linux::set_turn(TURN_NS);
}

#[cfg(target_os = "linux")]
mod linux {
    /// `struct sched_attr` in its first version, of 48 bytes.
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
        // SAFETY: thread 0 is the calling one; the kernel writes at most `size` bytes into the struct, which is as large,
        // whose layout is the kernel's, and of which every pattern of bits is a value.
        let got = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size, 0) };
        // A thread with another policy was configured on purpose.
        if got != 0 || attributes.policy != libc::SCHED_OTHER as u32 {
            return;
        }
        attributes.size = size;
        attributes.runtime = turn_ns;
        // SAFETY: the kernel only reads the struct, which contains its own size. If the call fails, slices keep their
        // length.
        let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}
