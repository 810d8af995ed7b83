//! Compares each measure with its band.
//!
//! | requested | CoV of gaps | dispersion of counts | share of short gaps |
//! |---|---|---|---|
//! | Poisson, closed, unknown | Poisson's ± 0.05 | 0.8 to 1.25 | 2/3 to 3/2 of Poisson's |
//! | even | at most 0.1 | at most 0.1 | at most 1 % |
//! | renewal, jittered | its own ± 0.05 (of itself when above 1) | – | – |
//! | renewal, jittered, bursty, replay, mixed, with schedule | the schedule's ± 0.05 (5 % when above 1) | 0.8 to 1.25 of the schedule's, ± 0.02 | 2/3 to 3/2 of the schedule's, ± 0.01 |
//!
//! "Poisson's" is the value for Poisson arrivals of the same rate recorded with the same clock.
//!
//! Few arrivals cannot show that the CoV is within ± 0.05. For fewer than about 5,000 gaps the band is therefore widened to
//! ± 3.6/√n, in which a Poisson process is recognised in eight of ten logs, and to ± 3.6·√(2/m) for m windows. When arrivals are
//! compared with Poisson, a measure is outside if its interval is outside the band, or if its value is outside the narrow band and
//! its p-value is at most 3 %, divided by the number of measures.
//!
//! The share of short gaps is a property of the delivery. A generator that needs x µs per request produces no gaps below x,
//! whatever its schedule; one that lost the CPU briefly sends several requests together. Neither changes the process. Only more
//! than three times the expected share of short gaps rejects the process, because timers alone do not explain it.
//!
//! A scale with few windows can hardly ever be inside its band. It is not required for accepting the process, but it can reject it.

use busyhour_stats::{Band, Decision, Estimate, dispersion_p_value, normal_p_value};
use serde::{Deserialize, Serialize};

use super::observed::{Dispersion, Observed, ShortGaps};
use super::requested::RequestedProcess;
use super::settings::Resolution;

/// Half-width of the band of the CoV.
const COV_HALF: f64 = 0.05;

/// Band of the index of dispersion: for Poisson arrivals, or relative to that of the schedule.
const DISPERSION: Band = Band { low: 0.8, high: 1.25 };

/// Half-width of the band for few arrivals, in standard deviations of the measure.
const RESOLVED: f64 = 3.6;

/// Share of Poisson logs that all measures together may reject.
const SIZE: f64 = 0.03;

/// The process is rejected if the share of short gaps exceeds the expected share by this factor.
const SHORT_REJECTS: f64 = 3.0;

/// Band of the share of short gaps, relative to Poisson's.
const SHORT: Band = Band { low: 2.0 / 3.0, high: 1.5 };

/// Maximum CoV, dispersion and share of short gaps of even arrivals.
const EVEN: (f64, f64, f64) = (0.10, 0.10, 0.01);

/// CoV of the gaps between points that are uniformly distributed in consecutive cells: √(1/6).
const JITTERED_COV: f64 = 0.408_248_290_463_863;

/// Minimum number of windows of a deciding scale: with fewer, the interval of a Poisson process exceeds the band in more than 1 of
/// 100 runs.
const WINDOWS_DECIDE: u64 = 800;

/// Minimum mean count per window: with fewer arrivals the dispersion is near 1 for any process.
const COUNT_MIN: f64 = 0.5;

/// Minimum mean count per window for even arrivals: if the gap does not divide the width, counts vary by one, which makes a
/// dispersion of up to 0.25/count.
const COUNT_MIN_EVEN: f64 = 5.0;

/// Windows up to this share of a cycle are short compared to the time until a user returns.
const CYCLE_PART: f64 = 0.1;

/// The quantity that a measure describes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum Quantity {
    /// Coefficient of variation of gaps.
    Cov,
    /// Index of dispersion of counts.
    Dispersion {
        /// Width of a window, s.
        scale_s: f64,
    },
    /// Share of short gaps.
    ShortGaps {
        /// Length below which a gap is short, in s.
        shorter_than_s: f64,
    },
}

/// A measure and its band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The quantity.
    pub quantity: Quantity,
    /// Its value and confidence interval.
    pub estimate: Estimate,
    /// Values that are practically equivalent to the expected one.
    pub band: Band,
    /// Whether the interval is inside or outside the band.
    pub decision: Decision,
    /// Whether the process is accepted only if this measure is inside its band. Otherwise the measure can only reject it.
    pub decides: bool,
    /// Probability that Poisson arrivals deviate at least as much; `None` if not tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
}

