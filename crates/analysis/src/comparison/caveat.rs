//! Doubts about a comparison, each with its advice.

use busyhour_record::RunEnd;
use serde::{Deserialize, Serialize};

use super::likeness::Unlike;
use super::run::{MeasuredRun, RunCourse};

/// With fewer runs per side than this a difference must be large to be seen.
const RUNS_GOOD: usize = 5;

/// The rate of the first and last tenth of a run is at least this part of that of its middle, unless it has ramps.
const RAMP: f64 = 0.7;

/// Fewest slices in which a ramp can be told from chance.
const RAMP_SLICES: usize = 20;

/// One doubt about a comparison or a history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ComparisonCaveat {
    /// One run on each side: what varies from run to run is in no interval.
    OneRunEach,
    /// One run on one side: it is taken to vary as the runs of the other side do.
    OneRunOneSide,
    /// Few runs: intervals are wide.
    FewRuns {
        /// Runs of the side with fewer.
        runs: usize,
    },
    /// What is compared is unlike, and was allowed to be.
    Unlike {
        /// The difference.
        unlike: Unlike,
    },
    /// Runs begin or end with a ramp that is part of what is compared.
    Ramps {
        /// Which.
        runs: Vec<String>,
    },
    /// Runs did not come to their end.
    CutShort {
        /// Which.
        runs: Vec<String>,
    },
    /// Only service times are known of some runs, while others have response times.
    ClocksDiffer {
        /// Runs with one clock.
        one_clock: Vec<String>,
    },
    /// A plan rests on one run: what varies from run to run is not in it.
    PlanFromOneRun,
    /// A plan rests on few runs.
    PlanFromFewRuns {
        /// How many.
        runs: usize,
    },
    /// A history is too short for a change to be seen.
    ShortHistory {
        /// Its runs.
        runs: usize,
        /// Fewest runs in which a change could be seen; `None` when no number is enough.
        needed: Option<usize>,
    },
    /// Some series of a history have too few runs.
    SeriesNotJudged {
        /// How many.
        series: usize,
        /// Runs that the longest of them needs; `None` when no number is enough.
        needed: Option<usize>,
    },
    /// The runs of a history depend on each other.
    DependentRuns {
        /// Correlation of the mean response times of neighbouring runs, without the changes found.
        correlation: f64,
    },
    /// Older runs were left out.
    OldRunsLeftOut {
        /// How many.
        runs: usize,
    },
    /// Histograms were made coarser to save memory.
    Coarse {
        /// Relative width of their buckets in per cent.
        percent: f64,
    },
}

/// A doubt as people read it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonDoubt {
    /// The doubt.
    #[serde(flatten)]
    pub caveat: ComparisonCaveat,
    /// What is the matter.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

