//! The explanation of a run's response times: the observed cause that is associated with slow requests, or none.

mod cause;

use serde::{Deserialize, Serialize};

pub use cause::Cause;

/// Why requests were slow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The cause; [`Cause::None`] if no observed cause explains slow requests.
    pub cause: Cause,
    /// The finding in a sentence.
    pub sentence: String,
    /// How many causes were compared. The adjusted p values account for all of them.
    pub compared: usize,
    /// The evidence for the cause, then for the other causes, ordered by their share of the time that slow requests lost.
    pub evidence: Vec<Evidence>,
    /// Causes that could not be examined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_examined: Vec<NotExamined>,
    /// The measurement that would decide the question, or confirm the cause.
    pub next: String,
}

impl Explanation {
    /// The evidence for the cause; `None` for [`Cause::None`] and for causes that other parts of the summary prove.
    #[must_use]
    pub fn main(&self) -> Option<&Evidence> {
        self.evidence.iter().find(|evidence| evidence.cause == self.cause)
    }
}

/// The kind of evidence that connects a cause with slow requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Requests were slow when the cause was present, more than shifted times would show by chance.
    Timing,
    /// The cause changed in the incidents of the run.
    Incidents,
    /// The mean waiting time of requests is above a limit.
    Level,
}

/// A cause with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The cause.
    pub cause: Cause,
    /// Whether the evidence meets the conditions of a claim.
    pub holds: bool,
    /// The kind of evidence.
    pub basis: Basis,
    /// The source whose values show it, such as `process:4711`.
    pub source: String,
    /// The measured state, such as `waiting for a CPU`.
    pub signal: String,
    /// The evidence in a sentence.
    pub sentence: String,
    /// Probability of an association that is at least as strong, if times of the cause and of slow requests were unrelated;
    /// `None` if the cause varied too little for the test. For [`Basis::Level`], the claim does not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// `p` after Holm's correction for all causes that were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_adjusted: Option<f64>,
    /// The larger of two shares, from 0 to 1: of the time above the median, and of the requests beyond the 95th percentile, that
    /// would be absent if all requests had been as fast as those without the cause. For [`Basis::Level`], the share of the mean
    /// response time.
    pub share: f64,
    /// Share of the measured part in which the cause was present, from 0 to 1.
    pub present: f64,
    /// Times in which the cause was present, in seconds from the start of the run; the longest ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows_s: Vec<(f64, f64)>,
}

/// A cause that could not be examined.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotExamined {
    /// The cause.
    pub cause: Cause,
    /// The reason, and how to enable it.
    pub reason: String,
}
