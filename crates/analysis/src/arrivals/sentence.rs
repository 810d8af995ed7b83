//! The one-line summary of a verdict.

use busyhour_stats::Decision;

use super::closed::ClosedLoad;
use super::finding::{ARRIVALS_FOR_VERDICT, Basis, Finding, GAPS_NARROW};
use super::measures::{Measure, Quantity, against_poisson};
use super::observed::Observed;
use super::phrases;
use super::requested::{ArrivalContext, RequestedProcess};
use super::steady::Part;
use crate::format;

/// The one-line summary.
pub(super) fn line(
    basis: &Basis<'_>,
    finding: Finding,
    context: &ArrivalContext<'_>,
    r_over_r_plus_z: Option<f64>,
    run_for_s: Option<f64>,
) -> String {
    let observed = basis.observed;
    let rate = observed.whole_rate_per_s.or(observed.rate_per_s.map(|rate| rate.value));
    let Some(rate) = rate.filter(|_| finding != Finding::TooFew) else {
        return match observed.arrivals {
            0 => "Arrivals: none".to_owned(),
            n if finding == Finding::AllAtOnce => {
                format!("Arrivals: {}, all at one instant", format::count(n))
            }
            n => format!("Arrivals: {}: no verdict below {ARRIVALS_FOR_VERDICT}", format::count(n)),
        };
    };
    let cov = observed.cov.map_or_else(|| "unavailable".to_owned(), |cov| format::with_interval(&cov));
    if finding == Finding::RateVaries {
        return format!("Arrivals: {}: {}", format::rate(rate), rate_varies(basis)) + &also_stalls(observed);
    }
    let part = match observed.part {
        Part::Steady => format!(" in {}", phrases::judged_part(observed)),
        _ => String::new(),
    };
    let stalls = if observed.stalls.is_empty() { "" } else { " without stalls" };
    let sentence = match ClosedLoad::of(basis, context, r_over_r_plus_z) {
        Some(closed) => closed.sentence(finding),
        None => sentence(basis, finding, context, run_for_s),
    };
    format!("Arrivals: {}, CoV {cov}{part}{stalls}: {sentence}", format::rate(rate))
}

