//! Each measure against its band.
//!
//! | asked for | CoV of gaps | dispersion of counts | share of short gaps |
//! |---|---|---|---|
//! | Poisson, closed, unknown | Poisson's ± 0.05 | 0.8 to 1.25 | 2/3 to 3/2 of Poisson's |
//! | even | at most 0.1 | at most 0.1 | at most 1 % |
//! | renewal, jittered | its own ± 0.05 (of itself when above 1) | – | – |
//! | renewal, jittered, bursty, replay, mixed, with their schedule | the schedule's ± 0.05 (5 % when above 1) | 0.8 to 1.25 of the schedule's, ± 0.02 | 2/3 to 3/2 of the schedule's, ± 0.01 |
//!
//! "Poisson's" is what Poisson arrivals of the same rate show through the same clock.
//!
//! Few arrivals cannot show that a CoV lies within ± 0.05. The band of fewer than some 5,000 gaps is as wide as they can
//! resolve: ± 3.6/√n, in which a Poisson process is recognised in eight logs of ten; likewise ± 3.6·√(2/m) for m windows. A measure
//! of Poisson arrivals is outside when its interval is, or when it lies beyond the narrow band and Poisson arrivals show
//! such a value in at most 3 % of all logs, shared out among the measures.
//!
//! The share of short gaps is a property of delivery. A sender that needs x µs per request has no gaps below that, whatever
//! its schedule; one that lost the CPU for a moment sends two requests together. Neither makes another process of the
//! arrivals. Only three times as many short gaps as expected object, which no timer alone explains.
//!
//! A scale with few windows could hardly ever be inside its band. It does not hold back the decision, but it can object.

use busyhour_stats::{Band, Decision, Estimate, dispersion_p_value, normal_p_value};
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::observed::{Dispersion, Observed, ShortGaps};
use super::settings::Resolution;

/// Half-width of the band of the coefficient of variation.
const COV_HALF: f64 = 0.05;

/// Band of the index of dispersion, for Poisson or relative to a schedule's.
const DISPERSION: Band = Band { low: 0.8, high: 1.25 };

/// Half-width of a band that few arrivals can resolve, in standard deviations of the measure.
const RESOLVED: f64 = 3.6;

/// Share of Poisson logs that all measures together may reject.
const SIZE: f64 = 0.03;

/// So many times the expected short gaps are no property of delivery any more.
const SHORT_OBJECTS: f64 = 3.0;

/// Band of the share of short gaps, relative to Poisson's.
const SHORT: Band = Band { low: 2.0 / 3.0, high: 1.5 };

/// Highest CoV, dispersion and share of short gaps of even arrivals.
const EVEN: (f64, f64, f64) = (0.10, 0.10, 0.01);

/// CoV of the gaps between points that are uniform in consecutive cells: √(1/6).
const JITTERED_COV: f64 = 0.408_248_290_463_863;

/// With fewer windows the interval of a Poisson process leaves the band in more than 1 of 100 runs.
const WINDOWS_DECIDE: u64 = 800;

/// A window with fewer arrivals on average has a dispersion near 1 whatever the process.
const COUNT_MIN: f64 = 0.5;

/// Even arrivals that do not divide a window's width still vary by one: by 0.25/count at most in dispersion.
const COUNT_MIN_EVEN: f64 = 5.0;

/// Windows up to this part of a cycle are short against the return of a user.
const CYCLE_PART: f64 = 0.1;

/// What is measured.
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
    /// Share of gaps that are shorter than this.
    ShortGaps {
        /// Length, s.
        shorter_than_s: f64,
    },
}

/// A measure against its band.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// What is measured.
    pub quantity: Quantity,
    /// Its value and interval.
    pub estimate: Estimate,
    /// Values that are as good as the one that was asked for.
    pub band: Band,
    /// Where the interval lies.
    pub decision: Decision,
    /// Whether the whole decision waits for it; otherwise it can only object.
    pub decides: bool,
    /// Probability that Poisson arrivals show a value as far off, where that was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
}

impl Measure {
    fn new(quantity: Quantity, estimate: Estimate, band: Band, decides: bool) -> Measure {
        let decision = band.judge(estimate.low, estimate.high);
        Measure { quantity, estimate, band, decision, decides, p_value: None }
    }

    /// The same, outside as well when its value lies beyond `narrow` and its p-value is at most `level`.
    fn tested(self, p_value: f64, level: f64, narrow: Band) -> Measure {
        let value = self.estimate.value;
        let is_beyond = value < narrow.low || value > narrow.high;
        let decision = if is_beyond && p_value <= level { Decision::Outside } else { self.decision };
        Measure { decision, p_value: Some(p_value), ..self }
    }

