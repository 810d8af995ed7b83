//! Response times over the run, in time slices of equal length. When there are too many slices, their length doubles.
//! A heat map counts all requests by band; each row of the aggregator has counts, means and percentiles.
//!
//! Slices are updated when the aggregator closes a second, so adding a sample costs nothing extra.

use crate::bands::{self, BANDS, PER_DECADE};

/// Maximum number of slices of the heat map.
const HEAT_SLICES_MAX: u64 = 480;

/// Maximum number of slices of a row.
const ROW_SLICES_MAX: u64 = 240;

/// Maximum number of slices of a row's series. If the row has more slices, the series contains pairs of them.
const SERIES_SLICES_MAX: u64 = 120;

/// Bands of the heat map per decade.
pub const HEAT_BANDS_PER_DECADE: usize = 16;

/// Number of the bands of [`crate::bands`] per band of the heat map.
const FINE: usize = PER_DECADE / HEAT_BANDS_PER_DECADE;

/// Response times of requests over the run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heat {
    /// The second in which the first slice starts.
    pub from_second: u64,
    /// Length of a slice in seconds.
    pub step_s: u64,
    /// For each slice: its bands in ascending order, each with the number of requests that ended. Band `b` starts at 10^(b/16)
    /// µs.
    pub columns: Vec<Vec<(u16, u64)>>,
}

/// The time series of one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LabelSeries {
    /// The second in which the first slice starts.
    pub from_second: u64,
    /// Length of a slice in seconds.
    pub step_s: u64,
    /// The slices.
    pub slices: Vec<SlicePoint>,
}

/// One slice of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SlicePoint {
    /// Number of samples that ended.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Mean and 95th percentile of the response time in ms; `None` if no sample ended. The percentile is the midpoint of a band
    /// that is 3.7 % wide.
    pub response_ms: Option<(f64, f64)>,
}

/// The times of one row in slices of equal length.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSlices {
    /// The second in which the first slice starts.
    pub from_second: u64,
    /// Length of a slice in seconds.
    pub step_s: u64,
    /// The slices, up to the last one in which a sample ended.
    pub slices: Vec<LabelSlice>,
}

/// Counts and times of one slice of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSlice {
    /// Number of samples that ended.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Sum of the response times in µs.
    pub response_us: u64,
    /// Sum of the service times in µs.
    pub service_us: u64,
    /// Bands of response times in ascending order, each with the number of times; [`LabelSlices::band_edge_us`] returns the
    /// start of a band.
    pub bands: Vec<(u16, u32)>,
}

impl LabelSlices {
    /// The start of band `band`, which is the end of the band below it, in µs.
    #[must_use]
    pub fn band_edge_us(band: u16) -> f64 {
        bands::edge_us(usize::from(band))
    }
}

/// The slice of a row that is being filled.
#[derive(Debug, Default)]
struct Slice {
    /// Number of the slice.
    at: u64,
    samples: u64,
    errors: u64,
    response_us: u64,
    service_us: u64,
    /// Bands in ascending order, and the number of times in each.
    bands: Vec<(u16, u32)>,
}

impl Slice {
    fn merge(&mut self, other: &Slice) {
        self.samples += other.samples;
        self.errors += other.errors;
        self.response_us = self.response_us.saturating_add(other.response_us);
        self.service_us = self.service_us.saturating_add(other.service_us);
        merge(&mut self.bands, &other.bands, |a, b| *a = a.saturating_add(b));
    }

    fn point(&self) -> SlicePoint {
        let times: u64 = self.bands.iter().map(|(_, count)| u64::from(*count)).sum();
        // Finds the band of the 95th percentile.
        let wanted = (times * 95).div_ceil(100);
        let mut seen = 0;
        let band = self.bands.iter().find(|(_, count)| {
            seen += u64::from(*count);
            seen >= wanted
        });
        let response_ms = band.map(|(band, _)| {
            let band = usize::from(*band);
            let p95_us = (bands::edge_us(band) * bands::edge_us(band + 1)).sqrt();
            (self.response_us as f64 / times as f64 / 1e3, p95_us / 1e3)
        });
        SlicePoint { samples: self.samples, errors: self.errors, response_ms }
    }
}

/// Merges the sorted list `more` into the sorted list `into`. `add` adds up the numbers of equal bands.
fn merge<N: Copy>(into: &mut Vec<(u16, N)>, more: &[(u16, N)], add: impl Fn(&mut N, N)) {
    let mut at = 0;
    for (band, count) in more {
        at += into[at..].partition_point(|(known, _)| known < band);
        match into.get_mut(at) {
            Some((known, sum)) if known == band => add(sum, *count),
            _ => into.insert(at, (*band, *count)),
        }
    }
}

