//! The latest value of a series.

use std::sync::Arc;

use busyhour_sample::Nanos;

use crate::metric::MetricKind;

/// The latest value of a series.
#[derive(Clone, Debug, PartialEq)]
pub struct LatestValue {
    /// The name of the source.
    pub source: Arc<str>,
    /// The name of the metric.
    pub name: Arc<str>,
    /// Counter or gauge.
    pub kind: MetricKind,
    /// One sentence about the metric.
    pub help: Arc<str>,
    /// Names and values of labels.
    pub labels: Arc<[(String, String)]>,
    /// When it was read, in ns since the start of the run.
    pub time: Nanos,
    /// The value of a gauge, or the total of a counter.
    pub value: f64,
}
