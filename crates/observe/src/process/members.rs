//! The processes of a group: the watched process and its descendants.

use std::io;

use rustc_hash::FxHashMap;
use rustix::param::clock_ticks_per_second;

use crate::fields::{fields, lines, number};
use crate::proc_root::{KeptFile, ProcRoot};
use crate::process_stat::{ProcessList, ProcessStat, STAT_MAX, parse_stat};

use super::cpu_clock::process_cpu_ns;
use super::identity::Identity;

/// The largest number of processes of a group that are read; further ones are only counted.
const MEMBERS_MAX: usize = 2_000;

/// The number of processes whose files stay open.
const KEPT_MAX: usize = 32;

/// The number of processes whose list of children is compared at each reading.
const PARENTS_MAX: usize = 16;

/// The largest number of entries of a directory of descriptors that are counted, on kernels before 6.2.
const DESCRIPTORS_MAX: usize = 65_536;

/// Sums over a group. `None` is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct GroupTotals {
    pub(super) cpu_seconds: f64,
    pub(super) user_seconds: f64,
    pub(super) system_seconds: f64,
    pub(super) minor_faults: u64,
    pub(super) major_faults: u64,
    pub(super) threads: u64,
    pub(super) processes: u64,
    pub(super) rss_pages: u64,
    pub(super) descriptors: Option<u64>,
    /// Descriptors of the process that has the most, and therefore reaches its limit first.
    pub(super) descriptors_max: Option<u64>,
    pub(super) io: Option<IoTotals>,
    /// Why `io` is not known.
    pub(super) io_error: Option<io::ErrorKind>,
    /// Start of the first process in ticks since the start of the machine.
    pub(super) start: u64,
    /// Processes beyond the limit, which are not part of the sums.
    pub(super) omitted: usize,
}

/// Input and output of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IoTotals {
    /// Bytes that system calls read and wrote, from and to anything.
    pub(super) read: u64,
    pub(super) written: u64,
    /// Bytes read from and written to disks.
    pub(super) storage_read: u64,
    pub(super) storage_written: u64,
}

#[derive(Debug)]
struct Member {
    pid: u32,
    start: u64,
    stat: KeptFile,
    io: KeptFile,
    children: Option<KeptFile>,
    last_children: Vec<u8>,
}

impl Member {
    fn new(root: &ProcRoot, pid: u32, start: u64) -> Member {
        Member {
            pid,
            start,
            stat: KeptFile::new(root.process(pid, "stat"), STAT_MAX),
            io: KeptFile::new(root.process(pid, "io"), 4096),
            children: None,
            last_children: Vec::new(),
        }
    }

    /// The current figures; `None` if the process has ended, even if another process has its ID.
    fn stat(&mut self) -> Option<ProcessStat> {
        let (_, stat) = parse_stat(self.stat.read().ok()?)?;
        (stat.start == self.start).then_some(stat)
    }
}

#[derive(Debug)]
pub(super) struct Members {
    list: Vec<Member>,
    omitted: usize,
    is_live: bool,
    ticks_per_second: f64,
    io_error: Option<io::ErrorKind>,
}

impl Members {
    /// A group that begins with the process itself.
    pub(super) fn new(root: &ProcRoot, identity: &Identity) -> Members {
        Members {
            list: vec![Member::new(root, identity.pid, identity.start)],
            omitted: 0,
            is_live: root.is_live(),
            ticks_per_second: clock_ticks_per_second() as f64,
            io_error: None,
        }
    }

    /// Whether the watched process still exists and is not a zombie.
    pub(super) fn leader_is_alive(&mut self) -> bool {
        self.list.first_mut().and_then(Member::stat).is_some_and(|stat| {
            // The first thread may have ended before the others.
            !matches!(stat.state, b'Z' | b'X') || stat.threads > 1
        })
    }

    pub(super) fn pids(&self) -> Vec<u32> {
        self.list.iter().map(|member| member.pid).collect()
    }

    /// Whether one of the first processes has other children than before. Children of other threads than the first one are
    /// only found by [`Members::update`].
    pub(super) fn have_new_children(&mut self) -> bool {
        let mut have_new = false;
        for member in self.list.iter_mut().take(PARENTS_MAX) {
            let Some(file) = &mut member.children else { continue };
            match file.read() {
                Ok(children) if children != member.last_children => {
                    member.last_children = children.to_vec();
                    have_new = true;
                }
                Ok(_) => {}
                // Kernels without CONFIG_PROC_CHILDREN.
                Err(error) if error.kind() == io::ErrorKind::NotFound => member.children = None,
                Err(_) => {}
            }
        }
        have_new
    }

    /// Takes the members from a list of all processes.
    pub(super) fn update(&mut self, root: &ProcRoot, list: &ProcessList, pid: u32) {
        let mut known: FxHashMap<(u32, u64), Member> =
            self.list.drain(..).map(|member| ((member.pid, member.start), member)).collect();
        let found = list.with_descendants(pid);
        self.omitted = found.len().saturating_sub(MEMBERS_MAX);
        for entry in found.into_iter().take(MEMBERS_MAX) {
            let key = (entry.pid, entry.stat.start);
            let mut member =
                known.remove(&key).unwrap_or_else(|| Member::new(root, entry.pid, entry.stat.start));
            if self.list.len() < PARENTS_MAX && member.children.is_none() {
                let file = format!("task/{}/children", entry.pid);
                member.children = Some(KeptFile::new(root.process(entry.pid, &file), 1 << 16));
                // The list is current: only later changes matter.
                if let Some(Ok(children)) = member.children.as_mut().map(KeptFile::read) {
                    member.last_children = children.to_vec();
                }
            }
            self.list.push(member);
        }
    }

