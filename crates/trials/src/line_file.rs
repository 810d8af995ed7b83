//! A file with a line of JSON for each step, synchronized to the disk, and locked by the process that writes it.

use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ExecuteError;

/// Largest length of a file in bytes.
const BYTES_MAX: u64 = 1 << 30;

/// A file with lines of JSON, opened and locked for writing.
#[derive(Debug)]
pub struct LineFile {
    file: File,
    path: PathBuf,
}

impl LineFile {
    /// Opens or creates a file, and reads its lines. An incomplete last line, which a power loss can leave, is removed.
    ///
    /// # Errors
    /// The file cannot be read or written, another process uses it, or a line is not valid.
    pub fn open<T: DeserializeOwned>(path: &Path) -> Result<(LineFile, Vec<T>), ExecuteError> {
        LineFile::open_with(path, true)
    }

    /// Like [`LineFile::open`], for a file that must exist.
    ///
    /// # Errors
    /// The same, and the file does not exist.
    pub(crate) fn open_existing<T: DeserializeOwned>(
        path: &Path,
    ) -> Result<(LineFile, Vec<T>), ExecuteError> {
        LineFile::open_with(path, false)
    }

    fn open_with<T: DeserializeOwned>(
        path: &Path,
        creates: bool,
    ) -> Result<(LineFile, Vec<T>), ExecuteError> {
        let opened = File::options().create(creates).truncate(false).read(true).write(true).open(path);
        let mut file = opened.map_err(ExecuteError::file(path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let dir = path.parent().unwrap_or(path);
                return Err(ExecuteError::InUse(dir.display().to_string()));
            }
            Err(TryLockError::Error(source)) => return Err(ExecuteError::file(path)(source)),
        }
        let (lines, complete) = read(&mut file, path)?;
        let shortened = file.set_len(complete).and_then(|()| file.seek(SeekFrom::End(0)));
        shortened.map_err(ExecuteError::file(path))?;
        Ok((LineFile { file, path: path.to_owned() }, lines))
    }

    /// Appends a line, and waits until it is on the disk.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&mut self, line: &impl Serialize) -> Result<(), ExecuteError> {
        let failed = |source: std::io::Error| ExecuteError::file(&self.path)(source);
        let mut text = serde_json::to_vec(line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        self.file.write_all(&text).and_then(|()| self.file.sync_data()).map_err(failed)
    }
}

/// Reads the lines of a file without changing it. An incomplete last line is ignored.
///
/// # Errors
/// The file cannot be read, or a line is not valid.
pub fn read_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ExecuteError> {
    let mut file = File::open(path).map_err(ExecuteError::file(path))?;
    Ok(read(&mut file, path)?.0)
}

/// Reads the complete lines of a file, and their length.
fn read<T: DeserializeOwned>(file: &mut File, path: &Path) -> Result<(Vec<T>, u64), ExecuteError> {
    let mut text = Vec::new();
    file.take(BYTES_MAX).read_to_end(&mut text).map_err(ExecuteError::file(path))?;
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let mut lines = Vec::new();
    for (at, line) in text[..complete].split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        let line = serde_json::from_slice(line).map_err(|error| ExecuteError::Journal {
            path: path.display().to_string(),
            line: at + 1,
            reason: error.to_string(),
        })?;
        lines.push(line);
    }
    Ok((lines, complete as u64))
}
