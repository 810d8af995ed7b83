//! The inputs of a reading.

use std::io::Read;
use std::path::PathBuf;

use crate::arrival::ArrivalRecord;
use crate::config::SaveConfig;
use crate::jtl_scan::LogError;
use crate::sample::Sample;

/// One of the files or streams.
pub struct ResultsInput {
    /// What the person calls it.
    pub name: String,
    /// Where it is.
    pub from: ResultsFrom,
}

/// Where results come from.
pub enum ResultsFrom {
    /// A file or a run directory.
    Path(PathBuf),
    /// A stream, which can be read once.
    Stream(Box<dyn Read>),
}

impl ResultsInput {
    /// What stands at `path`.
    #[must_use]
    pub fn path(path: impl Into<PathBuf>) -> ResultsInput {
        let path = path.into();
        ResultsInput { name: path.display().to_string(), from: ResultsFrom::Path(path) }
    }

    /// The same once more; `None` of a stream, which can be read once.
    #[must_use]
    pub fn again(&self) -> Option<ResultsInput> {
        match &self.from {
            ResultsFrom::Path(path) => {
                Some(ResultsInput { name: self.name.clone(), from: ResultsFrom::Path(path.clone()) })
            }
            ResultsFrom::Stream(_) => None,
        }
    }

    /// All of them once more.
    ///
    /// # Errors
    /// One is a stream, which can be read once.
    pub fn all_again(inputs: &[ResultsInput]) -> Result<Vec<ResultsInput>, ResultsError> {
        let again = |input: &ResultsInput| {
            input.again().ok_or_else(|| ResultsError { name: input.name.clone(), source: LogError::NoFile })
        };
        inputs.iter().map(again).collect()
    }
}

/// How results are read.
#[derive(Debug, Clone, Default)]
pub struct ReadSettings {
    /// With what configuration CSV files without names of columns were written; without one, the orders that JMeter writes
    /// by default are tried.
    pub unnamed: Option<SaveConfig>,
    /// Whether time stamps are the ends of samples (`sampleresult.timestamp.start=false`).
    pub stamps_are_ends: bool,
    /// Whether all columns are wanted; otherwise those that totals are made of.
    pub all_columns: bool,
    /// Whether the thread groups of CSV rows are read, too, for totals by group. Other forms have them without asking.
    pub groups: bool,
    /// The run's start in ms since 1970, where an earlier reading has found it.
    pub start_ms: Option<i64>,
}

/// Results that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("{name}")]
pub struct ResultsError {
    /// Which.
    pub name: String,
    /// Why.
    #[source]
    pub source: LogError,
}

/// Who is told what is read.
pub(crate) struct Sinks<'h> {
    pub(crate) sample: &'h mut dyn FnMut(&Sample<'_>),
    /// An arrival of an open workload; its group is numbered as its own record has it.
    pub(crate) arrival: &'h mut dyn FnMut(&ArrivalRecord),
}
