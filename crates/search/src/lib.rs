//! Searches the largest load that keeps the thresholds. It does no I/O.
//!
//! [`Search`] asks for trials ([`Search::next_step`]), takes their outcomes ([`Search::report`]), and returns the largest load with
//! at least 95 % passes ([`Search::result`]):
//!
//! - the load at which 95 % of the trials pass is estimated from the distance of the measured values from the limits
//!   ([`Search::report_measured`]), by a regression on the load;
//! - without measured values, or if they jump at the limit, passes and failures alone count. The probability to pass is then a
//!   logistic function of the logarithm of the load. The half-pass load, at which half of the trials pass, and the width of the
//!   curve have a posterior distribution on a grid;
//! - trials are short while the half-pass load is uncertain, and have the full length when its uncertainty has fallen to the width;
//! - the answer is the median of the distribution of the largest load, but at most so high that it exceeds the largest load by more
//!   than the precision with a probability of 5 %. Confirmation runs and trials that approach their load from above follow;
//! - if higher loads pass more often than lower ones, there is no answer.
//!
//! ```
//! use busyhour_search::{LargestLoad, LoadKind, Search, SearchSettings, SearchStep, TrialLength, TrialOutcome};
//!
//! let length = TrialLength { full_seconds: 60.0, shortest_seconds: 10.0, tested: None };
//! let mut search = Search::new(SearchSettings::new(LoadKind::Users, 10.0, 2_000.0, length)).unwrap();
//! while let SearchStep::Trial(trial) = search.next_step() {
//!     let outcome = if trial.load <= 345.0 {
//!         TrialOutcome::Passed
//!     } else {
//!         TrialOutcome::Failed { threshold: "p95 < 300 ms".to_owned(), margin: None }
//!     };
//!     search.report(trial.load, outcome).unwrap();
//! }
//! let LargestLoad::Found { load } = search.result().largest_load else { unreachable!() };
//! assert!(load > 310.0 && load <= 345.0);
//! ```

mod answer;
mod checks;
mod document;
mod end;
mod estimate;
mod from_above;
mod history;
mod margins;
mod monotone;
mod noise;
mod placement;
mod posterior;
mod regression;
mod repeats;
mod search;
mod settings;
mod trial;
mod trial_length;

pub use answer::{CurveShape, CurveWidth, FailedThreshold, LargestLoad, LoadInterval, NoLoad, SearchReport};
pub use document::{
    Evidence, GuessFacts, Knee, LARGEST_LOAD_VERSION, LargestLoadReport, LimitingResource, PassPoint,
    TrialMeasures, TrialRecord, TrialThreshold,
};
pub use end::SearchEnd;
pub use estimate::EstimateBasis;
pub use repeats::{Confirmation, Hysteresis};
pub use search::{ReportError, Search, TRIALS_MAX};
pub use settings::{LoadGuess, LoadKind, SearchSettings, SettingsError};
pub use trial::{FinishedTrial, NextTrial, Overload, SearchStep, TrialOutcome, TrialPurpose, VoidCause};
pub use trial_length::{TestedQuantile, TrialLength, requests_for_full_trial, requests_for_verdict};
