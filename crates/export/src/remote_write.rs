//! Sends metrics with Prometheus's remote write (version 1.0).

use std::collections::BTreeMap;

use busyhour_sample::{Snapshot, TimeCounts};
use busyhour_server::exposition::format_bound;
use prost::Message;

use crate::exponential::ExponentialCounts;
use crate::latest_series::LatestSeries;
use crate::metrics::{Metric, MetricValue, SCHEMA, ZERO_THRESHOLD_S, classic_buckets, families};
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, HttpPost, NowMs, TimeOrigin};

/// Sends the series of a [`crate::Exposition`] every second, with an additional label `run`.
pub struct RemoteWriteExporter {
    post: HttpPost,
    origin: TimeOrigin,
    now_ms: NowMs,
    name: String,
    histograms: HistogramForm,
    run: RunSoFar,
    series: LatestSeries,
}

/// The form in which histograms are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HistogramForm {
    /// One series for each of a few buckets. Every server accepts them.
    #[default]
    Classic,
    /// One series with exponential buckets, whose bounds grow by 2.2 %, for servers with native histograms enabled. Other
    /// servers reject the whole request.
    Native,
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
    /// The name and labels of the series, sorted by name.
    #[prost(message, repeated, tag = "1")]
    pub labels: Vec<SeriesLabel>,
    /// The values of the series.
    #[prost(message, repeated, tag = "2")]
    pub samples: Vec<SeriesSample>,
    /// The native histograms of the series.
    #[prost(message, repeated, tag = "4")]
    pub histograms: Vec<NativeHistogram>,
}

/// `prompb.Label`
#[derive(Clone, PartialEq, Message)]
pub struct SeriesLabel {
    /// Name of the label.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Value of the label.
    #[prost(string, tag = "2")]
    pub value: String,
}

/// `prompb.Sample`
#[derive(Clone, PartialEq, Message)]
pub struct SeriesSample {
    /// The value.
    #[prost(double, tag = "1")]
    pub value: f64,
    /// Time of the value, in ms since 1970.
    #[prost(int64, tag = "2")]
    pub timestamp: i64,
}

/// `prompb.Histogram` with integer counts and without negative values.
#[derive(Clone, PartialEq, Message)]
pub struct NativeHistogram {
    /// Number of values.
    #[prost(uint64, optional, tag = "1")]
    pub count_int: Option<u64>,
    /// Sum of the values.
    #[prost(double, tag = "3")]
    pub sum: f64,
    /// Schema: the bounds of buckets grow by a factor of 2^(2^−schema).
    #[prost(sint32, tag = "4")]
    pub schema: i32,
    /// Upper limit of the zero bucket.
    #[prost(double, tag = "5")]
    pub zero_threshold: f64,
    /// Number of values in the zero bucket.
    #[prost(uint64, optional, tag = "6")]
    pub zero_count_int: Option<u64>,
    /// Spans of adjacent buckets.
    #[prost(message, repeated, tag = "11")]
    pub positive_spans: Vec<BucketSpan>,
    /// The count of each bucket minus the count of the previous one.
    #[prost(sint64, repeated, tag = "12")]
    pub positive_deltas: Vec<i64>,
    /// Time of the histogram, in ms since 1970.
    #[prost(int64, tag = "15")]
    pub timestamp: i64,
}

/// `prompb.BucketSpan`
#[derive(Clone, Copy, PartialEq, Message)]
pub struct BucketSpan {
    /// Number of buckets between this span and the previous one; for the first span, the number of its first bucket.
    #[prost(sint32, tag = "1")]
    pub offset: i32,
    /// Number of buckets in the span.
    #[prost(uint32, tag = "2")]
    pub length: u32,
}

