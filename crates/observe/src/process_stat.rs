//! `/proc/PID/stat`, and the list of all processes.

use std::io;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::fields::{fields, number, text};
use crate::proc_root::{ProcRoot, read_bounded};

/// Longest line that is read.
pub(crate) const STAT_MAX: usize = 4096;

/// The largest number of processes that are listed.
pub(crate) const PROCESSES_MAX: usize = 10_000;

/// The fields of `/proc/PID/stat` that are used. Times are in ticks (1/100 s on nearly all machines).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessStat {
    pub(crate) state: u8,
    pub(crate) parent: u32,
    /// Minor page faults: those of the process, and those of the children that it has waited for.
    pub(crate) minor_faults: [u64; 2],
    /// Major page faults, in the same way.
    pub(crate) major_faults: [u64; 2],
    /// User time, in the same way.
    pub(crate) user: [u64; 2],
    /// System time, in the same way.
    pub(crate) system: [u64; 2],
    pub(crate) threads: u64,
    /// Ticks since the start of the machine. Together with the process ID, they identify a process.
    pub(crate) start: u64,
    pub(crate) rss_pages: u64,
}

/// Parses a line; the name of the command may contain any bytes, also parentheses and line ends.
pub(crate) fn parse_stat(bytes: &[u8]) -> Option<(&[u8], ProcessStat)> {
    let open = bytes.iter().position(|byte| *byte == b'(')?;
    let close = bytes.iter().rposition(|byte| *byte == b')')?;
    let command = bytes.get(open + 1..close)?;
    // Fields 3 to 24 of the manual.
    let mut all = [&b""[..]; 22];
    let mut fields = fields(&bytes[close + 1..]);
    for field in &mut all {
        *field = fields.next()?;
    }
    let value = |field: usize| number(all[field - 3]);
    let stat = ProcessStat {
        state: *all[0].first()?,
        parent: u32::try_from(value(4)?).ok()?,
        minor_faults: [value(10)?, value(11)?],
        major_faults: [value(12)?, value(13)?],
        user: [value(14)?, value(16)?],
        system: [value(15)?, value(17)?],
        threads: value(20)?,
        start: value(22)?,
        rss_pages: value(24)?,
    };
    Some((command, stat))
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) pid: u32,
    pub(crate) command: Box<str>,
    pub(crate) stat: ProcessStat,
}

/// All processes, at most [`PROCESSES_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProcessList {
    pub(crate) entries: Vec<ProcessEntry>,
    /// Whether there were more.
    pub(crate) is_truncated: bool,
}

impl ProcessList {
    /// Reads all processes. Those that end meanwhile are omitted.
    pub(crate) fn read(root: &ProcRoot) -> io::Result<ProcessList> {
        let mut pids = root.pids(PROCESSES_MAX + 1)?;
        let is_truncated = pids.len() > PROCESSES_MAX;
        pids.truncate(PROCESSES_MAX);
        let entries = pids.into_iter().filter_map(|pid| read_process(root, pid)).collect();
        Ok(ProcessList { entries, is_truncated })
    }

    /// The process with this ID.
    pub(crate) fn get(&self, pid: u32) -> Option<&ProcessEntry> {
        self.entries.iter().find(|entry| entry.pid == pid)
    }

    /// The process, if it exists, and all its descendants, parents before children. Takes linear time.
    pub(crate) fn with_descendants(&self, pid: u32) -> Vec<&ProcessEntry> {
        let mut children: FxHashMap<u32, Vec<&ProcessEntry>> = FxHashMap::default();
        for entry in &self.entries {
            children.entry(entry.stat.parent).or_default().push(entry);
        }
        let mut found: Vec<&ProcessEntry> = self.get(pid).into_iter().collect();
        // While the list is read, a process may end and its ID may be reused, so parents could form a circle.
        let mut seen: FxHashSet<u32> = found.iter().map(|entry| entry.pid).collect();
        let mut next = 0;
        while let Some(entry) = found.get(next) {
            next += 1;
            let of_entry = children.remove(&entry.pid).unwrap_or_default();
            found.extend(of_entry.into_iter().filter(|child| seen.insert(child.pid)));
        }
        found
    }
}

/// Reads one process; `None` if it does not exist.
pub(crate) fn read_process(root: &ProcRoot, pid: u32) -> Option<ProcessEntry> {
    let bytes = read_bounded(&root.process(pid, "stat"), STAT_MAX).ok()?;
    let (command, stat) = parse_stat(&bytes)?;
    Some(ProcessEntry { pid, command: text(command).into(), stat })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "4711 (a) b (c\n) S 1 4711 4711 0 -1 4194560 100 200 3 4 50 60 7 8 20 0 9 0 12345 1000000 250 18446744073709551615 1";

    #[test]
    fn names_may_contain_anything() {
        let (command, stat) = parse_stat(LINE.as_bytes()).unwrap();
        assert_eq!(command, b"a) b (c\n");
        let expected = ProcessStat {
            state: b'S',
            parent: 1,
            minor_faults: [100, 200],
            major_faults: [3, 4],
            user: [50, 7],
            system: [60, 8],
            threads: 9,
            start: 12345,
            rss_pages: 250,
        };
        assert_eq!(stat, expected);
    }

    #[test]
    fn damaged_lines_are_refused() {
        for end in 0..LINE.rfind(" 250").unwrap() {
            assert_eq!(parse_stat(&LINE.as_bytes()[..end]), None, "cut at {end}");
        }
        assert_eq!(parse_stat(b") 1 ("), None);
        assert_eq!(parse_stat(LINE.replace("12345", "x").as_bytes()), None);
    }

    fn entry(pid: u32, parent: u32) -> ProcessEntry {
        ProcessEntry { pid, command: "x".into(), stat: ProcessStat { parent, ..ProcessStat::default() } }
    }

    #[test]
    fn descendants_are_found_in_linear_time_also_in_circles() {
        let list = |entries| ProcessList { entries, is_truncated: false };
        let pids = |list: &ProcessList, pid| -> Vec<u32> {
            list.with_descendants(pid).iter().map(|entry| entry.pid).collect()
        };
        let tree = list(vec![entry(1, 0), entry(5, 2), entry(2, 1), entry(3, 1), entry(4, 2), entry(9, 8)]);
        assert_eq!(pids(&tree, 2), [2, 5, 4]);
        assert!(pids(&tree, 7).is_empty());
        let circle = list(vec![entry(1, 3), entry(2, 1), entry(3, 2), entry(4, 4)]);
        assert_eq!(pids(&circle, 1), [1, 2, 3]);
        assert_eq!(pids(&circle, 4), [4]);
        let chain = list((1..=10_000).map(|pid| entry(pid, pid - 1)).collect());
        assert_eq!(pids(&chain, 1).len(), 10_000);
        let wide = list((1..=10_000).map(|pid| entry(pid, u32::from(pid > 1))).collect());
        assert_eq!(pids(&wide, 1).len(), 10_000);
    }
}
