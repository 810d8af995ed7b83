//! Backend listeners whose client is one of JMeter's two classes for time series.

use busyhour_plan::Element;

use crate::arguments::arguments;
use crate::context::Context;
use crate::outputs::{BackendKind, BackendTemplate};

const GRAPHITE: &str = "org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient";
const INFLUX: &str = "org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient";

/// Compiles a backend listener; `None` if it has a different class.
pub(crate) fn listener<'p>(context: &mut Context<'p>, element: Element<'p>) -> Option<BackendTemplate> {
    let class = context.now(element.text("classname").unwrap_or_default());
    let (kind, property) = match class.trim() {
        GRAPHITE => (BackendKind::Graphite, "backend_graphite.send_interval"),
        INFLUX => (BackendKind::Influx, "backend_influxdb.send_interval"),
        _ => return None,
    };
    let interval = context.options.properties.get(property);
    Some(BackendTemplate {
        name: element.name().to_owned(),
        kind,
        arguments: arguments(context, element, "arguments"),
        send_interval_s: interval.and_then(|text| text.trim().parse().ok()),
    })
}
