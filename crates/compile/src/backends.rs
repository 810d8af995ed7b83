//! Backend listeners whose class is one of JMeter's own two for time series.

use busyhour_engine::template::Template;
use busyhour_engine::user::UserState;
use busyhour_plan::Element;

use crate::context::Context;
use crate::other_samplers::arguments;

const GRAPHITE: &str = "org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient";
const INFLUX: &str = "org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient";

/// A backend listener of the plan. It hears all samples of the run, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendListener {
    /// Its name.
    pub name: String,
    /// Which of the two.
    pub kind: BackendKind,
    /// Its parameters as JMeter names them.
    pub arguments: Vec<(String, String)>,
    /// Seconds between two sets of metrics, where a property sets them.
    pub send_interval_s: Option<u64>,
}

/// JMeter's clients for time series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendKind {
    /// `GraphiteBackendListenerClient`
    Graphite,
    /// `InfluxdbBackendListenerClient`
    Influx,
}

/// The same before its parameters are evaluated.
#[derive(Debug, Clone)]
pub(crate) struct BackendTemplate {
    name: String,
    kind: BackendKind,
    arguments: Vec<(Template, Template)>,
    send_interval_s: Option<u64>,
}

impl BackendTemplate {
    /// The listener with its parameters as they are at the start of the test.
    pub(crate) fn at_start(&self, user: &mut UserState) -> BackendListener {
        let texts = |(name, value): &(Template, Template), user: &mut UserState| {
            (name.text(user).into_owned(), value.text(user).into_owned())
        };
        BackendListener {
            name: self.name.clone(),
            kind: self.kind,
            arguments: self.arguments.iter().map(|argument| texts(argument, user)).collect(),
            send_interval_s: self.send_interval_s,
        }
    }
}

/// Reads a backend listener; `None` when its class is another one.
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
