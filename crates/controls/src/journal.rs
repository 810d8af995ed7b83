//! The journal of changes: one line of JSON for each change, written to disk before the change is made.
//!
//! A line is incomplete if the program was killed while it wrote the line; the change of such a line was not made.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use busyhour_limits::files::read_regular;
use serde::{Deserialize, Serialize};

use crate::change::Change;

/// The largest journal that is read.
const BYTES_MAX: u64 = 64 << 20;

/// The time to wait for the lock of a journal: a child process that another thread is starting holds all open files
/// until it executes its program.
const LOCK_TIME_MAX: Duration = Duration::from_secs(1);

/// The name of the format, in the first line.
const FORMAT: &str = "busyhour-controls 1";

/// A line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Begin {
        /// The format.
        format: String,
        /// The boot of the machine (`/proc/sys/kernel/random/boot_id`); changes do not outlive it.
        boot: String,
    },
    /// A change is about to be made.
    Change {
        /// Its number.
        id: u64,
        /// The change.
        change: Change,
    },
    /// The change was not made, because its object existed.
    NotMade {
        /// Its number.
        id: u64,
    },
    /// The change was undone.
    Undone {
        /// Its number.
        id: u64,
    },
}

/// A journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be created, read or written.
    #[error("cannot {action} the journal {}", path.display())]
    Io {
        /// The operation.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The journal to create exists already.
    #[error("the journal {} exists, perhaps because its program was killed: restore it, then remove it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Another program uses it.
    #[error("the journal {} is in use: the program that wrote it, or one of its commands, still runs; end it, then repeat", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// Others could have written it, and undoing its changes with this user's rights would be unsafe.
    #[error("the journal {} belongs to another user or can be changed by others; it is not used", path.display())]
    Unsafe {
        /// The file.
        path: PathBuf,
    },
    /// A line is not a record.
    #[error("line {line} of the journal {} is damaged; nothing was undone", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The cause.
        #[source]
        source: Option<serde_json::Error>,
    },
}

/// The place to which the journal is written.
pub trait JournalStore {
    /// Appends a line and waits until it is on the disk.
    ///
    /// # Errors
    /// The system's error.
    fn append(&mut self, line: &[u8]) -> io::Result<()>;
}

impl JournalStore for File {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let length = self.metadata()?.len();
        let result = self.write_all(line).and_then(|()| self.sync_data());
        if result.is_err() {
            // A part of a line would damage the lines after it.
            self.set_len(length)?;
        }
        result
    }
}

/// A change without a later record that it was undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// The number of the change.
    pub id: u64,
    /// The change.
    pub change: Change,
}

/// The content of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The boot of the machine in which it was written.
    pub boot: String,
    /// The changes that were not undone, in the order in which they were made.
    pub pending: Vec<Pending>,
    /// The smallest unused number of a change.
    pub next_id: u64,
    /// The length of the complete lines.
    pub complete_bytes: u64,
}

impl Content {
    /// Parses the text of a journal. A last line that is not complete is ignored.
    ///
    /// # Errors
    /// A line is not a record.
    pub fn parse(path: &Path, text: &[u8]) -> Result<Self, JournalError> {
        let complete_bytes = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut content = Self { complete_bytes: complete_bytes as u64, ..Self::default() };
        for (line, bytes) in (1..).zip(text[..complete_bytes].split_inclusive(|byte| *byte == b'\n')) {
            let damaged = |source| JournalError::Damaged { path: path.to_owned(), line, source };
            let record = serde_json::from_slice(bytes).map_err(|error| damaged(Some(error)))?;
            match record {
                Record::Begin { format, boot } if line == 1 && format == FORMAT => content.boot = boot,
                Record::Change { id, change } if line > 1 && id >= content.next_id => {
                    content.next_id = id.saturating_add(1);
                    content.pending.push(Pending { id, change });
                }
                Record::NotMade { id } | Record::Undone { id } if line > 1 => {
                    // Changes are mostly undone from the end.
                    if let Some(at) = content.pending.iter().rposition(|pending| pending.id == id) {
                        content.pending.remove(at);
                    }
                }
                _ => return Err(damaged(None)),
            }
        }
        Ok(content)
    }
}

/// Creates a journal, which must not exist, and locks it until the file is closed.
pub(crate) fn create(path: &Path, boot: &str) -> Result<File, JournalError> {
    let failed = |action| move |source| JournalError::Io { action, path: path.to_owned(), source };
    let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path).map_err(
        |source| match source.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Exists { path: path.to_owned() },
            _ => failed("create")(source),
        },
    )?;
    lock(&file, path)?;
    let begin = Record::Begin { format: FORMAT.to_owned(), boot: boot.to_owned() };
    file.append(&line(&begin)).map_err(failed("write"))?;
    // The entry of the directory must be on the disk too.
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or_else(|| Path::new("."));
    File::open(parent).and_then(|parent| parent.sync_all()).map_err(failed("write"))?;
    Ok(file)
}

/// Opens and locks an existing journal, and removes an incomplete line at its end.
pub(crate) fn open(path: &Path) -> Result<(File, Content), JournalError> {
    let failed = |action| move |source| JournalError::Io { action, path: path.to_owned(), source };
    let file = OpenOptions::new().append(true).open(path).map_err(failed("open"))?;
    let metadata = file.metadata().map_err(failed("open"))?;
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user || metadata.mode() & 0o022 != 0 {
        return Err(JournalError::Unsafe { path: path.to_owned() });
    }
    lock(&file, path)?;
    let text = read_regular(path, BYTES_MAX).map_err(failed("read"))?;
    let content = Content::parse(path, &text)?;
    if content.complete_bytes < text.len() as u64 {
        file.set_len(content.complete_bytes).map_err(failed("write"))?;
    }
    Ok((file, content))
}

fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    let failed = |source| JournalError::Io { action: "lock", path: path.to_owned(), source };
    match file.try_lock() {
        Ok(()) => return Ok(()),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(source)) => return Err(failed(source)),
    }
    // The lock of the copy is also that of the file. If the time is over, the thread ends when the other program does.
    let copy = file.try_clone().map_err(failed)?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let _ = sender.send(copy.lock());
    });
    match receiver.recv_timeout(LOCK_TIME_MAX) {
        Ok(result) => result.map_err(failed),
        Err(_) => Err(JournalError::InUse { path: path.to_owned() }),
    }
}

/// A record as a line.
pub(crate) fn line(record: &Record) -> Vec<u8> {
    // Records contain only texts, numbers and lists of them, which JSON can represent.
    let mut line = serde_json::to_vec(record).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Removes a journal whose changes are all undone.
///
/// # Errors
/// It cannot be read, has changes that were not undone, or cannot be removed.
pub fn remove_finished(path: &Path) -> Result<bool, JournalError> {
    let (_file, content) = open(path)?;
    if !content.pending.is_empty() {
        return Ok(false);
    }
    let failed = |source| JournalError::Io { action: "remove", path: path.to_owned(), source };
    fs::remove_file(path).map_err(failed)?;
    Ok(true)
}
