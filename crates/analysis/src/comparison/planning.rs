//! How many runs of what length would show a difference.
//!
//! The variance of a run's value has two parts: what varies from run to run, which only more runs can average out, and what
//! varies within a run, which a longer run averages out as well. The first is what the variance between runs leaves
//! over beyond the second (analysis of variance with one random factor; Kalibera and Jones, "Rigorous benchmarking in
//! reasonable time", ISMM 2013).

use busyhour_record::SampleKind;
use busyhour_stats::{KnownMean, values_needed_welch, variance_upper};
use serde::{Deserialize, Serialize};

use super::caveat::{self, ComparisonDoubt};
use super::compared::{COMPARISON_VERSION, ComparedRun};
use super::measure::Measure;
use super::run::{MeasuredRow, MeasuredRun};

/// Lengths of runs that are looked at, as multiples of the length of those at hand.
pub const LENGTH_FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// Powers that are looked at.
pub const POWERS: [f64; 2] = [0.8, 0.9];

/// The part of the differences claimed by `compare` that may be false.
const FALSE_RATE: f64 = 0.05;

/// Confidence of the test that `compare` makes of one of `questions` measures if it is the only one that differs: the
/// procedure of Benjamini and Hochberg then claims it from a p-value of 5 % over the number of questions on. Where more
/// measures differ, fewer runs do.
fn test_confidence(questions: usize) -> f64 {
    1.0 - FALSE_RATE / questions.max(1) as f64
}

/// The cautious plan takes the variance that the true one stays below with this probability.
pub const CAUTION: f64 = 0.8;

/// Runs that would be needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerPlan {
    /// Version of the JSON, that of comparisons.
    pub version: u32,
    /// The relative difference that is to be seen: 0.05 is 5 %.
    pub difference: f64,
    /// The runs at hand.
    pub runs: Vec<ComparedRun>,
    /// Their mean length in s: what [`PowerNeed::length_s`] are multiples of.
    pub length_s: f64,
    /// The total, then labels when they are asked for.
    pub rows: Vec<PowerRow>,
    /// What is in doubt.
    pub caveats: Vec<ComparisonDoubt>,
}

/// What one measure of one label needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerRow {
    /// The label.
    pub label: String,
    /// What was counted.
    pub kind: SampleKind,
    /// The measure.
    pub measure: Measure,
    /// Standard deviation from run to run, relative to the value, without what varies within runs; `None` with one run.
    pub between: Option<f64>,
    /// Standard deviation within runs of the length at hand, relative to the value; `None` when the runs are too short to
    /// tell.
    pub within: Option<f64>,
    /// Confidence of the test, 0 to 1, with which `compare` would look at this measure among all of the total, or of the labels.
    pub confidence: f64,
    /// What would do.
    pub needs: Vec<PowerNeed>,
}

/// Runs on each side that show the difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerNeed {
    /// Length of each run in s.
    pub length_s: f64,
    /// Probability of seeing the difference.
    pub power: f64,
    /// Runs on each side; `None` when there are more than can be.
    pub runs: Option<u64>,
    /// Runs on each side if the variance is as large as it may well be, seen how few runs are at hand; `None` with one run,
    /// or when there are more than can be.
    pub runs_cautious: Option<u64>,
}

/// What varies, on logarithms.
struct Variances {
    between: Option<f64>,
    within: Option<f64>,
    /// Degrees of freedom behind the variance between runs.
    freedom: f64,
}

fn variances(measure: Measure, rows: &[&MeasuredRow]) -> Option<Variances> {
    let measured: Option<Vec<_>> = rows.iter().map(|row| row.measured(measure)).collect();
    let measured = measured.filter(|runs| runs.iter().all(|run| run.value > 0.0))?;
    let n = measured.len() as f64;
    let within: Option<Vec<f64>> =
        measured.iter().map(|run| Some(run.within?.standard_error.powi(2))).collect();
    let within = within.map(|within| within.iter().sum::<f64>() / n);
    let logs: Vec<f64> = measured.iter().map(|run| run.value.ln()).collect();
    let of_runs = KnownMean::of_values(&logs).map(|mean| mean.variance * n);
    let between = of_runs.map(|of_runs| (of_runs - within.unwrap_or(0.0)).max(0.0));
    (between.is_some() || within.is_some()).then_some(Variances { between, within, freedom: n - 1.0 })
}

