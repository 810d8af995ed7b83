//! Proportional memory of a group, and the limit of descriptors. They are read seldom, because reading takes
//! milliseconds per process and holds a lock of the process.

use busyhour_series::Metric;

use crate::budget::Budget;
use crate::declared::DeclaredSeries;
use crate::fields::{fields, lines, number};
use crate::proc_root::{ProcRoot, read_bounded};
use crate::reading::Reading;

/// The largest number of processes whose memory is added up.
const PROCESSES_MAX: usize = 256;

static PSS: Metric = Metric::gauge(
    "process_proportional_memory_bytes",
    "Memory in RAM. Each process that shares memory counts an equal part of it, so that the sum is right.",
);
static SWAP: Metric = Metric::gauge("process_swap_bytes", "Memory in swap space.");
static DESCRIPTORS_LIMIT: Metric =
    Metric::gauge("process_max_fds", "Limit of open file descriptors of the first process.");

#[derive(Debug)]
pub(super) struct MemoryPass {
    budget: Budget,
    pss: DeclaredSeries,
    swap: DeclaredSeries,
    descriptors_limit: DeclaredSeries,
}

impl Default for MemoryPass {
    fn default() -> MemoryPass {
        MemoryPass {
            budget: Budget::new(10_000_000_000, 2_000),
            pss: DeclaredSeries::new(&PSS),
            swap: DeclaredSeries::new(&SWAP),
            descriptors_limit: DeclaredSeries::new(&DESCRIPTORS_LIMIT),
        }
    }
}

impl MemoryPass {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>, root: &ProcRoot, pids: &[u32]) {
        let Some(found) = self.budget.run(reading.time(), || add_up(root, pids)) else { return };
        match found {
            Ok((pss, swap)) => {
                self.pss.set(reading, pss as f64 * 1024.0);
                self.swap.set(reading, swap as f64 * 1024.0);
            }
            Err(reason) => reading.unavailable(&PSS, &reason),
        }
        let limits = pids.first().map(|pid| read_bounded(&root.process(*pid, "limits"), 8192));
        if let Some(Ok(limits)) = limits
            && let Some(limit) = parse_descriptors_limit(&limits)
        {
            self.descriptors_limit.set(reading, limit as f64);
        }
    }
}

/// Proportional and swapped memory of the processes in KiB.
fn add_up(root: &ProcRoot, pids: &[u32]) -> Result<(u64, u64), String> {
    if pids.len() > PROCESSES_MAX {
        return Err(format!("the group has more than {PROCESSES_MAX} processes"));
    }
    let mut sum = (0, 0);
    let mut read = 0;
    for pid in pids {
        match read_bounded(&root.process(*pid, "smaps_rollup"), 8192) {
            Ok(bytes) => {
                // A process that has just ended has an empty file.
                if let Some((pss, swap)) = parse_rollup(&bytes) {
                    sum = (u64::saturating_add(sum.0, pss), u64::saturating_add(sum.1, swap));
                    read += 1;
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return Err(format!(
                    "no permission to read smaps_rollup of process {pid}: run as its user or as root"
                ));
            }
            Err(_) => {}
        }
    }
    if read == 0 {
        return Err(String::from("no process has a file smaps_rollup: needs Linux 4.14 or later"));
    }
    Ok(sum)
}

fn parse_rollup(bytes: &[u8]) -> Option<(u64, u64)> {
    let value = |name: &[u8]| lines(bytes).find_map(|line| number(fields(line.strip_prefix(name)?).next()?));
    Some((value(b"Pss:")?, value(b"Swap:").unwrap_or(0)))
}

/// The soft limit in `/proc/PID/limits`; `None` if it is unlimited.
fn parse_descriptors_limit(bytes: &[u8]) -> Option<u64> {
    lines(bytes).find_map(|line| number(fields(line.strip_prefix(b"Max open files")?).next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_parsed() {
        let rollup = b"55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss: 900 kB\nPss: 400 kB\nPss_Dirty: 1 kB\nSwap: 7 kB\nSwapPss: 3 kB\n";
        assert_eq!(parse_rollup(rollup), Some((400, 7)));
        assert_eq!(parse_rollup(b""), None);
        let limits = b"Limit Soft Hard Units\nMax processes 1 2 processes\nMax open files            1024                 524288               files\n";
        assert_eq!(parse_descriptors_limit(limits), Some(1024));
        assert_eq!(parse_descriptors_limit(b"Max open files unlimited unlimited files"), None);
    }
}
