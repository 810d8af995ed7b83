//! CPU time, memory and swap of the machine.

use std::path::Path;

use super::super::measure::PerfMonMeasure;
use super::super::request::{CpuField, MemoryField, MetricUnit, SwapField};
use super::snapshot::{MetricError, SystemCounters, column, in_unit, missing, read_text};

/// Columns of `/proc/stat` that make up the total; guest time is part of user time.
const CPU_COLUMNS: usize = 8;

pub(super) fn cpu(
    stat: &str,
    path: &Path,
    field: CpuField,
    core: Option<usize>,
) -> Result<PerfMonMeasure, MetricError> {
    let name = core.map_or_else(|| "cpu".to_owned(), |core| format!("cpu{core}"));
    let line = stat.lines().find(|line| line.split(' ').next() == Some(name.as_str()));
    let Some(line) = line else {
        return Err(match core {
            Some(core) => MetricError::NoPart(format!("core {core}")),
            None => missing(path, "line `cpu`"),
        });
    };
    let mut ticks = [0.0; CPU_COLUMNS];
    for (at, ticks) in ticks.iter_mut().enumerate() {
        // Old kernels have fewer columns.
        *ticks =
            column(line, at + 1).or((at >= 4).then_some(0.0)).ok_or_else(|| missing(path, name.as_str()))?;
    }
    let [user, nice, system, idle, iowait, irq, softirq, stolen] = ticks;
    let part = match field {
        CpuField::Combined => user + nice + system + iowait,
        CpuField::Idle => idle,
        CpuField::Irq => irq,
        CpuField::Nice => nice,
        CpuField::SoftIrq => softirq,
        CpuField::Stolen => stolen,
        CpuField::System => system,
        CpuField::User => user,
        CpuField::IoWait => iowait,
    };
    Ok(PerfMonMeasure::Quotient { part, whole: ticks.iter().sum(), scale: 100.0 })
}

/// A value of `/proc/meminfo` in bytes.
fn bytes(meminfo: &str, path: &Path, name: &str) -> Result<f64, MetricError> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let kib = line.and_then(|line| column(line, 0)).ok_or_else(|| missing(path, name))?;
    Ok(kib * 1024.0)
}

pub(super) fn memory(
    meminfo: &str,
    path: &Path,
    field: MemoryField,
    unit: MetricUnit,
) -> Result<PerfMonMeasure, MetricError> {
    let of = |name| bytes(meminfo, path, name);
    let total = of("MemTotal")?;
    let size = |bytes| Ok(PerfMonMeasure::Value(in_unit(bytes, unit, false)));
    // Kernels before 3.14 do not estimate what is available.
    let available = || of("MemAvailable").or_else(|_| Ok(of("MemFree")? + of("Buffers")? + of("Cached")?));
    match field {
        MemoryField::ActualFree => size(available()?),
        MemoryField::ActualUsed => size(total - available()?),
        MemoryField::Free => size(of("MemFree")?),
        MemoryField::FreePercent => Ok(PerfMonMeasure::Value(100.0 * available()? / total)),
        MemoryField::Ram => Ok(PerfMonMeasure::Value((total / 1_048_576.0).floor())),
        MemoryField::Total => size(total),
        MemoryField::Used => size(total - of("MemFree")?),
        MemoryField::UsedPercent => Ok(PerfMonMeasure::Value(100.0 * (total - available()?) / total)),
    }
}

pub(super) fn swap(
    snapshot: &SystemCounters<'_>,
    field: SwapField,
    unit: MetricUnit,
) -> Result<PerfMonMeasure, MetricError> {
    let pages = |name: &str| {
        let path = snapshot.proc("vmstat");
        let text = read_text(&path)?;
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|line| column(line, 0)).map(PerfMonMeasure::Counter).ok_or_else(|| missing(&path, name))
    };
    let path = snapshot.proc("meminfo");
    let size = |bytes| Ok(PerfMonMeasure::Value(in_unit(bytes, unit, false)));
    let total = || bytes(snapshot.meminfo()?, &path, "SwapTotal");
    let free = || bytes(snapshot.meminfo()?, &path, "SwapFree");
    match field {
        SwapField::PageIn => pages("pswpin"),
        SwapField::PageOut => pages("pswpout"),
        SwapField::Free => size(free()?),
        SwapField::Total => size(total()?),
        SwapField::Used => size(total()? - free()?),
    }
}
