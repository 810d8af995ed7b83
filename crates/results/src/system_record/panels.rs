//! Chooses the panels of the page and reads their values.
//!
//! 1. Known panels are in the order of the catalogue. Panels about errors and saturation are shown only if something
//!    happened.
//! 2. A panel shows the lines with the largest values.
//! 3. Exported metrics that no known panel shows get a panel if they are among those that changed most.
//! 4. All other metrics are listed by name.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use busyhour_series::{MetricKind, SeriesData};

use super::catalogue::{BUSY_CORES, CPU_METRIC, CPU_TIME, IDLE_FOR_DISKS, SHOWN_ELSEWHERE, panels};
use super::lines::{NotDrawn, PlannedLine, keep_largest, line, plan};
use super::model::{Aspect, OmittedMetric, Panel, PanelLine, PanelName, Resource, TimeAxis, Unit};
use super::rule::{Form, PanelRule, Scope, When};
use super::survey::{Survey, Surveyed};
use super::{cpu, grid};

/// Maximum number of panels.
pub(super) const PANELS_MAX: usize = 60;

/// Maximum number of sources of a resource with their own panels. The first sources, which are the targets of the run,
/// have them.
const SOURCES_MAX: usize = 4;

/// Maximum number of panels of an exporter for metrics that no known panel shows.
const EXPORTED_MAX: usize = 12;

/// Maximum number of lines of a panel that are listed as always 0.
const ZERO_MAX: usize = 12;

/// Maximum number of panels that are listed with the reason why they have no values.
const MISSING_MAX: usize = 60;

/// Minimum share of a CPU for showing the time in which idle CPUs wait for a disk.
const IDLE_MIN: f64 = 0.01;

/// Sources all of whose metrics are in the catalogue.
const OWN_SOURCES: [&str; 12] = [
    "os", "network:", "process:", "cgroup:", "jvm:", "gc:", "log:", "journal", "stall", "observe", "perf:",
    "resctrl",
];

/// A panel before its values are read.
#[derive(Debug)]
pub(super) struct PlannedPanel {
    panel: Panel,
    lines: Vec<PlannedLine>,
}

impl PlannedPanel {
    /// Indices of the series that are needed.
    pub(super) fn needed(&self) -> impl Iterator<Item = usize> {
        self.lines.iter().flat_map(PlannedLine::needed)
    }

    /// The panel with its values.
    pub(super) fn read(self, data: &[SeriesData], axis: &TimeAxis, part: &std::ops::Range<usize>) -> Panel {
        let lines = self.lines.into_iter().map(|planned| line(planned, data, axis, part.clone()));
        let mut lines: Vec<PanelLine> = lines.collect();
        if self.panel.is_stacked && self.panel.resource != Resource::Cpu {
            // The line with the smallest range is at the bottom, so that the other lines are readable. Modes of CPUs
            // have their own order.
            let range = |line: &PanelLine| line.figures.map_or(0.0, |figures| figures.max - figures.min);
            lines.sort_by(|a, b| a.is_limit.cmp(&b.is_limit).then(range(a).total_cmp(&range(b))));
        }
        Panel { lines, ..self.panel }
    }
}

/// The panels and metrics that are shown, and those that are not.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) panels: Vec<PlannedPanel>,
    /// Panels that are not shown because all their values are 0.
    pub(super) quiet: Vec<PanelName>,
    /// Panels whose values are unavailable, with the reason.
    pub(super) missing: Vec<(PanelName, String)>,
    /// Metrics that are not shown.
    pub(super) omitted: Vec<OmittedMetric>,
}

/// Chooses the panels. `name` returns the name of a source for users.
pub(super) fn choose(survey: &Survey, name: &dyn Fn(&str) -> String) -> Plan {
    let mut by_source: BTreeMap<u32, FxHashMap<&str, Vec<usize>>> = BTreeMap::new();
    for (number, one) in survey.series.iter().enumerate() {
        let metrics = by_source.entry(one.info.source).or_default();
        metrics.entry(one.info.name.as_str()).or_default().push(number);
    }
    let resources = sources_by_resource(&by_source);
    let used = vec![false; survey.series.len()];
    let mut choice = Choice { survey, name, by_source, resources, used, plan: Plan::default() };
    choice.add_cpu();
    for rule in panels() {
        match rule.scope {
            Scope::PerSource => choice.add_per_source(rule),
            Scope::Across => choice.add_across(rule),
        }
    }
    choice.add_exported();
    choice.add_missing();
    choice.finish()
}

