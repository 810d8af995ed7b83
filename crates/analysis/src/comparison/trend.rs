//! Finds changepoints in a history of runs.

use busyhour_sample::SampleKind;
use busyhour_stats::{RankChangeSettings, rank_changes, values_for_change};
use serde::{Deserialize, Serialize};

use super::caveat::{self, ComparisonCaveat, ReportedComparisonCaveat};
use super::compared::{COMPARISON_VERSION, ComparedRun};
use super::differences::{RunDifference, differences};
use super::effect::{Margins, Verdict};
use super::measure::Measure;
use super::run::{MeasuredRow, MeasuredRun};
use super::tally::{ComparedClock, RunWindow};

/// Maximum number of runs; if there are more, the oldest are excluded.
pub const RUNS_MAX: usize = 500;

/// Number of runs to which the rate of false alarms refers.
pub const RUNS_PER_RATE: usize = 100;

/// Share of the allowed false alarms that is assigned to the total if labels are judged as well.
const SHARE_OF_TOTAL: f64 = 0.5;

/// Minimum number of runs for testing the autocorrelation.
const DEPENDENCE_RUNS_MIN: usize = 20;
/// The 1 % point of the distribution of the autocorrelation, in standard deviations.
const DEPENDENCE: f64 = 2.33;

/// Settings for finding changepoints.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TrendSettings {
    /// Whether response times or service times are judged.
    pub clock: ComparedClock,
    /// The measured part of each run; `None` for the whole run.
    pub window: Option<RunWindow>,
    /// Whether only the steady part of each run is measured.
    #[serde(default)]
    pub steady: bool,
    /// Changes within these margins are immaterial.
    pub margins: Margins,
    /// Minimum number of runs between two changes, before the first change, and after the last one.
    #[serde(rename = "least")]
    pub runs_min: usize,
    /// Maximum probability of a false alarm in [`RUNS_PER_RATE`] runs without a change, over all series.
    pub false_alarms: f64,
    /// Seed for breaking ties between equal values.
    pub seed: u64,
}

impl Default for TrendSettings {
    fn default() -> TrendSettings {
        TrendSettings {
            clock: ComparedClock::default(),
            window: None,
            steady: false,
            margins: Margins::default(),
            runs_min: 3,
            false_alarms: 0.05,
            seed: 1,
        }
    }
}

/// The changepoints in a history of runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trend {
    /// The format version, that of comparisons.
    pub version: u32,
    /// The settings.
    pub settings: TrendSettings,
    /// The runs, ordered by start.
    pub runs: Vec<TrendRun>,
    /// The verdict.
    pub outcome: TrendOutcome,
    /// Every measure of the total and of the labels. If there is only one label, only the total.
    pub series: Vec<TrendSeries>,
    /// Reasons to doubt the verdict.
    pub caveats: Vec<ReportedComparisonCaveat>,
}

/// A run of a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendRun {
    /// Path of the run.
    pub name: String,
    /// Start in ms since 1970.
    pub wall_anchor_ms: i64,
    /// Length of the measured part in s.
    pub length_s: f64,
    /// Number of requests.
    pub requests: u64,
    /// Number of failed requests.
    pub errors: u64,
}

/// One measure of one label over all runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendSeries {
    /// The label; `Total` for all requests.
    pub label: String,
    /// Kind of the samples.
    pub kind: SampleKind,
    /// Whether this is the total.
    pub is_total: bool,
    /// The measure.
    pub measure: Measure,
    /// The values of the runs; `None` for runs with too few samples.
    pub values: Vec<Option<f64>>,
    /// Minimum number of runs with this measure for detecting a change; `None` if no number is enough.
    pub runs_needed: Option<usize>,
    /// The changes, in order.
    pub changes: Vec<TrendChange>,
}

/// The verdict on a history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum TrendOutcome {
    /// The last change of at least one series is a deterioration by more than the margin.
    Regression {
        /// Number of these series.
        series: usize,
    },
    /// No series has a regression.
    NoRegression,
    /// There are too few runs for detecting a change.
    NotJudged {
        /// Number of runs.
        runs: usize,
        /// Number of runs needed; `None` if no number is enough at this rate of false alarms.
        needed: Option<usize>,
    },
}

/// A changepoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrendChange {
    /// The first run after the change, as an index into [`Trend::runs`].
    pub at: usize,
    /// The run at which the change was detected, as an index into [`Trend::runs`].
    #[serde(rename = "seen_at")]
    pub detected_at: usize,
    /// An upper bound of the p-value that is valid for repeated testing, not adjusted for the number of series; `None` for a
    /// return to the level before the preceding change, which is not tested.
    pub p_value: Option<f64>,
    /// Median of the runs between the preceding change and this one.
    pub before: f64,
    /// Median of the runs between this change and the next one.
    pub after: f64,
    /// Whether the change is an improvement or a deterioration, and whether it exceeds the margin.
    pub verdict: Verdict,
}

