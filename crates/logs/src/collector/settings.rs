//! The settings of a collector.

use busyhour_redaction::Redactor;

use crate::access::DurationUnit;
use crate::query::Query;
use crate::stamps::StampSettings;
use crate::templates::MinerSettings;

/// The time of a run on the clock of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunClock {
    /// Start in nanoseconds since 1970, as the clock of the log showed it. If that clock was 5 s ahead of the load generator's,
    /// this is 5 s later than the start on the generator's clock.
    pub start_unix_ns: i64,
    /// End in nanoseconds since 1970; `None` if the run has not ended.
    pub end_unix_ns: Option<i64>,
}

/// Which entries are counted by template and stack trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TemplateScope {
    /// Those that match the query.
    #[default]
    Matching,
    /// All.
    All,
}

/// The settings of a [`crate::LogCollector`].
#[derive(Debug, Clone)]
pub struct CollectorSettings {
    /// The time zone and the date of stamps that state none.
    pub stamps: StampSettings,
    /// The unit of durations without a decimal point in access logs.
    pub duration_unit: Option<DurationUnit>,
    /// Which entries are problems.
    pub query: Query,
    /// Which entries are counted by template and stack trace.
    pub scope: TemplateScope,
    /// Whether the entries that satisfy each rule of the query are counted.
    pub counts_rules: bool,
    /// The time of the run.
    pub clock: RunClock,
    /// Recognizes secrets in examples and templates.
    pub redactor: Redactor,
    /// Limits of templates.
    pub miner: MinerSettings,
    /// Maximum length of an example in bytes.
    pub example_bytes_max: usize,
    /// Maximum number of counts, 8 bytes each, for templates and for traces. Intervals become longer when it is reached.
    pub counts_max: usize,
}

impl CollectorSettings {
    /// The default query and limits: 10,000 templates, examples of 4 KiB, 2 million counts.
    #[must_use]
    pub fn new(stamps: StampSettings, clock: RunClock, redactor: Redactor) -> CollectorSettings {
        CollectorSettings {
            stamps,
            duration_unit: None,
            query: Query::default(),
            scope: TemplateScope::default(),
            counts_rules: false,
            clock,
            redactor,
            miner: MinerSettings::default(),
            example_bytes_max: 4 * 1024,
            counts_max: 2_000_000,
        }
    }
}