    /// Reads all members and adds them up. Members that have ended are omitted until the next update.
    pub(super) fn read(&mut self, root: &ProcRoot) -> GroupTotals {
        let mut totals =
            GroupTotals { omitted: self.omitted, io: Some(IoTotals::default()), ..GroupTotals::default() };
        let mut descriptors = Some((0, 0));
        let ticks = self.ticks_per_second;
        for number in 0..self.list.len() {
            let member = &mut self.list[number];
            let Some(stat) = member.stat() else { continue };
            let [user, system] =
                [stat.user, stat.system].map(|[own, waited]| (own as f64 / ticks, waited as f64 / ticks));
            totals.user_seconds += user.0 + user.1;
            totals.system_seconds += system.0 + system.1;
            // The clock belongs to any process that has this process ID. The start in `stat`, checked above, shows that
            // it is the member.
            let exact = self.is_live.then(|| process_cpu_ns(member.pid)).flatten().map(|ns| ns as f64 / 1e9);
            totals.cpu_seconds += exact.unwrap_or(user.0 + system.0) + user.1 + system.1;
            totals.minor_faults = add(totals.minor_faults, stat.minor_faults);
            totals.major_faults = add(totals.major_faults, stat.major_faults);
            totals.threads = add(totals.threads, [stat.threads]);
            totals.processes += 1;
            totals.rss_pages = add(totals.rss_pages, [stat.rss_pages]);
            if number == 0 {
                totals.start = stat.start;
            }
            let own = count_descriptors(root, member.pid);
            descriptors = descriptors.zip(own).map(|((sum, max), own)| (sum + own, u64::max(max, own)));
            if self.io_error.is_none() {
                totals.io = totals.io.zip(self.read_io(number)).map(|(sum, own)| sum.plus(own));
            }
            let member = &mut self.list[number];
            if number >= KEPT_MAX {
                member.stat.close();
                member.io.close();
            }
        }
        totals.io_error = self.io_error;
        totals.io = totals.io.filter(|_| self.io_error.is_none());
        (totals.descriptors, totals.descriptors_max) = descriptors.unzip();
        totals
    }

    /// Input and output of a member. If the file or the permission is missing, this is remembered, because it will not change.
    fn read_io(&mut self, number: usize) -> Option<IoTotals> {
        match self.list[number].io.read() {
            Ok(bytes) => parse_io(bytes),
            Err(error) => {
                let kind = error.kind();
                let lasts =
                    kind == io::ErrorKind::PermissionDenied || kind == io::ErrorKind::NotFound && number == 0;
                self.io_error = lasts.then_some(kind);
                None
            }
        }
    }
}

/// A sum that stops at the largest number instead of overflowing: files may contain anything.
fn add<const N: usize>(sum: u64, values: [u64; N]) -> u64 {
    values.into_iter().fold(sum, u64::saturating_add)
}

impl IoTotals {
    fn plus(self, other: IoTotals) -> IoTotals {
        IoTotals {
            read: add(self.read, [other.read]),
            written: add(self.written, [other.written]),
            storage_read: add(self.storage_read, [other.storage_read]),
            storage_written: add(self.storage_written, [other.storage_written]),
        }
    }
}

/// Parses `/proc/PID/io`.
fn parse_io(bytes: &[u8]) -> Option<IoTotals> {
    let value = |name: &[u8]| lines(bytes).find_map(|line| number(fields(line.strip_prefix(name)?).next()?));
    Some(IoTotals {
        read: value(b"rchar:")?,
        written: value(b"wchar:")?,
        storage_read: value(b"read_bytes:")?,
        storage_written: value(b"write_bytes:")?,
    })
}

/// Open descriptors of a process; `None` without permission.
fn count_descriptors(root: &ProcRoot, pid: u32) -> Option<u64> {
    let directory = root.process(pid, "fd");
    if root.is_live() {
        // From Linux 6.2, the size of the directory is the number of descriptors.
        let size = std::fs::metadata(&directory).ok()?.len();
        if size > 0 {
            return Some(size);
        }
    }
    Some(std::fs::read_dir(directory).ok()?.take(DESCRIPTORS_MAX).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn io_is_parsed_or_unknown() {
        let text = b"rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 30\nwrite_bytes: 40\ncancelled_write_bytes: 5\n";
        let expected = IoTotals { read: 10, written: 20, storage_read: 30, storage_written: 40 };
        assert_eq!(parse_io(text), Some(expected));
        assert_eq!(parse_io(b"rchar: 10\nwchar: x\n"), None);
        assert_eq!(parse_io(b""), None);
    }

    #[test]
    fn descriptors_of_this_process_are_counted() {
        let own = std::process::id();
        let before = count_descriptors(&ProcRoot::live(), own).unwrap();
        let _files: Vec<_> = (0..50).map(|_| std::fs::File::open("/dev/null").unwrap()).collect();
        let after = count_descriptors(&ProcRoot::live(), own).unwrap();
        // Other tests open and close files at the same time.
        assert!(after >= before + 30, "{before} {after}");
    }
}
