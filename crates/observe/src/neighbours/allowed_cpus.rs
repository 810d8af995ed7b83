//! The CPUs that a process may use.

use crate::fields::lines;
use crate::proc_root::{ProcRoot, read_bounded};

/// Ranges of CPU numbers, such as `0-3,8`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AllowedCpus(Vec<(u32, u32)>);

/// Ranges that are read.
const RANGES_MAX: usize = 1_024;

impl AllowedCpus {
    /// The CPUs of the first thread of a process; `None` if they are unknown.
    pub(super) fn of_process(root: &ProcRoot, pid: u32) -> Option<AllowedCpus> {
        let bytes = read_bounded(&root.process(pid, "status"), 1 << 16).ok()?;
        let list = lines(&bytes).find_map(|line| line.strip_prefix(b"Cpus_allowed_list:"))?;
        AllowedCpus::parse(std::str::from_utf8(list).ok()?.trim())
    }

    fn parse(list: &str) -> Option<AllowedCpus> {
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            Some((first.parse().ok()?, last.parse().ok()?)).filter(|(first, last): &(u32, u32)| first <= last)
        };
        let ranges: Option<Vec<(u32, u32)>> = list.split(',').take(RANGES_MAX).map(range).collect();
        ranges.map(AllowedCpus)
    }

    /// The number of CPUs.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|(first, last)| u64::from(last - first) + 1).sum()
    }

    /// Whether one of the CPUs is in both.
    pub(super) fn overlaps(&self, other: &AllowedCpus) -> bool {
        self.0.iter().any(|(first, last)| other.0.iter().any(|(from, to)| first <= to && from <= last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_parsed_and_compared() {
        let list = AllowedCpus::parse("0-3,8,10-11").unwrap();
        assert_eq!(list.count(), 7);
        assert!(list.overlaps(&AllowedCpus::parse("8").unwrap()));
        assert!(!list.overlaps(&AllowedCpus::parse("4-7,9").unwrap()));
        assert_eq!(AllowedCpus::parse("3-1"), None);
        assert_eq!(AllowedCpus::parse(""), None);
    }
}
