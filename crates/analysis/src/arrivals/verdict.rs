//! The verdict on arrivals.

use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use super::closed::{self, ClosedLoad, RESPONSE_IN_CYCLE};
use super::finding::{ARRIVALS_FOR_VERDICT, Basis, Finding};
use super::lateness::Lateness;
use super::measures::{self, Measure, Quantity};
use super::observed::Observed;
use super::requested::{ArrivalContext, JudgedStarts, RequestedProcess};
use super::sentence;
use super::steady::Part;
use crate::arrival_caveat::{ArrivalCaveat, StallCause};
use crate::caveat::{Caveat, ReportedCaveat};
use crate::format;

/// Minimum absolute autocorrelation of gaps that raises a caveat.
const SERIAL: f64 = 0.1;

/// Lateness above which a caveat is raised, in ns: median and p99. An idle machine stays below both.
const LATE_NS: (u64, u64) = (100_000, 1_000_000);

/// With fewer gaps than this, the recommended run has twice this number of gaps.
const GAPS_FIRST: u64 = 1_000;
/// Number of gaps at which a decision is likely, for advice if no better estimate is available.
const GAPS_DECIDE: f64 = 6_400.0;

/// A confidence interval this many times as wide as that of independent gaps is caused by a few outliers.
const OUTLIERS: f64 = 4.0;

/// Maximum factor by which a longer run is recommended.
const FACTOR_MAX: f64 = 50.0;

/// Missing short gaps are reported only below this share of the mean gap.
const MISSING_MEANS: f64 = 0.2;

/// The verdict on the arrivals of a run, a thread group or a log: a one-line summary and its basis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArrivalVerdict {
    /// The one-line summary.
    pub line: String,
    /// Whether the arrivals follow the requested process.
    pub decision: Decision,
    /// The result in more detail.
    pub finding: Finding,
    /// The thread group, label or file that the arrivals belong to; `None` if all arrivals of the run are judged together.
    pub of: Option<String>,
    /// The events whose start times are judged.
    pub scope: JudgedStarts,
    /// The requested process.
    #[serde(rename = "asked")]
    pub requested: RequestedProcess,
    /// Statistics of the arrivals.
    pub observed: Observed,
    /// Statistics of the schedule, if given. The delivery caused any difference from `observed`.
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
    /// CPU time of the generator's busiest core divided by the run's length, 0 to 1.
    pub generator_busy: Option<f64>,
    /// Advice on how to get the load of independent users, for closed loads whose rate a timer sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Reasons to doubt the verdict.
    pub caveats: Vec<ReportedCaveat>,
}

/// The mark of a verdict in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArrivalRating {
    /// The requested process was delivered, or arrivals of unknown origin are like those of independent users.
    Good(&'static str),
    /// A closed load: a description.
    Neutral(String),
    /// The requested process or timing was not delivered, or arrivals of unknown origin are unlike those of independent users.
    Warning(&'static str),
    /// There is no verdict, for this reason.
    Unknown(String),
}

/// Judges whether the observed arrivals follow the requested process.
#[must_use]
pub fn judge(
    observed: Observed,
    requested: RequestedProcess,
    context: &ArrivalContext<'_>,
) -> ArrivalVerdict {
    let measures = measures::measure(&observed, &requested, context);
    let rate_per_s = observed.rate_per_s.map(|rate| rate.value);
    let basis = Basis {
        observed: &observed,
        requested: &requested,
        measures: &measures,
        has_schedule: context.schedule.is_some(),
        is_late: closed::is_late(&requested, rate_per_s, context.lateness),
    };
    let (decision, finding) = basis.decide();
    let ratio = requested.r_over_r_plus_z(rate_per_s);
    let run_for_s = run_for_s(&observed, &measures);
    let line = sentence::line(&basis, finding, context, ratio, run_for_s);
    let advice = ClosedLoad::of(&basis, context, ratio)
        .filter(|_| finding != Finding::TooFew)
        .and_then(|closed| closed.advice());
    let caveats = match (finding, &requested) {
        // A closed load has no requested process, so few starts are no reason for a caveat.
        (Finding::TooFew, RequestedProcess::Closed { .. }) => Vec::new(),
        (Finding::TooFew, _) => {
            let mut caveats = vec![ArrivalCaveat::TooFew { arrivals: observed.arrivals }];
            caveats.extend(caveats_of_delivery(&basis, context));
            caveats
        }
        _ => caveats_of(&basis, finding, ratio, run_for_s, context),
    };
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
        advice,
        caveats: caveats.into_iter().map(|caveat| ReportedCaveat::from(Caveat::Arrivals(caveat))).collect(),
    }
}

