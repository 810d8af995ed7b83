//! The contents of files with percentiles.

use serde::{Deserialize, Serialize};

/// Maximum number of rows that are kept. Further rows are counted.
pub(crate) const ROWS_MAX: usize = 1_000;

/// The contents of a file with percentiles.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AggregateResult {
    /// The tool that wrote the file.
    pub tool: String,
    /// The format of the file.
    pub format: String,
    /// The rows: all requests first, then parts of them.
    pub rows: Vec<AggregateRow>,
    /// Number of rows that are not listed, because there are more than a thousand.
    pub more_rows: u64,
    /// Requests or iterations that, according to the file, the tool should have started but did not.
    pub dropped: u64,
    /// How the times were measured and rounded.
    pub method: PercentileMethod,
}

/// How times were measured, as far as the file or the tool reveals it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PercentileMethod {
    /// The moving window that the percentiles cover; `None` if they cover the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<MovingWindow>,
    /// Number of significant digits to which the tool rounds times; `None` if it does not round them to significant digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounded_digits: Option<u32>,
    /// Whether times count from the intended start; `None` if the file does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_intended_start: Option<bool>,
    /// Number of requests that the tool sent, if the percentiles cover fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// Whether the unit of times is unknown; they are then shown as if they were ms.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unknown_unit: bool,
    /// Whether failed requests are not in the percentiles.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_failed: bool,
}

/// Percentiles of a moving window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MovingWindow {
    /// Length of the window in s.
    pub window_s: f64,
    /// The smallest and the largest 95th percentile of a window in ms; `None` without requests.
    pub p95_ms: Option<(f64, f64)>,
    /// The smallest and the largest 99th percentile of a window in ms; `None` without requests.
    pub p99_ms: Option<(f64, f64)>,
}

/// A row of percentiles. Values are `None` if the file does not contain them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct AggregateRow {
    /// The name of the request, or a description of the row.
    pub name: String,
    /// Number of requests.
    pub requests: Option<u64>,
    /// Number of failed requests.
    pub failures: Option<u64>,
    /// Requests per s.
    pub rate_per_s: Option<f64>,
    /// Mean in ms.
    pub mean_ms: Option<f64>,
    /// Smallest value in ms.
    pub min_ms: Option<f64>,
    /// Largest value in ms.
    pub max_ms: Option<f64>,
    /// Percentiles in ascending order.
    pub percentiles: Vec<StatedPercentile>,
}

/// A percentile of times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StatedPercentile {
    /// The percentile, from 0 to 100.
    pub percentile: f64,
    /// Its value in ms.
    pub ms: f64,
}

impl AggregateRow {
    /// The value of a percentile in ms.
    #[must_use]
    pub fn percentile(&self, percentile: f64) -> Option<f64> {
        self.percentiles
            .iter()
            .find(|known| (known.percentile - percentile).abs() < 1e-9)
            .map(|known| known.ms)
    }

    pub(crate) fn set_percentiles(&mut self, percentiles: impl Iterator<Item = (f64, f64)>) {
        let valid =
            percentiles.filter(|(percentile, ms)| (0.0..=100.0).contains(percentile) && ms.is_finite());
        self.percentiles = valid.map(|(percentile, ms)| StatedPercentile { percentile, ms }).collect();
        self.percentiles.sort_by(|a, b| a.percentile.total_cmp(&b.percentile));
    }
}
