//! The file that describes an experiment.

mod check_recovery;
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
pub use factor::{Factor, FilePatch, Level};
pub use quantity::{CoreList, Duration, Percent, QuantityError, WayMask};
pub use read::{EXPERIMENT_BYTES_MAX, ReadExperiment};
pub use recovery::{CaseLevels, RecoveryCases, RecoveryPlan};
pub use response::{Response, ResponseError, ResponseMeasure};
pub use short::ShortForm;
pub use system::{Command, SystemUnderTest, TrialLoad};
pub use treatment::{
    AllocationMasks, CgroupLimits, CommandPair, Neighbour, NeighbourWorkload, NetworkConditions,
    RestartSettings, Treatment, TreatmentAction, TreatmentError,
};
pub use trial_plan::{ExperimentLimits, Repetitions, TrialPlan};
