//! Computes how many runs of what length are needed to detect a difference.
//!
//! The variance of a run's value has two components. The variance between runs is reduced only by more runs. The
//! variance within a run is also reduced by longer runs. The variance between runs is estimated as the variance of the
//! runs' values minus the variance within a run (analysis of variance with one random factor; Kalibera and Jones,
//! "Rigorous benchmarking in reasonable time", ISMM 2013).

use busyhour_sample::SampleKind;
use busyhour_stats::{MeanWithError, values_needed_welch, variance_upper};
use serde::{Deserialize, Serialize};

use super::caveat::{self, ReportedComparisonCaveat};
use super::compared::{COMPARISON_VERSION, ComparedRun};
use super::measure::Measure;
use super::run::{MeasuredRow, MeasuredRun};

/// The lengths of runs for which the number of runs is computed, as multiples of the mean length of the given runs.
pub const LENGTH_FACTORS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// The powers for which the number of runs is computed.
pub const POWERS: [f64; 2] = [0.8, 0.9];

/// Maximum expected share of false differences among those that `compare` reports.
const FALSE_RATE: f64 = 0.05;

/// Confidence at which `compare` tests one of `tests` measures if it is the only one that differs: the procedure of Benjamini and
/// Hochberg then rejects at a p-value of at most 5 % divided by the number of tests. If more measures differ, fewer runs are enough.
fn test_confidence(tests: usize) -> f64 {
    1.0 - FALSE_RATE / tests.max(1) as f64
}

/// The cautious number of runs is computed from an upper confidence bound of the variance with this confidence.
pub const CAUTION: f64 = 0.8;

/// The number of runs needed to detect a difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunsNeeded {
    /// The format version, that of comparisons.
    pub version: u32,
    /// The relative difference to detect: 0.05 is 5 %.
    pub difference: f64,
    /// The runs from whose variances the numbers are computed.
    pub runs: Vec<ComparedRun>,
    /// Mean length of these runs in s; [`PowerNeed::length_s`] is a multiple of it.
    pub length_s: f64,
    /// The measures of the total, followed by those of the labels if requested.
    pub rows: Vec<PowerRow>,
    /// Reasons to doubt the calculation.
    pub caveats: Vec<ReportedComparisonCaveat>,
}

/// The runs needed for one measure of one label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PowerRow {
    /// The label.
    pub label: String,
    /// Kind of the samples.
    pub kind: SampleKind,
    /// The measure.
    pub measure: Measure,
    /// Relative standard deviation between runs, without the variation within runs; `None` if only one run was given.
    pub between: Option<f64>,
    /// Relative standard deviation within runs of the given length; `None` if the runs are too short.
    pub within: Option<f64>,
    /// Confidence, 0 to 1, at which `compare` would test this measure together with all others of the total or of the labels.
    pub confidence: f64,
    /// The needed runs for each length and power.
    pub needs: Vec<PowerNeed>,
}

/// The number of runs needed on each side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PowerNeed {
    /// Length of each run in s.
    pub length_s: f64,
    /// Probability of detecting the difference.
    pub power: f64,
    /// Number of runs on each side; `None` if it is infeasibly large.
    pub runs: Option<u64>,
    /// Number of runs on each side for the upper confidence bound of the variance; `None` if it is infeasibly large, or if only
    /// one run was given.
    pub runs_cautious: Option<u64>,
}

/// Variance components on the logarithmic scale.
struct Variances {
    between: Option<f64>,
    within: Option<f64>,
    /// Degrees of freedom of the variance between runs.
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
    let of_runs = MeanWithError::of_values(&logs).map(|mean| mean.variance * n);
    let between = of_runs.map(|of_runs| (of_runs - within.unwrap_or(0.0)).max(0.0));
    (between.is_some() || within.is_some()).then_some(Variances { between, within, freedom: n - 1.0 })
}

impl RunsNeeded {
    /// Computes the number of runs needed to detect `difference` from the variances of `runs`; also per label if `labels` is set.
    /// `None` without runs.
    #[must_use]
    pub fn new(runs: &[MeasuredRun], difference: f64, labels: bool) -> Option<RunsNeeded> {
        let first = runs.first()?;
        let length_s = runs.iter().map(MeasuredRun::length_s).sum::<f64>() / runs.len() as f64;
        let mut rows = Vec::new();
        let mut add = |of: Vec<&MeasuredRow>, confidence: f64| {
            let Some(row) = of.first() else { return };
            for measure in Measure::ALL.into_iter().filter(|measure| measure.is_compared_by_ratio()) {
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
        let mut caveats: Vec<ReportedComparisonCaveat> =
            caveat::of_plan(runs.len()).into_iter().map(ReportedComparisonCaveat::from).collect();
        caveats.extend(caveat::of_runs(runs.iter()).into_iter().map(ReportedComparisonCaveat::from));
        Some(RunsNeeded {
            version: COMPARISON_VERSION,
            difference,
            runs: runs.iter().map(ComparedRun::of).collect(),
            length_s,
            rows,
            caveats,
        })
    }

    /// Serializes the calculation as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Cannot fail: the calculation consists of strings, numbers and lists.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn needs(found: &Variances, difference: f64, length_s: f64, confidence: f64) -> Vec<PowerNeed> {
    let effect = difference.ln_1p();
    let mut needs = Vec::new();
    for factor in LENGTH_FACTORS {
        // If the variance within runs is unknown, so is the effect of longer runs.
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
    use super::super::measure::{Measured, RunPrecision};
    use super::*;

    fn row(mean: f64, standard_error: f64) -> MeasuredRow {
        let within = Some(RunPrecision { standard_error, freedom: 50.0, block_s: 1.0 });
        let mut measures = [None; Measure::ALL.len()];
        measures[Measure::Mean as usize] = Some(Measured { value: mean, resolution: 0.0, within });
        MeasuredRow::of_values("Total", measures)
    }

    #[test]
    fn the_variance_is_split_into_components_between_and_within_runs() {
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
    fn longer_runs_reduce_only_the_variance_within_runs() {
        let runs = |between: f64, within: f64| -> Vec<u64> {
            let found = Variances { between: Some(between), within: Some(within), freedom: 9.0 };
            let needs = needs(&found, 0.05, 60.0, 0.95);
            needs.iter().filter(|need| need.power == 0.8).map(|need| need.runs.unwrap()).collect()
        };
        let within_only = runs(0.0, 0.04);
        assert!(within_only.windows(2).all(|pair| pair[1] < pair[0]), "{within_only:?}");
        // With half the length, twice as many runs are needed.
        assert!((within_only[0] as f64 / within_only[1] as f64 - 2.0).abs() < 0.05, "{within_only:?}");
        let between_only = runs(0.01, 0.0);
        assert!(between_only.windows(2).all(|pair| pair[1] == pair[0]), "{between_only:?}");
    }

    #[test]
    fn a_single_run_gives_no_cautious_number() {
        let rows = [row(10.0, 0.01)];
        let found = variances(Measure::Mean, &rows.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(found.between, None);
        let needs = needs(&found, 0.05, 60.0, 0.95);
        assert!(needs.iter().all(|need| need.runs.is_some() && need.runs_cautious.is_none()));
    }
}
