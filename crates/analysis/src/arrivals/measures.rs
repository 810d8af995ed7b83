//! Compares each measure with its band.
//!
//! | requested | CoV of gaps | dispersion of counts | share of short gaps |
//! |---|---|---|---|
//! | unknown, closed; Poisson without schedule | Poisson's ± 0.05 | 0.8 to 1.25 | at most 3/2 of Poisson's |
//! | even | at most 0.1 | at most 0.1 | at most 1 % |
//! | renewal, jittered, without schedule | the process's ± 0.05 (± 5 % if above 1) | – | – |
//! | all others, with schedule | the schedule's ± 0.05 (± 5 % if above 1) | 0.8 to 1.25 of the schedule's, ± 0.02 | at most 3/2 of the schedule's, + 0.01 |
//!
//! "Poisson's" is the value for Poisson arrivals of the same rate recorded with the same clock. With a schedule, the rate must be within
//! 1 % of the schedule's as well.
//!
//! Few arrivals cannot show that the CoV is within ± 0.05. For fewer than about 5,000 gaps the band is therefore
//! widened to ± 3.6/√n, and to ± 3.6·√(2/m) for m windows. With these bands, a Poisson process is recognised in eight
//! of ten logs. When arrivals are compared with Poisson, a measure is outside in either of two cases: if its interval
//! is outside the band, or if its value is outside the narrow band and its p-value is at most 3 %, divided by the
//! number of measures. For few windows, the p-value comes from the exact (chi-square) distribution of counts in equally
//! probable windows. Twenty equal counts are then enough for a rejection.
//!
//! Missing short gaps are a property of the delivery: a generator that needs x µs per request produces no gaps below x, whatever its
//! schedule. Too many short gaps, with a p-value of at most 0.3 %, reject the process, and so does a repeated pattern
//! (`repetition.rs`).
//!
//! With few windows, the interval of a scale is hardly ever inside its band. Such a scale is not required for accepting
//! the process, but it can reject it.

use busyhour_stats::{
    Band, Decision, Estimate, IntervalMethod, dispersion_p_value, normal_p_value, poisson_upper_tail,
};
use serde::{Deserialize, Serialize};

use super::observed::{Dispersion, Observed, ShortGaps};
use super::requested::{ArrivalContext, RequestedProcess};
use super::settings::Resolution;

/// Half-width of the band of the CoV.
const COV_HALF: f64 = 0.05;

/// Band of the index of dispersion: for Poisson arrivals, or relative to that of the schedule.
const DISPERSION: Band = Band { low: 0.8, high: 1.25 };

/// Half-width of the band for few arrivals, in standard deviations of the measure.
const RESOLVED: f64 = 3.6;

/// Share of Poisson logs in which one of the measures may reject the process.
const SIZE: f64 = 0.03;

/// Share of Poisson logs that may be rejected because of short gaps.
const SHORT_SIZE: f64 = 0.003;

/// Maximum relative deviation of the rate from that of the schedule.
const RATE_HALF: f64 = 0.01;

/// Share of Poisson logs that may be rejected because of their rate, if the requested rate is known without a schedule.
const RATE_SIZE: f64 = 0.005;

/// Band of the share of short gaps, relative to Poisson's.
const SHORT: Band = Band { low: 2.0 / 3.0, high: 1.5 };

/// Maximum CoV, dispersion and share of short gaps of even arrivals.
const EVEN: (f64, f64, f64) = (0.10, 0.10, 0.01);

/// CoV of the gaps between points that are uniformly distributed in consecutive cells: √(1/6).
const JITTERED_COV: f64 = 0.408_248_290_463_863;

/// Minimum number of windows with which a scale decides. With fewer, the interval of a Poisson process exceeds the band
/// in more than 1 of 100 runs.
const WINDOWS_DECIDE: u64 = 800;

/// Minimum number of windows for comparing a scale with the schedule, and for using the interval of its dispersion.
const WINDOWS_COMPARE: u64 = 30;

/// Counts in windows of this many times the error of the clocks of several generators do not depend on it.
const CLOCK_WINDOWS: f64 = 10.0;

/// Minimum mean count per window: with fewer arrivals the dispersion is near 1 for any process.
const COUNT_MIN: f64 = 0.5;

/// Minimum mean count per window for even arrivals. If the gap does not divide the width, counts vary by one, which
/// causes a dispersion of up to 0.25/count.
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
        /// Width of a window, in s.
        scale_s: f64,
    },
    /// Share of short gaps.
    ShortGaps {
        /// Length below which a gap is short, in s.
        shorter_than_s: f64,
    },
    /// Autocorrelation of counts at the interval at which a pattern of starts recurs.
    Repetition {
        /// The interval, in s.
        period_s: f64,
    },
    /// Rate divided by the scheduled or requested one.
    Rate,
}

