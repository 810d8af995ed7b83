//! Divides a sequence of correlated values into segments of constant level.
//!
//! The values are the sum of levels and noise, where each value of the noise is correlated with the preceding one
//! (autoregression of order 1). Methods that assume independent values mistake the slow variations of correlated noise for
//! changes of the level. The number of changes and the correlation are therefore chosen together: the chosen pair has the
//! largest likelihood after subtraction of a penalty for each change. A straight line is compared with the levels, so that a
//! slow drift is not described as many steps.

use std::ops::Range;

/// The candidates for the correlation of adjacent values.
const CORRELATIONS: [f64; 8] = [0.0, 0.2, 0.4, 0.6, 0.75, 0.87, 0.94, 0.98];

/// Maximum correlation after the correction of its bias.
const CORRELATION_MAX: f64 = 0.985;

/// Maximum number of segments of a sequence.
pub(super) const SEGMENTS_MAX: usize = 8;

/// Minimum number of values in a segment.
const LENGTH_MIN: usize = 2;

/// Lengths of the blocks whose means are used to detect correlations over many values.
const BLOCKS: [usize; 4] = [2, 4, 8, 16];
/// Minimum number of degrees of freedom for the variance of the means of blocks.
const FREEDOM_MIN: usize = 5;

/// Maximum difference, in standard deviations, between a value and the median of this value and its two neighbours. Larger
/// differences are reduced to the maximum.
const PEAK: f64 = 3.0;

/// A part of a sequence with a constant level.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Segment {
    pub(super) range: Range<usize>,
    pub(super) level: f64,
}

/// Levels and a correlation, with the sum of the squares of the innovations. The innovation of a value is its difference from
/// the prediction that is based on the preceding value.
#[derive(Default)]
struct Fit {
    segments: Vec<Segment>,
    correlation: f64,
    squares: f64,
}

/// The levels of a sequence, and the noise around them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Levels {
    pub(super) segments: Vec<Segment>,
    /// The first and the last value of a straight line, if a line describes the sequence better than levels.
    pub(super) drift: Option<(f64, f64)>,
    correlation: f64,
    /// Variance of the innovations: the differences between each value and its prediction from the preceding value.
    innovation: f64,
    /// The variance of the mean of many values, multiplied by their number. It is larger than the autoregression predicts if
    /// the correlation extends beyond adjacent values.
    long_run: f64,
}

impl Levels {
    /// Finds the levels of a sequence of at least one value. `penalty` is the penalty for each change, in units of twice the
    /// logarithm of the likelihood. Differences below `resolution` are ignored.
    pub(super) fn of(values: &[f64], penalty: f64, resolution: f64) -> Levels {
        let values = without_peaks(values, resolution);
        let count = values.len() as f64;
        let floor = resolution * resolution;
        let score = |squares: f64, correlation: f64, segments: usize| {
            let variance = (squares / count).max(0.0) + floor;
            count * variance.ln() - segments as f64 * (1.0 - correlation * correlation).ln()
                + penalty * (segments as f64 - 1.0)
        };
        let mut best: Option<(f64, Fit)> = None;
        let mut best_line = (f64::INFINITY, (0.0, 0.0));
        for correlation in CORRELATIONS {
            let costs = Costs::of(&values, correlation);
            let partition = Partition::of(values.len(), LENGTH_MIN, |range| costs.of_range(range));
            for segments in 1..=partition.segments_max() {
                let squares = partition.cost(segments);
                let total = score(squares, correlation, segments);
                if best.as_ref().is_none_or(|(least, _)| total < *least) {
                    let ranges = partition.ranges(segments).into_iter();
                    let segments =
                        ranges.map(|range| Segment { level: costs.level(&range), range }).collect();
                    best = Some((total, Fit { segments, correlation, squares }));
                }
            }
            if let Some((squares, line)) = line(&values, correlation) {
                let total = score(squares, correlation, 1) + penalty;
                if total < best_line.0 {
                    best_line = (total, line);
                }
            }
        }
        let (least, Fit { segments, correlation, squares }) = best.unwrap_or_default();
        Levels {
            long_run: long_run_variance(&values, &segments),
            segments,
            drift: (best_line.0 < least).then_some(best_line.1),
            correlation,
            innovation: squares.max(0.0) / count + floor,
        }
    }

    /// The standard deviation of a mean of `values` values.
    pub(super) fn deviation_of_mean(&self, values: usize) -> f64 {
        let (count, r) = (values.max(1) as f64, self.correlation_of_noise());
        let variance = self.innovation / (1.0 - r * r);
        // The sum Σ (1 − k/n) r^k over all lags k from 1 to n − 1.
        let lags = r / (1.0 - r) - r * (1.0 - r.powf(count)) / (count * (1.0 - r) * (1.0 - r));
        (variance / count * (1.0 + 2.0 * lags)).max(self.long_run / count).sqrt()
    }

