//! How soon a core's thread has the CPU again when something wakes it.

/// The length of the turns asked for, in nanoseconds: the shortest that Linux grants.
const TURN_NS: u64 = 100_000;

/// Asks the kernel to give the calling thread short turns, and so an early one: since Linux 6.12 a thread that wakes up
/// interrupts one whose turns are longer, where it would otherwise wait until that one's turn is over, some milliseconds.
/// The share of the CPU stays what it was. On a machine with a core for every thread there is nobody to interrupt; where
/// the recorder's thread has to run on a generator's core, arrivals of an open load are not kept waiting by it.
///
/// Older kernels and other systems take no notice.
pub(crate) fn ask_for_short_turns() {
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
        // A thread under another policy has been given it by somebody who knows better.
        if got != 0 || attributes.policy != libc::SCHED_OTHER as u32 {
            return;
        }
        attributes.size = size;
        attributes.runtime = turn_ns;
        // SAFETY: the kernel only reads the struct, which says its own size. That it refuses is no harm: turns stay as long
        // as they were.
        let _ = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }
}