impl TrendSeries {
    /// Whether there are enough runs for detecting a change.
    #[must_use]
    pub fn is_judged(&self) -> bool {
        self.runs_needed.is_some_and(|needed| self.values.iter().flatten().count() >= needed)
    }

    /// Whether the last change is a deterioration by more than the margin.
    #[must_use]
    pub fn is_regression(&self) -> bool {
        self.changes.last().is_some_and(|change| change.verdict == Verdict::Worse)
    }
}

/// The smallest number of runs with which a measure of the total is judged.
fn runs_needed(series: &[TrendSeries]) -> Option<usize> {
    series.iter().filter(|series| series.is_total).filter_map(|series| series.runs_needed).min()
}

impl Trend {
    /// The smallest number of runs with which the history is judged; `None` if no number is enough.
    #[must_use]
    pub fn runs_needed(&self) -> Option<usize> {
        runs_needed(&self.series)
    }

    /// Finds changes in the history of `runs`, which may be in any order. `None` without runs.
    #[must_use]
    pub fn new(mut runs: Vec<MeasuredRun>, settings: TrendSettings) -> Option<Trend> {
        runs.sort_by(|a, b| {
            (a.facts.wall_anchor_ms, a.name.as_str()).cmp(&(b.facts.wall_anchor_ms, b.name.as_str()))
        });
        let left_out = runs.len().saturating_sub(RUNS_MAX);
        runs.drain(..left_out);
        let last = runs.last()?;
        // If there is only one label, it equals the total. Labels that the last run does not have are not judged.
        let labels: &[MeasuredRow] = if last.labels.len() > 1 { &last.labels } else { &[] };
        let measures = Measure::ALL.len();
        let of_total = if labels.is_empty() { 1.0 } else { SHARE_OF_TOTAL };
        let total_share = of_total / measures as f64;
        let label_share = (1.0 - of_total) / (labels.len().max(1) * measures) as f64;
        let total: Vec<_> = runs.iter().map(|run| Some(&run.total)).collect();
        let mut series = series_of(&runs, &total, true, total_share, &settings);
        for label in labels {
            let of: Vec<_> = runs.iter().map(|run| run.label(&label.label, label.kind)).collect();
            series.extend(series_of(&runs, &of, false, label_share, &settings));
        }
        let outcome = outcome(&series, runs.len());
        let caveats = caveats(&runs, &series, outcome, left_out);
        Some(Trend {
            version: COMPARISON_VERSION,
            settings,
            runs: runs.iter().map(TrendRun::of).collect(),
            outcome,
            series,
            caveats: caveats.into_iter().map(ReportedComparisonCaveat::from).collect(),
        })
    }

    /// Series with a regression.
    pub fn regressions(&self) -> impl Iterator<Item = &TrendSeries> {
        self.series.iter().filter(|series| series.is_regression())
    }

