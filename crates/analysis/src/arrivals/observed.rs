//! Statistics of a sequence of arrivals.

use busyhour_stats::{
    Estimate, PowerSums, RandomSource, RoundedExponential, TestResult, anderson_darling_exponential,
    autocorrelations, coefficient_of_variation, dispersion_estimate, lilliefors_exponential,
    lilliefors_rounded, ljung_box, proportion, reciprocal_mean,
};
use serde::{Deserialize, Serialize};

use super::repetition::{self, Repetition};
use super::settings::{Resolution, TallySettings};
use super::slices::{GAP_LIMITS_NS, Slice};
use super::stalls::{ArrivalGap, LongGap};
use super::steady::{self, Part};
use super::tally::{ArrivalTally, Stamps};

/// Minimum number of windows of a reported scale.
const WINDOWS_MIN: f64 = 5.0;

/// A gap is short if it is below about this share of the mean gap.
const SHORT: f64 = 0.05;

/// Minimum of the length, in ns, below which gaps count as short. A core of the generator needs several µs to send a
/// request, so the generator determines all gaps below that; no system under test can distinguish them.
const SHORT_NS_MIN: u64 = 20_000;

/// Maximum expected share of short gaps. It is exceeded if the resolution of the clock is too coarse for the rate.
const SHORT_SHARE_MAX: f64 = 0.5;

/// Minimum expected number of gaps below a length for their absence to be significant.
const MISSING_MIN: f64 = 20.0;

/// Number of lags of the autocorrelation.
const LAGS: usize = 5;

/// Number of gaps in the simulated test for rounded start times, and number of simulations.
const ROUNDED: (usize, u32) = (8_192, 199);

/// Statistics of a sequence of arrivals, with confidence intervals where available.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Number of arrivals.
    pub arrivals: u64,
    /// Time from the first to the last arrival, in s.
    pub span_s: f64,
    /// Resolution of the start times.
    pub resolution: Resolution,
    /// The judged part, to which all fields below refer.
    pub part: Part,
    /// Start of the judged part, in s after the first arrival (after rescaling by the known rate, if there is one).
    pub judged_from_s: f64,
    /// Length of the judged part in s, without stalls.
    pub judged_s: f64,
    /// Stalls, in order of time; they are excluded from all measures.
    #[serde(default)]
    pub stalls: Vec<ArrivalGap>,
    /// Time in s that is excluded from the judged part because of stalls, and the number of arrivals in this time.
    #[serde(default)]
    pub left_out: (f64, u64),
    /// Arrivals per s over the whole run, with stalls and other parts; `None` for fewer than two arrivals.
    #[serde(default)]
    pub whole_rate_per_s: Option<f64>,
    /// Lowest and highest rate, if the rate was not steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<RateRange>,
    /// A pattern of starts that recurs at a fixed interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetition: Option<Repetition>,
    /// Number of gaps.
    pub gaps: u64,
    /// Arrivals per s: the reciprocal of the mean gap.
    pub rate_per_s: Option<Estimate>,
    /// Coefficient of variation of the gaps.
    pub cov: Option<Estimate>,
    /// Expected CoV of Poisson arrivals with this rate and resolution: slightly above 1 for rounded start times.
    pub cov_poisson: f64,
    /// Index of dispersion of counts, for each width with at least 5 windows.
    pub dispersion: Vec<Dispersion>,
    /// The share of short gaps.
    pub short_gaps: Option<ShortGaps>,
    /// Autocorrelation of the gaps.
    pub serial: Option<Serial>,
    /// Tests against independent exponential gaps of unknown mean. With many gaps, they reject even if the differences are immaterial.
    pub tests: Tests,
    /// Largest error of the time between two arrivals of different generators, in s; `None` for arrivals of one generator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_bound_s: Option<f64>,
    /// Number of gaps of length 0 among all arrivals.
    pub equal_stamps: u64,
    /// Number of start times that were not in order, among all arrivals.
    pub disordered: u64,
}

/// Rates of a run whose rate was not steady.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateRange {
    /// Arrivals per s. In a tenth of the time, the rate is at most this.
    pub low_per_s: f64,
    /// Arrivals per s. In a tenth of the time, the rate is at least this.
    pub high_per_s: f64,
}

