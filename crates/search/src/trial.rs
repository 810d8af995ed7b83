//! Trials: the requests of a search, and their outcomes.

use serde::{Deserialize, Serialize};

use crate::end::SearchEnd;

/// The purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialPurpose {
    /// Narrows the answer.
    Search,
    /// Checks that lower loads pass and higher loads fail, or repeats a surprising outcome.
    Check,
    /// Confirms the answer.
    Confirm,
    /// Approaches the load from above, to find hysteresis.
    FromAbove,
}

/// A load before a trial, from which the trial continues without a pause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Overload {
    /// The load, at which the thresholds almost certainly fail.
    pub load: f64,
    /// Its length in seconds.
    pub seconds: f64,
}

/// A trial to run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NextTrial {
    /// The load.
    pub load: f64,
    /// The length in seconds, without that of the overload. The outcome is that of this time.
    pub seconds: f64,
    /// The load to apply first; `None` to start without one.
    pub overload: Option<Overload>,
    /// The purpose.
    pub purpose: TrialPurpose,
}

impl NextTrial {
    /// Seconds under load.
    #[must_use]
    pub fn load_seconds(&self) -> f64 {
        self.seconds + self.overload.map_or(0.0, |overload| overload.seconds)
    }
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchStep {
    /// Run this trial and report its outcome.
    Trial(NextTrial),
    /// The search has ended.
    Finished(SearchEnd),
}

/// Why the outcome of a trial says nothing about the system under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VoidCause {
    /// The generator did not deliver the load.
    LoadNotDelivered,
    /// Something else on the machine disturbed the trial, such as steal.
    HostSpoiled,
}

/// The outcome of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialOutcome {
    /// All thresholds passed.
    Passed,
    /// A threshold failed.
    Failed {
        /// The threshold that failed by the most.
        threshold: String,
        /// The relative excess over its limit, such as 0.1 for 10 % above, if known.
        margin: Option<f64>,
    },
    /// The trial says nothing about the system under test. It is repeated.
    Void(VoidCause),
}

/// A finished trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedTrial {
    /// The requested trial. It counts with its requested load, because the delivered number of arrivals is random.
    pub trial: NextTrial,
    /// Its outcome.
    pub outcome: TrialOutcome,
    /// The relative distance of the measured value from the limit, positive if the trial failed: the largest one of all thresholds.
    /// `None` if it is unknown.
    #[serde(default)]
    pub margin: Option<f64>,
}

impl FinishedTrial {
    /// Whether it passed; `None` if it was void.
    pub(crate) fn passed(&self) -> Option<bool> {
        match self.outcome {
            TrialOutcome::Passed => Some(true),
            TrialOutcome::Failed { .. } => Some(false),
            TrialOutcome::Void(_) => None,
        }
    }
}
