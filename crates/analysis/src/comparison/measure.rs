//! The compared measures of a label in a run, each with its standard error within the run.

use std::collections::HashMap;

use busyhour_stats::{RandomSource, Resamples, SerialDependence, stationary_block_length};
use serde::{Deserialize, Serialize};

use super::histogram::{SparseHistogram, rank, upper_ms, width_ms};
use super::tally::Cell;

/// Minimum number of samples above a percentile.
pub const TAIL_SAMPLES: f64 = 10.0;

/// Minimum number of samples for all other measures.
pub const SAMPLES_MIN: u64 = 10;

/// Minimum number of independent blocks for a standard error.
const BLOCKS_MIN: f64 = 5.0;

/// Number of resamples for each standard error. With 400 the relative error of a standard error is 3.5 %.
pub const RESAMPLES: usize = 400;

/// Number of batches of consecutive slices. The standard error from these batches is compared with that of the bootstrap.
const BATCHES: usize = 10;

/// Minimum number of blocks in a resample, which limits the length of a block. If the dependence of the slices requires longer
/// blocks than this limit, the standard error is corrected.
const DRAWN_MIN: f64 = 8.0;

/// Block lengths are rounded up to one of these values, so that measures share resamples.
const BLOCK_LENGTHS: [f64; 13] = [1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0, 48.0, 96.0];

/// A compared measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Mean time in ms.
    Mean,
    /// Median time in ms.
    P50,
    /// 90th percentile of the time in ms.
    P90,
    /// 95th percentile of the time in ms.
    P95,
    /// 99th percentile of the time in ms.
    P99,
    /// Samples that ended per second, from the first start of a request to the last end.
    Throughput,
    /// Failed samples divided by all samples, 0 to 1.
    ErrorShare,
}

impl Measure {
    /// All measures, in display order.
    pub const ALL: [Measure; 7] = [
        Measure::Mean,
        Measure::P50,
        Measure::P90,
        Measure::P95,
        Measure::P99,
        Measure::Throughput,
        Measure::ErrorShare,
    ];

    /// The percentile as a quantile, 0 to 1; `None` for other measures.
    #[must_use]
    pub const fn quantile(self) -> Option<f64> {
        match self {
            Measure::P50 => Some(0.5),
            Measure::P90 => Some(0.9),
            Measure::P95 => Some(0.95),
            Measure::P99 => Some(0.99),
            Measure::Mean | Measure::Throughput | Measure::ErrorShare => None,
        }
    }

    /// The name for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Measure::Mean => "mean",
            Measure::P50 => "p50",
            Measure::P90 => "p90",
            Measure::P95 => "p95",
            Measure::P99 => "p99",
            Measure::Throughput => "throughput",
            Measure::ErrorShare => "errors",
        }
    }

    /// Whether the measure is a time in ms.
    #[must_use]
    pub const fn is_time(self) -> bool {
        !matches!(self, Measure::Throughput | Measure::ErrorShare)
    }

    /// Whether a larger value is better.
    #[must_use]
    pub const fn more_is_better(self) -> bool {
        matches!(self, Measure::Throughput)
    }

    /// Whether values are compared by their ratio. Shares are not, because they can be 0.
    #[must_use]
    pub const fn is_compared_by_ratio(self) -> bool {
        !matches!(self, Measure::ErrorShare)
    }
}

/// The value of one measure for one label in one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The value: ms, per second, or a share.
    pub value: f64,
    /// Maximum error due to the resolution of the recorded times.
    pub resolution: f64,
    /// The precision within the run; `None` if the run is too short or no bootstrap was requested.
    pub within: Option<RunPrecision>,
}

/// The precision of a measure within a run, without the variation between runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RunPrecision {
    /// Standard error of the value; for measures that are compared by ratio, that of its logarithm.
    pub standard_error: f64,
    /// Degrees of freedom: the number of independent blocks or samples, minus one.
    pub freedom: f64,
    /// Mean block length of the bootstrap, in s.
    pub block_s: f64,
}

/// Block bootstrap over the slices of a run. Resamples are drawn once per block length.
pub(super) struct Bootstrap<'r, R: ?Sized> {
    slices: usize,
    step_s: f64,
    drawn: HashMap<usize, Resamples>,
    random: &'r mut R,
}

