//! A log file that grows.

use std::fs::{File, Metadata};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::{BUFFER_BYTES, FollowError, POLL_BYTES_MAX, PolledFile};

/// Where to begin reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartAt {
    /// At the beginning of the file.
    Beginning,
    /// At its end: only bytes that are written from now on.
    End,
}

/// Reads a file that grows.
///
/// If the path leads to another file (a different inode), the old file is read to its end, and then the new one from its
/// beginning. If the file is replaced several times between two polls, the files in between are not read. If the file is shorter
/// than before, or the bytes that were read last have changed, it was truncated and is read from its beginning.
#[derive(Debug)]
pub struct FileFollower {
    path: PathBuf,
    open: Option<OpenFile>,
    buffer: Vec<u8>,
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    identity: Identity,
    offset: u64,
    /// The last bytes before the offset. If they change, the file was truncated and has grown again.
    tail: Vec<u8>,
}

/// Distinguishes a file from another one with the same path.
#[cfg(unix)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

/// Distinguishes a file from another one with the same path.
#[cfg(not(unix))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    created: Option<std::time::SystemTime>,
}

impl Identity {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Identity {
        use std::os::unix::fs::MetadataExt as _;
        Identity { device: metadata.dev(), inode: metadata.ino() }
    }

    #[cfg(not(unix))]
    fn of(metadata: &Metadata) -> Identity {
        Identity { created: metadata.created().ok() }
    }
}

/// Number of bytes before the offset that are compared.
const TAIL_BYTES: usize = 64;

impl FileFollower {
    /// Opens a file. If it does not exist yet, it is read from its beginning as soon as it does.
    ///
    /// # Errors
    /// The file exists and cannot be opened.
    pub fn open(path: &Path, start: StartAt) -> Result<FileFollower, FollowError> {
        let mut follower = FileFollower { path: path.to_owned(), open: None, buffer: vec![0; BUFFER_BYTES] };
        follower.open_path(start).map_err(|source| follower.error(source))?;
        Ok(follower)
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the bytes that have arrived and passes them to `piece`. Passes [`Piece::Begin`] before the content of
    /// another file and after a truncation, because an unfinished line does not continue there.
    ///
    /// # Errors
    /// The file cannot be read. A file that does not exist is not an error.
    pub fn poll(&mut self, mut piece: impl FnMut(Piece<'_>)) -> Result<PolledFile, FollowError> {
        self.poll_path(&mut piece).map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> FollowError {
        FollowError::File { path: self.path.clone(), source }
    }

    fn open_path(&mut self, start: StartAt) -> io::Result<()> {
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let identity = Identity::of(&file.metadata()?);
        let offset = match start {
            StartAt::Beginning => 0,
            StartAt::End => file.seek(SeekFrom::End(0))?,
        };
        let mut open = OpenFile { file, identity, offset, tail: Vec::new() };
        open.tail = open.read_tail()?;
        self.open = Some(open);
        Ok(())
    }

    fn poll_path(&mut self, piece: &mut impl FnMut(Piece<'_>)) -> io::Result<PolledFile> {
        let mut polled = PolledFile::default();
        // The identity is read before the file: if the path leads to another file by now, the old file is usually complete.
        let current = match std::fs::metadata(&self.path) {
            Ok(metadata) => Some(Identity::of(&metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        if let Some(open) = &mut self.open {
            open.read(&mut self.buffer, &mut polled, piece)?;
            if polled.has_more || current.is_none_or(|current| current == open.identity) {
                return Ok(polled);
            }
            polled.was_rotated = true;
            piece(Piece::Begin);
        }
        self.open = None;
        self.open_path(StartAt::Beginning)?;
        if let Some(open) = &mut self.open {
            open.read(&mut self.buffer, &mut polled, piece)?;
        }
        Ok(polled)
    }
}

/// A part of the data that a poll passes to its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The next bytes.
    Bytes(&'a [u8]),
    /// The next bytes are those of another file: an unfinished line has ended ([`crate::LogCollector::end`]).
    Begin,
}

impl OpenFile {
    fn read(
        &mut self,
        buffer: &mut [u8],
        polled: &mut PolledFile,
        piece: &mut impl FnMut(Piece<'_>),
    ) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length < self.offset || self.read_tail()? != self.tail {
            self.offset = 0;
            self.tail.clear();
            polled.was_truncated = true;
            piece(Piece::Begin);
        }
        self.file.seek(SeekFrom::Start(self.offset))?;
        loop {
            if polled.bytes >= POLL_BYTES_MAX {
                polled.has_more = true;
                break;
            }
            let count = match self.file.read(buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.offset += count as u64;
            polled.bytes += count as u64;
            self.remember(&buffer[..count]);
            piece(Piece::Bytes(&buffer[..count]));
        }
        Ok(())
    }

    /// Keeps the last bytes.
    fn remember(&mut self, read: &[u8]) {
        if read.len() >= TAIL_BYTES {
            self.tail.clear();
        }
        self.tail.extend_from_slice(&read[read.len().saturating_sub(TAIL_BYTES)..]);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
    }

    /// The bytes before the offset as they are now.
    fn read_tail(&mut self) -> io::Result<Vec<u8>> {
        let length =
            if self.tail.is_empty() { self.offset.min(TAIL_BYTES as u64) } else { self.tail.len() as u64 };
        self.file.seek(SeekFrom::Start(self.offset - length))?;
        let mut tail = Vec::with_capacity(TAIL_BYTES);
        (&mut self.file).take(length).read_to_end(&mut tail)?;
        Ok(tail)
    }
}
