//! A run as Prometheus's text exposition (format 0.0.4).

use std::fmt::Write as _;

use busyhour_sample::{Snapshot, TimeCounts};

use crate::exposition_protobuf::exposition_protobuf;
use crate::metrics::{Family, Metric, MetricValue, classic_buckets, families};
use crate::totals::RunSoFar;
use crate::{ExportError, Exporter, Sender};

/// Collects a run for scrapes. Counters only increase, as Prometheus requires.
#[derive(Debug, Clone, Default)]
pub struct Exposition {
    run: RunSoFar,
    plan: String,
}

impl Exposition {
    /// Of a run of `plan`, which is a label of `busyhour_run_info`.
    #[must_use]
    pub fn new(plan: impl Into<String>) -> Self {
        Self { run: RunSoFar::default(), plan: plan.into() }
    }

    /// The text of a scrape.
    #[must_use]
    pub fn text(&self) -> String {
        exposition_text(self)
    }

    /// A scrape in Prometheus's protobuf form, which has the histograms both with a few buckets and as native ones.
    #[must_use]
    pub fn protobuf(&self) -> Vec<u8> {
        exposition_protobuf(&self.families())
    }

    fn families(&self) -> Vec<Family> {
        families(&self.run, &self.plan)
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
    /// Writes by `sender` a run of `plan`.
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

/// The text of a scrape of what was collected so far.
#[must_use]
pub fn exposition_text(exposition: &Exposition) -> String {
    let mut out = String::new();
    for family in exposition.families() {
        let name = family.name;
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {}", family.help, family.kind.as_str());
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

/// A bucket's upper bound as the label `le` has it.
pub(crate) fn bound_text(bound: f64) -> String {
    if bound.is_finite() { bound.to_string() } else { "+Inf".to_owned() }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
