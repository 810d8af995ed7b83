//! The comparison of two groups of runs, as written to JSON and shown on pages.

use busyhour_sample::SampleKind;
use busyhour_stats::Selection;
use serde::{Deserialize, Serialize};

use super::caveat::{self, ComparisonCaveat, ReportedComparisonCaveat};
use super::differences::{RunDifference, only_in};
use super::effect::{LabelEffect, Margins, RawEffect, Verdict};
use super::measure::{Measure, Measured};
use super::run::{CurvePoint, MeasuredRow, MeasuredRun, Quartiles, RunSeries, curve, quartiles};
use super::system::SystemComparison;
use super::tally::{ComparedClock, RunWindow};

/// Version of the JSON format.
pub const COMPARISON_VERSION: u32 = 1;

/// Settings of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSettings {
    /// Whether response times or service times are compared.
    pub clock: ComparedClock,
    /// Differences within these margins are immaterial.
    pub margins: Margins,
    /// Maximum expected share of false differences among the reported differences; 0.05 by default.
    pub false_rate: f64,
    /// The measured part of each run; `None` for the whole run.
    pub window: Option<RunWindow>,
    /// Whether only the steady part of each run is compared.
    #[serde(default)]
    pub steady: bool,
    /// Seed of the bootstrap.
    pub seed: u64,
}

impl Default for ComparisonSettings {
    fn default() -> ComparisonSettings {
        ComparisonSettings {
            clock: ComparedClock::default(),
            margins: Margins::default(),
            false_rate: 0.05,
            window: None,
            steady: false,
            seed: 1,
        }
    }
}

/// A comparison of two groups of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The format version, [`COMPARISON_VERSION`].
    pub version: u32,
    /// The settings.
    pub settings: ComparisonSettings,
    /// Runs before the change.
    pub base: Side,
    /// Runs after the change.
    pub new: Side,
    /// All requests.
    pub total: ComparedRow,
    /// Labels that occur on both sides, in the order of the first run before the change.
    pub labels: Vec<ComparedRow>,
    /// Labels that occur only in runs before the change.
    pub only_base: Vec<String>,
    /// Labels that occur only in runs after the change.
    pub only_new: Vec<String>,
    /// The tests on the total.
    #[serde(rename = "asked_of_total")]
    pub total_tests: TestFamily,
    /// The tests on the labels.
    #[serde(rename = "asked_of_labels")]
    pub label_tests: TestFamily,
    /// Reasons to doubt the comparison.
    pub caveats: Vec<ReportedComparisonCaveat>,
    /// The system under test on both sides, which is compared without a significance test; `None` if no run was observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemComparison>,
}

/// Hypothesis tests whose p-values were adjusted together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TestFamily {
    /// Number of tests for which there are enough data.
    #[serde(rename = "questions")]
    pub tests: usize,
    /// Number of tests that found a difference.
    pub differences: usize,
    /// Confidence of the intervals of these differences, 0 to 1. It increases, and the intervals widen, with the number of tests
    /// (Benjamini and Yekutieli 2005).
    pub confidence: f64,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Name of the side.
    pub name: String,
    /// Runs of the side.
    pub runs: Vec<ComparedRun>,
}

/// A run of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// Path of the run.
    pub name: String,
    /// The test plan's name; empty when unknown.
    pub plan_name: String,
    /// SHA-256 of the plan; empty when unknown.
    pub plan_sha256: String,
    /// Start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Start of the measured part, in seconds from the start of the run.
    pub from_s: f64,
    /// End of the measured part, in seconds from the start of the run.
    pub to_s: f64,
    /// Number of users that were started, or of distinct user names; `None` if unknown, or if all load was open.
    pub users: Option<u64>,
    /// Number of requests.
    pub requests: u64,
    /// Number of failed requests.
    pub errors: u64,
    /// Time series of the run.
    #[serde(rename = "course")]
    pub series: RunSeries,
}

