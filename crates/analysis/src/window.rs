//! The measured part of a run, which the tables cover.

use busyhour_sample::{Nanos, OutsideWindow};
use serde::{Deserialize, Serialize};

/// How the measured part was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowChoice {
    /// The whole run.
    Whole,
    /// The user gave its start and end.
    #[serde(rename = "asked")]
    Requested,
    /// The steady part was detected.
    Steady,
}

/// The part of a run that the tables and the verdict cover. Series and heat map cover the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Start of the part (inclusive), in seconds from the start of the run.
    pub from_s: f64,
    /// End of the part (exclusive), in seconds from the start of the run.
    pub to_s: f64,
    /// How the part was chosen.
    pub how: WindowChoice,
    /// Number of requests that started before the part and are excluded.
    pub before: u64,
    /// Number of requests that started after the part and are excluded.
    pub after: u64,
    /// Why the part was chosen, as a clause for reports.
    #[serde(rename = "words")]
    pub reason: String,
}

impl Window {
    /// The requested window; `last_end` is the last end of a request that started in it.
    pub(crate) fn requested(outside: &OutsideWindow, last_end: Nanos) -> Window {
        let (from, to) = outside.window;
        let (from_s, to_s) = (from.as_secs_f64(), to.min(last_end.max(from)).as_secs_f64());
        let OutsideWindow { before, after, .. } = *outside;
        let reason = format!("the tables cover the requests that started from {from_s} s to {to_s} s");
        Window { from_s, to_s, how: WindowChoice::Requested, before, after, reason }
    }
}
