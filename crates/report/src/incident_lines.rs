//! Descriptions of incidents.

use busyhour_analysis::incidents::Incident;

use crate::numbers::{clock, percent};
use crate::terminal_text::shown_label;

/// Labels that are named; of more the number is given.
const LABELS_NAMED: usize = 3;

/// `00:06:00–00:07:00: p95 9 ×, 12 % failed, all labels`
pub(crate) fn incident_line(incident: &Incident) -> String {
    format!("{}: {}", when(incident), what(incident))
}

/// `00:06:00–00:07:00`, or `from 00:06:00` for a change that lasts to the end.
pub(crate) fn when(incident: &Incident) -> String {
    let at = |seconds: f64| clock(seconds.round() as u64);
    match incident.to_s {
        Some(to_s) => format!("{}–{}", at(incident.from_s), at(to_s)),
        None => format!("from {}", at(incident.from_s)),
    }
}

/// `p95 9 ×, 12 % failed, all labels`
pub(crate) fn what(incident: &Incident) -> String {
    let mut parts = Vec::new();
    parts.extend(incident.p95_factor.map(|factor| format!("p95 {} ×", digits(factor))));
    parts.extend(incident.error_percent.map(|share| format!("{} % failed", percent(share))));
    parts.extend(incident.rate_factor.map(|factor| match factor {
        factor if factor < 0.005 => "no request completed".to_owned(),
        factor => format!("rate {factor:.2} ×"),
    }));
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
    parts.join(", ")
}

/// Two digits: `1.6`, `9.2`, `12`.
fn digits(factor: f64) -> String {
    if factor < 9.95 { format!("{factor:.1}") } else { format!("{factor:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_incident_is_one_line() {
        let incident = Incident {
            from_s: 360.0,
            to_s: Some(420.0),
            p95_factor: Some(9.21),
            error_percent: Some(12.34),
            rate_factor: Some(0.4),
            labels: Vec::new(),
            all_labels: true,
        };
        assert_eq!(
            incident_line(&incident),
            "00:06:00–00:07:00: p95 9.2 ×, 12.34 % failed, rate 0.40 ×, all labels"
        );
        let labels = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let lasting = Incident {
            to_s: None,
            error_percent: None,
            rate_factor: None,
            all_labels: false,
            labels,
            ..incident
        };
        assert_eq!(incident_line(&lasting), "from 00:06:00: p95 9.2 ×, a, b, c and 1 more");
    }
}
