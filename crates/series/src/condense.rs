//! A bounded number of points for any number of values.

use busyhour_sample::Nanos;

/// A summary of consecutive values of a gauge, or of consecutive rates of a counter (per second).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeriesPoint {
    /// Time of the first value in ns since the start of the run; for a rate the start of its interval.
    pub from: Nanos,
    /// Time of the last value in ns since the start of the run.
    pub to: Nanos,
    /// For a gauge, the unweighted mean of the values; for a counter, its increase divided by the time.
    pub mean: f64,
    /// Smallest value of a gauge, or smallest rate of a counter between two readings.
    pub min: f64,
    /// Largest value of a gauge, or largest rate of a counter between two readings.
    pub max: f64,
}

/// A time interval and the summary of the values in it. It can be merged with the next bucket.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// Time of the bucket divided by the width of buckets.
    number: u64,
    from: Nanos,
    to: Nanos,
    weight: f64,
    sum: f64,
    min: f64,
    max: f64,
}

impl Bucket {
    fn merge(&mut self, next: &Bucket) {
        self.to = self.to.max(next.to);
        self.weight += next.weight;
        self.sum += next.sum;
        self.min = self.min.min(next.min);
        self.max = self.max.max(next.max);
    }
}

/// Summarizes several series in buckets of time. All buckets have the same width, so that points of different series cover the
/// same times. The width doubles whenever a series has too many buckets. Adding a value takes constant amortized time.
#[derive(Debug)]
pub struct Condenser {
    width_ns: u64,
    points_max: usize,
    series: Vec<Vec<Bucket>>,
    out_of_order: u64,
}

impl Condenser {
    /// Creates a condenser whose buckets are initially `width_ns` nanoseconds wide, with at most `points_max` points
    /// per series. An argument of 0 is treated as 1.
    #[must_use]
    pub fn new(width_ns: u64, points_max: usize) -> Condenser {
        Condenser {
            width_ns: width_ns.max(1),
            points_max: points_max.max(1),
            series: Vec::new(),
            out_of_order: 0,
        }
    }

    /// Adds a series and returns its number.
    pub fn add_series(&mut self) -> usize {
        self.series.push(Vec::new());
        self.series.len() - 1
    }

    /// Adds a value of a gauge.
    pub fn add_value(&mut self, series: usize, time: Nanos, value: f64) {
        self.add(series, time, time, 1.0, value, value);
    }

    /// Adds an increase of a counter in the time between two readings.
    pub fn add_increase(&mut self, series: usize, from: Nanos, to: Nanos, amount: f64) {
        let seconds = to.0.saturating_sub(from.0) as f64 / 1e9;
        if seconds > 0.0 {
            self.add(series, from, to, seconds, amount, amount / seconds);
        }
    }

    fn add(&mut self, series: usize, from: Nanos, to: Nanos, weight: f64, sum: f64, value: f64) {
        let number = to.0 / self.width_ns;
        let Some(buckets) = self.series.get_mut(series) else { return };
        let bucket = Bucket { number, from, to, weight, sum, min: value, max: value };
        match buckets.last_mut() {
            Some(last) if last.to > to => self.out_of_order += 1,
            Some(last) if last.number == number => last.merge(&bucket),
            _ => {
                buckets.push(bucket);
                if buckets.len() > self.points_max {
                    self.widen(series);
                }
            }
        }
    }

    /// Doubles the width until the series has at most `points_max` buckets. The loop ends, because after 64 doublings
    /// all bucket numbers are 0.
    fn widen(&mut self, series: usize) {
        while self.series[series].len() > self.points_max {
            self.width_ns = self.width_ns.saturating_mul(2);
            for buckets in &mut self.series {
                for bucket in buckets.iter_mut() {
                    bucket.number /= 2;
                }
                buckets.dedup_by(|next, bucket| {
                    let is_same = next.number == bucket.number;
                    if is_same {
                        bucket.merge(next);
                    }
                    is_same
                });
            }
        }
    }

    /// Width of the buckets in ns.
    #[must_use]
    pub fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Number of values that were skipped, because their time was before that of the previous value.
    #[must_use]
    pub fn out_of_order(&self) -> u64 {
        self.out_of_order
    }

    /// The points of a series, in the order of their times.
    #[must_use]
    pub fn points(&self, series: usize) -> Vec<SeriesPoint> {
        let buckets = self.series.get(series).map_or(&[][..], Vec::as_slice);
        let point = |bucket: &Bucket| SeriesPoint {
            from: bucket.from,
            to: bucket.to,
            mean: bucket.sum / bucket.weight,
            min: bucket.min,
            max: bucket.max,
        };
        buckets.iter().map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn extremes_and_means_survive() {
        let mut condenser = Condenser::new(SECOND, 10);
        let series = condenser.add_series();
        for second in 0..1_000u64 {
            let value = if second == 567 { 1e6 } else { 1.0 };
            condenser.add_value(series, Nanos(second * SECOND), value);
        }
        let points = condenser.points(series);
        assert!(points.len() <= 10 && points.len() >= 5, "{}", points.len());
        assert_eq!(points.iter().map(|point| point.max).fold(0.0, f64::max), 1e6);
        assert_eq!((points[0].from, points[points.len() - 1].to), (Nanos(0), Nanos(999 * SECOND)));
        assert_eq!(condenser.width_ns(), 128 * SECOND);
        let mean: f64 = points[..4].iter().map(|point| point.mean).sum::<f64>() / 4.0;
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
    }

    #[test]
    fn rates_are_weighted_by_time() {
        let mut condenser = Condenser::new(100 * SECOND, 10);
        let series = condenser.add_series();
        condenser.add_increase(series, Nanos(0), Nanos(SECOND), 10.0);
        condenser.add_increase(series, Nanos(SECOND), Nanos(10 * SECOND), 0.0);
        let points = condenser.points(series);
        assert_eq!((points[0].mean, points[0].min, points[0].max), (1.0, 0.0, 10.0));
    }

    #[test]
    fn widening_ends_even_for_the_largest_times() {
        let mut condenser = Condenser::new(1, 1);
        let series = condenser.add_series();
        for time in [0, 1, 2, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
            condenser.add_value(series, Nanos(time), 1.0);
        }
        condenser.add_value(series, Nanos(5), 1.0);
        assert_eq!(condenser.points(series).len(), 1);
        assert_eq!(condenser.out_of_order(), 1);
    }
}
