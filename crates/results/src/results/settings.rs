//! How results are read and added up.

use busyhour_record::SaveConfig;
use busyhour_sample::ApdexLimits;

/// How results are read.
#[derive(Debug, Clone, Default)]
pub struct ReadSettings {
    /// The save configuration of CSV files without column names. Without it, JMeter's default formats are tried.
    pub unnamed: Option<SaveConfig>,
    /// Whether time stamps are the ends of samples (`sampleresult.timestamp.start=false`).
    pub stamps_are_ends: bool,
    /// Whether all columns are read; otherwise only those that totals need.
    pub all_columns: bool,
    /// Whether the thread groups of CSV rows are read, for totals by group. Other formats always contain them.
    pub groups: bool,
    /// The start of the run in ms since 1970, if an earlier reading has found it.
    pub start_ms: Option<i64>,
}

/// How totals are computed.
#[derive(Debug, Clone, Copy, Default)]
pub struct AddUpSettings {
    /// The limits of the Application Performance Index.
    pub apdex: ApdexLimits,
    /// The window in seconds since the start of the run: samples count that start from the first time on and before
    /// the second. `None` for all samples.
    pub window_s: Option<(f64, f64)>,
}
