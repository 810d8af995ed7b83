//! Figures that give reasons to doubt the numbers of a result file, such as a file of another load generator.
//!
//! A result file contains less than a run directory: no intended starts, and nothing about the generator. In addition to the
//! caveats of any run, this module derives from the file:
//! * the requests that were never sent ([`Omission`]),
//! * intervals of percentiles, and
//! * requests of different kinds that are mixed in one percentile.

mod mixed;
mod omission;
mod tail;

use serde::{Deserialize, Serialize};

pub use mixed::LabelTime;
pub(crate) use mixed::mixed_labels;
pub use omission::{Omission, OmissionBounds, OmissionLimit, PercentileBounds};
pub(crate) use omission::{StartGap, omission, user_interval};
pub use tail::PercentileInterval;
pub(crate) use tail::interval as percentile_interval;

/// The largest clock tick, in s, with which arrivals are judged.
pub const ARRIVAL_TICK_S_MAX: f64 = 0.001;

/// Facts about the tool that wrote a result file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherTool {
    /// The tool; if there are several, they are separated by commas.
    pub tool: String,
    /// The clock tick of start times in s.
    pub tick_s: f64,
    /// The resolution of durations in s.
    pub duration_step_s: f64,
    /// Whether the file contains no date, so that times count from the start of the run.
    pub is_undated: bool,
    /// Whether failed requests are not in the file.
    pub is_without_failed: bool,
    /// Requests or iterations that, according to the file, the tool should have started but did not.
    pub dropped: u64,
}