/// A measure and its band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// The measured quantity.
    pub quantity: Quantity,
    /// The value of the quantity, with its confidence interval.
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

    /// Returns the measure with a decision based on its value alone, without its interval.
    fn without_interval(self) -> Measure {
        let value = self.estimate.value;
        let estimate = Estimate { low: value, high: value, ..self.estimate };
        Measure::new(self.quantity, estimate, self.band, self.decides)
    }

    /// Sets the p-value. The measure also counts as outside if its value is outside `narrow` and its p-value is at most `level`.
    fn with_test(self, p_value: f64, level: f64, narrow: Band) -> Measure {
        let value = self.estimate.value;
        let is_beyond = value < narrow.low || value > narrow.high;
        let decision = if is_beyond && p_value <= level { Decision::Outside } else { self.decision };
        Measure { decision, p_value: Some(p_value), ..self }
    }

    /// The measure of the share of short gaps. Missing short gaps are attributed to the delivery.
    fn of_short_gaps(short: &ShortGaps, estimate: Estimate, band: Band) -> Measure {
        let quantity = Quantity::ShortGaps { shorter_than_s: short.shorter_than_s };
        let measure = Measure::new(quantity, estimate, band, false);
        let decision = match measure.decision {
            Decision::Outside if estimate.value < band.low => Decision::Inconclusive,
            decision => decision,
        };
        Measure { decision, ..measure }
    }

    /// A measure whose value is known exactly.
    fn exact(quantity: Quantity, value: f64, band: Band, decides: bool) -> Measure {
        let estimate =
            Estimate { value, low: value, high: value, confidence: 1.0, method: IntervalMethod::BatchMeans };
        Measure::new(quantity, estimate, band, decides)
    }

    /// Whether the measure is inside its band.
    pub(super) fn is_inside(&self) -> bool {
        self.decision == Decision::Inside
    }

    /// Whether the measure is outside its band and above the middle of the band.
    pub(super) fn is_high(&self) -> bool {
        self.decision == Decision::Outside
            && self.estimate.value > f64::midpoint(self.band.low, self.band.high)
    }

    /// Whether the measure is outside its band and below the middle of the band.
    pub(super) fn is_low(&self) -> bool {
        self.decision == Decision::Outside
            && self.estimate.value < f64::midpoint(self.band.low, self.band.high)
    }
}

/// All measures that apply to the requested process; none if it requires a schedule and there is none.
pub(super) fn measure(
    observed: &Observed,
    requested: &RequestedProcess,
    context: &ArrivalContext<'_>,
) -> Vec<Measure> {
    match (requested, context.schedule) {
        (RequestedProcess::Unknown | RequestedProcess::Closed { .. }, _)
        | (RequestedProcess::Poisson | RequestedProcess::FixedCount, None) => {
            let mut measures = against_poisson(observed, requested);
            measures.extend(context.requested_per_s.and_then(|rate| against_rate(observed, rate)));
            measures
        }
        (RequestedProcess::Even, schedule) => {
            let mut measures = against_even(observed);
            if let Some(schedule) = schedule {
                // A schedule of even arrivals contains no randomness, so intervals are not needed.
                measures = measures.into_iter().map(Measure::without_interval).collect();
                measures.extend(against_scheduled_rate(observed, schedule));
            }
            measures
        }
        (_, Some(schedule)) => against_schedule(observed, schedule),
        (RequestedProcess::Renewal { cov }, None) => against_cov(observed, *cov),
        (RequestedProcess::Jittered, None) => against_cov(observed, JITTERED_COV),
        (RequestedProcess::Bursty | RequestedProcess::Replay | RequestedProcess::Mixed, None) => Vec::new(),
    }
}

/// Width, in s, of the longest window in which a closed load is compared with Poisson arrivals; `None` if there is no limit.
pub(super) fn horizon_s(observed: &Observed, requested: &RequestedProcess) -> Option<f64> {
    requested.cycle_s(observed.rate_per_s?.value).map(|cycle_s| cycle_s * CYCLE_PART)
}

