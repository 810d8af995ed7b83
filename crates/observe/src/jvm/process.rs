//! Facts from `/proc` about the process of a JVM.

use std::io;
use std::path::PathBuf;

use crate::proc_root::ProcRoot;
use crate::process_stat::parse_stat;

/// `status` of a process is about 1.5 KiB long.
const STATUS_BYTES_MAX: usize = 16 << 10;
const CMDLINE_BYTES_MAX: usize = 128 << 10;
/// The file `maps` of a JVM with thousands of threads has about a megabyte, often with the libraries near the end.
const MAPS_BYTES_MAX: usize = 16 << 20;

/// Bit of SIGQUIT (3) in the masks of `status`.
const SIGQUIT_BIT: u64 = 1 << 2;

/// Why a process cannot be examined.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// There is no such process.
    #[error("there is no process {pid}")]
    Missing {
        /// The process ID.
        pid: u32,
    },
    /// The process belongs to another user.
    #[error("there is no permission to examine process {pid}; run as its user or as root")]
    Denied {
        /// The process ID.
        pid: u32,
    },
    /// A file of the process cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file of the process is not in the expected format.
    #[error("{} is not in the expected format", path.display())]
    Format {
        /// The file.
        path: PathBuf,
    },
}

impl ProcessError {
    pub(super) fn new(pid: u32, path: PathBuf, source: io::Error) -> ProcessError {
        // ESRCH: the process ended while the file was open.
        const ESRCH: i32 = 3;
        match source.kind() {
            io::ErrorKind::NotFound => ProcessError::Missing { pid },
            _ if source.raw_os_error() == Some(ESRCH) => ProcessError::Missing { pid },
            io::ErrorKind::PermissionDenied => ProcessError::Denied { pid },
            _ => ProcessError::Read { path, source },
        }
    }
}

/// Facts from `/proc/PID/status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessFacts {
    pub(super) pid: u32,
    /// Its process ID in its own process namespace, the innermost one.
    pub(super) inner_pid: u32,
    pub(super) effective_uid: u32,
    pub(super) effective_gid: u32,
    /// Whether it handles SIGQUIT. The signal ends processes that do not handle it.
    pub(super) catches_quit: bool,
}

impl ProcessFacts {
    pub(super) fn read(root: &ProcRoot, pid: u32) -> Result<ProcessFacts, ProcessError> {
        let path = root.process(pid, "status");
        let bytes = root
            .read(format!("/proc/{pid}/status"), STATUS_BYTES_MAX)
            .map_err(|error| ProcessError::new(pid, path.clone(), error))?;
        ProcessFacts::parse(pid, &String::from_utf8_lossy(&bytes)).ok_or(ProcessError::Format { path })
    }

    fn parse(pid: u32, status: &str) -> Option<ProcessFacts> {
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let effective = |name| line(name)?.split_whitespace().nth(1)?.parse().ok();
        Some(ProcessFacts {
            pid,
            // Kernels before 4.1 do not have the line.
            inner_pid: match line("NSpid") {
                Some(numbers) => numbers.split_whitespace().next_back()?.parse().ok()?,
                None => pid,
            },
            effective_uid: effective("Uid")?,
            effective_gid: effective("Gid")?,
            catches_quit: u64::from_str_radix(line("SigCgt")?.trim(), 16).ok()? & SIGQUIT_BIT != 0,
        })
    }
}

/// The start of a process in clock ticks since boot, from the text of its `/proc/PID/stat`. The start distinguishes the process from
/// later ones with the same process ID. `None` if the process is a zombie or the text has another format.
pub(super) fn start_ticks(stat: &[u8]) -> Option<u64> {
    let (_, stat) = parse_stat(stat)?;
    (!matches!(stat.state, b'Z' | b'X')).then_some(stat.start)
}

/// The virtual machine in the memory of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LoadedVm {
    /// `libjvm.so` of HotSpot.
    HotSpot,
    /// Eclipse OpenJ9, whose `libjvm.so` is only an adapter.
    OpenJ9,
    None,
}

