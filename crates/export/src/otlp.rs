//! Sends metrics to OpenTelemetry over HTTP as protobuf (OTLP 1.x).

use busyhour_sample::{Snapshot, SnapshotRow, TimeCounts};
use busyhour_series::{LatestValue, MetricKind};
use prost::Message;
use rand::TryRngCore as _;
use rand::rngs::OsRng;

use crate::csv_seconds::kind;
use crate::exponential::ExponentialCounts;
use crate::histograms::TimeClock;
use crate::latest_series::LatestSeries;
use crate::metrics::ARRIVALS_HELP;
use crate::otlp_messages::{
    AnyValue, Buckets, ExponentialHistogram, ExponentialPoint, ExportRequest, ExportResponse, Gauge,
    InstrumentationScope, KeyValue, Metric, NumberPoint, NumberValue, PartialSuccess, Resource,
    ResourceMetrics, ScopeMetrics, Sum, any_value, metric,
};
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, HttpPost, NowMs, TimeOrigin};

/// The aggregation temporality of cumulative values: they count from the start of the run, not from the last request.
const CUMULATIVE: i32 = 2;

/// Scale of exponential histograms: their bounds grow by a factor of 2^(2^−SCALE), that is by 4.4 %.
const SCALE: i32 = 4;

/// The path of collectors for metrics, relative to the endpoint in OpenTelemetry's settings.
const METRICS_PATH: &str = "/v1/metrics";

/// Status codes after which the request is repeated.
const RETRIED: [u16; 4] = [429, 502, 503, 504];

/// Sends the totals of the run so far every second: counters, and exponential histograms of both clocks by label.
pub struct OtlpExporter {
    post: HttpPost,
    origin: TimeOrigin,
    now_ms: NowMs,
    resource: Vec<KeyValue>,
    run: RunSoFar,
    /// The values that the server did not accept in the last request. The next second contains them as well.
    unsent: Option<Vec<u8>>,
    series: LatestSeries,
}

impl OtlpExporter {
    /// Creates an exporter that sends to `url`, or to `/v1/metrics` below it if it has no path; `name` is the value of the
    /// resource attribute `busyhour.run`.
    #[must_use]
    pub fn new(url: &str, origin: TimeOrigin, name: &str, now_ms: NowMs) -> Self {
        let mut resource = vec![
            text("service.name", "busyhour"),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("busyhour.run", name),
        ];
        // Without the id, concurrent runs with the same name could not be distinguished.
        resource.extend(instance_id().map(|id| text("service.instance.id", &id)));
        let post = HttpPost::new(with_path(url), Vec::new());
        let (run, series) = (RunSoFar::default(), LatestSeries::default());
        Self { post, origin, now_ms, resource, run, unsent: None, series }
    }

    /// Also sends the observed series of the system under test.
    #[must_use]
    pub fn with_series(self, series: LatestSeries) -> Self {
        Self { series, ..self }
    }