/// All caveats, the most important first.
fn caveats_of(
    basis: &Basis<'_>,
    finding: Finding,
    ratio: Option<f64>,
    run_for_s: Option<f64>,
    context: &ArrivalContext<'_>,
) -> Vec<ArrivalCaveat> {
    let (observed, requested) = (basis.observed, basis.requested);
    let mut caveats = caveats_of_stalls(observed, requested, context);
    caveats.extend(caveats_of_finding(basis, finding, run_for_s, context));
    caveats.extend(caveats_of_stamps(basis));
    if let Some(r_over_r_plus_z) = ratio.filter(|ratio| *ratio > RESPONSE_IN_CYCLE) {
        caveats.push(ArrivalCaveat::ResponseInCycle { r_over_r_plus_z });
    }
    caveats.extend(caveats_of_delivery(basis, context));
    caveats
}

/// The run length in s, at this rate, with which every confidence interval would be half as wide as its band. The width
/// of an interval is proportional to 1/√length. `None` if all intervals are already that narrow: then a measure is at
/// the edge of its band, and a longer run does not help. `None` also if an interval is far wider than that of as many
/// independent gaps: then a few outliers dominate, and a longer run does not average them out.
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

/// Rounds an estimate up, to two significant digits.
fn two_digits(value: f64) -> f64 {
    let unit = 10_f64.powf(value.log10().floor() - 1.0).max(1.0);
    (value / unit).ceil() * unit
}

fn caveats_of_finding(
    basis: &Basis<'_>,
    finding: Finding,
    run_for_s: Option<f64>,
    context: &ArrivalContext<'_>,
) -> Vec<ArrivalCaveat> {
    let Basis { observed, requested, measures, .. } = *basis;
    let cov = observed.cov.map(|cov| cov.value);
    let waited = context.waited.is_some_and(|waited| waited > 0);
    let mut caveats = Vec::new();
    match finding {
        Finding::AsRequested
        | Finding::ExceptStalls
        | Finding::StampsTooCoarse
        | Finding::CountsTooEven
        | Finding::CountsTooUneven
        | Finding::ClosedLoad
        | Finding::TooFew => {}
        Finding::LateClosedLoad => {
            if let Some(late) = context.lateness {
                let (p50_us, p99_us) = (late.p50_ns as f64 / 1e3, late.p99_ns as f64 / 1e3);
                caveats.push(ArrivalCaveat::Late { p50_us, p99_us });
            }
        }
        Finding::AllAtOnce => caveats.push(ArrivalCaveat::AllAtOnce { arrivals: observed.arrivals }),
        Finding::ScheduleMissing => caveats.push(ArrivalCaveat::ScheduleMissing),
        Finding::NeverSteady => caveats.push(ArrivalCaveat::NeverSteady),
        Finding::RateVaries if observed.part == Part::NeverSteady => caveats.push(ArrivalCaveat::NeverSteady),
        Finding::RateVaries => {}
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
        Finding::PeriodicStarts => {
            if let Some(found) = observed.repetition {
                let (period_s, correlation) = (found.period_s, found.correlation);
                caveats.push(ArrivalCaveat::PeriodicStarts { period_s, correlation });
            }
        }
        Finding::OtherRate => {
            if let (Some(requested_per_s), Some(rate_per_s)) =
                (context.requested_per_s, observed.whole_rate_per_s)
            {
                caveats.push(ArrivalCaveat::RateMissed { requested_per_s, rate_per_s, waited });
            }
        }
        Finding::NotAsRequested => caveats.push(ArrivalCaveat::NotAsRequested { cov, waited }),
    }
    // If the process itself differs, the share of short gaps is not a property of the delivery.
    if matches!(finding, Finding::AsRequested | Finding::ExceptStalls | Finding::Undecided) {
        caveats.extend(short_gaps_caveat(measures, observed, *requested == RequestedProcess::Unknown));
    }
    if basis.is_poisson() && !matches!(requested, RequestedProcess::Closed { .. }) {
        for measure in measures {
            let Quantity::Dispersion { scale_s } = measure.quantity else { continue };
            let dispersion = measure.estimate.value;
            if measure.is_low() && finding != Finding::TooEven {
                caveats.push(ArrivalCaveat::CountsTooEven { scale_s, dispersion });
            } else if measure.is_high() {
                caveats.push(ArrivalCaveat::CountsTooUneven { scale_s, dispersion });
            }
        }
    }
    caveats
}

