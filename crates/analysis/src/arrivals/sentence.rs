//! The one-line summary of a verdict.

use busyhour_stats::Decision;

use super::closed::ClosedLoad;
use super::finding::{ARRIVALS_FOR_VERDICT, Basis, Finding, GAPS_NARROW};
use super::format;
use super::measures::{Measure, Quantity, against_poisson};
use super::observed::Observed;
use super::requested::{ArrivalContext, RequestedProcess};
use super::steady::Part;

/// Significance level at which the gaps are not called those of a Poisson process.
const LILLIEFORS_REJECTS: f64 = 0.01;

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
        Part::Steady => format!(" in {}", judged_part(observed)),
        _ => String::new(),
    };
    let stalls = if observed.stalls.is_empty() { "" } else { " without stalls" };
    let sentence = match ClosedLoad::of(basis, context, r_over_r_plus_z) {
        Some(closed) => closed.sentence(finding),
        None => sentence(basis, finding, context, run_for_s),
    };
    format!("Arrivals: {}, CoV {cov}{part}{stalls}: {sentence}", format::rate(rate))
}

/// `7.5 of 19 s`
pub(super) fn judged_part(observed: &Observed) -> String {
    let (judged, whole) = (format::span(observed.judged_s), format::span(observed.span_s));
    match judged.strip_suffix(" s") {
        Some(number) if whole.ends_with(" s") => format!("{number} of {whole}"),
        _ => format!("{judged} of {whole}"),
    }
}

fn sentence(
    basis: &Basis<'_>,
    finding: Finding,
    context: &ArrivalContext<'_>,
    run_for_s: Option<f64>,
) -> String {
    let (observed, measures, requested) = (basis.observed, basis.measures, basis.requested);
    let sentence = match finding {
        Finding::AsRequested => as_requested(basis, context) + &how_far(basis),
        Finding::ExceptStalls => {
            // A stall of at least 0.1 s.
            return as_requested(basis, context) + &how_far(basis) + &except(observed);
        }
        Finding::Bunched => {
            let repeated = pattern(observed).map_or_else(String::new, |repeated| format!(", {repeated}"));
            bunched(observed, measures, "burstier than independent users") + &repeated
        }
        Finding::TooEven => "more even than independent users".to_owned(),
        Finding::CountsTooEven => {
            let (scale_s, index) = dispersion(measures, Measure::is_low).unwrap_or_default();
            let scale = format::span(scale_s);
            format!("{}, more even over {scale} (dispersion {index:.2})", up_to(observed, measures))
        }
        Finding::CountsTooUneven => {
            let (scale_s, index) = dispersion(measures, Measure::is_high).unwrap_or_default();
            format!(
                "{}, but counts per {} vary more (dispersion {index:.2})",
                up_to(observed, measures),
                format::span(scale_s)
            )
        }
        Finding::Repeats => pattern(observed).unwrap_or_default(),
        Finding::RateVaries => rate_varies(basis),
        Finding::OtherRate => {
            let ratio = measures.iter().find(|measure| measure.quantity == Quantity::Rate);
            let off = ratio.map_or(0.0, |ratio| ratio.estimate.value - 1.0);
            format!("Poisson, with a rate {}", off_by(off, "requested"))
        }
        Finding::NotAsRequested => not_delivered(basis, context),
        Finding::Undecided => match run_for_s {
            Some(run_for_s) => format!("inconclusive: run for about {}", format::span(run_for_s)),
            None => "inconclusive: a longer run alone is unlikely to decide".to_owned(),
        },
        Finding::NeverSteady => "inconclusive: the rate was never steady".to_owned(),
        Finding::Coarse => {
            "inconclusive: start times in milliseconds are too coarse for this rate".to_owned()
        }
        // Closed loads have their own sentences.
        Finding::ClosedLoad | Finding::LateClosedLoad => "closed load".to_owned(),
        Finding::NothingToCompare | Finding::TooFew | Finding::AllAtOnce => {
            format!("inconclusive: {} without its schedule to compare with", requested.name())
        }
    };
    let varied = match observed.part {
        Part::Steady if basis.is_poisson() => format!("; {}", rates(observed)),
        _ => String::new(),
    };
    match finding {
        Finding::AsRequested => sentence + &varied + &except(observed),
        _ => sentence + &varied + &also_stalls(observed),
    }
}