/// Number of sources with metrics of each resource.
fn sources_by_resource(by_source: &BTreeMap<u32, FxHashMap<&str, Vec<usize>>>) -> BTreeMap<Resource, usize> {
    let mut metrics: BTreeMap<Resource, Vec<&str>> = BTreeMap::new();
    for rule in panels() {
        metrics.entry(rule.resource).or_default().extend(rule.metrics());
    }
    let sources = |metrics: Vec<&str>| {
        let has_one =
            |known: &&FxHashMap<&str, Vec<usize>>| metrics.iter().any(|metric| known.contains_key(metric));
        by_source.values().filter(has_one).count()
    };
    metrics.into_iter().map(|(resource, metrics)| (resource, sources(metrics))).collect()
}

struct Choice<'s> {
    survey: &'s Survey,
    name: &'s dyn Fn(&str) -> String,
    /// The series of each source by metric.
    by_source: BTreeMap<u32, FxHashMap<&'s str, Vec<usize>>>,
    /// Number of sources with metrics of each resource.
    resources: BTreeMap<Resource, usize>,
    used: Vec<bool>,
    plan: Plan,
}

impl Choice<'_> {
    /// The sources with at least one of these metrics, and the series of each source for these metrics.
    fn sources(&self, metrics: &[&str]) -> Vec<(u32, Vec<usize>)> {
        let of = |known: &FxHashMap<&str, Vec<usize>>| {
            let of = metrics.iter().filter_map(|metric| known.get(metric)).flatten().copied();
            of.collect::<Vec<usize>>()
        };
        let all = self.by_source.iter().map(|(source, known)| (*source, of(known)));
        all.filter(|(_, numbers)| !numbers.is_empty()).collect()
    }

    fn add_cpu(&mut self) {
        let sources = self.sources(&[CPU_METRIC]);
        for (source, numbers) in sources.iter().take(SOURCES_MAX) {
            let source = self.shown_source(*source, sources.len());
            self.push(&CPU_TIME, source.clone(), cpu::modes(self.survey, numbers), NotDrawn::default());
            let (cores, not_drawn) = cpu::cores(self.survey, numbers);
            self.push(&BUSY_CORES, source.clone(), cores, not_drawn);
            let mut idle = cpu::idle_for_disks(self.survey, numbers);
            idle.retain(|line| line.largest > IDLE_MIN);
            self.push(&IDLE_FOR_DISKS, source, idle, NotDrawn::default());
        }
    }

    /// Adds a panel with these lines, if there are any.
    fn push(&mut self, rule: &PanelRule, source: String, lines: Vec<PlannedLine>, not_drawn: NotDrawn) {
        if lines.is_empty() || self.plan.panels.len() >= PANELS_MAX {
            return;
        }
        let panel = Panel {
            resource: rule.resource,
            source,
            aspect: rule.aspect,
            title: rule.title.to_owned(),
            help: rule.help.to_owned(),
            unit: rule.unit,
            is_stacked: rule.form == Form::Stacked,
            lines: Vec::new(),
            has_leading_line: rule.scope == Scope::PerSource
                && rule.lines.first().is_some_and(|line| line.by.is_empty()),
            further: not_drawn.further,
            zero: not_drawn.zero.into_iter().take(ZERO_MAX).collect(),
        };
        self.plan.panels.push(PlannedPanel { panel, lines });
    }

    fn shown_source(&self, source: u32, sources: usize) -> String {
        if sources > 1 { (self.name)(self.survey.source(source)) } else { String::new() }
    }

    fn mark_used(&mut self, numbers: &[usize]) {
        numbers.iter().for_each(|number| self.used[*number] = true);
    }

    fn add_per_source(&mut self, rule: &'static PanelRule) {
        let sources = self.sources(&rule.metrics());
        let of_resource = self.resources.get(&rule.resource).copied().unwrap_or_default();
        for (source, numbers) in sources.iter().take(SOURCES_MAX) {
            let lines = plan(self.survey, rule.lines, numbers, |_| String::new());
            let source = self.shown_source(*source, of_resource);
            self.add(rule, source, numbers, lines);
        }
    }

    fn add_across(&mut self, rule: &'static PanelRule) {
        let sources = self.sources(&rule.metrics());
        let numbers: Vec<usize> = sources.into_iter().flat_map(|(_, numbers)| numbers).collect();
        let prefix = |one: &Surveyed| (self.name)(self.survey.source(one.info.source));
        let lines = plan(self.survey, rule.lines, &numbers, prefix);
        self.add(rule, String::new(), &numbers, lines);
    }

    fn add(&mut self, rule: &PanelRule, source: String, numbers: &[usize], mut lines: Vec<PlannedLine>) {
        let values = || lines.iter().filter(|line| !line.is_limit);
        if values().next().is_none() {
            return;
        }
        let is_shown = match rule.when {
            When::Known => true,
            When::NotZero => values().any(|line| line.largest > 0.0),
            When::Changed => values().any(|line| line.is_changing),
        };
        if !is_shown {
            self.mark_used(numbers);
            if rule.when == When::NotZero {
                self.plan.quiet.push(panel_name(rule, source));
            }
            return;
        }
        if self.plan.panels.len() >= PANELS_MAX {
            return;
        }
        self.mark_used(numbers);
        let not_drawn = keep_largest(&mut lines);
        self.push(rule, source, lines, not_drawn);
    }

    fn add_exported(&mut self) {
        for (source, known) in self.by_source.clone() {
            let source_name = self.survey.source(source);
            if OWN_SOURCES.iter().any(|own| source_name.starts_with(own)) {
                continue;
            }
            let mut metrics: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for (name, numbers) in known {
                let is_candidate = |number: &usize| {
                    let one = &self.survey.series[*number];
                    !self.used[*number] && one.values > 0 && one.max > one.min
                };
                let numbers: Vec<usize> = numbers.into_iter().filter(is_candidate).collect();
                if !numbers.is_empty() && !SHOWN_ELSEWHERE.contains(&name) {
                    metrics.insert(name, numbers);
                }
            }
            let mut ranked: Vec<(f64, &str, Vec<usize>)> = metrics
                .into_iter()
                .map(|(name, numbers)| (change(self.survey, &numbers), name, numbers))
                .collect();
            ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
            for (_, metric, numbers) in ranked.into_iter().take(EXPORTED_MAX) {
                self.add_metric(source, metric, &numbers);
            }
        }
    }

    /// A panel with a line for each series of a metric.
    fn add_metric(&mut self, source: u32, metric: &str, numbers: &[usize]) {
        if self.plan.panels.len() >= PANELS_MAX {
            return;
        }
        let first = &self.survey.series[numbers[0]].info;
        let (unit, factor) = unit_of(metric, first.kind);
        let mut lines: Vec<PlannedLine> = numbers
            .iter()
            .map(|number| {
                let one = &self.survey.series[*number];
                let labels: Vec<&str> = one.info.labels.iter().map(|(_, value)| value.as_str()).collect();
                let name = if labels.is_empty() { metric.to_owned() } else { labels.join(" ") };
                let mut line = PlannedLine::new(name, factor);
                line.series.push(*number);
                line.largest = one.max * factor;
                line
            })
            .collect();
        let not_drawn = keep_largest(&mut lines);
        numbers.iter().for_each(|number| self.used[*number] = true);
        let panel = Panel {
            resource: Resource::Exported,
            source: (self.name)(self.survey.source(source)),
            aspect: Aspect::Traffic,
            title: metric.to_owned(),
            help: first.help.clone(),
            unit,
            is_stacked: false,
            lines: Vec::new(),
            has_leading_line: false,
            further: not_drawn.further,
            zero: not_drawn.zero.into_iter().take(ZERO_MAX).collect(),
        };
        self.plan.panels.push(PlannedPanel { panel, lines });
    }

    /// Lists the known panels that have no values because a metric is unavailable.
    fn add_missing(&mut self) {
        for info in &self.survey.unavailable {
            if self.plan.missing.len() >= MISSING_MAX {
                return;
            }
            let uses = |rule: &&PanelRule| rule.metrics().contains(&info.metric.as_str());
            for rule in panels().filter(uses) {
                let source = match rule.scope {
                    Scope::PerSource => {
                        let of_resource = self.resources.get(&rule.resource).copied().unwrap_or_default();
                        self.shown_source(info.source, of_resource)
                    }
                    Scope::Across => (self.name)(self.survey.source(info.source)),
                };
                let name = panel_name(rule, source);
                let is_known =
                    self.by_source.get(&info.source).is_some_and(|known| known.contains_key(&*info.metric))
                        || self.plan.missing.iter().any(|(other, _)| *other == name);
                if !is_known {
                    self.plan.missing.push((name, info.reason.clone()));
                }
            }
        }
    }

    fn finish(mut self) -> Plan {
        let mut omitted: BTreeMap<(u32, &str), usize> = BTreeMap::new();
        for (number, one) in self.survey.series.iter().enumerate() {
            if !self.used[number] && one.values > 0 && !SHOWN_ELSEWHERE.contains(&one.info.name.as_str()) {
                *omitted.entry((one.info.source, &one.info.name)).or_default() += 1;
            }
        }
        self.plan.omitted = omitted
            .into_iter()
            .map(|((source, metric), series)| OmittedMetric {
                source: self.survey.source(source).to_owned(),
                metric: metric.to_owned(),
                series,
            })
            .collect();
        self.plan.panels.sort_by(|a, b| key(&a.panel).cmp(&key(&b.panel)));
        self.plan
    }
}