impl Measure {
    fn new(quantity: Quantity, estimate: Estimate, band: Band, decides: bool) -> Measure {
        let decision = band.judge(estimate.low, estimate.high);
        Measure { quantity, estimate, band, decision, decides, p_value: None }
    }

    /// Sets the p-value. The measure is outside also if its value is outside `narrow` and its p-value is at most `level`.
    fn with_test(self, p_value: f64, level: f64, narrow: Band) -> Measure {
        let value = self.estimate.value;
        let is_beyond = value < narrow.low || value > narrow.high;
        let decision = if is_beyond && p_value <= level { Decision::Outside } else { self.decision };
        Measure { decision, p_value: Some(p_value), ..self }
    }

    /// The measure of the share of short gaps. Missing short gaps, and up to three times as many as expected, are attributed to the
    /// delivery.
    fn of_short_gaps(short: &ShortGaps, estimate: Estimate, band: Band, expected: f64) -> Measure {
        let quantity = Quantity::ShortGaps { shorter_than_s: short.shorter_than_s };
        let measure = Measure::new(quantity, estimate, band, false);
        let decision = match measure.decision {
            Decision::Outside if estimate.low <= SHORT_REJECTS * expected => Decision::Inconclusive,
            decision => decision,
        };
        Measure { decision, ..measure }
    }

    /// Outside and above the middle of the band.
    pub(super) fn is_high(&self) -> bool {
        self.decision == Decision::Outside
            && self.estimate.value > f64::midpoint(self.band.low, self.band.high)
    }

    /// Outside and below the middle of the band.
    pub(super) fn is_low(&self) -> bool {
        self.decision == Decision::Outside
            && self.estimate.value < f64::midpoint(self.band.low, self.band.high)
    }
}

/// All measures that apply to the requested process; none if it requires a schedule and there is none.
pub(super) fn measure(
    observed: &Observed,
    requested: &RequestedProcess,
    schedule: Option<&Observed>,
) -> Vec<Measure> {
    match (requested, schedule) {
        (
            RequestedProcess::Unknown
            | RequestedProcess::Poisson
            | RequestedProcess::FixedCount
            | RequestedProcess::Closed { .. },
            _,
        ) => against_poisson(observed, requested),
        (RequestedProcess::Even, _) => against_even(observed),
        (_, Some(schedule)) => against_schedule(observed, schedule),
        (RequestedProcess::Renewal { cov }, None) => against_cov(observed, *cov),
        (RequestedProcess::Jittered, None) => against_cov(observed, JITTERED_COV),
        (RequestedProcess::Bursty | RequestedProcess::Replay | RequestedProcess::Mixed, None) => Vec::new(),
    }
}

/// The longest window in which a closed load is compared with Poisson arrivals; `None` if there is no limit.
pub(super) fn horizon_s(observed: &Observed, requested: &RequestedProcess) -> Option<f64> {
    requested.cycle_s(observed.rate_per_s?.value).map(|cycle_s| cycle_s * CYCLE_PART)
}

fn against_poisson(observed: &Observed, requested: &RequestedProcess) -> Vec<Measure> {
    let mut measures = Vec::new();
    let horizon_s = horizon_s(observed, requested).unwrap_or(f64::INFINITY);
    let is_usable = |row: &&Dispersion| row.mean_count >= COUNT_MIN && row.scale_s <= horizon_s;
    let rows: Vec<&Dispersion> = observed.dispersion.iter().filter(is_usable).collect();
    let level = SIZE / (rows.len() + usize::from(observed.cov.is_some())) as f64;
    if let Some(cov) = observed.cov {
        let poisson = observed.cov_poisson;
        let root = (observed.gaps.max(1) as f64).sqrt();
        let narrow = Band::around(poisson, COV_HALF);
        let band = Band::around(poisson, COV_HALF.max(RESOLVED / root));
        // The logarithm of the CoV of n exponential gaps is approximately normal with standard deviation 1/√n.
        let p_value = normal_p_value((cov.value / poisson).ln() * root);
        let measure = Measure::new(Quantity::Cov, with_exponential_interval(cov, observed.gaps), band, true);
        measures.push(measure.with_test(p_value, level, narrow));
    }
    for (i, row) in rows.into_iter().enumerate() {
        let windows = row.windows as f64;
        // At least one scale must decide; the finest has the most windows.
        let decides = i == 0 || row.windows >= WINDOWS_DECIDE;
        let half = if decides { RESOLVED * (2.0 / windows).sqrt() } else { 0.0 };
        let band = Band { low: DISPERSION.low.min(1.0 - half), high: DISPERSION.high.max(1.0 + half) };
        let quantity = Quantity::Dispersion { scale_s: row.scale_s };
        let measure = Measure::new(quantity, row.index, band, decides);
        measures.push(measure.with_test(dispersion_p_value(row.index.value, windows), level, DISPERSION));
    }
    if let Some(short) = &observed.short_gaps {
        let band =
            Band { low: SHORT.low * short.share_poisson, high: (SHORT.high * short.share_poisson).min(1.0) };
        measures.push(Measure::of_short_gaps(short, short.share, band, short.share_poisson));
    }
    measures
}

