//! The rules of the catalogue for panels and their lines.

use super::model::{Aspect, Resource, Unit};

/// How a panel is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Lines,
    Stacked,
}

/// The condition under which a panel is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// If it has values.
    Known,
    /// If a value is not zero. Otherwise, its title is listed among the panels that are always 0.
    NotZero,
    /// If a value changed.
    Changed,
}

/// Which sources share a panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Each source has its own panel.
    PerSource,
    /// All sources of the resource have lines in the same panel.
    Across,
}

/// A panel of the catalogue.
#[derive(Debug)]
pub(super) struct PanelRule {
    pub(super) resource: Resource,
    pub(super) aspect: Aspect,
    pub(super) title: &'static str,
    pub(super) help: &'static str,
    pub(super) unit: Unit,
    pub(super) form: Form,
    pub(super) when: When,
    pub(super) scope: Scope,
    pub(super) lines: &'static [LineRule],
}

impl PanelRule {
    pub(super) const fn new(
        resource: Resource,
        aspect: Aspect,
        title: &'static str,
        unit: Unit,
        lines: &'static [LineRule],
    ) -> PanelRule {
        PanelRule {
            resource,
            aspect,
            title,
            help: "",
            unit,
            form: Form::Lines,
            when: When::Known,
            scope: Scope::PerSource,
            lines,
        }
    }

    pub(super) const fn help(mut self, help: &'static str) -> PanelRule {
        self.help = help;
        self
    }

    pub(super) const fn stacked(mut self) -> PanelRule {
        self.form = Form::Stacked;
        self
    }

    pub(super) const fn not_zero(mut self) -> PanelRule {
        self.when = When::NotZero;
        self
    }

    pub(super) const fn changed(mut self) -> PanelRule {
        self.when = When::Changed;
        self
    }

    pub(super) const fn across(mut self) -> PanelRule {
        self.scope = Scope::Across;
        self
    }

    /// The metrics of all lines, each once.
    pub(super) fn metrics(&self) -> Vec<&'static str> {
        let mut metrics: Vec<&str> =
            self.lines.iter().flat_map(|line| [Some(line.metric), line.less]).flatten().collect();
        metrics.sort_unstable();
        metrics.dedup();
        metrics
    }
}

/// The rule for one line of a panel, or for one line per value of some labels.
#[derive(Debug)]
pub(super) struct LineRule {
    pub(super) metric: &'static str,
    /// The text before the values of the labels.
    pub(super) name: &'static str,
    /// There is a line for each combination of these labels. Series that differ in other labels are added up.
    pub(super) by: &'static [&'static str],
    /// Only series whose label has this value.
    pub(super) only: Option<(&'static str, &'static str)>,
    /// A metric that is subtracted.
    pub(super) less: Option<&'static str>,
    pub(super) factor: f64,
    pub(super) is_limit: bool,
}

impl LineRule {
    pub(super) const fn new(metric: &'static str, name: &'static str) -> LineRule {
        LineRule { metric, name, by: &[], only: None, less: None, factor: 1.0, is_limit: false }
    }

    pub(super) const fn by(mut self, labels: &'static [&'static str]) -> LineRule {
        self.by = labels;
        self
    }

    pub(super) const fn only(mut self, label: &'static str, value: &'static str) -> LineRule {
        self.only = Some((label, value));
        self
    }

    pub(super) const fn less(mut self, metric: &'static str) -> LineRule {
        self.less = Some(metric);
        self
    }

    /// Converts seconds per second to per cent.
    pub(super) const fn percent(mut self) -> LineRule {
        self.factor = 100.0;
        self
    }

    pub(super) const fn limit(mut self) -> LineRule {
        self.is_limit = true;
        self
    }
}

/// The rule for a line of this metric.
pub(super) const fn line(metric: &'static str, name: &'static str) -> LineRule {
    LineRule::new(metric, name)
}

/// A panel about an aspect of a resource.
pub(super) const fn panel(
    of: (Resource, Aspect),
    title: &'static str,
    unit: Unit,
    lines: &'static [LineRule],
) -> PanelRule {
    PanelRule::new(of.0, of.1, title, unit, lines)
}
