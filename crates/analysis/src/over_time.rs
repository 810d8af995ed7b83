//! Response times over the run, in slices of equal length: a heat map of all requests, and one series per label.

use busyhour_sample::{HEAT_BANDS_PER_DECADE, Heat, LabelSeries};
use serde::{Deserialize, Serialize};

use crate::rounding::round;

/// The number of requests by the slice of the run in which they ended and the band of their response time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// Start of the first slice, in seconds from the start of the run.
    pub from_s: f64,
    /// Length of a slice in seconds.
    pub step_s: f64,
    /// The edges of the bands in ms, one more than there are bands, with 16 bands per decade. Band `b` starts at `edges_ms[b]`
    /// (inclusive) and ends at `edges_ms[b + 1]` (exclusive). The bands cover only the range of times that occurred. Times
    /// below a microsecond count in the lowest band.
    pub edges_ms: Vec<f64>,
    /// For each slice, the bands that contain requests, in ascending order, and their number of requests.
    pub columns: Vec<Vec<(u16, u64)>>,
}

/// The series of one label, in slices of equal length.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowSeries {
    /// Start of the first slice, in seconds from the start of the run.
    pub from_s: f64,
    /// Length of a slice in seconds.
    pub step_s: f64,
    /// Samples that ended in each slice.
    pub requests: Vec<u64>,
    /// Failed samples among them.
    pub errors: Vec<u64>,
    /// Mean response time in ms; `None` for slices in which no sample ended.
    pub response_mean: Vec<Option<f64>>,
    /// 95th percentile of the response time in ms, computed from bands 3.7 % wide and therefore within 1.9 % of the exact value;
    /// `None` for slices in which no sample ended.
    pub response_p95: Vec<Option<f64>>,
}

impl HeatMap {
    /// The quantile `share` (0 to 1) of the response times in slice number `slice`, in ms: the time of rank ⌈share·n⌉,
    /// interpolated within its band on a logarithmic scale, and therefore within 15.5 % of the exact quantile. `None` when no
    /// request ended in the slice.
    #[must_use]
    pub fn quantile_ms(&self, slice: usize, share: f64) -> Option<f64> {
        let column = self.columns.get(slice)?;
        let times: u64 = column.iter().map(|(_, count)| count).sum();
        let rank = ((times as f64 * share).ceil() as u64).clamp(1, times.max(1));
        let mut before = 0;
        for &(band, count) in column {
            if before + count >= rank {
                let (low, high) =
                    (*self.edges_ms.get(usize::from(band))?, *self.edges_ms.get(usize::from(band) + 1)?);
                let part = ((rank - before) as f64 - 0.5) / count as f64;
                return Some(low * (high / low).powf(part));
            }
            before += count;
        }
        None
    }

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_empty_slice_has_no_quantile() {
        let heat = HeatMap {
            from_s: 0.0,
            step_s: 2.0,
            edges_ms: vec![1.0, 10.0, 100.0],
            columns: vec![vec![], vec![(0, 1), (1, 2)]],
        };
        assert_eq!([heat.quantile_ms(0, 0.5), heat.quantile_ms(2, 0.5)], [None, None]);
        let found = [0.0, 0.34, 1.0].map(|share| heat.quantile_ms(1, share).unwrap());
        let expected = [10f64.powf(0.5), 10f64.powf(1.25), 10f64.powf(1.75)];
        assert!(
            found.iter().zip(expected).all(|(found, expected)| (found / expected - 1.0).abs() < 1e-9),
            "{found:?}"
        );
    }

    proptest! {
        /// A quantile computed from the bands is in the band of the exact quantile.
        #[test]
        fn a_quantile_differs_from_the_exact_one_by_less_than_a_band(
            mut times_us in prop::collection::vec(1u64..100_000_000, 1..200),
            share in 0.0f64..=1.0,
        ) {
            times_us.sort_unstable();
            let band = |us: u64| ((us as f64).log10() * HEAT_BANDS_PER_DECADE as f64).floor() as u16;
            let mut column: Vec<(u16, u64)> = Vec::new();
            for &us in &times_us {
                match column.last_mut() {
                    Some((last, count)) if *last == band(us) => *count += 1,
                    _ => column.push((band(us), 1)),
                }
            }
            let heat = Heat { from_second: 0, step_s: 1, columns: vec![column] };
            let found = HeatMap::of(&heat).unwrap().quantile_ms(0, share).unwrap();
            let rank = ((times_us.len() as f64 * share).ceil() as usize).max(1);
            let exact = times_us[rank - 1] as f64 / 1e3;
            let width = 10f64.powf(1.0 / HEAT_BANDS_PER_DECADE as f64) * (1.0 + 1e-9);
            prop_assert!(found / exact < width && exact / found < width, "{found} for {exact}");
        }
    }
}