fn sentence(
    basis: &Basis<'_>,
    finding: Finding,
    context: &ArrivalContext<'_>,
    run_for_s: Option<f64>,
) -> String {
    let (observed, measures, requested) = (basis.observed, basis.measures, basis.requested);
    let sentence = match finding {
        Finding::AsRequested => as_requested(basis, context) + &sample_size_clause(basis),
        Finding::ExceptStalls => {
            // For the other processes, `as_requested` would add "as requested", which is wrong for arrivals with a stall of at
            // least 0.1 s.
            let process = match requested {
                RequestedProcess::Unknown
                | RequestedProcess::Poisson
                | RequestedProcess::FixedCount
                | RequestedProcess::Closed { .. } => as_requested(basis, context),
                other => other.name().to_owned(),
            };
            return process + &sample_size_clause(basis) + &except_stalls(observed);
        }
        Finding::Bunched => {
            let repeated =
                phrases::pattern(observed).map_or_else(String::new, |repeated| format!(", {repeated}"));
            phrases::bunched(observed, measures, "burstier than independent users") + &repeated
        }
        Finding::TooEven => "more even than independent users".to_owned(),
        Finding::CountsTooEven => {
            let (scale_s, index) = phrases::dispersion(measures, Measure::is_low).unwrap_or_default();
            let scale = format::span(scale_s);
            format!("{}, more even over {scale} (dispersion {index:.2})", phrases::up_to(observed, measures))
        }
        Finding::CountsTooUneven => {
            let (scale_s, index) = phrases::dispersion(measures, Measure::is_high).unwrap_or_default();
            format!(
                "{}, but counts per {} vary more (dispersion {index:.2})",
                phrases::up_to(observed, measures),
                format::span(scale_s)
            )
        }
        Finding::PeriodicStarts => phrases::pattern(observed).unwrap_or_default(),
        Finding::RateVaries => rate_varies(basis),
        Finding::OtherRate => {
            let ratio = measures.iter().find(|measure| measure.quantity == Quantity::Rate);
            let off = ratio.map_or(0.0, |ratio| ratio.estimate.value - 1.0);
            format!("Poisson, with a rate {}", off_by(off, "requested"))
        }
        Finding::NotAsRequested => not_delivered(basis, context),
        Finding::Undecided => match run_for_s {
            Some(run_for_s) => format!("inconclusive: run for about {}", format::span(run_for_s)),
            None => "inconclusive: a longer run alone is unlikely to settle the question".to_owned(),
        },
        Finding::NeverSteady => "inconclusive: the rate was never steady".to_owned(),
        Finding::StampsTooCoarse if basis.observed.are_clocks_too_coarse() => {
            let bound = format::span(basis.observed.clock_bound_s.unwrap_or_default());
            format!(
                "inconclusive: the clocks of the agents agree within {bound}, which is too coarse for this rate"
            )
        }
        Finding::StampsTooCoarse => {
            "inconclusive: start times in milliseconds are too coarse for this rate".to_owned()
        }
        // Closed loads have their own sentences.
        Finding::ClosedLoad | Finding::LateClosedLoad => "closed load".to_owned(),
        Finding::ScheduleMissing | Finding::TooFew | Finding::AllAtOnce => {
            format!(
                "inconclusive: {} was requested, but there is no schedule to compare with",
                requested.name()
            )
        }
    };
    let varied = match observed.part {
        Part::Steady if basis.is_poisson() => format!("; {}", phrases::rates(observed)),
        _ => String::new(),
    };
    match finding {
        Finding::AsRequested => sentence + &varied + &except_stalls(observed),
        _ => sentence + &varied + &also_stalls(observed),
    }
}

/// A clause for few arrivals: `, judged from only 1,000 arrivals`.
fn sample_size_clause(basis: &Basis<'_>) -> String {
    if basis.is_poisson() && basis.observed.gaps < GAPS_NARROW {
        format!(", judged from only {} arrivals", format::count(basis.observed.gaps + 1))
    } else {
        String::new()
    }
}

/// The sentence for a rate that varied: `Poisson in 7.5 of 19 s (CoV 0.99 ± 0.06, 1,516 arrivals); the rate varied from about
/// 200 to 600/s`.
fn rate_varies(basis: &Basis<'_>) -> String {
    let observed = basis.observed;
    if observed.part == Part::NeverSteady {
        return format!("{} and was never steady, so the gaps are not judged", phrases::rates(observed));
    }
    let is_inside = basis.measures.iter().filter(|measure| measure.decides).all(Measure::is_inside);
    let outcome = if is_inside { "Poisson" } else { "undecided" };
    let cov = observed.cov.map_or_else(String::new, |cov| format!("CoV {}, ", format::with_interval(&cov)));
    let (part, arrivals) = (phrases::judged_part(observed), format::count(observed.gaps + 1));
    format!("{outcome} in {part} ({cov}{arrivals} arrivals); {}", phrases::rates(observed))
}

fn except_stalls(observed: &Observed) -> String {
    phrases::stalls(observed)
        .map_or_else(String::new, |stalls| format!(", except {stalls}{}", phrases::left_out(observed)))
}

fn also_stalls(observed: &Observed) -> String {
    phrases::stalls(observed)
        .map_or_else(String::new, |stalls| format!("; in addition, {stalls}{}", phrases::left_out(observed)))
}

