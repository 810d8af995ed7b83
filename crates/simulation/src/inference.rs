//! Computes estimates with confidence intervals from batches.

use busyhour_stats::{
    Estimate, IntervalMethod, SPECTRAL_VALUES_MIN, Truncation, VarianceOfMean, spectral_variance, truncation,
};

use crate::histogram::Histogram;
use crate::result::{PERCENTILES, Percentile};
use crate::tally::{BatchSums, ObservationTally};

/// Number of batches, and minimum number of batches, for the method of batch means. The method is used if there are too few
/// values for the spectrum.
const BATCHES: usize = 20;
const BATCHES_MIN: usize = 10;

/// Minimum number of visits, in all replications, for a confidence interval.
const DONE_MIN: f64 = 50.0;

/// The variance between replications is used if it is more than this many times the variance estimated from their spectra. With
/// eight replications this happens by chance for about one measure in ten thousand.
const DISAGREEMENT: f64 = 5.0;
const DISAGREEMENT_REPLICATIONS_MIN: usize = 5;

/// The observations of a replication after its start-up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TruncatedTally<'t> {
    pub(crate) tally: &'t ObservationTally,
    /// The first batch after the start-up.
    pub(crate) first_batch: usize,
}

/// A measure that is the ratio of two sums over batches.
pub(crate) struct Ratio<'f> {
    pub(crate) numerator: &'f dyn Fn(&[BatchSums]) -> f64,
    /// The denominator of a batch; `None` if it is the length of the batch.
    pub(crate) denominator: Option<&'f dyn Fn(&[BatchSums]) -> f64>,
}

/// The start-up of a replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Transient {
    /// Number of batches of the start-up. The number of customers at each station, and of each class in the system, has its own
    /// start-up; this is the longest one.
    pub(crate) batches: usize,
    /// Whether each of these numbers has not become steady: first for the stations, then for the classes.
    pub(crate) unsettled: Vec<bool>,
}

