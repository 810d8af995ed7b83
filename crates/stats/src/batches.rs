//! Estimates functions of mean and variance, with confidence intervals by the method of batch means.
//!
//! A stream is divided into consecutive batches. Only the count, sum and sum of squares of each batch are stored. A
//! measure θ = g(mean, variance) is linearised: each value contributes its influence, and the influences of the values
//! in batch j add up to z_j.
//! The standard error of θ is that of Σ z_j / n, computed from the sum of squares Σ z_j² over batches instead of values.
//! Batches are long compared to the range of dependence, so the variance of their sums includes the dependence of consecutive
//! values (Schmeiser, "Batch size effects in the analysis of simulation output", Operations Research 30, 1982; Hampel's
//! influence function for the linearisation). For batches of different lengths this is the ratio estimator of survey sampling.

use crate::estimate::{Estimate, IntervalMethod, normal_quantile};

/// Maximum number of batches. A long stream has at least half this number of batches.
pub(crate) const BATCHES_MAX: usize = 64;

/// Minimum number of batches for a confidence interval.
const BATCHES_MIN: usize = 5;

/// Count, sum and sum of squares of values. Values are relative to a pivot that the caller chooses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PowerSums {
    /// Number of values.
    pub n: f64,
    /// Sum of (value − pivot).
    pub sum: f64,
    /// Sum of (value − pivot)².
    pub squares: f64,
}

impl PowerSums {
    /// Adds one value, given relative to the pivot.
    #[inline]
    pub fn add(&mut self, relative: f64) {
        self.n += 1.0;
        self.sum += relative;
        self.squares += relative * relative;
    }

    /// Adds the same value `times` times.
    pub fn add_many(&mut self, relative: f64, times: f64) {
        self.n += times;
        self.sum += times * relative;
        self.squares += times * relative * relative;
    }

