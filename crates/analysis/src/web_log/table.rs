//! The rows of the tables.

use busyhour_sample::LogRow;
use serde::Serialize;

use super::counted::{Budget, Counted, QuantileRule};
use super::pace::Pace;

/// A row of a table: statistics of the values of one label, in ms or bytes. A statistic that needs more values is `None`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LogTableRow {
    /// The label, or [`super::TOTAL`].
    pub label: String,
    /// Number of values. Inter-arrival times are one fewer than arrivals.
    pub n: u64,
    /// Number of values per second (*tps*).
    pub per_s: Option<f64>,
    /// Median.
    pub median: Option<f64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation (divisor n − 1).
    pub sdev: Option<f64>,
    /// Coefficient of variation: standard deviation divided by mean.
    pub cv: Option<f64>,
    /// Variance divided by mean, in the unit of the values.
    pub vmr: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Minimum.
    pub min: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
    /// Failed samples in per cent, only in the table of response times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_percent: Option<f64>,
    /// Bytes received per ms, which is KB (1000 bytes) per second, only in the table of response times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kb_per_s: Option<f64>,
    /// Whether quantiles have a relative error of up to 0.1 % because there were too many distinct values.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rounded: bool,
}

impl LogTableRow {
    /// Computes a row; the values are multiples of `unit`.
    fn new(label: &str, values: &Counted, pace: &Pace, unit: f64, rule: QuantileRule) -> LogTableRow {
        let quantiles = values.quantiles(&[0.5, 0.9, 0.95, 0.99], rule);
        let quantile = |at: usize| quantiles.as_ref().map(|all| all[at] * unit);
        let mean = values.mean().map(|mean| mean * unit);
        let variance = values.variance().map(|variance| variance * unit * unit);
        let sdev = variance.map(f64::sqrt);
        let over_mean = |value: Option<f64>| Some(value? / mean.filter(|mean| *mean > 0.0)?);
        LogTableRow {
            label: label.to_owned(),
            n: values.n(),
            per_s: pace.per_s(values.n()),
            median: quantile(0),
            mean,
            sdev,
            cv: over_mean(sdev),
            vmr: over_mean(variance),
            p90: quantile(1),
            p95: quantile(2),
            p99: quantile(3),
            min: values.extremes().map(|(least, _)| least as f64 * unit),
            max: values.extremes().map(|(_, most)| most as f64 * unit),
            error_percent: None,
            kb_per_s: None,
            rounded: values.is_rounded(),
        }
    }
}

/// The values of one label, or of all labels.
#[derive(Debug, Default)]
pub(super) struct Labelled {
    pub(super) pace: Pace,
    /// Inter-arrival times in ticks, like the other times.
    pub(super) gaps: Counted,
    pub(super) elapsed: Counted,
    pub(super) bytes: Counted,
    pub(super) latency: Counted,
    pub(super) errors: u64,
}

impl Labelled {
    pub(super) fn add(&mut self, row: &LogRow, tick_ns: u64, budget: &mut Budget) {
        if let Some(gap_ns) = self.pace.next(row) {
            self.gaps.add(gap_ns / tick_ns, budget);
        }
        self.elapsed.add(row.elapsed_ns / tick_ns, budget);
        if let Some(bytes) = row.bytes {
            self.bytes.add(bytes, budget);
        }
        if let Some(latency_ns) = row.latency_ns {
            self.latency.add(latency_ns / tick_ns, budget);
        }
        self.errors += u64::from(!row.success);
    }

    /// Adds the values of another label, except its arrivals.
    pub(super) fn absorb(&mut self, other: Labelled, budget: &mut Budget) {
        self.elapsed.absorb(other.elapsed, budget);
        self.bytes.absorb(other.bytes, budget);
        self.latency.absorb(other.latency, budget);
        self.errors += other.errors;
    }
}

/// The rows of all tables.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) inter_arrival: Vec<LogTableRow>,
    pub(super) response_time: Vec<LogTableRow>,
    pub(super) size: Vec<LogTableRow>,
    pub(super) first_byte: Vec<LogTableRow>,
}

impl Tables {
    /// Adds a row to each table.
    pub(super) fn push(&mut self, label: &str, of: &Labelled, tick_ms: f64, rule: QuantileRule) {
        let row = |values, unit| LogTableRow::new(label, values, &of.pace, unit, rule);
        self.inter_arrival.push(row(&of.gaps, tick_ms));
        let n = of.elapsed.n();
        let duration_ms = of.pace.duration_ns().filter(|ns| *ns > 0).map(|ns| ns as f64 / 1e6);
        self.response_time.push(LogTableRow {
            error_percent: (n > 0).then(|| of.errors as f64 * 100.0 / n as f64),
            kb_per_s: duration_ms.filter(|_| of.bytes.n() > 0).map(|ms| of.bytes.sum() / ms),
            ..row(&of.elapsed, tick_ms)
        });
        self.size.push(row(&of.bytes, 1.0));
        self.first_byte.push(row(&of.latency, tick_ms));
    }
}
