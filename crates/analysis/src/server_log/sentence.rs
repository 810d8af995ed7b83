//! The result of a comparison in sentences.

use busyhour_stats::Decision;

use super::{ServerArrivals, ServerLog};
use crate::format::count;

/// Share of the requests that must have a line. With fewer, the log is that of another server or another time.
const ARRIVED_MIN: f64 = 0.05;

impl ServerLog {
    /// Sets the sentences of the result from its numbers.
    pub fn describe(&mut self) {
        let log = self;
        let counts = log.counts;
        if log.offset.is_none() || (counts.arrived as f64) < ARRIVED_MIN * counts.sent as f64 {
            log.line = format!(
                "The log does not contain the requests of this run: {} of {} have a line",
                count(counts.arrived),
                count(counts.sent)
            );
            log.limits.push(
            "The log may be that of another server, of another time, or of a server behind a proxy that changes paths".to_owned(),
        );
            return;
        }
        log.line = if counts.arrived == counts.sent {
            format!("All {} requests arrived at the server", count(counts.sent))
        } else {
            let mut missing = Vec::new();
            if counts.lost > 0 {
                missing.push(format!("{} were lost (no response, no line)", count(counts.lost)));
            }
            if counts.answered_elsewhere > 0 {
                missing.push(format!("{} have a response, but no line", count(counts.answered_elsewhere)));
            }
            format!(
                "{} of {} requests arrived at the server: {}",
                count(counts.arrived),
                count(counts.sent),
                missing.join(", ")
            )
        };
        if counts.repeated > 0 {
            let lines = if counts.repeated == 1 { "line is" } else { "lines are" };
            log.line.push_str(&format!("; {} {lines} more than were sent", count(counts.repeated)));
        }
        let as_sent = match &log.arrivals {
            ServerArrivals::Judged(judged) => match judged.decision {
                Decision::Inside => Some(true),
                Decision::Outside => Some(false),
                Decision::Inconclusive => None,
            },
            ServerArrivals::Counted { .. } | ServerArrivals::Unavailable { .. } => None,
        };
        log.line.push_str(match (as_sent, &log.arrivals) {
            (Some(true), _) => ". They arrived as they were sent",
            (Some(false), _) => ". They did not arrive as they were sent",
            (None, ServerArrivals::Judged(_)) => ". Whether they arrived as they were sent is undecided",
            (None, _) => "",
        });
        let is_counted = counts.arrived == counts.sent && counts.repeated == 0;
        log.is_complete = match (is_counted, as_sent) {
            (false, _) | (_, Some(false)) => Some(false),
            (true, Some(true)) => Some(true),
            (true, None) => None,
        };
        limits(log);
    }
}

/// Conclusions that the comparison does not support.
fn limits(log: &mut ServerLog) {
    let counts = log.counts;
    if !counts.by_id {
        log.limits.push(
            "Requests and lines were matched by path, status and time, because requests have no identifier in the log: a lost request \
             is not noticed if a repeated one, or the same request of another client, was logged at the same time"
                .to_owned(),
        );
    }
    if counts.without_query {
        log.limits.push("Queries were not compared, because the log does not contain them".to_owned());
    }
    if counts.answered_elsewhere > 0 {
        log.limits.push(
            "A request with a response, but without a line, was answered by a cache, a proxy or another instance, or its line is missing"
                .to_owned(),
        );
    }
    if counts.repeated > 0 && !counts.by_id {
        log.limits.push(
            "Lines that are more than were sent come from the addresses of the generator: a proxy or a library sent requests again, or \
             other programs at these addresses sent the same ones"
                .to_owned(),
        );
    }
    if log.unreadable > 0 {
        log.limits.push(format!("{} of {} lines could not be read", count(log.unreadable), count(log.lines)));
    }
}
