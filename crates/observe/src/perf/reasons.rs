//! Reasons why an event cannot be counted, with advice.

use std::io;

/// The reason for an error of `perf_event_open`. `paranoid` is the value of `kernel.perf_event_paranoid`, if it is known.
pub(super) fn reason(error: &io::Error, paranoid: Option<i32>, is_cgroup: bool) -> String {
    let needed = if is_cgroup { 0 } else { 2 };
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP) => {
            "this processor or virtual machine does not provide the counter".to_owned()
        }
        Some(libc::EACCES | libc::EPERM) => match paranoid {
            Some(paranoid) if paranoid > needed => format!(
                "not permitted: kernel.perf_event_paranoid is {paranoid}; set it to at most {needed}, or run with CAP_PERFMON or as root"
            ),
            Some(paranoid) => format!(
                "not permitted, although kernel.perf_event_paranoid is {paranoid}: the process belongs to another user, or \
                 seccomp or a container forbids perf_event_open"
            ),
            None => "not permitted: perf_event_open needs CAP_PERFMON or root".to_owned(),
        },
        Some(libc::EMFILE | libc::ENFILE) => {
            "too many open files: each thread needs one per event; raise `ulimit -n`".to_owned()
        }
        Some(libc::ENOSYS) => "this kernel has no perf_event_open".to_owned(),
        Some(libc::EBUSY) => "another program uses the counter exclusively".to_owned(),
        _ => format!("perf_event_open: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_contain_advice() {
        let of =
            |errno, paranoid, is_cgroup| reason(&io::Error::from_raw_os_error(errno), paranoid, is_cgroup);
        for (text, expected) in [
            (
                of(libc::ENOENT, Some(2), false),
                "this processor or virtual machine does not provide the counter",
            ),
            (of(libc::EACCES, Some(4), false), "kernel.perf_event_paranoid is 4; set it to at most 2, "),
            (of(libc::EACCES, Some(1), true), "kernel.perf_event_paranoid is 1; set it to at most 0, "),
            (
                of(libc::EPERM, Some(-1), false),
                "although kernel.perf_event_paranoid is -1: the process belongs",
            ),
            (of(libc::EPERM, None, false), "needs CAP_PERFMON or root"),
            (of(libc::EMFILE, None, false), "raise `ulimit -n`"),
            (of(libc::EIO, None, false), "perf_event_open: "),
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }
}
