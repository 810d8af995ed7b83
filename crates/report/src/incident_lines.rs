//! Descriptions of incidents.

use busyhour_analysis::Summary;
use busyhour_analysis::incidents::{Incident, IncidentCause};

use crate::numbers::{clock, ms, percent, rate};
use crate::terminal_text::shown_label;

/// Maximum number of labels that are named; if there are more, only their number is shown.
const LABELS_NAMED: usize = 3;

/// Describes an incident: `00:06:00–00:07:00: p95 13.1 ms instead of 0.41 ms, all labels`.
pub(crate) fn incident_line(incident: &Incident) -> String {
    format!("{}: {}", when(incident), what(incident))
}

/// The time of an incident: `00:06:00–00:07:00`, or `from 00:06:00` if it lasts to the end.
pub(crate) fn when(incident: &Incident) -> String {
    let at = |seconds: f64| clock(seconds.round() as u64);
    match incident.to_s {
        Some(to_s) => format!("{}–{}", at(incident.from_s), at(to_s)),
        None => format!("from {}", at(incident.from_s)),
    }
}

/// The symptoms of an incident: `p95 13.1 ms instead of 0.41 ms, 12.34 % failed (503 Service Unavailable), all labels`.
pub(crate) fn what(incident: &Incident) -> String {
    // If the incident affects several labels, the values are those of the named label.
    let of = match &incident.measured_label {
        Some(label) if incident.all_labels || incident.labels.len() > 1 => {
            format!(" of {}", shown_label(label))
        }
        _ => String::new(),
    };
    let mut parts = Vec::new();
    parts.extend(incident.pause_s.map(|pause_s| {
        let longest = incident.longest_ms.map(time);
        let longest =
            longest.map_or_else(String::new, |time| format!("; waiting requests took up to {time}"));
        format!("nothing completed for {pause_s:.0} s{longest}")
    }));
    parts.extend(match (incident.p95_ms.zip(incident.usual_p95_ms), incident.p95_factor) {
        (Some((p95, usual)), _) => Some(format!("p95{of} {} instead of {}", time(p95), time(usual))),
        (None, factor) => factor.map(|factor| format!("p95{of} {factor:.1} ×")),
    });
    parts.extend(incident.error_percent.map(|share| failed(incident, share, &of)));
    parts.extend(match (incident.rate_per_s.zip(incident.usual_rate_per_s), incident.rate_factor) {
        (Some((now, usual)), _) => {
            Some(format!("{} instead of {} requests completed per second", rate(now), rate(usual)))
        }
        (None, factor) => factor.map(|factor| format!("rate {factor:.2} ×")),
    });
    parts.extend(match (incident.all_labels, incident.labels.len()) {
        (true, _) => Some("all labels".to_owned()),
        (false, 0) => None,
        (false, count) => {
            let named: Vec<String> =
                incident.labels.iter().take(LABELS_NAMED).map(|label| shown_label(label)).collect();
            let more = count.saturating_sub(LABELS_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Some(format!("{}{more}", named.join(", ")))
        }
    });
    let cause = incident.cause.map_or_else(String::new, |cause| format!("; {}", cause_words(cause)));
    parts.join(", ") + &cause
}

/// The errors of an incident: `12.34 % failed instead of 0.20 % (503 Service Unavailable)`.
fn failed(incident: &Incident, share: f64, of: &str) -> String {
    let usual = incident.usual_error_percent.filter(|usual| *usual > 0.0);
    let usual = usual.map_or_else(String::new, |usual| format!(" instead of {} %", percent(usual)));
    let error = incident.main_error.as_ref();
    let error = error.map_or_else(String::new, |error| format!(" ({})", shown_label(error)));
    format!("{} %{of} failed{usual}{error}", percent(share))
}

/// The reason why an incident is not attributed to the system under test.
fn cause_words(cause: IncidentCause) -> String {
    match cause {
        IncidentCause::GeneratorStalled { seconds } => {
            format!("the generator did not run for {seconds:.1} s")
        }
        IncidentCause::GeneratorLate { response_ms, service_ms } => format!(
            "the generator started requests late: the mean response time was {}, the mean service time {}",
            time(response_ms),
            time(service_ms)
        ),
        IncidentCause::WaitedForUsers { response_ms, service_ms } => format!(
            "arrivals waited for free users: the mean response time was {}, the mean service time {}",
            time(response_ms),
            time(service_ms)
        ),
    }
}

/// The parts of the run that were not searched for incidents, as a clause; empty if the whole run was searched.
pub(crate) fn not_searched(summary: &Summary) -> String {
    let reasons: Vec<String> = summary.not_searched.iter().map(ToString::to_string).collect();
    reasons.join("; ")
}

/// Formats a time: `0.41 ms`, `13.1 ms`, `2.0 s`.
fn time(value: f64) -> String {
    if value < 999.5 { format!("{} ms", ms(value)) } else { format!("{:.1} s", value / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incident_is_one_line() {
        let incident = Incident {
            from_s: 360.0,
            to_s: Some(420.0),
            p95_factor: Some(31.9),
            p95_ms: Some(13.1),
            usual_p95_ms: Some(0.41),
            error_percent: Some(12.34),
            usual_error_percent: Some(0.2),
            main_error: Some("503 Service Unavailable".to_owned()),
            rate_factor: Some(0.4),
            rate_per_s: Some(40.0),
            usual_rate_per_s: Some(100.0),
            all_labels: true,
            ..Incident::default()
        };
        assert_eq!(
            incident_line(&incident),
            "00:06:00–00:07:00: p95 13.1 ms instead of 0.41 ms, 12.34 % failed instead of 0.20 % (503 Service \
             Unavailable), 40.0 instead of 100.0 requests completed per second, all labels"
        );
        let labels = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let lasting = Incident {
            to_s: None,
            error_percent: None,
            rate_per_s: None,
            rate_factor: None,
            all_labels: false,
            measured_label: Some("b".to_owned()),
            labels,
            ..incident
        };
        assert_eq!(
            incident_line(&lasting),
            "from 00:06:00: p95 of b 13.1 ms instead of 0.41 ms, a, b, c and 1 more"
        );
    }

    #[test]
    fn a_pause_and_its_cause_are_named() {
        let incident = Incident {
            from_s: 18.0,
            to_s: Some(21.0),
            pause_s: Some(2.0),
            longest_ms: Some(2_040.0),
            cause: Some(IncidentCause::GeneratorStalled { seconds: 2.04 }),
            ..Incident::default()
        };
        assert_eq!(
            incident_line(&incident),
            "00:00:18–00:00:21: nothing completed for 2 s; waiting requests took up to 2.0 s; the generator did not run \
             for 2.0 s"
        );
        let cause = Some(IncidentCause::GeneratorLate { response_ms: 21.0, service_ms: 1.5 });
        let late = Incident {
            pause_s: None,
            longest_ms: None,
            p95_ms: Some(37.0),
            usual_p95_ms: Some(1.2),
            cause,
            ..incident
        };
        assert_eq!(
            what(&late),
            "p95 37.0 ms instead of 1.20 ms; the generator started requests late: the mean response time was 21.0 ms, \
             the mean service time 1.50 ms"
        );
    }
}
