//! Caveats about a comparison, each with advice.

use busyhour_sample::RunEnd;
use serde::{Deserialize, Serialize};

use super::differences::RunDifference;
use super::run::{MeasuredRun, RunSeries};

/// Minimum number of runs per side. With fewer runs, only large differences are detected.
const RUNS_GOOD: usize = 5;

/// A run has a ramp if the rate in its first or last tenth is below this share of the rate in its middle.
const RAMP: f64 = 0.7;

/// Minimum number of slices for distinguishing a ramp from chance.
const RAMP_SLICES: usize = 20;

/// A caveat about a comparison or a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ComparisonCaveat {
    /// There is one run on each side, so the intervals do not include the variation between runs.
    OneRunEach,
    /// There is one run on one side. The variation between runs of that side is assumed to equal that of the other side.
    OneRunOneSide,
    /// There are few runs, so intervals are wide.
    FewRuns {
        /// Number of runs of the side with fewer runs.
        runs: usize,
    },
    /// The compared runs differ in their settings; the user allowed this.
    #[serde(rename = "unlike")]
    RunsDiffer {
        /// The difference.
        #[serde(rename = "unlike")]
        difference: RunDifference,
    },
    /// In some runs, the compared part includes a ramp at its beginning or end.
    Ramps {
        /// The runs.
        runs: Vec<String>,
    },
    /// Some runs ended early.
    #[serde(rename = "cut_short")]
    RunsEndedEarly {
        /// The runs.
        runs: Vec<String>,
    },
    /// Some runs have only service times, while others have response times.
    ClocksDiffer {
        /// Runs with service times only.
        only_actual_starts: Vec<String>,
    },
    /// The calculation is based on one run, which does not show the variation between runs.
    #[serde(rename = "plan_from_one_run")]
    RunCountFromOneRun,
    /// The calculation is based on few runs.
    #[serde(rename = "plan_from_few_runs")]
    RunCountFromFewRuns {
        /// Number of runs.
        runs: usize,
    },
    /// The history is too short for detecting a change.
    ShortHistory {
        /// Number of runs.
        runs: usize,
        /// Minimum number of runs for detecting a change; `None` if no number is enough.
        needed: Option<usize>,
    },
    /// Some series of a history have too few runs.
    SeriesNotJudged {
        /// Number of these series.
        series: usize,
        /// Maximum number of runs that one of them needs; `None` if no number is enough.
        needed: Option<usize>,
    },
    /// Consecutive runs of a history are correlated.
    DependentRuns {
        /// Correlation of the mean response times of consecutive runs, after removing the detected changes.
        correlation: f64,
    },
    /// The oldest runs are excluded.
    #[serde(rename = "old_runs_left_out")]
    OldRunsExcluded {
        /// Number of excluded runs.
        runs: usize,
    },
    /// The resolution of histograms was reduced to save memory.
    #[serde(rename = "coarse")]
    CoarseHistograms {
        /// Relative width of the histograms' buckets, in per cent.
        percent: f64,
    },
}

/// A caveat with its message and advice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReportedComparisonCaveat {
    /// The caveat.
    #[serde(flatten)]
    pub caveat: ComparisonCaveat,
    /// The message, which describes what happened.
    pub message: String,
    /// Advice for the user.
    pub advice: String,
}

impl From<ComparisonCaveat> for ReportedComparisonCaveat {
    fn from(caveat: ComparisonCaveat) -> ReportedComparisonCaveat {
        ReportedComparisonCaveat { message: caveat.message(), advice: caveat.advice(), caveat }
    }
}

impl ComparisonCaveat {
    fn message(&self) -> String {
        match self {
            ComparisonCaveat::OneRunEach => {
                "one run on each side: the intervals cover the variation within a run, \
                but not the variation between runs, which is often larger; a measured difference need not \
                be caused by the change"
                    .into()
            }
            ComparisonCaveat::OneRunOneSide => {
                "one side has only one run; its variation between runs is assumed to \
                equal that of the other side"
                    .into()
            }
            ComparisonCaveat::FewRuns { runs } => format!(
                "{runs} runs on a side give a rough estimate of the variation between runs: intervals are wide"
            ),
            ComparisonCaveat::RunsDiffer { difference } => difference.to_string(),
            ComparisonCaveat::Ramps { runs } => {
                format!(
                    "the rate at the beginning or the end differs strongly from that in the middle: {}",
                    runs.join(", ")
                )
            }
            ComparisonCaveat::RunsEndedEarly { runs } => {
                format!("these runs ended early: {}", runs.join(", "))
            }
            ComparisonCaveat::ClocksDiffer { only_actual_starts } => format!(
                "some runs have no intended starts, so their response times are service times: {}",
                only_actual_starts.join(", ")
            ),
            ComparisonCaveat::RunCountFromOneRun => {
                "the calculation is based on one run, which does not show the variation between \
                runs: the numbers of runs are lower bounds"
                    .into()
            }
            ComparisonCaveat::RunCountFromFewRuns { runs } => format!(
                "the calculation is based on {runs} runs, which give only a rough estimate of the variation between runs"
            ),
            ComparisonCaveat::ShortHistory { runs, needed: Some(needed) } => {
                format!("too few runs to judge: {needed} are needed, there are {runs}")
            }
            ComparisonCaveat::ShortHistory { needed: None, .. } => {
                "no number of runs is enough to detect a change at this rate of false alarms".into()
            }
            ComparisonCaveat::SeriesNotJudged { series, needed: Some(needed) } => {
                format!("{series} series have too few runs to judge: up to {needed} are needed")
            }
            ComparisonCaveat::SeriesNotJudged { series, needed: None } => {
                format!("{series} series can never be judged at this rate of false alarms")
            }
            ComparisonCaveat::DependentRuns { correlation } => format!(
                "consecutive runs are correlated (coefficient {correlation:.2}): false alarms are more frequent than stated"
            ),
            ComparisonCaveat::OldRunsExcluded { runs } => format!("the {runs} oldest runs are excluded"),
            ComparisonCaveat::CoarseHistograms { percent } => {
                format!(
                    "percentiles are accurate only to {percent:.1} %, because the resolution of histograms was reduced to save memory"
                )
            }
        }
    }