/// Finds the start-up of a replication.
pub(crate) fn find_transient(tally: &ObservationTally, stations: usize, classes: usize) -> Transient {
    let mut values = Vec::with_capacity(tally.count());
    let mut truncate = |observed: std::ops::Range<usize>| {
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
        .map(&mut truncate)
        .collect();
    Transient {
        batches: found.iter().map(|truncation| truncation.cut).max().unwrap_or(0),
        unsettled: found.iter().map(|truncation| truncation.at_limit).collect(),
    }
}

impl Ratio<'_> {
    fn denominator(&self, tally: &ObservationTally, batch: &[BatchSums]) -> f64 {
        self.denominator.map_or(tally.length_s(), |denominator| denominator(batch))
    }

    /// The ratio of the sums over all replications. `None` if the denominator is 0.
    ///
    /// The deviation of a batch is d = numerator − ratio·denominator. The ratio estimator treats Σ denominator as constant. The
    /// deviations within a replication are a dependent series; different replications are independent.
    pub(crate) fn estimate(&self, replications: &[TruncatedTally<'_>], confidence: f64) -> Option<Estimate> {
        let (mut numerator, mut denominator) = (0.0, 0.0);
        for &TruncatedTally { tally, first_batch } in replications {
            for at in first_batch..tally.count() {
                let batch = tally.batch(at);
                numerator += (self.numerator)(batch);
                denominator += self.denominator(tally, batch);
            }
        }
        if denominator <= 0.0 {
            return None;
        }
        let value = numerator / denominator;
        let without_interval = Estimate {
            value,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            confidence,
            method: IntervalMethod::Spectral,
        };
        if self.denominator.is_some() && denominator < DONE_MIN {
            return Some(without_interval);
        }
        // Degrees of freedom of the sum of variances, by Satterthwaite's formula.
        let (mut variance, mut square_by_freedom, mut between) = (0.0, 0.0, 0.0);
        let mut method = IntervalMethod::Spectral;
        for &TruncatedTally { tally, first_batch } in replications {
            let deviations: Vec<f64> = (first_batch..tally.count())
                .map(|at| {
                    let batch = tally.batch(at);
                    (self.numerator)(batch) - value * self.denominator(tally, batch)
                })
                .collect();
            let Some((found, found_method)) = variance_of_mean(&deviations) else {
                return Some(without_interval);
            };
            let variance_of_sum = found.variance * (deviations.len() as f64).powi(2);
            variance += variance_of_sum;
            square_by_freedom += variance_of_sum * variance_of_sum / found.freedom;
            between += deviations.iter().sum::<f64>().powi(2);
            if found_method == IntervalMethod::BatchMeans {
                method = found_method;
            }
        }
        let count = replications.len();
        let mut freedom = if square_by_freedom > 0.0 { variance * variance / square_by_freedom } else { 7.0 };
        if count >= DISAGREEMENT_REPLICATIONS_MIN {
            let spread = between * count as f64 / (count - 1) as f64;
            if spread > DISAGREEMENT * variance {
                (variance, freedom, method) = (spread, (count - 1) as f64, IntervalMethod::Replications);
            }
        }
        Some(Estimate::with_confidence(value, variance.sqrt() / denominator, freedom, confidence, method))
    }
}

/// The variance of the mean of consecutive, dependent values.
fn variance_of_mean(values: &[f64]) -> Option<(VarianceOfMean, IntervalMethod)> {
    if values.len() >= SPECTRAL_VALUES_MIN {
        return spectral_variance(values).map(|found| (found, IntervalMethod::Spectral));
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
        .then_some((VarianceOfMean { variance, freedom: count - 1.0 }, IntervalMethod::BatchMeans))
}

/// Percentiles of the response times of all replications. The intervals are computed from the percentiles of each replication.
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
            let each: Vec<f64> =
                histograms.iter().filter_map(|histogram| histogram.quantile_s(share)).collect();
            let count = each.len() as f64;
            let time_s = if each.len() < 3 || each.len() < histograms.len() {
                Estimate {
                    value,
                    low: f64::NEG_INFINITY,
                    high: f64::INFINITY,
                    confidence,
                    method: IntervalMethod::Replications,
                }
            } else {
                let mean = each.iter().sum::<f64>() / count;
                let squares: f64 = each.iter().map(|value| (value - mean).powi(2)).sum();
                let standard_error = (squares / (count - 1.0) / count).sqrt();
                Estimate::with_confidence(
                    value,
                    standard_error,
                    count - 1.0,
                    confidence,
                    IntervalMethod::Replications,
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

    /// A replication in which `batch(i)` returns the busy servers and the number of visits of batch i.
    fn tally(batches: usize, mut batch: impl FnMut(usize) -> (f64, f64)) -> ObservationTally {
        let mut tally = ObservationTally::new(2);
        for at in 0..batches {
            if at == 0 {
                tally.begin_batches(1.0);
            }
            let (busy, done) = batch(at);
            tally.set_busy(0, busy);
            for _ in 0..done as u32 {
                tally.arrive(0);
                tally.depart(0, 1.0);
            }
            tally.advance((at + 1) as f64);
        }
        tally
    }

    #[test]
    fn the_interval_of_independent_batches_has_the_expected_width() {
        let mut random = crate::random::Stream::seed_from_u64(1);
        let tallies: Vec<ObservationTally> =
            (0..8).map(|_| tally(400, |_| (random.random::<f64>(), 1.0))).collect();
        let replications: Vec<TruncatedTally<'_>> =
            tallies.iter().map(|tally| TruncatedTally { tally, first_batch: 0 }).collect();
        let ratio = Ratio { numerator: &|batch| batch[0].busy_s, denominator: None };
        let found = ratio.estimate(&replications, 0.95).unwrap();
        // The half width is about two standard errors. The standard error is the standard deviation of a uniform number divided
        // by the square root of 3200.
        let expected = (1.0_f64 / 12.0 / 3200.0).sqrt() * 2.0;
        assert!((found.value - 0.5).abs() < 0.02, "{found:?}");
        assert!((found.half_width() / expected - 1.0).abs() < 0.4, "{found:?} for ±{expected}");
        assert_eq!(found.method, IntervalMethod::Spectral);
    }

    #[test]
    fn the_variance_between_replications_is_used_if_they_disagree() {
        let mut random = crate::random::Stream::seed_from_u64(1);
        let tallies: Vec<ObservationTally> =
            (0..6).map(|number| tally(300, |_| (f64::from(number) + random.random::<f64>(), 1.0))).collect();
        let replications: Vec<TruncatedTally<'_>> =
            tallies.iter().map(|tally| TruncatedTally { tally, first_batch: 0 }).collect();
        let found = Ratio { numerator: &|batch| batch[0].busy_s, denominator: None }
            .estimate(&replications, 0.95)
            .unwrap();
        assert_eq!(found.method, IntervalMethod::Replications);
        assert!((found.value - 3.0).abs() < 0.1 && found.half_width() > 1.5, "{found:?}");
    }

    #[test]
    fn too_few_observations_have_no_interval() {
        let short = tally(8, |_| (1.0, 1.0));
        let replications = [TruncatedTally { tally: &short, first_batch: 0 }];
        let rate = Ratio { numerator: &|batch| batch[0].done, denominator: None }
            .estimate(&replications, 0.95)
            .unwrap();
        assert!((rate.value - 1.0).abs() < 0.2 && rate.high == f64::INFINITY, "{rate:?}");
        let response =
            Ratio { numerator: &|batch| batch[0].response_s, denominator: Some(&|batch| batch[0].done) };
        assert_eq!(response.estimate(&replications, 0.95).unwrap().high, f64::INFINITY);
        let never =
            Ratio { numerator: &|batch| batch[1].response_s, denominator: Some(&|batch| batch[1].done) };
        assert_eq!(never.estimate(&replications, 0.95), None);
    }

    #[test]
    fn the_start_up_ends_when_the_slowest_measure_is_steady() {
        let settling = tally(300, |at| (1.0, if at < 40 { 0.0 } else { 1.0 + (at % 3) as f64 }));
        assert_eq!(find_transient(&settling, 1, 1).batches, 0, "no transient");
        let mut filling = ObservationTally::new(2);
        filling.begin_batches(1.0);
        for second in 1..=300_u32 {
            if second <= 40 || second % 7 == 0 {
                filling.arrive(0);
            }
            if second > 40 && second % 7 == 3 {
                filling.depart(0, 1.0);
            }
            filling.advance(f64::from(second));
        }
        let found = find_transient(&filling, 1, 1);
        assert!((30..=60).contains(&found.batches) && !found.unsettled[0], "{found:?}");
    }
}
