//! Which part of a run the tables are of.

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
