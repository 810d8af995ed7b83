//! The data of one run for a comparison: measures per label, distributions and time series.

use busyhour_sample::SampleKind;
use busyhour_stats::RandomSource;
use serde::{Deserialize, Serialize};

use super::histogram::{SparseHistogram, upper_ms};
use super::measure::{Bootstrap, LabelSlices, Measure, Measured, SAMPLES_MIN};
use super::tally::{Cell, RunTally, SlicedRun};
use crate::facts::RunFacts;
use crate::rounding::round;
use crate::system::SystemFigures;

/// The measures of a run.
#[derive(Debug, Clone)]
pub struct MeasuredRun {
    /// Path of the run.
    pub name: String,
    /// Facts about the run.
    pub facts: RunFacts,
    /// Start and end of the measured part, in seconds from the start of the run.
    pub span_s: (f64, f64),
    /// Number of distinct user names; `None` if unknown.
    pub users: Option<u64>,
    /// Relative width of the histograms' buckets, which limits the accuracy of percentiles.
    pub bucket_width: f64,
    /// All requests.
    pub total: MeasuredRow,
    /// Labels, in the order of their first start.
    pub labels: Vec<MeasuredRow>,
    /// Time series of the run.
    pub series: RunSeries,
    /// The system under test in the measured part; `None` if it was not observed.
    pub system: Option<SystemFigures>,
}

/// A label of a run, or the total.
#[derive(Debug, Clone)]
pub struct MeasuredRow {
    /// The label.
    pub label: String,
    /// Kind of the samples.
    pub kind: SampleKind,
    /// Number of samples.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
    measures: [Option<Measured>; Measure::ALL.len()],
    histogram: SparseHistogram,
    coarse: u32,
}

/// The time series of all requests of a run, in slices. The first and the last slice may be partly outside the measured part.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSeries {
    /// Start of the first slice, in seconds from the start of the run.
    pub from_s: f64,
    /// Length of a slice in s.
    pub step_s: f64,
    /// Requests that ended.
    pub requests: Vec<u64>,
    /// Failed requests among them.
    pub errors: Vec<u64>,
    /// Requests per second, over the part of the slice inside the measured part.
    pub rate_per_s: Vec<f64>,
    /// Mean time in ms; `None` if no request ended.
    pub mean_ms: Vec<Option<f64>>,
    /// 95th percentile in ms; `None` if no request ended.
    pub p95_ms: Vec<Option<f64>>,
}

/// A point of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The percentile, 0 to 100.
    pub percentile: f64,
    /// Time in ms that this percentage of the samples did not exceed.
    pub ms: f64,
}

impl MeasuredRun {
    /// Computes the measures of a tallied run. `tick_ms` is the resolution of the recorded times, `label` maps the number of a
    /// label to its text. `None` if the tally is empty.
    ///
    /// The precision of each measure within the run is computed only if a source of randomness for the bootstrap is given.
    pub fn new<R: RandomSource + ?Sized>(
        name: String,
        facts: RunFacts,
        tally: RunTally,
        tick_ms: f64,
        label: impl Fn(u32) -> String,
        random: Option<&mut R>,
    ) -> Option<MeasuredRun> {
        let sliced = tally.finish(label)?;
        let mut bootstrap = random.map(|random| Bootstrap::new(sliced.seconds.len(), sliced.step_s, random));
        let mut row = |label: &str, kind, cells: &[Cell]| {
            let mut histogram = SparseHistogram::default();
            cells.iter().for_each(|cell| histogram.merge(&cell.histogram));
            let slices = LabelSlices {
                cells,
                seconds: &sliced.seconds,
                histogram: &histogram,
                coarse: sliced.coarse,
                tick_ms,
            };
            MeasuredRow {
                label: label.to_owned(),
                kind,
                samples: cells.iter().map(|cell| cell.samples).sum(),
                errors: cells.iter().map(|cell| cell.errors).sum(),
                measures: Measure::ALL.map(|measure| slices.measure(measure, bootstrap.as_mut())),
                coarse: sliced.coarse,
                histogram,
            }
        };
        let total = row("Total", SampleKind::Request, &sliced.total);
        let mut labels: Vec<MeasuredRow> =
            sliced.labels.iter().map(|(label, kind, cells)| row(label, *kind, cells)).collect();
        labels.retain(|label| label.samples > 0);
        Some(MeasuredRun {
            name,
            facts,
            span_s: sliced.span_s,
            users: sliced.users,
            bucket_width: f64::from(1_u32 << sliced.coarse) / 1024.0,
            series: series(&sliced),
            system: None,
            total,
            labels,
        })
    }

    /// Length of the measured part in s.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.span_s.1 - self.span_s.0
    }

    /// The row of a label.
    #[must_use]
    pub fn label(&self, label: &str, kind: SampleKind) -> Option<&MeasuredRow> {
        self.labels.iter().find(|row| row.label == label && row.kind == kind)
    }
}

