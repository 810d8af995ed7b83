//! How response times went over a run, in slices of equal length: of all requests as a heat map, of each label as a series.

use serde::{Deserialize, Serialize};

/// How many requests ended in each slice of the run with a response time in each band.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Where the first slice begins, in seconds from the start of the run.
    pub from_s: f64,
    /// Length of a slice in seconds.
    pub step_s: f64,
    /// The edges of the bands in ms, one more than there are bands, 16 to a decade; band `b` is from `edges_ms[b]`
    /// (within) to `edges_ms[b + 1]` (without). Only the range in which there are requests. What lasted less than a
    /// microsecond counts in the lowest band.
    pub edges_ms: Vec<f64>,
    /// For each slice the bands in which requests ended, in ascending order, and how many.
    pub columns: Vec<Vec<(u16, u64)>>,
}

/// One label over time, in slices of equal length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowSeries {
    /// Where the first slice begins, in seconds from the start of the run.
    pub from_s: f64,
    /// Length of a slice in seconds.
    pub step_s: f64,
    /// Samples that ended in each slice.
    pub requests: Vec<u64>,
    /// Failed ones among them.
    pub errors: Vec<u64>,
    /// Mean response time in ms; `None` where none ended.
    pub response_mean: Vec<Option<f64>>,
    /// 95th percentile of the response time in ms, from bands 3.7 % wide: within 1.9 % of the sample's own; `None`
    /// where none ended.
    pub response_p95: Vec<Option<f64>>,
}