/// A label of a comparison, or the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRow {
    /// The label.
    pub label: String,
    /// Kind of the samples.
    pub kind: SampleKind,
    /// Samples and errors of all runs before the change.
    pub base: Counted,
    /// Samples and errors of all runs after the change.
    pub new: Counted,
    /// The effects, in the order of [`Measure::ALL`].
    pub effects: Vec<LabelEffect>,
    /// Interquartile range of the times of all runs before the change; `None` if there are too few times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_quartiles: Option<Quartiles>,
    /// Interquartile range of the times of all runs after the change; `None` if there are too few times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_quartiles: Option<Quartiles>,
    /// Distribution of the times of all runs before the change.
    pub base_curve: Vec<CurvePoint>,
    /// Distribution of the times of all runs after the change.
    pub new_curve: Vec<CurvePoint>,
}

/// Sample counts of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Number of samples.
    pub samples: u64,
    /// Number of failed samples.
    pub errors: u64,
}

impl ComparedRow {
    /// The effect on a measure.
    #[must_use]
    pub fn effect(&self, measure: Measure) -> Option<&LabelEffect> {
        self.effects.iter().find(|effect| effect.measure == measure)
    }
}

/// A row before its effects are judged.
struct RawRow<'a> {
    label: String,
    kind: SampleKind,
    base: Vec<&'a MeasuredRow>,
    new: Vec<&'a MeasuredRow>,
    effects: Vec<RawEffect>,
}

impl<'a> RawRow<'a> {
    /// Creates a row. `base` and `new` are the rows of each run; `None` for runs that do not have this row.
    fn new(
        label: &str,
        kind: SampleKind,
        base: &[Option<&'a MeasuredRow>],
        new: &[Option<&'a MeasuredRow>],
    ) -> RawRow<'a> {
        let of = |side: &[Option<&MeasuredRow>], measure| -> Vec<Option<Measured>> {
            side.iter().map(|row| row.and_then(|row| row.measured(measure))).collect()
        };
        let effect = |measure| RawEffect::new(measure, &of(base, measure), &of(new, measure));
        RawRow {
            label: label.to_owned(),
            kind,
            base: base.iter().flatten().copied().collect(),
            new: new.iter().flatten().copied().collect(),
            effects: Measure::ALL.map(effect).into(),
        }
    }

    fn judge(self, settings: &ComparisonSettings, selection: &Selection) -> ComparedRow {
        let counted = |rows: &[&MeasuredRow]| Counted {
            samples: rows.iter().map(|row| row.samples).sum(),
            errors: rows.iter().map(|row| row.errors).sum(),
        };
        ComparedRow {
            label: self.label,
            kind: self.kind,
            base: counted(&self.base),
            new: counted(&self.new),
            effects: self
                .effects
                .into_iter()
                .map(|effect| effect.judge(&settings.margins, selection, settings.false_rate))
                .collect(),
            base_quartiles: quartiles(&self.base),
            new_quartiles: quartiles(&self.new),
            base_curve: curve(&self.base),
            new_curve: curve(&self.new),
        }
    }
}

/// Tests all measures of the rows together.
fn judge(rows: Vec<RawRow<'_>>, settings: &ComparisonSettings) -> (Vec<ComparedRow>, TestFamily) {
    let p_values: Vec<f64> = rows.iter().flat_map(|row| &row.effects).map(RawEffect::p_value).collect();
    let selection = busyhour_stats::select(&p_values, settings.false_rate);
    let family = TestFamily {
        tests: selection.tests,
        differences: selection.rejected,
        confidence: selection.confidence,
    };
    (rows.into_iter().map(|row| row.judge(settings, &selection)).collect(), family)
}

impl Comparison {
    /// Compares the runs of `base` with those of `new`, without checking them for [`super::differences`]. `allowed` are the
    /// differences that the user allowed, for which caveats are added. `None` if a side has no run.
    #[must_use]
    pub fn new(
        base: &[MeasuredRun],
        new: &[MeasuredRun],
        settings: ComparisonSettings,
        allowed: Vec<RunDifference>,
    ) -> Option<Comparison> {
        if base.is_empty() || new.is_empty() {
            return None;
        }
        let total = RawRow::new("Total", SampleKind::Request, &totals(base), &totals(new));
        let (mut total, total_tests) = judge(vec![total], &settings);
        let (labels, label_tests) = judge(label_rows(base, new), &settings);
        let names = |labels: Vec<(String, f64)>| labels.into_iter().map(|(label, _)| label).collect();
        let mut caveats: Vec<ComparisonCaveat> =
            caveat::of_numbers(base.len(), new.len()).into_iter().collect();
        caveats.extend(allowed.into_iter().map(|difference| ComparisonCaveat::RunsDiffer { difference }));
        caveats.extend(caveat::of_runs(base.iter().chain(new)));
        Some(Comparison {
            version: COMPARISON_VERSION,
            settings,
            base: side("before", base),
            new: side("after", new),
            total: total.pop()?,
            labels,
            only_base: names(only_in(base, new)),
            only_new: names(only_in(new, base)),
            total_tests,
            label_tests,
            caveats: caveats.into_iter().map(ReportedComparisonCaveat::from).collect(),
            system: SystemComparison::of(base, new),
        })
    }