/// Counts in windows of one width.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Dispersion {
    /// Width of a window, in s.
    pub scale_s: f64,
    /// Windows inside the judged part.
    pub windows: u64,
    /// Mean count of a window.
    pub mean_count: f64,
    /// Variance of the counts divided by their mean: 1 for Poisson arrivals, 0 for even arrivals.
    pub index: Estimate,
}

/// Statistics of gaps that are much shorter than the mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShortGaps {
    /// Length below which a gap is short, in s: 1, 2 or 5 times a power of ten, near 5 % of the mean gap, but at least 20 µs.
    pub shorter_than_s: f64,
    /// Share of short gaps, 0 to 1.
    pub share: Estimate,
    /// Expected share for Poisson arrivals with the same rate and resolution.
    pub share_poisson: f64,
    /// The maximum length, in s, below which there are fewer than half as many gaps as for Poisson arrivals: about the time that
    /// the generator needs per request. `None` if there is no such length.
    #[serde(default)]
    pub missing_below_s: Option<f64>,
}

/// Autocorrelation of the gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Serial {
    /// Coefficients for lag 1, 2, ….
    pub coefficients: Vec<f64>,
    /// Half-width of the 95 % band of independent gaps.
    pub band: f64,
}

/// Tests on a bounded subsample of consecutive gaps. `None` where a test does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Tests {
    /// Lilliefors' D for an exponential distribution with estimated mean. For start times in milliseconds the reference
    /// distribution is simulated with the same rounding.
    pub lilliefors: Option<TestResult>,
    /// Anderson and Darling's A² for an exponential distribution with estimated mean. Not computed for rounded or equal start times.
    pub anderson_darling: Option<TestResult>,
    /// Ljung and Box's Q for independence.
    pub ljung_box: Option<TestResult>,
}

/// Maximum number of arrivals per tick of the clock at which gaps can be distinguished.
const PER_TICK_MAX: f64 = 0.5;

impl Observed {
    /// Whether the gaps are too short for the resolution, or for the clocks of several generators: the mean gap is below two
    /// milliseconds and start times are in whole milliseconds, or it is below twice the error of the clocks.
    #[must_use]
    pub fn is_too_coarse(&self) -> bool {
        let is_coarse = self.resolution == Resolution::Millisecond;
        is_coarse && self.is_finer_than(seconds(self.resolution.tick_ns())) || self.are_clocks_too_coarse()
    }

    /// Whether the gaps are too short for the clocks of the generators.
    #[must_use]
    pub fn are_clocks_too_coarse(&self) -> bool {
        self.clock_bound_s.is_some_and(|bound_s| self.is_finer_than(bound_s))
    }

    fn is_finer_than(&self, tick_s: f64) -> bool {
        self.rate_per_s.is_some_and(|rate| rate.value * tick_s > PER_TICK_MAX)
    }
}

impl ArrivalTally {
    /// Computes the statistics of the arrivals so far. `random` is used only for the test of start times in whole milliseconds.
    #[must_use]
    pub fn finish(&self, random: &mut (impl RandomSource + ?Sized)) -> Observed {
        observe(self, random)
    }
}

