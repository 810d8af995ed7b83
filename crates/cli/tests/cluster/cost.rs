//! CPU time and memory of processes.

/// The unit of CPU times in /proc, see proc(5). It is the same on all usual machines.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time and largest memory of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) cpu_s: f64,
    pub(crate) memory_mb: f64,
}

impl Cost {
    /// The cost of a process so far; `None` if it has ended.
    pub(crate) fn of(pid: u32) -> Option<Cost> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let peak: f64 = peak.trim().trim_end_matches(" kB").parse().ok()?;
        Some(Cost { cpu_s: ticks / TICKS_PER_SECOND, memory_mb: peak / 1_024.0 })
    }
}
