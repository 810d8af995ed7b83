//! Thresholds: what a run must keep, or what ends it.
//!
//! A [`Criterion`] is one line of text, the same on a command line, in a file and in Taurus's pass/fail lists. A [`Judge`]
//! looks at the seconds of a run, as they close or from its record, and says at the end how each criterion fared.
//!
//! ```
//! use busyhour_analysis::thresholds::{Criterion, Judge, Meaning, RunMeasures};
//!
//! let criterion = Criterion::parse("p95 of checkout < 800ms over 30s", Meaning::Require)?;
//! let judge = Judge::new(vec![criterion]);
//! // `judge.second(&snapshot)` for each second of the run, then:
//! let results = judge.finish(&RunMeasures::default());
//! assert_eq!(results[0].passed, None, "a label that nobody has seen says nothing");
//! assert!(results[0].fails_run, "and that is a failure unless the criterion ends in `, if any`");
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
    Clock, Comparison, Criterion, CriterionError, Limit, Meaning, Pattern, Scope, Subject, Unit, Window,
};
pub use judge::{Judge, StopOrder};
pub use outcome::{THRESHOLDS_VERSION, ThresholdReport, ThresholdResult, WorstWindow};
pub use run_measures::RunMeasures;
