//! Describes a closed load, which has no requested arrival process: its users wait for responses and then think.

use super::finding::{Basis, Finding, NEARLY_EVEN};
use super::lateness::Lateness;
use super::measures::{self, Measure, Quantity};
use super::phrases;
use super::requested::{ArrivalContext, RequestedProcess};
use super::same_user::SameUserGaps;
use super::stalls;
use crate::format;

/// Maximum share of the cycle spent waiting for responses. Above it, a closed load depends noticeably on the system
/// under test.
pub(super) const RESPONSE_IN_CYCLE: f64 = 0.05;

/// Limits of lateness: a time in ns and a share of a user's cycle. The starts of a closed load are late if the 99th percentile
/// of their lateness exceeds both.
const LATE: (f64, f64) = (10e6, 0.1);

/// The lowest and the highest rate of a closed load are reported if they differ at least by this factor.
const VARIED: f64 = 1.2;

/// The input for the sentence about a closed load.
pub(super) struct ClosedLoad<'a> {
    basis: &'a Basis<'a>,
    users: Option<f64>,
    rate_timers: &'a [String],
    lateness: Option<Lateness>,
    same_user: Option<&'a SameUserGaps>,
    r_over_r_plus_z: Option<f64>,
}

/// Whether the starts of a closed load were later than its plan specifies.
pub(super) fn is_late(
    requested: &RequestedProcess,
    rate_per_s: Option<f64>,
    lateness: Option<Lateness>,
) -> bool {
    let (RequestedProcess::Closed { .. }, Some(late)) = (requested, lateness) else { return false };
    let cycle_ns = rate_per_s.and_then(|rate| requested.cycle_s(rate)).map_or(0.0, |cycle_s| cycle_s * 1e9);
    late.p99_ns as f64 > LATE.0.max(LATE.1 * cycle_ns)
}

