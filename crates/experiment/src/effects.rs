//! The effects of an experiment: differences between cases within blocks, with intervals.

mod analysis;
mod block_contrast;
mod contrasts;
mod failures;
mod holm;
mod looks;
mod planned;
mod power;
mod recovered;
mod sentence;
mod surface;
mod table;

pub use analysis::{
    AnalysisSettings, CaseSummary, Effect, EffectInterval, ExperimentAnalysis, RankedFactor, analyse,
};
pub use block_contrast::BlockContrast;
pub use contrasts::{EffectKind, INTERACTIONS_MAX};
pub use failures::{FAILED_SHARE, failures_sentence};
pub use holm::{HolmResult, holm};
pub use looks::{LookDecision, LookPlan, LooksError};
pub use planned::{PlannedEffect, planned_effects};
pub use power::{POWER, power_within_blocks, smallest_effect};
pub use recovered::{NotRecoverable, RecoveredLoss, recovered_loss};
pub use sentence::{effect_name, sentence};
pub use surface::{ResponseSurface, SurfaceTerm, level_number, surfaces};
pub use table::{ResponseTable, TableError, TrialValue};