    fn advice(&self) -> String {
        match self {
            ComparisonCaveat::OneRunEach => {
                "repeat both: five runs each, alternating; compare --power computes how many are needed"
            }
            ComparisonCaveat::OneRunOneSide => "repeat that side as well",
            ComparisonCaveat::FewRuns { .. } => "use compare --power to compute how many runs are needed",
            ComparisonCaveat::RunsDiffer { difference: RunDifference::Lengths { .. } } => {
                            "compare the same part of all runs: --window FROM,TO"
                        }
                        ComparisonCaveat::RunsDiffer { .. } => {
                            "this, and not the change, may be the cause of a measured difference"
                        }
                        ComparisonCaveat::Ramps { .. } => "exclude ramps: --steady auto, or --window FROM,TO",
                        ComparisonCaveat::RunsEndedEarly { .. } => {
                            "repeat these runs, or compare the same part of all runs: --window FROM,TO"
            }
            ComparisonCaveat::ClocksDiffer { .. } => "compare service times: --clock service",
            ComparisonCaveat::RunCountFromOneRun => "use several runs of the same system, at least three",
            ComparisonCaveat::RunCountFromFewRuns { .. } => "use the cautious numbers, or add more runs",
            ComparisonCaveat::ShortHistory { .. } => {
                "repeat runs, or compare runs before and after a change: busyhour compare"
            }
            ComparisonCaveat::SeriesNotJudged { needed: Some(_), .. } => {
                "add runs; no statement is made about these series"
            }
            ComparisonCaveat::SeriesNotJudged { needed: None, .. } => {
                "allow more false alarms: --false-alarms"
            }
            ComparisonCaveat::DependentRuns { .. } => {
                "run on a dedicated machine, or judge a change by repeated runs before and after it: busyhour compare"
            }
            ComparisonCaveat::OldRunsExcluded { .. } => "pass only the runs to judge",
            ComparisonCaveat::CoarseHistograms { .. } => "compare a shorter part: --window FROM,TO",
        }
        .into()
    }
}

/// Caveats about any set of runs.
pub(super) fn of_runs<'a>(runs: impl Iterator<Item = &'a MeasuredRun> + Clone) -> Vec<ComparisonCaveat> {
    let names = |condition: &dyn Fn(&MeasuredRun) -> bool| -> Vec<String> {
        runs.clone().filter(|run| condition(run)).map(|run| run.name.clone()).collect()
    };
    let mut found = Vec::new();
    let ramps = names(&|run| has_ramp(&run.series));
    if !ramps.is_empty() {
        found.push(ComparisonCaveat::Ramps { runs: ramps });
    }
    let cut = names(&|run| {
        let facts = &run.facts;
        let cut = !matches!(facts.end, Some(RunEnd::Completed | RunEnd::StoppedByPlan));
        facts.record_tail_missing || (facts.has_manifest && cut)
    });
    if !cut.is_empty() {
        found.push(ComparisonCaveat::RunsEndedEarly { runs: cut });
    }
    let only_actual_starts = names(&|run| run.facts.only_actual_starts);
    if !only_actual_starts.is_empty() && only_actual_starts.len() < runs.clone().count() {
        found.push(ComparisonCaveat::ClocksDiffer { only_actual_starts });
    }
    let width = runs.map(|run| run.bucket_width).fold(0.0, f64::max);
    if width > 0.002 {
        found.push(ComparisonCaveat::CoarseHistograms { percent: width * 100.0 });
    }
    found
}

/// The caveat about the number of runs.
pub(super) fn of_numbers(base: usize, new: usize) -> Option<ComparisonCaveat> {
    match (base.min(new), base.max(new)) {
        (1, 1) => Some(ComparisonCaveat::OneRunEach),
        (1, _) => Some(ComparisonCaveat::OneRunOneSide),
        (runs, _) if runs < RUNS_GOOD => Some(ComparisonCaveat::FewRuns { runs }),
        _ => None,
    }
}

/// The caveat about a calculation that is based on `runs` runs.
pub(super) fn of_plan(runs: usize) -> Option<ComparisonCaveat> {
    match runs {
        0 | 1 => Some(ComparisonCaveat::RunCountFromOneRun),
        runs if runs < RUNS_GOOD => Some(ComparisonCaveat::RunCountFromFewRuns { runs }),
        _ => None,
    }
}

fn has_ramp(series: &RunSeries) -> bool {
    let n = series.requests.len();
    if n < RAMP_SLICES {
        return false;
    }
    let rate = |requests: &[u64]| requests.iter().sum::<u64>() as f64 / requests.len() as f64;
    let (tenth, requests) = (n / 10, &series.requests);
    let middle = rate(&requests[n / 4..n - n / 4]);
    rate(&requests[..tenth]).min(rate(&requests[n - tenth..])) < RAMP * middle
}
