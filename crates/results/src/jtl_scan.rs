//! Reads the rows of a log for statistics of arrivals.
//!
//! [`crate::Results`] reads complete rows into [`busyhour_sample::Sample`]s. A [`Log`] reads only the columns that describe
//! arrivals, and can sort the rows by their start.

mod cell;
pub(crate) mod cells;
mod columns;
mod csv;
mod csv_rows;
mod error;
mod imported;
mod in_order;
mod marks;
mod rows;
mod run;
mod stamps;
mod xml;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use busyhour_imports::{Detected, SampleForm};
pub use busyhour_sample::LogRow;
pub use error::{BadRow, LogError, OutOfOrder, RowPlace};
pub use in_order::HELD_ROWS_MAX;
pub use rows::{LogFacts, LogForm, LogLabels};

pub(crate) use cell::Cell;
pub(crate) use columns::Columns;
pub(crate) use csv_rows::{CsvRow, CsvRows};
pub(crate) use stamps::Stamps;

use in_order::InOrder;
use rows::ScanState;

/// Maximum length of the first line in bytes.
pub(crate) const HEAD_MAX: u64 = 1 << 20;

/// The format of a log, with the settings for reading it.
#[derive(Debug, Clone)]
enum Kind {
    Csv(Columns),
    Xml { stamps_are_ends: bool },
    Run,
    Imported(SampleForm),
}

/// A log of samples on disk: a JTL in CSV (with or without column names) or XML, a file of another tool, or a run directory.
#[derive(Debug, Clone)]
pub struct Log {
    /// The file to read. In a run directory, this is the samples file.
    file: PathBuf,
    kind: Kind,
}

impl Log {
    /// Detects the format of the file or run directory at `path`.
    ///
    /// # Errors
    /// The file cannot be read, or its format is unknown.
    pub fn open(path: &Path) -> Result<Log, LogError> {
        let found = std::fs::metadata(path)?;
        let file =
            if found.is_dir() { busyhour_record::RunDir::open(path).samples_path() } else { path.to_owned() };
        if found.is_dir() && !file.exists() {
            return Err(LogError::NoRun);
        }
        if !found.is_dir() && !found.is_file() {
            // The earliest start may be in any row, so the file may be read twice, which is impossible with a pipe.
            return Err(LogError::NoFile);
        }
        let mut head = Vec::new();
        File::open(&file)?.take(HEAD_MAX).read_to_end(&mut head)?;
        Ok(Log { kind: kind(&head)?, file })
    }

    /// Reads time stamps as ends of samples (`sampleresult.timestamp.start=false`). Run directories contain both times, and
    /// the files of other tools have fixed formats, so neither is affected.
    #[must_use]
    pub fn with_end_stamps(mut self) -> Log {
        self.kind = match self.kind {
            Kind::Csv(columns) => Kind::Csv(columns.with_stamps(true)),
            Kind::Xml { .. } => Kind::Xml { stamps_are_ends: true },
            other @ (Kind::Run | Kind::Imported(_)) => other,
        };
        self
    }

    /// The format of the log.
    #[must_use]
    pub const fn form(&self) -> LogForm {
        match &self.kind {
            Kind::Csv(columns) => LogForm::Csv { names: columns.named, columns: columns.count },
            Kind::Xml { .. } => LogForm::Xml,
            Kind::Run => LogForm::Run,
            Kind::Imported(form) => LogForm::Imported(*form),
        }
    }

    /// Size of the file in bytes; `None` if the system does not report it.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        std::fs::metadata(&self.file).ok().map(|found| found.len())
    }

    /// Calls `see` with every sampler's row in the order of the file. Calls `progress` at intervals with the number of bytes
    /// read.
    ///
    /// # Errors
    /// The file cannot be read, or has too many invalid rows.
    pub fn scan(
        &self,
        mut see: impl FnMut(&LogRow, &LogLabels),
        progress: &mut dyn FnMut(u64),
    ) -> Result<LogFacts, LogError> {
        let input = File::open(&self.file)?;
        let mut state = ScanState::new(self.form());
        match &self.kind {
            Kind::Csv(columns) => csv::scan(input, columns, &mut state, &mut see, progress)?,
            Kind::Xml { stamps_are_ends } => {
                let input = BufReader::with_capacity(1 << 18, input);
                xml::scan(input, *stamps_are_ends, &mut state, &mut see, progress)
                    .map_err(|error| error.with_line_of(&self.file))?;
            }
            Kind::Imported(form) => imported::scan(input, *form, &mut state, &mut see, progress)?,
            Kind::Run => {
                run::scan(BufReader::with_capacity(1 << 18, input), &mut state, &mut see, progress)?;
            }
        }
        state.finish()
    }

    /// Calls `see` with every sampler's row, sorted by start; rows with equal starts keep the order of the file.
    ///
    /// Logs are in the order of the samples' ends, so only the rows of concurrent samples have to be reordered, and only a part
    /// of the log is in memory. `new` creates the value that `see` updates. If a row turns out to have started before rows that
    /// were already passed to `see`, a new value is created and the log is read a second time.
    ///
    /// # Errors
    /// As for [`Log::scan`], and [`LogError::Order`] if more than [`HELD_ROWS_MAX`] rows would have to be in memory.
    pub fn scan_in_order<A>(
        &self,
        mut new: impl FnMut() -> A,
        mut see: impl FnMut(&mut A, &LogRow, &LogLabels),
        progress: &mut dyn FnMut(u64),
    ) -> Result<(A, LogFacts), LogError> {
        let mut window_ns = None;
        loop {
            let mut into = new();
            let mut order = InOrder::new(window_ns);
            let mut facts =
                self.scan(|row, labels| order.push(*row, &mut |row| see(&mut into, row, labels)), progress)?;
            let labels = LogLabels::of(std::mem::take(&mut facts.labels));
            let ended = order.finish(&mut |row| see(&mut into, row, &labels));
            facts.labels = labels.into_names();
            match ended {
                Ok(lag_ns) => {
                    facts.lag_ns = lag_ns;
                    return Ok((into, facts));
                }
                Err(OutOfOrder { lag_ns }) if window_ns.is_none() => window_ns = Some(lag_ns),
                Err(out) => return Err(LogError::Order(out)),
            }
        }
    }
}

/// Detects the format from the start of the file.
fn kind(head: &[u8]) -> Result<Kind, LogError> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let begin = text.trim_ascii_start();
    if head.starts_with(busyhour_record::SAMPLES_MAGIC) {
        return Ok(Kind::Run);
    }
    if begin.is_empty() {
        return Err(LogError::Empty);
    }
    match busyhour_imports::detect(head) {
        Some(Detected::Samples(form)) => return Ok(Kind::Imported(form)),
        Some(Detected::Aggregate(format)) => return Err(LogError::Aggregate(format)),
        Some(Detected::Unsupported(format)) => return Err(LogError::Unsupported(format)),
        None => {}
    }
    if begin.starts_with(b"<") {
        return Ok(Kind::Xml { stamps_are_ends: false });
    }
    Columns::of(text).map(Kind::Csv)
}

#[cfg(test)]
mod tests;
