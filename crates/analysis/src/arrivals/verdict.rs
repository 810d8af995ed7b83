//! The verdict on arrivals.

use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use super::asked::{Asked, Circumstances, Scope};
use super::doubts::{ArrivalCaveat, StallCause};
use super::finding::{self, Finding, RESPONSE_IN_CYCLE};
use super::lateness::Lateness;
use super::measures::{self, Measure, Quantity};
use super::observed::Observed;
use super::stalls;
use super::steady::Part;
use super::words;
use crate::caveat::{Caveat, Told};

/// A correlation that makes a difference to anything.
const SERIAL: f64 = 0.1;

/// Lateness that is no longer that of a quiet machine, in ns: at the median and at p99.
const LATE_NS: (u64, u64) = (100_000, 1_000_000);

/// A rate this far from the one asked for, relative to it, is another rate.
const RATE_OFF: f64 = 0.02;

/// Gaps from which on a decision is likely, when nothing better is known: with fewer than the first number, twice as many.
const GAPS_FIRST: u64 = 1_000;
const GAPS_DECIDE: f64 = 6_400.0;

/// An interval so many times as wide as that of independent gaps comes from a few outliers.
const OUTLIERS: f64 = 4.0;

/// A run that would have to be more than so many times as long is no advice.
const FACTOR_MAX: f64 = 50.0;

/// What a sender needs per request is a small part of the mean gap, up to this.
const MISSING_MEANS: f64 = 0.2;

/// Short gaps that are so many times as frequent as expected are worth a word about the delivery.
const SHORT_MANY: f64 = 1.5;

/// The verdict on the arrivals of a run, a group or a log: one plain line, and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrivalVerdict {
    /// The plain line.
    pub line: String,
    /// Whether the arrivals are those that were asked for.
    pub decision: Decision,
    /// In which way.
    pub finding: Finding,
    /// The thread group, label or file they are of; `None` for all together.
    pub of: Option<String>,
    /// What the stamps are of.
    pub scope: Scope,
    /// What they are compared with.
    pub asked: Asked,
    /// What was observed.
    pub observed: Observed,
    /// The same of the schedule, where it was given: what the delivery did to it is the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Observed>,
    /// Each measure against its band.
    pub measures: Vec<Measure>,
    /// R/(R + Z) of a closed workload.
    pub r_over_r_plus_z: Option<f64>,
    /// How late starts were.
    pub lateness: Option<Lateness>,
    /// Arrivals that were given up because no user was free.
    pub drops: Option<u64>,
    /// Arrivals that waited for a free user.
    pub waited: Option<u64>,
    /// How long these waited; it is part of their response times and of nobody's service times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Lateness>,
    /// CPU time of the generator's busiest core over the run's length, 0 to 1.
    pub generator_busy: Option<f64>,
    /// What is in doubt.
    pub caveats: Vec<Told>,
}

