//! Finds processes by their names.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::proc_root::{ProcRoot, read_bounded};
use crate::process_stat::ProcessList;

/// Bytes of a command line that are searched.
const COMMAND_LINE_MAX: usize = 1 << 16;

/// Ancestors of a process that are examined.
const ANCESTORS_MAX: usize = 64;

/// Processes whose command or command line contains a text, in the order of their IDs. A process is omitted if one of
/// its ancestors is found, because the ancestor is watched together with its descendants. Busyhour's own process and
/// its ancestors are never found, although their command lines may contain the text as well.
#[must_use]
pub fn find_processes(root: &ProcRoot, text: &str) -> Vec<u32> {
    let list = ProcessList::read(root).unwrap_or_default();
    let parents: FxHashMap<u32, u32> =
        list.entries.iter().map(|entry| (entry.pid, entry.stat.parent)).collect();
    let ancestors = |pid: u32| {
        std::iter::successors(parents.get(&pid), |pid| parents.get(pid)).copied().take(ANCESTORS_MAX)
    };
    let this = std::process::id();
    let own: FxHashSet<u32> = ancestors(this).chain([this]).collect();
    let matches = |pid: u32, command: &str| {
        let line = read_bounded(&root.process(pid, "cmdline"), COMMAND_LINE_MAX).unwrap_or_default();
        let line: Vec<u8> = line.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }).collect();
        command.contains(text) || memchr::memmem::find(&line, text.as_bytes()).is_some()
    };
    let found: FxHashSet<u32> = list
        .entries
        .iter()
        .filter(|entry| !own.contains(&entry.pid) && matches(entry.pid, &entry.command))
        .map(|entry| entry.pid)
        .collect();
    let mut first: Vec<u32> = found
        .iter()
        .copied()
        .filter(|pid| !ancestors(*pid).any(|ancestor| found.contains(&ancestor)))
        .collect();
    first.sort_unstable();
    first
}
