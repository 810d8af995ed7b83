//! The verdict on arrivals.

use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use super::caveats::{ArrivalCaveat, StallCause};
use super::finding::{self, Finding, RESPONSE_IN_CYCLE};
use super::format;
use super::lateness::Lateness;
use super::measures::{self, Measure, Quantity};
use super::observed::Observed;
use super::requested::{ArrivalContext, RequestedProcess, Scope};
use super::stalls;
use super::steady::Part;
use crate::caveat::{Caveat, ReportedCaveat};

/// Minimum absolute correlation that raises a caveat.
const SERIAL: f64 = 0.1;

/// Lateness above which a caveat is raised, in ns: median and p99. An idle machine stays below both.
const LATE_NS: (u64, u64) = (100_000, 1_000_000);

/// Maximum relative deviation of the achieved rate from the requested one.
const RATE_OFF: f64 = 0.02;

/// Number of gaps at which a decision is likely, for advice when no better estimate is available. With fewer than `GAPS_FIRST`
/// gaps, the advice is twice that number.
const GAPS_FIRST: u64 = 1_000;
const GAPS_DECIDE: f64 = 6_400.0;

/// A confidence interval this many times as wide as that of independent gaps is caused by a few outliers.
const OUTLIERS: f64 = 4.0;

/// Maximum factor by which a longer run is recommended.
const FACTOR_MAX: f64 = 50.0;

/// Missing short gaps are reported only below this share of the mean gap.
const MISSING_MEANS: f64 = 0.2;

/// Short gaps that occur this many times as often as expected raise a caveat about the delivery.
const SHORT_MANY: f64 = 1.5;

/// The verdict on the arrivals of a run, a thread group or a log: a one-line summary and its basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrivalVerdict {
    /// The one-line summary.
    pub line: String,
    /// Whether the arrivals follow the requested process.
    pub decision: Decision,
    /// The result in more detail.
    pub finding: Finding,
    /// The thread group, label or file that the arrivals belong to; `None` for all arrivals.
    pub of: Option<String>,
    /// The events whose start times are judged.
    pub scope: Scope,
    /// The requested process.
    #[serde(rename = "asked")]
    pub requested: RequestedProcess,
    /// Statistics of the arrivals.
    pub observed: Observed,
    /// Statistics of the schedule, if given. The delivery caused the difference to `observed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Observed>,
    /// Each measure and its band.
    pub measures: Vec<Measure>,
    /// R/(R + Z) of a closed workload.
    pub r_over_r_plus_z: Option<f64>,
    /// Lateness of the starts.
    pub lateness: Option<Lateness>,
    /// Arrivals that were discarded because no user was free.
    #[serde(rename = "drops")]
    pub discarded: Option<u64>,
    /// Arrivals that waited for a free user.
    pub waited: Option<u64>,
    /// Waiting times of these arrivals, which response times include and service times exclude.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Lateness>,
    /// CPU time of the generator's busiest core over the run's length, 0 to 1.
    pub generator_busy: Option<f64>,
    /// Reasons to caveat the verdict.
    pub caveats: Vec<ReportedCaveat>,
}

/// Judges whether the observed arrivals follow the requested process.
#[must_use]
pub fn judge(
    observed: Observed,
    requested: RequestedProcess,
    context: &ArrivalContext<'_>,
) -> ArrivalVerdict {
    let measures = measures::measure(&observed, &requested, context.schedule);
    let of_measures = decide(&observed, &requested, &measures);
    let agrees = of_measures == Decision::Inside;
    let has_stall = observed.stalls.iter().any(|stall| stall.length_s >= stalls::MATERIAL_S);
    let decision = if agrees && has_stall { Decision::Outside } else { of_measures };
    let finding = Finding::new(&observed, &requested, &measures, decision, agrees);
    let ratio = requested.r_over_r_plus_z(observed.rate_per_s.map(|rate| rate.value));
    let run_for_s = run_for_s(&observed, &measures);
    let mut caveats = caveats_of_stalls(&observed, &requested, context);
    let waited = context.waited.is_some_and(|waited| waited > 0);
    caveats.extend(caveats_of_finding(&observed, &requested, &measures, finding, run_for_s, waited));
    caveats.extend(caveats_of_stamps(&observed, &requested));
    if let Some(r_over_r_plus_z) = ratio.filter(|ratio| *ratio > RESPONSE_IN_CYCLE) {
        caveats.push(ArrivalCaveat::ResponseInCycle { r_over_r_plus_z });
    }
    caveats.extend(caveats_of_delivery(&observed, context));
    let line = finding::line(&observed, &requested, &measures, finding, ratio, run_for_s);
    ArrivalVerdict {
        line,
        decision,
        finding,
        of: context.of.clone(),
        scope: context.scope,
        requested,
        observed,
        schedule: context.schedule.cloned(),
        measures,
        r_over_r_plus_z: ratio,
        lateness: context.lateness,
        discarded: context.discarded,
        waited: context.waited,
        waits: context.waits,
        generator_busy: context.generator_busy,
        caveats: caveats.into_iter().map(|caveat| ReportedCaveat::from(Caveat::Arrivals(caveat))).collect(),
    }
}

