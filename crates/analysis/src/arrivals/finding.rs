//! The result of judging arrivals: a category and a one-line summary.

use busyhour_stats::Decision;
use serde::{Deserialize, Serialize};

use super::format;
use super::measures::{Measure, Quantity};
use super::observed::Observed;
use super::requested::RequestedProcess;
use super::steady::Part;

/// Minimum number of gaps for any statement.
const GAPS_MIN: u64 = 30;

/// Minimum number of gaps for accepting a Poisson process: fewer gaps resolve the CoV no better than ± 0.16.
pub(super) const GAPS_ACCEPT_MIN: u64 = 500;

/// Number of gaps from which the narrow bands apply.
const GAPS_NARROW: u64 = 5_200;

/// Share of the cycle spent waiting for responses above which a closed load depends noticeably on the system under test.
pub(super) const RESPONSE_IN_CYCLE: f64 = 0.05;

/// The result of comparing arrivals with the requested process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// All deciding measures are inside their bands.
    #[serde(rename = "as_asked")]
    AsRequested,
    /// All deciding measures are inside their bands, but there was a stall of at least 0.1 s.
    ExceptStalls,
    /// Gaps vary too much, or too many are short.
    Bunched,
    /// Gaps vary too little.
    TooEven,
    /// Gaps follow the process, but counts in windows vary too little.
    CountsTooEven,
    /// Gaps follow the process, but counts in windows vary too much.
    CountsTooUneven,
    /// The arrivals differ from a requested process other than Poisson.
    #[serde(rename = "not_as_asked")]
    NotAsRequested,
    /// A confidence interval contains an edge of its band.
    Undecided,
    /// There are too few arrivals.
    TooFew,
    /// All start times are equal.
    AllAtOnce,
    /// There is no part with a steady rate.
    NeverSteady,
    /// The resolution of the start times is too coarse for the rate.
    Coarse,
    /// The process requires a schedule for comparison, and there is none.
    NothingToCompare,
}

pub(super) fn is_compared_with_poisson(requested: &RequestedProcess) -> bool {
    matches!(
        requested,
        RequestedProcess::Unknown
            | RequestedProcess::Poisson
            | RequestedProcess::FixedCount
            | RequestedProcess::Closed { .. }
    )
}

