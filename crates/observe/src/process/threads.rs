//! Times and context switches of the threads of a group. Files of the process only describe its first thread.

use std::fs::read_dir;

use busyhour_series::Metric;

use crate::budget::Budget;
use crate::declared::{DeclaredSeries, LabelledSeries};
use crate::fields::{fields, lines, number, numbers};
use crate::proc_root::{ProcRoot, read_bounded};
use crate::reading::Reading;

use super::rebased::IncreaseSum;

/// The largest number of threads of a group that are read.
const THREADS_MAX: usize = 10_000;

static RUN_QUEUE: Metric = Metric::counter(
    "process_run_queue_wait_seconds_total",
    "Time in which threads were ready to run and waited for a CPU.",
);
static SWITCHES: [Metric; 1] = [Metric::counter(
    "process_context_switches_total",
    "Context switches: `voluntary` to wait for something, `involuntary` to make room for others.",
)];

#[derive(Debug)]
pub(super) struct ThreadPass {
    times_budget: Budget,
    times: IncreaseSum<u32, 1>,
    run_queue: DeclaredSeries,
    switches_budget: Budget,
    switch_sums: IncreaseSum<u32, 2>,
    switches: LabelledSeries,
}

impl Default for ThreadPass {
    fn default() -> ThreadPass {
        ThreadPass {
            times_budget: Budget::new(0, 2_000),
            times: IncreaseSum::default(),
            run_queue: DeclaredSeries::new(&RUN_QUEUE),
            switches_budget: Budget::new(2_000_000_000, 2_000),
            switch_sums: IncreaseSum::default(),
            switches: LabelledSeries::new(&SWITCHES, "kind", 2),
        }
    }
}

impl ThreadPass {
    pub(super) fn read(&mut self, reading: &mut Reading<'_>, root: &ProcRoot, pids: &[u32]) {
        let times = &mut self.times;
        let waited = self.times_budget.run(reading.time(), || {
            for_each_thread(root, pids, "schedstat", |tid, bytes| {
                if let Some([_, waited_ns, _]) = numbers::<3>(bytes) {
                    times.add(tid, [waited_ns]);
                }
            })
            .map(|()| times.end_round())
        });
        match waited {
            Some(Some([waited_ns])) => self.run_queue.set(reading, waited_ns as f64 / 1e9),
            Some(None) => reading.unavailable(
                &RUN_QUEUE,
                "no thread has a file schedstat: the kernel was built without CONFIG_SCHED_INFO",
            ),
            None => {}
        }
        let sums = &mut self.switch_sums;
        let switches = self.switches_budget.run(reading.time(), || {
            for_each_thread(root, pids, "status", |tid, bytes| {
                if let Some(switches) = parse_switches(bytes) {
                    sums.add(tid, switches);
                }
            })
            .map(|()| sums.end_round())
        });
        if let Some(Some(totals)) = switches {
            for (kind, total) in [&b"voluntary"[..], b"involuntary"].into_iter().zip(totals) {
                if let Some(series) = self.switches.of(reading, kind) {
                    let series = series[0];
                    reading.set(series, total as f64);
                }
            }
        }
    }
}

/// Reads a file of each thread; `None` if no thread has it.
fn for_each_thread(
    root: &ProcRoot,
    pids: &[u32],
    file: &str,
    mut found: impl FnMut(u32, &[u8]),
) -> Option<()> {
    let mut left = THREADS_MAX;
    let mut any = None;
    for pid in pids {
        let Ok(tasks) = read_dir(root.process(*pid, "task")) else { continue };
        for task in tasks.flatten() {
            let Some(tid) = task.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            if left == 0 {
                return any;
            }
            left -= 1;
            if let Ok(bytes) = read_bounded(&task.path().join(file), 8192) {
                any = Some(());
                found(tid, &bytes);
            }
        }
    }
    any
}

/// Voluntary and involuntary switches in `/proc/PID/task/TID/status`.
fn parse_switches(bytes: &[u8]) -> Option<[u64; 2]> {
    let value = |name: &[u8]| lines(bytes).find_map(|line| number(fields(line.strip_prefix(name)?).next()?));
    Some([value(b"voluntary_ctxt_switches:")?, value(b"nonvoluntary_ctxt_switches:")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_parsed_or_unknown() {
        let text = b"Name:\tx\nvoluntary_ctxt_switches:\t375\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(parse_switches(text), Some([375, 3]));
        assert_eq!(parse_switches(b"voluntary_ctxt_switches:\t375\n"), None);
    }
}
