//! `logs.json`: the counts of the logs of a run, as a file of the run directory.
//!
//! The file is rewritten periodically during a run, so that a run that is killed leaves the latest version. Its size is bounded:
//! if a source has too many templates, the file contains those with the highest severities and counts.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::counts::{FORMAT_VERSION, GroupCounts, LogCounts};

/// Name of the file in a run directory.
pub const LOGS_FILE_NAME: &str = "logs.json";

/// Kind of the part in the manifest of a run.
pub const LOGS_PART_KIND: &str = "logs";

/// Version of the file's format.
pub const LOGS_FILE_VERSION: u32 = 1;

/// Maximum size of the templates and stack traces of a file that is written, in bytes. The counts of all entries per interval need
/// up to 1 MiB more per source.
pub const LOGS_GROUP_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Maximum size of a file that is read, in bytes.
pub const LOGS_FILE_BYTES_MAX: u64 = 128 * 1024 * 1024;

/// Maximum number of sources of a file.
pub const LOGGED_SOURCES_MAX: usize = 64;

/// The logs of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogsFile {
    /// [`LOGS_FILE_VERSION`].
    pub version: u32,
    /// The sources in the order in which the user named them.
    pub sources: Vec<LoggedSource>,
}

/// One log of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoggedSource {
    /// The name of the source, as in the series file: `log:server.log`, `journal:shop.service`.
    pub name: String,
    /// The UTC offset that was assumed for stamps without one, such as `+02:00`; `None` if it was not needed or not found.
    pub assumed_offset: Option<String>,
    /// The counts of the log.
    pub counts: LogCounts,
    /// Templates and stack traces that `counts` does not contain, because the size of the file is limited.
    #[serde(default)]
    pub omitted: OmittedGroups,
}

/// Numbers of the groups that a [`LoggedSource`] leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OmittedGroups {
    /// Number of templates.
    pub templates: u64,
    /// Number of entries with these templates. They are part of `matching` and of the counts over time.
    pub template_entries: u64,
    /// Number of stack traces.
    pub traces: u64,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogsFileError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is larger than [`LOGS_FILE_BYTES_MAX`].
    #[error("{path} has more than {LOGS_FILE_BYTES_MAX} bytes; this program does not write such files")]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The file is not in the format.
    #[error("{path} is damaged: it is not in the format of {LOGS_FILE_NAME}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The cause, with its place.
        source: serde_json::Error,
    },
    /// The file has a version that this program does not read.
    #[error(
        "{path} has version {found}; this program reads version {LOGS_FILE_VERSION} with counts of format {FORMAT_VERSION}"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version, or that of its counts.
        found: u32,
    },
    /// The file has more than [`LOGGED_SOURCES_MAX`] sources.
    #[error(
        "{path} has {found} sources, more than {LOGGED_SOURCES_MAX}; this program does not write such files"
    )]
    Sources {
        /// The file.
        path: PathBuf,
        /// The number of sources.
        found: usize,
    },
}

impl LogsFile {
    /// A file with these sources, whose size is bounded. Sources beyond [`LOGGED_SOURCES_MAX`] are left out.
    #[must_use]
    pub fn new(mut sources: Vec<LoggedSource>) -> LogsFile {
        sources.truncate(LOGGED_SOURCES_MAX);
        let bytes_max = LOGS_GROUP_BYTES_MAX / 2 / sources.len().max(1);
        for source in &mut sources {
            source.limit(bytes_max);
        }
        LogsFile { version: LOGS_FILE_VERSION, sources }
    }

    /// The content of the file.
    ///
    /// # Errors
    /// A number of the counts has no representation in JSON, which no log can cause.
    pub fn to_json(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec(self)?;
        text.push(b'\n');
        Ok(text)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file is missing, damaged, too large or of another version.
    pub fn read(path: &Path) -> Result<LogsFile, LogsFileError> {
        let mut text = Vec::new();
        File::open(path)
            .and_then(|file| file.take(LOGS_FILE_BYTES_MAX + 1).read_to_end(&mut text))
            .map_err(|source| LogsFileError::Read { path: path.to_owned(), source })?;
        if text.len() as u64 > LOGS_FILE_BYTES_MAX {
            return Err(LogsFileError::TooLarge { path: path.to_owned() });
        }
        LogsFile::parse(&text, path)
    }

    fn parse(text: &[u8], path: &Path) -> Result<LogsFile, LogsFileError> {
        /// The version is read first: another version may have other fields.
        #[derive(Deserialize)]
        struct Versioned {
            version: u32,
        }
        let damaged = |source| LogsFileError::Damaged { path: path.to_owned(), source };
        let Versioned { version } = serde_json::from_slice(text).map_err(damaged)?;
        let refused = |found| LogsFileError::Version { path: path.to_owned(), found };
        if version != LOGS_FILE_VERSION {
            return Err(refused(version));
        }
        let file: LogsFile = serde_json::from_slice(text).map_err(damaged)?;
        if file.sources.len() > LOGGED_SOURCES_MAX {
            return Err(LogsFileError::Sources { path: path.to_owned(), found: file.sources.len() });
        }
        match file.sources.iter().find(|source| source.counts.format != FORMAT_VERSION) {
            Some(other) => Err(refused(other.counts.format)),
            None => Ok(file),
        }
    }
}

impl LoggedSource {
    /// Leaves out the least severe and rarest templates and traces. The remaining ones need at most this number of
    /// bytes for templates, and as many for traces.
    fn limit(&mut self, bytes_max: usize) {
        let templates = limit_groups(&mut self.counts.templates, bytes_max);
        let traces = limit_groups(&mut self.counts.traces, bytes_max);
        self.omitted.templates += templates.0;
        self.omitted.template_entries += templates.1;
        self.omitted.traces += traces.0;
    }
}

/// Removes groups beyond the limit; returns how many, and the number of their entries. The order of the others does not change.
fn limit_groups(groups: &mut Vec<GroupCounts>, bytes_max: usize) -> (u64, u64) {
    let sizes: Vec<usize> = groups.iter().map(json_bytes).collect();
    if sizes.iter().sum::<usize>() <= bytes_max {
        return (0, 0);
    }
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse((groups[*at].severity, groups[*at].count)));
    let mut is_kept = vec![false; groups.len()];
    let mut left = bytes_max;
    for at in order {
        let Some(rest) = left.checked_sub(sizes[at]) else { break };
        (left, is_kept[at]) = (rest, true);
    }
    let mut omitted = (0, 0);
    let mut kept = is_kept.into_iter();
    groups.retain(|group| {
        let is_kept = kept.next().unwrap_or(false);
        if !is_kept {
            omitted.0 += 1;
            omitted.1 += group.count;
        }
        is_kept
    });
    omitted
}

/// The size of a group in the file.
fn json_bytes(group: &GroupCounts) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(1);
    match serde_json::to_writer(&mut counter, group) {
        Ok(()) => counter.0,
        // A group that cannot be written is left out.
        Err(_) => usize::MAX / 2,
    }
}

#[cfg(test)]
mod tests;
