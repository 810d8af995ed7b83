//! What was observed of a sequence of arrivals.

use busyhour_stats::{
    Estimate, PowerSums, RandomSource, RoundedExponential, TestResult, anderson_darling_exponential,
    autocorrelations, coefficient_of_variation, dispersion_estimate, lilliefors_exponential,
    lilliefors_rounded, ljung_box, proportion, reciprocal_mean,
};
use serde::{Deserialize, Serialize};

use super::settings::{Resolution, TallySettings};
use super::slices::{RUNGS_NS, Slice};
use super::stalls::{LongGap, Stall};
use super::steady::{self, Part};
use super::tally::{ArrivalTally, Stamps};

/// A scale with fewer windows is not reported.
const WINDOWS_MIN: f64 = 30.0;

/// Gaps shorter than about this part of the mean are the short ones.
const SHORT: f64 = 0.05;

/// No shorter length is looked at, in ns: one request after another takes a generator's core several µs to send, so gaps
/// below that are of the generator's making at any rate, and no system under test can tell them.
const SHORT_NS_MIN: u64 = 20_000;

/// When more gaps than this are shorter than the shortest length that the clock can tell, there is no share to compare.
const SHORT_SHARE_MAX: f64 = 0.5;

/// Number of short gaps that must be expected before their absence is significant.
const MISSING_MIN: f64 = 20.0;

/// Lags of the serial correlation.
const LAGS: usize = 5;

/// Gaps that go into the simulated test of rounded stamps, and how often it simulates them.
const ROUNDED: (usize, u32) = (8_192, 199);

/// Measures of a sequence of arrivals, each with an interval where one is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    /// Arrivals in all.
    pub arrivals: u64,
    /// From the first to the last, in s.
    pub span_s: f64,
    /// How fine their stamps are.
    pub resolution: Resolution,
    /// Which part was judged: everything below is about it.
    pub part: Part,
    /// Where it begins, in s after the first arrival (on the clock of the known rate, if there is one).
    pub judged_from_s: f64,
    /// How long it is, in s, without stalls.
    pub judged_s: f64,
    /// Times without arrivals that chance does not explain, in order; they are in no measure.
    #[serde(default)]
    pub stalls: Vec<Stall>,
    /// Gaps in it.
    pub gaps: u64,
    /// Arrivals per s: the reciprocal of the mean gap.
    pub rate_per_s: Option<Estimate>,
    /// Coefficient of variation of the gaps.
    pub cov: Option<Estimate>,
    /// What that is for Poisson arrivals of this rate through this clock: a little above 1 for rounded stamps.
    pub cov_poisson: f64,
    /// Index of dispersion of counts, per width of window with at least 30 windows.
    pub dispersion: Vec<Dispersion>,
    /// How many gaps are short.
    pub short_gaps: Option<ShortGaps>,
    /// Correlations of gaps with those 1, 2, … before.
    pub serial: Option<Serial>,
    /// Tests against independent exponential gaps of unknown mean: with many gaps they find what does not matter.
    pub tests: Tests,
    /// Gaps of 0 in all arrivals: equal stamps.
    pub equal_stamps: u64,
    /// Stamps that were not in order in all arrivals.
    pub disordered: u64,
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
    /// Variance of the counts over their mean: 1 for Poisson arrivals, 0 for even ones.
    pub index: Estimate,
}

/// Gaps much shorter than the mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShortGaps {
    /// Gaps shorter than this, in s: of 1, 2, 5, 10, … the length nearest to 5 % of the mean, but not below 20 µs.
    pub shorter_than_s: f64,
    /// Share of such gaps, 0 to 1.
    pub share: Estimate,
    /// That of Poisson arrivals of the same rate through the same clock.
    pub share_poisson: f64,
    /// The longest length, in s, below which fewer than half as many gaps are as Poisson arrivals have: about what the
    /// sender needs per request. `None` where there is none.
    #[serde(default)]
    pub missing_below_s: Option<f64>,
}

/// Serial correlation of the gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Serial {
    /// For lag 1, 2, ….
    pub coefficients: Vec<f64>,
    /// Half-width of the 95 % band of independent gaps.
    pub band: f64,
}

/// Tests on a bounded subsample of consecutive gaps. `None` where a test does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Tests {
    /// Lilliefors' D for an exponential of estimated mean; for stamps in milliseconds against simulated arrivals
    /// through the same clock.
    pub lilliefors: Option<TestResult>,
    /// Anderson and Darling's A² for an exponential of estimated mean; not for rounded stamps or equal ones.
    pub anderson_darling: Option<TestResult>,
    /// Ljung and Box's Q for independence.
    pub ljung_box: Option<TestResult>,
}

/// Arrivals per tick of the clock from which on gaps cannot be told.
const PER_TICK_MAX: f64 = 0.5;