/// Widens the interval to at least that of exponential gaps, ± 2/√n on the logarithmic scale. The estimated interval of a few gaps
/// without a long one is too narrow.
fn with_exponential_interval(cov: Estimate, gaps: u64) -> Estimate {
    let factor = (2.0 / (gaps.max(1) as f64).sqrt()).exp();
    Estimate { low: cov.low.min(cov.value / factor), high: cov.high.max(cov.value * factor), ..cov }
}

fn against_even(observed: &Observed) -> Vec<Measure> {
    let mut measures = Vec::new();
    if let (Some(cov), Some(rate)) = (observed.cov, observed.rate_per_s) {
        // A clock that rounds records equal gaps of m ticks as ⌊m⌋ or ⌈m⌉ ticks: variance f(1 − f), f the fraction of m.
        let rounding = match observed.resolution {
            Resolution::Nanosecond => 0.0,
            Resolution::Millisecond => {
                let ticks = 1e9 / rate.value / observed.resolution.tick_ns() as f64;
                (ticks.fract() * (1.0 - ticks.fract())).sqrt() / ticks
            }
        };
        let band = Band { low: 0.0, high: EVEN.0.hypot(rounding) };
        measures.push(Measure::new(Quantity::Cov, cov, band, true));
    }
    for row in observed.dispersion.iter().filter(|row| row.mean_count >= COUNT_MIN_EVEN) {
        let quantity = Quantity::Dispersion { scale_s: row.scale_s };
        measures.push(Measure::new(quantity, row.index, Band { low: 0.0, high: EVEN.1 }, true));
    }
    if let Some(short) = &observed.short_gaps {
        let quantity = Quantity::ShortGaps { shorter_than_s: short.shorter_than_s };
        measures.push(Measure::new(quantity, short.share, Band { low: 0.0, high: EVEN.2 }, true));
    }
    measures
}

fn against_cov(observed: &Observed, expected: f64) -> Vec<Measure> {
    let band = Band::around(expected, COV_HALF * expected.max(1.0));
    observed.cov.map(|cov| Measure::new(Quantity::Cov, cov, band, true)).into_iter().collect()
}

/// Compares delivered with scheduled arrivals. Both contain the same random variation, so the values are compared directly.
fn against_schedule(observed: &Observed, schedule: &Observed) -> Vec<Measure> {
    let exact = |estimate: Estimate| Estimate { low: estimate.value, high: estimate.value, ..estimate };
    let mut measures = Vec::new();
    if let (Some(cov), Some(planned)) = (observed.cov, schedule.cov) {
        let band = Band::around(planned.value, COV_HALF * planned.value.max(1.0));
        measures.push(Measure::new(Quantity::Cov, exact(cov), band, true));
    }
    for row in &observed.dispersion {
        if let Some(planned) = schedule.dispersion.iter().find(|planned| planned.scale_s == row.scale_s) {
            let band = Band {
                low: DISPERSION.low * planned.index.value - 0.02,
                high: DISPERSION.high * planned.index.value + 0.02,
            };
            let quantity = Quantity::Dispersion { scale_s: row.scale_s };
            measures.push(Measure::new(quantity, exact(row.index), band, true));
        }
    }
    if let (Some(short), Some(planned)) = (&observed.short_gaps, &schedule.short_gaps)
        && short.shorter_than_s == planned.shorter_than_s
    {
        let band = Band {
            low: SHORT.low * planned.share.value - 0.01,
            high: SHORT.high * planned.share.value + 0.01,
        };
        let expected = planned.share.value + 0.01 / SHORT_REJECTS;
        measures.push(Measure::of_short_gaps(short, exact(short.share), band, expected));
    }
    measures
}
