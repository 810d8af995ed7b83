//! What can be wrong with a log.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::samples_file::SamplesError;

/// A row that could not be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{column}: {text:?} {problem}", if matches!(place, RowPlace::Line(_)) { ", column " } else { ", attribute " })]
pub struct BadRow {
    /// Where it begins.
    pub place: RowPlace,
    /// Name of the column, or of the XML attribute, as JMeter has it.
    pub column: &'static str,
    /// What stands there, cut short.
    pub text: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// Where a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowPlace {
    /// On this line of a CSV, from 1.
    Line(u64),
    /// In this sample of an XML log, from 1; those inside other ones count too.
    Sample(u64),
    /// In the sample of an XML log whose tag ends on this line, from 1.
    Element(u64),
}

impl std::fmt::Display for RowPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RowPlace::Line(line) | RowPlace::Element(line) => write!(f, "line {line}"),
            RowPlace::Sample(number) => write!(f, "sample {number}"),
        }
    }
}

impl BadRow {
    pub(crate) fn new(place: RowPlace, column: &'static str, cell: &[u8], problem: &'static str) -> BadRow {
        let text = String::from_utf8_lossy(cell).chars().take(40).collect();
        BadRow { place, column, text, problem }
    }
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The system says no.
    #[error("cannot read it")]
    Io(#[from] io::Error),
    /// Nothing is in it.
    #[error("the file is empty")]
    Empty,
    /// A directory without a record of samples.
    #[error("the directory holds no samples.bhs, so it is no run directory")]
    NoRun,
    /// A pipe or a device.
    #[error("it is no file, and may have to be read a second time")]
    NoFile,
    /// Neither names of columns nor rows of a known form.
    #[error("line 1, column 1: neither names of JMeter's columns nor a row that begins with a time stamp")]
    NoNames,
    /// No column names, and a first row that fits no known order of columns.
    #[error(
        "line 1: {columns} columns without names fit none of the forms that JMeter writes (10, 12, 16 or 17)"
    )]
    Unnamed {
        /// How many there are.
        columns: usize,
    },
    /// The first row does not fit what the properties say of rows without names.
    #[error(
        "line 1: {columns} columns without names, the first row with its time stamp elsewhere than the properties \
         jmeter.save.saveservice.* say, or too short: they make {asked} columns"
    )]
    Properties {
        /// How many there are.
        columns: usize,
        /// How many the properties make.
        asked: usize,
    },
    /// A column is missing without which nothing can be said.
    #[error("line 1: there is no column {0}")]
    Column(&'static str),
    /// A quote is not closed.
    #[error("line {line}: a quoted cell does not end")]
    Quote {
        /// Line at which the row begins, from 1.
        line: u64,
    },
    /// Too many rows are no rows.
    #[error("{bad} of {} rows cannot be read; the first: {first}", rows + bad)]
    BadRows {
        /// How many.
        bad: u64,
        /// How many could be read.
        rows: u64,
        /// The first.
        first: BadRow,
    },
    /// It is no well-formed XML.
    #[error("line {line}: not well-formed XML: {problem}")]
    Xml {
        /// Where.
        line: u64,
        /// Offset in bytes, from 0.
        at: u64,
        /// The parser's words.
        problem: String,
    },
    /// The first element is another one than a JTL's.
    #[error("the XML is no JTL: it begins with <{0}> instead of <testResults>")]
    XmlRoot(String),
    /// The record of a run cannot be read.
    #[error("cannot read its samples.bhs")]
    Samples(#[from] SamplesError),
    /// Its rows are too far from the order of their ends.
    #[error(transparent)]
    Order(#[from] OutOfOrder),
}

impl LogError {
    /// What to do about it; empty when nothing is to be advised.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            LogError::NoRun => {
                "name a run directory, or the result files in this one, for instance with /*.jtl at the end"
            }
            LogError::NoFile => "write the log into a file first",
            LogError::NoNames | LogError::Unnamed { .. } | LogError::Properties { .. } => {
                "put a line with the names of the columns in front, as JMeter does with \
                 jmeter.save.saveservice.print_field_names=true; `busyhour report`, `compare` and `trend` also take the properties \
                 jmeter.save.saveservice.* with which the file was written, as -J NAME=VALUE or -q FILE"
            }
            LogError::Column(_) => "timeStamp, elapsed and label are needed",
            LogError::BadRows { .. } | LogError::Quote { .. } => {
                "see whether the file is a JTL of one run, and whether its columns are named rightly"
            }
            LogError::Order(_) => {
                "sort the rows by their time stamps, or give logs of several machines one by one"
            }
            _ => "",
        }
    }

    /// The same with the line of the place in the file.
    pub(super) fn with_line_of(self, path: &Path) -> LogError {
        match self {
            LogError::Xml { at, problem, .. } => {
                LogError::Xml { line: line_at(path, at).unwrap_or(0), at, problem }
            }
            other => other,
        }
    }
}

fn line_at(path: &Path, at: u64) -> io::Result<u64> {
    let mut rest = File::open(path)?.take(at);
    let mut buffer = vec![0; 1 << 16];
    let mut line = 1;
    loop {
        let read = rest.read(&mut buffer)?;
        if read == 0 {
            return Ok(line);
        }
        line += memchr::memchr_iter(b'\n', &buffer[..read]).count() as u64;
    }
}

/// Rows came too late to be put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its rows are not in the order in which samples ended: one started {:.3} s before another that stands above it, \
     too far to be put in order in memory",
    *lag_ns as f64 / 1e9
)]
pub struct OutOfOrder {
    /// The greatest lag of a row, in ns.
    pub lag_ns: u64,
}