fn observe(tally: &ArrivalTally, random: &mut (impl RandomSource + ?Sized)) -> Observed {
    let resolution = tally.settings.resolution;
    let mut observed = Observed {
        arrivals: tally.arrivals(),
        span_s: 0.0,
        resolution,
        part: Part::Few,
        judged_from_s: 0.0,
        judged_s: 0.0,
        stalls: Vec::new(),
        left_out: (0.0, 0),
        whole_rate_per_s: None,
        rates: None,
        repetition: None,
        gaps: 0,
        rate_per_s: None,
        cov: None,
        cov_poisson: 1.0,
        dispersion: Vec::new(),
        short_gaps: None,
        serial: None,
        tests: Tests::default(),
        clock_bound_s: (tally.settings.clock_bound_ns > 0).then(|| seconds(tally.settings.clock_bound_ns)),
        equal_stamps: 0,
        disordered: 0,
    };
    let Some(stamps) = &tally.stamps else { return observed };
    observed.span_s = seconds(stamps.given_ns.1 - stamps.given_ns.0);
    (observed.equal_stamps, observed.disordered) = (stamps.equal, stamps.disordered);
    let stalls =
        stamps.stalls.stalls(tally.settings.stalls, stamps.arrivals, stamps.first_ns, stamps.last_ns);
    let judged = Judged::choose(stamps, &tally.settings, &stalls);
    observed.part = judged.part;
    observed.judged_from_s = seconds(judged.from_ns - stamps.first_ns);
    let in_judged = |gap: &&LongGap| gap.from_ns >= judged.from_ns && gap.from_ns < judged.to_ns;
    observed.stalls = stalls.iter().filter(in_judged).map(|gap| gap.to_stall(stamps.given_ns.0)).collect();
    let left_out_s = judged.slices_left_out as f64 * seconds(stamps.slices.width_ns());
    observed.judged_s = seconds(judged.to_ns - judged.from_ns) - left_out_s;
    observed.left_out = (left_out_s, judged.gaps_left_out);
    let is_known = |rate: &f64| rate.is_finite() && *rate > 0.0;
    observed.whole_rate_per_s = Some((stamps.arrivals - 1) as f64 / observed.span_s).filter(is_known);
    if matches!(judged.part, Part::Steady | Part::NeverSteady) {
        observed.rates = rates(stamps);
    }
    observed.repetition = repetition::find(stamps.retained.stretch(), resolution.tick_ns());
    let sums: Vec<PowerSums> = judged.slices.iter().map(|(_, slice)| slice.gaps).collect();
    observed.gaps = sums.iter().map(|part| part.n).sum::<f64>() as u64;
    observed.rate_per_s =
        reciprocal_mean(&sums, stamps.pivot_ns).and_then(known).map(|rate| rate.scaled(1e9));
    observed.cov = coefficient_of_variation(&sums, stamps.pivot_ns).and_then(known);
    if let Some(rate) = observed.rate_per_s {
        let rounded = rounded_poisson(resolution, rate.value);
        observed.cov_poisson = rounded.map_or(1.0, |law| law.cov());
        observed.short_gaps = short_gaps(&judged.slices, rate.value / 1e9, rounded);
    }
    observed.dispersion = (0..)
        .zip(&tally.settings.scales_ns)
        .filter_map(|(scale, &width_ns)| dispersion(&judged, scale, width_ns, stamps))
        .collect();
    // After rescaling, the rounding of millisecond start times is not uniform, and no test is valid.
    let can_test = tally.settings.known_rate.is_none() || resolution == Resolution::Nanosecond;
    if can_test {
        let blocks = stamps.blocks.within(judged.from_ns, judged.to_ns, &judged.left_out);
        let correlations = autocorrelations(&blocks, LAGS);
        observed.tests = test(&blocks, resolution, random);
        observed.tests.ljung_box = correlations.as_ref().and_then(ljung_box);
        observed.serial =
            correlations.map(|found| Serial { coefficients: found.coefficients, band: found.band });
    }
    observed
}

/// The judged part of the arrivals. Times are rescaled by the known rate, if there is one.
struct Judged<'a> {
    part: Part,
    /// The slices without stalls, each with its index.
    slices: Vec<(usize, &'a Slice)>,
    /// Number of excluded slices, which contain stalls, and of gaps in them.
    slices_left_out: usize,
    gaps_left_out: u64,
    /// Excluded intervals: stalls, and the arrivals that they delayed.
    left_out: Vec<(u64, u64)>,
    from_ns: u64,
    to_ns: u64,
    /// Whether arrivals before this part are excluded.
    cut: bool,
}

