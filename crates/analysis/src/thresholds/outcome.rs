//! How a criterion fared.

use serde::{Deserialize, Serialize};

/// Version of [`ThresholdReport`].
pub const THRESHOLDS_VERSION: u32 = 1;

/// The thresholds of one run as a file of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ThresholdReport {
    /// 1
    pub version: u32,
    /// The run directory or the result file that was judged.
    pub source: String,
    /// Whether no threshold makes the run a failure.
    pub passed: bool,
    /// Each threshold, in the order in which they were given.
    pub thresholds: Vec<ThresholdResult>,
}

/// How one threshold fared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ThresholdResult {
    /// The criterion as it was given.
    pub text: String,
    /// The same in the notation's plainest form.
    pub criterion: String,
    /// Its name, if it was given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What was measured.
    pub subject: String,
    /// Of which samples: `total`, a label, `/pattern/`, `each`.
    pub scope: String,
    /// The label it is about; of `each`, the one that the numbers here are of: the worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `run`, `over 30 s` or `for 30 s`.
    pub window: String,
    /// Whether the run kept it; `null` when there was nothing to measure.
    pub passed: Option<bool>,
    /// Whether the run has failed by it. A threshold that could not be measured fails the run unless it says `, if any`; one
    /// that says `as non-failed` never does.
    pub fails_run: bool,
    /// The value measured, in `unit`: over the run, or of the worst window; `null` when there was nothing to measure.
    pub observed: Option<f64>,
    /// The limit, in `unit`.
    pub limit: f64,
    /// `ms`, `%`, `count`, `per_s`, `users` or `ratio`.
    pub unit: String,
    /// `observed` for people.
    pub observed_text: Option<String>,
    /// The worst window; `null` for a threshold over the run.
    pub worst: Option<WorstWindow>,
    /// Where the first window begins that broke it, in seconds since the start of the run.
    pub since_s: Option<f64>,
    /// Where the last window ends that broke it.
    pub until_s: Option<f64>,
    /// Of `for`: the most seconds in a row that broke the condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_s: Option<u32>,
    /// Windows that were looked at (of `for`, seconds); 1 over the run.
    pub windows: u64,
    /// Those that broke the condition.
    pub broken_windows: u64,
    /// Of `each`: how many labels there were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<u64>,
    /// Of `each`: how many of them broke it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken_labels: Option<u64>,
    /// Whether it stopped the run.
    pub stopped_run: bool,
}

/// A stretch of the run and its value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorstWindow {
    /// Begin in seconds since the start of the run.
    pub from_s: f64,
    /// End.
    pub to_s: f64,
    /// The value, in the threshold's unit.
    pub value: f64,
}

impl ThresholdReport {
    /// A report on `thresholds`.
    #[must_use]
    pub fn new(source: impl Into<String>, thresholds: Vec<ThresholdResult>) -> ThresholdReport {
        let passed = thresholds.iter().all(|threshold| !threshold.fails_run);
        ThresholdReport { version: THRESHOLDS_VERSION, source: source.into(), passed, thresholds }
    }

    /// The text of the file.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Strings, numbers and lists: every one has a JSON form.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The JSON schema of the file (draft 2020-12).
    #[must_use]
    pub fn schema() -> serde_json::Value {
        schemars::schema_for!(ThresholdReport).to_value()
    }
}

impl ThresholdResult {
    /// What was seen, for people: `912 ms, from 40 s to 70 s; 3 of 90 windows`.
    #[must_use]
    pub fn seen(&self) -> String {
        let Some(observed) = &self.observed_text else {
            return "nothing to measure".to_owned();
        };
        let mut text = observed.clone();
        if self.labels.is_some()
            && let Some(label) = &self.label
        {
            text.push_str(&format!(" of {label}"));
        }
        if let Some(WorstWindow { from_s, to_s, .. }) = self.worst {
            if to_s - from_s > 1.0 {
                text.push_str(&format!(" from {from_s} s to {to_s} s"));
            } else {
                text.push_str(&format!(" in the second from {from_s} s"));
            }
        }
        if let Some(longest) = self.longest_s {
            text.push_str(&format!(", {longest} s in a row"));
        } else if self.worst.is_some() && self.broken_windows > 0 {
            text.push_str(&format!(", {} of {} windows", self.broken_windows, self.windows));
        }
        if let Some((broken, labels)) = self.broken_labels.zip(self.labels).filter(|(broken, _)| *broken > 1)
        {
            text.push_str(&format!(", {broken} of {labels} labels"));
        }
        text
    }

    /// The verdict in a word.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        match (self.passed, self.fails_run) {
            (Some(true), _) => "passed",
            (Some(false), true) => "failed",
            (Some(false), false) => "noticed",
            (None, true) => "failed: no data",
            (None, false) => "no data",
        }
    }
}
