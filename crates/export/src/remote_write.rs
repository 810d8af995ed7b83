//! Prometheus's remote write (version 1.0).

use std::collections::BTreeMap;

use busyhour_record::{Snapshot, SnapshotRow};
use prost::Message;

use crate::csv_seconds::kind;
use crate::exposition::BOUNDS_S;
use crate::histograms::Clock;
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, HttpPost, Origin};

/// Sends, second by second, the series that a scrape of [`crate::Exposition`] shows, with a label `run`.
pub struct RemoteWriteExporter {
    post: HttpPost,
    origin: Origin,
    name: String,
    run: RunSoFar,
}

/// `prompb.WriteRequest`
#[derive(Clone, PartialEq, Message)]
pub struct WriteRequest {
    /// The series.
    #[prost(message, repeated, tag = "1")]
    pub timeseries: Vec<TimeSeries>,
}

/// `prompb.TimeSeries`
#[derive(Clone, PartialEq, Message)]
pub struct TimeSeries {
    /// Its name and labels, in order.
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<SeriesLabel>,
    /// Its values.
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<SeriesSample>,
}

/// `prompb.Label`
#[derive(Clone, PartialEq, Message)]
pub struct SeriesLabel {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its value.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// `prompb.Sample`
#[derive(Clone, PartialEq, Message)]
pub struct SeriesSample {
    /// The value.
    #[prost(double, tag = "1")]
    pub value: f64,
    /// In ms since 1970.
    #[prost(int64, tag = "2")]
    pub timestamp: i64,
}

impl RemoteWriteExporter {
    /// Sends to `url`; `name` is the value of the label `run`.
    #[must_use]
    pub fn new(url: &str, origin: Origin, name: &str) -> Self {
        let headers = [("Content-Encoding", "snappy"), ("X-Prometheus-Remote-Write-Version", "0.1.0")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { post: HttpPost::new(url, headers), origin, name: name.to_owned(), run: RunSoFar::default() }
    }

    fn request(&self, snapshot: &Snapshot) -> WriteRequest {
        let mut series =
            Series { at_ms: self.origin.end_ms(snapshot.second), run: &self.name, all: Vec::new() };
        for row in self.run.rows.values() {
            series.row(row);
        }
        if let Some(users) = self.run.users {
            series.add("busyhour_users", &[], f64::from(users));
        }
        if let Some(arrivals) = &self.run.arrivals {
            for (fate, count) in arrivals.fates() {
                series.add("busyhour_arrivals_total", &[("fate", fate)], count as f64);
            }
        }
        if let Some(cov) = self.run.cov {
            series.add("busyhour_arrivals_cov", &[], cov);
        }
        series.add("busyhour_run_seconds", &[], (snapshot.second + 1) as f64);
        WriteRequest { timeseries: series.all }
    }
}

struct Series<'r> {
    at_ms: i64,
    run: &'r str,
    all: Vec<TimeSeries>,
}

impl Series<'_> {
    fn add(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        // By name, as the protocol wants them.
        let mut all = BTreeMap::from([("__name__", name), ("run", self.run)]);
        all.extend(labels.iter().copied());
        let label =
            |(name, value): (&str, &str)| SeriesLabel { name: name.to_owned(), value: value.to_owned() };
        self.all.push(TimeSeries {
            labels: all.into_iter().map(label).collect(),
            samples: vec![SeriesSample { value, timestamp: self.at_ms }],
        });
    }

    fn row(&mut self, row: &SnapshotRow) {
        let own = [("label", row.label.as_str()), ("kind", kind(row.kind))];
        let with = |name: &'static str, value| [own[0], own[1], (name, value)];
        let passed = row.samples.saturating_sub(row.errors);
        self.add("busyhour_samples_total", &with("outcome", "passed"), passed as f64);
        self.add("busyhour_samples_total", &with("outcome", "failed"), row.errors as f64);
        for code in &row.codes {
            let labels = [own[0], own[1], ("code", code.code.as_str())];
            self.add("busyhour_response_codes_total", &labels, code.samples as f64);
        }
        self.add("busyhour_received_bytes_total", &own, row.bytes as f64);
        self.add("busyhour_sent_bytes_total", &own, row.sent_bytes as f64);
        let clocks = [
            (Clock::Response, "busyhour_response_time_seconds"),
            (Clock::Service, "busyhour_service_time_seconds"),
        ];
        for (clock, name) in clocks {
            let times = clock.times(row);
            let bucket = format!("{name}_bucket");
            for bound in BOUNDS_S {
                let text = bound.to_string();
                let labels = [own[0], own[1], ("le", text.as_str())];
                self.add(&bucket, &labels, times.count_up_to_ms(bound * 1e3) as f64);
            }
            self.add(&bucket, &with("le", "+Inf"), times.count() as f64);
            self.add(&format!("{name}_sum"), &own, times.sum_ns() as f64 / 1e9);
            self.add(&format!("{name}_count"), &own, times.count() as f64);
        }
    }
}

impl Exporter for RemoteWriteExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        let packed = self.request(snapshot).encode_to_vec();
        let body = snap::raw::Encoder::new()
            .compress_vec(&packed)
            .map_err(|error| ExportError::Settings(format!("the series cannot be compressed: {error}")))?;
        self.post.post("application/x-protobuf", &body)
    }
}