    /// Adds the values of another part of the stream, relative to the same pivot.
    pub fn merge(&mut self, other: &PowerSums) {
        self.n += other.n;
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

/// A stream divided into at most 64 consecutive batches of equal length. If there are more, adjacent batches are merged.
#[derive(Debug, Clone, Default)]
pub struct Batches {
    /// Number of values per batch; 0 means 1.
    length: f64,
    full: Vec<PowerSums>,
    current: PowerSums,
}

impl Batches {
    /// Adds one value, given relative to the pivot.
    #[inline]
    pub fn add(&mut self, relative: f64) {
        self.current.add(relative);
        if self.current.n >= self.length {
            self.close();
        }
    }

    fn close(&mut self) {
        self.full.push(std::mem::take(&mut self.current));
        if self.full.len() == BATCHES_MAX {
            self.length = self.length.max(1.0) * 2.0;
            self.full = join(&self.full, 2);
        }
    }

    /// The batches. The incomplete batch at the end is merged into the batch before it.
    #[must_use]
    pub fn parts(&self) -> Vec<PowerSums> {
        let mut parts = self.full.clone();
        match parts.last_mut() {
            Some(last) => last.merge(&self.current),
            None if self.current.n > 0.0 => parts.push(self.current),
            None => {}
        }
        parts
    }
}

fn join(parts: &[PowerSums], by: usize) -> Vec<PowerSums> {
    let joined = |chunk: &[PowerSums]| {
        chunk.iter().fold(PowerSums::default(), |mut sums, part| {
            sums.merge(part);
            sums
        })
    };
    parts.chunks(by.max(1)).map(joined).collect()
}

/// The stream's mean and variance, and the deviations of its batches.
struct Centred {
    n: f64,
    mean: f64,
    variance: f64,
    /// For each batch: Σ (x − mean), and Σ ((x − mean)² − variance).
    deviations: Vec<(f64, f64)>,
}

/// Mean, variance and deviations of the batches `parts`; `None` with fewer than two values.
fn centre(parts: &[PowerSums], pivot: f64) -> Option<Centred> {
    // Empty batches contain no information. Many short batches are merged, because short batches do not include the dependence.
    let parts: Vec<PowerSums> = parts.iter().copied().filter(|part| part.n > 0.0).collect();
    let parts = join(&parts, parts.len().div_ceil(BATCHES_MAX));
    let total = join(&parts, parts.len()).pop()?;
    if total.n < 2.0 {
        return None;
    }
    let shift = total.sum / total.n;
    let variance = ((total.squares - total.sum * shift) / (total.n - 1.0)).max(0.0);
    let deviations = parts
        .iter()
        .map(|part| {
            let squares = part.squares - 2.0 * shift * part.sum + part.n * shift * shift;
            (part.sum - part.n * shift, squares - part.n * variance)
        })
        .collect();
    Some(Centred { n: total.n, mean: pivot + shift, variance, deviations })
}

impl Centred {
    /// The estimate of a measure. Its influence is the sum of a batch's two deviations with the weights `of_mean` and
    /// `of_variance`.
    fn estimate(&self, value: f64, of_mean: f64, of_variance: f64) -> Estimate {
        let count = self.deviations.len();
        if count < BATCHES_MIN {
            let unknown = Estimate::from_standard_error(value, 0.0, 1.0, IntervalMethod::BatchMeans);
            return Estimate { low: f64::NEG_INFINITY, high: f64::INFINITY, ..unknown };
        }
        let squares: f64 = self
            .deviations
            .iter()
            .map(|(mean, variance)| (of_mean * mean + of_variance * variance).powi(2))
            .sum();
        let freedom = (count - 1) as f64;
        let standard_error = (squares * count as f64 / freedom).sqrt() / self.n;
        Estimate::from_standard_error(value, standard_error, freedom, IntervalMethod::BatchMeans)
    }
}

/// Coefficient of variation (standard deviation divided by mean) of the values in `parts`, which are consecutive batches
/// relative to `pivot`. `None` for fewer than two values or a mean of 0. With fewer than five batches the interval is infinite.
///
/// For independent exponential values, the standard error tends to 1/√n. It increases with the coefficient, so the interval is
/// symmetric on the logarithmic scale. With few values, both ends of an interval that is symmetric about the estimate would be
/// too low.
#[must_use]
pub fn coefficient_of_variation(parts: &[PowerSums], pivot: f64) -> Option<Estimate> {
    let centred = centre(parts, pivot).filter(|centred| centred.mean != 0.0)?;
    let (mean, sd) = (centred.mean, centred.variance.sqrt());
    // d(sd/mean) = dvar / (2·sd·mean) − sd·dmean / mean²; if the variance is 0, the error is 0.
    let of_variance = if sd > 0.0 { 1.0 / (2.0 * sd * mean) } else { 0.0 };
    let found = centred.estimate(sd / mean, -sd / (mean * mean), of_variance);
    if found.value == 0.0 {
        return Some(found);
    }
    let factor = ((found.high - found.value) / found.value.abs()).exp();
    let (a, b) = (found.value / factor, found.value * factor);
    Some(Estimate { low: a.min(b), high: a.max(b), ..found })
}

/// Variance-to-mean ratio of the values in `parts`; for counts, this is their index of dispersion. For the parameters, see
/// [`coefficient_of_variation`].
#[must_use]
pub fn index_of_dispersion(parts: &[PowerSums], pivot: f64) -> Option<Estimate> {
    let centred = centre(parts, pivot).filter(|centred| centred.mean != 0.0)?;
    let (mean, variance) = (centred.mean, centred.variance);
    let found = centred.estimate(variance / mean, -variance / (mean * mean), 1.0 / mean);
    Some(Estimate { low: if mean > 0.0 { found.low.max(0.0) } else { found.low }, ..found })
}

/// The reciprocal of the mean of the values in `parts`; for gaps, this is the rate. For the parameters, see
/// [`coefficient_of_variation`].
#[must_use]
pub fn reciprocal_mean(parts: &[PowerSums], pivot: f64) -> Option<Estimate> {
    let centred = centre(parts, pivot).filter(|centred| centred.mean != 0.0)?;
    Some(centred.estimate(1.0 / centred.mean, -1.0 / (centred.mean * centred.mean), 0.0))
}

/// Share of values with a property. Each part is a consecutive batch: (number of values with the property, number of values).
/// The interval is the union of two intervals: the interval from batch means is valid for dependent values; Wilson's score
/// interval is valid for a share near 0 or 1 with few independent values (Wilson, JASA 22, 1927). `None` for fewer than two
/// values.
#[must_use]
pub fn proportion(parts: &[(f64, f64)]) -> Option<Estimate> {
    // The share is the mean of an indicator variable. Its squares equal its values, because these are 0 or 1.
    let sums: Vec<PowerSums> =
        parts.iter().map(|&(with, n)| PowerSums { n, sum: with, squares: with }).collect();
    let centred = centre(&sums, 0.0)?;
    let (n, share) = (centred.n, centred.mean);
    let found = centred.estimate(share, 1.0, 0.0);
    let z = normal_quantile();
    let middle = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    Some(Estimate {
        low: found.low.min(middle - half).max(0.0),
        high: found.high.max(middle + half).min(1.0),
        method: IntervalMethod::BatchMeansAndScore,
        ..found
    })
}
