//! Which resource saturates first, as text.

use busyhour_analysis::saturation::{ResourceLoad, Saturation};

use crate::log_tables::aligned;
use crate::numbers::{ms, rate};
use crate::terminal_text::{Look, printable, wrap};

/// The heads of the table's columns.
pub(crate) const HEADS: [&str; 5] = ["resource", "in use", "demand, ms", "saturated at", "95 % interval"];

/// Resources that are listed.
pub(crate) const RESOURCES_MAX: usize = 12;

/// The finding in a sentence, and the table of resources.
pub(crate) fn saturation_lines(saturation: &Saturation, look: Look) -> String {
    let mut text = String::from("\n");
    text.push_str(&look.bold("What saturates first"));
    text.push('\n');
    for line in wrap(&printable(&saturation.sentence), look.width, "") {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let rows: Vec<Vec<String>> =
        saturation.resources.iter().take(RESOURCES_MAX).map(|load| cells(load).to_vec()).collect();
    text.push_str(&aligned(&HEADS, &rows, false, look));
    text
}

/// The row of a resource.
pub(crate) fn cells(load: &ResourceLoad) -> [String; 5] {
    let at = match (load.saturation_per_s, &load.reason) {
        (Some(at), _) => format!("{}/s", rate(at)),
        (None, Some(reason)) => format!("unavailable: {reason}"),
        (None, None) => "unavailable".to_owned(),
    };
    let interval = match load.interval_per_s {
        Some((low, Some(high))) => format!("{} to {}", rate(low), rate(high)),
        Some((low, None)) => format!("at least {}", rate(low)),
        None => "–".to_owned(),
    };
    [
        printable(&load.resource),
        format!("{:.1} %", load.utilization * 100.0),
        load.demand_ms.map_or_else(|| "–".to_owned(), ms),
        at,
        interval,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_are_listed_with_their_limits() {
        let load = |resource: &str, at: Option<f64>| ResourceLoad {
            resource: resource.to_owned(),
            source: "os".to_owned(),
            utilization: if at.is_some() { 0.384 } else { 0.01 },
            background: 0.0,
            demand_ms: Some(1.6),
            saturation_per_s: at,
            interval_per_s: at.map(|at| (at - 80.0, Some(at + 110.0))),
            reason: at.is_none().then(|| "it is hardly used".to_owned()),
        };
        let saturation = Saturation {
            sentence: "If the load grows, the CPU time of the machine saturates first.".to_owned(),
            highest_per_s: 240.0,
            resources: vec![load("the CPU time of the machine", Some(640.0)), load("disk vda", None)],
        };
        insta::assert_snapshot!(saturation_lines(&saturation, Look::default()));
    }
}
