//! Settings for reading results and computing totals.

use busyhour_record::SaveConfig;
use busyhour_sample::ApdexLimits;

/// Settings for reading results.
#[derive(Debug, Clone, Default)]
pub struct ReadSettings {
    /// The save configuration of CSV files without column names; `None` to try JMeter's default formats.
    pub unnamed: Option<SaveConfig>,
    /// Whether time stamps are the ends of samples (`sampleresult.timestamp.start=false`).
    pub stamps_are_ends: bool,
    /// Whether all columns are read; otherwise only those that totals need.
    pub all_columns: bool,
    /// Whether the thread groups of CSV rows are read, for totals by group. Other formats always contain them.
    pub groups: bool,
    /// The start of the run in ms since 1970, if it is known from an earlier reading.
    pub start_ms: Option<i64>,
}

/// How totals are computed.
#[derive(Debug, Clone, Copy, Default)]
pub struct AggregateSettings {
    /// The limits of the Application Performance Index.
    pub apdex: ApdexLimits,
    /// The window in seconds since the start of the run, from its start (inclusive) to its end (exclusive): only samples that
    /// start in it are counted. `None` for all samples.
    pub window_s: Option<(f64, f64)>,
}