/// The arrivals differ from the process if one measure is outside its band. They follow it if all deciding measures are inside.
/// Without a steady rate the result is inconclusive, and with a coarse clock arrivals are never accepted.
fn decide(observed: &Observed, requested: &RequestedProcess, measures: &[Measure]) -> Decision {
    if observed.part == Part::NeverSteady || !measures.iter().any(|measure| measure.decides) {
        return Decision::Inconclusive;
    }
    let decision = measures
        .iter()
        .filter(|measure| measure.decides || measure.decision == Decision::Outside)
        .fold(Decision::Inside, |all, measure| all.and(measure.decision));
    let is_few = finding::is_compared_with_poisson(requested) && observed.gaps < finding::GAPS_ACCEPT_MIN;
    if decision == Decision::Inside && (is_few || observed.is_too_coarse()) {
        Decision::Inconclusive
    } else {
        decision
    }
}

/// The length of a run at this rate at which every confidence interval would have half the width of its band; the width of an
/// interval is proportional to 1/√length. `None` when all intervals are that narrow: then a measure is at the edge of its band, and a
/// longer run does not help. `None` also when an interval is far wider than that of as many independent gaps: a longer run does not
/// average out a few outliers.
fn run_for_s(observed: &Observed, measures: &[Measure]) -> Option<f64> {
    let undecided =
        measures.iter().filter(|measure| measure.decides && measure.decision == Decision::Inconclusive);
    let from_chance = 2.0 / (observed.gaps.max(1) as f64).sqrt();
    if observed.cov.is_some_and(|cov| cov.half_width() > OUTLIERS * cov.value.max(1.0) * from_chance) {
        return None;
    }
    let target = if observed.gaps < GAPS_FIRST { GAPS_FIRST as f64 * 2.0 } else { GAPS_DECIDE };
    let factor = undecided
        .map(|Measure { estimate, band, .. }| (4.0 * estimate.half_width() / (band.high - band.low)).powi(2))
        .fold(target / observed.gaps.max(1) as f64, f64::max);
    (factor > 1.0 && factor <= FACTOR_MAX && observed.judged_s > 0.0)
        .then(|| two_digits(factor * observed.judged_s))
}

/// Rounds an estimate up to two digits.
fn two_digits(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor() - 1.0).max(1.0);
    (value / unit).ceil() * unit
}

