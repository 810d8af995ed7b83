//! The probe of performance counters.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use perf_event::{Builder, Counter};

use super::counters::{Counters, Increase};
use super::events::{COUNTED, CPI, EVENTS, EventKind, MPKI, PerfEvent};
use super::reasons::reason;
use crate::probe::{Probe, ProbeError};
use crate::proc_root::ProcRoot;
use crate::process_stat::read_process;
use crate::reading::Reading;
use crate::series_id::SeriesId;

/// The largest number of threads of a process that are counted: each needs a file descriptor per event.
const TASKS_MAX: usize = 4_096;

/// The largest number of cores on which a cgroup is counted.
const CORES_MAX: usize = 1_024;

/// The processes whose events are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerfTarget {
    /// All threads of the process with this ID that exist when counting begins, and all threads and processes that they
    /// start later.
    Process(u32),
    /// All processes of the cgroup (version 2) in this directory, such as `/sys/fs/cgroup/system.slice/shop.service`. Needs
    /// permission to count whole cores.
    Cgroup(PathBuf),
}

/// Records performance counters of a process or a cgroup.
///
/// Counting begins with the first reading, at which a counter is opened for each thread, or for each core if the target is a cgroup.
/// The totals start at 0 then. Events in the kernel are included if that is permitted; the label `scope` is `all` or `user`.
/// An event that cannot be counted is unavailable, with the reason. If there are more events than the processor can count at once,
/// the kernel multiplexes them. Counts are then scaled up, and the share of time in which the event was counted is recorded, too.
#[derive(Debug)]
pub struct PerfProbe {
    source: String,
    target: PerfTarget,
    root: ProcRoot,
    /// Start of the process in clock ticks since boot, to notice that its process ID was reused.
    started: Option<u64>,
    sets: Option<Vec<EventSet>>,
    derived: Option<(SeriesId, SeriesId)>,
}

/// The counters of one event.
#[derive(Debug)]
struct EventSet {
    kind: &'static EventKind,
    counters: Counters,
    total: f64,
    scope: &'static str,
    series: Option<(SeriesId, SeriesId)>,
}

/// The task or the core for which counters are opened.
enum Place<'f> {
    Task(i32),
    Core(&'f File, usize),
}

impl PerfProbe {
    /// A probe of this target.
    #[must_use]
    pub fn new(target: PerfTarget) -> Self {
        let source = match &target {
            PerfTarget::Process(pid) => format!("perf:{pid}"),
            PerfTarget::Cgroup(path) => format!("perf:{}", path.display()),
        };
        Self { source, target, root: ProcRoot::live(), started: None, sets: None, derived: None }
    }

    fn open(&mut self, reading: &mut Reading<'_>) -> Result<Vec<EventSet>, ProbeError> {
        let directory;
        let places: Vec<Place<'_>> = match &self.target {
            PerfTarget::Process(pid) => {
                self.started = start_time(&self.root, *pid);
                tasks(&self.root, *pid)?.into_iter().map(Place::Task).collect()
            }
            PerfTarget::Cgroup(path) => {
                directory = File::open(path).map_err(|error| ProbeError::read(path, error))?;
                cores(&self.root)?.into_iter().map(|core| Place::Core(&directory, core)).collect()
            }
        };
        let paranoid = self.root.read_text("/proc/sys/kernel/perf_event_paranoid").ok();
        let paranoid = paranoid.and_then(|text| text.parse().ok());
        let is_cgroup = matches!(self.target, PerfTarget::Cgroup(_));
        let mut sets = Vec::new();
        for kind in &EVENTS {
            match open_event(kind, &places) {
                Ok(Some((counters, scope))) => {
                    sets.push(EventSet { kind, counters, total: 0.0, scope, series: None });
                }
                Ok(None) => reading.unavailable(
                    &kind.metric,
                    "not permitted: the event happens in the kernel; set kernel.perf_event_paranoid to at most 1, or run as root",
                ),
                Err(error) => reading.unavailable(&kind.metric, &reason(&error, paranoid, is_cgroup)),
            }
        }
        let has = |event| sets.iter().any(|set: &EventSet| set.kind.event == event);
        if !(has(PerfEvent::Cycles) && has(PerfEvent::Instructions)) {
            reading.unavailable(&CPI, "needs the counters of cycles and instructions");
        }
        if !(has(PerfEvent::CacheMisses) && has(PerfEvent::Instructions)) {
            reading.unavailable(&MPKI, "needs the counters of cache misses and instructions");
        }
        Ok(sets)
    }

    /// Whether the process still exists.
    fn check_alive(&self) -> Result<(), ProbeError> {
        match self.target {
            PerfTarget::Process(pid) if start_time(&self.root, pid) != self.started => {
                Err(ProbeError::Ended { what: format!("process {pid}") })
            }
            _ => Ok(()),
        }
    }
}