impl Judged<'_> {
    fn choose<'a>(stamps: &'a Stamps, settings: &TallySettings, stalls: &[LongGap]) -> Judged<'a> {
        let all = stamps.slices.all();
        let width_ns = stamps.slices.width_ns();
        let begin = |slice: usize| stamps.first_ns.saturating_add((slice as u64).saturating_mul(width_ns));
        let left_out: Vec<(u64, u64)> = stalls.iter().map(|gap| (gap.from_ns, gap.recovered_ns)).collect();
        let has_stall =
            |slice: usize| left_out.iter().any(|(from, to)| begin(slice) <= *to && begin(slice + 1) > *from);
        let over = ((stamps.last_ns - stamps.first_ns) / width_ns) as usize;
        let over = &all[..over.min(all.len())];
        let (part, chosen) = if settings.known_rate.is_some() {
            (Part::Rescaled, 0..over.len())
        } else if settings.all {
            (Part::All, 0..over.len())
        } else {
            let mut counts: Vec<f64> = over.iter().map(|slice| slice.gaps.n).collect();
            let is_stall: Vec<bool> = (0..over.len()).map(has_stall).collect();
            steady::fill_stalls(&mut counts, &is_stall);
            steady::find(&counts)
        };
        // A part that reaches the last complete slice also includes the incomplete one after it.
        let to_the_end = chosen.end == over.len();
        let end = if to_the_end { all.len() } else { chosen.end };
        let in_part: f64 = all[chosen.start..end].iter().map(|slice| slice.gaps.n).sum();
        let chosen_slices = (chosen.start..end).zip(&all[chosen.start..end]);
        let slices: Vec<(usize, &Slice)> = chosen_slices.filter(|(at, _)| !has_stall(*at)).collect();
        let used: f64 = slices.iter().map(|(_, slice)| slice.gaps.n).sum();
        Judged {
            part,
            gaps_left_out: (in_part - used) as u64,
            slices_left_out: end - chosen.start - slices.len(),
            slices,
            left_out,
            from_ns: begin(chosen.start),
            to_ns: if to_the_end { stamps.last_ns } else { begin(chosen.end) },
            cut: chosen.start > 0,
        }
    }
}

