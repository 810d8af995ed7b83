//! From batches to values with intervals.

use busyhour_stats::{
    Estimate, Method, SPECTRAL_VALUES_MIN, Truncation, VarianceOfMean, spectral_variance, truncation,
};

use crate::histogram::Histogram;
use crate::result::{PERCENTILES, Percentile};
use crate::tally::{Sums, Tally};

/// Batches for their means, where there are too few for the spectrum; with fewer there is no interval.
const BATCHES: usize = 20;
const BATCHES_MIN: usize = 10;

/// Visits, in all replications, below which no interval is given.
const DONE_MIN: f64 = 50.0;

/// Times that the spread of replications may exceed what their spectra promise, in terms of variance, before the
/// spread is believed: by chance about once in ten thousand measures with eight replications.
const DISAGREEMENT: f64 = 5.0;
const DISAGREEMENT_REPLICATIONS_MIN: usize = 5;

/// A replication, and how many batches of it are left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut<'t> {
    pub(crate) tally: &'t Tally,
    pub(crate) from: usize,
}

/// What a ratio is taken of, per batch.
pub(crate) struct Ratio<'f> {
    pub(crate) above: &'f dyn Fn(&[Sums]) -> f64,
    /// `None`: the length of the batch.
    pub(crate) below: Option<&'f dyn Fn(&[Sums]) -> f64>,
}

/// The start-up of a replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transient {
    /// Batches of the start-up: the maximum over the numbers of customers (at each station, of each class in the
    /// system).
    pub(crate) cut: usize,
    /// Which of these numbers have not settled: the stations, then the classes.
    pub(crate) unsettled: Vec<bool>,
}

/// Finds the start-up of a replication.
pub(crate) fn transient(tally: &Tally, stations: usize, classes: usize) -> Transient {
    let mut values = Vec::with_capacity(tally.count());
    let mut look = |observed: std::ops::Range<usize>| {
        values.clear();
        values.extend((0..tally.count()).map(|at| {
            let batch = tally.batch(at);
            observed.clone().map(|at| batch[at].present_s).sum::<f64>()
        }));
        truncation(&values)
    };
    let found: Vec<Truncation> = (0..stations)
        .map(|station| station * classes..(station + 1) * classes)
        .chain((0..classes).map(|class| stations * classes + class..stations * classes + class + 1))
        .map(&mut look)
        .collect();
    Transient {
        cut: found.iter().map(|one| one.cut).max().unwrap_or(0),
        unsettled: found.iter().map(|one| one.at_limit).collect(),
    }
}

impl Ratio<'_> {
    fn below(&self, tally: &Tally, batch: &[Sums]) -> f64 {
        self.below.map_or(tally.length_s(), |below| below(batch))
    }

    /// The ratio of the sums over all replications. `None` when nothing is below.
    ///
    /// Each batch deviates by d = above − ratio·below. The variance of a replication's Σd is that of a dependent
    /// series, the replications are independent, and Σbelow is as good as constant (the ratio estimator).
    pub(crate) fn estimate(&self, cuts: &[Cut<'_>], confidence: f64) -> Option<Estimate> {
        let (mut above, mut below) = (0.0, 0.0);
        for cut in cuts {
            for at in cut.from..cut.tally.count() {
                let batch = cut.tally.batch(at);
                above += (self.above)(batch);
                below += self.below(cut.tally, batch);
            }
        }
        if below <= 0.0 {
            return None;
        }
        let value = above / below;
        let unknown = Estimate {
            value,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            confidence,
            method: Method::Spectral,
        };
        if self.below.is_some() && below < DONE_MIN {
            return Some(unknown);
        }
        // Satterthwaite's degrees of freedom of a sum of variances.
        let (mut variance, mut square_by_freedom, mut between) = (0.0, 0.0, 0.0);
        let mut method = Method::Spectral;
        for cut in cuts {
            let deviations: Vec<f64> = (cut.from..cut.tally.count())
                .map(|at| {
                    let batch = cut.tally.batch(at);
                    (self.above)(batch) - value * self.below(cut.tally, batch)
                })
                .collect();
            let Some((found, found_method)) = variance_of_mean(&deviations) else { return Some(unknown) };
            let of_sum = found.variance * (deviations.len() as f64).powi(2);
            variance += of_sum;
            square_by_freedom += of_sum * of_sum / found.freedom;
            between += deviations.iter().sum::<f64>().powi(2);
            if found_method == Method::BatchMeans {
                method = found_method;
            }
        }
        let count = cuts.len();
        let mut freedom = if square_by_freedom > 0.0 { variance * variance / square_by_freedom } else { 7.0 };
        if count >= DISAGREEMENT_REPLICATIONS_MIN {
            let spread = between * count as f64 / (count - 1) as f64;
            if spread > DISAGREEMENT * variance {
                (variance, freedom, method) = (spread, (count - 1) as f64, Method::Replications);
            }
        }
        Some(Estimate::with_confidence(value, variance.sqrt() / below, freedom, confidence, method))
    }
}

/// Of the mean of consecutive values.
fn variance_of_mean(values: &[f64]) -> Option<(VarianceOfMean, Method)> {
    if values.len() >= SPECTRAL_VALUES_MIN {
        return spectral_variance(values).map(|found| (found, Method::Spectral));
    }
    if values.len() < BATCHES_MIN {
        return None;
    }
    let each = values.len().div_ceil(BATCHES);
    let means: Vec<f64> =
        values.chunks_exact(each).map(|chunk| chunk.iter().sum::<f64>() / each as f64).collect();
    let count = means.len() as f64;
    let mean = means.iter().sum::<f64>() / count;
    let squares: f64 = means.iter().map(|value| (value - mean).powi(2)).sum();
    let variance = squares / (count - 1.0) / count;
    (means.len() >= BATCHES_MIN)
        .then_some((VarianceOfMean { variance, freedom: count - 1.0 }, Method::BatchMeans))
}

