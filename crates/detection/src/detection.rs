//! A detected neighbour.

use serde::{Deserialize, Serialize};

use crate::harm::HarmKind;
use crate::reading::SuspectId;

/// The confidence of a detection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The false-alarm rate of the method applies.
    Likely,
    /// The chance of a coincidence is below a fifth of the limit.
    VeryLikely,
}

/// A neighbour that harms the system.
#[derive(Clone, Debug, PartialEq)]
pub struct Detection {
    /// The suspect.
    pub suspect: SuspectId,
    /// The harm that it does to the system.
    pub harm: HarmKind,
    /// When it was found, in seconds.
    pub found_s: f64,
    /// When the suspect began to use CPU time before it was found, in seconds.
    pub from_s: f64,
    /// The last reading in which the suspect was active, in seconds.
    pub to_s: f64,
    /// The harm while the suspect was inactive.
    pub harm_without: f64,
    /// The harm while the suspect was active.
    pub harm_with: f64,
    /// CPU time of the suspect while it was active, in cores.
    pub cores: f64,
    /// The chance that other times fit as well, from 0 to 1.
    pub chance: f64,
    /// The confidence of the detection.
    pub confidence: Confidence,
}
