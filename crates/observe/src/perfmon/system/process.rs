//! CPU time and memory of a process.

use super::super::measure::PerfMonMeasure;
use super::super::request::{MetricUnit, PerfMonProcess, ProcessCpuField, ProcessMemoryField};
use super::snapshot::{MetricError, SystemCounters, column, in_unit, missing, read_text};
use crate::process_stat::{ProcessStat, read_process};

/// The process ID. A name is looked up at each reading, so that a process that restarts is found again.
fn pid(snapshot: &SystemCounters<'_>, name: &PerfMonProcess) -> Result<u32, MetricError> {
    let (wanted, number) = match name {
        PerfMonProcess::Pid(pid) => return Ok(*pid),
        PerfMonProcess::Executable(wanted, number) => (wanted, *number),
    };
    let executables = snapshot.executables()?;
    let of_name = executables.iter().filter(|(_, file)| file.eq_ignore_ascii_case(wanted));
    of_name.map(|(pid, _)| *pid).nth(number).ok_or_else(|| {
        let shown: String = wanted.chars().take(80).collect();
        MetricError::NoProcess(format!("`{shown}#{number}`, or its executable file cannot be read"))
    })
}

fn stat(snapshot: &SystemCounters<'_>, name: &PerfMonProcess) -> Result<ProcessStat, MetricError> {
    let pid = pid(snapshot, name)?;
    let entry = read_process(snapshot.root(), pid).ok_or_else(|| MetricError::NoProcess(pid.to_string()))?;
    Ok(entry.stat)
}

pub(super) fn cpu(
    snapshot: &SystemCounters<'_>,
    field: ProcessCpuField,
    name: &PerfMonProcess,
) -> Result<PerfMonMeasure, MetricError> {
    let stat = stat(snapshot, name)?;
    let ms_per_tick = 1e3 / rustix::param::clock_ticks_per_second() as f64;
    let [user, system] = [stat.user[0], stat.system[0]].map(|ticks| ticks as f64 * ms_per_tick);
    Ok(match field {
        ProcessCpuField::Percent => PerfMonMeasure::PerSecond { counter: user + system, scale: 0.1 },
        ProcessCpuField::Total => PerfMonMeasure::Counter(user + system),
        ProcessCpuField::System => PerfMonMeasure::Counter(system),
        ProcessCpuField::User => PerfMonMeasure::Counter(user),
    })
}

pub(super) fn memory(
    snapshot: &SystemCounters<'_>,
    field: ProcessMemoryField,
    name: &PerfMonProcess,
    unit: MetricUnit,
) -> Result<PerfMonMeasure, MetricError> {
    if let Some(at) = match field {
        ProcessMemoryField::Virtual => Some(0),
        ProcessMemoryField::Resident => Some(1),
        ProcessMemoryField::Shared => Some(2),
        _ => None,
    } {
        let pid = pid(snapshot, name)?;
        let path = snapshot.proc(&format!("{pid}/statm"));
        let text = read_text(&path).map_err(|_| MetricError::NoProcess(pid.to_string()))?;
        let pages = column(&text, at).ok_or_else(|| missing(&path, "size"))?;
        return Ok(PerfMonMeasure::Value(in_unit(pages * rustix::param::page_size() as f64, unit, false)));
    }
    let stat = stat(snapshot, name)?;
    Ok(PerfMonMeasure::Counter(match field {
        ProcessMemoryField::MinorFaults => stat.minor_faults[0],
        ProcessMemoryField::MajorFaults => stat.major_faults[0],
        _ => stat.minor_faults[0] + stat.major_faults[0],
    } as f64))
}