    fn request(&self, snapshot: &Snapshot) -> ExportRequest {
        let ns = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
        let span = Span {
            from_ns: ns(self.origin.wall_anchor_ms),
            to_ns: ns(self.origin.known_ms(snapshot, (self.now_ms)())),
        };
        let scope =
            InstrumentationScope { name: "busyhour".into(), version: env!("CARGO_PKG_VERSION").into() };
        // Receivers report an error for metrics without data points.
        let metrics =
            self.metrics(span).into_iter().chain(self.observed()).filter(Metric::has_points).collect();
        ExportRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(Resource { attributes: self.resource.clone() }),
                scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics }],
            }],
        }
    }

    fn send(&mut self, request: Vec<u8>) -> Result<(), ExportError> {
        match self.post.post("application/x-protobuf", &request) {
            Ok(answer) => check_rejected_values(&answer, &self.post),
            Err(error) => {
                let again = match &error {
                    ExportError::Refused { status, .. } => RETRIED.contains(status),
                    _ => true,
                };
                self.unsent = again.then_some(request);
                Err(error)
            }
        }
    }

    /// The observed series. The time of a point is the time of its reading. The time at which a counter started is
    /// unknown.
    fn observed(&self) -> Vec<Metric> {
        let start_ns = u64::try_from(self.origin.wall_anchor_ms).unwrap_or(0).saturating_mul(1_000_000);
        let point = |value: &LatestValue| {
            let source = std::iter::once(text("source", &value.source));
            let labels = value.labels.iter().map(|(name, label)| text(name, label));
            NumberPoint {
                attributes: source.chain(labels.filter(|label| label.key != "source")).collect(),
                start_time_unix_nano: 0,
                time_unix_nano: start_ns.saturating_add(value.time.0),
                value: Some(NumberValue::AsDouble(value.value)),
            }
        };
        let metric = |same: Vec<LatestValue>| {
            let first = same.first()?;
            let data_points = same.iter().map(point).collect();
            let data = match first.kind {
                MetricKind::Gauge => metric::MetricData::Gauge(Gauge { data_points }),
                MetricKind::Counter => metric::MetricData::Sum(Sum {
                    data_points,
                    aggregation_temporality: CUMULATIVE,
                    is_monotonic: true,
                }),
            };
            Some(Metric {
                name: first.name.to_string(),
                description: first.help.to_string(),
                unit: String::new(),
                data: Some(data),
            })
        };
        self.series.by_metric().into_iter().filter_map(metric).collect()
    }

    fn metrics(&self, span: Span) -> Vec<Metric> {
        let rows = || self.run.rows.values();
        let mut samples = Vec::new();
        let mut codes = Vec::new();
        for row in rows() {
            let passed = row.samples.saturating_sub(row.errors);
            for (outcome, count) in [("passed", passed), ("failed", row.errors)] {
                samples.push(span.point(count, with(row, "outcome", outcome)));
            }
            for code in &row.codes {
                codes.push(span.point(code.samples, with(row, "code", &code.code)));
            }
        }
        let received = rows().map(|row| span.point(row.bytes, attributes(row))).collect();
        let sent = rows().map(|row| span.point(row.sent_bytes, attributes(row))).collect();
        let mut metrics = vec![
            counter("busyhour.samples", "Samples that ended", "{sample}", samples),
            counter("busyhour.response_codes", "Samples that ended, by response code", "{sample}", codes),
            counter("busyhour.received", "Bytes received", "By", received),
            counter("busyhour.sent", "Bytes sent", "By", sent),
        ];
        let clocks = [
            (TimeClock::Response, "busyhour.response_time", "Time from the intended start to the end"),
            (TimeClock::Service, "busyhour.service_time", "Time from the actual start to the end"),
        ];
        for (clock, name, description) in clocks {
            let points = rows().map(|row| span.histogram(&clock.times(row), attributes(row))).collect();
            let data = ExponentialHistogram { data_points: points, aggregation_temporality: CUMULATIVE };
            metrics.push(Metric {
                name: name.into(),
                description: description.into(),
                unit: "s".into(),
                data: Some(metric::MetricData::ExponentialHistogram(data)),
            });
        }
        if let Some(users) = self.run.users {
            metrics.push(gauge(
                "busyhour.users",
                "Active users at the end of the last second",
                "{user}",
                span,
                f64::from(users),
            ));
        }
        if let Some(arrivals) = &self.run.arrivals {
            let points = arrivals
                .outcomes_so_far()
                .map(|(fate, count)| span.point(count, vec![text("fate", fate)]))
                .to_vec();
            metrics.push(counter("busyhour.arrivals", ARRIVALS_HELP, "{arrival}", points));
        }
        if let Some(cov) = self.run.cov {
            let description = "Coefficient of variation of the gaps between arrivals of the last ten seconds";
            metrics.push(gauge("busyhour.arrivals.cov", description, "1", span, cov));
        }
        metrics
    }
}

/// The start and end times to which values refer.
#[derive(Clone, Copy)]
struct Span {
    from_ns: u64,
    to_ns: u64,
}

impl Span {
    fn point(self, count: u64, attributes: Vec<KeyValue>) -> NumberPoint {
        let value = NumberValue::AsInt(i64::try_from(count).unwrap_or(i64::MAX));
        NumberPoint {
            start_time_unix_nano: self.from_ns,
            time_unix_nano: self.to_ns,
            value: Some(value),
            attributes,
        }
    }

    fn histogram(self, times: &TimeCounts, attributes: Vec<KeyValue>) -> ExponentialPoint {
        let counts = ExponentialCounts::of(times, SCALE);
        ExponentialPoint {
            attributes,
            start_time_unix_nano: self.from_ns,
            time_unix_nano: self.to_ns,
            count: times.count(),
            sum: Some(times.sum_ns() as f64 / 1e9),
            scale: SCALE,
            zero_count: counts.zero,
            positive: Some(buckets(&counts)),
            min: times.min_ms().map(|ms| ms / 1e3),
            max: times.max_ms().map(|ms| ms / 1e3),
            zero_threshold: 0.0,
        }
    }
}

/// Converts the buckets. OpenTelemetry includes every bucket from the first to the last non-empty one.
fn buckets(counts: &ExponentialCounts) -> Buckets {
    let all = &counts.buckets;
    let (Some(first), Some(last)) = (all.keys().next().copied(), all.keys().next_back().copied()) else {
        return Buckets::default();
    };
    let bucket_counts = (first..=last).map(|index| all.get(&index).copied().unwrap_or(0)).collect();
    Buckets { offset: first, bucket_counts }
}

