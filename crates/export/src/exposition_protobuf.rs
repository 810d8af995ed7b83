//! A run in Prometheus's protobuf exposition format: messages `io.prometheus.client.MetricFamily`, each preceded by its length.
//! Servers that support native histograms request this format. Field numbers are those of `metrics.proto` in `client_model`.

use busyhour_sample::TimeCounts;
use busyhour_server::exposition::ExpositionType;
use prost::Message;

use crate::exponential::ExponentialCounts;
use crate::metrics::{Family, MetricValue, SCHEMA, ZERO_THRESHOLD_S, classic_buckets};

/// The content type of the format.
pub(crate) const CONTENT_TYPE: &str =
    "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Whether the client accepts the format, according to its header `accept`.
pub(crate) fn is_accepted(accept: &str) -> bool {
    accept.split(',').any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        parts.next() == Some("application/vnd.google.protobuf")
            && parts.clone().any(|part| part == "proto=io.prometheus.client.MetricFamily")
            && parts.any(|part| part == "encoding=delimited")
    })
}

#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    help: String,
    /// 0: counter, 1: gauge, 4: histogram.
    #[prost(int32, optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<MetricMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct MetricMessage {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<HistogramMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct HistogramMessage {
    #[prost(uint64, tag = "1")]
    sample_count: u64,
    #[prost(double, tag = "2")]
    sample_sum: f64,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<BucketMessage>,
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(double, tag = "6")]
    zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    zero_count: u64,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<SpanMessage>,
    #[prost(sint64, repeated, tag = "13")]
    positive_delta: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct BucketMessage {
    #[prost(uint64, optional, tag = "1")]
    cumulative_count: Option<u64>,
    #[prost(double, tag = "2")]
    upper_bound: f64,
}

#[derive(Clone, PartialEq, Message)]
struct SpanMessage {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

/// Encodes the messages of a scrape.
pub(crate) fn exposition_protobuf(families: &[Family]) -> Vec<u8> {
    families.iter().flat_map(|family| message(family).encode_length_delimited_to_vec()).collect()
}

fn message(family: &Family) -> MetricFamily {
    let kind = match family.family_type {
        ExpositionType::Counter => 0,
        ExpositionType::Gauge => 1,
        ExpositionType::Histogram => 4,
    };
    let metrics = family.metrics.iter().map(|metric| {
        let label = metric
            .labels
            .iter()
            .map(|(name, value)| LabelPair { name: name.to_string(), value: value.clone() });
        let mut message = MetricMessage { label: label.collect(), ..MetricMessage::default() };
        match (&metric.value, family.family_type) {
            (MetricValue::Times(times), _) => message.histogram = Some(histogram(times)),
            (MetricValue::Number(value), ExpositionType::Gauge) => {
                message.gauge = Some(Number { value: Some(*value) })
            }
            (MetricValue::Number(value), _) => message.counter = Some(Number { value: Some(*value) }),
        }
        message
    });
    MetricFamily {
        name: family.name.to_string(),
        help: family.help.to_string(),
        kind: Some(kind),
        metric: metrics.collect(),
    }
}

fn histogram(times: &TimeCounts) -> HistogramMessage {
    let counts = ExponentialCounts::of(times, SCHEMA);
    let (spans, positive_delta) = counts.spans();
    let buckets = classic_buckets(times)
        .map(|(upper_bound, count)| BucketMessage { cumulative_count: Some(count), upper_bound });
    HistogramMessage {
        sample_count: times.count(),
        sample_sum: times.sum_ns() as f64 / 1e9,
        bucket: buckets.collect(),
        schema: SCHEMA,
        zero_threshold: ZERO_THRESHOLD_S,
        zero_count: counts.zero,
        positive_span: spans.into_iter().map(|(offset, length)| SpanMessage { offset, length }).collect(),
        positive_delta,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Metric;

    #[test]
    fn clients_that_accept_protobuf_get_it() {
        let prometheus = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
                          application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert!(is_accepted(prometheus));
        for other in ["", "*/*", "text/plain", "application/vnd.google.protobuf;proto=x;encoding=delimited"] {
            assert!(!is_accepted(other), "{other}");
        }
    }

    #[test]
    fn messages_are_read_back() {
        let times = TimeCounts::from_ns([0, 1_000_000, 1_000_000, 3_000_000_000]);
        let labels = vec![("label".into(), "home".to_owned())];
        let family = |name: &'static str, family_type, value| Family {
            name: name.into(),
            help: "h".into(),
            family_type,
            metrics: vec![Metric { labels: labels.clone(), value }],
        };
        let bytes = exposition_protobuf(&[
            family("a", ExpositionType::Counter, MetricValue::Number(3.0)),
            family("b", ExpositionType::Histogram, MetricValue::Times(times)),
        ]);
        let mut rest = bytes.as_slice();
        let first = MetricFamily::decode_length_delimited(&mut rest).unwrap();
        assert_eq!((first.name.as_str(), first.kind), ("a", Some(0)));
        assert_eq!(first.metric[0].counter, Some(Number { value: Some(3.0) }));
        assert_eq!(first.metric[0].label[0].value, "home");
        let second = MetricFamily::decode_length_delimited(&mut rest).unwrap();
        assert!(rest.is_empty());
        let histogram = second.metric[0].histogram.clone().unwrap();
        assert_eq!((histogram.sample_count, histogram.zero_count, histogram.schema), (4, 1, SCHEMA));
        assert_eq!(
            histogram.bucket.last().map(|last| (last.cumulative_count, last.upper_bound)),
            Some((Some(4), f64::INFINITY))
        );
        // 1 ms and 3 s (as the lowest value of its band) in buckets whose upper bounds are 2^(number / 2^SCHEMA) s.
        let number = |s: f64| (s.log2() * 32.0).ceil() as i32;
        let (low, high) = (number(0.001), number(3.0));
        let spans: Vec<_> = histogram.positive_span.iter().map(|span| (span.offset, span.length)).collect();
        assert_eq!(spans, [(low, 1), (high - low - 1, 1)]);
        assert_eq!(histogram.positive_delta, [2, -1]);
    }
}
