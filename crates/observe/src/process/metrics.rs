//! The metrics of a group of processes.

use rustix::param::{clock_ticks_per_second, page_size};

use busyhour_series::Metric;

use crate::declared::DeclaredSeries;
use crate::process_stat::PROCESSES_MAX;
use crate::reading::Reading;

use super::members::GroupTotals;
use super::rebased::RebasedTotal;

static CPU: Metric =
    Metric::counter("process_cpu_seconds_total", "CPU time of the process and its descendants.");
static USER: Metric = Metric::counter("process_cpu_user_seconds_total", "CPU time in user mode.");
static SYSTEM: Metric = Metric::counter("process_cpu_system_seconds_total", "CPU time in the kernel.");
static MINOR_FAULTS: Metric =
    Metric::counter("process_minor_page_faults_total", "Page faults without a disk.");
static MAJOR_FAULTS: Metric =
    Metric::counter("process_major_page_faults_total", "Page faults that read a disk.");
static READ: Metric =
    Metric::counter("process_io_read_bytes_total", "Bytes that system calls read from anything.");
static WRITTEN: Metric =
    Metric::counter("process_io_written_bytes_total", "Bytes that system calls wrote to anything.");
static STORAGE_READ: Metric =
    Metric::counter("process_io_storage_read_bytes_total", "Bytes read from disks.");
static STORAGE_WRITTEN: Metric =
    Metric::counter("process_io_storage_written_bytes_total", "Bytes written to disks.");
static RESIDENT: Metric = Metric::gauge(
    "process_resident_memory_bytes",
    "Memory in RAM. Memory that several processes share counts once for each of them.",
);
static THREADS: Metric = Metric::gauge("process_threads", "Threads.");
static PROCESSES: Metric =
    Metric::gauge("process_processes", "Processes: the watched one and its descendants.");
static DESCRIPTORS: Metric = Metric::gauge("process_open_fds", "Open file descriptors of all processes.");
static DESCRIPTORS_MAX: Metric =
    Metric::gauge("process_open_fds_of_largest", "Open file descriptors of the process that has the most.");
static START: Metric = Metric::gauge(
    "process_start_after_boot_seconds",
    "Time from the boot of the machine to the start of the process; changes with a restart.",
);

/// A counter of the group.
#[derive(Debug)]
struct GroupCounter {
    series: DeclaredSeries,
    total: RebasedTotal,
}

impl GroupCounter {
    const fn new(metric: &'static Metric) -> GroupCounter {
        GroupCounter { series: DeclaredSeries::new(metric), total: RebasedTotal { lost: 0.0, last: 0.0 } }
    }

    fn set(&mut self, reading: &mut Reading<'_>, sum: f64) {
        let total = self.total.next(sum);
        self.series.set(reading, total);
    }
}

#[derive(Debug)]
pub(super) struct ProcessSeries {
    cpu: GroupCounter,
    user: GroupCounter,
    system: GroupCounter,
    minor_faults: GroupCounter,
    major_faults: GroupCounter,
    io: [GroupCounter; 4],
    resident: DeclaredSeries,
    threads: DeclaredSeries,
    processes: DeclaredSeries,
    descriptors: DeclaredSeries,
    descriptors_max: DeclaredSeries,
    start: DeclaredSeries,
    page_bytes: f64,
    ticks_per_second: f64,
}

impl Default for ProcessSeries {
    fn default() -> ProcessSeries {
        ProcessSeries {
            cpu: GroupCounter::new(&CPU),
            user: GroupCounter::new(&USER),
            system: GroupCounter::new(&SYSTEM),
            minor_faults: GroupCounter::new(&MINOR_FAULTS),
            major_faults: GroupCounter::new(&MAJOR_FAULTS),
            io: [&READ, &WRITTEN, &STORAGE_READ, &STORAGE_WRITTEN].map(GroupCounter::new),
            resident: DeclaredSeries::new(&RESIDENT),
            threads: DeclaredSeries::new(&THREADS),
            processes: DeclaredSeries::new(&PROCESSES),
            descriptors: DeclaredSeries::new(&DESCRIPTORS),
            descriptors_max: DeclaredSeries::new(&DESCRIPTORS_MAX),
            start: DeclaredSeries::new(&START),
            page_bytes: page_size() as f64,
            ticks_per_second: clock_ticks_per_second() as f64,
        }
    }
}

impl ProcessSeries {
    pub(super) fn set(&mut self, reading: &mut Reading<'_>, totals: &GroupTotals) {
        self.cpu.set(reading, totals.cpu_seconds);
        self.user.set(reading, totals.user_seconds);
        self.system.set(reading, totals.system_seconds);
        self.minor_faults.set(reading, totals.minor_faults as f64);
        self.major_faults.set(reading, totals.major_faults as f64);
        match totals.io {
            Some(io) => {
                let values = [io.read, io.written, io.storage_read, io.storage_written];
                for (counter, value) in self.io.iter_mut().zip(values) {
                    counter.set(reading, value as f64);
                }
            }
            // A member has just ended: its figures cannot be read, but those of the others can next time.
            None if totals.io_error.is_none() => {}
            None => {
                let reason = if totals.io_error == Some(std::io::ErrorKind::NotFound) {
                    "there is no /proc/PID/io: the kernel was built without CONFIG_TASK_IO_ACCOUNTING"
                } else {
                    "no permission to read /proc/PID/io of all processes: run as their user or as root"
                };
                for metric in [&READ, &WRITTEN, &STORAGE_READ, &STORAGE_WRITTEN] {
                    reading.unavailable(metric, reason);
                }
            }
        }
        self.resident.set(reading, totals.rss_pages as f64 * self.page_bytes);
        self.threads.set(reading, totals.threads as f64);
        self.processes.set(reading, totals.processes as f64);
        self.start.set(reading, totals.start as f64 / self.ticks_per_second);
        match totals.descriptors.zip(totals.descriptors_max) {
            Some((sum, max)) => {
                self.descriptors.set(reading, sum as f64);
                self.descriptors_max.set(reading, max as f64);
            }
            None => reading.unavailable(
                &DESCRIPTORS,
                "no permission to read /proc/PID/fd of all processes: run as their user or as root",
            ),
        }
        if totals.omitted > 0 {
            let reason = format!("{} processes beyond the limit are not part of the sums", totals.omitted);
            reading.unavailable(&PROCESSES, &reason);
        }
    }

    /// Reports that the machine has more processes than are listed.
    pub(super) fn report_truncated_list(&self, reading: &mut Reading<'_>) {
        let reason =
            format!("the machine has more than {PROCESSES_MAX} processes: some descendants may be missing");
        reading.unavailable(&PROCESSES, &reason);
    }

    /// Another process has replaced the watched one, so counters restart at 0.
    pub(super) fn restart(&mut self) {
        let counters =
            [&mut self.cpu, &mut self.user, &mut self.system, &mut self.minor_faults, &mut self.major_faults];
        for counter in counters.into_iter().chain(&mut self.io) {
            counter.total = RebasedTotal::default();
        }
    }
}