fn text(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::AnyValueKind::StringValue(value.to_owned())) };
    KeyValue { key: key.to_owned(), value: Some(value) }
}

fn attributes(row: &SnapshotRow) -> Vec<KeyValue> {
    vec![text("label", &row.label), text("kind", kind(row.kind))]
}

fn with(row: &SnapshotRow, key: &str, value: &str) -> Vec<KeyValue> {
    let mut all = attributes(row);
    all.push(text(key, value));
    all
}

fn counter(name: &str, description: &str, unit: &str, data_points: Vec<NumberPoint>) -> Metric {
    let data = Sum { data_points, aggregation_temporality: CUMULATIVE, is_monotonic: true };
    Metric {
        name: name.into(),
        description: description.into(),
        unit: unit.into(),
        data: Some(metric::MetricData::Sum(data)),
    }
}

fn gauge(name: &str, description: &str, unit: &str, span: Span, value: f64) -> Metric {
    let value = Some(NumberValue::AsDouble(value));
    let point =
        NumberPoint { start_time_unix_nano: 0, time_unix_nano: span.to_ns, value, attributes: Vec::new() };
    Metric {
        name: name.into(),
        description: description.into(),
        unit: unit.into(),
        data: Some(metric::MetricData::Gauge(Gauge { data_points: vec![point] })),
    }
}

impl Metric {
    fn has_points(&self) -> bool {
        match &self.data {
            Some(metric::MetricData::Sum(sum)) => !sum.data_points.is_empty(),
            Some(metric::MetricData::Gauge(gauge)) => !gauge.data_points.is_empty(),
            Some(metric::MetricData::ExponentialHistogram(histogram)) => !histogram.data_points.is_empty(),
            None => false,
        }
    }
}

/// Returns an error if the server reports in its `answer` that it rejected some of the values.
fn check_rejected_values(answer: &[u8], post: &HttpPost) -> Result<(), ExportError> {
    // A server may send an empty response or JSON. In this case, it accepted all values.
    let partial = ExportResponse::decode(answer).ok().and_then(|answer| answer.partial_success);
    match partial {
        Some(PartialSuccess { rejected_data_points: rejected @ 1.., error_message }) => {
            Err(ExportError::Partly { target: post.target(), rejected, answer: error_message })
        }
        _ => Ok(()),
    }
}

/// Adds the path for metrics if a URL has none, because URLs of collectors are often specified without it.
fn with_path(url: &str) -> String {
    let bare = url.strip_suffix('/').unwrap_or(url);
    let host = bare.split_once("://").map_or(bare, |(_, host)| host);
    if host.contains(['/', '?']) { url.to_owned() } else { format!("{bare}{METRICS_PATH}") }
}

/// A random UUID (version 4); `None` if the system provides no random numbers.
fn instance_id() -> Option<String> {
    let mut bytes = [0; 16];
    OsRng.try_fill_bytes(&mut bytes).ok()?;
    bytes[6] = bytes[6] & 0x0F | 0x40;
    bytes[8] = bytes[8] & 0x3F | 0x80;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Some(format!(
        "{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    ))
}

impl Exporter for OtlpExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        self.unsent = None;
        self.send(self.request(snapshot).encode_to_vec())
    }

    /// Sends the last second again, because no later second contains its values.
    fn finish(&mut self) -> Result<(), ExportError> {
        self.unsent.take().map_or(Ok(()), |request| self.send(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_have_no_gaps() {
        let counts = ExponentialCounts { zero: 0, buckets: [(-3, 5), (-1, 7)].into() };
        assert_eq!(buckets(&counts), Buckets { offset: -3, bucket_counts: vec![5, 0, 7] });
        assert_eq!(buckets(&ExponentialCounts::default()), Buckets::default());
    }

    #[test]
    fn the_metrics_path_is_added_if_the_url_has_none() {
        for (url, posted) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/metrics"),
            ("http://collector:4318/", "http://collector:4318/v1/metrics"),
            (
                "https://me:secret@otlp.example/otlp/v1/metrics",
                "https://me:secret@otlp.example/otlp/v1/metrics",
            ),
            ("http://collector/?tenant=a", "http://collector/?tenant=a"),
        ] {
            assert_eq!(with_path(url), posted);
        }
    }

    #[test]
    fn instances_have_different_uuids() {
        let id = instance_id().unwrap();
        let lengths: Vec<_> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        assert_eq!(&id[14..15], "4", "{id}");
        assert!("89ab".contains(&id[19..20]), "{id}");
        assert_ne!(instance_id().unwrap(), id);
    }
}
