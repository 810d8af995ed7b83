//! Memory, page cache and swap: `/proc/meminfo` and `/proc/vmstat`.

use busyhour_series::Metric;

use crate::declared::{KeyedMetric, KeyedSeries, keyed};
use crate::fields::{fields, lines, number, split_once};
use crate::proc_root::{KeptFile, ProcRoot};
use crate::reading::Reading;

const FILE_MAX: usize = 1 << 16;

const fn kilobytes(key: &'static str, metric: Metric) -> KeyedMetric {
    KeyedMetric { key, metric, scale: 1024.0 }
}

/// Rows of `/proc/meminfo`, in KiB.
static MEMORY: [KeyedMetric; 15] = [
    kilobytes("MemTotal", Metric::gauge("node_memory_MemTotal_bytes", "Memory of the machine.")),
    kilobytes("MemFree", Metric::gauge("node_memory_MemFree_bytes", "Memory without any use.")),
    kilobytes(
        "MemAvailable",
        Metric::gauge(
            "node_memory_MemAvailable_bytes",
            "Memory that programs could still get without swapping.",
        ),
    ),
    kilobytes("Buffers", Metric::gauge("node_memory_Buffers_bytes", "Cached blocks of devices.")),
    kilobytes("Cached", Metric::gauge("node_memory_Cached_bytes", "Page cache: cached contents of files.")),
    kilobytes("SwapTotal", Metric::gauge("node_memory_SwapTotal_bytes", "Swap space.")),
    kilobytes("SwapFree", Metric::gauge("node_memory_SwapFree_bytes", "Swap space without use.")),
    kilobytes("Dirty", Metric::gauge("node_memory_Dirty_bytes", "Changed contents that wait to be written.")),
    kilobytes("Writeback", Metric::gauge("node_memory_Writeback_bytes", "Contents that are being written.")),
    kilobytes(
        "AnonPages",
        Metric::gauge("node_memory_AnonPages_bytes", "Memory of programs, without files."),
    ),
    kilobytes("Mapped", Metric::gauge("node_memory_Mapped_bytes", "Mapped files.")),
    kilobytes("Shmem", Metric::gauge("node_memory_Shmem_bytes", "Shared memory and tmpfs.")),
    kilobytes(
        "SReclaimable",
        Metric::gauge("node_memory_SReclaimable_bytes", "Kernel caches that can be freed."),
    ),
    kilobytes(
        "SUnreclaim",
        Metric::gauge("node_memory_SUnreclaim_bytes", "Kernel memory that cannot be freed."),
    ),
    kilobytes("PageTables", Metric::gauge("node_memory_PageTables_bytes", "Page tables.")),
];

/// Rows of `/proc/vmstat`.
static PAGING: [KeyedMetric; 7] = [
    keyed("pswpin", Metric::counter("node_vmstat_pswpin", "Pages read from swap.")),
    keyed("pswpout", Metric::counter("node_vmstat_pswpout", "Pages written to swap.")),
    keyed("pgfault", Metric::counter("node_vmstat_pgfault", "Page faults.")),
    keyed("pgmajfault", Metric::counter("node_vmstat_pgmajfault", "Page faults that read a disk.")),
    keyed(
        "pgscan_direct",
        Metric::counter("node_vmstat_pgscan_direct", "Pages that programs scanned themselves to get memory."),
    ),
    keyed("oom_kill", Metric::counter("node_vmstat_oom_kill", "Processes killed for lack of memory.")),
    keyed(
        "workingset_refault_file",
        Metric::counter(
            "node_vmstat_workingset_refault_file",
            "Pages of files read again soon after they were dropped.",
        ),
    ),
];

#[derive(Debug)]
pub(super) struct MemoryReader {
    meminfo: KeptFile,
    vmstat: KeptFile,
    memory: KeyedSeries,
    paging: KeyedSeries,
}

impl MemoryReader {
    pub(super) fn new(root: &ProcRoot) -> MemoryReader {
        MemoryReader {
            meminfo: KeptFile::new(root.path("/proc/meminfo"), FILE_MAX),
            vmstat: KeptFile::new(root.path("/proc/vmstat"), FILE_MAX),
            memory: KeyedSeries::new(&MEMORY),
            paging: KeyedSeries::new(&PAGING),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        match self.meminfo.read_for_probe() {
            Ok(bytes) => {
                for line in lines(bytes) {
                    if let Some((key, value)) = split_once(line, b':')
                        && let Some(value) = fields(value).next().and_then(number)
                    {
                        self.memory.set(reading, key, value);
                    }
                }
                self.memory.check(reading, "/proc/meminfo");
            }
            Err(error) => self.memory.unavailable(reading, &error.to_string()),
        }
        match self.vmstat.read_for_probe() {
            Ok(bytes) => {
                for line in lines(bytes) {
                    if let Some((key, value)) = split_once(line, b' ')
                        && let Some(value) = number(value)
                    {
                        self.paging.set(reading, key, value);
                    }
                }
                self.paging.check(reading, "/proc/vmstat");
            }
            Err(error) => self.paging.unavailable(reading, &error.to_string()),
        }
    }
}