impl Finding {
    pub(super) fn new(
        observed: &Observed,
        requested: &RequestedProcess,
        measures: &[Measure],
        decision: Decision,
        agrees: bool,
    ) -> Finding {
        match decision {
            Decision::Inside => Finding::AsRequested,
            Decision::Outside if agrees => Finding::ExceptStalls,
            Decision::Outside if is_compared_with_poisson(requested) => Finding::against_poisson(measures),
            Decision::Outside => Finding::NotAsRequested,
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

/// The one-line summary.
pub(super) fn line(
    observed: &Observed,
    requested: &RequestedProcess,
    measures: &[Measure],
    finding: Finding,
    r_over_r_plus_z: Option<f64>,
    run_for_s: Option<f64>,
) -> String {
    let Some(rate) = observed.rate_per_s.filter(|_| finding != Finding::TooFew) else {
        return match observed.arrivals {
            0 => "Arrivals: none".to_owned(),
            n if finding == Finding::AllAtOnce => {
                format!("Arrivals: {}, all at one instant", format::count(n))
            }
            n => format!("Arrivals: {}: too few to judge", format::count(n)),
        };
    };
    let cov = observed.cov.map_or_else(|| "unavailable".to_owned(), |cov| format::with_interval(&cov));
    let sentence = sentence(observed, requested, measures, finding, r_over_r_plus_z, run_for_s);
    let stalls = match finding {
        Finding::AsRequested | Finding::ExceptStalls => String::new(),
        _ => stalls(observed).map_or_else(String::new, |stalls| format!("; in addition, {stalls}")),
    };
    format!("Arrivals: {}, CoV {cov}: {sentence}{stalls}", format::rate(rate.value))
}

fn sentence(
    observed: &Observed,
    requested: &RequestedProcess,
    measures: &[Measure],
    finding: Finding,
    r_over_r_plus_z: Option<f64>,
    run_for_s: Option<f64>,
) -> String {
    let dispersion = |is_selected: fn(&Measure) -> bool| {
        measures.iter().find_map(|measure| match measure.quantity {
            Quantity::Dispersion { scale_s } if is_selected(measure) => {
                Some((scale_s, measure.estimate.value))
            }
            _ => None,
        })
    };
    let closed = matches!(requested, RequestedProcess::Closed { .. } | RequestedProcess::Unknown);
    let ratio = r_over_r_plus_z.filter(|ratio| *ratio > RESPONSE_IN_CYCLE);
    let dependence =
        ratio.map(|ratio| format!("; R/(R+Z) {ratio:.2}: a slower server would lower this load"));
    // More users make arrivals less regular. They do not help against bursts, which responses or the generator cause.
    let more_users =
        if closed { ": use more users with longer think times".to_owned() } else { String::new() };
    let more_users = dependence.clone().unwrap_or(more_users);
    let dependence = dependence.unwrap_or_default();
    match finding {
        Finding::AsRequested | Finding::ExceptStalls => {
            let how_far = if is_compared_with_poisson(requested) && observed.gaps < GAPS_NARROW {
                format!(", as far as {} arrivals can tell", format::count(observed.gaps + 1))
            } else {
                String::new()
            };
            as_requested(measures, requested) + &how_far + &except(observed) + &dependence
        }
        Finding::Bunched => {
            let mut sentence = "burstier than independent users".to_owned();
            if let Some(short) =
                observed.short_gaps.filter(|short| short.share.value > 1.5 * short.share_poisson)
            {
                let (length, share) = (format::span(short.shorter_than_s), format::share(short.share.value));
                let poisson = format::share(short.share_poisson);
                sentence += &format!(" ({share} of the gaps are below {length}, {poisson} expected)");
            }
            if let Some((scale_s, index)) = dispersion(Measure::is_low) {
                let scale = format::span(scale_s);
                sentence += &format!(", but counts per {scale} are too even (dispersion {index:.2})");
            }
            sentence + &dependence
        }
        Finding::TooEven => format!("more even than independent users{more_users}"),
        Finding::CountsTooEven => {
            let (scale_s, index) = dispersion(Measure::is_low).unwrap_or_default();
            let up_to = poisson_up_to(measures).map_or_else(
                || "gaps as in a Poisson process".to_owned(),
                |up_to| format!("Poisson up to {}", format::span(up_to)),
            );
            format!("{up_to}, more even over {} (dispersion {index:.2}){more_users}", format::span(scale_s))
        }
        Finding::CountsTooUneven => {
            let (scale_s, index) = dispersion(Measure::is_high).unwrap_or_default();
            format!("the rate varies: counts per {} have dispersion {index:.2}", format::span(scale_s))
        }
        Finding::NotAsRequested => {
            format!("{} was requested, and not delivered{}", requested.name(), first_outside(measures))
        }
        Finding::Undecided => match run_for_s {
            Some(run_for_s) => format!("inconclusive: run for about {}", format::span(run_for_s)),
            None => "inconclusive: a longer run alone is unlikely to decide".to_owned(),
        },
        Finding::NeverSteady => "inconclusive: the rate was never steady".to_owned(),
        Finding::Coarse => {
            "inconclusive: start times in milliseconds are too coarse for this rate".to_owned()
        }
        Finding::NothingToCompare | Finding::TooFew | Finding::AllAtOnce => {
            format!("inconclusive: {} without its schedule to compare with", requested.name())
        }
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

fn except(observed: &Observed) -> String {
    stalls(observed).map_or_else(String::new, |stalls| format!(", except {stalls}"))
}

fn as_requested(measures: &[Measure], requested: &RequestedProcess) -> String {
    match requested {
        RequestedProcess::Closed { .. } => match poisson_up_to(measures) {
            Some(up_to_s) => format!("Poisson up to {}", format::span(up_to_s)),
            None => "Poisson".to_owned(),
        },
        RequestedProcess::Unknown | RequestedProcess::Poisson | RequestedProcess::FixedCount => {
            "Poisson".to_owned()
        }
        _ => format!("{}, as requested", requested.name()),
    }
}

/// The widest window up to which all dispersions are inside their bands.
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
            format!(" (dispersion {value:.2} over {}, expected {low:.2} to {high:.2})", format::span(scale_s))
        }
        Quantity::ShortGaps { shorter_than_s } => {
            let most = format::share(measure.band.high);
            format!(
                " ({} of the gaps below {}, expected at most {most})",
                format::share(value),
                format::span(shorter_than_s)
            )
        }
    }
}
