//! Experiments with a system under test: the design of their trials. This crate does no I/O.
//!
//! - [`Design`] forms the cases from factors and orders the trials. By default, every block contains every case once in a fresh
//!   random order, so that a drift of the machine does not look like an effect. All cases of a block have the same arrivals.
//! - [`Journal`] determines the next trial from the outcomes so far. Failed and spoiled trials are repeated and counted.

mod design;

pub use design::{
    Case, CaseSet, CasesError, Design, DesignError, DesignFactor, DesignKind, DesignPlan, DurationEstimate,
    GivenUp, Journal, JournalEntry, JournalError, NextTrial, TRIALS_MAX, Trial, TrialCounts, TrialId,
    TrialIdError, TrialOrder, TrialOutcome, TrialTimes,
};