/// The samples of one row that ended in one second.
#[derive(Debug, Default)]
pub struct RowSecond {
    /// Whether its samples are requests, which the heat map contains.
    pub is_request: bool,
    /// Number of samples.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    /// Service and response time in µs of each sample.
    pub times: Vec<(u64, u64)>,
}

/// The slices of a run, to which seconds are added.
#[derive(Debug)]
pub struct OverTime {
    /// The first second of the run.
    from: Option<u64>,
    heat: Vec<Vec<(u16, u64)>>,
    heat_step: u64,
    rows: Vec<Vec<Slice>>,
    row_step: u64,
    /// Number of seconds from the first to the last.
    length: u64,
    /// Counts by band, cleared after use.
    counts: Vec<u32>,
    heat_counts: Vec<u32>,
    found: Vec<(u16, u32)>,
    heat_found: Vec<(u16, u64)>,
}

impl Default for OverTime {
    fn default() -> Self {
        OverTime::new()
    }
}

impl OverTime {
    /// Time series without samples.
    pub fn new() -> OverTime {
        OverTime {
            from: None,
            heat: Vec::new(),
            heat_step: 1,
            rows: Vec::new(),
            row_step: 1,
            length: 0,
            counts: vec![0; BANDS],
            heat_counts: vec![0; BANDS / FINE],
            found: Vec::new(),
            heat_found: Vec::new(),
        }
    }

    /// Adds the second `number`, which must not be before the first second that was added.
    pub fn add(&mut self, number: u64, rows: &[RowSecond]) {
        let since = number.saturating_sub(*self.from.get_or_insert(number));
        self.length = self.length.max(since);
        while since / self.row_step >= ROW_SLICES_MAX {
            self.row_step *= 2;
            self.rows.iter_mut().for_each(double);
        }
        while since / self.heat_step >= HEAT_SLICES_MAX {
            self.heat_step *= 2;
            let pairs = self.heat.len().div_ceil(2);
            for at in 0..pairs {
                let mut pair = std::mem::take(&mut self.heat[2 * at]);
                if let Some(second) = self.heat.get(2 * at + 1) {
                    merge(&mut pair, second, |a, b| *a += b);
                }
                self.heat[at] = pair;
            }
            self.heat.truncate(pairs);
        }
        let mut heat_bands = (usize::MAX, 0);
        for (at, row) in rows.iter().enumerate() {
            self.add_row(at, since / self.row_step, row, &mut heat_bands);
        }
        if heat_bands.0 > heat_bands.1 {
            return;
        }
        self.heat_found.clear();
        for band in heat_bands.0..=heat_bands.1 {
            let count = std::mem::take(&mut self.heat_counts[band]);
            if count > 0 {
                self.heat_found.push((band as u16, u64::from(count)));
            }
        }
        let at = (since / self.heat_step) as usize;
        if self.heat.len() <= at {
            self.heat.resize_with(at + 1, Vec::new);
        }
        merge(&mut self.heat[at], &self.heat_found, |a, b| *a += b);
    }

    fn add_row(&mut self, number: usize, at: u64, row: &RowSecond, heat_bands: &mut (usize, usize)) {
        let (mut least, mut most, mut sum, mut service_sum) = (usize::MAX, 0, 0u64, 0u64);
        let bands = bands::bands();
        for (service_us, response_us) in &row.times {
            let band = bands.of(*response_us);
            self.counts[band] += 1;
            least = least.min(band);
            most = most.max(band);
            sum = sum.saturating_add(*response_us);
            service_sum = service_sum.saturating_add(*service_us);
        }
        if least > most {
            return;
        }
        self.found.clear();
        for band in least..=most {
            let count = std::mem::take(&mut self.counts[band]);
            if count > 0 {
                self.found.push((band as u16, count));
                if row.is_request {
                    self.heat_counts[band / FINE] += count;
                }
            }
        }
        if row.is_request {
            *heat_bands = (heat_bands.0.min(least / FINE), heat_bands.1.max(most / FINE));
        }
        if self.rows.len() <= number {
            self.rows.resize_with(number + 1, Vec::new);
        }
        let slices = &mut self.rows[number];
        if slices.last().is_none_or(|slice| slice.at < at) {
            slices.push(Slice { at, ..Slice::default() });
        }
        // Seconds are added in order, so the last slice is the right one.
        let Some(slice) = slices.last_mut() else { return };
        slice.samples += row.samples;
        slice.errors += row.errors;
        slice.response_us = slice.response_us.saturating_add(sum);
        slice.service_us = slice.service_us.saturating_add(service_sum);
        merge(&mut slice.bands, &self.found, |a, b| *a = a.saturating_add(b));
    }

    /// The heat map; `None` when no request ended.
    pub fn heat(&self) -> Option<Heat> {
        let from_second = self.from.filter(|_| !self.heat.is_empty())?;
        Some(Heat { from_second, step_s: self.heat_step, columns: self.heat.clone() })
    }

