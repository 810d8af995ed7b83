//! The results of criteria.

use serde::{Deserialize, Serialize};

/// Version of [`ThresholdReport`].
pub const THRESHOLDS_VERSION: u32 = 1;

/// The results of the thresholds of one run, as written to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ThresholdReport {
    /// 1
    pub version: u32,
    /// The run directory or the result file that was evaluated.
    pub source: String,
    /// Whether no threshold fails the run.
    pub passed: bool,
    /// The result of each threshold, in the given order.
    pub thresholds: Vec<ThresholdResult>,
}

/// The result of one threshold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ThresholdResult {
    /// The criterion as given.
    pub text: String,
    /// The criterion in normalized notation.
    pub criterion: String,
    /// Its name, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The measured quantity.
    pub subject: String,
    /// The measured samples: `total`, a label, `/pattern/`, `each`.
    pub scope: String,
    /// The label; for `each`, the label with the worst value, to which the numbers below refer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// `run`, `over 30 s` or `for 30 s`.
    pub window: String,
    /// Whether the threshold passed; `null` if there was nothing to measure.
    pub passed: Option<bool>,
    /// Whether the threshold fails the run. A threshold without data fails the run unless it ends in `, if any`; one with
    /// `as non-failed` never does.
    pub fails_run: bool,
    /// The measured value, in `unit`: over the run, or in the worst window; `null` if there was nothing to measure.
    pub observed: Option<f64>,
    /// The limit, in `unit`.
    pub limit: f64,
    /// `ms`, `%`, `count`, `per_s`, `users` or `ratio`.
    pub unit: String,
    /// `observed` as text with its unit.
    pub observed_text: Option<String>,
    /// The worst window; `null` for a threshold over the run.
    pub worst: Option<WorstWindow>,
    /// Start of the first failed window, in seconds since the start of the run.
    pub since_s: Option<f64>,
    /// End of the last failed window, in seconds since the start of the run.
    pub until_s: Option<f64>,
    /// For `for`: the maximum number of consecutive failed seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_s: Option<u32>,
    /// Number of evaluated windows (for `for`, seconds); 1 over the run.
    pub windows: u64,
    /// Number of failed windows.
    #[serde(rename = "broken_windows")]
    pub failed_windows: u64,
    /// For `each`: the number of labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<u64>,
    /// For `each`: the number of failed labels.
    #[serde(default, rename = "broken_labels", skip_serializing_if = "Option::is_none")]
    pub failed_labels: Option<u64>,
    /// Whether the threshold stopped the run.
    pub stopped_run: bool,
}

/// A window of the run and its value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorstWindow {
    /// Start, in seconds since the start of the run.
    pub from_s: f64,
    /// End, in seconds since the start of the run.
    pub to_s: f64,
    /// The value, in the threshold's unit.
    pub value: f64,
}

impl ThresholdReport {
    /// Creates a report on `thresholds`.
    #[must_use]
    pub fn new(source: impl Into<String>, thresholds: Vec<ThresholdResult>) -> ThresholdReport {
        let passed = thresholds.iter().all(|threshold| !threshold.fails_run);
        ThresholdReport { version: THRESHOLDS_VERSION, source: source.into(), passed, thresholds }
    }

    /// Serializes the report as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Cannot fail: the report consists of strings, numbers and lists.
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
    /// Describes the measured value: `912 ms from 40 s to 70 s, 3 of 90 windows`.
    #[must_use]
    pub fn describe_observed(&self) -> String {
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
        } else if self.worst.is_some() && self.failed_windows > 0 {
            text.push_str(&format!(", {} of {} windows", self.failed_windows, self.windows));
        }
        if let Some((failed, labels)) = self.failed_labels.zip(self.labels).filter(|(failed, _)| *failed > 1)
        {
            text.push_str(&format!(", {failed} of {labels} labels"));
        }
        text
    }

    /// The verdict for reports.
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
