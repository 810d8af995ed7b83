//! Errors in logs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use busyhour_record::SamplesError;

/// A row with an invalid cell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}{}{column}: {text:?} {problem}", place.before_name())]
pub struct BadRow {
    /// The position of the row in the file.
    pub place: RowPlace,
    /// Name of the column or XML attribute in JMeter.
    pub column: &'static str,
    /// The content of the cell, truncated.
    pub text: String,
    /// The problem with the cell, such as `is not a duration in ms`.
    pub problem: &'static str,
}

/// The position of a row in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowPlace {
    /// The row starts on this line of a CSV file, counted from 1.
    Line(u64),
    /// The row is this sample of an XML file, counted from 1 and including nested samples.
    Sample(u64),
    /// The row is a sample of an XML file whose tag ends on this line, counted from 1.
    Element(u64),
    /// A field of a file of another tool. In a binary file, the line is the number of the record.
    Position {
        /// Line, from 1.
        line: u64,
        /// Position in the line in bytes, from 1.
        column: u64,
    },
}

impl RowPlace {
    /// The text between the position and the name of the column, attribute or field.
    const fn before_name(self) -> &'static str {
        match self {
            RowPlace::Line(_) => ", column ",
            RowPlace::Sample(_) | RowPlace::Element(_) => ", attribute ",
            RowPlace::Position { .. } => ": ",
        }
    }
}

impl std::fmt::Display for RowPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RowPlace::Line(line) | RowPlace::Element(line) => write!(f, "line {line}"),
            RowPlace::Sample(number) => write!(f, "sample {number}"),
            RowPlace::Position { line, column } => write!(f, "line {line}, column {column}"),
        }
    }
}

impl BadRow {
    pub(crate) fn new(place: RowPlace, column: &'static str, cell: &[u8], problem: &'static str) -> BadRow {
        let text = String::from_utf8_lossy(cell).chars().take(40).collect();
        BadRow { place, column, text, problem }
    }
}

/// The error if rows are too far out of order to be sorted by start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the rows are not in the order in which samples ended: one started {:.3} s before an earlier row, \
     too far to be sorted in memory",
    *lag_ns as f64 / 1e9
)]
pub struct OutOfOrder {
    /// The greatest time by which a row started before an earlier row, in ns.
    pub lag_ns: u64,
}

/// The error if a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// An error of the operating system.
    #[error("cannot read the file")]
    Io(#[from] io::Error),
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The path is a directory without a samples file.
    #[error("the directory contains no samples.bhs, so it is not a run directory")]
    NoRun,
    /// The path is not a regular file but a pipe or a device.
    #[error("the log may have to be read twice, which is impossible because it is not a regular file")]
    NoFile,
    /// The first line contains neither column names nor a row of a known format.
    #[error("line 1, column 1: neither JMeter's column names nor a row that starts with a time stamp")]
    NoNames,
    /// There are no column names, and the first row matches none of JMeter's formats.
    #[error(
        "line 1: {columns} columns without names match none of JMeter's formats (10, 12, 16 or 17 columns)"
    )]
    Unnamed {
        /// Number of columns in the first row.
        columns: usize,
    },
    /// There are no column names, and the first row does not match the properties.
    #[error(
        "line 1: the file has no column names, and its {columns} columns do not fit the properties \
         jmeter.save.saveservice.*: there are fewer than {asked}, or the time stamp is in another column"
    )]
    Properties {
        /// Number of columns in the first row.
        columns: usize,
        /// Number of columns according to the properties.
        asked: usize,
    },
    /// A required column is missing.
    #[error("line 1: there is no column {0}")]
    Column(&'static str),
    /// A quote is not closed.
    #[error("line {line}: a quoted cell is not closed")]
    Quote {
        /// Line at which the row starts, from 1.
        line: u64,
    },
    /// Too many rows are invalid.
    #[error("{bad} of {} rows cannot be read; the first: {first}", rows + bad)]
    BadRows {
        /// Number of invalid rows.
        bad: u64,
        /// Number of valid rows.
        rows: u64,
        /// The first invalid row.
        first: BadRow,
    },
    /// The XML is not well-formed.
    #[error("line {line}: not well-formed XML: {problem}")]
    Xml {
        /// Line of the error, from 1.
        line: u64,
        /// Offset of the error in bytes, from 0.
        at: u64,
        /// The parser's message.
        problem: String,
    },
    /// A tag or text of an XML file exceeds the limit for memory.
    #[error("line {line}: an element or a text of more than {} MiB; JMeter writes none that long", bytes >> 20)]
    XmlPart {
        /// Line of the tag or text, from 1.
        line: u64,
        /// The limit in bytes.
        bytes: u64,
    },
    /// The root element is not `testResults`.
    #[error("the XML is not a JTL: its root element is <{0}> instead of <testResults>")]
    XmlRoot(String),
    /// A file of another tool contains no samples.
    #[error("this is a {0}; it contains percentiles, but no samples")]
    Aggregate(busyhour_imports::AggregateFormat),
    /// A file of another tool cannot be used as it is.
    #[error("this is a {0}, which cannot be read")]
    Unsupported(busyhour_imports::UnsupportedFormat),
    /// A file of another tool cannot be read.
    #[error(transparent)]
    Import(#[from] busyhour_imports::ImportError),
    /// The samples file of a run cannot be read.
    #[error("cannot read its samples.bhs")]
    Samples(#[from] SamplesError),
    /// The rows are too far out of order to be sorted by start.
    #[error(transparent)]
    Order(#[from] OutOfOrder),
}

impl LogError {
    /// Advice for the user; empty if there is none.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            LogError::NoRun => {
                "specify a run directory, or the result files in this directory, for example DIRECTORY/*.jtl"
            }
            LogError::NoFile => "write the log to a file first",
            LogError::NoNames | LogError::Unnamed { .. } | LogError::Properties { .. } => {
                "add a first line with the column names, as JMeter does with \
                 jmeter.save.saveservice.print_field_names=true; `busyhour report`, `compare` and `trend` also take the properties \
                 jmeter.save.saveservice.* with which the file was written, as -J NAME=VALUE or -q FILE"
            }
            LogError::Aggregate(_) => {
                "`busyhour report FILE` without further options shows the percentiles and reasons to doubt them; for everything \
                 else, let the tool write samples (docs/other-tools.md)"
            }
            LogError::Unsupported(format) => format.hint(),
            LogError::Column(_) => "timeStamp, elapsed and label are needed",
            LogError::BadRows { .. } | LogError::Quote { .. } => {
                "check that the file is a JTL of a single run and that its column names are correct"
            }
            LogError::Order(_) => {
                "sort the rows by time stamp, or specify the logs of several machines separately"
            }
            _ => "",
        }
    }

    /// Adds the line number, which is determined from the error's offset in the file at `path`.
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
