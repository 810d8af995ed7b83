//! Experiments with a system under test: their file, the design of their trials, and their effects. This crate does no I/O; it
//! starts no process and executes no run.
//!
//! - [`Experiment::read`] reads the file of an experiment and reports errors with their positions.
//! - [`Design`] forms the cases from factors and orders the trials. By default, every block contains every case once in a fresh
//!   random order, so that a drift of the machine does not look like an effect. All cases of a block have the same arrivals.
//! - [`Journal`] determines the next trial from the outcomes so far. Failed and spoiled trials are repeated and counted.
//! - [`analyse`] estimates main effects, interactions and differences between cases, with intervals over the blocks, and
//!   [`sentence`] states the result.
//! - [`planned_effects`] computes what an experiment can show, and [`LookPlan`] ends repetitions when intervals are narrow enough.
//! - [`ExperimentReport`] contains the result: sentence, effects, cases and trials.
//! - [`recovered_loss`] estimates how much of a loss a treatment recovers.
//!
//! ```
//! use busyhour_experiment::{AnalysisSettings, Experiment, Journal, NextTrial, ResponseTable, TrialValue, analyse, sentence};
//!
//! let text = r#"
//! version = 1
//! responses = ["p95"]
//! [load]
//! url = "http://127.0.0.1:8080/"
//! [trials]
//! duration = "1min"
//! warm-up = 0
//! [[factor]]
//! name = "users"
//! level = [{ name = "50", users = 50 }, { name = "100", users = 100 }]
//! "#;
//! let experiment = Experiment::read(text, "users.toml").unwrap().experiment;
//! let design = experiment.design().unwrap();
//! let NextTrial::Trial(first) = Journal::new(&design).next(6) else { panic!() };
//! assert_eq!(first.id.block, 1);
//!
//! let measured = [(1, 40.0, 61.0), (2, 44.0, 64.0), (3, 41.0, 60.0)];
//! let values = measured.into_iter().flat_map(|(block, few, many)| {
//!     [TrialValue { block, case: 1, value: few }, TrialValue { block, case: 2, value: many }]
//! });
//! let table = ResponseTable::new(2, experiment.responses[0].scale(), values).unwrap();
//! let analysis = analyse(design.cases(), &table, AnalysisSettings::default());
//! assert!(sentence(design.cases(), &analysis, "p95").starts_with("p95 is 48.1 % higher with users=100 than with users=50 ("));
//! ```

mod design;
mod effects;
mod file;
mod report;
mod scale;

pub use design::{
    Case, CaseSet, CasesError, Design, DesignError, DesignFactor, DesignKind, DesignPlan, DurationEstimate,
    EntryError, GivenUp, Journal, JournalEntry, NextTrial, TRIALS_MAX, Trial, TrialCounts, TrialId,
    TrialIdError, TrialOrder, TrialOutcome, TrialTimes,
};
pub use effects::{
    AnalysisSettings, BlockContrast, CaseSummary, Effect, EffectInterval, EffectKind, ExperimentAnalysis,
    FAILED_SHARE, HolmResult, INTERACTIONS_MAX, LookDecision, LookPlan, LooksError, NotRecoverable, POWER,
    PlannedEffect, RankedFactor, RecoveredLoss, ResponseSurface, ResponseTable, SurfaceTerm, TableError,
    TrialValue, analyse, effect_name, failures_sentence, holm, level_number, planned_effects,
    power_within_blocks, recovered_loss, sentence, smallest_effect, surfaces,
};
pub use file::{
    AllocationMasks, AllocationProgram, ByteSize, CaseLevels, CgroupTreatment, Command, CommandPair,
    CoreList, Duration, EXPERIMENT_BYTES_MAX, Experiment, ExperimentLimits, Factor, FactorLevel, FilePatch,
    Neighbour, NeighbourWorkload, NetworkConditions, Percent, QuantityError, ReadExperiment, RecoveryCases,
    RecoveryPlan, Repetitions, ResponseError, ResponseMeasure, ResponseVariable, RestartSettings, ShortForm,
    SystemUnderTest, Treatment, TreatmentAction, TreatmentError, TrialLoad, TrialPlan, WayMask,
};
pub use report::{
    CaseCauses, ExperimentReport, REPORT_VERSION, ReportedFactor, ReportedRecovery, ReportedResponse,
    ReportedTrial, TrialQuantile, missing_results_hint, response_table,
};
pub use scale::ResponseScale;
