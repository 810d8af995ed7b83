//! When samplers started, from any log: what the statistics of arrivals need of each row, and no more.
//!
//! [`crate::Results`] reads whole rows into [`crate::Sample`]s; a [`Log`] reads the few columns that tell about
//! arrivals, and puts rows into the order of their starts.

mod cell;
pub(crate) mod cells;
mod columns;
mod csv;
mod csv_rows;
mod in_order;
mod marks;
mod problem;
mod rows;
mod run;
pub(crate) mod stamps;
mod xml;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

pub use in_order::HELD_ROWS_MAX;
pub use problem::OutOfOrder;
pub use problem::{BadRow, LogError, RowPlace};
pub use rows::{LogFacts, LogForm, LogLabels, LogRow};

pub(crate) use cell::Cell;
pub(crate) use columns::Columns;
pub(crate) use csv_rows::{CsvRow, CsvRows};

use in_order::InOrder;
use rows::Seen;

/// Most bytes of the first line.
pub(crate) const HEAD_MAX: u64 = 1 << 20;

/// What a log is, with what reading it needs to know.
#[derive(Debug, Clone)]
enum Kind {
    Csv(Columns),
    Xml { stamps_are_ends: bool },
    Run,
}

/// A log of samples on disk: a JTL in CSV with or without column names, a JTL in XML, or a run directory of ours.
#[derive(Debug, Clone)]
pub struct Log {
    /// The file that is read.
    file: PathBuf,
    kind: Kind,
}

impl Log {
    /// Looks at what stands at `path`: a file, or a run directory.
    ///
    /// # Errors
    /// It cannot be read, or is none of the kinds that are understood.
    pub fn open(path: &Path) -> Result<Log, LogError> {
        let found = std::fs::metadata(path)?;
        let file = if found.is_dir() { crate::RunDir::open(path).samples_path() } else { path.to_owned() };
        if found.is_dir() && !file.exists() {
            return Err(LogError::NoRun);
        }
        if !found.is_dir() && !found.is_file() {
            // The smallest stamp may stand anywhere: a pipe cannot be read a second time.
            return Err(LogError::NoFile);
        }
        let mut head = Vec::new();
        File::open(&file)?.take(HEAD_MAX).read_to_end(&mut head)?;
        Ok(Log { kind: kind(&head)?, file })
    }

    /// The same log read as one whose time stamps are the ends of samples (`sampleresult.timestamp.start=false`); a run of
    /// ours has both anyway.
    #[must_use]
    pub fn with_end_stamps(mut self) -> Log {
        self.kind = match self.kind {
            Kind::Csv(columns) => Kind::Csv(columns.with_stamps(true)),
            Kind::Xml { .. } => Kind::Xml { stamps_are_ends: true },
            Kind::Run => Kind::Run,
        };
        self
    }

    /// What kind of log it is.
    #[must_use]
    pub const fn form(&self) -> LogForm {
        match &self.kind {
            Kind::Csv(columns) => LogForm::Csv { names: columns.named, columns: columns.count },
            Kind::Xml { .. } => LogForm::Xml,
            Kind::Run => LogForm::Run,
        }
    }

    /// Size of the file that is read, in bytes; `None` when the system does not tell.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        std::fs::metadata(&self.file).ok().map(|found| found.len())
    }

    /// Calls `see` with every row of a sampler, in the order of the file, and `progress` now and then with the bytes
    /// read so far.
    ///
    /// # Errors
    /// The file cannot be read, or holds too much that is no row.
    pub fn scan(
        &self,
        mut see: impl FnMut(&LogRow, &LogLabels),
        progress: &mut dyn FnMut(u64),
    ) -> Result<LogFacts, LogError> {
        let input = File::open(&self.file)?;
        let mut seen = Seen::new(self.form());
        match &self.kind {
            Kind::Csv(columns) => csv::scan(input, columns, &mut seen, &mut see, progress)?,
            Kind::Xml { stamps_are_ends } => {
                let input = BufReader::with_capacity(1 << 18, input);
                xml::scan(input, *stamps_are_ends, &mut seen, &mut see, progress)
                    .map_err(|error| error.with_line_of(&self.file))?;
            }
            Kind::Run => {
                run::scan(BufReader::with_capacity(1 << 18, input), &mut seen, &mut see, progress)?;
            }
        }
        seen.finish()
    }

    /// Calls `see` with every row of a sampler in the order of starts, equal starts in the order of the file.
    ///
    /// Logs are in the order of ends, so only rows that were under way together change places; what must be held for
    /// that is a part of the log. `new` makes what `see` adds to; when a row turns out to have started
    /// before others that were passed on already, everything begins anew from it, and the log is read a second time.
    ///
    /// # Errors
    /// As for [`Log::scan`], and [`LogError::Order`] when more than [`HELD_ROWS_MAX`] rows would have to be held.
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

/// Tells what a file is from how it begins.
fn kind(head: &[u8]) -> Result<Kind, LogError> {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let begin = text.trim_ascii_start();
    if head.starts_with(crate::samples_file::MAGIC) {
        return Ok(Kind::Run);
    }
    if begin.is_empty() {
        return Err(LogError::Empty);
    }
    if begin.starts_with(b"<") {
        return Ok(Kind::Xml { stamps_are_ends: false });
    }
    Columns::of(text).map(Kind::Csv)
}

#[cfg(test)]
mod tests;
