//! Judges the generator by the effect of its problems on the results.

use busyhour_sample::CoreFacts;

use crate::caveat::Caveat;
use crate::incidents::IncidentCause;
use crate::rounding::digits;
use crate::row::Times;
use crate::summary::Summary;

/// The generator is late if response times exceed service times by more than this share of the service times, and by
/// [`LATE_MIN_MS`].
const LATE_SHARE_MIN: f64 = 0.1;
/// Minimum difference, in ms, between late response times and service times.
const LATE_MIN_MS: f64 = 0.5;

/// Minimum number of requests above a percentile; otherwise the percentile is not compared.
const BEYOND_MIN: f64 = 10.0;

/// Waiting for free users explains a late percentile if at least this share of the requests above the percentile waited.
const WAITED_SHARE_MIN: f64 = 0.5;

/// The verdict on the generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratorState {
    /// Samples are missing.
    Unusable,
    /// The generator may have been the bottleneck, or started requests late.
    Doubtful,
    /// Arrivals waited for free users; whether the generator was late is unknown.
    WaitedForUsers,
    /// The generator was not the bottleneck.
    Fine,
    /// Nothing is known about the generator.
    Unknown,
}

/// The verdict on the generator, in a few words, and its reasons.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratorMark {
    /// The verdict.
    pub state: GeneratorState,
    /// The verdict in a few words, such as `not the bottleneck`.
    pub words: String,
    /// The reasons, as clauses.
    pub reasons: Vec<String>,
    /// Whether response times exceed service times for a reason other than arrivals that waited for users.
    pub is_late: bool,
}

/// A percentile of the response times and of the service times.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Late {
    percentile: f64,
    response_ms: f64,
    service_ms: f64,
}

impl Late {
    fn describe(&self) -> String {
        format!(
            "p{} of response times is {} ms, of service times {} ms",
            self.percentile,
            digits(self.response_ms),
            digits(self.service_ms)
        )
    }
}

/// The percentile at which response times exceed service times by the largest factor; `None` if no percentile of the response
/// times is more than a tenth above that of the service times.
fn late(summary: &Summary) -> Option<Late> {
    let total = &summary.total;
    let compared: [(f64, fn(&Times) -> f64); 5] = [
        (50.0, |times| times.p50),
        (75.0, |times| times.p75),
        (90.0, |times| times.p90),
        (95.0, |times| times.p95),
        (99.0, |times| times.p99),
    ];
    compared
        .into_iter()
        .filter(|(percentile, _)| total.samples as f64 * (1.0 - percentile / 100.0) >= BEYOND_MIN)
        .map(|(percentile, of)| Late {
            percentile,
            response_ms: of(&total.response),
            service_ms: of(&total.service),
        })
        .filter(|late| {
            let more_ms = late.response_ms - late.service_ms;
            more_ms > LATE_MIN_MS && more_ms > LATE_SHARE_MIN * late.service_ms
        })
        .max_by(|a, b| (a.response_ms / a.service_ms).total_cmp(&(b.response_ms / b.service_ms)))
}

/// Whether enough arrivals waited for a free user to explain the late percentile.
fn has_waited(summary: &Summary, late: &Late) -> bool {
    summary.run.arrivals.is_some_and(|counts| {
        let share = counts.waited as f64 / counts.begun.max(1) as f64;
        share >= WAITED_SHARE_MIN * (1.0 - late.percentile / 100.0)
    })
}

/// Decides whether the generator was the bottleneck. All reports use this verdict.
#[must_use]
pub fn generator_mark(summary: &Summary) -> GeneratorMark {
    let mut state = GeneratorState::Fine;
    let mut words = "may have been the bottleneck".to_owned();
    let mut reasons: Vec<String> = Vec::new();
    for reported in &summary.caveats {
        match reported.caveat {
            Caveat::SamplesLost { .. } | Caveat::CoresAbandoned { .. } => state = GeneratorState::Unusable,
            Caveat::GeneratorBusy { .. }
            | Caveat::GeneratorStalled { .. }
            | Caveat::CpuStolen { .. }
            | Caveat::CpuThrottled { .. }
            | Caveat::RecorderStalled { .. } => {
                if state == GeneratorState::Fine {
                    state = GeneratorState::Doubtful;
                }
            }
            _ => continue,
        }
        reasons.push(reported.message.clone());
    }
    let late = late(summary);
    let is_late = late.as_ref().is_some_and(|late| !has_waited(summary, late));
    let is_late_for_a_time = summary
        .incidents
        .iter()
        .any(|incident| matches!(incident.cause, Some(IncidentCause::GeneratorLate { .. })));
    match late {
        Some(late) if has_waited(summary, &late) => {
            if state == GeneratorState::Fine {
                state = GeneratorState::WaitedForUsers;
                words = "arrivals waited for free users".to_owned();
                reasons.push(format!("{}; allow more users", late.describe()));
            } else {
                reasons
                    .push(format!("arrivals waited for free users: {}; allow more users", late.describe()));
            }
        }
        Some(late) => {
            if state == GeneratorState::Unusable {
                reasons.push(format!("it started requests late: {}", late.describe()));
            } else {
                state = GeneratorState::Doubtful;
                words = "started requests late".to_owned();
                // The first reason explains `words`.
                reasons.insert(0, late.describe());
            }
        }
        None if is_late_for_a_time => {
            reasons
                .push("it started requests late for a time, which is listed with the incidents".to_owned());
            if state == GeneratorState::Fine {
                state = GeneratorState::Doubtful;
                words = "started requests late for a time".to_owned();
            }
        }
        None => {}
    }
    if state != GeneratorState::Fine {
        return GeneratorMark { state, words, reasons, is_late };
    }
    let cores = &summary.run.generator.cores;
    let most = |of: fn(&CoreFacts) -> Option<f64>| cores.iter().filter_map(of).reduce(f64::max);
    match most(|core| core.busy) {
        Some(busy) => {
            let second = most(|core| core.busy_second_max)
                .map_or_else(String::new, |busy| format!(", {:.0} % in its busiest second", busy * 100.0));
            let reasons = vec![
                format!("its busiest core was busy for {:.0} % of the time{second}", busy * 100.0),
                "response and service times have about the same percentiles".to_owned(),
            ];
            GeneratorMark { state, words: "not the bottleneck".to_owned(), reasons, is_late }
        }
        None => GeneratorMark {
            state: GeneratorState::Unknown,
            words: "unknown".to_owned(),
            reasons: vec!["its utilization is not recorded".to_owned()],
            is_late,
        },
    }
}
