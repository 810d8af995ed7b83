//! A history of runs: where their measures changed for good.

use busyhour_record::SampleKind;
use busyhour_stats::{ChangeSettings, RandomSource, change_points};
use serde::{Deserialize, Serialize};

use super::caveat::{self, ComparisonCaveat, ComparisonDoubt};
use super::compared::{COMPARISON_VERSION, ComparedRun};
use super::effect::{Margins, Verdict, middle};
use super::likeness::{Unlike, differences};
use super::measure::Measure;
use super::run::{MeasuredRow, MeasuredRun};
use super::tally::{ComparedClock, RunWindow};

/// More runs than this are not looked at: the latest count.
pub const RUNS_MAX: usize = 500;

/// How changes are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrendSettings {
    /// The clock.
    pub clock: ComparedClock,
    /// The part of each run that counts; `None` for all.
    pub window: Option<RunWindow>,
    /// Whether what counts is the steady part of each run, where it has ramps.
    #[serde(default)]
    pub steady: bool,
    /// Changes within these are small.
    pub margins: Margins,
    /// Fewest runs between two changes, and at either end.
    pub least: usize,
    /// p-value of a change that stands.
    pub significance: f64,
    /// Permutations per change.
    pub permutations: usize,
    /// Seed of the permutations.
    pub seed: u64,
}

impl Default for TrendSettings {
    fn default() -> TrendSettings {
        let ChangeSettings { least, significance, permutations } = ChangeSettings::default();
        TrendSettings {
            clock: ComparedClock::default(),
            window: None,
            steady: false,
            margins: Margins::default(),
            least,
            significance,
            permutations,
            seed: 1,
        }
    }
}

/// A history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// Version of the JSON, that of comparisons.
    pub version: u32,
    /// How.
    pub settings: TrendSettings,
    /// The runs by the time of their start.
    pub runs: Vec<TrendRun>,
    /// Every measure of the total and of labels.
    pub series: Vec<TrendSeries>,
    /// What is in doubt.
    pub caveats: Vec<ComparisonDoubt>,
}

/// A run of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendRun {
    /// Its path.
    pub name: String,
    /// Start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Length of the measured part in s.
    pub length_s: f64,
    /// Requests.
    pub requests: u64,
    /// Failed ones.
    pub errors: u64,
}

/// One measure of one label over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendSeries {
    /// The label; `Total` for all requests.
    pub label: String,
    /// What was counted.
    pub kind: SampleKind,
    /// Whether it is the total.
    pub is_total: bool,
    /// The measure.
    pub measure: Measure,
    /// Its value in each run; `None` where it rests on too few samples.
    pub values: Vec<Option<f64>>,
    /// Where it changed, in order.
    pub changes: Vec<TrendChange>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendChange {
    /// The first run after it, as an index of [`Trend::runs`].
    pub at: usize,
    /// Its p-value.
    pub p_value: f64,
    /// The typical value of the runs since the change before.
    pub before: f64,
    /// The typical value of the runs until the next change.
    pub after: f64,
    /// Better or worse, by more than the margin or perhaps not.
    pub verdict: Verdict,
}

impl TrendSeries {
    /// Whether its last change is one for the worse by more than the margin: since then nothing has put it right.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.changes.last().is_some_and(|change| change.verdict == Verdict::Worse)
    }
}

