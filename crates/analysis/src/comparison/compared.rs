//! The comparison of two groups of runs, as JSON and pages have it.

use busyhour_record::SampleKind;
use busyhour_stats::Selection;
use serde::{Deserialize, Serialize};

use super::caveat::{self, ComparisonCaveat, ComparisonDoubt};
use super::effect::{Effect, Margins, RawEffect, Verdict};
use super::likeness::{Unlike, only_in};
use super::measure::{Measure, Measured};
use super::run::{CurvePoint, MeasuredRow, MeasuredRun, Quartiles, RunCourse, curve, quartiles};
use super::tally::{ComparedClock, RunWindow};

/// Version of the comparison's JSON.
pub const COMPARISON_VERSION: u32 = 1;

/// How runs were compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSettings {
    /// The clock.
    pub clock: ComparedClock,
    /// What is as good as no difference.
    pub margins: Margins,
    /// The part of the differences that are claimed that may be false: 0.05.
    pub false_rate: f64,
    /// The part of each run that counts; `None` for all.
    pub window: Option<RunWindow>,
    /// Whether what counts is the steady part of each run, where it has ramps.
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

/// Two groups of runs compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// [`COMPARISON_VERSION`].
    pub version: u32,
    /// How.
    pub settings: ComparisonSettings,
    /// Runs before the change.
    pub base: Side,
    /// Runs after it.
    pub new: Side,
    /// All requests.
    pub total: ComparedRow,
    /// Per label that both sides have, in the order of the first run.
    pub labels: Vec<ComparedRow>,
    /// Labels that only runs before the change have.
    pub only_base: Vec<String>,
    /// Labels that only runs after it have.
    pub only_new: Vec<String>,
    /// The questions that were asked of the total, and how sure their intervals are.
    pub asked_of_total: Asked,
    /// The same of the labels.
    pub asked_of_labels: Asked,
    /// What is in doubt.
    pub caveats: Vec<ComparisonDoubt>,
}

/// Questions that were judged together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Questions to which the data could give an answer.
    pub questions: usize,
    /// Those whose answer is a difference.
    pub differences: usize,
    /// Confidence of the intervals of these differences, 0 to 1: the more is asked, the wider they are (Benjamini and
    /// Yekutieli 2005).
    pub confidence: f64,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What it is called.
    pub name: String,
    /// Its runs.
    pub runs: Vec<ComparedRun>,
}

/// A run of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRun {
    /// Its path.
    pub name: String,
    /// The test plan's name; empty when unknown.
    pub plan_name: String,
    /// SHA-256 of the plan; empty when unknown.
    pub plan_sha256: String,
    /// Start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Where the measured part begins, in seconds from the start of the run.
    pub from_s: f64,
    /// Where it ends.
    pub to_s: f64,
    /// Users: started, or told apart by their names; `None` when unknown, and where all were sessions of an open workload.
    pub users: Option<u64>,
    /// Requests.
    pub requests: u64,
    /// Failed ones.
    pub errors: u64,
    /// Its course.
    pub course: RunCourse,
}

/// A label of a comparison, or the total.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparedRow {
    /// The label.
    pub label: String,
    /// What was counted.
    pub kind: SampleKind,
    /// Samples and errors before, over all runs.
    pub base: Counted,
    /// Samples and errors after.
    pub new: Counted,
    /// The effects, in the order of [`Measure::ALL`].
    pub effects: Vec<Effect>,
    /// The interquartile range of all runs before together, which is not judged; `None` with too few times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_quartiles: Option<Quartiles>,
    /// The same of all runs after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_quartiles: Option<Quartiles>,
    /// The distribution of all runs before together.
    pub base_curve: Vec<CurvePoint>,
    /// The distribution of all runs after.
    pub new_curve: Vec<CurvePoint>,
}

/// Counts of one side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Samples.
    pub samples: u64,
    /// Failed ones.
    pub errors: u64,
}

impl ComparedRow {
    /// The effect on `measure`.
    #[must_use]
    pub fn effect(&self, measure: Measure) -> Option<&Effect> {
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
    /// `base` and `new` are the row in each run; `None` where the run does not have it.
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

/// Judges rows together.
fn judge(rows: Vec<RawRow<'_>>, settings: &ComparisonSettings) -> (Vec<ComparedRow>, Asked) {
    let p_values: Vec<f64> = rows.iter().flat_map(|row| &row.effects).map(RawEffect::p_value).collect();
    let selection = busyhour_stats::select(&p_values, settings.false_rate);
    let asked = Asked {
        questions: selection.tests,
        differences: selection.rejected,
        confidence: selection.confidence,
    };
    (rows.into_iter().map(|row| row.judge(settings, &selection)).collect(), asked)
}

impl Comparison {
    /// Compares the runs of `base` with those of `new`, whatever [`super::differences`] says; `unlike` is what of that
    /// was allowed. `None` when a side has no run.
    #[must_use]
    pub fn new(
        base: &[MeasuredRun],
        new: &[MeasuredRun],
        settings: ComparisonSettings,
        unlike: Vec<Unlike>,
    ) -> Option<Comparison> {
        if base.is_empty() || new.is_empty() {
            return None;
        }
        let total = RawRow::new("Total", SampleKind::Request, &totals(base), &totals(new));
        let (mut total, asked_of_total) = judge(vec![total], &settings);
        let (labels, asked_of_labels) = judge(label_rows(base, new), &settings);
        let names = |labels: Vec<(String, f64)>| labels.into_iter().map(|(label, _)| label).collect();
        let mut caveats: Vec<ComparisonCaveat> =
            caveat::of_numbers(base.len(), new.len()).into_iter().collect();
        caveats.extend(unlike.into_iter().map(|unlike| ComparisonCaveat::Unlike { unlike }));
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
            asked_of_total,
            asked_of_labels,
            caveats: caveats.into_iter().map(ComparisonDoubt::from).collect(),
        })
    }

    /// All rows, the total last.
    pub fn rows(&self) -> impl Iterator<Item = &ComparedRow> {
        self.labels.iter().chain([&self.total])
    }

    /// How many effects of all rows came to `verdict`.
    #[must_use]
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rows().flat_map(|row| &row.effects).filter(|effect| effect.verdict == verdict).count()
    }

    /// The comparison as JSON, a document of version [`COMPARISON_VERSION`].
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists: every one has a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn totals(runs: &[MeasuredRun]) -> Vec<Option<&MeasuredRow>> {
    runs.iter().map(|run| Some(&run.total)).collect()
}

/// Labels that both sides have. A label that some run of a side lacks is one with too little data.
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
            // Sessions of an open workload are no users: how many serve them is not known.
            users: run.facts.load_users().or(run.users).filter(|users| *users > 0),
            requests: run.total.samples,
            errors: run.total.errors,
            course: run.course.clone(),
        }
    }
}