    /// The correlation r, corrected for the bias of its estimate, which is too small by (1 + 3 r) / n (Kendall, Biometrika 41,
    /// 1954).
    fn correlation_of_noise(&self) -> f64 {
        let count = self.segments.last().map_or(1, |segment| segment.range.end) as f64;
        let r = self.correlation;
        if r > 0.0 { (r + (1.0 + 3.0 * r) / count).min(CORRELATION_MAX) } else { 0.0 }
    }
}

/// The variance of the means of blocks around their level, multiplied by the length of the blocks. Returns the maximum over all
/// lengths of blocks.
fn long_run_variance(values: &[f64], segments: &[Segment]) -> f64 {
    let of_blocks = |length: usize| {
        let (mut squares, mut blocks, mut levels) = (0.0, 0_usize, 0);
        for segment in segments.iter().filter(|segment| segment.range.len() >= 2 * length) {
            levels += 1;
            for block in values[segment.range.clone()].chunks_exact(length) {
                squares += (block.iter().sum::<f64>() / length as f64 - segment.level).powi(2);
                blocks += 1;
            }
        }
        let freedom = blocks.saturating_sub(levels);
        (freedom >= FREEDOM_MIN).then(|| squares / freedom as f64 * length as f64)
    };
    BLOCKS.into_iter().filter_map(of_blocks).fold(0.0, f64::max)
}

/// Computes the sum of squares of any range around its best level. Cumulative sums make this possible in constant time.
struct Costs<'v> {
    values: &'v [f64],
    correlation: f64,
    /// For each position, the sum of the innovations before it, and the sum of their squares.
    sums: Vec<(f64, f64)>,
}

impl Costs<'_> {
    fn of(values: &[f64], correlation: f64) -> Costs<'_> {
        let mut sums = Vec::with_capacity(values.len() + 1);
        sums.extend([(0.0, 0.0); 2]);
        for pair in values.windows(2) {
            let innovation = pair[1] - correlation * pair[0];
            let (sum, squares) = sums[sums.len() - 1];
            sums.push((sum + innovation, squares + innovation * innovation));
        }
        Costs { values, correlation, sums }
    }

    /// The coefficients a, b and c of the sum of squares of a range as a function of its level: a·level² − 2·b·level + c.
    fn parabola(&self, range: &Range<usize>) -> (f64, f64, f64) {
        let r = self.correlation;
        let (first, step) = (self.values[range.start], 1.0 - r);
        let of_first = 1.0 - r * r;
        let (to, from) = (self.sums[range.end], self.sums[range.start + 1]);
        let rest = (range.len() - 1) as f64;
        (
            of_first + rest * step * step,
            of_first * first + step * (to.0 - from.0),
            of_first * first * first + to.1 - from.1,
        )
    }

    fn of_range(&self, range: &Range<usize>) -> f64 {
        let (a, b, c) = self.parabola(range);
        (c - b * b / a).max(0.0)
    }

    fn level(&self, range: &Range<usize>) -> f64 {
        let (a, b, _) = self.parabola(range);
        b / a
    }
}

/// For each number of segments up to [`SEGMENTS_MAX`], the partition of a sequence with the least sum of costs.
pub(super) struct Partition {
    /// For each end position, the least costs by number of segments minus 1.
    costs: Vec<[f64; SEGMENTS_MAX]>,
    begins: Vec<[usize; SEGMENTS_MAX]>,
}

impl Partition {
    /// Finds the partitions of `count` values into segments of at least `length_min` values.
    pub(super) fn of(count: usize, length_min: usize, cost: impl Fn(&Range<usize>) -> f64) -> Partition {
        let mut costs = vec![[f64::INFINITY; SEGMENTS_MAX]; count + 1];
        let mut begins = vec![[0; SEGMENTS_MAX]; count + 1];
        for to in 1..=count {
            let (before, rest) = costs.split_at_mut(to);
            let (totals, begins) = (&mut rest[0], &mut begins[to]);
            totals[0] = cost(&(0..to));
            let end = (to + 1).saturating_sub(length_min);
            for (from, before) in before.iter().enumerate().take(end).skip(length_min) {
                let of_range = cost(&(from..to));
                for more in 1..SEGMENTS_MAX {
                    let total = before[more - 1] + of_range;
                    if total < totals[more] {
                        totals[more] = total;
                        begins[more] = from;
                    }
                }
            }
        }
        Partition { costs, begins }
    }

    /// The maximum possible number of segments, at least 1.
    pub(super) fn segments_max(&self) -> usize {
        let of_all = self.costs[self.costs.len() - 1];
        of_all.iter().take_while(|cost| cost.is_finite()).count().max(1)
    }

    /// The cost of the best partition into `segments` segments.
    pub(super) fn cost(&self, segments: usize) -> f64 {
        self.costs[self.costs.len() - 1][segments - 1]
    }

