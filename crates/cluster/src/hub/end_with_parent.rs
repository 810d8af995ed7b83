//! Ends a child process together with the thread that started it.

use std::process::Command;

/// Ends the server if this process ends without ending it, for example because it was killed.
#[cfg(target_os = "linux")]
pub(super) fn end_with_parent(command: &mut Command) {
    use rustix::process::{Signal, set_parent_process_death_signal};
    // SAFETY: between fork and exec, the closure makes one system call and allocates nothing.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(command, || {
            set_parent_process_death_signal(Some(Signal::TERM)).map_err(std::io::Error::from)
        });
    }
}

/// Other systems have no such signal.
#[cfg(not(target_os = "linux"))]
pub(super) fn end_with_parent(_: &mut Command) {}
