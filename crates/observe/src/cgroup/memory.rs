//! Memory of a cgroup, its limit, and the events of reaching it.

use busyhour_sample::Nanos;
use busyhour_series::{Mark, MarkKind, Metric};

use crate::declared::{DeclaredSeries, LabelledSeries};
use crate::fields::{fields, lines, number, split_once};
use crate::proc_root::KeptFile;
use crate::reading::Reading;

use super::locate::CgroupPath;

/// Larger values in `memory.limit_in_bytes` (version 1) mean "no limit": the kernel then reports nearly 2^63 bytes.
const UNLIMITED: u64 = 1 << 62;

static USAGE: Metric =
    Metric::gauge("container_memory_usage_bytes", "Memory, including cached contents of files.");
static WORKING_SET: Metric = Metric::gauge(
    "container_memory_working_set_bytes",
    "Memory without cached contents of files that were not used for some time.",
);
static ANONYMOUS: Metric = Metric::gauge("container_memory_rss", "Memory of programs, without files.");
static FILES: Metric = Metric::gauge("container_memory_cache", "Cached contents of files.");
static LIMIT: Metric = Metric::gauge("container_spec_memory_limit_bytes", "Limit of the memory.");
static EVENTS: [Metric; 1] = [Metric::counter(
    "busyhour_cgroup_memory_events_total",
    "Memory events: `high` soft limit reached, `max` limit reached, `oom` nothing could be freed, `oom_kill` process killed.",
)];

/// Events of version 2.
const EVENT_NAMES: [&[u8]; 4] = [b"high", b"max", b"oom", b"oom_kill"];

#[derive(Debug)]
pub(super) struct MemoryReader {
    usage: Option<KeptFile>,
    stat: Option<KeptFile>,
    limit: Option<KeptFile>,
    events: Option<KeptFile>,
    /// The file with the number of times that the limit was reached, in version 1.
    failures: Option<KeptFile>,
    /// Names in `memory.stat`: inactive files, anonymous memory, files.
    names: [&'static [u8]; 3],
    usage_series: DeclaredSeries,
    working_set_series: DeclaredSeries,
    anonymous_series: DeclaredSeries,
    files_series: DeclaredSeries,
    limit_series: DeclaredSeries,
    event_series: LabelledSeries,
    killed: Option<u64>,
    previous: Nanos,
}

impl MemoryReader {
    pub(super) fn new(path: &CgroupPath) -> MemoryReader {
        let is_unified = path.unified_file("memory.current").is_some();
        let file = |unified: &str, controller: &str| {
            let path = if is_unified {
                path.unified_file(unified)
            } else {
                path.controller_file("memory", controller)
            };
            path.map(|path| KeptFile::new(path, 1 << 16))
        };
        MemoryReader {
            usage: file("memory.current", "memory.usage_in_bytes"),
            stat: file("memory.stat", "memory.stat"),
            limit: file("memory.max", "memory.limit_in_bytes"),
            events: file("memory.events", "memory.oom_control"),
            failures: if is_unified { None } else { file("", "memory.failcnt") },
            names: if is_unified {
                [b"inactive_file", b"anon", b"file"]
            } else {
                // The rows `total_…` include descendants, as all rows of version 2 do.
                [b"total_inactive_file", b"total_rss", b"total_cache"]
            },
            usage_series: DeclaredSeries::new(&USAGE),
            working_set_series: DeclaredSeries::new(&WORKING_SET),
            anonymous_series: DeclaredSeries::new(&ANONYMOUS),
            files_series: DeclaredSeries::new(&FILES),
            limit_series: DeclaredSeries::new(&LIMIT),
            event_series: LabelledSeries::new(&EVENTS, "event", EVENT_NAMES.len()),
            killed: None,
            previous: Nanos(0),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let Some(usage) = self.usage.as_mut().map(KeptFile::read) else {
            let reason = "the memory controller is not enabled for this cgroup, or it is the root";
            return reading.unavailable(&USAGE, reason);
        };
        let usage = match usage.map(|bytes| fields(bytes).next().and_then(number)) {
            Ok(usage) => usage,
            Err(error) => return reading.unavailable(&USAGE, &format!("cannot read the memory: {error}")),
        };
        if let Some(usage) = usage {
            self.usage_series.set(reading, usage as f64);
        }
        if let Some(Ok(stat)) = self.stat.as_mut().map(KeptFile::read) {
            let mut found = [None; 3];
            for line in lines(stat) {
                if let Some((key, value)) = split_once(line, b' ')
                    && let Some(position) = self.names.iter().position(|name| *name == key)
                {
                    found[position] = number(value);
                }
            }
            let [inactive, anonymous, files] = found;
            let working_set = usage.zip(inactive).map(|(usage, inactive)| usage.saturating_sub(inactive));
            for (series, value) in [
                (&mut self.working_set_series, working_set),
                (&mut self.anonymous_series, anonymous),
                (&mut self.files_series, files),
            ] {
                if let Some(value) = value {
                    series.set(reading, value as f64);
                }
            }
        }
        // Without a limit, the file contains `max` (version 2) or a number beyond all memory (version 1).
        if let Some(Ok(limit)) = self.limit.as_mut().map(KeptFile::read)
            && let Some(limit) = fields(limit).next().and_then(number).filter(|limit| *limit < UNLIMITED)
        {
            self.limit_series.set(reading, limit as f64);
        }
        self.read_events(reading);
        self.previous = reading.time();
    }

    fn read_events(&mut self, reading: &mut Reading<'_>) {
        let mut killed = None;
        if let Some(Ok(events)) = self.events.as_mut().map(KeptFile::read) {
            for line in lines(events) {
                let Some((key, value)) = split_once(line, b' ') else { continue };
                let (true, Some(count)) = (EVENT_NAMES.contains(&key), number(value)) else { continue };
                if key == b"oom_kill" {
                    killed = Some(count);
                }
                set_event(&mut self.event_series, reading, key, count);
            }
        }
        if let Some(Ok(failures)) = self.failures.as_mut().map(KeptFile::read)
            && let Some(count) = fields(failures).next().and_then(number)
        {
            set_event(&mut self.event_series, reading, b"max", count);
        }
        if let (Some(before), Some(now)) = (self.killed, killed)
            && now > before
        {
            let text = format!("the kernel killed {} processes for lack of memory", now - before);
            reading.mark(Mark { kind: MarkKind::OutOfMemory, from: self.previous, to: reading.time(), text });
        }
        self.killed = killed.or(self.killed);
    }
}

fn set_event(series: &mut LabelledSeries, reading: &mut Reading<'_>, event: &[u8], count: u64) {
    if let Some(series) = series.of(reading, event) {
        let series = series[0];
        reading.set(series, count as f64);
    }
}