/// Compares what was observed with what was asked for.
#[must_use]
pub fn judge(observed: Observed, asked: Asked, circumstances: &Circumstances<'_>) -> ArrivalVerdict {
    let measures = measures::measure(&observed, &asked, circumstances.schedule);
    let of_measures = decide(&observed, &asked, &measures);
    let agrees = of_measures == Decision::Inside;
    let has_stall = observed.stalls.iter().any(|stall| stall.length_s >= stalls::MATERIAL_S);
    let decision = if agrees && has_stall { Decision::Outside } else { of_measures };
    let finding = Finding::new(&observed, &asked, &measures, decision, agrees);
    let ratio = asked.r_over_r_plus_z(observed.rate_per_s.map(|rate| rate.value));
    let run_for_s = run_for_s(&observed, &measures);
    let mut doubts = doubts_of_stalls(&observed, &asked, circumstances);
    let waited = circumstances.waited.is_some_and(|waited| waited > 0);
    doubts.extend(doubts_of_finding(&observed, &asked, &measures, finding, run_for_s, waited));
    doubts.extend(doubts_of_stamps(&observed, &asked));
    if let Some(r_over_r_plus_z) = ratio.filter(|ratio| *ratio > RESPONSE_IN_CYCLE) {
        doubts.push(ArrivalCaveat::ResponseInCycle { r_over_r_plus_z });
    }
    doubts.extend(doubts_of_delivery(&observed, circumstances));
    let line = finding::line(&observed, &asked, &measures, finding, ratio, run_for_s);
    ArrivalVerdict {
        line,
        decision,
        finding,
        of: circumstances.of.clone(),
        scope: circumstances.scope,
        asked,
        observed,
        schedule: circumstances.schedule.cloned(),
        measures,
        r_over_r_plus_z: ratio,
        lateness: circumstances.lateness,
        drops: circumstances.drops,
        waited: circumstances.waited,
        waits: circumstances.waits,
        generator_busy: circumstances.generator_busy,
        caveats: doubts.into_iter().map(|doubt| Told::from(Caveat::Arrivals(doubt))).collect(),
    }
}

/// One measure outside is enough; all that decide must be inside. Without a steady rate nothing is decided, and through
/// a coarse clock nothing is accepted.
fn decide(observed: &Observed, asked: &Asked, measures: &[Measure]) -> Decision {
    if observed.part == Part::NeverSteady || !measures.iter().any(|measure| measure.decides) {
        return Decision::Inconclusive;
    }
    let decision = measures
        .iter()
        .filter(|measure| measure.decides || measure.decision == Decision::Outside)
        .fold(Decision::Inside, |all, measure| all.and(measure.decision));
    let is_few = finding::is_compared_with_poisson(asked) && observed.gaps < finding::GAPS_ACCEPT_MIN;
    if decision == Decision::Inside && (is_few || observed.is_too_coarse()) {
        Decision::Inconclusive
    } else {
        decision
    }
}

/// How long a run at this rate would have to be for every interval to have half the width of its band: an interval
/// shrinks as 1/√length. `None` when they all have: then a measure lies at the edge itself, and time does not help. `None` as
/// well when an interval is far wider than that many independent gaps explain: a few outliers do not average out.
fn run_for_s(observed: &Observed, measures: &[Measure]) -> Option<f64> {
    let undecided =
        measures.iter().filter(|measure| measure.decides && measure.decision == Decision::Inconclusive);
    let from_chance = 2.0 / (observed.gaps.max(1) as f64).sqrt();
    if observed.cov.is_some_and(|cov| cov.half_width() > OUTLIERS * cov.value.max(1.0) * from_chance) {
        return None;
    }
    let wanted = if observed.gaps < GAPS_FIRST { GAPS_FIRST as f64 * 2.0 } else { GAPS_DECIDE };
    let factor = undecided
        .map(|Measure { estimate, band, .. }| (4.0 * estimate.half_width() / (band.high - band.low)).powi(2))
        .fold(wanted / observed.gaps.max(1) as f64, f64::max);
    (factor > 1.0 && factor <= FACTOR_MAX && observed.judged_s > 0.0)
        .then(|| two_digits(factor * observed.judged_s))
}

/// Rounded up to two digits: it is a guess.
fn two_digits(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor() - 1.0).max(1.0);
    (value / unit).ceil() * unit
}