impl<'a> ClosedLoad<'a> {
    /// The input for a closed load; `None` for other loads.
    pub(super) fn of(
        basis: &'a Basis<'a>,
        context: &'a ArrivalContext<'_>,
        r_over_r_plus_z: Option<f64>,
    ) -> Option<ClosedLoad<'a>> {
        let RequestedProcess::Closed { users, .. } = basis.requested else { return None };
        Some(ClosedLoad {
            basis,
            users: *users,
            rate_timers: &context.rate_timers,
            lateness: context.lateness,
            same_user: context.same_user.as_ref(),
            r_over_r_plus_z,
        })
    }

    /// The sentence, such as `closed load of 100 users: requests in small groups; …`.
    pub(super) fn sentence(&self, finding: Finding) -> String {
        let mut sentence = match self.users.map(|users| users.round()) {
            Some(1.0) => "closed load of 1 user".to_owned(),
            Some(users) if users > 1.0 => format!("closed load of {} users", format::count(users as u64)),
            _ => "closed load".to_owned(),
        };
        if let Some(late) = self.lateness.filter(|_| finding == Finding::LateClosedLoad) {
            let p99 = format::span(late.p99_ns as f64 / 1e9);
            sentence += &format!(", started later than the plan asks ({p99} at p99)");
        }
        sentence += &format!(": {}", self.start_pattern());
        if let Some(ratio) = self.r_over_r_plus_z.filter(|ratio| *ratio > RESPONSE_IN_CYCLE) {
            sentence += &format!("; R/(R+Z) {ratio:.2}: a slower server would lower this load");
        }
        let observed = self.basis.observed;
        if observed.rates.is_some_and(|rates| rates.high_per_s > VARIED * rates.low_per_s) {
            sentence += &format!("; {}", phrases::rates(observed));
        }
        let is_material = observed.stalls.iter().any(|stall| stall.length_s >= stalls::MATERIAL_S);
        if let Some(stalls) = phrases::stalls(observed).filter(|_| is_material) {
            sentence += &format!("; {stalls}");
            sentence += &self.missing_requests().unwrap_or_default();
        }
        sentence
    }

    /// A clause with the number of requests that users would have sent during stalls: `, in which about 1,980 requests were not
    /// sent`.
    fn missing_requests(&self) -> Option<String> {
        let observed = self.basis.observed;
        let stopped_s: f64 = observed.stalls.iter().map(|stall| stall.length_s).sum();
        let backlog: u64 = observed.stalls.iter().map(|stall| stall.backlog).sum();
        let missing = observed.rate_per_s?.value * stopped_s - backlog as f64;
        (missing >= 1.0)
            .then(|| format!(", in which about {} requests were not sent", format::rough(missing)))
    }

    /// Describes how the starts are distributed in time.
    fn start_pattern(&self) -> String {
        let (observed, measures) = (self.basis.observed, self.basis.measures);
        if observed.is_too_coarse() {
            let stamps = match observed.are_clocks_too_coarse() {
                true => "the clocks of the agents",
                false => "start times in milliseconds",
            };
            return format!("{stamps} are too coarse to describe its gaps");
        }
        if let Some(repeated) = phrases::repetition(observed)
            && observed.cov.is_none_or(|cov| cov.value >= NEARLY_EVEN)
        {
            return match self.rate_timers {
                [] => repeated,
                timers => format!("{repeated}, paced by the plan's {}", timers.join(" and ")),
            };
        }
        let paced = match self.rate_timers {
            [] => String::new(),
            timers => format!(", paced by the plan's {}", timers.join(" and ")),
        };
        let is_cov = |measure: &&Measure| measure.quantity == Quantity::Cov;
        let cov = measures.iter().find(is_cov);
        let has_short_gaps =
            measures.iter().any(|m| matches!(m.quantity, Quantity::ShortGaps { .. }) && m.is_high());
        let even_over = self.even_over();
        let pattern = if has_short_gaps || cov.is_some_and(Measure::is_high) {
            let described =
                phrases::bunched(observed, measures, "gaps that vary more than those of independent users");
            described.replacen("in small", "requests in small", 1) + self.page_clause()
        } else if cov.is_some_and(Measure::is_low) {
            "more even than independent users".to_owned()
        } else if let Some((scale_s, index)) = phrases::dispersion(measures, Measure::is_high) {
            format!(
                "counts per {} vary more than those of independent users (dispersion {index:.2})",
                format::span(scale_s)
            )
        } else if let Some(up_to_s) = phrases::poisson_up_to(measures) {
            let even_over = even_over.unwrap_or_default();
            format!("like independent users up to {}{even_over}", format::span(up_to_s))
        } else if cov.is_some_and(Measure::is_inside) {
            format!("CoV as with independent users{}", even_over.unwrap_or_default())
        } else {
            "undecided whether the starts are like those of independent users".to_owned()
        };
        pattern + &paced
    }

    /// A clause about pages with several requests if the short gaps are mostly between requests of the same user; otherwise
    /// empty.
    fn page_clause(&self) -> &'static str {
        let (Some(short), Some(same_user)) = (self.basis.observed.short_gaps, self.same_user) else {
            return "";
        };
        let excess = short.share.value - short.share_poisson;
        let is_same_user = excess > 0.0 && same_user.share_below(short.shorter_than_s) >= excess / 2.0;
        if is_same_user { ": pages with several requests" } else { "" }
    }

    /// The clause `, more even over 10 s (dispersion 0.40)`, if it applies. In windows that are not much shorter than a
    /// cycle, each user sends several requests at regular intervals, so counts vary less.
    fn even_over(&self) -> Option<String> {
        let (observed, measures) = (self.basis.observed, self.basis.measures);
        let horizon_s = measures::horizon_s(observed, self.basis.requested).unwrap_or(f64::INFINITY);
        let beyond = observed
            .dispersion
            .iter()
            .find(|row| row.scale_s > horizon_s && row.windows >= 30 && row.index.high < 0.8);
        let (scale_s, index) = phrases::dispersion(measures, Measure::is_low)
            .or(beyond.map(|row| (row.scale_s, row.index.value)))?;
        Some(format!(", more even over {} (dispersion {index:.2})", format::span(scale_s)))
    }

    /// Advice on how to get a load like that of independent users; `None` if no timers set the rate.
    pub(super) fn advice(&self) -> Option<String> {
        let observed = self.basis.observed;
        let rate = format::rough(observed.whole_rate_per_s?);
        if self.rate_timers.is_empty() {
            return None;
        }
        Some(format!(
            "for independent users: --ignore-rate-timers --arrivals 'poisson({rate}/s) for TIME' (one arrival is a whole session)"
        ))
    }
}
