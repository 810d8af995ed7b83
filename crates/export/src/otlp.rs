//! OpenTelemetry's metrics over HTTP as protobuf (OTLP 1.x).

use busyhour_record::{Snapshot, SnapshotRow, TimeCounts};
use prost::Message;

use crate::csv_seconds::kind;
use crate::exponential::ExponentialCounts;
use crate::histograms::Clock;
use crate::otlp_messages::{
    AnyValue, Buckets, ExponentialHistogram, ExponentialPoint, ExportRequest, Gauge, KeyValue, Metric,
    NumberPoint, NumberValue, Resource, ResourceMetrics, Scope, ScopeMetrics, Sum, any_value, metric,
};
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, HttpPost, Origin};

/// The values since the start of the run, not those since the last request.
const CUMULATIVE: i32 = 2;

/// Buckets of exponential histograms: their bounds grow by 2^(2^−SCALE), 4.4 %.
const SCALE: i32 = 4;

/// Sends the run so far each second: counters and exponential histograms of both clocks by label.
pub struct OtlpExporter {
    post: HttpPost,
    origin: Origin,
    name: String,
    run: RunSoFar,
}

impl OtlpExporter {
    /// Sends to `url`; `name` is the value of the resource attribute `busyhour.run`.
    #[must_use]
    pub fn new(url: &str, origin: Origin, name: &str) -> Self {
        Self { post: HttpPost::new(url, Vec::new()), origin, name: name.to_owned(), run: RunSoFar::default() }
    }

    fn request(&self, snapshot: &Snapshot) -> ExportRequest {
        let ns = |ms: i64| u64::try_from(ms).unwrap_or(0).saturating_mul(1_000_000);
        let span =
            Span { from_ns: ns(self.origin.wall_anchor_ms), to_ns: ns(self.origin.end_ms(snapshot.second)) };
        let resource = vec![text("service.name", "busyhour"), text("busyhour.run", &self.name)];
        let scope = Scope { name: "busyhour".into(), version: env!("CARGO_PKG_VERSION").into() };
        ExportRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(Resource { attributes: resource }),
                scope_metrics: vec![ScopeMetrics { scope: Some(scope), metrics: self.metrics(span) }],
            }],
        }
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
            (Clock::Response, "busyhour.response_time", "Time from the intended start to the end"),
            (Clock::Service, "busyhour.service_time", "Time from the actual start to the end"),
        ];
        for (clock, name, description) in clocks {
            let points = rows().map(|row| span.histogram(&clock.times(row), attributes(row))).collect();
            let data = ExponentialHistogram { data_points: points, aggregation_temporality: CUMULATIVE };
            metrics.push(Metric {
                name: name.into(),
                description: description.into(),
                unit: "s".into(),
                data: Some(metric::Data::ExponentialHistogram(data)),
            });
        }
        if let Some(users) = self.run.users {
            metrics.push(gauge(
                "busyhour.users",
                "Most active users that samples saw",
                "{user}",
                span,
                f64::from(users),
            ));
        }
        if let Some(arrivals) = &self.run.arrivals {
            let points =
                arrivals.fates().map(|(fate, count)| span.point(count, vec![text("fate", fate)])).to_vec();
            metrics.push(counter("busyhour.arrivals", "Arrivals of open workloads", "{arrival}", points));
        }
        if let Some(cov) = self.run.cov {
            let description = "Coefficient of variation of the gaps between arrivals of the last ten seconds";
            metrics.push(gauge("busyhour.arrivals.cov", description, "1", span, cov));
        }
        metrics
    }
}

/// From when to when values count.
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

/// The same with every bucket from the first to the last that holds something.
fn buckets(counts: &ExponentialCounts) -> Buckets {
    let all = &counts.buckets;
    let (Some(first), Some(last)) = (all.keys().next().copied(), all.keys().next_back().copied()) else {
        return Buckets::default();
    };
    let bucket_counts = (first..=last).map(|index| all.get(&index).copied().unwrap_or(0)).collect();
    Buckets { offset: first, bucket_counts }
}

fn text(key: &str, value: &str) -> KeyValue {
    let value = AnyValue { value: Some(any_value::Value::StringValue(value.to_owned())) };
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
        data: Some(metric::Data::Sum(data)),
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
        data: Some(metric::Data::Gauge(Gauge { data_points: vec![point] })),
    }
}

impl Exporter for OtlpExporter {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        self.post.post("application/x-protobuf", &self.request(snapshot).encode_to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_without_gaps() {
        let counts = ExponentialCounts { zero: 0, buckets: [(-3, 5), (-1, 7)].into() };
        assert_eq!(buckets(&counts), Buckets { offset: -3, bucket_counts: vec![5, 0, 7] });
        assert_eq!(buckets(&ExponentialCounts::default()), Buckets::default());
    }
}
