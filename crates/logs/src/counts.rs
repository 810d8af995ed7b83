//! The counts of a log, as results contain them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::query::Rule;
use crate::series::CountSeries;
use crate::severity::EntrySeverity;
use crate::stamps::MissingTime;

/// The version of the serialized form of [`LogCounts`].
pub const FORMAT_VERSION: u32 = 1;

/// The counts of a log, on the run's clock. The values exclude entries before the start and after the end of the run,
/// unless their description states otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogCounts {
    /// [`FORMAT_VERSION`].
    pub format: u32,
    /// The rules that select entries, in the notation of [`crate::Query`].
    pub query: String,
    /// Start of the run in nanoseconds since 1970, on the clock of the log.
    pub start_unix_ns: i64,
    /// Length of the run in seconds: to its end, or to the last entry if the end is not known. `None` if the end is not known and
    /// the run has no entry.
    pub length_s: Option<f64>,
    /// Number of lines, at all times.
    pub lines: u64,
    /// Number of entries, at all times.
    pub entries: u64,
    /// Number of entries that match the query.
    pub matching: u64,
    /// Number of matching entries before the start or after the end of the run.
    pub outside: u64,
    /// Number of matching entries whose time is unknown, by reason. Apart from `entries`, no other count includes them.
    pub without_time: BTreeMap<MissingTime, u64>,
    /// Number of entries of a followed log that have no usable stamp. Their time is that of their arrival.
    #[serde(default)]
    pub by_arrival: u64,
    /// Number of entries without a template, because the maximum number of templates was reached.
    pub ungrouped: u64,
    /// Number of lines that were cut because of their length.
    pub truncated_lines: u64,
    /// Number of lines that lack the envelope of their source, and of messages that journalctl omitted.
    pub unreadable_lines: u64,
    /// Length of the intervals of the series, in seconds: 1, or a power of two for long runs with many templates.
    pub interval_s: Intervals,
    /// All entries per interval.
    pub entries_over_time: CountSeries,
    /// Matching entries per interval.
    pub matching_over_time: CountSeries,
    /// Matching entries by rule of the query, in the order of the rules, in the intervals of all entries. Empty unless the collector
    /// counts them ([`crate::CollectorSettings::counts_rules`]).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleCounts>,
    /// Matching entries by template; all entries with [`crate::TemplateScope::All`].
    pub templates: Vec<GroupCounts>,
    /// Matching entries that have a stack trace, by trace; all entries that have one with [`crate::TemplateScope::All`].
    pub traces: Vec<GroupCounts>,
}

/// Lengths of intervals in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// Intervals of all entries and of matching entries.
    pub totals: u32,
    /// Intervals of templates.
    pub templates: u32,
    /// Intervals of traces.
    pub traces: u32,
}

/// The entries that satisfy a rule. An entry that satisfies several rules counts for each of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleCounts {
    /// The rule.
    pub rule: Rule,
    /// Number of entries in the run.
    pub count: u64,
    /// Entries per interval.
    pub over_time: CountSeries,
}

/// The entries with a template or a stack trace in common.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupCounts {
    /// The template with `<*>` for values, or the key of the stack trace. Secrets are redacted.
    pub text: String,
    /// The highest severity among the entries; `None` if the log states none.
    pub severity: Option<EntrySeverity>,
    /// The logger of the first entry.
    pub logger: Option<String>,
    /// Number of entries in the run.
    pub count: u64,
    /// The text of the first entry, shortened and without secrets.
    pub example: String,
    /// Entries per interval.
    pub over_time: CountSeries,
}
