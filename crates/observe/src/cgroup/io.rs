//! Disk reads and writes of a cgroup.

use std::collections::BTreeMap;

use busyhour_series::Metric;

use crate::declared::LabelledSeries;
use crate::fields::{fields, lines, number, split_once};
use crate::proc_root::KeptFile;
use crate::reading::Reading;

use super::locate::CgroupPath;

const DEVICES_MAX: usize = 32;

static METRICS: [Metric; 4] = [
    Metric::counter("container_fs_reads_bytes_total", "Bytes read from the device."),
    Metric::counter("container_fs_writes_bytes_total", "Bytes written to the device."),
    Metric::counter("container_fs_reads_total", "Reads from the device."),
    Metric::counter("container_fs_writes_total", "Writes to the device."),
];

/// Figures of one device in the order of the metrics; `None` for a figure that the file does not contain.
type Figures = [Option<u64>; METRICS.len()];

#[derive(Debug)]
enum Files {
    /// `io.stat` of version 2.
    Stat(KeptFile),
    /// Bytes and operations in version 1.
    Throttle(KeptFile, KeptFile),
    Missing,
}

#[derive(Debug)]
pub(super) struct IoReader {
    files: Files,
    series: LabelledSeries,
}

impl IoReader {
    pub(super) fn new(path: &CgroupPath) -> IoReader {
        let kept = |path| KeptFile::new(path, 1 << 16);
        let bytes = path.controller_file("blkio", "blkio.throttle.io_service_bytes_recursive");
        let operations = path.controller_file("blkio", "blkio.throttle.io_serviced_recursive");
        let files = match (path.unified_file("io.stat"), bytes.zip(operations)) {
            (Some(stat), _) => Files::Stat(kept(stat)),
            (None, Some((bytes, operations))) => Files::Throttle(kept(bytes), kept(operations)),
            (None, None) => Files::Missing,
        };
        IoReader { files, series: LabelledSeries::new(&METRICS, "device", DEVICES_MAX) }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let devices = match &mut self.files {
            Files::Stat(file) => file.read().map(parse_stat),
            Files::Throttle(bytes, operations) => {
                let mut devices = BTreeMap::new();
                let bytes = bytes.read().map(|text| parse_throttle(text, 0, &mut devices));
                bytes
                    .and_then(|()| operations.read().map(|text| parse_throttle(text, 2, &mut devices)))
                    .map(|()| devices)
            }
            Files::Missing => {
                let reason = "the io controller is not enabled for this cgroup, or it is the root";
                return reading.unavailable(&METRICS[0], reason);
            }
        };
        let devices = match devices {
            Ok(devices) => devices,
            Err(error) => {
                return reading.unavailable(&METRICS[0], &format!("cannot read the disks: {error}"));
            }
        };
        for (device, figures) in devices {
            let Some(series) = self.series.of(reading, device.as_bytes()) else { continue };
            for (series, figure) in series.iter().zip(figures) {
                reading.set_if(*series, figure.map(|figure| figure as f64));
            }
        }
    }
}

/// Parses `8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`.
fn parse_stat(bytes: &[u8]) -> BTreeMap<String, Figures> {
    let mut devices = BTreeMap::new();
    for line in lines(bytes).take(4096) {
        let mut fields = fields(line);
        let Some(device) = fields.next() else { continue };
        let mut figures = Figures::default();
        for field in fields {
            let Some((name, value)) = split_once(field, b'=') else { continue };
            let names: [&[u8]; 4] = [b"rbytes", b"wbytes", b"rios", b"wios"];
            if let Some(position) = names.iter().position(|known| *known == name) {
                figures[position] = number(value);
            }
        }
        // For a device without figures, the line contains only the number of the device.
        if figures != Figures::default() {
            devices.insert(crate::fields::text(device).into_owned(), figures);
        }
    }
    devices
}

/// Parses lines such as `8:0 Read 1` and `8:0 Write 2`. Stores reads at the position `first` and writes at the next one.
fn parse_throttle(bytes: &[u8], first: usize, devices: &mut BTreeMap<String, Figures>) {
    for line in lines(bytes).take(4096 * 8) {
        let mut fields = fields(line);
        let (Some(device), Some(kind), Some(value)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let position = match kind {
            b"Read" => first,
            b"Write" => first + 1,
            _ => continue,
        };
        devices.entry(crate::fields::text(device).into_owned()).or_default()[position] = number(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_parsed() {
        let devices =
            parse_stat(b"8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n7:0 \n8:16 rbytes=x wios=9\n");
        let expected = [
            (String::from("8:0"), [Some(1), Some(2), Some(3), Some(4)]),
            (String::from("8:16"), [None, None, None, Some(9)]),
        ];
        assert_eq!(devices, BTreeMap::from(expected));
        let mut devices = BTreeMap::new();
        parse_throttle(b"8:0 Read 10\n8:0 Write 20\n8:0 Sync 1\nTotal 30\n", 0, &mut devices);
        parse_throttle(b"8:0 Read 1\n", 2, &mut devices);
        assert_eq!(devices, BTreeMap::from([(String::from("8:0"), [Some(10), Some(20), Some(1), None])]));
    }
}