fn doubts_of_finding(
    observed: &Observed,
    asked: &Asked,
    measures: &[Measure],
    finding: Finding,
    run_for_s: Option<f64>,
    waited: bool,
) -> Vec<ArrivalCaveat> {
    let cov = observed.cov.map(|cov| cov.value);
    let mut doubts = Vec::new();
    match finding {
        Finding::AsAsked | Finding::ExceptStalls => {}
        Finding::AllAtOnce => doubts.push(ArrivalCaveat::AllAtOnce { arrivals: observed.arrivals }),
        Finding::TooFew => doubts.push(ArrivalCaveat::TooFew { arrivals: observed.arrivals }),
        Finding::NothingToCompare => doubts.push(ArrivalCaveat::NothingToCompare),
        Finding::NeverSteady => doubts.push(ArrivalCaveat::NeverSteady),
        Finding::Coarse => {}
        Finding::Undecided => doubts.push(ArrivalCaveat::Inconclusive { run_for_s }),
        Finding::Bunched => {
            let short_ratio = observed.short_gaps.map(|short| short.share.value / short.share_poisson);
            doubts.push(ArrivalCaveat::Bunched {
                cov,
                short_ratio: short_ratio.filter(|ratio| *ratio > 1.5),
                waited,
            });
        }
        Finding::TooEven => doubts.push(ArrivalCaveat::TooEven { cov }),
        Finding::NotAsAsked => doubts.push(ArrivalCaveat::NotAsAsked { cov, waited }),
        Finding::CountsTooEven | Finding::CountsTooUneven => {}
    }
    // Where the process itself has another share of short gaps, the sender is not to blame.
    if matches!(finding, Finding::AsAsked | Finding::ExceptStalls | Finding::Undecided) {
        doubts.extend(doubt_of_short_gaps(measures, observed));
    }
    if finding::is_compared_with_poisson(asked) {
        for measure in measures {
            let Quantity::Dispersion { scale_s } = measure.quantity else { continue };
            let dispersion = measure.estimate.value;
            if measure.is_low() && finding != Finding::TooEven {
                doubts.push(ArrivalCaveat::CountsTooEven { scale_s, dispersion });
            } else if measure.is_high() {
                doubts.push(ArrivalCaveat::CountsTooUneven { scale_s, dispersion });
            }
        }
        if let Some(horizon_s) = measures::horizon_s(observed, asked) {
            let regular =
                |row: &&super::observed::Dispersion| row.scale_s > horizon_s && row.index.high < 0.8;
            doubts.extend(observed.dispersion.iter().find(regular).map(|row| {
                ArrivalCaveat::ClosedLoopRegular { scale_s: row.scale_s, dispersion: row.index.value }
            }));
        }
    }
    doubts
}

