//! Follows logs while they grow. This is the only module with I/O; it has no threads and never waits.
//!
//! [`FileFollower`] reads a file that grows, is rotated or truncated. [`JournalFollower`] reads journald by running
//! `journalctl`. Both are polled: each call reads the bytes that have arrived, up to a limit, and passes them on, for
//! example to [`crate::LogCollector::read`].

mod file;
#[cfg(unix)]
mod journal;

pub use file::{FileFollower, Piece, StartAt};
#[cfg(unix)]
pub use journal::{JournalFollower, JournalOptions};

use std::io;
use std::path::PathBuf;

/// The result of a poll.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PolledFile {
    /// Number of bytes that were read.
    pub bytes: u64,
    /// Whether there is more to read now.
    pub has_more: bool,
    /// Whether the file was replaced by another one, as log rotation does.
    pub was_rotated: bool,
    /// Whether the file was truncated. Bytes that were written after the previous poll and before the truncation are
    /// lost.
    pub was_truncated: bool,
    /// Whether the source has ended: the process that supplies it has exited.
    pub has_ended: bool,
}

/// An error of a followed log.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// A file cannot be opened or read.
    #[error("cannot read the log {path}")]
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// `journalctl` cannot be started or read.
    #[error("cannot read the journal: `journalctl` {action} failed")]
    Journal {
        /// The action that failed.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// `journalctl` ended by itself.
    #[error("`journalctl` ended with {status}: {message}")]
    JournalEnded {
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The beginning of its error output.
        message: String,
    },
}

/// Maximum number of bytes that one poll reads, so that one log does not delay others.
pub const POLL_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Size of the buffer for reading.
const BUFFER_BYTES: usize = 64 * 1024;
