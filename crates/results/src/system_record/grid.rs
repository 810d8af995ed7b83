//! Values of series in slices of the time axis.

use busyhour_sample::Nanos;
use busyhour_series::{MetricKind, SeriesPoint};

use super::model::{LineFigures, TimeAxis};

/// Maximum number of slices of a panel. Small plots are a few hundred pixels wide.
pub(super) const SLICES_MAX: usize = 400;

/// Lengths of slices in ms.
const STEPS_MS: [u64; 16] = [
    100, 200, 500, 1_000, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 30_000, 60_000, 120_000, 300_000,
    600_000, 1_800_000,
];

/// The axis from the start of the run to the last value. A slice is at least as long as the interval between readings.
pub(super) fn axis(last: Nanos, interval_ns: Option<u64>) -> TimeAxis {
    let interval_ms = interval_ns.map_or(1_000, |ns| (ns.saturating_mul(2) / 3) / 1_000_000);
    let last_ms = (last.0 / 1_000_000).max(1);
    let fits = |step: &u64| *step >= interval_ms && last_ms / step < SLICES_MAX as u64;
    let step_ms = STEPS_MS.into_iter().find(fits).unwrap_or_else(|| {
        // Runs of more than eight days.
        let hours = last_ms / (SLICES_MAX as u64 - 1) / 3_600_000 + 1;
        hours * 3_600_000
    });
    let count = usize::try_from(last_ms / step_ms).unwrap_or(SLICES_MAX).min(SLICES_MAX - 1) + 1;
    TimeAxis { from_s: 0.0, step_s: step_ms as f64 / 1e3, count }
}

impl TimeAxis {
    /// Length of a slice in ns.
    pub(super) fn step_ns(&self) -> u64 {
        (self.step_s * 1e9) as u64
    }

    /// The slice that contains a time. Times outside of the axis belong to the first or the last slice.
    fn slice(&self, time_ns: u64) -> usize {
        usize::try_from(time_ns / self.step_ns().max(1))
            .unwrap_or(usize::MAX)
            .min(self.count.saturating_sub(1))
    }

    /// The slices that begin in this part of the run.
    pub(super) fn part(&self, window_s: Option<(f64, f64)>) -> std::ops::Range<usize> {
        let Some((from_s, to_s)) = window_s else { return 0..self.count };
        let slice = |seconds: f64| ((seconds / self.step_s).ceil().max(0.0) as usize).min(self.count);
        slice(from_s)..slice(to_s).max(slice(from_s))
    }
}

/// The mean of each slice. A rate fills the slices of its interval. A value of a gauge also fills the slices up to the
/// next value, unless the next value comes later than usual for the series.
pub(super) fn slices(axis: &TimeAxis, kind: MetricKind, points: &[SeriesPoint]) -> Vec<Option<f64>> {
    let mut slices = vec![None; axis.count];
    let held_ns = match kind {
        MetricKind::Counter => 0,
        MetricKind::Gauge => usual_distance(points).saturating_mul(3) / 2,
    };
    for (at, point) in points.iter().enumerate() {
        let (first, last) = match kind {
            MetricKind::Counter => (axis.slice(point.from.0 + 1), axis.slice(point.to.0.saturating_sub(1))),
            MetricKind::Gauge => {
                let end = point.to.0.saturating_add(held_ns);
                let next = points.get(at + 1).map_or(point.to.0, |next| next.from.0.saturating_sub(1));
                (axis.slice(point.from.0), axis.slice(if next <= end { next } else { point.to.0 }))
            }
        };
        // If two intervals share a slice, the later one is used, because it is closer to the end of the slice.
        for slice in &mut slices[first..=last.max(first)] {
            *slice = Some(point.mean);
        }
    }
    slices
}

/// The median distance between points, in ns.
fn usual_distance(points: &[SeriesPoint]) -> u64 {
    let mut distances: Vec<u64> =
        points.windows(2).map(|pair| pair[1].from.0.saturating_sub(pair[0].to.0)).collect();
    let middle = distances.len() / 2;
    if distances.is_empty() {
        return 0;
    }
    *distances.select_nth_unstable(middle).1
}

