//! The growth of the memory of a process, for programs without class histograms.

use busyhour_stats::{MonotonicTrend, TREND_VALUES_MIN, monotonic_trend};
use serde::Serialize;

/// Largest number of points that are judged; longer series are reduced to the smallest value of each block.
const BLOCKS_MAX: usize = 96;

/// Smallest number of points: each half has to be tested.
const POINTS_MIN: usize = 2 * TREND_VALUES_MIN;

/// The part of the time that counts as warm-up.
const WARM_UP: f64 = 0.25;

/// The significance levels of the whole series and of each half.
const WHOLE: f64 = 0.01;
const HALF: f64 = 0.05;

const CONFIDENCE: f64 = 0.95;

/// The growth of a half that is too small to continue that of the first one.
const SLOWER: f64 = 0.5;

/// The smallest material growth: a share of the median, and bytes.
const MATERIAL_SHARE: f64 = 0.05;
const MATERIAL_BYTES: f64 = 2.0 * 1024.0 * 1024.0;

/// A series is not worth repeating if it is longer by less than this factor.
const LONGER_MIN: f64 = 1.25;

/// The memory of a process, or of a process and its children, at one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemorySize {
    /// The time in seconds, or the number of requests so far.
    pub at: f64,
    /// Bytes.
    pub bytes: f64,
}

/// The growth of the memory, in bytes per unit of the abscissa: second or request.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MemoryGrowth {
    /// Median of the slopes of all pairs (Theil and Sen).
    pub slope: f64,
    /// Lower end of the interval of 95 %, which takes serial correlation into account (Hamed and Rao).
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Probability of such a rise without a trend.
    pub p: f64,
    /// The growth that counts as material.
    pub material: f64,
    /// Number of judged points.
    pub points: usize,
}

/// Whether the memory of a process grows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum MemoryOutcome {
    /// It grows until the end.
    Leak(MemoryGrowth),
    /// A material growth is outside the interval, and no growth is inside.
    NoLeak(MemoryGrowth),
    /// The series does not show whether there is a leak.
    CannotTell {
        /// The reason.
        reason: MemoryReason,
        /// How many times as long the series has to be, if this can be estimated.
        longer: Option<f64>,
        /// The growth, if it can be estimated.
        growth: Option<MemoryGrowth>,
    },
}

/// Why the memory of a process has no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryReason {
    /// There are fewer than 16 values after the warm-up.
    TooFewValues,
    /// The values are not finite, or their abscissas do not increase.
    Unusable,
    /// The memory rises in one half only, or more slowly in the second half.
    SlowsDown,
    /// The interval contains both no growth and a material one.
    Uncertain,
    /// The memory grows, but by less than a material growth.
    Small,
}

/// Judges the growth of the memory of a process. The first quarter is the warm-up.
#[must_use]
pub fn memory_outcome(sizes: &[MemorySize]) -> MemoryOutcome {
    let cannot_tell = |reason, longer, growth| MemoryOutcome::CannotTell { reason, longer, growth };
    let is_usable = sizes.iter().all(|size| size.at.is_finite() && size.bytes.is_finite())
        && sizes.windows(2).all(|pair| pair[0].at < pair[1].at);
    if !is_usable {
        return cannot_tell(MemoryReason::Unusable, None, None);
    }
    let points = blocks(after_warm_up(sizes));
    if points.len() < POINTS_MIN {
        let longer = (!points.is_empty()).then(|| POINTS_MIN as f64 / points.len() as f64);
        return cannot_tell(MemoryReason::TooFewValues, longer, None);
    }
    let Some(trend) = trend(&points) else { return cannot_tell(MemoryReason::Unusable, None, None) };
    let growth = growth(&points, &trend);
    if trend.p_rising < WHOLE && trend.slope >= growth.material {
        return if lasts(&points) {
            MemoryOutcome::Leak(growth)
        } else {
            cannot_tell(MemoryReason::SlowsDown, Some(2.0), Some(growth))
        };
    }
    if trend.slope_high < growth.material {
        // The material growth decreases with the length of the series. A short one shows only fast leaks.
        return if trend.slope_low > 0.0 {
            let longer = (growth.material / growth.slope).max(LONGER_MIN);
            cannot_tell(MemoryReason::Small, Some(longer), Some(growth))
        } else {
            MemoryOutcome::NoLeak(growth)
        };
    }
    cannot_tell(MemoryReason::Uncertain, longer(&growth), Some(growth))
}

fn after_warm_up(sizes: &[MemorySize]) -> &[MemorySize] {
    let (Some(first), Some(last)) = (sizes.first(), sizes.last()) else { return sizes };
    let from = first.at + WARM_UP * (last.at - first.at);
    &sizes[sizes.partition_point(|size| size.at < from)..]
}