impl Trend {
    /// Looks for changes in the history of `runs`, which come in any order. `None` without runs.
    #[must_use]
    pub fn new<R: RandomSource + ?Sized>(
        mut runs: Vec<MeasuredRun>,
        settings: TrendSettings,
        random: &mut R,
    ) -> Option<Trend> {
        runs.sort_by(|a, b| {
            (a.facts.wall_anchor_ms, a.name.as_str()).cmp(&(b.facts.wall_anchor_ms, b.name.as_str()))
        });
        let left_out = runs.len().saturating_sub(RUNS_MAX);
        runs.drain(..left_out);
        let last = runs.last()?;
        let mut series = Vec::new();
        let mut add = |is_total: bool, of: &[Option<&MeasuredRow>]| {
            let Some(row) = of.iter().flatten().next() else { return };
            for measure in Measure::ALL {
                let values: Vec<Option<f64>> =
                    of.iter().map(|row| row.and_then(|row| row.measured(measure)).map(|m| m.value)).collect();
                series.push(TrendSeries {
                    label: row.label.clone(),
                    kind: row.kind,
                    is_total,
                    measure,
                    changes: changes(measure, &values, &settings, random),
                    values,
                });
            }
        };
        add(true, &runs.iter().map(|run| Some(&run.total)).collect::<Vec<_>>());
        // Labels that are no more are history only.
        for label in &last.labels {
            let of: Vec<_> = runs.iter().map(|run| run.label(&label.label, label.kind)).collect();
            add(false, &of);
        }
        let mut caveats = caveat::of_history(runs.len(), settings.least, settings.significance);
        if left_out > 0 {
            caveats.push(ComparisonCaveat::OldRunsLeftOut { runs: left_out });
        }
        caveats.extend(
            differences(&runs, &[])
                .into_iter()
                .filter(|unlike| !matches!(unlike, Unlike::Labels { .. }))
                .map(|unlike| ComparisonCaveat::Unlike { unlike }),
        );
        caveats.extend(caveat::of_runs(runs.iter()));
        let changed = series.iter().filter(|series| !series.changes.is_empty()).count();
        let by_chance = series.len() as f64 * settings.significance;
        if changed > 0 && by_chance >= 1.0 {
            caveats.push(ComparisonCaveat::ManySeries { series: series.len(), changed, by_chance });
        }
        Some(Trend {
            version: COMPARISON_VERSION,
            settings,
            runs: runs.iter().map(TrendRun::of).collect(),
            series,
            caveats: caveats.into_iter().map(ComparisonDoubt::from).collect(),
        })
    }

    /// Series whose last change is a regression.
    pub fn regressions(&self) -> impl Iterator<Item = &TrendSeries> {
        self.series.iter().filter(|series| series.is_regression())
    }

    /// The history as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists: every one has a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

impl TrendRun {
    fn of(run: &MeasuredRun) -> TrendRun {
        let ComparedRun { name, wall_anchor_ms, from_s, to_s, requests, errors, .. } = ComparedRun::of(run);
        TrendRun { name, wall_anchor_ms, length_s: to_s - from_s, requests, errors }
    }
}

fn changes<R: RandomSource + ?Sized>(
    measure: Measure,
    values: &[Option<f64>],
    settings: &TrendSettings,
    random: &mut R,
) -> Vec<TrendChange> {
    let known: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    // Ratios count, not differences; what reads as 0 has no logarithm.
    let logarithms = measure.by_ratio() && known.iter().all(|(_, value)| *value > 0.0);
    let series: Vec<f64> =
        known.iter().map(|(_, value)| if logarithms { value.ln() } else { *value }).collect();
    let how = ChangeSettings {
        least: settings.least,
        significance: settings.significance,
        permutations: settings.permutations,
    };
    let found = change_points(&series, &how, random);
    let edges: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|change| change.at)).chain([known.len()]).collect();
    let typical = |from: usize, to: usize| {
        let part: Vec<Option<f64>> = known[from..to].iter().map(|(_, value)| Some(*value)).collect();
        middle(measure, &part)
    };
    found
        .iter()
        .zip(edges.windows(3))
        .filter_map(|(change, edges)| {
            let (before, after) = (typical(edges[0], edges[1])?, typical(edges[1], edges[2])?);
            let verdict = verdict(measure, before, after, &settings.margins);
            Some(TrendChange { at: known[change.at].0, p_value: change.p_value, before, after, verdict })
        })
        .collect()
}

/// What a change that stands comes to.
fn verdict(measure: Measure, before: f64, after: f64, margins: &Margins) -> Verdict {
    let (size, margin) = if measure.by_ratio() {
        ((after / before).ln(), margins.relative.ln_1p())
    } else {
        (after - before, margins.errors)
    };
    let worse = (size > 0.0) != measure.more_is_better();
    match (worse, size.abs() > margin) {
        (true, true) => Verdict::Worse,
        (true, false) => Verdict::PerhapsWorse,
        (false, true) => Verdict::Better,
        (false, false) => Verdict::PerhapsBetter,
    }
}