/// Percentiles of all responses together, with intervals from those of the replications.
pub(crate) fn percentiles(histograms: &[Histogram], confidence: f64) -> Vec<Percentile> {
    let mut all = Histogram::default();
    histograms.iter().for_each(|histogram| all.merge(histogram));
    if (all.total() as f64) < DONE_MIN {
        return Vec::new();
    }
    PERCENTILES
        .iter()
        .filter_map(|&share| {
            let value = all.quantile_s(share)?;
            let each: Vec<f64> = histograms.iter().filter_map(|one| one.quantile_s(share)).collect();
            let count = each.len() as f64;
            let time_s = if each.len() < 3 || each.len() < histograms.len() {
                Estimate {
                    value,
                    low: f64::NEG_INFINITY,
                    high: f64::INFINITY,
                    confidence,
                    method: Method::Replications,
                }
            } else {
                let mean = each.iter().sum::<f64>() / count;
                let squares: f64 = each.iter().map(|one| (one - mean).powi(2)).sum();
                let standard_error = (squares / (count - 1.0) / count).sqrt();
                Estimate::with_confidence(
                    value,
                    standard_error,
                    count - 1.0,
                    confidence,
                    Method::Replications,
                )
            };
            Some(Percentile { share, time_s })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};

    /// A replication in which `level(i)` customers are present in batch i and `done(i)` visits end.
    fn tally(batches: usize, mut batch: impl FnMut(usize) -> (f64, f64)) -> Tally {
        let mut tally = Tally::new(2);
        for at in 0..batches {
            if at == 0 {
                tally.begin_batches(1.0);
            }
            let (busy, done) = batch(at);
            tally.works_now(0, busy);
            for _ in 0..done as u32 {
                tally.comes(0);
                tally.leaves(0, 1.0);
            }
            tally.advance((at + 1) as f64);
        }
        tally
    }

    #[test]
    fn the_interval_of_independent_batches_is_that_of_the_textbook() {
        let mut random = crate::random::Stream::seed_from_u64(1);
        let tallies: Vec<Tally> = (0..8).map(|_| tally(400, |_| (random.random::<f64>(), 1.0))).collect();
        let cuts: Vec<Cut<'_>> = tallies.iter().map(|tally| Cut { tally, from: 0 }).collect();
        let ratio = Ratio { above: &|batch| batch[0].busy_s, below: None };
        let found = ratio.estimate(&cuts, 0.95).unwrap();
        // Standard deviation of a uniform number over the root of 3200, times 2.
        let expected = (1.0_f64 / 12.0 / 3200.0).sqrt() * 2.0;
        assert!((found.value - 0.5).abs() < 0.02, "{found:?}");
        assert!((found.half_width() / expected - 1.0).abs() < 0.4, "{found:?} for ±{expected}");
        assert_eq!(found.method, Method::Spectral);
    }

    #[test]
    fn replications_that_disagree_are_believed() {
        let mut random = crate::random::Stream::seed_from_u64(1);
        let tallies: Vec<Tally> =
            (0..6).map(|number| tally(300, |_| (f64::from(number) + random.random::<f64>(), 1.0))).collect();
        let cuts: Vec<Cut<'_>> = tallies.iter().map(|tally| Cut { tally, from: 0 }).collect();
        let found = Ratio { above: &|batch| batch[0].busy_s, below: None }.estimate(&cuts, 0.95).unwrap();
        assert_eq!(found.method, Method::Replications);
        assert!((found.value - 3.0).abs() < 0.1 && found.half_width() > 1.5, "{found:?}");
    }

    #[test]
    fn too_little_gives_no_interval() {
        let short = tally(8, |_| (1.0, 1.0));
        let cuts = [Cut { tally: &short, from: 0 }];
        let rate = Ratio { above: &|batch| batch[0].done, below: None }.estimate(&cuts, 0.95).unwrap();
        assert!((rate.value - 1.0).abs() < 0.2 && rate.high == f64::INFINITY, "{rate:?}");
        let response = Ratio { above: &|batch| batch[0].response_s, below: Some(&|batch| batch[0].done) };
        assert_eq!(response.estimate(&cuts, 0.95).unwrap().high, f64::INFINITY);
        let never = Ratio { above: &|batch| batch[1].response_s, below: Some(&|batch| batch[1].done) };
        assert_eq!(never.estimate(&cuts, 0.95), None);
    }

    #[test]
    fn a_start_is_cut_where_the_slowest_measure_has_settled() {
        let settling = tally(300, |at| (1.0, if at < 40 { 0.0 } else { 1.0 + (at % 3) as f64 }));
        assert_eq!(transient(&settling, 1, 1).cut, 0, "no transient");
        let mut filling = Tally::new(2);
        filling.begin_batches(1.0);
        for second in 1..=300_u32 {
            if second <= 40 || second % 7 == 0 {
                filling.comes(0);
            }
            if second > 40 && second % 7 == 3 {
                filling.leaves(0, 1.0);
            }
            filling.advance(f64::from(second));
        }
        let found = transient(&filling, 1, 1);
        assert!((30..=60).contains(&found.cut) && !found.unsettled[0], "{found:?}");
    }
}