/// `, as far as 1,000 arrivals can tell`
fn how_far(basis: &Basis<'_>) -> String {
    if basis.is_poisson() && basis.observed.gaps < GAPS_NARROW {
        format!(", as far as {} arrivals can tell", format::count(basis.observed.gaps + 1))
    } else {
        String::new()
    }
}

/// The dispersion of the first selected scale.
pub(super) fn dispersion(measures: &[Measure], is_selected: impl Fn(&Measure) -> bool) -> Option<(f64, f64)> {
    measures.iter().find_map(|measure| match measure.quantity {
        Quantity::Dispersion { scale_s } if is_selected(measure) => Some((scale_s, measure.estimate.value)),
        _ => None,
    })
}

/// Describes gaps that vary too much or are too often short.
pub(super) fn bunched(observed: &Observed, measures: &[Measure], if_cov_is_high: &str) -> String {
    let short = observed.short_gaps.filter(|short| short.share.value > 1.5 * short.share_poisson);
    let shares = short.map(|short| {
        let (length, share) = (format::span(short.shorter_than_s), format::share(short.share.value));
        format!("{share} of the gaps are below {length}, {} expected", format::share(short.share_poisson))
    });
    let even = dispersion(measures, Measure::is_low);
    let cov_is_high = measures.iter().any(|measure| measure.quantity == Quantity::Cov && measure.is_high());
    match (cov_is_high, shares) {
        (true, shares) => {
            let mut sentence = if_cov_is_high.to_owned();
            if let Some(shares) = shares {
                sentence += &format!(" ({shares})");
            }
            if let Some((scale_s, index)) = even {
                sentence += &format!(
                    ", but counts per {} are too even (dispersion {index:.2})",
                    format::span(scale_s)
                );
            }
            sentence
        }
        (false, shares) => {
            let shares = shares.map_or_else(String::new, |shares| format!(" ({shares})"));
            let mut sentence = format!("in small groups{shares}");
            if let Some((scale_s, index)) = even {
                let scale = format::span(scale_s);
                sentence += &format!(
                    ", otherwise more even than independent users (dispersion {index:.2} per {scale})"
                );
            }
            sentence
        }
    }
}

/// `the same starts every 250 ms, about 20 together`
pub(super) fn repetition(observed: &Observed) -> Option<String> {
    let found = observed.repetition?;
    let period = format::interval(found.period_s);
    Some(match found.together {
        Some(together) => format!("the same starts every {period}, about {together:.0} together"),
        None => format!("the same starts every {period}"),
    })
}

/// Periods up to this length, in s, are those of a clock or timer.
const CLOCK_S: f64 = 0.02;

/// `in a pattern that repeats every 250 ms`, of arrivals whose users are unknown.
fn pattern(observed: &Observed) -> Option<String> {
    let found = observed.repetition?;
    let period = format::interval(found.period_s);
    Some(match found.together {
        _ if found.period_s <= CLOCK_S => format!("in steps of {period}, as with a timer of this resolution"),
        Some(together) => format!("in a pattern that repeats every {period}, about {together:.0} together"),
        None => format!("in a pattern that repeats every {period}, unlike independent users"),
    })
}

/// `Poisson in 7.5 of 19 s (CoV 0.99 ± 0.06, 1,516 arrivals); the rate varied from about 200 to 600/s`
fn rate_varies(basis: &Basis<'_>) -> String {
    let observed = basis.observed;
    if observed.part == Part::NeverSteady {
        return format!("{} and was never steady, so the gaps are not judged", rates(observed));
    }
    let is_inside = basis.measures.iter().filter(|measure| measure.decides).all(Measure::is_inside);
    let outcome = if is_inside { "Poisson" } else { "undecided" };
    let cov = observed.cov.map_or_else(String::new, |cov| format!("CoV {}, ", format::with_interval(&cov)));
    let (part, arrivals) = (judged_part(observed), format::count(observed.gaps + 1));
    format!("{outcome} in {part} ({cov}{arrivals} arrivals); {}", rates(observed))
}

/// `the rate varied from about 200 to 600/s`
pub(super) fn rates(observed: &Observed) -> String {
    match observed.rates {
        Some(rates) => {
            let [low, high] = [rates.low_per_s, rates.high_per_s].map(format::rough);
            if low == high {
                format!("the rate varied around {low}/s")
            } else {
                format!("the rate varied from about {low} to {high}/s")
            }
        }
        None => "the rate varied".to_owned(),
    }
}

