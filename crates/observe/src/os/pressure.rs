//! Pressure stall information: the time in which work waited for a resource.

use busyhour_series::Metric;

use crate::declared::DeclaredSeries;
use crate::pressure_file::read_totals;
use crate::proc_root::{KeptFile, ProcRoot};
use crate::reading::Reading;

static CPU_WAITING: Metric =
    Metric::counter("node_pressure_cpu_waiting_seconds_total", "Time in which some thread waited for a CPU.");
static MEMORY_WAITING: Metric = Metric::counter(
    "node_pressure_memory_waiting_seconds_total",
    "Time in which some thread waited for memory.",
);
static MEMORY_STALLED: Metric = Metric::counter(
    "node_pressure_memory_stalled_seconds_total",
    "Time in which all threads waited for memory.",
);
static IO_WAITING: Metric =
    Metric::counter("node_pressure_io_waiting_seconds_total", "Time in which some thread waited for a disk.");
static IO_STALLED: Metric =
    Metric::counter("node_pressure_io_stalled_seconds_total", "Time in which all threads waited for a disk.");

/// One file, and the metrics of its lines.
#[derive(Debug)]
struct Resource {
    file: KeptFile,
    some: DeclaredSeries,
    full: Option<DeclaredSeries>,
    metrics: &'static Metric,
    is_missing: bool,
}

#[derive(Debug)]
pub(super) struct PressureReader {
    resources: [Resource; 3],
}

impl PressureReader {
    pub(super) fn new(root: &ProcRoot) -> PressureReader {
        let resource = |file: &str, some: &'static Metric, full: Option<&'static Metric>| Resource {
            file: KeptFile::new(root.path(file), 4096),
            some: DeclaredSeries::new(some),
            full: full.map(DeclaredSeries::new),
            metrics: some,
            is_missing: false,
        };
        PressureReader {
            resources: [
                // For the CPU of the whole system, the kernel always reports 0 as `full`.
                resource("/proc/pressure/cpu", &CPU_WAITING, None),
                resource("/proc/pressure/memory", &MEMORY_WAITING, Some(&MEMORY_STALLED)),
                resource("/proc/pressure/io", &IO_WAITING, Some(&IO_STALLED)),
            ],
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        for resource in self.resources.iter_mut().filter(|resource| !resource.is_missing) {
            let totals = match resource.file.read() {
                Ok(bytes) => read_totals(bytes),
                Err(error) => {
                    resource.is_missing = true;
                    let reason = format!(
                        "{}: {error}; needs Linux 4.20 or later, started with psi=1",
                        resource.file.path().display()
                    );
                    reading.unavailable(resource.metrics, &reason);
                    continue;
                }
            };
            if let Some(some) = totals.some_seconds {
                resource.some.set(reading, some);
            }
            if let (Some(series), Some(full)) = (&mut resource.full, totals.full_seconds) {
                series.set(reading, full);
            }
        }
    }
}
