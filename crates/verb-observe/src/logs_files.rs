//! Reads and counts log files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use busyhour_diagnostic::io_hints::with_hint;
use busyhour_logs::{
    CollectorSettings, EntryReader, EntrySeverity, EntryTime, Envelope, LineContext, LineSplitter,
    LogCollector, Query, Redactor, RunClock, StampSettings, TemplateScope, Unwrapper, Zone,
};
use busyhour_report::NamedLog;

use super::logs_window::CountedTime;

/// Number of bytes at the beginning of a file that are searched for its first stamp.
const HEAD_BYTES: u64 = 1 << 18;
/// A file with a zero byte within this number of bytes at its start is not a log.
const TEXT_BYTES: usize = 8 * 1024;

/// The reason why there are no counts.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogFileError {
    /// A file cannot be read.
    #[error("cannot read {}: {}", path.display(), with_hint(source))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file is empty.
    #[error("{} is empty", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A file is not text.
    #[error("{} is not a text file\n  hint: decompress it first, for example with zcat", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
    },
    /// The entries have no times, but the selected time depends on them.
    #[error("the entries of {name} have no times, so that --window cannot select any")]
    NoTimes {
        /// The name of the log.
        name: String,
    },
    /// There is no entry in the selected time.
    #[error("{name} has no entry in the selected time; its first entry is at {first}")]
    NothingInTime {
        /// The name of the log.
        name: String,
        /// The time of the first entry.
        first: String,
    },
}

/// The settings for reading the files.
#[derive(Debug)]
pub(super) struct ReadLogs<'a> {
    pub(super) query: &'a Query,
    pub(super) scope: TemplateScope,
    /// The zone of stamps without an offset, and of times that are shown.
    pub(super) zone: &'a Zone,
    pub(super) redactor: &'a Redactor,
    pub(super) time: CountedTime,
}

impl ReadLogs<'_> {
    /// Counts the files of a log together.
    pub(super) fn count(&self, paths: &[PathBuf]) -> Result<NamedLog, LogFileError> {
        let name = match paths {
            [one] => one.display().to_string(),
            [first, ..] => format!("{} and {} more", first.display(), paths.len() - 1),
            [] => String::new(),
        };
        let mut first: Option<i64> = None;
        let mut near_unix_ns = 0;
        for path in paths {
            let head = checked_head(path)?;
            near_unix_ns = modified_unix_ns(path).unwrap_or(near_unix_ns);
            first = first.into_iter().chain(self.first_time(&head, near_unix_ns)).min();
        }
        // The count starts at a whole second of the clock.
        let first = first.map(|unix_ns| unix_ns.div_euclid(1_000_000_000).saturating_mul(1_000_000_000));
        let Some((from_unix_ns, to_unix_ns)) = self.time.resolve(first, self.zone) else {
            return Err(LogFileError::NoTimes { name });
        };
        let start_unix_ns = from_unix_ns.or(first).unwrap_or(0);
        let stamps = StampSettings { zone: Some(self.zone.clone()), near_unix_ns };
        let clock = RunClock { start_unix_ns, end_unix_ns: to_unix_ns };
        let mut collector = LogCollector::new(CollectorSettings {
            query: self.query.clone(),
            scope: self.scope,
            counts_rules: true,
            ..CollectorSettings::new(stamps, clock, self.redactor.clone())
        });
        if first.is_none() {
            // Entries without times are counted, too.
            collector.set_arrival(start_unix_ns);
        }
        let mut severities = BTreeMap::new();
        for path in paths {
            feed(&mut collector, path, &mut severities)
                .map_err(|source| LogFileError::Unreadable { path: path.clone(), source })?;
        }
        let mut counts = collector.finish();
        if first.is_none() {
            counts.length_s = None;
        }
        match first {
            Some(first) if self.time.is_limited() && severities.is_empty() => {
                Err(LogFileError::NothingInTime { name, first: self.zone.show(first) })
            }
            Some(_) | None => Ok(NamedLog { name, counts, severities, has_times: first.is_some() }),
        }
    }

    /// The earliest time of the entries in the beginning of a file.
    fn first_time(&self, head: &[u8], near_unix_ns: i64) -> Option<i64> {
        let stamps = StampSettings { zone: Some(self.zone.clone()), near_unix_ns };
        let (mut reader, mut splitter) = (EntryReader::new(stamps, None), LineSplitter::new());
        let (mut unwrapper, mut first) = (None, None::<i64>);
        let mut add = |time: EntryTime| {
            if let EntryTime::UnixNs(unix_ns) = time {
                first = first.into_iter().chain([unix_ns]).min();
            }
        };
        splitter.push(head, |line| {
            let unwrapper = unwrapper.get_or_insert_with(|| Unwrapper::new(Envelope::detect(line)));
            if let Ok(line) = unwrapper.unwrap(line) {
                let context =
                    LineContext { received_unix_ns: line.received_unix_ns, severity: line.severity };
                reader.push(&line.text, context, |entry| add(entry.time));
            }
        });
        reader.finish(|entry| add(entry.time));
        first
    }
}

/// The beginning of a file, which has to be text.
fn checked_head(path: &Path) -> Result<Vec<u8>, LogFileError> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head))
        .map_err(|source| LogFileError::Unreadable { path: path.to_owned(), source })?;
    if head.is_empty() {
        return Err(LogFileError::Empty { path: path.to_owned() });
    }
    if head.iter().take(TEXT_BYTES).any(|byte| *byte == 0) {
        return Err(LogFileError::Binary { path: path.to_owned() });
    }
    if !head.ends_with(b"\n") {
        head.push(b'\n');
    }
    Ok(head)
}

fn modified_unix_ns(path: &Path) -> Option<i64> {
    let modified = std::fs::metadata(path).ok()?.modified().ok()?;
    i64::try_from(modified.duration_since(UNIX_EPOCH).ok()?.as_nanos()).ok()
}

fn feed(
    collector: &mut LogCollector,
    path: &Path,
    severities: &mut BTreeMap<Option<EntrySeverity>, u64>,
) -> io::Result<()> {
    let mut file = File::open(path)?;
    let source = collector.add_source(None);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        collector.read_each(source, &buffer[..length], |entry| {
            *severities.entry(entry.severity).or_default() += 1;
        });
    }
    collector.end_each(source, |entry| *severities.entry(entry.severity).or_default() += 1);
    Ok(())
}