fn caveats_of_finding(
    observed: &Observed,
    requested: &RequestedProcess,
    measures: &[Measure],
    finding: Finding,
    run_for_s: Option<f64>,
    waited: bool,
) -> Vec<ArrivalCaveat> {
    let cov = observed.cov.map(|cov| cov.value);
    let mut caveats = Vec::new();
    match finding {
        Finding::AsRequested | Finding::ExceptStalls => {}
        Finding::AllAtOnce => caveats.push(ArrivalCaveat::AllAtOnce { arrivals: observed.arrivals }),
        Finding::TooFew => caveats.push(ArrivalCaveat::TooFew { arrivals: observed.arrivals }),
        Finding::NothingToCompare => caveats.push(ArrivalCaveat::NothingToCompare),
        Finding::NeverSteady => caveats.push(ArrivalCaveat::NeverSteady),
        Finding::Coarse => {}
        Finding::Undecided => caveats.push(ArrivalCaveat::Inconclusive { run_for_s }),
        Finding::Bunched => {
            let short_ratio = observed.short_gaps.map(|short| short.share.value / short.share_poisson);
            caveats.push(ArrivalCaveat::Bunched {
                cov,
                short_ratio: short_ratio.filter(|ratio| *ratio > 1.5),
                waited,
            });
        }
        Finding::TooEven => caveats.push(ArrivalCaveat::TooEven { cov }),
        Finding::NotAsRequested => caveats.push(ArrivalCaveat::NotAsRequested { cov, waited }),
        Finding::CountsTooEven | Finding::CountsTooUneven => {}
    }
    // If the process itself differs, the share of short gaps is not a property of the delivery.
    if matches!(finding, Finding::AsRequested | Finding::ExceptStalls | Finding::Undecided) {
        caveats.extend(short_gaps_caveat(measures, observed));
    }
    if finding::is_compared_with_poisson(requested) {
        for measure in measures {
            let Quantity::Dispersion { scale_s } = measure.quantity else { continue };
            let dispersion = measure.estimate.value;
            if measure.is_low() && finding != Finding::TooEven {
                caveats.push(ArrivalCaveat::CountsTooEven { scale_s, dispersion });
            } else if measure.is_high() {
                caveats.push(ArrivalCaveat::CountsTooUneven { scale_s, dispersion });
            }
        }
        if let Some(horizon_s) = measures::horizon_s(observed, requested) {
            let regular =
                |row: &&super::observed::Dispersion| row.scale_s > horizon_s && row.index.high < 0.8;
            caveats.extend(observed.dispersion.iter().find(regular).map(|row| {
                ArrivalCaveat::ClosedLoopRegular { scale_s: row.scale_s, dispersion: row.index.value }
            }));
        }
    }
    caveats
}

/// The caveat about missing or additional short gaps, which the delivery causes.
fn short_gaps_caveat(measures: &[Measure], observed: &Observed) -> Option<ArrivalCaveat> {
    let short = observed.short_gaps?;
    let measure = measures.iter().find(|measure| matches!(measure.quantity, Quantity::ShortGaps { .. }))?;
    let Measure { estimate, band, .. } = measure;
    let is_short =
        |below_s: f64| observed.rate_per_s.is_some_and(|rate| below_s * rate.value <= MISSING_MEANS);
    if estimate.high < band.low {
        let below_s = short.missing_below_s.unwrap_or(short.shorter_than_s);
        return is_short(below_s).then_some(ArrivalCaveat::ShortGapsMissing { below_s });
    }
    let ratio = short.share.value / short.share_poisson;
    (estimate.low > band.high && ratio > SHORT_MANY)
        .then_some(ArrivalCaveat::ShortGapsMany { ratio, shorter_than_s: short.shorter_than_s })
}

fn caveats_of_stalls(
    observed: &Observed,
    requested: &RequestedProcess,
    context: &ArrivalContext<'_>,
) -> Vec<ArrivalCaveat> {
    let Some(longest) = observed.stalls.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s)) else {
        return Vec::new();
    };
    // If an arrival waited about as long as the stall lasted, all users were waiting for responses.
    let waited_s = context.waits.map_or(0.0, |waits| waits.max_ns as f64 / 1e9);
    let cause = if context.waited.is_some_and(|waited| waited > 0) && waited_s > longest.length_s / 2.0 {
        StallCause::NoFreeUser
    } else if matches!(requested, RequestedProcess::Closed { .. }) {
        StallCause::UsersOrGenerator
    } else {
        StallCause::Unknown
    };
    vec![ArrivalCaveat::Stall {
        stalls: observed.stalls.len() as u64,
        at_s: longest.at_s,
        length_s: longest.length_s,
        backlog: longest.backlog,
        backlog_s: longest.backlog_s,
        cause,
    }]
}

fn caveats_of_stamps(observed: &Observed, requested: &RequestedProcess) -> Vec<ArrivalCaveat> {
    let mut caveats = Vec::new();
    if observed.part == Part::Steady {
        let (judged_s, span_s) = (observed.judged_s, observed.span_s);
        caveats.push(ArrivalCaveat::PartJudged { judged_s, span_s });
    }
    if let Some(rate) = observed.rate_per_s.filter(|_| observed.is_too_coarse()) {
        caveats.push(ArrivalCaveat::MillisecondStamps { rate_per_s: rate.value });
    }
    if observed.disordered > 0 {
        caveats.push(ArrivalCaveat::Disordered { stamps: observed.disordered });
    }
    // The gaps of processes other than Poisson and renewal processes are dependent by design.
    let independent =
        finding::is_compared_with_poisson(requested) || matches!(requested, RequestedProcess::Renewal { .. });
    if let Some(serial) = observed.serial.as_ref().filter(|_| independent && !observed.is_too_coarse()) {
        let strongest = (1..).zip(&serial.coefficients).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        if let Some((lag, &coefficient)) = strongest
            && coefficient.abs() > SERIAL.max(2.0 * serial.band)
        {
            caveats.push(ArrivalCaveat::SerialCorrelation { lag, coefficient });
        }
    }
    caveats
}