impl<'r, R: RandomSource + ?Sized> Bootstrap<'r, R> {
    pub(super) fn new(slices: usize, step_s: f64, random: &'r mut R) -> Bootstrap<'r, R> {
        Bootstrap { slices, step_s, drawn: HashMap::new(), random }
    }

    /// The precision of a measure. `influence` is the contribution of each slice to the measure's deviation, `statistic` computes the
    /// measure of a resample, and `values` is the number of values in the measure.
    fn within(
        &mut self,
        influence: &[f64],
        values: u64,
        statistic: impl FnMut(&[u32]) -> Option<f64>,
    ) -> Option<RunPrecision> {
        let longest = self.slices as f64 / DRAWN_MIN;
        let optimal = stationary_block_length(influence);
        let fits = |length: &f64| *length >= optimal || length * 1.5 > longest;
        let at = BLOCK_LENGTHS.iter().position(fits).unwrap_or(BLOCK_LENGTHS.len() - 1);
        let length = BLOCK_LENGTHS[at];
        let dependence = SerialDependence::of(influence, length);
        let blocks = dependence.independent.min(values as f64);
        if blocks < BLOCKS_MIN {
            return None;
        }
        let (slices, random) = (self.slices, &mut *self.random);
        let resamples =
            self.drawn.entry(at).or_insert_with(|| Resamples::stationary(slices, length, RESAMPLES, random));
        let mut standard_error = dependence.correction * resamples.standard_error(statistic)?;
        let mut freedom = blocks - 1.0;
        // The chosen block length is too short for weak correlations between distant slices. A few long batches include these
        // correlations, so the standard error is at least that of the batch means.
        let linear = |times: &[u32]| {
            Some(influence.iter().zip(times).map(|(part, times)| part * f64::from(*times)).sum::<f64>())
        };
        let drawn = dependence.correction * resamples.standard_error(linear)?;
        if let Some(batches) = error_of_batches(influence).filter(|error| drawn > 0.0 && *error > drawn) {
            standard_error *= batches / drawn;
            freedom = freedom.min(BATCHES as f64 - 1.0);
        }
        Some(RunPrecision { standard_error, freedom, block_s: length * self.step_s })
    }
}

/// The standard error of the sum of `influence` by the method of batch means with [`BATCHES`] batches, which are assumed to be
/// independent (Law and Kelton, *Simulation Modeling and Analysis*, 9.5.3); `None` if there are too few slices.
fn error_of_batches(influence: &[f64]) -> Option<f64> {
    let length = influence.len() / BATCHES;
    if length < 2 {
        return None;
    }
    // The remainder of the division is distributed over the first batches.
    let longer = influence.len() % BATCHES;
    let mut rest = influence;
    let sums: Vec<f64> = (0..BATCHES)
        .map(|at| {
            let (batch, remaining) = rest.split_at(length + usize::from(at < longer));
            rest = remaining;
            batch.iter().sum()
        })
        .collect();
    let count = BATCHES as f64;
    let mean = sums.iter().sum::<f64>() / count;
    let squares: f64 = sums.iter().map(|sum| (sum - mean).powi(2)).sum();
    Some((squares / (count - 1.0) * count).sqrt())
}

/// The slices of one label.
pub(super) struct LabelSlices<'a> {
    pub(super) cells: &'a [Cell],
    /// Length of each slice in s.
    pub(super) seconds: &'a [f64],
    /// The histogram of all slices.
    pub(super) histogram: &'a SparseHistogram,
    pub(super) coarse: u32,
    /// Resolution of the recorded times, in ms.
    pub(super) tick_ms: f64,
}

