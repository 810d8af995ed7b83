//! The lines of a panel: their series and their values.

use std::collections::BTreeMap;

use busyhour_series::SeriesData;

use super::grid::{add, figures, slices, subtract};
use super::model::{PanelLine, TimeAxis};
use super::rule::LineRule;
use super::survey::{Survey, Surveyed};

/// Maximum number of lines of a panel.
pub(super) const LINES_MAX: usize = 6;

/// Maximum number of series that are added up for a line.
const SERIES_OF_LINE_MAX: usize = 256;

/// A line before its values are read.
#[derive(Debug)]
pub(super) struct PlannedLine {
    pub(super) name: String,
    /// Indices of the series that are added up.
    pub(super) series: Vec<usize>,
    /// Indices of the series that are subtracted.
    pub(super) less: Vec<usize>,
    /// Indices of the series whose sum is 100 %; empty if the values are not shares.
    pub(super) share_of: Vec<usize>,
    pub(super) factor: f64,
    /// A constant that is added to the sum, such as 100 % from which idle time is subtracted.
    pub(super) offset: f64,
    pub(super) is_limit: bool,
    /// The text before the name, and the values of labels. A line and its limit have the same key.
    pub(super) key: (String, Vec<String>),
    /// The largest value, as far as it is known before reading.
    pub(super) largest: f64,
    /// Whether a value changed.
    pub(super) is_changing: bool,
}

impl PlannedLine {
    /// A line without series.
    pub(super) fn new(name: String, factor: f64) -> PlannedLine {
        PlannedLine {
            name,
            series: Vec::new(),
            less: Vec::new(),
            share_of: Vec::new(),
            factor,
            offset: 0.0,
            is_limit: false,
            key: Default::default(),
            largest: 0.0,
            is_changing: false,
        }
    }

    /// Indices of all series that are needed.
    pub(super) fn needed(&self) -> impl Iterator<Item = usize> {
        self.series.iter().chain(&self.less).chain(&self.share_of).copied()
    }
}

/// The lines of these rules for the series with these indices. `prefix` returns the text before the name, such as the
/// source.
pub(super) fn plan(
    survey: &Survey,
    rules: &[LineRule],
    series: &[usize],
    prefix: impl Fn(&Surveyed) -> String,
) -> Vec<PlannedLine> {
    let mut lines = Vec::new();
    for rule in rules {
        let is_of = |number: &&usize, metric: &str| {
            let one = &survey.series[**number];
            one.info.name == metric
                && one.values > 0
                && rule.only.is_none_or(|(label, value)| one.label(label) == Some(value))
        };
        let mut groups: BTreeMap<(String, Vec<&str>), PlannedLine> = BTreeMap::new();
        for number in series.iter().filter(|number| is_of(number, rule.metric)) {
            let one = &survey.series[*number];
            let labels: Vec<&str> = rule.by.iter().filter_map(|label| one.label(label)).collect();
            let line =
                groups.entry((prefix(one), labels)).or_insert_with_key(|(prefix, labels)| PlannedLine {
                    is_limit: rule.is_limit,
                    key: (prefix.clone(), labels.iter().map(|label| (*label).to_owned()).collect()),
                    ..PlannedLine::new(joined(prefix, rule, labels), rule.factor)
                });
            if line.series.len() < SERIES_OF_LINE_MAX {
                line.series.push(*number);
            }
            line.largest += one.max * rule.factor;
            line.is_changing |= one.max > one.min;
        }
        if let Some(less) = rule.less {
            let subtracted: Vec<usize> =
                series.iter().filter(|number| is_of(number, less)).copied().collect();
            for line in groups.values_mut() {
                line.largest -=
                    subtracted.iter().map(|number| survey.series[*number].min * rule.factor).sum::<f64>();
                line.is_changing |=
                    subtracted.iter().any(|number| survey.series[*number].max > survey.series[*number].min);
                line.less.clone_from(&subtracted);
            }
            groups.retain(|_, line| !line.less.is_empty());
        }
        lines.extend(groups.into_values());
    }
    lines
}

/// The name of a line: the prefix, the name in the rule and the values of the labels. If all are empty, the name of the
/// metric.
fn joined(prefix: &str, rule: &LineRule, labels: &[&str]) -> String {
    let parts = [prefix, rule.name].into_iter().chain(labels.iter().copied());
    let name = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    if name.is_empty() { rule.metric.to_owned() } else { name }
}

/// The lines of a panel that are not drawn.
#[derive(Debug, Default)]
pub(super) struct NotDrawn {
    /// Number of lines whose values are smaller than those of the drawn lines.
    pub(super) further: usize,
    /// Names of lines that are always 0.
    pub(super) zero: Vec<String>,
}

/// Keeps the lines with the largest values, in their order, and the limits that belong to one of them. Lines that are
/// always 0 are kept only if all lines are always 0.
pub(super) fn keep_largest(lines: &mut Vec<PlannedLine>) -> NotDrawn {
    let mut not_drawn = NotDrawn::default();
    if lines.iter().any(|line| !line.is_limit && line.largest > 0.0) {
        lines.retain_mut(|line| {
            let is_zero = !line.is_limit && !line.is_changing && line.largest == 0.0;
            if is_zero {
                not_drawn.zero.push(std::mem::take(&mut line.name));
            }
            !is_zero
        });
    }
    let mut order: Vec<usize> = (0..lines.len()).filter(|at| !lines[*at].is_limit).collect();
    not_drawn.further = order.len().saturating_sub(LINES_MAX);
    order.sort_by(|a, b| lines[*b].largest.total_cmp(&lines[*a].largest));
    order.truncate(LINES_MAX);
    let kept_keys: Vec<_> = order.iter().map(|at| lines[*at].key.clone()).collect();
    let mut limits = 0;
    let mut at = 0;
    lines.retain(|line| {
        at += 1;
        if !line.is_limit {
            return order.contains(&(at - 1));
        }
        let belongs = line.key.1.is_empty() || kept_keys.contains(&line.key);
        limits += usize::from(belongs);
        belongs && limits <= LINES_MAX
    });
    not_drawn
}

/// The values of a planned line.
pub(super) fn line(
    planned: PlannedLine,
    data: &[SeriesData],
    axis: &TimeAxis,
    part: std::ops::Range<usize>,
) -> PanelLine {
    let of = |number: &usize| slices(axis, data[*number].info.kind, &data[*number].points);
    let mut values = vec![None; axis.count];
    for number in &planned.series {
        add(&mut values, &of(number), planned.factor);
    }
    for number in &planned.less {
        let other: Vec<_> =
            of(number).iter().map(|value| value.map(|value| value * planned.factor)).collect();
        subtract(&mut values, &other);
    }
    if !planned.share_of.is_empty() {
        let mut whole = vec![None; axis.count];
        planned.share_of.iter().for_each(|number| add(&mut whole, &of(number), 1.0));
        for (value, whole) in values.iter_mut().zip(whole) {
            *value = value.zip(whole).filter(|(_, whole)| *whole > 0.0).map(|(value, whole)| value / whole);
        }
    }
    if planned.offset != 0.0 {
        // Idle time is counted in ticks of 10 ms, so it can be slightly longer than the interval.
        values.iter_mut().flatten().for_each(|value| *value = (*value + planned.offset).max(0.0));
    }
    PanelLine { figures: figures(&values, part), name: planned.name, values, is_limit: planned.is_limit }
}