impl Observed {
    /// Whether gaps are too short for the clock of the stamps: more than 500/s in whole milliseconds.
    #[must_use]
    pub fn is_too_coarse(&self) -> bool {
        self.resolution == Resolution::Millisecond
            && self
                .rate_per_s
                .is_some_and(|rate| rate.value * seconds(self.resolution.tick_ns()) > PER_TICK_MAX)
    }
}

impl ArrivalTally {
    /// What was observed so far. Randomness is used for the test of stamps in whole milliseconds only.
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
        gaps: 0,
        rate_per_s: None,
        cov: None,
        cov_poisson: 1.0,
        dispersion: Vec::new(),
        short_gaps: None,
        serial: None,
        tests: Tests::default(),
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
    observed.stalls = stalls.iter().filter(in_judged).map(|gap| gap.told(stamps.given_ns.0)).collect();
    observed.judged_s = seconds(judged.to_ns - judged.from_ns)
        - judged.slices_left_out as f64 * seconds(stamps.slices.width_ns());
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
    // Rounding on a stretched clock is not uniform: no test is right for it.
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

/// The part of the stamps that is judged, on the judging clock.
struct Judged<'a> {
    part: Part,
    /// The slices without stalls, each with its number.
    slices: Vec<(usize, &'a Slice)>,
    /// Slices with stalls.
    slices_left_out: usize,
    /// Stalls and the arrivals that they delayed.
    left_out: Vec<(u64, u64)>,
    from_ns: u64,
    to_ns: u64,
    /// Whether something before it was left out.
    cut: bool,
}

impl Judged<'_> {
    fn choose<'a>(stamps: &'a Stamps, settings: &TallySettings, stalls: &[LongGap]) -> Judged<'a> {
        let all = stamps.slices.all();
        let width_ns = stamps.slices.width_ns();
        let begin = |slice: usize| stamps.first_ns.saturating_add(slice as u64 * width_ns);
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
        // The slice that is not over yet belongs to what reaches up to it.
        let to_the_end = chosen.end == over.len();
        let end = if to_the_end { all.len() } else { chosen.end };
        let chosen_slices = (chosen.start..end).zip(&all[chosen.start..end]);
        let slices: Vec<(usize, &Slice)> = chosen_slices.filter(|(at, _)| !has_stall(*at)).collect();
        Judged {
            part,
            slices_left_out: end - chosen.start - slices.len(),
            slices,
            left_out,
            from_ns: begin(chosen.start),
            to_ns: if to_the_end { stamps.last_ns } else { begin(chosen.end) },
            cut: chosen.start > 0,
        }
    }
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// An estimate whose interval is known.
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
    let off = |rung: usize| (RUNGS_NS[rung] as f64 * rate_per_ns / SHORT).ln().abs();
    // A length that is no whole number of ticks cannot be told.
    let rung = (0..RUNGS_NS.len())
        .filter(|&rung| RUNGS_NS[rung].is_multiple_of(tick_ns) && RUNGS_NS[rung] >= SHORT_NS_MIN)
        .min_by(|&a, &b| off(a).total_cmp(&off(b)))?;
    let length_ns = RUNGS_NS[rung];
    let share_below = |length_ns: u64| match &rounded {
        // Shorter than k ticks is at most k − 1 of them.
        Some(law) => law.share_up_to(length_ns / tick_ns - 1),
        None => -(-rate_per_ns * length_ns as f64).exp_m1(),
    };
    let share_poisson = share_below(length_ns);
    let parts: Vec<(f64, f64)> =
        slices.iter().map(|(_, slice)| (slice.shorter(rung), slice.gaps.n)).collect();
    let share = proportion(&parts).and_then(known)?;
    let gaps: f64 = parts.iter().map(|part| part.1).sum();
    let is_missing = |rung: &usize| {
        let expected = gaps * share_below(RUNGS_NS[*rung]);
        let counted: f64 = slices.iter().map(|(_, slice)| slice.shorter(*rung)).sum();
        expected >= MISSING_MIN && counted < expected / 2.0
    };
    let missing =
        (0..RUNGS_NS.len()).filter(|rung| RUNGS_NS[*rung].is_multiple_of(tick_ns)).rev().find(is_missing);
    (share_poisson <= SHORT_SHARE_MAX).then(|| ShortGaps {
        shorter_than_s: seconds(length_ns),
        share,
        share_poisson,
        missing_below_s: missing.map(|rung| seconds(RUNGS_NS[rung])),
    })
}

fn dispersion(judged: &Judged<'_>, scale: usize, width_ns: u64, stamps: &Stamps) -> Option<Dispersion> {
    let slice_ns = stamps.slices.width_ns();
    // A window that ends just after the cut began before it.
    let skipped = if judged.cut { width_ns.div_ceil(slice_ns.max(1)) as usize } else { 0 };
    // So does one that ends just after a stall.
    let begin = |slice: usize| stamps.first_ns.saturating_add(slice as u64 * slice_ns);
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
