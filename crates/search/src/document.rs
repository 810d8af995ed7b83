//! The result of a search with its trials as data, for reports.

use serde::{Deserialize, Serialize};

use crate::answer::SearchReport;
use crate::settings::{LoadGuess, LoadKind, SearchSettings};
use crate::trial::{Overload, TrialOutcome, TrialPurpose};

/// The version of [`LargestLoadReport`].
pub const LARGEST_LOAD_VERSION: u32 = 3;

/// A fact, or the reason why it is unavailable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence<T> {
    /// The fact.
    Found(T),
    /// Why it is unavailable.
    Unavailable(String),
}

impl<T> Evidence<T> {
    /// The fact; `None` if it is unavailable.
    pub fn found(&self) -> Option<&T> {
        match self {
            Evidence::Found(fact) => Some(fact),
            Evidence::Unavailable(_) => None,
        }
    }
}

/// A threshold in a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialThreshold {
    /// The criterion as given.
    pub text: String,
    /// Whether it failed the trial.
    pub failed: bool,
    /// The measured value with its unit; `None` if there was nothing to measure.
    pub observed: Option<String>,
    /// The relative distance of the measured value from the limit: positive if the threshold failed.
    pub margin: Option<f64>,
    /// Whether the criterion limits a time.
    pub is_time: bool,
}

/// What a trial measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialMeasures {
    /// Number of requests.
    pub requests: u64,
    /// Requests per second, from the first start to the last end.
    pub throughput_per_s: f64,
    /// Mean response time in seconds.
    pub response_s: f64,
    /// Share of failed requests, 0 to 1.
    pub error_share: f64,
    /// The thresholds.
    pub thresholds: Vec<TrialThreshold>,
}

/// A trial that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its number, from 1 on, in the order of execution. Interrupted trials use up a number.
    pub number: u32,
    /// Its purpose; `None` for a light trial before the search.
    pub purpose: Option<TrialPurpose>,
    /// The load.
    pub load: f64,
    /// The length in seconds, without that of the overload.
    pub seconds: f64,
    /// The overload before.
    pub overload: Option<Overload>,
    /// The outcome.
    pub outcome: TrialOutcome,
    /// Why the trial is void.
    pub void_reason: Option<String>,
    /// What was measured.
    pub measures: Option<TrialMeasures>,
    /// Its directory, relative to that of the search.
    pub dir: String,
}

/// The guess from which the search started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuessFacts {
    /// The guess.
    pub guess: LoadGuess,
    /// How it was found.
    pub sentence: String,
}

/// The resource that limits the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LimitingResource {
    /// The busiest observed resource; `None` if no resource was observed.
    pub resource: Option<String>,
    /// Its mean use in the trial, from 0 to 1.
    pub utilization: Option<f64>,
    /// Why requests were slow in the trial; `None` if the trial has no explanation.
    pub explanation: Option<String>,
    /// The trial.
    pub trial: u32,
    /// Its load.
    pub load: f64,
}

/// The knee of a fitted curve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Knee {
    /// The model in words.
    pub model: String,
    /// The number of users at the knee; for a rate, the mean number of requests in the system. `None` if the curve has no knee.
    pub users: Option<f64>,
    /// The requests per second there. `None` if the curve has no knee.
    pub per_s: Option<f64>,
    /// The largest throughput in requests per second; `None` if the curve has no limit.
    pub capacity_per_s: Option<f64>,
    /// The interval of 95 % of the largest throughput, as far as it is known.
    pub capacity_low_per_s: Option<f64>,
    /// The upper end.
    pub capacity_high_per_s: Option<f64>,
    /// Number of different loads.
    pub loads: usize,
}

/// A point of the pass curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PassPoint {
    /// The load.
    pub load: f64,
    /// The probability that a trial of full length passes.
    pub pass_probability: f64,
}

/// The result of a search, or its state, with all trials.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LargestLoadReport {
    /// The version of this structure, [`LARGEST_LOAD_VERSION`].
    pub version: u32,
    /// The plan or URL.
    pub target: String,
    /// What the load counts.
    pub kind: LoadKind,
    /// The thresholds.
    pub thresholds: Vec<String>,
    /// The settings, if the light trials have ended.
    pub settings: Option<SearchSettings>,
    /// The guess from which the search started.
    pub guess: Evidence<GuessFacts>,
    /// The answer; `None` while the light trials have not ended.
    pub search: Option<SearchReport>,
    /// The pass curve; empty unless trials passed and failed.
    pub pass_curve: Vec<PassPoint>,
    /// The resource that limits the load.
    pub resource: Evidence<LimitingResource>,
    /// The knee by the fitted capacity model.
    pub model_knee: Evidence<Knee>,
    /// The knee by the Universal Scalability Law.
    pub usl_knee: Evidence<Knee>,
    /// The trials.
    pub trials: Vec<TrialRecord>,
}
