//! A run in Prometheus's text exposition format (0.0.4).

use std::fmt::Write as _;

use busyhour_sample::{Snapshot, TimeCounts};

use crate::exposition_protobuf::exposition_protobuf;
use crate::latest_series::LatestSeries;
use crate::metrics::{Family, Metric, MetricValue, classic_buckets, families};
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, Sender};

/// Collects the metrics of a run for scrapes. Counters only increase, as Prometheus requires.
#[derive(Debug, Clone, Default)]
pub struct Exposition {
    run: RunSoFar,
    plan: String,
    series: LatestSeries,
}

impl Exposition {
    /// Creates an exposition for a run of `plan`, which becomes a label of `busyhour_run_info`.
    #[must_use]
    pub fn new(plan: impl Into<String>) -> Self {
        Self { run: RunSoFar::default(), plan: plan.into(), series: LatestSeries::default() }
    }

    /// The response to a scrape in text format.
    #[must_use]
    pub fn text(&self) -> String {
        exposition_text(self)
    }

    /// The response to a scrape in Prometheus's protobuf format. It contains the histograms both with a few buckets and as
    /// native histograms.
    #[must_use]
    pub fn protobuf(&self) -> Vec<u8> {
        exposition_protobuf(&self.families())
    }

    /// Adds the observed series of the system under test to each scrape.
    pub fn set_series(&mut self, series: LatestSeries) {
        self.series = series;
    }

    fn families(&self) -> Vec<Family> {
        let mut all = families(&self.run, &self.plan);
        all.extend(self.series.families(&all));
        all
    }
}

impl Exporter for Exposition {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.run.add(snapshot);
        Ok(())
    }
}

/// Writes the text of a scrape at the end of the run.
pub struct ExpositionExporter<S> {
    exposition: Exposition,
    sender: S,
}

impl<S: Sender> ExpositionExporter<S> {
    /// Creates an exporter that writes a run of `plan` to `sender`.
    pub fn new(sender: S, plan: &str) -> Self {
        Self { exposition: Exposition::new(plan), sender }
    }
}

impl<S: Sender> Exporter for ExpositionExporter<S> {
    fn second(&mut self, snapshot: &Snapshot) -> Result<(), ExportError> {
        self.exposition.second(snapshot)
    }

    fn finish(&mut self) -> Result<(), ExportError> {
        self.sender.send(&self.exposition.text())
    }
}

/// The response to a scrape in text format, with the metrics collected so far.
#[must_use]
pub fn exposition_text(exposition: &Exposition) -> String {
    let mut out = String::new();
    for family in exposition.families() {
        let name = family.name.as_ref();
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {}", help(&family.help), family.kind.as_str());
        for metric in &family.metrics {
            let labels = labels(metric);
            match &metric.value {
                MetricValue::Number(value) if labels.is_empty() => {
                    let _ = writeln!(out, "{name} {value}");
                }
                MetricValue::Number(value) => {
                    let _ = writeln!(out, "{name}{{{labels}}} {value}");
                }
                MetricValue::Times(times) => histogram(&mut out, name, &labels, times),
            }
        }
    }
    out
}

fn labels(metric: &Metric) -> String {
    let each = metric.labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
    each.collect::<Vec<_>>().join(",")
}

fn histogram(out: &mut String, name: &str, labels: &str, times: &TimeCounts) {
    for (bound, count) in classic_buckets(times) {
        let _ = writeln!(out, "{name}_bucket{{{labels},le=\"{}\"}} {count}", bound_text(bound));
    }
    let _ = writeln!(out, "{name}_sum{{{labels}}} {}", times.sum_ns() as f64 / 1e9);
    let _ = writeln!(out, "{name}_count{{{labels}}} {}", times.count());
}

/// The upper bound of a bucket as the value of the label `le`.
pub(crate) fn bound_text(bound: f64) -> String {
    if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() }
}

/// Escapes the description of a metric.
fn help(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n")
}

/// Escapes the value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