impl RunSeries {
    /// Requests that ended between two times, in seconds from the start of the run. If one of the times is inside a
    /// slice, its requests count in proportion to the part between the times.
    #[must_use]
    pub fn requests_between(&self, from_s: f64, to_s: f64) -> f64 {
        let slices = self.requests.iter().enumerate().map(|(at, requests)| {
            let start_s = self.from_s + at as f64 * self.step_s;
            let inside_s = to_s.min(start_s + self.step_s) - from_s.max(start_s);
            if self.step_s > 0.0 { *requests as f64 * inside_s.max(0.0) / self.step_s } else { 0.0 }
        });
        slices.sum()
    }
}

impl MeasuredRow {
    /// A measure; `None` if there are too few samples.
    #[must_use]
    pub fn measured(&self, measure: Measure) -> Option<Measured> {
        self.measures[measure as usize]
    }

    #[cfg(test)]
    pub(super) fn of_values(label: &str, measures: [Option<Measured>; Measure::ALL.len()]) -> MeasuredRow {
        MeasuredRow {
            label: label.into(),
            kind: SampleKind::Request,
            samples: 1_000,
            errors: 0,
            measures,
            histogram: SparseHistogram::default(),
            coarse: 0,
        }
    }
}

/// The ends of the interquartile range.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Quartiles {
    /// 25th percentile in ms.
    pub p25_ms: f64,
    /// 75th percentile in ms.
    pub p75_ms: f64,
}

/// The quartiles of all times of several rows; `None` for fewer than [`SAMPLES_MIN`] times.
pub(super) fn quartiles(rows: &[&MeasuredRow]) -> Option<Quartiles> {
    let (all, coarse) = merge_histograms(rows);
    if all.len() < SAMPLES_MIN {
        return None;
    }
    let at = |q| all.quantile(q).map(|bucket| round(upper_ms(bucket, coarse)));
    Some(Quartiles { p25_ms: at(0.25)?, p75_ms: at(0.75)? })
}

/// The times of several rows in buckets of the same width, and how often adjacent buckets were merged in pairs.
fn merge_histograms(rows: &[&MeasuredRow]) -> (SparseHistogram, u32) {
    let coarse = rows.iter().map(|row| row.coarse).max().unwrap_or(0);
    let mut all = SparseHistogram::default();
    for row in rows {
        let mut histogram = row.histogram.clone();
        (row.coarse..coarse).for_each(|_| histogram.coarsen());
        all.merge(&histogram);
    }
    (all, coarse)
}

/// The distribution of all times of several rows. The points are denser towards the tail, and end at the last
/// percentile that the number of samples supports.
pub(super) fn curve(rows: &[&MeasuredRow]) -> Vec<CurvePoint> {
    let (all, coarse) = merge_histograms(rows);
    let n = all.len() as f64;
    // Shares of the samples above each point: twentieths, then five steps per decade.
    let mut beyond: Vec<f64> = (3..=19).rev().map(|step| f64::from(step) * 0.05).collect();
    for decade in 1..=7 {
        beyond.extend([1.0, 0.7, 0.5, 0.3, 0.2].map(|step| step * 10.0_f64.powi(-decade)));
    }
    beyond
        .into_iter()
        .filter(|tail| tail * n >= 1.0)
        .filter_map(|tail| {
            let ms = upper_ms(all.quantile(1.0 - tail)?, coarse);
            Some(CurvePoint { percentile: ((1.0 - tail) * 1e8).round() / 1e6, ms: round(ms) })
        })
        .collect()
}

fn series(run: &SlicedRun) -> RunSeries {
    let of = |cell: &Cell, value: f64| (cell.times > 0).then(|| round(value));
    let p95 = |cell: &Cell| cell.histogram.quantile(0.95).map_or(0.0, |bucket| upper_ms(bucket, run.coarse));
    RunSeries {
        from_s: run.from_s,
        step_s: run.step_s,
        requests: run.total.iter().map(|cell| cell.samples).collect(),
        errors: run.total.iter().map(|cell| cell.errors).collect(),
        rate_per_s: run
            .total
            .iter()
            .zip(&run.seconds)
            .map(|(cell, s)| if *s > 0.0 { round(cell.samples as f64 / s) } else { 0.0 })
            .collect(),
        mean_ms: run
            .total
            .iter()
            .map(|cell| of(cell, cell.sum_ns as f64 / cell.times.max(1) as f64 / 1e6))
            .collect(),
        p95_ms: run.total.iter().map(|cell| of(cell, p95(cell))).collect(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A run without requests.
    pub(crate) fn empty_run() -> MeasuredRun {
        MeasuredRun {
            name: "run".to_owned(),
            facts: RunFacts::default(),
            span_s: (0.0, 60.0),
            users: None,
            bucket_width: 0.0,
            total: MeasuredRow::of_values("Total", [None; Measure::ALL.len()]),
            labels: Vec::new(),
            series: RunSeries::default(),
            system: None,
        }
    }

    #[test]
    fn requests_of_cut_slices_count_in_proportion() {
        let series = RunSeries { from_s: 10.0, step_s: 2.0, requests: vec![4, 8], ..RunSeries::default() };
        assert_eq!(series.requests_between(0.0, 100.0), 12.0);
        assert_eq!(series.requests_between(11.0, 13.0), 6.0);
        assert_eq!(series.requests_between(20.0, 30.0), 0.0);
        assert_eq!(RunSeries::default().requests_between(0.0, 1.0), 0.0);
    }
}
