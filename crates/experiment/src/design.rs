//! The design of an experiment: its cases, the order of its trials, and the next trial.

mod case_set;
mod duration;
mod journal;
mod order;
mod schedule;
mod seeds;
mod trial_id;

pub use case_set::{Case, CaseSet, CasesError, DesignFactor, DesignKind};
pub use duration::{DurationEstimate, TrialTimes};
pub use journal::{EntryError, GivenUp, Journal, JournalEntry, NextTrial, TrialCounts, TrialOutcome};
pub use order::TrialOrder;
pub use schedule::{Design, DesignError, DesignPlan, TRIALS_MAX, Trial};
pub use trial_id::{TrialId, TrialIdError};
