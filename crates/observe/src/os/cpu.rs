//! CPU time, run queue and context switches: `/proc/stat` and `/proc/schedstat`.

use rustix::param::clock_ticks_per_second;

use busyhour_series::Metric;

use crate::declared::{DeclaredSeries, LabelledSeries};
use crate::fields::{fields, lines, number, split_once, text};
use crate::probe::ProbeError;
use crate::proc_root::{KeptFile, ProcRoot};
use crate::reading::Reading;
use crate::series_id::SeriesId;

/// Modes in the order of `/proc/stat`. Guest time is part of user and nice.
const MODES: [&str; 8] = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];

/// With more CPUs, only the idle time is recorded per CPU. The other modes are recorded as the sums of all CPUs.
const CPUS_WITH_MODES: usize = 32;

/// The largest number of CPUs that are recorded.
const CPUS_MAX: usize = 256;

const FILE_MAX: usize = 1 << 20;

static CPU: Metric = Metric::counter(
    "node_cpu_seconds_total",
    "CPU time by mode. On machines with more than 32 CPUs, the CPU `all` is the sum of all.",
);
static RUNNING: Metric = Metric::gauge("node_procs_running", "Threads that run or wait for a CPU.");
static BLOCKED: Metric = Metric::gauge("node_procs_blocked", "Threads that wait for a disk.");
static SWITCHES: Metric = Metric::counter("node_context_switches_total", "Context switches.");
static INTERRUPTS: Metric = Metric::counter("node_intr_total", "Interrupts.");
static FORKS: Metric = Metric::counter("node_forks_total", "Processes and threads that were created.");
static WAITING: [Metric; 1] =
    [Metric::counter("node_schedstat_waiting_seconds_total", "Time that threads waited for this CPU.")];

/// The times of one CPU in ticks, and its series.
#[derive(Debug)]
struct Cpu {
    ticks: [u64; MODES.len()],
    series: [SeriesId; MODES.len()],
}

#[derive(Debug)]
pub(super) struct CpuReader {
    stat: KeptFile,
    schedstat: KeptFile,
    has_schedstat: bool,
    ticks_per_second: f64,
    cpus: Vec<(Box<[u8]>, Cpu)>,
    running: DeclaredSeries,
    blocked: DeclaredSeries,
    switches: DeclaredSeries,
    interrupts: DeclaredSeries,
    forks: DeclaredSeries,
    waiting: LabelledSeries,
}

impl CpuReader {
    pub(super) fn new(root: &ProcRoot) -> CpuReader {
        CpuReader {
            stat: KeptFile::new(root.path("/proc/stat"), FILE_MAX),
            schedstat: KeptFile::new(root.path("/proc/schedstat"), FILE_MAX),
            has_schedstat: true,
            ticks_per_second: clock_ticks_per_second() as f64,
            cpus: Vec::new(),
            running: DeclaredSeries::new(&RUNNING),
            blocked: DeclaredSeries::new(&BLOCKED),
            switches: DeclaredSeries::new(&SWITCHES),
            interrupts: DeclaredSeries::new(&INTERRUPTS),
            forks: DeclaredSeries::new(&FORKS),
            waiting: LabelledSeries::new(&WAITING, "cpu", CPUS_WITH_MODES),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let stat = self.stat.read_for_probe()?;
        let cpus = lines(stat).filter(|line| line.starts_with(b"cpu")).count().saturating_sub(1);
        let mut has_cpus = false;
        for line in lines(stat) {
            let Some((key, rest)) = split_once(line, b' ') else { continue };
            let first = || fields(rest).next().and_then(number);
            match (key, key.strip_prefix(b"cpu")) {
                (_, Some(cpu)) => {
                    let is_all = cpu.is_empty();
                    if is_all && cpus <= CPUS_WITH_MODES {
                        continue;
                    }
                    let name: &[u8] = if is_all { b"all" } else { cpu };
                    let idle_only = !is_all && cpus > CPUS_WITH_MODES;
                    has_cpus |=
                        set_cpu(&mut self.cpus, reading, name, rest, idle_only, self.ticks_per_second);
                }
                (b"procs_running", _) => set_if(&mut self.running, reading, first()),
                (b"procs_blocked", _) => set_if(&mut self.blocked, reading, first()),
                (b"ctxt", _) => set_if(&mut self.switches, reading, first()),
                (b"intr", _) => set_if(&mut self.interrupts, reading, first()),
                (b"processes", _) => set_if(&mut self.forks, reading, first()),
                _ => {}
            }
        }
        if !has_cpus {
            let path = self.stat.path().display().to_string();
            return Err(ProbeError::format(path, "no line of a CPU with eight numbers"));
        }
        self.read_waiting(reading);
        Ok(())
    }

    /// Reads the time in run queues: field 8 of a CPU's line, in all versions of the file since 15.
    fn read_waiting(&mut self, reading: &mut Reading<'_>) {
        if !self.has_schedstat {
            return;
        }
        let Ok(schedstat) = self.schedstat.read() else {
            self.has_schedstat = false;
            let reason =
                "the kernel was built without CONFIG_SCHEDSTATS; waiting times are only known per process";
            reading.unavailable(&WAITING[0], reason);
            return;
        };
        for line in lines(schedstat).filter(|line| line.starts_with(b"cpu")) {
            let mut fields = fields(line);
            let Some(cpu) = fields.next().map(|name| &name[3..]) else { continue };
            let Some(waited_ns) = fields.nth(7).and_then(number) else { continue };
            if let Some(series) = self.waiting.of(reading, cpu) {
                reading.set(series[0], waited_ns as f64 / 1e9);
            }
        }
    }
}

fn set_if(series: &mut DeclaredSeries, reading: &mut Reading<'_>, value: Option<u64>) {
    if let Some(value) = value {
        series.set(reading, value as f64);
    }
}

/// Sets the times of a CPU; returns false if the line does not have eight numbers. The kernel may decrease idle and iowait a little.
/// The largest value is kept, because a counter that decreases would look like a restart.
fn set_cpu(
    cpus: &mut Vec<(Box<[u8]>, Cpu)>,
    reading: &mut Reading<'_>,
    name: &[u8],
    line: &[u8],
    idle_only: bool,
    ticks_per_second: f64,
) -> bool {
    let Some(ticks) = crate::fields::numbers::<{ MODES.len() }>(line) else { return false };
    // There are few CPUs: a linear search is fast enough.
    let position = match cpus.iter().position(|(known, _)| **known == *name) {
        Some(position) => position,
        None if cpus.len() > CPUS_MAX => return true,
        None => {
            let cpu = text(name);
            let series = MODES.map(|mode| {
                if idle_only && mode != "idle" {
                    SeriesId::DISCARDED
                } else {
                    reading.series(&CPU, &[("cpu", &cpu), ("mode", mode)])
                }
            });
            cpus.push((name.into(), Cpu { ticks: [0; MODES.len()], series }));
            cpus.len() - 1
        }
    };
    let cpu = &mut cpus[position].1;
    for ((known, ticks), series) in cpu.ticks.iter_mut().zip(ticks).zip(cpu.series) {
        *known = ticks.max(*known);
        reading.set(series, *known as f64 / ticks_per_second);
    }
    true
}