impl LabelSlices<'_> {
    /// Computes a measure, with its precision if a bootstrap is given; `None` if there are too few samples.
    pub(super) fn measure<R: RandomSource + ?Sized>(
        &self,
        measure: Measure,
        bootstrap: Option<&mut Bootstrap<'_, R>>,
    ) -> Option<Measured> {
        match measure {
            Measure::Mean => self.mean(bootstrap),
            Measure::Throughput => self.throughput(bootstrap),
            Measure::ErrorShare => self.error_share(bootstrap),
            Measure::P50 | Measure::P90 | Measure::P95 | Measure::P99 => {
                self.percentile(measure.quantile()?, bootstrap)
            }
        }
    }

    fn mean<R: RandomSource + ?Sized>(&self, bootstrap: Option<&mut Bootstrap<'_, R>>) -> Option<Measured> {
        let parts: Vec<(f64, f64)> =
            self.cells.iter().map(|cell| (cell.sum_ns as f64 / 1e6, cell.times as f64)).collect();
        let times: u64 = self.cells.iter().map(|cell| cell.times).sum();
        let value = ratio(&parts, None).filter(|_| times >= SAMPLES_MIN)?;
        // JMeter's elapsed time is the difference of two clock times, both rounded down to the same resolution. The rounding
        // errors cancel on average, so the mean has no error due to the resolution.
        Some(Measured { value, resolution: 0.0, within: ratio_within(&parts, value, times, bootstrap) })
    }

    fn throughput<R: RandomSource + ?Sized>(
        &self,
        bootstrap: Option<&mut Bootstrap<'_, R>>,
    ) -> Option<Measured> {
        let parts: Vec<(f64, f64)> =
            self.cells.iter().zip(self.seconds).map(|(cell, s)| (cell.samples as f64, *s)).collect();
        let samples: u64 = self.cells.iter().map(|cell| cell.samples).sum();
        let value = ratio(&parts, None).filter(|_| samples >= SAMPLES_MIN)?;
        Some(Measured { value, resolution: 0.0, within: ratio_within(&parts, value, samples, bootstrap) })
    }

    fn error_share<R: RandomSource + ?Sized>(
        &self,
        bootstrap: Option<&mut Bootstrap<'_, R>>,
    ) -> Option<Measured> {
        let parts: Vec<(f64, f64)> =
            self.cells.iter().map(|cell| (cell.errors as f64, cell.samples as f64)).collect();
        let samples: u64 = self.cells.iter().map(|cell| cell.samples).sum();
        let errors: u64 = self.cells.iter().map(|cell| cell.errors).sum();
        let value = ratio(&parts, None).filter(|_| samples >= SAMPLES_MIN)?;
        let within = bootstrap.and_then(|bootstrap| {
            let influence: Vec<f64> = parts.iter().map(|(errors, of)| errors - value * of).collect();
            let found = bootstrap.within(&influence, samples, |times| ratio(&parts, Some(times)))?;
            // With few or no errors the bootstrap underestimates the standard error. It is at least that of independent samples,
            // with two failed and two successful ones added (Agresti and Coull, The American Statistician 52, 1998).
            let (n, share) = (samples as f64 + 4.0, (errors as f64 + 2.0) / (samples as f64 + 4.0));
            let independent = (share * (1.0 - share) / n).sqrt();
            Some(RunPrecision { standard_error: found.standard_error.max(independent), ..found })
        });
        Some(Measured { value, resolution: 0.0, within })
    }

    fn percentile<R: RandomSource + ?Sized>(
        &self,
        q: f64,
        bootstrap: Option<&mut Bootstrap<'_, R>>,
    ) -> Option<Measured> {
        let n = self.histogram.len();
        let found = self.histogram.quantile(q).filter(|_| n as f64 * (1.0 - q) >= TAIL_SAMPLES)?;
        let value = upper_ms(found, self.coarse);
        let resolution = self.tick_ms.max(width_ms(found, self.coarse)) / 2.0;
        let within = bootstrap.and_then(|bootstrap| {
            let cumulative = Cumulative::of(self.cells, self.histogram);
            let at = cumulative.at(found)?;
            let influence: Vec<f64> = cumulative
                .below(at)
                .iter()
                .zip(cumulative.all())
                .map(|(below, all)| f64::from(*below) - q * f64::from(*all))
                .collect();
            // Times below half the resolution count as half the resolution, so that the logarithm of a time of 0 is defined.
            let log = |bucket: u32| upper_ms(bucket, self.coarse).max(self.tick_ms / 2.0).ln();
            bootstrap.within(&influence, n, |times| cumulative.quantile(q, times, at).map(log))
        });
        Some(Measured { value, resolution, within })
    }
}

/// The ratio of the sums of both components, with each part repeated `times` times; `None` if the denominator is 0.
fn ratio(parts: &[(f64, f64)], times: Option<&[u32]>) -> Option<f64> {
    let sums = match times {
        None => parts.iter().fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1)),
        Some(times) => parts.iter().zip(times).fold((0.0, 0.0), |sum, (part, times)| {
            let times = f64::from(*times);
            (sum.0 + times * part.0, sum.1 + times * part.1)
        }),
    };
    (sums.1 > 0.0).then_some(sums.0 / sums.1)
}

