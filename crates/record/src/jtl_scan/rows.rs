//! What is read of a log: rows, labels, and what was left out.

use std::num::NonZeroU64;

use rustc_hash::FxHashMap;

use super::problem::{BadRow, LogError};
use crate::totals::{LABELS_MAX, OTHER_LABELS};

/// One sampler's own row, as far as arrivals are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogRow {
    /// Actual start, in ns since 1970; a JTL keeps whole milliseconds.
    pub start_ns: i64,
    /// JMeter's `elapsed` in ns: from the actual start to the end, without idle time.
    pub elapsed_ns: u64,
    /// From the actual start to the first byte of the response, in ns; `None` when the log does not tell.
    pub latency_ns: Option<u64>,
    /// Bytes received; `None` when the log does not tell.
    pub bytes: Option<u64>,
    /// Number of the label in [`LogLabels`].
    pub label: u32,
    /// Number of the thread group, as in [`crate::RunNames::groups`]; `None` where only its name is known.
    pub group: Option<u32>,
    /// Number of the thread: the trailing number of its name; `None` without one.
    pub thread: Option<u32>,
    /// Tells users (threads) of one log apart, by a hash of the thread's whole name, or of group and number; `None` when
    /// the log does not tell.
    pub user: Option<NonZeroU64>,
    /// Whether the sample passed; a log without that column has no failures to tell of.
    pub success: bool,
}

/// What kind of log was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogForm {
    /// JMeter's CSV.
    Csv {
        /// Whether the first line names the columns.
        names: bool,
        /// How many columns there are.
        columns: usize,
    },
    /// JMeter's XML.
    Xml,
    /// The full-fidelity record of a run of ours.
    Run,
}

impl LogForm {
    /// The step of the log's clock in ns: stamps and times are multiples of it.
    #[must_use]
    pub const fn tick_ns(self) -> u64 {
        match self {
            LogForm::Csv { .. } | LogForm::Xml => 1_000_000,
            LogForm::Run => 1,
        }
    }
}

impl std::fmt::Display for LogForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LogForm::Csv { names: true, .. } => f.write_str("CSV"),
            LogForm::Csv { names: false, columns } => write!(f, "CSV without names, {columns} columns"),
            LogForm::Xml => f.write_str("XML"),
            LogForm::Run => f.write_str("run directory"),
        }
    }
}

/// The labels of a log by their numbers. Beyond [`LABELS_MAX`] they share one, [`OTHER_LABELS`].
#[derive(Debug, Default)]
pub struct LogLabels {
    names: Vec<String>,
    by_bytes: FxHashMap<Box<[u8]>, u32>,
}

impl LogLabels {
    pub(super) fn of(names: Vec<String>) -> LogLabels {
        LogLabels { names, by_bytes: FxHashMap::default() }
    }

    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The number of a label.
    pub(super) fn intern(&mut self, label: &[u8]) -> u32 {
        if let Some(number) = self.by_bytes.get(label) {
            return *number;
        }
        if self.names.len() >= LABELS_MAX {
            if self.names.len() == LABELS_MAX {
                self.names.push(OTHER_LABELS.to_owned());
            }
            return LABELS_MAX as u32;
        }
        let number = self.names.len() as u32;
        self.names.push(String::from_utf8_lossy(label).into_owned());
        self.by_bytes.insert(label.into(), number);
        number
    }

    /// The text of label `number`; empty when it was never given out.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// What a log held besides its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFacts {
    /// Its kind.
    pub form: LogForm,
    /// Rows of samplers.
    pub rows: u64,
    /// Rows of transaction controllers, left out.
    pub transactions: u64,
    /// Results inside other ones (redirects, embedded resources), left out. A CSV does not mark them.
    pub sub_results: u64,
    /// Rows before the measured part of a run, left out.
    pub warmup: u64,
    /// Rows that each stand for several samples (`SampleCount`): they count as one arrival, because when the others
    /// started is not in the log.
    pub of_several: u64,
    /// Rows that could not be understood, left out.
    pub bad_rows: u64,
    /// The first of them.
    pub first_bad: Option<BadRow>,
    /// Whether the log ends within a row, or its tail is damaged; the row is left out.
    pub cut_off: bool,
    /// How long before one that stands before it a row started, at most, in ns; 0 unless read in order.
    pub lag_ns: u64,
    /// The labels by their numbers.
    pub labels: Vec<String>,
}

/// What a scan has seen so far.
pub(super) struct Seen {
    pub(super) labels: LogLabels,
    pub(super) facts: LogFacts,
}

/// This many bad rows are no reason to doubt a log.
const BAD_ROWS_FREE: u64 = 3;

/// One bad row in this many is none either.
const BAD_ROWS_SHARE: u64 = 100;

impl Seen {
    pub(super) fn new(form: LogForm) -> Seen {
        Seen {
            labels: LogLabels::default(),
            facts: LogFacts {
                form,
                rows: 0,
                transactions: 0,
                sub_results: 0,
                warmup: 0,
                of_several: 0,
                bad_rows: 0,
                first_bad: None,
                cut_off: false,
                lag_ns: 0,
                labels: Vec::new(),
            },
        }
    }

    pub(super) fn bad(&mut self, make: impl FnOnce() -> BadRow) {
        self.facts.bad_rows += 1;
        if self.facts.first_bad.is_none() {
            self.facts.first_bad = Some(make());
        }
    }

    pub(super) fn finish(self) -> Result<LogFacts, LogError> {
        let mut facts = self.facts;
        facts.labels = self.labels.into_names();
        let free = BAD_ROWS_FREE.max(facts.rows / BAD_ROWS_SHARE);
        match facts.first_bad {
            Some(first) if facts.bad_rows > free || facts.rows + facts.transactions == 0 => {
                Err(LogError::BadRows { bad: facts.bad_rows, rows: facts.rows, first })
            }
            _ => Ok(facts),
        }
    }
}