    /// All rows, the total last.
    pub fn rows(&self) -> impl Iterator<Item = &ComparedRow> {
        self.labels.iter().chain([&self.total])
    }

    /// Number of effects in all rows with this verdict.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows().flat_map(|row| &row.effects).filter(|effect| effect.verdict == verdict).count()
    }

    /// Serializes the comparison as JSON, in format version [`COMPARISON_VERSION`].
    #[must_use]
    pub fn to_json(&self) -> String {
        // Cannot fail: the comparison consists of strings, numbers and lists.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn totals(runs: &[MeasuredRun]) -> Vec<Option<&MeasuredRow>> {
    runs.iter().map(|run| Some(&run.total)).collect()
}

/// Rows of the labels that occur on both sides. If a run lacks a label, the label's measures have too little data.
fn label_rows<'a>(base: &'a [MeasuredRun], new: &'a [MeasuredRun]) -> Vec<RawRow<'a>> {
    let mut seen: Vec<(&str, SampleKind)> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for row in base.iter().flat_map(|run| &run.labels) {
        if known.insert((row.label.as_str(), row.kind)) {
            seen.push((&row.label, row.kind));
        }
    }
    let row = |(label, kind): (&str, SampleKind)| {
        let of = |side: &'a [MeasuredRun]| -> Vec<Option<&'a MeasuredRow>> {
            side.iter().map(|run| run.label(label, kind)).collect()
        };
        let (base, new) = (of(base), of(new));
        new.iter().any(Option::is_some).then(|| RawRow::new(label, kind, &base, &new))
    };
    seen.into_iter().filter_map(row).collect()
}

fn side(name: &str, runs: &[MeasuredRun]) -> Side {
    Side { name: name.to_owned(), runs: runs.iter().map(ComparedRun::of).collect() }
}

impl ComparedRun {
    pub(super) fn of(run: &MeasuredRun) -> ComparedRun {
        ComparedRun {
            name: run.name.clone(),
            plan_name: run.facts.plan_name.clone(),
            plan_sha256: run.facts.plan_sha256.clone(),
            wall_anchor_ms: run.facts.wall_anchor_ms,
            from_s: run.span_s.0,
            to_s: run.span_s.1,
            // Sessions of an open workload do not count as users.
            users: run.facts.load_users().or(run.users).filter(|users| *users > 0),
            requests: run.total.samples,
            errors: run.total.errors,
            series: run.series.clone(),
        }
    }
}
