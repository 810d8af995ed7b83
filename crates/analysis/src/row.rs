//! The rows of a summary.

use busyhour_sample::{
    ApdexLimits, ErrorKind, LabelTotals, SampleKind, SlowRequest, TimeDistribution, Totals,
};
use serde::{Deserialize, Serialize};

use crate::apdex::Apdex;
use crate::over_time::RowSeries;
use crate::rounding::round;
use crate::series::{DistributionPoint, short_distribution};

/// Mean, extremes and quantiles of a time, in ms. Quantiles are computed from a histogram with three significant digits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// Mean, computed from the exact sum.
    pub mean: f64,
    /// Standard deviation (divisor n − 1), computed from exact sums.
    pub stddev: f64,
    /// Minimum, exact.
    pub min: f64,
    /// 25th percentile: the lower end of the interquartile range.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile: the upper end of the interquartile range.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
    /// Maximum, exact.
    pub max: f64,
}

impl Times {
    pub(crate) fn of(clock: &TimeDistribution) -> Times {
        let quantile = |q| round(clock.quantile_ms(q));
        Times {
            mean: round(clock.mean_ms()),
            stddev: round(clock.stddev_ms()),
            min: round(clock.min_ms()),
            p25: quantile(0.25),
            p50: quantile(0.5),
            p75: quantile(0.75),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            max: round(clock.max_ms()),
        }
    }
}

/// JMeter's `elapsed`, in whole ms.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct ElapsedSummary {
    /// Mean.
    pub mean: f64,
    /// Minimum.
    pub min: i64,
    /// Maximum.
    pub max: i64,
}

/// One row of a summary: a label, or the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The label.
    pub label: String,
    /// Kind of the samples.
    pub kind: SampleKind,
    /// Number of samples.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Failed samples in per cent.
    pub error_percent: f64,
    /// Samples per second, over the time from the first start to the last end of all requests of the run, so that the rates of
    /// labels add up to the total's.
    pub rate_per_s: f64,
    /// KiB received per second, over the same time.
    pub received_kib_per_s: f64,
    /// KiB sent per second, over the same time.
    pub sent_kib_per_s: f64,
    /// Bytes received.
    pub bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// Response time: end − intended start.
    pub response: Times,
    /// Service time: end − actual start.
    pub service: Times,
    /// JMeter's `elapsed` times.
    pub elapsed: ElapsedSummary,
    /// First start, in seconds from the start of the run.
    pub first_start_s: f64,
    /// Last end, in seconds from the start of the run.
    pub last_end_s: f64,
    /// The Application Performance Index; `None` without samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apdex: Option<Apdex>,
    /// The quantile function, in about 40 points.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distribution: Vec<DistributionPoint>,
    /// The time series of the label; `None` for totals, and when it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<RowSeries>,
}

impl Row {
    /// The row of a label.
    pub(crate) fn of_label(label: &LabelTotals, span_s: f64, apdex: ApdexLimits) -> Row {
        let series = label.series.as_ref().map(RowSeries::of);
        Row { series, ..Row::of(&label.name, label.kind, &label.totals, span_s, apdex) }
    }

    pub(crate) fn of(label: &str, kind: SampleKind, totals: &Totals, span_s: f64, apdex: ApdexLimits) -> Row {
        let samples = totals.samples;
        let per_s = |value: f64| if span_s > 0.0 { round(value / span_s) } else { 0.0 };
        let rows = totals.service.count();
        let elapsed = if rows == 0 {
            ElapsedSummary::default()
        } else {
            let mean = round(totals.elapsed.sum as f64 / rows as f64);
            ElapsedSummary { mean, min: totals.elapsed.min, max: totals.elapsed.max }
        };
        Row {
            label: label.to_owned(),
            kind,
            samples,
            errors: totals.errors,
            error_percent: if samples == 0 { 0.0 } else { totals.errors as f64 * 100.0 / samples as f64 },
            rate_per_s: per_s(samples as f64),
            received_kib_per_s: per_s(totals.bytes as f64 / 1024.0),
            sent_kib_per_s: per_s(totals.sent_bytes as f64 / 1024.0),
            bytes: totals.bytes,
            sent_bytes: totals.sent_bytes,
            response: Times::of(&totals.response),
            service: Times::of(&totals.service),
            elapsed,
            first_start_s: if rows == 0 { 0.0 } else { totals.first_start.as_secs_f64() },
            last_end_s: totals.last_end.as_secs_f64(),
            apdex: Apdex::of(totals, apdex),
            distribution: short_distribution(&totals.response, &totals.service),
            series: None,
        }
    }
}

/// One of the slowest requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SlowSample {
    /// Label of the request.
    pub label: String,
    /// Actual start of the request, in seconds from the start of the run.
    pub start_s: f64,
    /// Response time in ms.
    pub response_ms: f64,
    /// Service time in ms.
    pub service_ms: f64,
    /// Response code.
    pub code: String,
    /// Response message, or the message of the first failed assertion.
    pub message: String,
    /// Whether the request succeeded.
    pub success: bool,
}

impl SlowSample {
    pub(crate) fn of(request: &SlowRequest) -> SlowSample {
        SlowSample {
            label: request.label.clone(),
            start_s: request.start.as_secs_f64(),
            response_ms: round(request.response_ns as f64 / 1e6),
            service_ms: round(request.service_ns as f64 / 1e6),
            code: request.code.clone(),
            message: request.message.clone(),
            success: request.success,
        }
    }
}

/// The errors of one kind in one label.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorLabel {
    /// The label.
    pub label: String,
    /// Number of errors.
    pub count: u64,
}

/// One kind of error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorRow {
    /// Response code.
    pub code: String,
    /// Message of the first failed assertion, or of the response.
    pub message: String,
    /// Number of errors of this kind.
    pub count: u64,
    /// Share of all errors, in per cent.
    pub percent_of_errors: f64,
    /// Label of the first request with this error.
    pub example_label: String,
    /// The most frequent labels with this error.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<ErrorLabel>,
    /// End of the first request with this error, in seconds from the start of the run.
    pub first_s: f64,
    /// End of the last request with this error, in seconds from the start of the run.
    pub last_s: f64,
}

impl ErrorRow {
    /// The most frequent labels with their counts. If errors were not counted per label, returns the label of the first
    /// request with this error and the count of all errors of this kind.
    pub fn label_counts(&self) -> Vec<(&str, u64)> {
        match &self.labels[..] {
            [] => vec![(self.example_label.as_str(), self.count)],
            labels => labels.iter().map(|label| (label.label.as_str(), label.count)).collect(),
        }
    }

    pub(crate) fn of(kind: &ErrorKind, errors: u64) -> ErrorRow {
        ErrorRow {
            code: kind.code.clone(),
            message: kind.message.clone(),
            count: kind.count,
            percent_of_errors: if errors == 0 { 0.0 } else { kind.count as f64 * 100.0 / errors as f64 },
            example_label: kind.example_label.clone(),
            labels: kind
                .labels
                .iter()
                .map(|(label, count)| ErrorLabel { label: label.clone(), count: *count })
                .collect(),
            first_s: kind.first.as_secs_f64(),
            last_s: kind.last.as_secs_f64(),
        }
    }
}
