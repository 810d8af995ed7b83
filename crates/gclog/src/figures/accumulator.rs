//! Statistics of durations and sizes.

use busyhour_stats::Moments;

/// Statistics of durations, s.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DurationStatistics {
    moments: Moments,
    sum: f64,
    sorted: Vec<f64>,
}

impl DurationStatistics {
    /// Statistics of durations in any order.
    #[must_use]
    pub fn of(durations_s: Vec<f64>) -> DurationStatistics {
        let mut moments = Moments::default();
        let mut sum = 0.0;
        for duration in &durations_s {
            moments.add(*duration);
            sum += duration;
        }
        let mut sorted = durations_s;
        sorted.sort_by(f64::total_cmp);
        DurationStatistics { moments, sum, sorted }
    }

    /// Number of durations.
    #[must_use]
    pub fn n(&self) -> usize {
        self.sorted.len()
    }

    /// Sum of the durations, s.
    #[must_use]
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Mean duration, s.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.n() > 0).then(|| self.sum / self.n() as f64)
    }

    /// Standard deviation of the durations, s; 0 for one duration.
    #[must_use]
    pub fn sd(&self) -> Option<f64> {
        (self.n() > 0).then(|| self.moments.sd().unwrap_or(0.0))
    }

    /// The shortest duration, s.
    #[must_use]
    pub fn min(&self) -> Option<f64> {
        self.sorted.first().copied()
    }

    /// The longest duration, s.
    #[must_use]
    pub fn max(&self) -> Option<f64> {
        self.sorted.last().copied()
    }

    /// The p-th percentile, s, with p in percent: the shortest duration that at least p percent of the durations do not
    /// exceed (nearest rank, which is also GCViewer's rule).
    #[must_use]
    pub fn percentile(&self, p: f64) -> Option<f64> {
        if self.sorted.is_empty() || !(0.0..=100.0).contains(&p) {
            return None;
        }
        let rank = (p / 100.0 * self.n() as f64).ceil() as usize;
        self.sorted.get(rank.max(1) - 1).copied()
    }
}

/// Statistics of sizes, KiB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SizeStatistics {
    moments: Moments,
    sum: i64,
}

impl SizeStatistics {
    /// Adds a size, KiB.
    pub fn add(&mut self, kib: i64) {
        self.moments.add(kib as f64);
        self.sum = self.sum.saturating_add(kib);
    }

    /// Number of sizes.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.moments.n()
    }

    /// Sum of the sizes, KiB.
    #[must_use]
    pub fn sum_kib(&self) -> i64 {
        self.sum
    }

    /// Mean size, KiB.
    #[must_use]
    pub fn mean_kib(&self) -> Option<f64> {
        (self.n() > 0).then(|| self.sum as f64 / self.n() as f64)
    }

    /// Standard deviation of the sizes, KiB; 0 for one size.
    #[must_use]
    pub fn sd_kib(&self) -> Option<f64> {
        (self.n() > 0).then(|| self.moments.sd().unwrap_or(0.0))
    }
}

/// A least-squares line, in constant memory.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Line {
    n: f64,
    mean_x: f64,
    mean_y: f64,
    square_x: f64,
    product: f64,
}

impl Line {
    /// Adds a point.
    pub fn add(&mut self, x: f64, y: f64) {
        self.n += 1.0;
        let dx = x - self.mean_x;
        self.mean_x += dx / self.n;
        self.mean_y += (y - self.mean_y) / self.n;
        self.square_x += dx * (x - self.mean_x);
        self.product += dx * (y - self.mean_y);
    }

    /// The number of points.
    pub fn n(&self) -> f64 {
        self.n
    }

    /// The slope; `None` unless two points have different `x`.
    pub fn slope(&self) -> Option<f64> {
        (self.n > 1.0 && self.square_x > 0.0).then(|| self.product / self.square_x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let ten = DurationStatistics::of((1..=10).rev().map(f64::from).collect());
        assert_eq!(ten.percentile(50.0), Some(5.0));
        assert_eq!(ten.percentile(95.0), Some(10.0));
        assert_eq!(ten.percentile(0.0), Some(1.0));
        assert_eq!(ten.percentile(101.0), None);
        assert_eq!(DurationStatistics::default().percentile(50.0), None);
        assert_eq!((ten.min(), ten.max(), ten.mean(), ten.sum()), (Some(1.0), Some(10.0), Some(5.5), 55.0));
    }

    #[test]
    fn a_line_through_points_has_their_slope() {
        let mut line = Line::default();
        line.add(1e9, 5.0);
        assert_eq!(line.slope(), None);
        line.add(1e9 + 1.0, 7.0);
        line.add(1e9 + 2.0, 9.0);
        assert!((line.slope().unwrap() - 2.0).abs() < 1e-9);
    }
}
