//! CPU time and memory of a process.

use std::path::Path;

use super::super::measure::Measure;
use super::super::request::{ProcessCpuField, ProcessMemoryField, ProcessName, Unit};
use super::snapshot::{MetricError, Snapshot, column, in_unit, missing, read_text};

/// Most processes that are searched for a name.
const PROCESSES_MAX: usize = 100_000;

/// Number of the process. A name is looked up at each reading, so that a process that restarts is found again.
fn pid(snapshot: &Snapshot<'_>, name: &ProcessName) -> Result<u32, MetricError> {
    let (wanted, number) = match name {
        ProcessName::Pid(pid) => return Ok(*pid),
        ProcessName::Executable(wanted, number) => (wanted, *number),
    };
    let pids = snapshot.root().pids(PROCESSES_MAX);
    let mut pids =
        pids.map_err(|source| MetricError::Read { path: snapshot.root().path("/proc"), source })?;
    pids.sort_unstable();
    let has_name = |pid: &u32| {
        let executable = std::fs::read_link(snapshot.root().process(*pid, "exe")).ok();
        let file =
            executable.as_deref().and_then(Path::file_name).map(|file| file.to_string_lossy().into_owned());
        // The kernel adds this to the name of a file that was replaced since.
        file.is_some_and(|file| file.trim_end_matches(" (deleted)").eq_ignore_ascii_case(wanted))
    };
    pids.into_iter().filter(has_name).nth(number).ok_or_else(|| {
        let shown: String = wanted.chars().take(80).collect();
        MetricError::NoProcess(format!("`{shown}#{number}`, or its executable file may not be read"))
    })
}

/// The columns of `/proc/PID/stat` from the third, the state, on.
fn stat_columns(snapshot: &Snapshot<'_>, name: &ProcessName) -> Result<(u32, String), MetricError> {
    let pid = pid(snapshot, name)?;
    let path = snapshot.proc(&format!("{pid}/stat"));
    let text = read_text(&path).map_err(|_| MetricError::NoProcess(pid.to_string()))?;
    // The name of the program may contain blanks and parentheses.
    let (_, columns) = text.rsplit_once(')').ok_or_else(|| missing(&path, "name of the program"))?;
    Ok((pid, columns.to_owned()))
}

pub(super) fn cpu(
    snapshot: &Snapshot<'_>,
    field: ProcessCpuField,
    name: &ProcessName,
) -> Result<Measure, MetricError> {
    let (pid, columns) = stat_columns(snapshot, name)?;
    let ms_per_tick = 1e3 / rustix::param::clock_ticks_per_second() as f64;
    let ms = |at: usize| {
        let ticks = column(&columns, at).ok_or_else(|| MetricError::NoProcess(pid.to_string()))?;
        Ok::<f64, MetricError>(ticks * ms_per_tick)
    };
    let (user, system) = (ms(11)?, ms(12)?);
    Ok(match field {
        ProcessCpuField::Percent => Measure::PerSecond { counter: user + system, scale: 0.1 },
        ProcessCpuField::Total => Measure::Counter(user + system),
        ProcessCpuField::System => Measure::Counter(system),
        ProcessCpuField::User => Measure::Counter(user),
    })
}

pub(super) fn memory(
    snapshot: &Snapshot<'_>,
    field: ProcessMemoryField,
    name: &ProcessName,
    unit: Unit,
) -> Result<Measure, MetricError> {
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
        return Ok(Measure::Value(in_unit(pages * rustix::param::page_size() as f64, unit, false)));
    }
    let (pid, columns) = stat_columns(snapshot, name)?;
    let faults = |at| column(&columns, at).ok_or_else(|| MetricError::NoProcess(pid.to_string()));
    let (minor, major) = (faults(7)?, faults(9)?);
    Ok(Measure::Counter(match field {
        ProcessMemoryField::MinorFaults => minor,
        ProcessMemoryField::MajorFaults => major,
        _ => minor + major,
    }))
}