/// The precision of the logarithm of a ratio.
fn ratio_within<R: RandomSource + ?Sized>(
    parts: &[(f64, f64)],
    value: f64,
    values: u64,
    bootstrap: Option<&mut Bootstrap<'_, R>>,
) -> Option<RunPrecision> {
    let influence: Vec<f64> = parts.iter().map(|(of, over)| of - value * over).collect();
    bootstrap?.within(&influence, values, |times| {
        ratio(parts, Some(times)).filter(|ratio| *ratio > 0.0).map(f64::ln)
    })
}

/// Cumulative counts per bucket and slice, for the percentiles of resamples.
struct Cumulative {
    buckets: Vec<u32>,
    slices: usize,
    /// One row per bucket, one entry per slice.
    below: Vec<u32>,
}

impl Cumulative {
    fn of(cells: &[Cell], histogram: &SparseHistogram) -> Cumulative {
        let buckets: Vec<u32> = histogram.counts().iter().map(|(bucket, _)| *bucket).collect();
        let slices = cells.len();
        let mut below = vec![0_u32; buckets.len() * slices];
        for (slice, cell) in cells.iter().enumerate() {
            let mut counts = cell.histogram.counts().iter().peekable();
            let mut sum = 0;
            for (row, bucket) in buckets.iter().enumerate() {
                while let Some((_, count)) = counts.next_if(|(at, _)| at <= bucket) {
                    sum += count;
                }
                below[row * slices + slice] = sum;
            }
        }
        Cumulative { buckets, slices, below }
    }

    /// The row of a bucket.
    fn at(&self, bucket: u32) -> Option<usize> {
        self.buckets.binary_search(&bucket).ok()
    }

    fn below(&self, row: usize) -> &[u32] {
        &self.below[row * self.slices..][..self.slices]
    }

    fn all(&self) -> &[u32] {
        self.below(self.buckets.len() - 1)
    }

    /// The bucket of the quantile `q` of a resample. The search starts at the row `near`.
    fn quantile(&self, q: f64, times: &[u32], near: usize) -> Option<u32> {
        let weighted = |row: usize| -> u64 {
            self.below(row)
                .iter()
                .zip(times)
                .map(|(below, times)| u64::from(*below) * u64::from(*times))
                .sum()
        };
        let last = self.buckets.len() - 1;
        let n = weighted(last);
        if n == 0 {
            return None;
        }
        let target = rank(q, n);
        let reached = |row: usize| weighted(row) >= target;
        // Exponential search for a range that contains the row, then binary search. The rank is always reached at `high`.
        let (mut low, mut high);
        let mut step = 1;
        if reached(near) {
            (low, high) = (None, near);
            while high > 0 {
                let next = high.saturating_sub(step);
                if !reached(next) {
                    low = Some(next);
                    break;
                }
                high = next;
                step *= 2;
            }
        } else {
            low = Some(near);
            high = (near + step).min(last);
            while !reached(high) {
                low = Some(high);
                step *= 2;
                high = (high + step).min(last);
            }
        }
        if let Some(mut low) = low {
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if reached(middle) { high = middle } else { low = middle }
            }
        }
        Some(self.buckets[high])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_percentile_of_a_resample_equals_that_of_its_values(
            slices in proptest::collection::vec(proptest::collection::vec(0..60_u64, 0..12), 1..9),
            q in 0.05..0.99_f64, seed in 0..1_000_u32, near in 0..60_usize,
        ) {
            let times: Vec<u32> = (0..slices.len() as u32).map(|at| (seed >> (at % 8)) % 3).collect();
            let mut histogram = SparseHistogram::default();
            let cells: Vec<Cell> = slices
                .iter()
                .map(|values| {
                    let mut cell = Cell::default();
                    values.iter().for_each(|value| cell.histogram.add(*value, 0));
                    cell.histogram.flush();
                    histogram.merge(&cell.histogram);
                    cell
                })
                .collect();
            prop_assume!(histogram.len() > 0);
            let cumulative = Cumulative::of(&cells, &histogram);
            let mut drawn: Vec<u64> = Vec::new();
            for (values, times) in slices.iter().zip(&times) {
                (0..*times).for_each(|_| drawn.extend(values));
            }
            drawn.sort_unstable();
            let expected = (!drawn.is_empty()).then(|| drawn[rank(q, drawn.len() as u64) as usize - 1] as u32);
            let near = near % cumulative.buckets.len();
            prop_assert_eq!(cumulative.quantile(q, &times, near), expected);
        }
    }
}
