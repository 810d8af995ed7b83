//! A run in Prometheus's text exposition format (0.0.4).

use busyhour_sample::Snapshot;
use busyhour_server::exposition::{ExpositionFamily, ExpositionSample, ExpositionValue, write_exposition};

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
    let families = exposition.families();
    let written: Vec<_> = families.iter().map(written_family).collect();
    let mut out = String::new();
    write_exposition(&written, &mut out);
    out
}

fn written_family(family: &Family) -> ExpositionFamily<'_> {
    ExpositionFamily {
        name: &family.name,
        family_type: family.family_type,
        help: &family.help,
        samples: family.metrics.iter().map(written_sample).collect(),
    }
}

fn written_sample(metric: &Metric) -> ExpositionSample<'_> {
    let value = match &metric.value {
        MetricValue::Number(value) => ExpositionValue::Number(*value),
        MetricValue::Times(times) => ExpositionValue::Histogram {
            buckets: classic_buckets(times).collect(),
            sum: times.sum_ns() as f64 / 1e9,
            count: times.count(),
        },
    };
    let labels = metric.labels.iter().map(|(name, value)| (name.as_ref(), value.as_str())).collect();
    ExpositionSample { labels, value, stamp_ms: None }
}