/// Describes the stalls: `a stall of 2.0 s at 00:42`.
pub(super) fn stalls(observed: &Observed) -> Option<String> {
    let longest = observed.stalls.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s))?;
    let (length, at) = (format::span(longest.length_s), format::clock(longest.at_s));
    Some(match observed.stalls.len() {
        1 => format!("a stall of {length} at {at}"),
        n => {
            let in_all: f64 = observed.stalls.iter().map(|stall| stall.length_s).sum();
            format!("{n} stalls of {} in total, the longest of {length} at {at}", format::span(in_all))
        }
    })
}

/// `(2.1 s and 199 arrivals left out)`
fn left_out(observed: &Observed) -> String {
    let (seconds, arrivals) = observed.left_out;
    match arrivals {
        0 => format!(" ({} left out)", format::span(seconds)),
        1 => format!(" ({} and 1 arrival left out)", format::span(seconds)),
        n => format!(" ({} and {} arrivals left out)", format::span(seconds), format::count(n)),
    }
}

fn except(observed: &Observed) -> String {
    stalls(observed).map_or_else(String::new, |stalls| format!(", except {stalls}{}", left_out(observed)))
}

fn also_stalls(observed: &Observed) -> String {
    stalls(observed)
        .map_or_else(String::new, |stalls| format!("; in addition, {stalls}{}", left_out(observed)))
}

fn as_requested(basis: &Basis<'_>, context: &ArrivalContext<'_>) -> String {
    match (basis.requested, context.schedule) {
        (RequestedProcess::Poisson | RequestedProcess::FixedCount, Some(schedule)) => {
            format!("Poisson{}", by_chance(basis, schedule))
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

/// A schedule that chance made unlike most Poisson schedules: `, as scheduled: this seed's schedule is more even than most over 0.1 s
/// (dispersion 0.69)`.
fn by_chance(basis: &Basis<'_>, schedule: &Observed) -> String {
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

/// How far the arrivals are Poisson: `Poisson up to 10 ms`, or what else was not rejected.
pub(super) fn up_to(observed: &Observed, measures: &[Measure]) -> String {
    if let Some(up_to_s) = poisson_up_to(measures) {
        return format!("Poisson up to {}", format::span(up_to_s));
    }
    let is_rejected = observed.tests.lilliefors.is_some_and(|test| test.p_value < LILLIEFORS_REJECTS);
    match is_rejected {
        true => "CoV as in a Poisson process".to_owned(),
        false => "gaps as in a Poisson process".to_owned(),
    }
}

/// The widest window up to which all dispersions are inside their bands.
pub(super) fn poisson_up_to(measures: &[Measure]) -> Option<f64> {
    measures
        .iter()
        .filter_map(|measure| match measure.quantity {
            Quantity::Dispersion { scale_s } => Some((scale_s, measure.decision)),
            _ => None,
        })
        .take_while(|(_, decision)| *decision == Decision::Inside)
        .map(|(scale_s, _)| scale_s)
        .last()
}

/// `Poisson was requested and scheduled (CoV 0.99), and not delivered: CoV 1.23`
fn not_delivered(basis: &Basis<'_>, context: &ArrivalContext<'_>) -> String {
    let scheduled = match context.schedule.and_then(|schedule| schedule.cov) {
        Some(cov) => format!(" and scheduled (CoV {:.2})", cov.value),
        None => String::new(),
    };
    let differences = differences(basis, context).join(", ");
    let name = basis.requested.name();
    format!("{name} was requested{scheduled}, and not delivered: {differences}")
}

/// The most important differences between the delivered arrivals and the process.
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
            Quantity::Repetition { .. } => repetition(basis.observed).unwrap_or_default(),
        }
    };
    let outside = |measure: &&Measure| measure.decision == Decision::Outside;
    let is_rate = |measure: &&Measure| measure.quantity == Quantity::Rate;
    let first = basis.measures.iter().filter(outside).filter(is_rate);
    let others = basis.measures.iter().filter(outside).filter(|measure| !is_rate(measure));
    first.chain(others).take(LISTED).map(describe).collect()
}

/// `2 % below the scheduled one`
fn off_by(relative: f64, what: &str) -> String {
    let side = if relative < 0.0 { "below" } else { "above" };
    format!("{} {side} the {what} one", format::share(relative.abs()))
}