fn caveats_of_delivery(observed: &Observed, context: &ArrivalContext<'_>) -> Vec<ArrivalCaveat> {
    let mut caveats = Vec::new();
    if let (Some(requested_per_s), Some(rate)) = (context.requested_per_s, observed.rate_per_s)
        && (rate.high < requested_per_s * (1.0 - RATE_OFF) || rate.low > requested_per_s * (1.0 + RATE_OFF))
    {
        caveats.push(ArrivalCaveat::RateMissed { requested_per_s, rate_per_s: rate.value });
    }
    if let Some(late) = context.lateness.filter(|late| late.p50_ns > LATE_NS.0 || late.p99_ns > LATE_NS.1) {
        let (p50_us, p99_us) = (late.p50_ns as f64 / 1e3, late.p99_ns as f64 / 1e3);
        caveats.push(ArrivalCaveat::Late { p50_us, p99_us });
    }
    if let Some(arrivals) = context.discarded.filter(|discarded| *discarded > 0) {
        caveats.push(ArrivalCaveat::Discarded { arrivals });
    }
    if let Some(arrivals) = context.waited.filter(|waited| *waited > 0) {
        caveats.push(ArrivalCaveat::Waited { arrivals });
    }
    caveats
}

impl ArrivalVerdict {
    /// The measures, schedule, tests and lateness, one per line.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for measure in &self.measures {
            let Measure { quantity, estimate, band, decision, decides, .. } = measure;
            let name = match quantity {
                Quantity::Cov => "CoV of gaps".to_owned(),
                Quantity::Dispersion { scale_s } => format!("dispersion per {}", format::span(*scale_s)),
                Quantity::ShortGaps { shorter_than_s } => {
                    format!("share of gaps < {}", format::span(*shorter_than_s))
                }
            };
            let result = match (decision, decides) {
                (Decision::Inside, _) => "inside",
                (Decision::Outside, _) => "outside",
                (Decision::Inconclusive, true) => "undecided",
                (Decision::Inconclusive, false) if matches!(quantity, Quantity::ShortGaps { .. }) => {
                    "a property of the delivery"
                }
                (Decision::Inconclusive, false) => "too few to decide",
            };
            lines.push(format!(
                "{name}: {:.3} [{:.3}, {:.3}], band {:.3} to {:.3}: {result}",
                estimate.value, estimate.low, estimate.high, band.low, band.high
            ));
        }
        if let Some(schedule) = &self.schedule {
            let describe = |observed: &Observed| {
                let cov = observed.cov.map(|cov| format!("CoV {:.3}", cov.value));
                let short = observed.short_gaps.map(|short| {
                    let (share, length) =
                        (format::share(short.share.value), format::span(short.shorter_than_s));
                    format!("{share} of the gaps < {length}")
                });
                let counts = observed.dispersion.iter().map(|row| {
                    format!("dispersion {:.3} per {}", row.index.value, format::span(row.scale_s))
                });
                cov.into_iter().chain(short).chain(counts).collect::<Vec<_>>().join(", ")
            };
            lines.push(format!("as scheduled: {}", describe(schedule)));
            lines.push(format!("as delivered: {}", describe(&self.observed)));
        }
        let tests = &self.observed.tests;
        for (name, found) in [
            ("Lilliefors D (exponential gaps)", tests.lilliefors),
            ("Anderson-Darling A² (exponential gaps)", tests.anderson_darling),
            ("Ljung-Box Q (independent gaps)", tests.ljung_box),
        ] {
            if let Some(found) = found {
                lines.push(format!(
                    "{name}: {:.4}, p = {:.3}, {} gaps",
                    found.statistic, found.p_value, found.n
                ));
            }
        }
        if let Some(late) = self.lateness {
            let [p50, p99, max] =
                [late.p50_ns, late.p99_ns, late.max_ns].map(|ns| format::span(ns as f64 / 1e9));
            lines.push(format!("lateness of starts: median {p50}, p99 {p99}, max {max}"));
        }
        lines
    }
}
