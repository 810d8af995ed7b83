//! The latest values of the observed series of the system under test, for exports during a run.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use busyhour_series::{LatestValue, MetricKind};
use busyhour_server::exposition::ExpositionType;

use crate::metrics::{Family, Metric, MetricValue};

/// Values that are older than the newest one by this time, in ns, are left out: their source has ended or fails.
const AGE_MAX_NS: u64 = 60_000_000_000;

/// The label with the source of a series.
const SOURCE_LABEL: &str = "source";

/// The new name of a label `source` that a series already has, as in Prometheus.
const OWN_SOURCE_LABEL: &str = "exported_source";

/// Returns the latest value of each observed series. Clones return the same.
#[derive(Clone, Default)]
pub struct LatestSeries(Option<Arc<dyn Fn() -> Vec<LatestValue> + Send + Sync>>);

impl fmt::Debug for LatestSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatestSeries").field("is_observed", &self.0.is_some()).finish()
    }
}

impl LatestSeries {
    /// Creates series from the function `values`. Exporters and servers call it on their threads for each export, so it
    /// must not block. Before the observation starts, it returns nothing.
    pub fn new(values: impl Fn() -> Vec<LatestValue> + Send + Sync + 'static) -> LatestSeries {
        LatestSeries(Some(Arc::new(values)))
    }

    /// The latest values without those of sources that have ended.
    #[must_use]
    pub fn values(&self) -> Vec<LatestValue> {
        let mut values = self.0.as_ref().map_or_else(Vec::new, |values| values());
        let newest = values.iter().map(|value| value.time.0).max().unwrap_or(0);
        values.retain(|value| newest - value.time.0 <= AGE_MAX_NS);
        values
    }

    /// The values by metric, in the order of their first value. A metric has the kind of its first value; values of
    /// another kind are left out.
    pub(crate) fn by_metric(&self) -> Vec<Vec<LatestValue>> {
        let mut positions: HashMap<Arc<str>, usize> = HashMap::new();
        let mut metrics: Vec<Vec<LatestValue>> = Vec::new();
        for value in self.values() {
            let at = *positions.entry(value.name.clone()).or_insert_with(|| {
                metrics.push(Vec::new());
                metrics.len() - 1
            });
            let metric = &mut metrics[at];
            if metric.first().is_none_or(|first| first.kind == value.kind) {
                metric.push(value);
            }
        }
        metrics
    }

    /// The values as metrics of Prometheus, which keep their names. Metrics with the name of a metric in `own` are left
    /// out, because they come from another Busyhour that is observed.
    pub(crate) fn families(&self, own: &[Family]) -> Vec<Family> {
        let mut taken: HashSet<Cow<'static, str>> = own.iter().map(|family| family.name.clone()).collect();
        for family in own.iter().filter(|family| family.family_type == ExpositionType::Histogram) {
            taken.extend(["_bucket", "_sum", "_count"].map(|part| format!("{}{part}", family.name).into()));
        }
        let mut families = Vec::new();
        for metric in self.by_metric() {
            let Some(first) = metric.first() else { continue };
            let name: Cow<'static, str> = valid_name(&first.name, true).into();
            // Different names can become equal.
            if !taken.insert(name.clone()) {
                continue;
            }
            let family_type = match first.kind {
                MetricKind::Counter => ExpositionType::Counter,
                MetricKind::Gauge => ExpositionType::Gauge,
            };
            let mut seen = HashSet::new();
            let values = metric.iter().map(|value| (labels(value), value.value));
            let values = values.filter(|(labels, _)| seen.insert(labels.clone()));
            let metrics =
                values.map(|(labels, value)| Metric { labels, value: MetricValue::Number(value) }).collect();
            families.push(Family { name, help: first.help.to_string().into(), family_type, metrics });
        }
        families
    }
}

/// The labels of a value, and a label with its source. If several labels have the same name, the first one is used.
fn labels(value: &LatestValue) -> Vec<(Cow<'static, str>, String)> {
    let mut labels: Vec<(Cow<'static, str>, String)> = vec![(SOURCE_LABEL.into(), value.source.to_string())];
    for (name, text) in value.labels.iter() {
        let name = if name == SOURCE_LABEL { OWN_SOURCE_LABEL.to_owned() } else { valid_name(name, false) };
        if labels.iter().all(|(known, _)| *known != name) {
            labels.push((name.into(), text.clone()));
        }
    }
    labels
}

/// A name that every version of Prometheus accepts: other characters become underscores. Colons are allowed in names of metrics.
fn valid_name(name: &str, is_metric: bool) -> String {
    let is_valid = |character: char| {
        character.is_ascii_alphanumeric() || character == '_' || (is_metric && character == ':')
    };
    let mut valid: String =
        name.chars().map(|character| if is_valid(character) { character } else { '_' }).collect();
    if valid.is_empty() || valid.starts_with(|first: char| first.is_ascii_digit()) {
        valid.insert(0, '_');
    }
    valid
}

#[cfg(test)]
mod tests {
    use busyhour_sample::Nanos;

    use super::*;

    fn value(source: &str, name: &str, labels: &[(&str, &str)], at_s: u64, value: f64) -> LatestValue {
        LatestValue {
            source: source.into(),
            name: name.into(),
            kind: if name.ends_with("_total") { MetricKind::Counter } else { MetricKind::Gauge },
            help: "Help.".into(),
            labels: labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            time: Nanos(at_s * 1_000_000_000),
            value,
        }
    }

    #[test]
    fn names_are_kept_and_conflicting_metrics_are_left_out() {
        let series = LatestSeries::new(|| {
            vec![
                value("os", "node_procs_running", &[], 100, 3.0),
                value("process:7", "process_threads", &[], 100, 9.0),
                value("process:8", "process_threads", &[], 100, 10.0),
                value("prometheus:http://sut/metrics", "busyhour_users", &[], 100, 5.0),
                value("postgres://db/shop", "blocks_total", &[("source", "hit")], 100, 7.0),
                value("gone", "process_open_fds", &[], 30, 1.0),
                value(
                    "prometheus:http://sut/metrics",
                    "http.server.requests",
                    &[("a.b", "1"), ("a_b", "2")],
                    99,
                    1.0,
                ),
            ]
        });
        let own = [Family {
            name: "busyhour_users".into(),
            help: "".into(),
            family_type: ExpositionType::Gauge,
            metrics: Vec::new(),
        }];
        let families = series.families(&own);
        let names: Vec<&str> = families.iter().map(|family| family.name.as_ref()).collect();
        assert_eq!(names, ["node_procs_running", "process_threads", "blocks_total", "http_server_requests"]);
        assert_eq!(families[1].metrics.len(), 2);
        let labels = |family: usize| -> Vec<(&str, &str)> {
            let labels = &families[family].metrics[0].labels;
            labels.iter().map(|(name, value)| (name.as_ref(), value.as_str())).collect()
        };
        assert_eq!(labels(2), [("source", "postgres://db/shop"), ("exported_source", "hit")]);
        assert_eq!(labels(3), [("source", "prometheus:http://sut/metrics"), ("a_b", "1")]);
        assert!(
            families[2].family_type == ExpositionType::Counter
                && families[0].family_type == ExpositionType::Gauge
        );
        assert!(LatestSeries::default().families(&own).is_empty());
    }

    #[test]
    fn names_become_valid() {
        assert_eq!(valid_name("9.a:b é", true), "_9_a:b__");
        assert_eq!(valid_name("a:b", false), "a_b");
        assert_eq!(valid_name("", false), "_");
    }
}
