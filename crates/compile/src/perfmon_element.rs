//! Compiles the PerfMon Metrics Collector of jmeter-plugins.

use busyhour_plan::{Element, Property};

use crate::context::Context;
use crate::listeners::save_config_of;
use crate::perfmon::{FORCE_FILE, PerfMonTemplate};

/// The property with the interval between values, in ms.
const INTERVAL: &str = "jmeterPlugin.perfmon.interval";
const INTERVAL_MS: u64 = 1000;

/// Properties that are not supported, and what happens instead.
const IGNORED: [(&str, &str); 2] = [
    ("jmeterPlugin.perfmon.useUDP", "agents are queried over TCP only"),
    ("jmeterPlugin.perfmon.label.useHostname", "labels contain the whole host"),
];

/// Compiles a collector.
pub(crate) fn collector<'p>(context: &mut Context<'p>, element: Element<'p>) -> PerfMonTemplate {
    let mut rows = Vec::new();
    for row in element.collection("metricConnections").into_iter().flat_map(Property::items) {
        let cells: Vec<Property<'p>> = row.items().take(4).collect();
        match cells[..] {
            [host, port, metric, parameters] => {
                let cells = [host, port, metric, parameters];
                rows.push(cells.map(|cell| context.parse(cell.text().unwrap_or_default(), cell)));
            }
            _ => {
                let message =
                    format!("a row of the table has {} cells instead of 4 and is left out", cells.len());
                context.findings.warn(element, "perfmon-row", message);
            }
        }
    }
    let path = context.text(element, "filename");
    let properties = &context.options.properties;
    let is_set =
        |name: &str| properties.get(name).is_some_and(|value| value.trim().eq_ignore_ascii_case("true"));
    let is_forced = is_set(FORCE_FILE);
    let ignored: Vec<_> = IGNORED.into_iter().filter(|(name, _)| is_set(name)).collect();
    let interval = properties.get(INTERVAL).and_then(|text| text.trim().parse().ok());
    let config = save_config_of(context, element, true);
    for (name, instead) in ignored {
        context.findings.warn(element, "ignored-property", format!("{name} is ignored: {instead}"));
    }
    if !is_forced && path.as_literal().is_some_and(|path| path.trim().is_empty()) {
        let message = format!(
            "the collector has no file name, so its values are only in the series of an observed run; \
             -J {FORCE_FILE}=true writes them to perfMon_DATE-TIME.csv"
        );
        context.findings.warn(element, "perfmon-without-file", message);
    }
    PerfMonTemplate {
        name: element.name().to_owned(),
        rows,
        path,
        config,
        interval_ms: interval.unwrap_or(INTERVAL_MS),
    }
}
