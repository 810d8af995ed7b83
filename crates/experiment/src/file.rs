//! The file that describes an experiment.

mod check_recovery;
mod combinations;
mod experiment;
mod factor;
mod finding;
mod quantity;
mod read;
mod recovery;
mod response;
mod short;
mod shorten;
mod system;
mod treatment;
mod trial_plan;
mod validate;

pub use experiment::Experiment;
pub use factor::{Factor, FactorLevel, FilePatch};
pub use quantity::{ByteSize, CoreList, Duration, Percent, QuantityError, WayMask};
pub use read::{EXPERIMENT_BYTES_MAX, ReadExperiment};
pub use recovery::{CaseLevels, RecoveryCases, RecoveryPlan};
pub use response::{ResponseError, ResponseMeasure, ResponseVariable};
pub use short::ShortForm;
pub use system::{Command, SystemUnderTest, TrialLoad};
pub use treatment::{
    AllocationMasks, AllocationProgram, CgroupTreatment, CommandPair, Neighbour, NeighbourWorkload,
    NetworkConditions, RestartSettings, Treatment, TreatmentAction, TreatmentError,
};
pub use trial_plan::{ExperimentLimits, Repetitions, TrialPlan};
