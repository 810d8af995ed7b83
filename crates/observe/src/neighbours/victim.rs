//! The harm to the watched processes, from the series of the other probes.

use busyhour_detection::{Damage, HarmKind, Victim};
use busyhour_sample::Nanos;
use rustc_hash::FxHashMap;

use crate::proc_root::ProcRoot;
use crate::store::SeriesStore;

use super::allowed_cpus::AllowedCpus;

/// Share of its CPUs or of its quota from which a system is at its own limit.
const AT_LIMIT: f64 = 0.9;

/// Seconds per second in which a quota throttles the system, from which it is at its own limit. The explanation of slow requests uses the
/// same value.
const THROTTLED: f64 = 0.02;

/// CPU time of the system in cores, below which its cycles per instruction are not judged.
const CPI_CORES_MIN: f64 = 0.05;

/// The metrics that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Input {
    Cpu,
    Wait,
    Throttled,
    QuotaCores,
    CpuPressure,
    MemoryPressure,
    DiskPressure,
    Cpi,
    Machine,
    Process,
}

impl Input {
    fn of(name: &str) -> Option<Input> {
        Some(match name {
            "process_cpu_seconds_total" => Input::Cpu,
            "process_run_queue_wait_seconds_total" => Input::Wait,
            "container_cpu_cfs_throttled_seconds_total" => Input::Throttled,
            "busyhour_cgroup_cpu_limit_cores" => Input::QuotaCores,
            "container_pressure_cpu_waiting_seconds_total" => Input::CpuPressure,
            "container_pressure_memory_waiting_seconds_total" => Input::MemoryPressure,
            "container_pressure_io_waiting_seconds_total" => Input::DiskPressure,
            "busyhour_perf_cycles_per_instruction" => Input::Cpi,
            "node_cpu_seconds_total" => Input::Machine,
            "process_info" => Input::Process,
            _ => return None,
        })
    }
}

/// CPU time of the machine in cores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Machine {
    pub(super) used: f64,
    pub(super) stolen: f64,
}

/// The system and its machine since the reading before.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    pub(super) victim: Victim,
    /// `None` if it is unknown.
    pub(super) machine: Option<Machine>,
}

/// The rate of a counter between its last two readings.
#[derive(Clone, Copy, Debug)]
struct Counter {
    time: Nanos,
    total: f64,
    rate: Option<f64>,
}

/// Sums over all sources, and whether one of them has a new value.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    value: f64,
    largest: f64,
    count: u32,
    is_new: bool,
}

impl Sum {
    fn add(&mut self, value: f64, is_new: bool) {
        self.value += value;
        self.largest = self.largest.max(value);
        self.count += 1;
        self.is_new |= is_new;
    }

    fn new_value(&self, value: f64) -> Option<f64> {
        (self.count > 0 && self.is_new).then_some(value)
    }
}

/// Reads the state of the system.
#[derive(Debug, Default)]
pub(super) struct VictimReader {
    counters: FxHashMap<(Box<str>, Box<str>), Counter>,
    pids: Vec<u32>,
    has_machine: bool,
}

impl VictimReader {
    /// The first processes of the system.
    pub(super) fn pids(&self) -> &[u32] {
        &self.pids
    }

    pub(super) fn read(&mut self, store: &SeriesStore, root: &ProcRoot) -> State {
        let mut sums: FxHashMap<Input, Sum> = FxHashMap::default();
        let mut machine = Machine::default();
        let mut pids: FxHashMap<Box<str>, (Nanos, u32)> = FxHashMap::default();
        let mut own_limit = false;
        let latest = store.latest_of(|name| Input::of(name).is_some());
        let is_together = latest
            .iter()
            .any(|value| &*value.name == "node_cpu_seconds_total" && has(&value.labels, "cpu", "all"));
        for value in &latest {
            let Some(input) = Input::of(&value.name) else { continue };
            match input {
                Input::Process => {
                    let pid = value
                        .labels
                        .iter()
                        .find(|(name, _)| name == "pid")
                        .and_then(|(_, pid)| pid.parse().ok());
                    if let Some(pid) = pid {
                        let known = pids.entry((&*value.source).into()).or_insert((value.time, pid));
                        if value.time >= known.0 {
                            *known = (value.time, pid);
                        }
                    }
                }
                Input::QuotaCores | Input::Cpi => sums.entry(input).or_default().add(value.value, true),
                Input::Machine => {
                    if &*value.source != "os" || is_together != has(&value.labels, "cpu", "all") {
                        continue;
                    }
                    let mode =
                        value.labels.iter().find(|(name, _)| name == "mode").map_or("", |(_, mode)| mode);
                    let Some((rate, _)) = self.rate(value) else { continue };
                    match mode {
                        // Interrupts are the work of no process; the time of guests is part of that of users.
                        "idle" | "iowait" | "irq" | "softirq" | "guest" | "guest_nice" => {}
                        "steal" => machine.stolen += rate,
                        _ => machine.used += rate,
                    }
                    sums.entry(input).or_default().add(rate, true);
                }
                Input::Cpu
                | Input::Wait
                | Input::Throttled
                | Input::CpuPressure
                | Input::MemoryPressure
                | Input::DiskPressure => {
                    // A process of another machine has no run queue here.
                    let is_local =
                        value.source.starts_with("process:") || value.source.starts_with("cgroup:");
                    let Some((rate, is_new)) = is_local.then(|| self.rate(value)).flatten() else { continue };
                    sums.entry(input).or_default().add(rate, is_new);
                    if input == Input::Cpu {
                        let pid = value.source.strip_prefix("process:").and_then(|pid| pid.parse().ok());
                        let allowed = pid.and_then(|pid| AllowedCpus::of_process(root, pid));
                        own_limit |= allowed.is_some_and(|allowed| rate >= AT_LIMIT * allowed.count() as f64);
                    }
                }
            }
        }
        self.pids = pids.into_values().map(|(_, pid)| pid).collect();
        self.has_machine |= sums.contains_key(&Input::Machine);
        State {
            victim: victim(&sums, own_limit),
            machine: sums.contains_key(&Input::Machine).then_some(machine),
        }
    }

