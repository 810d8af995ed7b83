//! How response times went over a run, in slices of equal length: of all requests as a heat map, of each label as a series.

use busyhour_record::{HEAT_BANDS_PER_DECADE, Heat, LabelSeries};
use serde::{Deserialize, Serialize};

use crate::row::round;

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

impl HeatMap {
    pub(crate) fn of(heat: &Heat) -> Option<HeatMap> {
        let bands = || heat.columns.iter().flatten().map(|(band, _)| *band);
        let (least, most) = (bands().min()?, bands().max()?);
        // Band b begins at 10^(b/16) µs.
        let edge_ms = |band: u16| 10f64.powf(f64::from(band) / HEAT_BANDS_PER_DECADE as f64 - 3.0);
        let column =
            |column: &Vec<(u16, u64)>| column.iter().map(|(band, count)| (band - least, *count)).collect();
        Some(HeatMap {
            from_s: heat.from_second as f64,
            step_s: heat.step_s as f64,
            edges_ms: (least..=most + 1).map(edge_ms).collect(),
            columns: heat.columns.iter().map(column).collect(),
        })
    }
}

impl RowSeries {
    pub(crate) fn of(series: &LabelSeries) -> RowSeries {
        let slices = || series.slices.iter();
        RowSeries {
            from_s: series.from_second as f64,
            step_s: series.step_s as f64,
            requests: slices().map(|slice| slice.samples).collect(),
            errors: slices().map(|slice| slice.errors).collect(),
            response_mean: slices().map(|slice| slice.response_ms.map(|(mean, _)| round(mean))).collect(),
            response_p95: slices().map(|slice| slice.response_ms.map(|(_, p95)| round(p95))).collect(),
        }
    }
}
