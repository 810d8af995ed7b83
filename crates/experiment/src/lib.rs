//! Experiments with a system under test: their file and the design of their trials. This crate does no I/O.
//!
//! - [`Experiment::read`] reads the file of an experiment and reports errors with their positions.
//! - [`Design`] forms the cases from factors and orders the trials. By default, every block contains every case once in a fresh
//!   random order, so that a drift of the machine does not look like an effect. All cases of a block have the same arrivals.
//! - [`Journal`] determines the next trial from the outcomes so far. Failed and spoiled trials are repeated and counted.

mod design;
mod file;
mod scale;

pub use design::{
    Case, CaseSet, CasesError, Design, DesignError, DesignFactor, DesignKind, DesignPlan, DurationEstimate,
    GivenUp, Journal, JournalEntry, JournalError, NextTrial, TRIALS_MAX, Trial, TrialCounts, TrialId,
    TrialIdError, TrialOrder, TrialOutcome, TrialTimes,
};
pub use file::{
    AllocationMasks, CgroupLimits, Command, CommandPair, CoreList, Duration, EXPERIMENT_BYTES_MAX,
    Experiment, ExperimentLimits, Factor, FilePatch, Level, Neighbour, NeighbourWorkload, NetworkConditions,
    Percent, QuantityError, ReadExperiment, Repetitions, Response, ResponseError, ResponseMeasure,
    RestartSettings, SystemUnderTest, Treatment, TreatmentAction, TreatmentError, TrialLoad, TrialPlan,
    WayMask,
};
pub use scale::ResponseScale;