/// The range of rates; `None` if there are too few intervals.
fn rates(stamps: &Stamps) -> Option<RateRange> {
    const INTERVALS: usize = 20;
    let width_ns = stamps.slices.width_ns();
    let over = ((stamps.last_ns - stamps.first_ns) / width_ns) as usize;
    let slices = &stamps.slices.all()[..over.min(stamps.slices.all().len())];
    let length = slices.len().div_ceil(INTERVALS).max(1);
    let interval_s = length as f64 * seconds(width_ns);
    let counts: Vec<f64> =
        slices.chunks_exact(length).map(|chunk| chunk.iter().map(|slice| slice.gaps.n).sum()).collect();
    // Averages over three intervals, which vary less by chance.
    let mut rates: Vec<f64> =
        counts.windows(3).map(|three| three.iter().sum::<f64>() / 3.0 / interval_s).collect();
    rates.sort_unstable_by(f64::total_cmp);
    let tenth = rates.len() / 10;
    let (low_per_s, high_per_s) = (*rates.get(tenth)?, *rates.get(rates.len() - 1 - tenth)?);
    Some(RateRange { low_per_s, high_per_s })
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The estimate, if its interval is finite.
fn known(estimate: Estimate) -> Option<Estimate> {
    [estimate.value, estimate.low, estimate.high].iter().all(|end| end.is_finite()).then_some(estimate)
}

fn rounded_poisson(resolution: Resolution, rate_per_s: f64) -> Option<RoundedExponential> {
    match resolution {
        Resolution::Nanosecond => None,
        Resolution::Millisecond => RoundedExponential::new(rate_per_s * seconds(resolution.tick_ns())),
    }
}

fn short_gaps(
    slices: &[(usize, &Slice)],
    rate_per_ns: f64,
    rounded: Option<RoundedExponential>,
) -> Option<ShortGaps> {
    let tick_ns = if rounded.is_some() { Resolution::Millisecond.tick_ns() } else { 1 };
    let off = |limit: usize| (GAP_LIMITS_NS[limit] as f64 * rate_per_ns / SHORT).ln().abs();
    // The clock cannot distinguish lengths that are not a whole number of ticks.
    let limit = (0..GAP_LIMITS_NS.len())
        .filter(|&limit| GAP_LIMITS_NS[limit].is_multiple_of(tick_ns) && GAP_LIMITS_NS[limit] >= SHORT_NS_MIN)
        .min_by(|&a, &b| off(a).total_cmp(&off(b)))?;
    let length_ns = GAP_LIMITS_NS[limit];
    let share_below = |length_ns: u64| match &rounded {
        // A gap shorter than k ticks has at most k − 1 ticks.
        Some(law) => law.cumulative_probability(length_ns / tick_ns - 1),
        None => -(-rate_per_ns * length_ns as f64).exp_m1(),
    };
    let share_poisson = share_below(length_ns);
    let parts: Vec<(f64, f64)> =
        slices.iter().map(|(_, slice)| (slice.shorter(limit), slice.gaps.n)).collect();
    let share = proportion(&parts).and_then(known)?;
    let gaps: f64 = parts.iter().map(|part| part.1).sum();
    let is_missing = |limit: &usize| {
        let expected = gaps * share_below(GAP_LIMITS_NS[*limit]);
        let counted: f64 = slices.iter().map(|(_, slice)| slice.shorter(*limit)).sum();
        expected >= MISSING_MIN && counted < expected / 2.0
    };
    let missing = (0..GAP_LIMITS_NS.len())
        .filter(|limit| GAP_LIMITS_NS[*limit].is_multiple_of(tick_ns))
        .rev()
        .find(is_missing);
    (share_poisson <= SHORT_SHARE_MAX).then(|| ShortGaps {
        shorter_than_s: seconds(length_ns),
        share,
        share_poisson,
        missing_below_s: missing.map(|limit| seconds(GAP_LIMITS_NS[limit])),
    })
}

fn dispersion(judged: &Judged<'_>, scale: usize, width_ns: u64, stamps: &Stamps) -> Option<Dispersion> {
    let slice_ns = stamps.slices.width_ns();
    // A window that ends just after the start of the judged part began before it.
    let skipped = if judged.cut { width_ns.div_ceil(slice_ns.max(1)) as usize } else { 0 };
    // Likewise, a window that ends just after a stall began before the end of the stall.
    let begin = |slice: usize| stamps.first_ns.saturating_add((slice as u64).saturating_mul(slice_ns));
    let after_stall = |slice: usize| {
        let begin = begin(slice);
        judged.left_out.iter().any(|(from, to)| begin > *from && begin <= to.saturating_add(width_ns))
    };
    let whole = judged.slices.iter().skip(skipped).filter(|(at, _)| !after_stall(*at));
    let parts: Vec<PowerSums> = whole.map(|(_, slice)| slice.windows[scale]).collect();
    let windows: f64 = parts.iter().map(|part| part.n).sum();
    let counted: f64 = parts.iter().map(|part| part.sum).sum();
    if windows < WINDOWS_MIN {
        return None;
    }
    let index = dispersion_estimate(&parts).and_then(known)?;
    Some(Dispersion {
        scale_s: seconds(width_ns),
        windows: windows as u64,
        mean_count: counted / windows,
        index,
    })
}

fn test(blocks: &[&[f64]], resolution: Resolution, random: &mut (impl RandomSource + ?Sized)) -> Tests {
    let gaps_ns: Vec<f64> = blocks.concat();
    match resolution {
        Resolution::Nanosecond => Tests {
            lilliefors: lilliefors_exponential(&mut gaps_ns.clone()),
            anderson_darling: gaps_ns
                .iter()
                .all(|gap| *gap > 0.0)
                .then(|| anderson_darling_exponential(&mut gaps_ns.clone()))
                .flatten(),
            ljung_box: None,
        },
        Resolution::Millisecond => {
            let tick_ns = resolution.tick_ns() as f64;
            let every = gaps_ns.len().div_ceil(ROUNDED.0).max(1);
            let some = blocks.iter().step_by(every).flat_map(|block| block.iter());
            let ticks: Vec<u64> = some.map(|gap| (gap / tick_ns).round() as u64).collect();
            Tests { lilliefors: lilliefors_rounded(&ticks, ROUNDED.1, random), ..Tests::default() }
        }
    }
}