/// What the delivery did to short gaps, which the schedule is not to blame for.
fn doubt_of_short_gaps(measures: &[Measure], observed: &Observed) -> Option<ArrivalCaveat> {
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

fn doubts_of_stalls(
    observed: &Observed,
    asked: &Asked,
    circumstances: &Circumstances<'_>,
) -> Vec<ArrivalCaveat> {
    let Some(longest) = observed.stalls.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s)) else {
        return Vec::new();
    };
    // An arrival that waited about as long as nothing was sent waited for a user, and users for responses.
    let waited_s = circumstances.waits.map_or(0.0, |waits| waits.max_ns as f64 / 1e9);
    let cause = if circumstances.waited.is_some_and(|waited| waited > 0) && waited_s > longest.length_s / 2.0
    {
        StallCause::NoFreeUser
    } else if matches!(asked, Asked::Closed { .. }) {
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

fn doubts_of_stamps(observed: &Observed, asked: &Asked) -> Vec<ArrivalCaveat> {
    let mut doubts = Vec::new();
    if observed.part == Part::Steady {
        let (judged_s, span_s) = (observed.judged_s, observed.span_s);
        doubts.push(ArrivalCaveat::PartJudged { judged_s, span_s });
    }
    if let Some(rate) = observed.rate_per_s.filter(|_| observed.is_too_coarse()) {
        doubts.push(ArrivalCaveat::MillisecondStamps { rate_per_s: rate.value });
    }
    if observed.disordered > 0 {
        doubts.push(ArrivalCaveat::Disordered { stamps: observed.disordered });
    }
    // Other processes than Poisson and renewal ones have dependent gaps by design.
    let independent = finding::is_compared_with_poisson(asked) || matches!(asked, Asked::Renewal { .. });
    if let Some(serial) = observed.serial.as_ref().filter(|_| independent && !observed.is_too_coarse()) {
        let strongest = (1..).zip(&serial.coefficients).max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        if let Some((lag, &coefficient)) = strongest
            && coefficient.abs() > SERIAL.max(2.0 * serial.band)
        {
            doubts.push(ArrivalCaveat::SerialCorrelation { lag, coefficient });
        }
    }
    doubts
}

fn doubts_of_delivery(observed: &Observed, circumstances: &Circumstances<'_>) -> Vec<ArrivalCaveat> {
    let mut doubts = Vec::new();
    if let (Some(asked_per_s), Some(rate)) = (circumstances.asked_per_s, observed.rate_per_s)
        && (rate.high < asked_per_s * (1.0 - RATE_OFF) || rate.low > asked_per_s * (1.0 + RATE_OFF))
    {
        doubts.push(ArrivalCaveat::RateMissed { asked_per_s, rate_per_s: rate.value });
    }
    if let Some(late) =
        circumstances.lateness.filter(|late| late.p50_ns > LATE_NS.0 || late.p99_ns > LATE_NS.1)
    {
        let (p50_us, p99_us) = (late.p50_ns as f64 / 1e3, late.p99_ns as f64 / 1e3);
        doubts.push(ArrivalCaveat::Late { p50_us, p99_us });
    }
    if let Some(arrivals) = circumstances.drops.filter(|drops| *drops > 0) {
        doubts.push(ArrivalCaveat::Dropped { arrivals });
    }
    if let Some(arrivals) = circumstances.waited.filter(|waited| *waited > 0) {
        doubts.push(ArrivalCaveat::Waited { arrivals });
    }
    doubts
}

impl ArrivalVerdict {
    /// The measures, one per line, for whoever wants to know more than the plain line.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for measure in &self.measures {
            let Measure { quantity, estimate, band, decision, decides, .. } = measure;
            let name = match quantity {
                Quantity::Cov => "CoV of gaps".to_owned(),
                Quantity::Dispersion { scale_s } => format!("dispersion per {}", words::span(*scale_s)),
                Quantity::ShortGaps { shorter_than_s } => {
                    format!("share of gaps < {}", words::span(*shorter_than_s))
                }
            };
            let said = match (decision, decides) {
                (Decision::Inside, _) => "inside",
                (Decision::Outside, _) => "outside",
                (Decision::Inconclusive, true) => "undecided",
                (Decision::Inconclusive, false) if matches!(quantity, Quantity::ShortGaps { .. }) => {
                    "a property of the delivery"
                }
                (Decision::Inconclusive, false) => "too few to decide",
            };
            lines.push(format!(
                "{name}: {:.3} [{:.3}, {:.3}], band {:.3} to {:.3}: {said}",
                estimate.value, estimate.low, estimate.high, band.low, band.high
            ));
        }
        if let Some(schedule) = &self.schedule {
            let said = |observed: &Observed| {
                let cov = observed.cov.map(|cov| format!("CoV {:.3}", cov.value));
                let short = observed.short_gaps.map(|short| {
                    let (share, length) =
                        (words::share(short.share.value), words::span(short.shorter_than_s));
                    format!("{share} of the gaps < {length}")
                });
                let counts = observed
                    .dispersion
                    .iter()
                    .map(|row| format!("dispersion {:.3} per {}", row.index.value, words::span(row.scale_s)));
                cov.into_iter().chain(short).chain(counts).collect::<Vec<_>>().join(", ")
            };
            lines.push(format!("as scheduled: {}", said(schedule)));
            lines.push(format!("as delivered: {}", said(&self.observed)));
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
                [late.p50_ns, late.p99_ns, late.max_ns].map(|ns| words::span(ns as f64 / 1e9));
            lines.push(format!("lateness of starts: median {p50}, p99 {p99}, max {max}"));
        }
        lines
    }
}
