//! How response times went over a run, in slices of equal length: of all requests as a heat map, of each label as a series.

use busyhour_record::{HEAT_BANDS_PER_DECADE, Heat, LabelSeries};
use serde::{Deserialize, Serialize};

use crate::rounding::round;

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
    /// The quantile `share` (0 to 1) of the response times in ms that ended in slice number `slice`: the time of rank
    /// ⌈share·n⌉, placed in its band as if times lay evenly on its logarithmic scale, so within 15.5 % of the sample's own.
    /// `None` when none ended.
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
    fn of_an_empty_slice_nothing_is_known() {
        let heat = HeatMap {
            from_s: 0.0,
            step_s: 2.0,
            edges_ms: vec![1.0, 10.0, 100.0],
            columns: vec![vec![], vec![(0, 1), (1, 2)]],
        };
        assert_eq!([heat.quantile_ms(0, 0.5), heat.quantile_ms(2, 0.5)], [None, None]);
        let found = [0.0, 0.34, 1.0].map(|share| heat.quantile_ms(1, share).unwrap());
        let wanted = [10f64.powf(0.5), 10f64.powf(1.25), 10f64.powf(1.75)];
        assert!(
            found.iter().zip(wanted).all(|(found, wanted)| (found / wanted - 1.0).abs() < 1e-9),
            "{found:?}"
        );
    }

    proptest! {
        /// A quantile read from the bands lies in the band of the sample's own.
        #[test]
        fn a_quantile_is_that_of_the_times_within_a_band(
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
            let own = times_us[rank - 1] as f64 / 1e3;
            let width = 10f64.powf(1.0 / HEAT_BANDS_PER_DECADE as f64) * (1.0 + 1e-9);
            prop_assert!(found / own < width && own / found < width, "{found} for {own}");
        }
    }
}
