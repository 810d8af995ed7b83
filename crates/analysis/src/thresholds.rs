//! Thresholds: conditions that a run must meet, or that stop it.
//!
//! A [`Criterion`] is one line of text in the same notation on the command line, in a file and in Taurus's pass/fail lists. A
//! [`Judge`] evaluates the criteria on the seconds of a run, live or from its record, and returns the result of each at the end.
//!
//! ```
//! use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures};
//!
//! let criterion = Criterion::parse("p95 of checkout < 800ms over 30s", Meaning::Require)?;
//! let judge = Judge::new(vec![criterion]);
//! // `judge.second(&snapshot)` for each second of the run, then:
//! let results = judge.finish(&RunMeasures::default());
//! assert_eq!(results[0].passed, None, "a criterion on a label without samples is undecided");
//! assert!(results[0].fails_run, "an undecided criterion fails the run unless it ends in `, if any`");
//! # Ok::<(), busyhour_analysis::thresholds::CriterionError>(())
//! ```

mod criterion;
mod judge;
mod notation;
mod outcome;
mod run_measures;
mod tally;
mod track;
mod write;

pub use criterion::{
    Criterion, CriterionError, CriterionLimit, LabelPattern, Meaning, MeasuredQuantity, MeasuredSamples,
    MeasuredTime, Operator, ValueUnit, Window,
};
pub use judge::{Judge, ThresholdStop};
pub use outcome::{THRESHOLDS_VERSION, ThresholdReport, ThresholdResult, WorstWindow};
pub use run_measures::RunMeasures;