    /// Serializes the history as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Cannot fail: the history consists of strings, numbers and lists.
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

fn outcome(series: &[TrendSeries], runs: usize) -> TrendOutcome {
    let regressions = series.iter().filter(|series| series.is_regression()).count();
    if regressions > 0 {
        return TrendOutcome::Regression { series: regressions };
    }
    let needed = runs_needed(series);
    if series.iter().any(|series| series.is_total && series.is_judged()) {
        TrendOutcome::NoRegression
    } else {
        TrendOutcome::NotJudged { runs, needed }
    }
}

fn caveats(
    runs: &[MeasuredRun],
    series: &[TrendSeries],
    outcome: TrendOutcome,
    left_out: usize,
) -> Vec<ComparisonCaveat> {
    let mut caveats = Vec::new();
    if let TrendOutcome::NotJudged { runs, needed } = outcome {
        caveats.push(ComparisonCaveat::ShortHistory { runs, needed });
    } else {
        let unjudged: Vec<&TrendSeries> = series.iter().filter(|series| !series.is_judged()).collect();
        if !unjudged.is_empty() {
            let needed = unjudged.iter().filter_map(|series| series.runs_needed).max();
            caveats.push(ComparisonCaveat::SeriesNotJudged { series: unjudged.len(), needed });
        }
    }
    let mean = series.iter().find(|series| series.is_total && series.measure == Measure::Mean);
    if let Some(correlation) = mean.and_then(dependence) {
        caveats.push(ComparisonCaveat::DependentRuns { correlation });
    }
    if left_out > 0 {
        caveats.push(ComparisonCaveat::OldRunsExcluded { runs: left_out });
    }
    caveats.extend(
        differences(runs, &[])
            .into_iter()
            .filter(|difference| !matches!(difference, RunDifference::Labels { .. }))
            .map(|difference| ComparisonCaveat::RunsDiffer { difference }),
    );
    caveats.extend(caveat::of_runs(runs.iter()));
    caveats
}

/// The correlation of consecutive runs after subtraction of the detected levels; `None` if it is not significant.
fn dependence(series: &TrendSeries) -> Option<f64> {
    let mut edges: Vec<usize> = series.changes.iter().map(|change| change.at).collect();
    edges.extend([0, series.values.len()]);
    edges.sort_unstable();
    let mut residuals = Vec::new();
    for part in edges.windows(2) {
        let values: Vec<f64> = series.values[part[0]..part[1]].iter().flatten().copied().collect();
        if let Some(level) = median(values.clone()) {
            residuals.extend(values.iter().map(|value| value - level));
        }
    }
    let n = residuals.len() as f64;
    if residuals.len() < DEPENDENCE_RUNS_MIN {
        return None;
    }
    let mean = residuals.iter().sum::<f64>() / n;
    let square: f64 = residuals.iter().map(|value| (value - mean).powi(2)).sum();
    let product: f64 = residuals.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = product / square;
    (correlation > DEPENDENCE / n.sqrt()).then_some(correlation)
}

/// The series of every measure of one label. `share` is the share of the rate of false alarms that is assigned to each measure.
fn series_of(
    runs: &[MeasuredRun],
    of: &[Option<&MeasuredRow>],
    is_total: bool,
    share: f64,
    settings: &TrendSettings,
) -> Vec<TrendSeries> {
    let Some(row) = of.iter().flatten().next() else { return Vec::new() };
    let how = RankChangeSettings {
        values_min: settings.runs_min,
        threshold: RUNS_PER_RATE as f64 / (settings.false_alarms * share),
    };
    let runs_needed = values_for_change(how.threshold, how.values_min);
    Measure::ALL
        .into_iter()
        .map(|measure| {
            let values: Vec<Option<f64>> =
                of.iter().map(|row| row.and_then(|row| row.measured(measure)).map(|m| m.value)).collect();
            let name = format!("{} {} {measure:?}", row.label, row.kind as u8);
            let ties: Vec<f64> = runs.iter().map(|run| uniform(&[&run.name, &name], settings.seed)).collect();
            TrendSeries {
                label: row.label.clone(),
                kind: row.kind,
                is_total,
                measure,
                runs_needed,
                changes: changes(measure, &values, &ties, &how, &settings.margins),
                values,
            }
        })
        .collect()
}

/// A number in [0, 1) that depends only on the texts and the seed, so that ties are broken in the same way when runs are added.
fn uniform(texts: &[&str], seed: u64) -> f64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed;
    for byte in texts.iter().flat_map(|text| text.bytes().chain([0])) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    // The finalizer of SplitMix64 mixes all bits.
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((hash ^ (hash >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

fn changes(
    measure: Measure,
    values: &[Option<f64>],
    ties: &[f64],
    how: &RankChangeSettings,
    margins: &Margins,
) -> Vec<TrendChange> {
    let known: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect();
    // Reverse the sign so that larger values are worse.
    let sign = if measure.more_is_better() { -1.0 } else { 1.0 };
    let series: Vec<f64> = known.iter().map(|(_, value)| sign * value).collect();
    let ties: Vec<f64> = known.iter().map(|(at, _)| ties[*at]).collect();
    let found = rank_changes(&series, &ties, how);
    let edges: Vec<usize> =
        [0].into_iter().chain(found.iter().map(|change| change.at)).chain([known.len()]).collect();
    let level = |from: usize, to: usize| median(known[from..to].iter().map(|(_, value)| *value).collect());
    found
        .iter()
        .zip(edges.windows(3))
        .filter_map(|(change, edges)| {
            let (before, after) = (level(edges[0], edges[1])?, level(edges[1], edges[2])?);
            // If both levels are equal, the change results only from the random order of equal values.
            (before != after).then(|| TrendChange {
                at: known[change.at].0,
                detected_at: known[change.detected_at].0,
                p_value: change.evidence.map(|evidence| (1.0 / evidence).min(1.0)),
                before,
                after,
                verdict: verdict(measure, before, after, margins),
            })
        })
        .collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(values[values.len() / 2 - 1], upper))
}

/// The verdict on a change.
fn verdict(measure: Measure, before: f64, after: f64, margins: &Margins) -> Verdict {
    let (size, margin) = if measure.is_compared_by_ratio() && before > 0.0 && after > 0.0 {
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