impl LoadedVm {
    pub(super) fn of(root: &ProcRoot, pid: u32) -> Result<LoadedVm, ProcessError> {
        let maps = root
            .read(format!("/proc/{pid}/maps"), MAPS_BYTES_MAX)
            .map_err(|error| ProcessError::new(pid, root.process(pid, "maps"), error))?;
        Ok(LoadedVm::in_maps(&maps))
    }

    fn in_maps(maps: &[u8]) -> LoadedVm {
        let mut found = LoadedVm::None;
        for line in maps.split(|byte| *byte == b'\n') {
            // The path of a library that was replaced on disk is followed by " (deleted)".
            let path = line.strip_suffix(b" (deleted)").unwrap_or(line);
            let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            if file.starts_with(b"libj9vm") {
                return LoadedVm::OpenJ9;
            }
            if file == b"libjvm.so" {
                found = LoadedVm::HotSpot;
            }
        }
        found
    }
}

/// Whether the command line of a process contains an option, such as `-XX:-UsePerfData`. Options from the environment
/// or from files of arguments are not recognized.
pub(super) fn has_option(root: &ProcRoot, pid: u32, option: &str) -> bool {
    let cmdline = root.read(format!("/proc/{pid}/cmdline"), CMDLINE_BYTES_MAX).unwrap_or_default();
    cmdline.split(|byte| *byte == 0).any(|argument| argument == option.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_of_a_process_in_a_container() {
        let status = "Name:\tjava\nUmask:\t0022\nPid:\t4711\nUid:\t0\t1000\t0\t1000\nGid:\t5\t6\t7\t8\nNSpid:\t4711\t12\t1\n\
                      SigCgt:\t2000000181005ccf\n";
        let facts = ProcessFacts::parse(4711, status);
        let expected = ProcessFacts {
            pid: 4711,
            inner_pid: 1,
            effective_uid: 1000,
            effective_gid: 6,
            catches_quit: true,
        };
        assert_eq!(facts, Some(expected));
        let ignoring = status.replace("5ccf", "5ccb").replace("NSpid", "Other");
        let facts = ProcessFacts::parse(4711, &ignoring).unwrap();
        assert!(!facts.catches_quit);
        assert_eq!(facts.inner_pid, 4711);
        assert_eq!(ProcessFacts::parse(1, "Uid:\t0\n"), None);
    }

    #[test]
    fn start_of_a_process_with_an_unusual_name() {
        let stat = |state: &str| {
            format!("7 (a) b (x)) {state} 1 7 7 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 30 0 987654 1 2 3")
        };
        assert_eq!(start_ticks(stat("S").as_bytes()), Some(987_654));
        assert_eq!(start_ticks(stat("Z").as_bytes()), None);
        assert_eq!(start_ticks(b"7 (java) S 1"), None);
        assert_eq!(start_ticks(b""), None);
    }

    #[test]
    fn virtual_machines_are_recognised_by_their_libraries() {
        let hotspot =
            b"7f00-7f01 r-xp 0 08:01 1 /usr/lib/jvm/lib/server/libjvm.so\n7f02-7f03 rw-p 0 00:00 0 \n";
        assert_eq!(LoadedVm::in_maps(hotspot), LoadedVm::HotSpot);
        let openj9 = [hotspot.as_slice(), b"7f05-7f06 r-xp 0 08:01 2 /opt/j9/libj9vm29.so\n"].concat();
        assert_eq!(LoadedVm::in_maps(&openj9), LoadedVm::OpenJ9);
        assert_eq!(
            LoadedVm::in_maps(b"7f00-7f01 r-xp 0 08:01 1 /jvm/libjvm.so (deleted)\n"),
            LoadedVm::HotSpot
        );
        assert_eq!(LoadedVm::in_maps(b"7f00-7f01 r-xp 0 08:01 1 /usr/lib/libc.so.6\n"), LoadedVm::None);
    }
}