fn as_requested(basis: &Basis<'_>, context: &ArrivalContext<'_>) -> String {
    match (basis.requested, context.schedule) {
        (RequestedProcess::Poisson | RequestedProcess::FixedCount, Some(schedule)) => {
            format!("Poisson{}", unusual_schedule_clause(basis, schedule))
        }
        (
            RequestedProcess::Unknown
            | RequestedProcess::Poisson
            | RequestedProcess::FixedCount
            | RequestedProcess::Closed { .. },
            _,
        ) => "Poisson".to_owned(),
        (requested, _) => format!("{}, as requested", requested.name()),
    }
}

/// A clause for a schedule that is unlike most Poisson schedules by chance: `, as scheduled; this seed's schedule is more even
/// than most over 0.1 s (dispersion 0.69)`. It is empty for all other schedules.
fn unusual_schedule_clause(basis: &Basis<'_>, schedule: &Observed) -> String {
    let measures = against_poisson(schedule, basis.requested);
    let Some(measure) = measures.iter().find(|measure| measure.decision == Decision::Outside) else {
        return String::new();
    };
    let value = measure.estimate.value;
    let how = if measure.is_low() { "more even" } else { "less even" };
    let what = match measure.quantity {
        Quantity::Cov => format!("{how} than most (CoV {value:.2})"),
        Quantity::Dispersion { scale_s } => {
            format!("{how} than most over {} (dispersion {value:.2})", format::span(scale_s))
        }
        Quantity::ShortGaps { .. } | Quantity::Repetition { .. } | Quantity::Rate => "unlike most".to_owned(),
    };
    format!(", as scheduled; this seed's schedule is {what}")
}

/// The sentence for arrivals that were not delivered as requested: `Poisson was requested and scheduled (CoV 0.99), and not
/// delivered: CoV 1.23`.
fn not_delivered(basis: &Basis<'_>, context: &ArrivalContext<'_>) -> String {
    let scheduled = match context.schedule.and_then(|schedule| schedule.cov) {
        Some(cov) => format!(" and scheduled (CoV {:.2})", cov.value),
        None => String::new(),
    };
    let differences = differences(basis, context).join(", ");
    let name = basis.requested.name();
    format!("{name} was requested{scheduled}, and not delivered: {differences}")
}

/// Describes the two most important differences between the delivered arrivals and the process.
fn differences(basis: &Basis<'_>, context: &ArrivalContext<'_>) -> Vec<String> {
    const LISTED: usize = 2;
    let scheduled_short = context.schedule.and_then(|schedule| schedule.short_gaps);
    let describe = |measure: &Measure| {
        let (value, band) = (measure.estimate.value, measure.band);
        match measure.quantity {
            Quantity::Rate => format!("a rate {}", off_by(value - 1.0, "scheduled")),
            Quantity::Cov => format!("CoV {value:.2}"),
            Quantity::Dispersion { scale_s } => {
                let (low, high) = (band.low.max(0.0), band.high);
                format!(
                    "dispersion {value:.2} over {}, expected {low:.2} to {high:.2}",
                    format::span(scale_s)
                )
            }
            Quantity::ShortGaps { shorter_than_s } => {
                let length = format::span(shorter_than_s);
                let expected = scheduled_short.map_or(0.0, |short| short.share.value);
                format!(
                    "{} of the gaps below {length}, {} scheduled",
                    format::share(value),
                    format::share(expected)
                )
            }
            Quantity::Repetition { .. } => phrases::repetition(basis.observed).unwrap_or_default(),
        }
    };
    let outside = |measure: &&Measure| measure.decision == Decision::Outside;
    let is_rate = |measure: &&Measure| measure.quantity == Quantity::Rate;
    let first = basis.measures.iter().filter(outside).filter(is_rate);
    let others = basis.measures.iter().filter(outside).filter(|measure| !is_rate(measure));
    first.chain(others).take(LISTED).map(describe).collect()
}

/// Describes a relative difference: `2 % below the scheduled one`.
fn off_by(relative: f64, what: &str) -> String {
    let side = if relative < 0.0 { "below" } else { "above" };
    format!("{} {side} the {what} one", format::share(relative.abs()))
}
