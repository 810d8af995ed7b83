//! Compares groups of runs: estimates each difference with a confidence interval.
//!
//! The samples of a run are not independent, because consecutive requests wait in the same queues. Even runs of the
//! same system differ, because the state of caches, schedulers and other processes differs. The unit of a comparison is
//! therefore the run. A [`RunTally`] divides a run into time slices. From these slices, [`MeasuredRun`] computes each
//! [`Measure`], and its confidence interval within the run by the stationary block bootstrap. [`Comparison`] uses one
//! value per run, label and measure. If there are several runs on both sides, it computes intervals by Student's t over
//! runs (on logarithms, for ratios). One run on each side shows only the variation within the runs, which raises a
//! caveat. All labels and measures are tested together, which limits the expected share of false differences among the
//! reported ones.
//!
//! [`differences`] finds differences between the runs' settings that would make the comparison misleading. [`RunsNeeded`] computes
//! how many runs are needed to detect a difference. [`Trend`] finds changepoints in a history of runs.

mod caveat;
mod compared;
mod differences;
mod effect;
mod histogram;

mod measure;
mod planning;
mod run;
mod system;
mod tally;
mod trend;

pub use caveat::{ComparisonCaveat, ReportedComparisonCaveat};
pub use compared::{
    COMPARISON_VERSION, ComparedRow, ComparedRun, Comparison, ComparisonSettings, Counted, Side, TestFamily,
};
pub use differences::{RunDifference, differences};
pub use effect::{EffectMethod, Interval, LabelEffect, Margins, Verdict};
pub use measure::{Measure, Measured, RESAMPLES, RunPrecision, SAMPLES_MIN, TAIL_SAMPLES};
pub use planning::{CAUTION, LENGTH_FACTORS, POWERS, PowerNeed, PowerRow, RunsNeeded};
pub use run::{CurvePoint, MeasuredRow, MeasuredRun, Quartiles, RunSeries};
pub use system::{ComparedFigure, ComparedSubject, FigureRuns, SystemComparison};
pub use tally::{ComparedClock, RunTally, RunWindow, TalliedSample};
pub use trend::{
    RUNS_MAX, RUNS_PER_RATE, Trend, TrendChange, TrendOutcome, TrendRun, TrendSeries, TrendSettings,
};
