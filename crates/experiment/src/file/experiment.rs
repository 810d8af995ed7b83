//! The file as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::factor::Factor;
use super::quantity::Duration;
use super::recovery::RecoveryPlan;
use super::response::ResponseVariable;
use super::short::ShortForm;
use super::system::{SystemUnderTest, TrialLoad};
use super::treatment::{NeighbourWorkload, Treatment, TreatmentAction};
use super::trial_plan::{ExperimentLimits, TrialPlan};
use crate::design::{Design, DesignError, DesignFactor, DesignPlan, TrialTimes};

/// Largest number of trials if the file has no limit.
const TRIALS_DEFAULT: u64 = 1_000;

/// An experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// The version of the notation: 1.
    pub version: u32,
    /// Title of reports.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The system under test.
    #[serde(default)]
    pub system: SystemUnderTest,
    /// The load of every trial.
    pub load: TrialLoad,
    /// The number, order and duration of trials.
    pub trials: TrialPlan,
    /// The factors.
    #[serde(rename = "factor", default)]
    pub factors: Vec<Factor>,
    /// The treatments that levels name.
    #[serde(rename = "treatment", default, skip_serializing_if = "Vec::is_empty")]
    pub treatments: Vec<Treatment>,
    /// Sources that are observed in every trial, as in `busyhour run --observe`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observe: Vec<String>,
    /// Files of the system under test that are copied after each trial; patterns with * and ? are allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collect: Vec<String>,
    /// The measures that are compared, such as "p95 of checkout". The first one is the main result.
    #[serde(default = "default_responses")]
    pub responses: Vec<ResponseVariable>,
    /// Thresholds that are evaluated for every trial, as in `busyhour run --threshold`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<String>,
    /// Which part of a loss treatments recover.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryPlan>,
    /// The short form, for `--short`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<ShortForm>,
    /// Limits that the experiment must not exceed.
    #[serde(default)]
    pub limits: ExperimentLimits,
}

fn default_responses() -> Vec<ResponseVariable> {
    ["p95", "mean", "throughput", "errors"]
        .into_iter()
        .filter_map(|text| ResponseVariable::try_from(text.to_owned()).ok())
        .collect()
}

impl Experiment {
    /// The design of the experiment.
    ///
    /// # Errors
    /// The factors do not allow the design, or there are too many trials. A file that was read without errors has a design.
    pub fn design(&self) -> Result<Design, DesignError> {
        let factors = self.factors.iter().map(|factor| DesignFactor {
            name: factor.name.clone(),
            levels: factor.levels.iter().map(|level| level.name.clone()).collect(),
            base: factor.base_index().unwrap_or(usize::MAX),
        });
        let plan = DesignPlan {
            blocks: self.trials.repetitions().max(),
            order: self.trials.order,
            warm_up: self.trials.warm_up,
            seed: self.trials.seed,
            attempts_max: self.trials.attempts,
            trials_max: self.limits.trials.unwrap_or(TRIALS_DEFAULT),
        };
        Design::new(self.trials.design, factors.collect(), plan)
    }

    /// The known parts of the time of a trial.
    #[must_use]
    pub fn trial_times(&self) -> TrialTimes {
        let starts = self.system.start.is_some();
        TrialTimes {
            load_s: self.trials.duration.seconds(),
            pause_s: self.trials.pause.as_ref().map_or(0.0, Duration::seconds),
            ready_within_s: if starts { self.system.ready_within_s() } else { 0.0 },
        }
    }

    /// The neighbours that fill memory before they work, which takes seconds to a minute with STREAM's arrays of four times the caches.
    pub fn filling_neighbours(&self) -> impl Iterator<Item = &str> {
        let fills = |treatment: &&Treatment| match &treatment.action {
            TreatmentAction::Neighbour(neighbour) => match neighbour.workload {
                NeighbourWorkload::Stream => true,
                NeighbourWorkload::Cpu
                | NeighbourWorkload::Cache
                | NeighbourWorkload::Memory
                | NeighbourWorkload::Disk
                | NeighbourWorkload::Network => false,
            },
            _ => false,
        };
        self.treatments.iter().filter(fills).map(Treatment::name)
    }

    /// Identifies everything that determines the trials. An interrupted experiment may only continue with the same fingerprint.
    /// The title, responses, limits, and the numbers of repetitions and attempts are not included.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut trials = self.trials.clone();
        (trials.repetitions, trials.until, trials.min, trials.max) = (None, None, None, None);
        // The value for files without the key, so that journals of earlier versions remain valid.
        trials.attempts = TrialPlan::ATTEMPTS;
        let parts = (&self.system, &self.load, trials, &self.factors, &self.treatments, &self.observe);
        let text = serde_json::to_string(&parts).unwrap_or_default();
        // FNV-1a, which is sufficient to detect an edited file.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        format!("{hash:016x}")
    }

    /// The schema of the file, as JSON Schema 2020-12.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(Experiment).to_value()
    }
}

impl Factor {
    /// The level of the base case, as an index; `None` if it does not exist.
    #[must_use]
    pub fn base_index(&self) -> Option<usize> {
        match &self.base {
            Some(base) => self.levels.iter().position(|level| level.name == *base),
            None => (!self.levels.is_empty()).then_some(0),
        }
    }
}