    /// The series and the slices of row number `row`; `None` if none of its samples ended.
    pub fn take_row(&mut self, row: usize) -> Option<(LabelSeries, LabelSlices)> {
        let rows = std::mem::take(self.rows.get_mut(row)?);
        let last = usize::try_from(rows.last()?.at).ok()?;
        let (from_second, step_s) = (self.from?, self.row_step);
        let is_paired = self.length / step_s >= SERIES_SLICES_MAX;
        let by = if is_paired { 2 } else { 1 };
        let mut points = vec![SlicePoint::default(); last / by + 1];
        let mut pair = Slice::default();
        for slice in &rows {
            let at = slice.at / by as u64;
            if pair.at != at {
                pair = Slice { at, ..Slice::default() };
            }
            pair.merge(slice);
            points[at as usize] = pair.point();
        }
        let mut slices = vec![LabelSlice::default(); last + 1];
        for Slice { at, samples, errors, response_us, service_us, bands } in rows {
            slices[at as usize] = LabelSlice { samples, errors, response_us, service_us, bands };
        }
        let series = LabelSeries { from_second, step_s: step_s * by as u64, slices: points };
        Some((series, LabelSlices { from_second, step_s, slices }))
    }
}

/// Joins pairs of slices.
fn double(slices: &mut Vec<Slice>) {
    let mut joined: Vec<Slice> = Vec::with_capacity(slices.len().div_ceil(2));
    for slice in slices.drain(..) {
        let at = slice.at / 2;
        match joined.last_mut() {
            Some(last) if last.at == at => last.merge(&slice),
            _ => joined.push(Slice { at, ..slice }),
        }
    }
    *slices = joined;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn second(times: &[(u64, u64)]) -> [RowSecond; 1] {
        let samples = times.len() as u64;
        [RowSecond { is_request: true, samples, errors: samples / 2, times: times.to_vec() }]
    }

    #[test]
    fn slices_double_without_losing_samples() {
        let mut over = OverTime::new();
        let times: Vec<(u64, u64)> = (1..=100).map(|ms| (0, ms * 1_000)).collect();
        for number in 1_000..2_000 {
            over.add(number, &second(&times));
        }
        let heat = over.heat().unwrap();
        assert_eq!((heat.from_second, heat.step_s, heat.columns.len()), (1_000, 4, 250));
        let count: u64 = heat.columns.iter().flatten().map(|(_, count)| count).sum();
        assert_eq!(count, 100_000);
        let (series, slices) = over.take_row(0).unwrap();
        assert_eq!((series.step_s, series.slices.len()), (16, 63));
        assert_eq!((slices.step_s, slices.slices.len()), (8, 125));
        assert_eq!(slices.slices.iter().map(|slice| slice.errors).sum::<u64>(), 50_000);
        let in_bands = slices.slices.iter().flat_map(|slice| &slice.bands).map(|(_, count)| count);
        assert_eq!(in_bands.sum::<u32>(), 100_000);
        assert_eq!(series.slices.iter().map(|slice| slice.errors).sum::<u64>(), 50_000);
        for slice in &series.slices {
            let (mean, p95) = slice.response_ms.unwrap();
            assert!((mean - 50.5).abs() < 1e-9 && (p95 / 95.0 - 1.0).abs() < 0.02, "{mean} {p95}");
        }
        assert_eq!(over.take_row(1), None);
    }

    #[test]
    fn a_pause_leaves_empty_slices() {
        let mut over = OverTime::new();
        for number in [5, 9] {
            over.add(number, &second(&[(1, 7)]));
        }
        let (series, _) = over.take_row(0).unwrap();
        assert_eq!(series.slices.iter().map(|slice| slice.samples).collect::<Vec<_>>(), [1, 0, 0, 0, 1]);
        assert_eq!(series.slices[1].response_ms, None);
        assert_eq!(over.heat().unwrap().columns[2], []);
    }

    proptest! {
        #[test]
        fn counts_are_complete_for_any_gaps(gaps in prop::collection::vec(1u64..5_000, 1..60)) {
            let mut over = OverTime::new();
            let mut number = 0;
            for gap in &gaps {
                over.add(number, &second(&[(0, 3), (0, 5_000_000)]));
                number += gap;
            }
            let heat = over.heat().unwrap();
            let (series, _) = over.take_row(0).unwrap();
            prop_assert!(heat.columns.len() <= HEAT_SLICES_MAX as usize);
            prop_assert!(series.slices.len() <= ROW_SLICES_MAX as usize);
            let counted: u64 = heat.columns.iter().flatten().map(|(_, count)| count).sum();
            prop_assert_eq!(counted, 2 * gaps.len() as u64);
            prop_assert_eq!(series.slices.iter().map(|slice| slice.samples).sum::<u64>(), counted);
        }
    }
}