fn panel_name(rule: &PanelRule, source: String) -> PanelName {
    PanelName { resource: rule.resource, source, aspect: rule.aspect, title: rule.title.to_owned() }
}

/// The sort key of a panel. It keeps the panels of a resource and source together, in the order of aspects.
fn key(panel: &Panel) -> (Resource, &str, Aspect) {
    (panel.resource, &panel.source, panel.aspect)
}

/// The largest change of a series of a metric, relative to its largest value.
fn change(survey: &Survey, numbers: &[usize]) -> f64 {
    let of = numbers.iter().map(|number| &survey.series[*number]);
    let changes = of.map(|one| (one.max - one.min) / one.max.abs().max(one.min.abs()));
    changes.fold(0.0, f64::max)
}

/// The unit that the name of a metric contains, and the factor that converts its values to this unit.
fn unit_of(metric: &str, kind: MetricKind) -> (Unit, f64) {
    let name = metric.trim_end_matches("_total");
    match kind {
        MetricKind::Counter if name.ends_with("_bytes") => (Unit::BytesPerSecond, 1.0),
        MetricKind::Counter if name.ends_with("_seconds") => (Unit::Plain, 1.0),
        MetricKind::Counter => (Unit::PerSecond, 1.0),
        MetricKind::Gauge if name.ends_with("_bytes") => (Unit::Bytes, 1.0),
        MetricKind::Gauge if name.ends_with("_seconds") => (Unit::Seconds, 1.0),
        MetricKind::Gauge if name.ends_with("_ratio") => (Unit::Percent, 100.0),
        MetricKind::Gauge => (Unit::Plain, 1.0),
    }
}

/// Adds a line with the number of CPUs, as the limit of the run queue of a machine.
pub(super) fn add_cpu_limit(
    panels: &mut [Panel],
    cpus: usize,
    axis: &TimeAxis,
    part: &std::ops::Range<usize>,
) {
    let is_queue = |panel: &&mut Panel| {
        panel.resource == Resource::Cpu && panel.aspect == Aspect::Saturation && panel.unit == Unit::Count
    };
    if cpus == 0 {
        return;
    }
    if let Some(panel) = panels.iter_mut().find(is_queue) {
        let values = vec![Some(cpus as f64); axis.count];
        let figures = grid::figures(&values, part.clone());
        panel.lines.push(PanelLine { name: "CPUs".to_owned(), values, figures, is_limit: true });
    }
}
