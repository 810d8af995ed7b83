//! What the measures come to, in a word and in a line.

use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use super::asked::Asked;
use super::measures::{Measure, Quantity};
use super::observed::Observed;
use super::steady::Part;
use super::words;

/// With fewer gaps there is no measure worth a sentence.
const GAPS_MIN: u64 = 30;

/// Fewer gaps than this resolve a CoV no better than ± 0.16: they are never taken for a Poisson process.
pub(super) const GAPS_ACCEPT_MIN: u64 = 500;

/// From so many gaps on the narrow bands hold.
const GAPS_NARROW: u64 = 5_200;

/// A part of the cycle spent in responses from which on a closed workload follows the system under test.
pub(super) const RESPONSE_IN_CYCLE: f64 = 0.05;

/// In which way arrivals are, or are not, what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Every measure that decides is inside its band.
    AsAsked,
    /// The same apart from stalls, at least one of which is no trifle.
    ExceptStalls,
    /// Too uneven gaps, or too many short ones.
    Bunched,
    /// Too even gaps.
    TooEven,
    /// Gaps as asked, but counts in windows vary too little.
    CountsTooEven,
    /// Gaps as asked, but counts in windows vary too much.
    CountsTooUneven,
    /// Not the process asked for, where that is not a Poisson process.
    NotAsAsked,
    /// An interval holds an edge of its band.
    Undecided,
    /// Hardly any arrivals.
    TooFew,
    /// All stamps are equal.
    AllAtOnce,
    /// No part with a steady rate.
    NeverSteady,
    /// Stamps too coarse for the rate.
    Coarse,
    /// No law and no schedule to compare with.
    NothingToCompare,
}

pub(super) fn is_compared_with_poisson(asked: &Asked) -> bool {
    matches!(asked, Asked::Unknown | Asked::Poisson | Asked::FixedCount | Asked::Closed { .. })
}

impl Finding {
    pub(super) fn new(
        observed: &Observed,
        asked: &Asked,
        measures: &[Measure],
        decision: Decision,
        agrees: bool,
    ) -> Finding {
        match decision {
            Decision::Inside => Finding::AsAsked,
            Decision::Outside if agrees => Finding::ExceptStalls,
            Decision::Outside if is_compared_with_poisson(asked) => Finding::against_poisson(measures),
            Decision::Outside => Finding::NotAsAsked,
            Decision::Inconclusive if observed.gaps >= GAPS_MIN && observed.span_s == 0.0 => {
                Finding::AllAtOnce
            }
            Decision::Inconclusive if observed.gaps < GAPS_MIN || observed.rate_per_s.is_none() => {
                Finding::TooFew
            }
            Decision::Inconclusive if observed.part == Part::NeverSteady => Finding::NeverSteady,
            Decision::Inconclusive if measures.is_empty() => Finding::NothingToCompare,
            Decision::Inconclusive if observed.is_too_coarse() => Finding::Coarse,
            Decision::Inconclusive => Finding::Undecided,
        }
    }

    fn against_poisson(measures: &[Measure]) -> Finding {
        let of_counts = |measure: &&Measure| matches!(measure.quantity, Quantity::Dispersion { .. });
        let (counts, gaps): (Vec<&Measure>, Vec<&Measure>) = measures.iter().partition(of_counts);
        if gaps.iter().any(|measure| measure.is_high()) {
            Finding::Bunched
        } else if gaps.iter().any(|measure| measure.is_low()) {
            Finding::TooEven
        } else if counts.iter().any(|measure| measure.is_high()) {
            Finding::CountsTooUneven
        } else {
            Finding::CountsTooEven
        }
    }
}

/// The plain line.
pub(super) fn line(
    observed: &Observed,
    asked: &Asked,
    measures: &[Measure],
    finding: Finding,
    r_over_r_plus_z: Option<f64>,
    run_for_s: Option<f64>,
) -> String {
    let Some(rate) = observed.rate_per_s.filter(|_| finding != Finding::TooFew) else {
        return match observed.arrivals {
            0 => "Arrivals: none".to_owned(),
            n if finding == Finding::AllAtOnce => {
                format!("Arrivals: {}, all at one instant", words::count(n))
            }
            n => format!("Arrivals: {}: too few to judge", words::count(n)),
        };
    };
    let cov = observed.cov.map_or_else(|| "unavailable".to_owned(), |cov| words::with_interval(&cov));
    let said = sentence(observed, asked, measures, finding, r_over_r_plus_z, run_for_s);
    let stalls = match finding {
        Finding::AsAsked | Finding::ExceptStalls => String::new(),
        _ => stalls(observed).map_or_else(String::new, |stalls| format!("; besides, {stalls}")),
    };
    format!("Arrivals: {}, CoV {cov}: {said}{stalls}", words::rate(rate.value))
}