impl PowerPlan {
    /// Plans for `difference` from the variances of `runs`; of labels too, when `labels` are wanted. `None` without runs.
    #[must_use]
    pub fn new(runs: &[MeasuredRun], difference: f64, labels: bool) -> Option<PowerPlan> {
        let first = runs.first()?;
        let length_s = runs.iter().map(MeasuredRun::length_s).sum::<f64>() / runs.len() as f64;
        let mut rows = Vec::new();
        let mut add = |of: Vec<&MeasuredRow>, confidence: f64| {
            let Some(row) = of.first() else { return };
            for measure in Measure::ALL.into_iter().filter(|measure| measure.by_ratio()) {
                let Some(found) = variances(measure, &of) else { continue };
                rows.push(PowerRow {
                    label: row.label.clone(),
                    kind: row.kind,
                    measure,
                    between: found.between.map(f64::sqrt),
                    within: found.within.map(f64::sqrt),
                    confidence,
                    needs: needs(&found, difference, length_s, confidence),
                });
            }
        };
        let measures = Measure::ALL.len();
        add(runs.iter().map(|run| &run.total).collect(), test_confidence(measures));
        let of_labels = test_confidence(measures * first.labels.len());
        for label in first.labels.iter().filter(|_| labels) {
            let of: Option<Vec<_>> = runs.iter().map(|run| run.label(&label.label, label.kind)).collect();
            add(of.unwrap_or_default(), of_labels);
        }
        let mut caveats: Vec<ComparisonDoubt> =
            caveat::of_plan(runs.len()).into_iter().map(ComparisonDoubt::from).collect();
        caveats.extend(caveat::of_runs(runs.iter()).into_iter().map(ComparisonDoubt::from));
        Some(PowerPlan {
            version: COMPARISON_VERSION,
            difference,
            runs: runs.iter().map(ComparedRun::of).collect(),
            length_s,
            rows,
            caveats,
        })
    }

    /// The plan as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists: every one has a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn needs(found: &Variances, difference: f64, length_s: f64, confidence: f64) -> Vec<PowerNeed> {
    let effect = difference.ln_1p();
    let mut needs = Vec::new();
    for factor in LENGTH_FACTORS {
        // Runs that are too short to tell what varies within them cannot tell what longer ones would bring.
        if found.within.is_none() && factor != 1.0 {
            continue;
        }
        let variance = found.between.unwrap_or(0.0) + found.within.unwrap_or(0.0) / factor;
        for power in POWERS {
            let runs = |variance: f64| values_needed_welch(effect, variance.sqrt(), power, confidence);
            let cautious = found.between.and_then(|_| variance_upper(variance, found.freedom, CAUTION));
            needs.push(PowerNeed {
                length_s: factor * length_s,
                power,
                runs: runs(variance),
                runs_cautious: cautious.and_then(runs),
            });
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::super::measure::{Measured, Within};
    use super::*;

    fn row(mean: f64, standard_error: f64) -> MeasuredRow {
        let within = Some(Within { standard_error, freedom: 50.0, stretch_s: 1.0 });
        let mut measures = [None; Measure::ALL.len()];
        measures[Measure::Mean as usize] = Some(Measured { value: mean, resolution: 0.0, within });
        MeasuredRow::of_values("Total", measures)
    }

    #[test]
    fn variance_is_parted_into_that_of_runs_and_that_within_them() {
        let rows = [row(10.0, 0.01), row(11.0, 0.01), row(9.0, 0.01)];
        let found = variances(Measure::Mean, &rows.iter().collect::<Vec<_>>()).unwrap();
        let logs = [10.0_f64.ln(), 11.0_f64.ln(), 9.0_f64.ln()];
        let mean = logs.iter().sum::<f64>() / 3.0;
        let of_runs = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / 2.0;
        assert!((found.between.unwrap() - (of_runs - 1e-4)).abs() < 1e-12);
        assert!((found.within.unwrap() - 1e-4).abs() < 1e-12);
        assert!(variances(Measure::P99, &rows.iter().collect::<Vec<_>>()).is_none());
    }

    #[test]
    fn longer_runs_help_as_far_as_the_variance_is_within() {
        let runs = |between: f64, within: f64| -> Vec<u64> {
            let found = Variances { between: Some(between), within: Some(within), freedom: 9.0 };
            let needs = needs(&found, 0.05, 60.0, 0.95);
            needs.iter().filter(|need| need.power == 0.8).map(|need| need.runs.unwrap()).collect()
        };
        let within_only = runs(0.0, 0.04);
        assert!(within_only.windows(2).all(|pair| pair[1] < pair[0]), "{within_only:?}");
        // Half the length, twice the runs.
        assert!((within_only[0] as f64 / within_only[1] as f64 - 2.0).abs() < 0.05, "{within_only:?}");
        let between_only = runs(0.01, 0.0);
        assert!(between_only.windows(2).all(|pair| pair[1] == pair[0]), "{between_only:?}");
    }

    #[test]
    fn one_run_tells_a_lower_bound_only() {
        let rows = [row(10.0, 0.01)];
        let found = variances(Measure::Mean, &rows.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found.between, None);
        let needs = needs(&found, 0.05, 60.0, 0.95);
        assert!(needs.iter().all(|need| need.runs.is_some() && need.runs_cautious.is_none()));
    }
}
