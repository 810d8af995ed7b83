//! Which part of a run the tables are of.

use busyhour_record::{LeftOut, Nanos};
use serde::{Deserialize, Serialize};

/// How the part was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WindowHow {
    /// All of the run: nothing is left out.
    Whole,
    /// Somebody said from where to where.
    Asked,
    /// Ramps were looked for, and left out.
    Steady,
}

/// The part of a run that the tables and the verdict are of. Series and heat map are of the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Samples count that started from here on, in seconds from the start of the run.
    pub from_s: f64,
    /// And before here.
    pub to_s: f64,
    /// How it was chosen.
    pub how: WindowHow,
    /// Requests that started before it, and are left out.
    pub before: u64,
    /// Requests that started after it, and are left out.
    pub after: u64,
    /// Why, in a sentence.
    pub words: String,
}

impl Window {
    /// The window that `left_out` tells of, in a run whose last request in it ended at `last_end`.
    pub(crate) fn asked(left_out: &LeftOut, last_end: Nanos) -> Window {
        let (from, to) = left_out.window;
        let (from_s, to_s) = (from.as_secs_f64(), to.min(last_end.max(from)).as_secs_f64());
        let LeftOut { before, after, .. } = *left_out;
        let words = format!("the tables are of the requests that started from {from_s} s to {to_s} s");
        Window { from_s, to_s, how: WindowHow::Asked, before, after, words }
    }
}