/// The caveat about missing short gaps. For a log, it is unknown whether the delivery caused them.
fn short_gaps_caveat(measures: &[Measure], observed: &Observed, is_log: bool) -> Option<ArrivalCaveat> {
    let short = observed.short_gaps?;
    let measure = measures.iter().find(|measure| matches!(measure.quantity, Quantity::ShortGaps { .. }))?;
    let Measure { estimate, band, .. } = measure;
    let is_short =
        |below_s: f64| observed.rate_per_s.is_some_and(|rate| below_s * rate.value <= MISSING_MEANS);
    let is_blurred = |below_s: f64| observed.clock_bound_s.is_some_and(|bound_s| below_s < bound_s);
    if estimate.high < band.low {
        let below_s = short.missing_below_s.unwrap_or(short.shorter_than_s);
        return (is_short(below_s) && !is_blurred(below_s))
            .then_some(ArrivalCaveat::ShortGapsMissing { below_s, is_log });
    }
    None
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

fn caveats_of_stamps(basis: &Basis<'_>) -> Vec<ArrivalCaveat> {
    let Basis { observed, requested, .. } = *basis;
    let mut caveats = Vec::new();
    let is_closed = matches!(requested, RequestedProcess::Closed { .. });
    if observed.part == Part::Steady && !is_closed {
        let (judged_s, span_s) = (observed.judged_s, observed.span_s);
        caveats.push(ArrivalCaveat::SteadyPartJudged { judged_s, span_s });
    }
    if let Some(rate) = observed.rate_per_s.filter(|_| observed.is_too_coarse()) {
        caveats.push(match observed.clock_bound_s.filter(|_| observed.are_clocks_too_coarse()) {
            Some(bound_s) => ArrivalCaveat::CoarseClocks { bound_s, rate_per_s: rate.value },
            None => ArrivalCaveat::MillisecondStamps { rate_per_s: rate.value },
        });
    }
    if observed.disordered > 0 {
        caveats.push(ArrivalCaveat::Disordered { stamps: observed.disordered });
    }
    // The gaps of processes other than Poisson and renewal processes, and of closed loads, are dependent by design.
    let independent = match requested {
        RequestedProcess::Unknown
        | RequestedProcess::Poisson
        | RequestedProcess::FixedCount
        | RequestedProcess::Renewal { .. } => true,
        RequestedProcess::Even
        | RequestedProcess::Jittered
        | RequestedProcess::Bursty
        | RequestedProcess::Replay
        | RequestedProcess::Mixed
        | RequestedProcess::Closed { .. } => false,
    };
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

fn caveats_of_delivery(basis: &Basis<'_>, context: &ArrivalContext<'_>) -> Vec<ArrivalCaveat> {
    let Basis { observed, measures, requested, .. } = *basis;
    let mut caveats = Vec::new();
    let waited = context.waited.is_some_and(|waited| waited > 0);
    let is_rate_off = measures
        .iter()
        .any(|measure| measure.quantity == Quantity::Rate && measure.decision == Decision::Outside);
    if let Some(rate_per_s) = observed.whole_rate_per_s
        && basis.has_schedule
        && is_rate_off
        && let Some(requested_per_s) = context.schedule.and_then(|schedule| schedule.whole_rate_per_s)
    {
        caveats.push(ArrivalCaveat::RateMissed { requested_per_s, rate_per_s, waited });
    }
    let is_late = |late: &Lateness| late.p50_ns > LATE_NS.0 || late.p99_ns > LATE_NS.1;
    // If arrivals waited for users much longer than the other arrivals were late, only the waits are reported. Closed loads have
    // their own limit.
    let is_minor = |late: &Lateness| context.waits.is_some_and(|waits| waits.p50_ns > 10 * late.p99_ns);
    let is_closed = matches!(requested, RequestedProcess::Closed { .. });
    if let Some(late) = context.lateness.filter(|late| is_late(late) && !is_minor(late) && !is_closed) {
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
    /// The mark of this verdict, with its text.
    #[must_use]
    pub fn mark(&self) -> ArrivalRating {
        let closed = || match self.requested {
            RequestedProcess::Closed { users: Some(users), .. } if users >= 2.0 => {
                format!("closed load of {} users", format::count(users.round() as u64))
            }
            _ => "closed load".to_owned(),
        };
        let is_requested =
            !matches!(self.requested, RequestedProcess::Unknown | RequestedProcess::Closed { .. });
        match (self.finding, self.decision) {
            (Finding::ClosedLoad, _) => ArrivalRating::Neutral(closed()),
            (Finding::LateClosedLoad, _) => ArrivalRating::Warning("started later than the plan asks"),
            (Finding::TooFew, _) => {
                ArrivalRating::Unknown(format!("no verdict below {ARRIVALS_FOR_VERDICT}"))
            }
            (_, Decision::Inside) if is_requested => ArrivalRating::Good("as requested"),
            (_, Decision::Inside) => ArrivalRating::Good("like independent users"),
            (_, Decision::Outside) if is_requested => ArrivalRating::Warning("not as requested"),
            (Finding::RateVaries, _) => ArrivalRating::Warning("the rate varied"),
            (Finding::ExceptStalls, _) => ArrivalRating::Warning("interrupted"),
            (_, Decision::Outside) => ArrivalRating::Warning("unlike independent users"),
            (_, Decision::Inconclusive) => ArrivalRating::Unknown("inconclusive".to_owned()),
        }
    }

    /// The measures, schedule, tests and lateness, one per line.
    #[must_use]
    pub fn details(&self) -> Vec<String> {
        let has_schedule = self.schedule.is_some();
        let mut lines: Vec<String> =
            self.measures.iter().map(|measure| describe_measure(measure, has_schedule)).collect();
        if let Some(schedule) = &self.schedule {
            let describe = |observed: &Observed| {
                let cov = observed.cov.map(|cov| format!("CoV {:.3}", cov.value));
                let short = observed.short_gaps.map(|short| {
                    let (share, length) =
                        (format::share(short.share.value), format::span(short.shorter_than_s));
                    format!("{share} of the gaps < {length}")
                });
                let counts = observed.dispersion.iter().filter(|row| row.windows >= 30).map(|row| {
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

/// Describes a measure: `CoV of gaps: 1.001 [0.993, 1.009], band 0.950 to 1.050: inside`.
fn describe_measure(measure: &Measure, has_schedule: bool) -> String {
    let Measure { quantity, estimate, band, decision, decides, .. } = measure;
    let name = match quantity {
        Quantity::Cov => "CoV of gaps".to_owned(),
        Quantity::Dispersion { scale_s } => format!("dispersion per {}", format::span(*scale_s)),
        Quantity::ShortGaps { shorter_than_s } => {
            format!("share of gaps < {}", format::span(*shorter_than_s))
        }
        Quantity::Repetition { period_s } => {
            let (period, most) = (format::interval(*period_s), band.high);
            return format!(
                "repetition every {period}: correlation {:.3} of counts, band up to {most:.3}: outside",
                estimate.value
            );
        }
        Quantity::Rate if has_schedule => "rate, relative to the schedule".to_owned(),
        Quantity::Rate => "rate, relative to the requested one".to_owned(),
    };
    let result = match (decision, decides) {
        (Decision::Inside, _) => "inside",
        (Decision::Outside, _) => "outside",
        (Decision::Inconclusive, true) => "undecided",
        (Decision::Inconclusive, false) => match quantity {
            Quantity::ShortGaps { .. } if estimate.value < band.low => "fewer than expected",
            Quantity::ShortGaps { .. } => "within chance",
            Quantity::Cov | Quantity::Dispersion { .. } | Quantity::Repetition { .. } | Quantity::Rate => {
                "too few to decide, but not rejected"
            }
        },
    };
    let interval = if estimate.low < estimate.high {
        format!(" [{:.3}, {:.3}]", estimate.low, estimate.high)
    } else {
        String::new()
    };
    format!("{name}: {:.3}{interval}, band {:.3} to {:.3}: {result}", estimate.value, band.low, band.high)
}