impl RemoteWriteExporter {
    /// Creates an exporter that sends to `url`; `name` is the value of the label `run`.
    #[must_use]
    pub fn new(url: &str, origin: TimeOrigin, name: &str, histograms: HistogramForm, now_ms: NowMs) -> Self {
        let headers = [("Content-Encoding", "snappy"), ("X-Prometheus-Remote-Write-Version", "0.1.0")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let post = HttpPost::new(url, headers);
        let (name, run, series) = (name.to_owned(), RunSoFar::default(), LatestSeries::default());
        Self { post, origin, now_ms, name, histograms, run, series }
    }

    /// Also sends the observed series of the system under test.
    #[must_use]
    pub fn with_series(self, series: LatestSeries) -> Self {
        Self { series, ..self }
    }

    fn request(&self, snapshot: &Snapshot) -> WriteRequest {
        let at_ms = self.origin.known_ms(snapshot, (self.now_ms)());
        let mut series = Series { at_ms, run: &self.name, all: Vec::new() };
        let own = families(&self.run, &self.name);
        let observed = self.series.families(&own);
        for family in own.iter().chain(&observed) {
            for metric in &family.metrics {
                match &metric.value {
                    MetricValue::Number(value) => series.number(&family.name, metric, None, *value),
                    MetricValue::Times(times) if self.histograms == HistogramForm::Native => {
                        series.native(&family.name, metric, times);
                    }
                    MetricValue::Times(times) => series.classic(&family.name, metric, times),
                }
            }
        }
        WriteRequest { timeseries: series.all }
    }
}

struct Series<'r> {
    at_ms: i64,
    run: &'r str,
    all: Vec<TimeSeries>,
}

impl Series<'_> {
    /// The labels of a series, sorted by name as the protocol requires.
    fn labels(&self, name: &str, metric: &Metric, bound: Option<&str>) -> Vec<SeriesLabel> {
        let mut all = BTreeMap::from([("__name__", name), ("run", self.run)]);
        all.extend(metric.labels.iter().map(|(name, value)| (name.as_ref(), value.as_str())));
        all.extend(bound.map(|bound| ("le", bound)));
        let label =
            |(name, value): (&str, &str)| SeriesLabel { name: name.to_owned(), value: value.to_owned() };
        all.into_iter().map(label).collect()
    }

    fn number(&mut self, name: &str, metric: &Metric, bound: Option<&str>, value: f64) {
        self.all.push(TimeSeries {
            labels: self.labels(name, metric, bound),
            samples: vec![SeriesSample { value, timestamp: self.at_ms }],
            histograms: Vec::new(),
        });
    }

    fn classic(&mut self, name: &str, metric: &Metric, times: &TimeCounts) {
        let bucket = format!("{name}_bucket");
        for (bound, count) in classic_buckets(times) {
            self.number(&bucket, metric, Some(&format_bound(bound)), count as f64);
        }
        self.number(&format!("{name}_sum"), metric, None, times.sum_ns() as f64 / 1e9);
        self.number(&format!("{name}_count"), metric, None, times.count() as f64);
    }

    fn native(&mut self, name: &str, metric: &Metric, times: &TimeCounts) {
        let counts = ExponentialCounts::of(times, SCHEMA);
        let (spans, positive_deltas) = counts.spans();
        let histogram = NativeHistogram {
            count_int: Some(times.count()),
            sum: times.sum_ns() as f64 / 1e9,
            schema: SCHEMA,
            zero_threshold: ZERO_THRESHOLD_S,
            zero_count_int: Some(counts.zero),
            positive_spans: spans.into_iter().map(|(offset, length)| BucketSpan { offset, length }).collect(),
            positive_deltas,
            timestamp: self.at_ms,
        };
        let labels = self.labels(name, metric, None);
        self.all.push(TimeSeries { labels, samples: Vec::new(), histograms: vec![histogram] });
    }
}

impl Exporter for RemoteWriteExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        let packed = self.request(snapshot).encode_to_vec();
        let body = snap::raw::Encoder::new()
            .compress_vec(&packed)
            .map_err(|error| ExportError::Settings(format!("the series cannot be compressed: {error}")))?;
        self.post.post("application/x-protobuf", &body).map(drop)
    }
}
