//! Pressure stall information of a cgroup.

use busyhour_series::Metric;

use crate::declared::DeclaredSeries;
use crate::pressure_file::read_totals;
use crate::proc_root::KeptFile;
use crate::reading::Reading;

use super::locate::CgroupPath;

static CPU_WAITING: Metric = Metric::counter(
    "container_pressure_cpu_waiting_seconds_total",
    "Time in which some thread waited for a CPU.",
);
static CPU_STALLED: Metric = Metric::counter(
    "container_pressure_cpu_stalled_seconds_total",
    "Time in which all threads waited for a CPU.",
);
static MEMORY_WAITING: Metric = Metric::counter(
    "container_pressure_memory_waiting_seconds_total",
    "Time in which some thread waited for memory.",
);
static MEMORY_STALLED: Metric = Metric::counter(
    "container_pressure_memory_stalled_seconds_total",
    "Time in which all threads waited for memory.",
);
static IO_WAITING: Metric = Metric::counter(
    "container_pressure_io_waiting_seconds_total",
    "Time in which some thread waited for a disk.",
);
static IO_STALLED: Metric = Metric::counter(
    "container_pressure_io_stalled_seconds_total",
    "Time in which all threads waited for a disk.",
);

#[derive(Debug)]
struct Resource {
    file: Option<KeptFile>,
    some: DeclaredSeries,
    full: DeclaredSeries,
    metric: &'static Metric,
}

#[derive(Debug)]
pub(super) struct PressureReader {
    resources: [Resource; 3],
}

impl PressureReader {
    pub(super) fn new(path: &CgroupPath) -> PressureReader {
        // In a hybrid hierarchy, a process is often in the root of version 2, whose pressure is that of the machine.
        let is_own =
            path.unified().is_some_and(|directory| path.is_root() || directory.ends_with(&path.name()[1..]));
        let resource = |name: &str, some: &'static Metric, full: &'static Metric| Resource {
            file: path.unified_file(name).filter(|_| is_own).map(|path| KeptFile::new(path, 4096)),
            some: DeclaredSeries::new(some),
            full: DeclaredSeries::new(full),
            metric: some,
        };
        PressureReader {
            resources: [
                resource("cpu.pressure", &CPU_WAITING, &CPU_STALLED),
                resource("memory.pressure", &MEMORY_WAITING, &MEMORY_STALLED),
                resource("io.pressure", &IO_WAITING, &IO_STALLED),
            ],
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        for Resource { file, some, full, metric } in &mut self.resources {
            let totals = match file.as_mut().map(KeptFile::read) {
                Some(Ok(bytes)) => read_totals(bytes),
                Some(Err(error)) => {
                    reading.unavailable(metric, &format!("{error}; the kernel must be started with psi=1"));
                    continue;
                }
                None => {
                    let reason =
                        "the process is in no cgroup of version 2, or the kernel has no pressure information";
                    reading.unavailable(metric, reason);
                    continue;
                }
            };
            for (series, value) in [(some, totals.some_seconds), (full, totals.full_seconds)] {
                if let Some(value) = value {
                    series.set(reading, value);
                }
            }
        }
    }
}