impl From<ComparisonCaveat> for ComparisonDoubt {
    fn from(caveat: ComparisonCaveat) -> ComparisonDoubt {
        ComparisonDoubt { message: caveat.message(), advice: caveat.advice(), caveat }
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
            ComparisonCaveat::Unlike { unlike } => unlike.to_string(),
            ComparisonCaveat::Ramps { runs } => {
                format!(
                    "the rate at the beginning or the end is far from that of the middle: {}",
                    runs.join(", ")
                )
            }
            ComparisonCaveat::CutShort { runs } => {
                format!("these runs ended early: {}", runs.join(", "))
            }
            ComparisonCaveat::ClocksDiffer { one_clock } => format!(
                "some runs have no intended starts, so their response times are service times: {}",
                one_clock.join(", ")
            ),
            ComparisonCaveat::PlanFromOneRun => {
                "the plan is based on one run, which does not show the variation between \
                runs: the numbers of runs are lower bounds"
                    .into()
            }
            ComparisonCaveat::PlanFromFewRuns { runs } => format!(
                "the plan is based on {runs} runs, which give only a rough estimate of the variation between runs"
            ),
            ComparisonCaveat::ShortHistory { runs, needed: Some(needed) } => {
                format!("too few runs to judge: {needed} are needed, there are {runs}")
            }
            ComparisonCaveat::ShortHistory { needed: None, .. } => {
                "no number of runs is enough to see a change at this rate of false alarms".into()
            }
            ComparisonCaveat::SeriesNotJudged { series, needed: Some(needed) } => {
                format!("{series} series have too few runs to judge: up to {needed} are needed")
            }
            ComparisonCaveat::SeriesNotJudged { series, needed: None } => {
                format!("{series} series can never be judged at this rate of false alarms")
            }
            ComparisonCaveat::DependentRuns { correlation } => format!(
                "neighbouring runs resemble each other (correlation {correlation:.2}): false alarms are more frequent than stated"
            ),
            ComparisonCaveat::OldRunsLeftOut { runs } => format!("the {runs} oldest runs are left out"),
            ComparisonCaveat::Coarse { percent } => {
                format!(
                    "percentiles are known to {percent:.1} % only: histograms were made coarser to save memory"
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
            ComparisonCaveat::Unlike { unlike: Unlike::Lengths { .. } } => {
                "compare the same part of all: --window FROM,TO"
            }
            ComparisonCaveat::Unlike { .. } => "the difference may come from that, not from the change",
            ComparisonCaveat::Ramps { .. } => "leave ramps out: --steady auto, or --window FROM,TO",
            ComparisonCaveat::CutShort { .. } => {
                "run them again, or compare the same part of all: --window FROM,TO"
            }
            ComparisonCaveat::ClocksDiffer { .. } => "compare service times: --clock service",
            ComparisonCaveat::PlanFromOneRun => "give several runs of the same system, at least three",
            ComparisonCaveat::PlanFromFewRuns { .. } => "use the cautious numbers, or add more runs",
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
            ComparisonCaveat::OldRunsLeftOut { .. } => "name the runs that count",
            ComparisonCaveat::Coarse { .. } => "compare a shorter part: --window FROM,TO",
        }
        .into()
    }
}

/// Doubts about any set of runs.
pub(super) fn of_runs<'a>(runs: impl Iterator<Item = &'a MeasuredRun> + Clone) -> Vec<ComparisonCaveat> {
    let named = |wanted: &dyn Fn(&MeasuredRun) -> bool| -> Vec<String> {
        runs.clone().filter(|run| wanted(run)).map(|run| run.name.clone()).collect()
    };
    let mut found = Vec::new();
    let ramps = named(&|run| has_ramp(&run.course));
    if !ramps.is_empty() {
        found.push(ComparisonCaveat::Ramps { runs: ramps });
    }
    let cut = named(&|run| {
        let facts = &run.facts;
        let cut = !matches!(facts.end, Some(RunEnd::Completed | RunEnd::StoppedByPlan));
        facts.record_cut || (facts.has_manifest && cut)
    });
    if !cut.is_empty() {
        found.push(ComparisonCaveat::CutShort { runs: cut });
    }
    let one_clock = named(&|run| run.facts.one_clock);
    if !one_clock.is_empty() && one_clock.len() < runs.clone().count() {
        found.push(ComparisonCaveat::ClocksDiffer { one_clock });
    }
    let width = runs.map(|run| run.bucket_width).fold(0.0, f64::max);
    if width > 0.002 {
        found.push(ComparisonCaveat::Coarse { percent: width * 100.0 });
    }
    found
}

/// Doubts about the number of runs.
pub(super) fn of_numbers(base: usize, new: usize) -> Option<ComparisonCaveat> {
    match (base.min(new), base.max(new)) {
        (1, 1) => Some(ComparisonCaveat::OneRunEach),
        (1, _) => Some(ComparisonCaveat::OneRunOneSide),
        (runs, _) if runs < RUNS_GOOD => Some(ComparisonCaveat::FewRuns { runs }),
        _ => None,
    }
}

/// Doubts about a plan from `runs` runs.
pub(super) fn of_plan(runs: usize) -> Option<ComparisonCaveat> {
    match runs {
        0 | 1 => Some(ComparisonCaveat::PlanFromOneRun),
        runs if runs < RUNS_GOOD => Some(ComparisonCaveat::PlanFromFewRuns { runs }),
        _ => None,
    }
}

fn has_ramp(course: &RunCourse) -> bool {
    let n = course.requests.len();
    if n < RAMP_SLICES {
        return false;
    }
    let rate = |requests: &[u64]| requests.iter().sum::<u64>() as f64 / requests.len() as f64;
    let (tenth, requests) = (n / 10, &course.requests);
    let middle = rate(&requests[n / 4..n - n / 4]);
    rate(&requests[..tenth]).min(rate(&requests[n - tenth..])) < RAMP * middle
}
