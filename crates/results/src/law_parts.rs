//! Judges an open workload whose stages have different laws (arrival processes such as Poisson): each part with one law is
//! judged by the theory of that law.

use std::ops::Range;
use std::sync::Arc;

use busyhour_analysis::arrivals::{
    ArrivalContext, ArrivalTally, ArrivalVerdict, JudgedStarts, KnownRate, RequestedProcess, Resolution,
    StallRule, TallySettings, judge,
};
use busyhour_arrivals::{ArrivalProcess, CumulativeRate, Law};
use rand::Rng;

/// The rule that determines which gaps are stalls for a process of this law.
pub(crate) fn stall_rule(law: Law) -> StallRule {
    match law {
        Law::Poisson | Law::FixedCount => StallRule::Poisson,
        Law::Even => StallRule::Even,
        Law::Jittered | Law::Renewal { .. } | Law::Bursty | Law::Replay | Law::Mixed | Law::NoArrivals => {
            StallRule::NoStalls
        }
    }
}

/// Consecutive stages of a schedule that have the same law, including the pauses between them.
#[derive(Debug, Clone, PartialEq)]
struct Stretch {
    law: Law,
    /// Start and end in ns since the start of the schedule.
    at_ns: Range<u64>,
}

/// Divides the schedule up to `end_ns` into stretches of one law each. Pauses at the start or end of a stretch are not
/// included.
fn stretches(process: &ArrivalProcess, end_ns: u64) -> Vec<Stretch> {
    let mut found: Vec<Stretch> = Vec::new();
    for stage in process.stages() {
        let Some(law) = stage.law() else { continue };
        let at_ns = stage.begin_ns..stage.end_ns.min(end_ns);
        match found.last_mut() {
            _ if at_ns.is_empty() => {}
            Some(last) if last.law == law => last.at_ns.end = at_ns.end,
            _ => found.push(Stretch { law, at_ns }),
        }
    }
    found
}

/// The arrivals of a workload with several laws, by stretch.
#[derive(Debug)]
pub(crate) struct LawParts {
    parts: Vec<LawPart>,
}

#[derive(Debug)]
struct LawPart {
    stretch: Stretch,
    asked_per_s: f64,
    delivered: ArrivalTally,
    scheduled: ArrivalTally,
}

impl LawParts {
    /// Creates the parts for a schedule that ran until `end_ns`; `rate` includes the changes of the rate during the run,
    /// and `clock_bound_ns` is the error of the clocks of several generators. There are no parts if the schedule has only one law.
    pub(crate) fn new(
        process: &ArrivalProcess,
        rate: &CumulativeRate,
        end_ns: u64,
        clock_bound_ns: u64,
    ) -> LawParts {
        let stretches = if process.law() == Law::Mixed { stretches(process, end_ns) } else { Vec::new() };
        let parts = stretches.into_iter().filter_map(|stretch| {
            let Range { start, end } = stretch.at_ns.clone();
            let (copy, before) = (rate.clone(), rate.cumulative(start));
            let since = move |offset_ns: u64| copy.cumulative(start.saturating_add(offset_ns)) - before;
            let known = KnownRate::new(Arc::new(since), end - start)?;
            let settings = TallySettings::new(Resolution::Nanosecond)
                .with_known_rate(known)
                .with_clock_bound(clock_bound_ns)
                .with_stall_rule(stall_rule(stretch.law));
            Some(LawPart {
                asked_per_s: (rate.cumulative(end) - before) / ((end - start) as f64 / 1e9),
                delivered: ArrivalTally::new(settings.clone()),
                scheduled: ArrivalTally::new(settings),
                stretch,
            })
        });
        LawParts { parts: parts.collect() }
    }

    fn part(&mut self, scheduled_ns: u64) -> Option<&mut LawPart> {
        self.parts.iter_mut().find(|part| part.stretch.at_ns.contains(&scheduled_ns))
    }

    /// Adds an arrival that was scheduled at one time and started at another, both in ns since the start of the schedule. It
    /// belongs to the stretch in which it was scheduled, however late it started.
    pub(crate) fn delivered(&mut self, scheduled_ns: u64, began_ns: u64) {
        if let Some(part) = self.part(scheduled_ns) {
            let since_ns = began_ns.saturating_sub(part.stretch.at_ns.start);
            part.delivered.add(since_ns);
        }
    }

    /// Adds a scheduled arrival.
    pub(crate) fn scheduled(&mut self, at_ns: u64) {
        if let Some(part) = self.part(at_ns) {
            let since_ns = at_ns - part.stretch.at_ns.start;
            part.scheduled.add(since_ns);
        }
    }

    /// The verdict on each stretch. `of` is the name of the workload, if the run has several.
    pub(crate) fn verdicts(
        self,
        of: Option<&str>,
        generator_busy: Option<f64>,
        random: &mut impl Rng,
    ) -> Vec<ArrivalVerdict> {
        let verdict = |part: LawPart| {
            let Range { start, end } = part.stretch.at_ns;
            let [from_s, to_s] = [start, end].map(|ns| (ns as f64 / 1e8).round() / 10.0);
            let name = format!("{} from {from_s} to {to_s} s", part.stretch.law);
            let schedule = part.scheduled.finish(random);
            let circumstances = ArrivalContext {
                of: Some(of.map_or(name.clone(), |of| format!("{of}, {name}"))),
                scope: JudgedStarts::SessionStarts,
                requested_per_s: Some(part.asked_per_s),
                schedule: Some(&schedule),
                generator_busy,
                ..ArrivalContext::default()
            };
            judge(part.delivered.finish(random), RequestedProcess::from(part.stretch.law), &circumstances)
        };
        self.parts.into_iter().map(verdict).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, end_s: u64) -> Vec<(Law, u64, u64)> {
        let process = ArrivalProcess::parse(text).unwrap();
        let stretches = stretches(&process, end_s * 1_000_000_000);
        let seconds = |ns: u64| ns / 1_000_000_000;
        stretches
            .into_iter()
            .map(|Stretch { law, at_ns }| (law, seconds(at_ns.start), seconds(at_ns.end)))
            .collect()
    }

    #[test]
    fn adjacent_parts_of_one_law_are_judged_together() {
        let text = "pause 5s, poisson(50/s) for 10s, pause 5s, ramp(50/s -> 80/s) over 10s, pause 3s, even(9/s) for 4s, \
                    poisson(5/s) for 10s";
        assert_eq!(found(text, 99), [(Law::Poisson, 5, 30), (Law::Even, 33, 37), (Law::Poisson, 37, 47)]);
        // If the run is stopped early, the expected schedule ends with the run.
        assert_eq!(found(text, 35), [(Law::Poisson, 5, 30), (Law::Even, 33, 35)]);
        assert_eq!(found(text, 33), [(Law::Poisson, 5, 30)]);
    }
}