    /// The share of short gaps: missing ones, and up to three times as many as there should be, come from delivery.
    fn of_short_gaps(short: &ShortGaps, estimate: Estimate, band: Band, expected: f64) -> Measure {
        let quantity = Quantity::ShortGaps { shorter_than_s: short.shorter_than_s };
        let measure = Measure::new(quantity, estimate, band, false);
        let decision = match measure.decision {
            Decision::Outside if estimate.low <= SHORT_OBJECTS * expected => Decision::Inconclusive,
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

/// All measures that the process asked for allows; none when there is nothing to compare with.
pub(super) fn measure(observed: &Observed, asked: &Asked, schedule: Option<&Observed>) -> Vec<Measure> {
    match (asked, schedule) {
        (Asked::Unknown | Asked::Poisson | Asked::FixedCount | Asked::Closed { .. }, _) => {
            against_poisson(observed, asked)
        }
        (Asked::Even, _) => against_even(observed),
        (_, Some(schedule)) => against_schedule(observed, schedule),
        (Asked::Renewal { cov }, None) => against_cov(observed, *cov),
        (Asked::Jittered, None) => against_cov(observed, JITTERED_COV),
        (Asked::Bursty | Asked::Replay | Asked::Mixed, None) => Vec::new(),
    }
}

/// The longest window in which a closed workload is compared with Poisson; `None` where all are.
pub(super) fn horizon_s(observed: &Observed, asked: &Asked) -> Option<f64> {
    asked.cycle_s(observed.rate_per_s?.value).map(|cycle_s| cycle_s * CYCLE_PART)
}

fn against_poisson(observed: &Observed, asked: &Asked) -> Vec<Measure> {
    let mut measures = Vec::new();
    let horizon_s = horizon_s(observed, asked).unwrap_or(f64::INFINITY);
    let telling = |row: &&Dispersion| row.mean_count >= COUNT_MIN && row.scale_s <= horizon_s;
    let rows: Vec<&Dispersion> = observed.dispersion.iter().filter(telling).collect();
    let level = SIZE / (rows.len() + usize::from(observed.cov.is_some())) as f64;
    if let Some(cov) = observed.cov {
        let poisson = observed.cov_poisson;
        let root = (observed.gaps.max(1) as f64).sqrt();
        let narrow = Band::around(poisson, COV_HALF);
        let band = Band::around(poisson, COV_HALF.max(RESOLVED / root));
        // The logarithm of the CoV of n exponential gaps is nearly normal, with a standard deviation of 1/√n.
        let p_value = normal_p_value((cov.value / poisson).ln() * root);
        let measure = Measure::new(Quantity::Cov, at_least_exponential(cov, observed.gaps), band, true);
        measures.push(measure.tested(p_value, level, narrow));
    }
    for (i, row) in rows.into_iter().enumerate() {
        let windows = row.windows as f64;
        // One scale must decide, and the finest has the most windows.
        let decides = i == 0 || row.windows >= WINDOWS_DECIDE;
        let half = if decides { RESOLVED * (2.0 / windows).sqrt() } else { 0.0 };
        let band = Band { low: DISPERSION.low.min(1.0 - half), high: DISPERSION.high.max(1.0 + half) };
        let quantity = Quantity::Dispersion { scale_s: row.scale_s };
        let measure = Measure::new(quantity, row.index, band, decides);
        measures.push(measure.tested(dispersion_p_value(row.index.value, windows), level, DISPERSION));
    }
    if let Some(short) = &observed.short_gaps {
        let band =
            Band { low: SHORT.low * short.share_poisson, high: (SHORT.high * short.share_poisson).min(1.0) };
        measures.push(Measure::of_short_gaps(short, short.share, band, short.share_poisson));
    }
    measures
}

/// The estimate with at least the interval that exponential gaps would have, ± 2/√n on the logarithmic scale: few gaps
/// without a long one among them look even, and surer of it than they can be.
fn at_least_exponential(cov: Estimate, gaps: u64) -> Estimate {
    let factor = (2.0 / (gaps.max(1) as f64).sqrt()).exp();
    Estimate { low: cov.low.min(cov.value / factor), high: cov.high.max(cov.value * factor), ..cov }
}

fn against_even(observed: &Observed) -> Vec<Measure> {
    let mut measures = Vec::new();
    if let (Some(cov), Some(rate)) = (observed.cov, observed.rate_per_s) {
        // Equal gaps of m ticks on a clock that rounds are ⌊m⌋ or ⌈m⌉ ticks: variance f(1 − f), f the fraction of m.
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

/// Delivered against scheduled: the same arrivals, so that chance is in both, and the values themselves are compared.
fn against_schedule(observed: &Observed, schedule: &Observed) -> Vec<Measure> {
    let exact = |estimate: Estimate| Estimate { low: estimate.value, high: estimate.value, ..estimate };
    let mut measures = Vec::new();
    if let (Some(cov), Some(meant)) = (observed.cov, schedule.cov) {
        let band = Band::around(meant.value, COV_HALF * meant.value.max(1.0));
        measures.push(Measure::new(Quantity::Cov, exact(cov), band, true));
    }
    for row in &observed.dispersion {
        if let Some(meant) = schedule.dispersion.iter().find(|meant| meant.scale_s == row.scale_s) {
            let band = Band {
                low: DISPERSION.low * meant.index.value - 0.02,
                high: DISPERSION.high * meant.index.value + 0.02,
            };
            let quantity = Quantity::Dispersion { scale_s: row.scale_s };
            measures.push(Measure::new(quantity, exact(row.index), band, true));
        }
    }
    if let (Some(short), Some(meant)) = (&observed.short_gaps, &schedule.short_gaps)
        && short.shorter_than_s == meant.shorter_than_s
    {
        let band =
            Band { low: SHORT.low * meant.share.value - 0.01, high: SHORT.high * meant.share.value + 0.01 };
        let expected = meant.share.value + 0.01 / SHORT_OBJECTS;
        measures.push(Measure::of_short_gaps(short, exact(short.share), band, expected));
    }
    measures
}