/// Compares arrivals, or a schedule, with the theory of the Poisson process.
pub(super) fn against_poisson(observed: &Observed, requested: &RequestedProcess) -> Vec<Measure> {
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
        let mut measure = Measure::new(quantity, row.index, band, decides);
        if row.windows < WINDOWS_COMPARE {
            // The interval from few windows is too narrow.
            measure.decision = Decision::Inconclusive;
        }
        measures.push(measure.with_test(dispersion_p_value(row.index.value, windows), level, DISPERSION));
    }
    if let Some(short) = &observed.short_gaps {
        let band =
            Band { low: SHORT.low * short.share_poisson, high: (SHORT.high * short.share_poisson).min(1.0) };
        let gaps = observed.gaps as f64;
        let p_value = poisson_upper_tail(short.share.value * gaps, short.share_poisson * gaps);
        let mut measure = Measure::of_short_gaps(short, short.share, band);
        measure.decision = match measure.decision {
            Decision::Inside => Decision::Inside,
            _ if short.share.value > band.high && p_value <= SHORT_SIZE => Decision::Outside,
            _ => Decision::Inconclusive,
        };
        measures.push(Measure { p_value: Some(p_value), ..measure });
    }
    measures.extend(of_repetition(observed));
    measures
}

fn of_repetition(observed: &Observed) -> Option<Measure> {
    let found = observed.repetition?;
    let quantity = Quantity::Repetition { period_s: found.period_s };
    let band = Band { low: -1.0, high: found.band };
    let measure = Measure::exact(quantity, found.correlation, band, false);
    Some(Measure { decision: Decision::Outside, p_value: Some(found.p_value), ..measure })
}

/// Compares the number of arrivals with that of a Poisson process with the requested rate.
fn against_rate(observed: &Observed, requested_per_s: f64) -> Option<Measure> {
    let expected = requested_per_s * observed.span_s;
    let rate = observed.whole_rate_per_s?;
    if expected <= 0.0 {
        return None;
    }
    let p_value = normal_p_value((rate / requested_per_s - 1.0) * expected.sqrt());
    let band = Band::around(1.0, RATE_HALF);
    let measure = Measure::exact(Quantity::Rate, rate / requested_per_s, band, false);
    let is_off = p_value <= RATE_SIZE && measure.decision == Decision::Outside;
    let decision = if is_off { Decision::Outside } else { Decision::Inconclusive };
    Some(Measure { decision, p_value: Some(p_value), ..measure })
}

/// Compares the rate with that of the schedule, which contains the same random variation.
fn against_scheduled_rate(observed: &Observed, schedule: &Observed) -> Option<Measure> {
    let ratio = observed.whole_rate_per_s? / schedule.whole_rate_per_s?;
    Some(Measure::exact(Quantity::Rate, ratio, Band::around(1.0, RATE_HALF), true))
}

impl Observed {
    /// Whether a measure depends on gaps that the clocks of several generators cannot resolve. Rates, and counts in windows
    /// that are much longer than the error of the clocks, do not.
    pub(super) fn is_blurred(&self, quantity: &Quantity) -> bool {
        let Some(bound_s) = self.clock_bound_s.filter(|_| self.are_clocks_too_coarse()) else { return false };
        match quantity {
            Quantity::Rate => false,
            Quantity::Dispersion { scale_s } => *scale_s < CLOCK_WINDOWS * bound_s,
            _ => true,
        }
    }
}

/// Widens the interval to at least that of exponential gaps, ± 2/√n on the logarithmic scale. The estimated interval is
/// too narrow if there are few gaps and none of them is long.
fn with_exponential_interval(cov: Estimate, gaps: u64) -> Estimate {
    let factor = (2.0 / (gaps.max(1) as f64).sqrt()).exp();
    Estimate { low: cov.low.min(cov.value / factor), high: cov.high.max(cov.value * factor), ..cov }
}

fn against_even(observed: &Observed) -> Vec<Measure> {
    let mut measures = Vec::new();
    if let (Some(cov), Some(rate)) = (observed.cov, observed.rate_per_s) {
        // A clock that rounds records equal gaps of m ticks as ⌊m⌋ or ⌈m⌉ ticks: variance f(1 − f), where f = m − ⌊m⌋.
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
    let is_usable = |row: &&Dispersion| row.mean_count >= COUNT_MIN_EVEN && row.windows >= WINDOWS_COMPARE;
    for row in observed.dispersion.iter().filter(is_usable) {
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
    for row in observed.dispersion.iter().filter(|row| row.windows >= WINDOWS_COMPARE) {
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
        measures.push(Measure::of_short_gaps(short, exact(short.share), band));
    }
    // A replayed file may contain a repeated pattern.
    if schedule.repetition.is_none() {
        measures.extend(of_repetition(observed));
    }
    measures.extend(against_scheduled_rate(observed, schedule));
    measures
}