/// The smallest value of each block: memory that is in use for a short time is not growth.
fn blocks(sizes: &[MemorySize]) -> Vec<MemorySize> {
    let length = sizes.len().div_ceil(BLOCKS_MAX).max(1);
    let smallest =
        |block: &[MemorySize]| block.iter().copied().min_by(|one, two| one.bytes.total_cmp(&two.bytes));
    sizes.chunks(length).filter_map(smallest).collect()
}

fn trend(points: &[MemorySize]) -> Option<MonotonicTrend> {
    let at: Vec<f64> = points.iter().map(|point| point.at).collect();
    let bytes: Vec<f64> = points.iter().map(|point| point.bytes).collect();
    monotonic_trend(&at, &bytes, CONFIDENCE)
}

fn growth(points: &[MemorySize], trend: &MonotonicTrend) -> MemoryGrowth {
    let mut bytes: Vec<f64> = points.iter().map(|point| point.bytes).collect();
    bytes.sort_by(f64::total_cmp);
    let span = points[points.len() - 1].at - points[0].at;
    MemoryGrowth {
        slope: trend.slope,
        low: trend.slope_low,
        high: trend.slope_high,
        p: trend.p_rising,
        material: (MATERIAL_SHARE * bytes[bytes.len() / 2]).max(MATERIAL_BYTES) / span,
        points: points.len(),
    }
}

/// Whether both halves rise, the second at a similar rate. A step, a cache that fills and a warm-up fail one of these.
fn lasts(points: &[MemorySize]) -> bool {
    let (first, second) = points.split_at(points.len() / 2);
    let (Some(first), Some(second)) = (trend(first), trend(second)) else { return false };
    first.p_rising < HALF && second.p_rising < HALF && second.slope >= SLOWER * first.slope
}

/// How many times as long the series has to be for an interval that contains only one of 0 and the material growth. The width
/// of the interval of a slope decreases with the power 3/2 of the length.
fn longer(growth: &MemoryGrowth) -> Option<f64> {
    let nearest =
        if growth.slope >= growth.material / 2.0 { growth.slope } else { growth.material - growth.slope };
    let half_width = (growth.high - growth.low) / 2.0;
    (nearest > 0.0).then(|| (half_width / nearest).powf(2.0 / 3.0).max(LONGER_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: f64 = 1024.0 * 1024.0;

    fn judged(points: u32, mib: impl Fn(f64) -> f64) -> MemoryOutcome {
        let size =
            |at: u32| MemorySize { at: f64::from(at), bytes: mib(f64::from(at) / f64::from(points)) * MIB };
        memory_outcome(&(0..points).map(size).collect::<Vec<_>>())
    }

    #[test]
    fn lasting_growth_is_a_leak_and_its_slope_is_stated() {
        let MemoryOutcome::Leak(growth) = judged(1_000, |share| 200.0 + 100.0 * share) else { panic!() };
        assert!((growth.slope / MIB - 0.1).abs() < 1e-6 && growth.points <= BLOCKS_MAX, "{growth:?}");
    }

    #[test]
    fn constant_memory_is_no_leak_and_steps_and_saturation_are_no_claim() {
        assert!(matches!(judged(1_000, |_| 200.0), MemoryOutcome::NoLeak(_)));
        let step = judged(1_000, |share| if share < 0.6 { 200.0 } else { 260.0 });
        let saturating = judged(1_000, |share| 300.0 - 100.0 * (-share * 4.0).exp());
        for outcome in [step, saturating] {
            assert!(!matches!(outcome, MemoryOutcome::Leak(_)), "{outcome:?}");
        }
    }

    #[test]
    fn small_but_certain_growth_is_not_ruled_out() {
        // 28 s of a process that grows by 77 KiB/s; 2 MiB in 21 s would be material.
        let outcome = judged(28, |share| 20.0 + 2.1 * share);
        let MemoryOutcome::CannotTell { reason: MemoryReason::Small, longer, growth: Some(growth) } = outcome
        else {
            panic!("{outcome:?}")
        };
        assert!(growth.low > 0.0 && growth.high < growth.material, "{growth:?}");
        assert!((longer.unwrap() - growth.material / growth.slope).abs() < 1e-9);
        let longer = judged(60, |share| 20.0 + 2.1 * 60.0 / 28.0 * share);
        assert!(matches!(longer, MemoryOutcome::Leak(_)), "{longer:?}");
    }

    #[test]
    fn short_and_unusable_series_cannot_be_judged() {
        let reason = |outcome| match outcome {
            MemoryOutcome::CannotTell { reason, .. } => reason,
            other => panic!("{other:?}"),
        };
        assert_eq!(reason(memory_outcome(&[])), MemoryReason::TooFewValues);
        assert_eq!(reason(judged(12, |share| share)), MemoryReason::TooFewValues);
        assert_eq!(reason(judged(100, |_| f64::NAN)), MemoryReason::Unusable);
        assert_eq!(reason(memory_outcome(&[MemorySize { at: 1.0, bytes: 1.0 }; 30])), MemoryReason::Unusable);
    }
}
