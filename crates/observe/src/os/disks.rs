//! Disks: `/proc/diskstats`.

use rustc_hash::FxHashMap;

use busyhour_series::Metric;

use crate::declared::LabelledSeries;
use crate::fields::{fields, lines, number};
use crate::proc_root::{KeptFile, ProcRoot};
use crate::reading::Reading;
use crate::series_id::SeriesId;

const DISKS_MAX: usize = 32;
const FILE_MAX: usize = 1 << 18;

/// Bytes of a sector in this file, independent of the size of the disk's own sectors.
const SECTOR: f64 = 512.0;

static METRICS: [Metric; 10] = [
    Metric::counter("node_disk_reads_completed_total", "Completed reads."),
    Metric::counter("node_disk_read_bytes_total", "Bytes read."),
    Metric::counter("node_disk_read_time_seconds_total", "Time of all reads, including waiting."),
    Metric::counter("node_disk_writes_completed_total", "Completed writes."),
    Metric::counter("node_disk_written_bytes_total", "Bytes written."),
    Metric::counter("node_disk_write_time_seconds_total", "Time of all writes, including waiting."),
    Metric::gauge("node_disk_io_now", "Reads and writes in progress."),
    Metric::counter(
        "node_disk_io_time_seconds_total",
        "Time in which the disk was busy. Disks that serve several requests at once are not yet saturated at 1 s per second.",
    ),
    Metric::counter(
        "node_disk_io_time_weighted_seconds_total",
        "Time of all reads and writes, in progress and completed.",
    ),
    Metric::gauge(
        "busyhour_disk_await_seconds",
        "Mean time of the reads and writes completed since the last reading.",
    ),
];

/// The figures that `busyhour_disk_await_seconds` is computed from: completed reads and writes, and their time in ms.
#[derive(Clone, Copy, Debug)]
struct Completed {
    count: u64,
    time_ms: u64,
}

#[derive(Debug)]
pub(super) struct DiskReader {
    file: KeptFile,
    root: ProcRoot,
    /// Whether a name is that of a whole disk rather than a partition, loop device or RAM disk.
    is_disk: FxHashMap<Box<[u8]>, bool>,
    series: LabelledSeries,
    completed: FxHashMap<SeriesId, Completed>,
}

/// A line of `/proc/diskstats`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Disk<'l> {
    name: &'l [u8],
    /// Reads: completed, merged, sectors, ms; writes: the same; I/O in progress, ms of I/O, weighted ms.
    values: [u64; 11],
}

/// Parses a line: numbers of the device, name, then 11 values since Linux 2.6; later versions append more.
fn parse_line(line: &[u8]) -> Option<Disk<'_>> {
    let mut fields = fields(line);
    let name = fields.nth(2)?;
    let mut values = [0; 11];
    for value in &mut values {
        *value = number(fields.next()?)?;
    }
    Some(Disk { name, values })
}

impl DiskReader {
    pub(super) fn new(root: &ProcRoot) -> DiskReader {
        DiskReader {
            file: KeptFile::new(root.path("/proc/diskstats"), FILE_MAX),
            root: root.clone(),
            is_disk: FxHashMap::default(),
            series: LabelledSeries::new(&METRICS, "device", DISKS_MAX),
            completed: FxHashMap::default(),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let bytes = match self.file.read_for_probe() {
            Ok(bytes) => bytes,
            Err(error) => return reading.unavailable(&METRICS[0], &error.to_string()),
        };
        for disk in lines(bytes).filter_map(parse_line) {
            let [
                reads,
                _,
                sectors_read,
                read_ms,
                writes,
                _,
                sectors_written,
                write_ms,
                now,
                io_ms,
                weighted_ms,
            ] = disk.values;
            // Also skips drives without a medium.
            if reads | writes == 0 || !is_disk(&mut self.is_disk, &self.root, disk.name) {
                continue;
            }
            let Some(series) = self.series.of(reading, disk.name) else { continue };
            let values = [
                reads as f64,
                sectors_read as f64 * SECTOR,
                read_ms as f64 / 1e3,
                writes as f64,
                sectors_written as f64 * SECTOR,
                write_ms as f64 / 1e3,
                now as f64,
                io_ms as f64 / 1e3,
                weighted_ms as f64 / 1e3,
            ];
            for (series, value) in series.iter().zip(values) {
                reading.set(*series, value);
            }
            let current =
                Completed { count: reads.wrapping_add(writes), time_ms: read_ms.wrapping_add(write_ms) };
            let previous = self.completed.insert(series[9], current);
            reading.set_if(series[9], previous.and_then(|previous| mean_seconds(previous, current)));
        }
    }
}

/// Mean time of the requests completed between two readings; `None` if there were none, or if the counters restarted.
fn mean_seconds(before: Completed, after: Completed) -> Option<f64> {
    let count = after.count.checked_sub(before.count).filter(|count| *count > 0)?;
    let time_ms = after.time_ms.checked_sub(before.time_ms)?;
    Some(time_ms as f64 / count as f64 / 1e3)
}

fn is_disk(known: &mut FxHashMap<Box<[u8]>, bool>, root: &ProcRoot, name: &[u8]) -> bool {
    if let Some(is_disk) = known.get(name) {
        return *is_disk;
    }
    let text = crate::fields::text(name);
    let is_virtual = ["loop", "ram", "zram"].iter().any(|prefix| text.starts_with(prefix));
    // A slash in a name is an exclamation mark in /sys.
    let in_sys = root.path("/sys/block").join(text.replace('/', "!"));
    let is_disk = !is_virtual && in_sys.exists();
    // The kernel has few disks. The limit bounds the memory for a recorded file with very many names.
    if known.len() < 4096 {
        known.insert(name.into(), is_disk);
    }
    is_disk
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kernels_are_parsed() {
        let name: &[u8] = b"sda";
        let values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
        for line in [
            &b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11"[..],
            b"   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
        ] {
            assert_eq!(parse_line(line), Some(Disk { name, values }));
        }
        // Partitions of kernels before 2.6.25 had four values.
        assert_eq!(parse_line(b"   8       1 sda1 1 2 3 4"), None);
        assert_eq!(parse_line(b"8 0 sda 1 2 3 4 5 6 7 8 9 10 -1"), None);
    }

    #[test]
    fn await_is_the_mean_time_of_completed_requests() {
        let at = |count, time_ms| Completed { count, time_ms };
        assert_eq!(mean_seconds(at(10, 100), at(14, 120)), Some(0.005));
        assert_eq!(mean_seconds(at(10, 100), at(10, 100)), None);
        assert_eq!(mean_seconds(at(10, 100), at(4, 20)), None);
    }
}