    /// The rate of a counter, and whether it was read since the last call.
    fn rate(&mut self, value: &busyhour_series::LatestValue) -> Option<(f64, bool)> {
        let labels: String = value.labels.iter().map(|(name, value)| format!("{name}={value},")).collect();
        let key = (format!("{} {}", value.source, value.name).into(), labels.into());
        let counter =
            self.counters.entry(key).or_insert(Counter { time: value.time, total: value.value, rate: None });
        let elapsed = value.time.0.saturating_sub(counter.time.0) as f64 / 1e9;
        if elapsed <= 0.0 {
            return counter.rate.map(|rate| (rate, false));
        }
        // A counter restarts with a new process.
        let rate = (value.value - counter.total).max(0.0) / elapsed;
        *counter = Counter { time: value.time, total: value.value, rate: Some(rate) };
        Some((rate, true))
    }

    /// Why a kind of harm is not watched.
    pub(super) fn reason(&self, damage: Damage) -> String {
        if self.pids.is_empty() && damage != Damage::Steal {
            return "no process of the system is watched on this machine; it needs the source process:PID"
                .to_owned();
        }
        match damage {
            Damage::CpuWait => "the kernel does not count the time in which threads wait for a CPU (CONFIG_SCHED_INFO)",
            Damage::CyclesPerInstruction => {
                "cycles per instruction are unavailable; they need the source perf:PID and a machine with hardware counters"
            }
            Damage::CpuPressure | Damage::MemoryPressure | Damage::DiskPressure => {
                "the pressure of the control group is unavailable; it needs the source cgroup:PATH in version 2 of control groups"
            }
            Damage::Steal if self.has_machine => "the CPU time of the machine was read only once",
            Damage::Steal => "the CPU time of the machine is unavailable; it needs the source os",
        }
        .to_owned()
    }
}

fn has(labels: &[(String, String)], name: &str, value: &str) -> bool {
    labels.iter().any(|(one, its)| one == name && its == value)
}

fn victim(sums: &FxHashMap<Input, Sum>, own_limit: bool) -> Victim {
    let of = |input: Input| sums.get(&input).copied().unwrap_or_default();
    let cpu = of(Input::Cpu);
    let cores = (cpu.count > 0).then_some(cpu.value);
    let quota = of(Input::QuotaCores);
    let is_at_quota = quota.count > 0 && cpu.value >= AT_LIMIT * quota.value;
    let wait = of(Input::Wait);
    let largest = |input: Input| of(input).new_value(of(input).largest);
    let cpi = of(Input::Cpi);
    let mut harm = [None; HarmKind::COUNT];
    for (place, kind) in harm.iter_mut().zip(HarmKind::ALL) {
        *place = match kind {
            HarmKind::CpuWait => wait.new_value(wait.value),
            HarmKind::CpuPressure if wait.count > 0 => None,
            HarmKind::CpuPressure => largest(Input::CpuPressure),
            HarmKind::CyclesPerInstruction => {
                (cpi.count > 0 && cpu.value >= CPI_CORES_MIN).then(|| cpi.value / f64::from(cpi.count))
            }
            HarmKind::MemoryPressure => largest(Input::MemoryPressure),
            HarmKind::DiskPressure => largest(Input::DiskPressure),
        };
    }
    let is_at_own_limit = own_limit || is_at_quota || of(Input::Throttled).largest > THROTTLED;
    Victim { cores, is_at_own_limit, harm }
}
