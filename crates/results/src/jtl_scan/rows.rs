//! The contents of a log: rows, labels, and counts of the rows that are ignored.

use busyhour_imports::SampleForm;
use busyhour_sample::{LABELS_MAX, OTHER_LABELS};
use rustc_hash::FxHashMap;

use super::error::{BadRow, LogError};

/// The format of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogForm {
    /// A CSV file of JMeter.
    Csv {
        /// Whether the first line contains the column names.
        names: bool,
        /// Number of columns.
        columns: usize,
    },
    /// An XML file of JMeter.
    Xml,
    /// The samples file in a run directory.
    Run,
    /// A file of another load generator.
    Imported(SampleForm),
}

impl LogForm {
    /// The clock tick of the log in ns: time stamps are multiples of it.
    #[must_use]
    pub const fn tick_ns(self) -> u64 {
        match self {
            LogForm::Csv { .. } | LogForm::Xml => 1_000_000,
            LogForm::Run => 1,
            LogForm::Imported(form) => form.tick_ns,
        }
    }

    /// The step of durations in ns: they are multiples of it.
    #[must_use]
    pub const fn duration_step_ns(self) -> u64 {
        match self {
            LogForm::Csv { .. } | LogForm::Xml => 1_000_000,
            LogForm::Run => 1,
            LogForm::Imported(form) => form.format.duration_step_ns(),
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
            LogForm::Imported(form) => form.format.fmt(f),
        }
    }
}

/// The labels of a log by their numbers. All labels beyond [`LABELS_MAX`] have the number of [`OTHER_LABELS`].
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

    /// The text of label `number`; empty if there is no such label.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }
}

/// Facts about a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFacts {
    /// Its format.
    pub form: LogForm,
    /// Number of rows of samplers.
    pub rows: u64,
    /// Number of rows of transaction controllers, which are ignored.
    pub transactions: u64,
    /// Number of sub-results (redirects, embedded resources), which are ignored. They are not marked in CSV files, so there
    /// they are counted as rows.
    pub sub_results: u64,
    /// Number of rows before the measured part, which are ignored.
    pub warmup: u64,
    /// Number of rows that represent several samples (`SampleCount`). Each of these rows is counted as one arrival, because the
    /// log does not contain the starts of its other samples.
    pub of_several: u64,
    /// Number of invalid rows, which are ignored.
    pub bad_rows: u64,
    /// The first invalid row.
    pub first_bad: Option<BadRow>,
    /// Whether the log is truncated within a row or damaged at its end; that row is ignored.
    pub cut_off: bool,
    /// The greatest lag in ns: the maximum time by which a row started before a row that precedes it in the file. 0 if the rows
    /// were not sorted.
    pub lag_ns: u64,
    /// The labels by their numbers.
    pub labels: Vec<String>,
}

/// The state of a scan.
pub(super) struct ScanState {
    pub(super) labels: LogLabels,
    pub(super) facts: LogFacts,
}

/// Number of invalid rows that are always accepted.
const BAD_ROWS_FREE: u64 = 3;

/// In larger logs, one invalid row in this many rows is accepted.
const BAD_ROWS_SHARE: u64 = 100;

impl ScanState {
    pub(super) fn new(form: LogForm) -> ScanState {
        ScanState {
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

    pub(super) fn add_bad_row(&mut self, make: impl FnOnce() -> BadRow) {
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
