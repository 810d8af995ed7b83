//! Parts of sentences on arrivals, for open and closed loads.

use busyhour_stats::Decision;

use super::measures::{Measure, Quantity};
use super::observed::Observed;
use crate::format;

/// Gaps are described as those of a Poisson process only if the p-value of Lilliefors' test is at least this.
const LILLIEFORS_REJECTS: f64 = 0.01;

/// A period of up to this length, in s, is attributed to a clock or timer.
const CLOCK_S: f64 = 0.02;

/// The judged part, such as `7.5 of 19 s`.
pub(super) fn judged_part(observed: &Observed) -> String {
    let (judged, whole) = (format::span(observed.judged_s), format::span(observed.span_s));
    match judged.strip_suffix(" s") {
        Some(number) if whole.ends_with(" s") => format!("{number} of {whole}"),
        _ => format!("{judged} of {whole}"),
    }
}

/// The width in s and the dispersion of the first selected scale.
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

/// The repetition of starts, such as `the same starts every 250 ms, about 20 together`.
pub(super) fn repetition(observed: &Observed) -> Option<String> {
    let found = observed.repetition?;
    let period = format::interval(found.period_s);
    Some(match found.together {
        Some(together) => format!("the same starts every {period}, about {together:.0} together"),
        None => format!("the same starts every {period}"),
    })
}

/// The repetition of starts of unknown users, such as `in a pattern that repeats every 250 ms`.
pub(super) fn pattern(observed: &Observed) -> Option<String> {
    let found = observed.repetition?;
    let period = format::interval(found.period_s);
    Some(match found.together {
        _ if found.period_s <= CLOCK_S => format!("in steps of {period}, as with a timer of this resolution"),
        Some(together) => format!("in a pattern that repeats every {period}, about {together:.0} together"),
        None => format!("in a pattern that repeats every {period}, unlike independent users"),
    })
}

/// The range of rates, such as `the rate varied from about 200 to 600/s`.
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

/// The stalls, such as `a stall of 2.0 s at 00:42`.
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

/// The excluded time and arrivals, such as `(2.1 s and 199 arrivals left out)`.
pub(super) fn left_out(observed: &Observed) -> String {
    let (seconds, arrivals) = observed.left_out;
    match arrivals {
        0 => format!(" ({} left out)", format::span(seconds)),
        1 => format!(" ({} and 1 arrival left out)", format::span(seconds)),
        n => format!(" ({} and {} arrivals left out)", format::span(seconds), format::count(n)),
    }
}

/// Describes in which respect the arrivals are Poisson: `Poisson up to 10 ms` if the dispersions show it, otherwise their gaps
/// or CoV.
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

/// The widest window, in s, up to which all dispersions are inside their bands.
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
