//! The content of the page.

use busyhour_logs::{CountedBurst, LogComparison, NoBursts, Zone};

use crate::log_words::NamedLog;

/// The content of the page.
#[derive(Debug, Clone, Copy)]
pub struct LogPage<'a> {
    /// The log.
    pub log: &'a NamedLog,
    /// The zone of the times that are shown.
    pub zone: &'a Zone,
    /// The bursts of problems, or why they are unavailable.
    pub bursts: Result<&'a [CountedBurst], NoBursts>,
    /// The log of a clean run, if the log is compared with one.
    pub baseline: Option<LogBaseline<'a>>,
}

/// The log of a clean run.
#[derive(Debug, Clone, Copy)]
pub struct LogBaseline<'a> {
    /// The log.
    pub log: &'a NamedLog,
    /// Its comparison with the log of the page.
    pub comparison: &'a LogComparison,
}