impl Probe for PerfProbe {
    fn source(&self) -> &str {
        &self.source
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let mut sets = match self.sets.take() {
            Some(sets) => sets,
            None => self.open(reading)?,
        };
        let (mut cycles, mut instructions, mut misses) = (None, None, None);
        for set in &mut sets {
            let increase = set.counters.increase();
            record(reading, set, increase);
            match set.kind.event {
                PerfEvent::Cycles => cycles = increase.count,
                PerfEvent::Instructions => instructions = increase.count,
                PerfEvent::CacheMisses => misses = increase.count,
                _ => {}
            }
        }
        self.sets = Some(sets);
        if let Some(instructions) = instructions.filter(|instructions| *instructions > 0.0) {
            let (cpi, mpki) =
                *self.derived.get_or_insert_with(|| (reading.series(&CPI, &[]), reading.series(&MPKI, &[])));
            reading.set_if(cpi, cycles.map(|cycles| cycles / instructions));
            reading.set_if(mpki, misses.map(|misses| misses / (instructions / 1e3)));
        }
        // Checked last, so that the events until the end of the process are recorded.
        self.check_alive()
    }
}

fn record(reading: &mut Reading<'_>, set: &mut EventSet, increase: Increase) {
    let Some(count) = increase.count else {
        reading.unavailable(
            &set.kind.metric,
            "the processor counted other events during a whole interval; watch fewer processes or use a longer interval",
        );
        return;
    };
    set.total += count * set.kind.scale;
    let scope = set.scope;
    let name = set.kind.metric.name.as_ref();
    let (series, ratio) = *set.series.get_or_insert_with(|| {
        let series = reading.series(&set.kind.metric, &[("scope", scope)]);
        (series, reading.series(&COUNTED, &[("event", name)]))
    });
    reading.set(series, set.total);
    if increase.running_ns < increase.enabled_ns {
        reading.set(ratio, increase.running_ns as f64 / increase.enabled_ns as f64);
    }
}

/// Opens an event at all places; `None` if it occurs in the kernel and counting in the kernel is not permitted.
fn open_event(kind: &EventKind, places: &[Place<'_>]) -> io::Result<Option<(Counters, &'static str)>> {
    match open_all(kind, places, true) {
        Ok(counters) => Ok(Some((counters, "all"))),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            let counters = open_all(kind, places, false)?;
            Ok((!kind.is_of_kernel).then_some((counters, "user")))
        }
        Err(error) => Err(error),
    }
}

fn open_all(kind: &EventKind, places: &[Place<'_>], with_kernel: bool) -> io::Result<Counters> {
    let mut counters = Counters::default();
    for place in places {
        match open_one(kind, place, with_kernel) {
            Ok(counter) => counters.push(counter),
            // The thread has ended since it was listed.
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
            Err(error) => return Err(error),
        }
    }
    if counters.is_empty() { Err(io::Error::from_raw_os_error(libc::ESRCH)) } else { Ok(counters) }
}

fn open_one(kind: &EventKind, place: &Place<'_>, with_kernel: bool) -> io::Result<Counter> {
    let builder = Builder::new().kind(kind.event.kernel_event());
    let mut builder = match place {
        Place::Task(task) => builder.observe_pid(*task),
        Place::Core(directory, core) => builder.observe_cgroup(directory).one_cpu(*core),
    };
    builder.enabled(true);
    // Threads that start later are counted with the thread that starts them; a cgroup includes them anyway.
    builder.inherit(matches!(place, Place::Task(_)));
    if with_kernel {
        builder.include_kernel();
    }
    builder.build()
}

/// The IDs of the threads of a process.
fn tasks(root: &ProcRoot, pid: u32) -> Result<Vec<i32>, ProbeError> {
    let path = root.process(pid, "task");
    let entries = std::fs::read_dir(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ProbeError::Ended { what: format!("process {pid}") },
        _ => ProbeError::read(&path, error),
    })?;
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(numbers.take(TASKS_MAX).collect())
}

/// The cores that are in use, from a list such as `0-3,8`.
fn cores(root: &ProcRoot) -> Result<Vec<usize>, ProbeError> {
    let path = Path::new("/sys/devices/system/cpu/online");
    let text = root.read_text(path).map_err(|error| ProbeError::read(path, error))?;
    parse_list(&text)
        .ok_or_else(|| ProbeError::format(path.display().to_string(), format!("`{text}` is not a list")))
}

fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        cores.extend((first..=last).take(CORES_MAX - cores.len()));
    }
    Some(cores)
}

/// The start of a process; `None` if it does not exist or is a zombie.
fn start_time(root: &ProcRoot, pid: u32) -> Option<u64> {
    let stat = read_process(root, pid)?.stat;
    (stat.state != b'Z').then_some(stat.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        assert_eq!(parse_list("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_list("0"), Some(vec![0]));
        assert_eq!(parse_list(""), None);
        assert_eq!(parse_list("0-999999999").map(|cores| cores.len()), Some(CORES_MAX));
    }
}
