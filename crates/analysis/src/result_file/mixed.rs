//! Requests of different kinds in one percentile.

use serde::{Deserialize, Serialize};

use crate::row::Row;

/// Minimum share of all requests, and minimum number of requests, of a label that is compared with others.
const SHARE_MIN: f64 = 0.05;
const SAMPLES_MIN: u64 = 100;

/// Labels whose 95th percentiles have at least this ratio are different kinds of requests.
const RATIO_MIN: f64 = 3.0;

/// Minimum difference of the percentiles in ms.
const DIFFERENCE_MS_MIN: f64 = 5.0;

/// A label with its 95th percentile.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelTime {
    /// The label.
    pub label: String,
    /// Its 95th percentile in ms.
    pub p95_ms: f64,
}

/// The fastest and the slowest of the common labels, if their times differ so much that a percentile of all requests describes
/// neither of them.
pub(crate) fn mixed_labels(labels: &[Row], samples: u64) -> Option<(LabelTime, LabelTime)> {
    let least = SAMPLES_MIN.max((samples as f64 * SHARE_MIN) as u64);
    let requests = labels.iter().filter(|row| row.kind == busyhour_sample::SampleKind::Request);
    let common: Vec<&Row> = requests.filter(|row| row.samples >= least).collect();
    let p95 = |row: &&&Row| row.response.p95;
    let fast = common.iter().min_by(|a, b| p95(a).total_cmp(&p95(b)))?;
    let slow = common.iter().max_by(|a, b| p95(a).total_cmp(&p95(b)))?;
    let difference_ms = p95(&slow) - p95(&fast);
    let is_mixed = p95(&slow) >= RATIO_MIN * p95(&fast) && difference_ms >= DIFFERENCE_MS_MIN;
    let time = |row: &Row| LabelTime { label: row.label.clone(), p95_ms: row.response.p95 };
    is_mixed.then(|| (time(fast), time(slow)))
}
