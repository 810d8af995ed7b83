//! Interfaces: `net/dev`.

use busyhour_series::Metric;

use crate::declared::LabelledSeries;
use crate::fields::{lines, numbers};
use crate::proc_root::{KeptFile, ProcRoot};
use crate::reading::Reading;

const INTERFACES_MAX: usize = 32;

static METRICS: [Metric; 8] = [
    Metric::counter("node_network_receive_bytes_total", "Bytes received."),
    Metric::counter("node_network_receive_packets_total", "Packets received."),
    Metric::counter("node_network_receive_errs_total", "Packets received with errors."),
    Metric::counter("node_network_receive_drop_total", "Received packets that were dropped."),
    Metric::counter("node_network_transmit_bytes_total", "Bytes sent."),
    Metric::counter("node_network_transmit_packets_total", "Packets sent."),
    Metric::counter("node_network_transmit_errs_total", "Packets that could not be sent."),
    Metric::counter("node_network_transmit_drop_total", "Packets that were dropped before they were sent."),
];

#[derive(Debug)]
pub(super) struct InterfaceReader {
    file: KeptFile,
    series: LabelledSeries,
}

/// The name and the values of a line: bytes, packets, errors and drops received, then the same four sent.
fn parse_line(line: &[u8]) -> Option<(&[u8], [u64; 8])> {
    let colon = line.iter().rposition(|byte| *byte == b':')?;
    let [r0, r1, r2, r3, _, _, _, _, t0, t1, t2, t3] = numbers::<12>(&line[colon + 1..])?;
    Some((line[..colon].trim_ascii(), [r0, r1, r2, r3, t0, t1, t2, t3]))
}

impl InterfaceReader {
    pub(super) fn new(root: &ProcRoot, directory: &str) -> InterfaceReader {
        InterfaceReader {
            file: KeptFile::new(root.path(format!("{directory}/dev")), 1 << 18),
            series: LabelledSeries::new(&METRICS, "device", INTERFACES_MAX),
        }
    }

    pub(super) fn read(&mut self, reading: &mut Reading<'_>) {
        let bytes = match self.file.read_for_probe() {
            Ok(bytes) => bytes,
            Err(error) => return reading.unavailable(&METRICS[0], &error.to_string()),
        };
        for (name, values) in lines(bytes).filter_map(parse_line) {
            let Some(series) = self.series.of(reading, name) else { continue };
            for (series, value) in series.iter().zip(values) {
                reading.set(*series, value as f64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed() {
        let line = b"  eth0:  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
        assert_eq!(parse_line(line), Some((&b"eth0"[..], [1, 2, 3, 4, 9, 10, 11, 12])));
        assert_eq!(parse_line(b" face |bytes    packets errs drop"), None);
        assert_eq!(parse_line(b"eth0:1 2 3"), None);
    }
}