/// Adds `other`, multiplied by `factor`, where `other` is known. An unknown sum counts as 0.
pub(super) fn add(sum: &mut [Option<f64>], other: &[Option<f64>], factor: f64) {
    for (sum, other) in sum.iter_mut().zip(other) {
        if let Some(other) = other {
            *sum = Some(sum.unwrap_or(0.0) + factor * other);
        }
    }
}

/// Subtracts `other`. The difference is unknown unless both values are known.
pub(super) fn subtract(from: &mut [Option<f64>], other: &[Option<f64>]) {
    for (from, other) in from.iter_mut().zip(other) {
        *from = from.zip(*other).map(|(from, other)| (from - other).max(0.0));
    }
}

/// The figures of the slices in `part`.
pub(super) fn figures(values: &[Option<f64>], part: std::ops::Range<usize>) -> Option<LineFigures> {
    let mut known: Vec<f64> = values.get(part)?.iter().copied().flatten().collect();
    if known.is_empty() {
        return None;
    }
    known.sort_unstable_by(f64::total_cmp);
    Some(LineFigures { min: known[0], median: known[(known.len() - 1) / 2], max: known[known.len() - 1] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(from_ms: u64, to_ms: u64, mean: f64) -> SeriesPoint {
        SeriesPoint {
            from: Nanos(from_ms * 1_000_000),
            to: Nanos(to_ms * 1_000_000),
            mean,
            min: mean,
            max: mean,
        }
    }

    #[test]
    fn slices_are_as_short_as_the_interval_and_the_width_allow() {
        let second = Nanos(1_000_000_000);
        let axis_of = |seconds: u64, interval_ms: u64| {
            let axis = axis(Nanos(second.0 * seconds), Some(interval_ms * 1_000_000));
            (axis.step_s, axis.count)
        };
        assert_eq!(axis_of(20, 1_000), (1.0, 21));
        assert_eq!(axis_of(20, 100), (0.1, 201));
        assert_eq!(axis_of(3_600, 1_000), (10.0, 361));
        assert_eq!(axis_of(86_400 * 30, 1_000), (7_200.0, 361));
    }

    #[test]
    fn rates_fill_their_intervals_and_gauges_hold_until_the_next_value() {
        let axis = TimeAxis { from_s: 0.0, step_s: 1.0, count: 8 };
        let rates = slices(&axis, MetricKind::Counter, &[point(0, 2_000, 5.0), point(2_000, 3_000, 7.0)]);
        assert_eq!(rates, [Some(5.0), Some(5.0), Some(7.0), None, None, None, None, None]);
        let gauge = slices(
            &axis,
            MetricKind::Gauge,
            &[point(100, 100, 1.0), point(2_100, 2_100, 2.0), point(7_000, 7_000, 3.0)],
        );
        assert_eq!(gauge[..3], [Some(1.0), Some(1.0), Some(2.0)]);
        let short = slices(
            &axis,
            MetricKind::Gauge,
            &[point(0, 0, 1.0), point(990, 990, 1.0), point(2_010, 2_010, 2.0), point(6_000, 6_000, 3.0)],
        );
        assert_eq!(short, [Some(1.0), Some(1.0), Some(2.0), None, None, None, Some(3.0), None]);
    }

    #[test]
    fn figures_cover_the_measured_part() {
        let values = [Some(9.0), Some(1.0), None, Some(3.0), Some(2.0)];
        let axis = TimeAxis { from_s: 0.0, step_s: 2.0, count: 5 };
        assert_eq!(axis.part(Some((2.0, 100.0))), 1..5);
        assert_eq!(figures(&values, 1..5), Some(LineFigures { min: 1.0, median: 2.0, max: 3.0 }));
        assert_eq!(figures(&values, 2..3), None);
    }
}
