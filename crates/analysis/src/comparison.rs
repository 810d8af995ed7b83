//! Groups of runs compared: what changed, by how much, and how well that is known.
//!
//! Samples of a run are not independent: neighbours wait in the same queues. And runs of the same system differ: caches,
//! schedulers and neighbours on the machine are not the same again. So the unit of a comparison is the run. Its
//! [`RunTally`] cuts it into slices of time, from which [`MeasuredRun`] has each [`Measure`] and, by the stationary block
//! bootstrap over the slices, how precisely the run alone knows it. [`Comparison`] then takes each measure of a label as
//! one value per run: several runs on both sides give Student's t over runs (on logarithms, for ratios), one run on each
//! side has nothing but its slices, which is said loudly. All labels and measures are judged together, so that of the
//! differences that are claimed at most a known part is false.
//!
//! What is compared is first looked at for [`differences`] that would mislead. [`PowerPlan`] says how many runs would show
//! a difference, [`Trend`] where a history of runs changed.

mod caveat;
mod compared;
mod effect;
mod histogram;
mod likeness;
mod measure;
mod planning;
mod run;
mod tally;
mod trend;

pub use caveat::{ComparisonCaveat, ComparisonDoubt};
pub use compared::{
    Asked, COMPARISON_VERSION, ComparedRow, ComparedRun, Comparison, ComparisonSettings, Counted, Side,
};
pub use effect::{Effect, EffectMethod, Interval, Margins, Verdict};
pub use likeness::{Unlike, differences};
pub use measure::{Measure, Measured, RESAMPLES, SAMPLES_MIN, TAIL_SAMPLES, Within};
pub use planning::{CAUTION, LENGTH_FACTORS, POWERS, PowerNeed, PowerPlan, PowerRow};
pub use run::{CurvePoint, MeasuredRow, MeasuredRun, Quartiles, RunCourse};
pub use tally::{ComparedClock, RunTally, RunWindow, TalliedSample};
pub use trend::{
    RUNS_MAX, RUNS_PER_RATE, Trend, TrendChange, TrendOutcome, TrendRun, TrendSeries, TrendSettings,
};
