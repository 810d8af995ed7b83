//! The number, order and duration of trials.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Duration, Percent};
use crate::design::{DesignKind, TrialOrder};

/// Repetitions without `repetitions` and `until`.
const REPETITIONS: u32 = 6;

/// The range of repetitions without `min` and `max`, if they end with a narrow interval.
const MIN: u32 = 6;
const MAX: u32 = 30;

/// The number, order and duration of trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrialPlan {
    /// How cases are formed from the factors; default "full-factorial".
    #[serde(default)]
    pub design: DesignKind,
    /// Time of load in each trial.
    pub duration: Duration,
    /// Start of each trial that its results exclude; default 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ramp_up: Option<Duration>,
    /// Pause after each trial; default 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Duration>,
    /// Fixed number of repetitions (blocks); default 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repetitions: Option<u32>,
    /// Instead of `repetitions`: repeat until every interval of the first response is at most this much to each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Percent>,
    /// With `until`: smallest number of repetitions; default 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<u32>,
    /// With `until`: largest number of repetitions; default 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Order of the trials; default "mirrored".
    #[serde(default)]
    pub order: TrialOrder,
    /// Number of trials before the first block that no analysis uses; default 1.
    #[serde(default = "one")]
    pub warm_up: u32,
    /// Seed of the orders and of the arrivals; default 1.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Largest number of attempts of a trial that fails or is spoiled; default 3.
    #[serde(default = "default_attempts")]
    pub attempts: u32,
}

fn one() -> u32 {
    1
}

fn default_attempts() -> u32 {
    TrialPlan::ATTEMPTS
}

fn first_seed() -> u64 {
    1
}

/// When repetitions end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Repetitions {
    /// After a fixed number.
    Fixed(u32),
    /// When the intervals of the first response are narrow enough.
    Until {
        /// Largest half width: a share of a ratio, or of 1 for differences of shares.
        half_width: f64,
        /// Smallest number.
        min: u32,
        /// Largest number.
        max: u32,
    },
}

impl Repetitions {
    /// The largest number of repetitions.
    #[must_use]
    pub fn max(self) -> u32 {
        match self {
            Repetitions::Fixed(repetitions) => repetitions,
            Repetitions::Until { max, .. } => max,
        }
    }
}

impl TrialPlan {
    /// Attempts without `attempts`.
    pub(crate) const ATTEMPTS: u32 = 3;

    /// When repetitions end.
    #[must_use]
    pub fn repetitions(&self) -> Repetitions {
        match &self.until {
            Some(width) => Repetitions::Until {
                half_width: width.share(),
                min: self.min.unwrap_or_else(|| MIN.min(self.max.unwrap_or(MAX))),
                max: self.max.unwrap_or_else(|| MAX.max(self.min.unwrap_or(MIN))),
            },
            None => Repetitions::Fixed(self.repetitions.unwrap_or(REPETITIONS)),
        }
    }
}

/// Limits that an experiment must not exceed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExperimentLimits {
    /// Largest number of trials; default 1,000, at most 100,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<u64>,
    /// Largest time of the experiment without the starts of the system; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Duration>,
}