fn sentence(
    observed: &Observed,
    asked: &Asked,
    measures: &[Measure],
    finding: Finding,
    r_over_r_plus_z: Option<f64>,
    run_for_s: Option<f64>,
) -> String {
    let dispersion = |wanted: fn(&Measure) -> bool| {
        measures.iter().find_map(|measure| match measure.quantity {
            Quantity::Dispersion { scale_s } if wanted(measure) => Some((scale_s, measure.estimate.value)),
            _ => None,
        })
    };
    let closed = matches!(asked, Asked::Closed { .. } | Asked::Unknown);
    let follows = r_over_r_plus_z.filter(|ratio| *ratio > RESPONSE_IN_CYCLE);
    let thicken = follows.map(|ratio| format!("; R/(R+Z) {ratio:.2}: a slower server would lower this load"));
    // Too regular users are too few; what bunches them, if not the responses, is the generator.
    let more_users =
        if closed { ": use more users with longer think times".to_owned() } else { String::new() };
    let more_users = thicken.clone().unwrap_or(more_users);
    let thicken = thicken.unwrap_or_default();
    match finding {
        Finding::AsAsked | Finding::ExceptStalls => {
            let how_far = if is_compared_with_poisson(asked) && observed.gaps < GAPS_NARROW {
                format!(", as far as {} arrivals can tell", words::count(observed.gaps + 1))
            } else {
                String::new()
            };
            as_asked(measures, asked) + &how_far + &except(observed) + &thicken
        }
        Finding::Bunched => {
            let mut said = "burstier than independent users".to_owned();
            if let Some(short) =
                observed.short_gaps.filter(|short| short.share.value > 1.5 * short.share_poisson)
            {
                let (length, share) = (words::span(short.shorter_than_s), words::share(short.share.value));
                let poisson = words::share(short.share_poisson);
                said += &format!(" ({share} of the gaps are below {length}, {poisson} expected)");
            }
            if let Some((scale_s, index)) = dispersion(Measure::is_low) {
                let scale = words::span(scale_s);
                said += &format!(", but counts per {scale} are too even (dispersion {index:.2})");
            }
            said + &thicken
        }
        Finding::TooEven => format!("more even than independent users{more_users}"),
        Finding::CountsTooEven => {
            let (scale_s, index) = dispersion(Measure::is_low).unwrap_or_default();
            let up_to = poisson_up_to(measures).map_or_else(
                || "gaps like Poisson's".to_owned(),
                |up_to| format!("Poisson up to {}", words::span(up_to)),
            );
            format!("{up_to}, more even over {} (dispersion {index:.2}){more_users}", words::span(scale_s))
        }
        Finding::CountsTooUneven => {
            let (scale_s, index) = dispersion(Measure::is_high).unwrap_or_default();
            format!("the rate varies: counts per {} have dispersion {index:.2}", words::span(scale_s))
        }
        Finding::NotAsAsked => {
            format!("{} was requested, and not delivered{}", asked.name(), first_outside(measures))
        }
        Finding::Undecided => match run_for_s {
            Some(run_for_s) => format!("inconclusive: run for about {}", words::span(run_for_s)),
            None => "inconclusive: a longer run alone is unlikely to decide".to_owned(),
        },
        Finding::NeverSteady => "inconclusive: the rate was never steady".to_owned(),
        Finding::Coarse => "inconclusive: stamps in milliseconds are too coarse for this rate".to_owned(),
        Finding::NothingToCompare | Finding::TooFew | Finding::AllAtOnce => {
            format!("inconclusive: {} without its schedule to compare with", asked.name())
        }
    }
}

/// What the stalls were, in a few words: `a stall of 2.0 s at 00:42`.
pub(super) fn stalls(observed: &Observed) -> Option<String> {
    let longest = observed.stalls.iter().max_by(|a, b| a.length_s.total_cmp(&b.length_s))?;
    let (length, at) = (words::span(longest.length_s), words::clock(longest.at_s));
    Some(match observed.stalls.len() {
        1 => format!("a stall of {length} at {at}"),
        n => {
            let in_all: f64 = observed.stalls.iter().map(|stall| stall.length_s).sum();
            format!("{n} stalls of {} in all, the longest of {length} at {at}", words::span(in_all))
        }
    })
}

fn except(observed: &Observed) -> String {
    stalls(observed).map_or_else(String::new, |stalls| format!(", except {stalls}"))
}

fn as_asked(measures: &[Measure], asked: &Asked) -> String {
    match asked {
        Asked::Closed { .. } => match poisson_up_to(measures) {
            Some(up_to_s) => format!("Poisson up to {}", words::span(up_to_s)),
            None => "Poisson".to_owned(),
        },
        Asked::Unknown | Asked::Poisson | Asked::FixedCount => "Poisson".to_owned(),
        _ => format!("{}, as requested", asked.name()),
    }
}

/// The widest window inside its band below the first one that is not.
fn poisson_up_to(measures: &[Measure]) -> Option<f64> {
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

fn first_outside(measures: &[Measure]) -> String {
    let Some(measure) = measures.iter().find(|measure| measure.decision == Decision::Outside) else {
        return String::new();
    };
    let value = measure.estimate.value;
    match measure.quantity {
        Quantity::Cov => {
            format!(" (CoV {value:.2}, expected {:.2} to {:.2})", measure.band.low, measure.band.high)
        }
        Quantity::Dispersion { scale_s } => {
            let (low, high) = (measure.band.low.max(0.0), measure.band.high);
            format!(" (dispersion {value:.2} over {}, expected {low:.2} to {high:.2})", words::span(scale_s))
        }
        Quantity::ShortGaps { shorter_than_s } => {
            let most = words::share(measure.band.high);
            format!(
                " ({} of the gaps below {}, expected at most {most})",
                words::share(value),
                words::span(shorter_than_s)
            )
        }
    }
}
