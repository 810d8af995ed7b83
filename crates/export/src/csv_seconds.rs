//! Writes the figures of each second of a run as CSV.

use std::io::Write;

use busyhour_sample::{SampleKind, Snapshot, SnapshotRow, TimeCounts};

use crate::{ExportError, Exporter, TimeOrigin};

/// The percentiles that are written for response times and for service times.
const PERCENTILES: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// Writes a line per second and label, and one line per second for all requests (`kind` is `total`).
///
/// Times are in ms; cells without a value are empty.
pub struct CsvExporter<W: Write> {
    writer: csv::Writer<W>,
    origin: TimeOrigin,
    has_head: bool,
}

impl<W: Write> CsvExporter<W> {
    /// Creates an exporter that writes to `writer`.
    pub fn new(writer: W, origin: TimeOrigin) -> Self {
        Self { writer: csv::Writer::from_writer(writer), origin, has_head: false }
    }

    fn head(&mut self) -> csv::Result<()> {
        if std::mem::replace(&mut self.has_head, true) {
            return Ok(());
        }
        let own = [
            "time_ms",
            "second",
            "label",
            "kind",
            "samples",
            "errors",
            "received_bytes",
            "sent_bytes",
            "users",
        ];
        let mut cells = own.map(str::to_owned).to_vec();
        for clock in ["response", "service"] {
            cells.push(format!("{clock}_mean_ms"));
            cells.extend(PERCENTILES.map(|p| format!("{clock}_p{p}_ms")));
            cells.push(format!("{clock}_max_ms"));
        }
        cells.extend(["scheduled", "begun", "waited", "dropped", "arrivals_cov"].map(str::to_owned));
        self.writer.write_record(cells)
    }

    fn write(&mut self, snapshot: &Snapshot) -> csv::Result<()> {
        self.head()?;
        for row in &snapshot.rows {
            self.row(snapshot, row, kind(row.kind), false)?;
        }
        self.row(snapshot, &snapshot.total(), "total", true)?;
        Ok(self.writer.flush()?)
    }

    fn row(&mut self, snapshot: &Snapshot, row: &SnapshotRow, kind: &str, total: bool) -> csv::Result<()> {
        let mut cells = vec![
            self.origin.end_ms(snapshot.second).saturating_sub(1_000).to_string(),
            snapshot.second.to_string(),
            busyhour_diagnostic::printable(&row.label),
            kind.to_owned(),
            row.samples.to_string(),
            row.errors.to_string(),
            row.bytes.to_string(),
            row.sent_bytes.to_string(),
            cell(snapshot.users.filter(|_| total).map(|users| users.at_end.to_string())),
        ];
        times(&row.response.all(), &mut cells);
        times(&row.service.all(), &mut cells);
        let arrivals = snapshot.arrivals.filter(|_| total);
        let count = |count: Option<u64>| cell(count.map(|count| count.to_string()));
        cells.push(count(arrivals.map(|arrivals| arrivals.scheduled)));
        cells.push(count(arrivals.map(|arrivals| arrivals.begun)));
        cells.push(count(arrivals.map(|arrivals| arrivals.waited)));
        cells.push(count(arrivals.map(|arrivals| arrivals.dropped)));
        cells.push(cell(
            snapshot.regularity.filter(|_| total).map(|regularity| format!("{:.4}", regularity.cov)),
        ));
        self.writer.write_record(cells)
    }
}

fn cell(value: Option<String>) -> String {
    value.unwrap_or_default()
}

fn times(times: &TimeCounts, cells: &mut Vec<String>) {
    let ms = |value: Option<f64>| cell(value.map(|ms| format!("{ms:.3}")));
    cells.push(ms(times.mean_ms()));
    cells.extend(PERCENTILES.map(|p| ms(times.quantile_ms(p / 100.0))));
    cells.push(ms(times.max_ms()));
}

/// The name of a kind of row in the CSV file.
pub(crate) const fn kind(kind: SampleKind) -> &'static str {
    match kind {
        SampleKind::Request => "request",
        SampleKind::Transaction => "transaction",
        SampleKind::SubResult => "sub_result",
    }
}

impl<W: Write> Exporter for CsvExporter<W> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.write(snapshot)
            .map_err(|error| ExportError::Io { target: "the CSV file".into(), source: error.into() })
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        let finished = self.head().and_then(|()| Ok(self.writer.flush()?));
        finished.map_err(|error| ExportError::Io { target: "the CSV file".into(), source: error.into() })
    }
}