    /// The best partition into `segments` segments.
    pub(super) fn ranges(&self, segments: usize) -> Vec<Range<usize>> {
        let mut to = self.begins.len() - 1;
        let mut found = Vec::with_capacity(segments);
        for more in (0..segments).rev() {
            let from = self.begins[to][more];
            found.push(from..to);
            to = from;
        }
        found.reverse();
        found
    }
}

/// The sum of squares around the best straight line, and the first and the last value of the line.
fn line(values: &[f64], correlation: f64) -> Option<(f64, (f64, f64))> {
    let of_first = (1.0 - correlation * correlation).sqrt();
    let (mut ones, mut mixed, mut times) = (0.0, 0.0, 0.0);
    let (mut with_one, mut with_time, mut squares) = (0.0, 0.0, 0.0);
    for (at, &value) in values.iter().enumerate() {
        let (one, time, value) = match at {
            0 => (of_first, 0.0, of_first * value),
            _ => (
                1.0 - correlation,
                at as f64 - correlation * (at as f64 - 1.0),
                value - correlation * values[at - 1],
            ),
        };
        ones += one * one;
        mixed += one * time;
        times += time * time;
        with_one += one * value;
        with_time += time * value;
        squares += value * value;
    }
    let determinant = ones * times - mixed * mixed;
    if values.len() < 3 || determinant <= 0.0 {
        return None;
    }
    let start = (with_one * times - with_time * mixed) / determinant;
    let slope = (with_time * ones - with_one * mixed) / determinant;
    let rest = squares - start * with_one - slope * with_time;
    Some((rest.max(0.0), (start, start + slope * (values.len() as f64 - 1.0))))
}

/// The values with limited peaks. A peak differs from both neighbours far more than adjacent values usually differ.
fn without_peaks(values: &[f64], resolution: f64) -> Vec<f64> {
    let count = values.len();
    if count < 3 {
        return values.to_vec();
    }
    let differences: Vec<f64> = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let noise = (median(&differences) * 1.4826 / std::f64::consts::SQRT_2).max(resolution);
    (0..count)
        .map(|at| {
            let from = at.saturating_sub(1).min(count - 3);
            let middle = median(&values[from..from + 3]);
            values[at].clamp(middle - PEAK * noise, middle + PEAK * noise)
        })
        .collect()
}

/// The median of `values`, which contains at least one value.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A uniform value from a multiplicative generator.
    fn uniform(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as f64 / (1_u64 << 31) as f64
    }

    fn ranges(values: &[f64]) -> Vec<Range<usize>> {
        Levels::of(values, 20.0, 0.03).segments.into_iter().map(|segment| segment.range).collect()
    }

    /// Noise with this correlation and a standard deviation of about 0.29.
    fn noise(count: usize, correlation: f64, seed: u64) -> Vec<f64> {
        let mut state = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut value = 0.0;
        let scale = (1.0 - correlation * correlation).sqrt();
        (0..count)
            .map(|_| {
                value = correlation * value + scale * (uniform(&mut state) - 0.5);
                value
            })
            .collect()
    }

    #[test]
    fn levels_are_separated_at_their_edges() {
        let level = |at: usize| if (40..55).contains(&at) { 2.0 } else { 1.0 };
        let values: Vec<f64> =
            noise(100, 0.0, 1).iter().enumerate().map(|(at, noise)| noise / 3.0 + level(at)).collect();
        assert_eq!(ranges(&values), [0..40, 40..55, 55..100]);
        let to_the_end: Vec<f64> = values[..50].to_vec();
        assert_eq!(ranges(&to_the_end), [0..40, 40..50]);
    }

    #[test]
    fn correlated_noise_has_one_level() {
        for correlation in [0.0, 0.5, 0.9, 0.97] {
            let several = (0..50).filter(|seed| ranges(&noise(150, correlation, *seed)).len() > 1).count();
            assert!(several <= 1, "{several} of 50 with a correlation of {correlation}");
        }
    }

    #[test]
    fn a_drift_is_a_line_and_a_step_is_not() {
        let drift: Vec<f64> =
            noise(100, 0.0, 1).iter().enumerate().map(|(at, noise)| noise + at as f64 / 50.0).collect();
        let line = Levels::of(&drift, 20.0, 0.03).drift.unwrap();
        assert!((line.0.abs() < 0.2) && (line.1 - 2.0).abs() < 0.2, "{line:?}");
        let step: Vec<f64> = (0..100).map(|at| if at < 30 { 1.0 } else { 2.0 }).collect();
        assert_eq!(Levels::of(&step, 20.0, 0.03).drift, None);
    }

    #[test]
    fn short_sequences_are_one_segment() {
        assert_eq!(ranges(&[3.0]), [Range { start: 0, end: 1 }]);
        assert_eq!(ranges(&[3.0, 3.0]), [Range { start: 0, end: 2 }]);
    }
}
