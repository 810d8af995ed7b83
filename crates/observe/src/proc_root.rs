//! Access to `/proc` and `/sys`, or to a recorded copy of them.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::probe::ProbeError;

/// The location of `/proc` and `/sys`: the live system, or a directory with a recorded or artificial copy, for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcRoot {
    root: PathBuf,
}

impl Default for ProcRoot {
    fn default() -> ProcRoot {
        ProcRoot::live()
    }
}

impl ProcRoot {
    /// The running system.
    #[must_use]
    pub fn live() -> ProcRoot {
        ProcRoot { root: PathBuf::from("/") }
    }

    /// A directory that contains `proc` and `sys`.
    #[must_use]
    pub fn recorded(root: impl Into<PathBuf>) -> ProcRoot {
        ProcRoot { root: root.into() }
    }

    /// Whether this is the running system, so that system calls describe the same machine as the files.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The path below this root for an absolute path, such as `/proc/stat`.
    #[must_use]
    pub fn path(&self, absolute: impl AsRef<Path>) -> PathBuf {
        let absolute = absolute.as_ref();
        self.root.join(absolute.strip_prefix("/").unwrap_or(absolute))
    }

    /// A file of a process: `process(1, "stat")` is `/proc/1/stat`.
    #[must_use]
    pub fn process(&self, pid: u32, file: &str) -> PathBuf {
        let mut path = self.root.join("proc");
        path.push(pid.to_string());
        if !file.is_empty() {
            path.push(file);
        }
        path
    }

    /// The number of the network namespace of a process, or of Busyhour for `self`; `None` without permission.
    pub(crate) fn network_namespace(&self, process: &str) -> Option<u64> {
        let link = std::fs::read_link(self.path(format!("/proc/{process}/ns/net"))).ok()?;
        link.to_str()?.strip_prefix("net:[")?.strip_suffix(']')?.parse().ok()
    }

    /// Reads at most `bytes_max` bytes of a file; longer files are cut.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, absolute: impl AsRef<Path>, bytes_max: usize) -> io::Result<Vec<u8>> {
        read_bounded(&self.path(absolute), bytes_max)
    }

    /// Reads a small file as text without surrounding white space; at most 4 KiB.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read_text(&self, absolute: impl AsRef<Path>) -> io::Result<String> {
        let bytes = self.read(absolute, 4096)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The IDs of all processes, in the order of the directory; at most `pids_max`.
    ///
    /// # Errors
    /// `/proc` cannot be read.
    pub fn pids(&self, pids_max: usize) -> io::Result<Vec<u32>> {
        let entries = std::fs::read_dir(self.path("/proc"))?;
        let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        Ok(pids.take(pids_max).collect())
    }
}

/// Reads at most `bytes_max` bytes of a file.
///
/// # Errors
/// The file cannot be read.
pub(crate) fn read_bounded(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file of `/proc` or `/sys` that stays open and is read repeatedly from its start, which takes half the time of
/// opening it. An open file of a process still belongs to this process, even if another process has the same process ID
/// later.
#[derive(Debug)]
pub struct KeptFile {
    path: PathBuf,
    file: Option<File>,
    bytes: Vec<u8>,
    bytes_max: usize,
}

/// Initial length of the buffer, in bytes.
const BUFFER: usize = 4096;

impl KeptFile {
    /// A file that is opened when it is read first. At most `bytes_max` bytes of it are read.
    #[must_use]
    pub fn new(path: PathBuf, bytes_max: usize) -> KeptFile {
        KeptFile { path, file: None, bytes: Vec::new(), bytes_max: bytes_max.max(1) }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The current content. The file is opened again after an error.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn read(&mut self) -> io::Result<&[u8]> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        let mut filled = 0;
        loop {
            if filled == self.bytes.len() {
                if filled >= self.bytes_max {
                    break;
                }
                self.bytes.resize((filled * 2).clamp(BUFFER, self.bytes_max.max(BUFFER)), 0);
            }
            match file.read_at(&mut self.bytes[filled..], filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.file = Some(file);
        Ok(&self.bytes[..filled.min(self.bytes_max)])
    }

    /// Closes the file until it is read again.
    pub fn close(&mut self) {
        self.file = None;
    }

    /// The current content, as [`Self::read`] returns it, but with the error type of probes.
    ///
    /// # Errors
    /// The file cannot be opened or read.
    pub fn read_for_probe(&mut self) -> Result<&[u8], ProbeError> {
        let path = self.path.clone();
        self.read().map_err(|error| ProbeError::read(path, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_inside_the_root() {
        let root = ProcRoot::recorded("/recorded");
        assert_eq!(root.path("/proc/stat"), Path::new("/recorded/proc/stat"));
        assert_eq!(root.process(7, "stat"), Path::new("/recorded/proc/7/stat"));
        assert_eq!(ProcRoot::live().path("/proc/stat"), Path::new("/proc/stat"));
        assert!(ProcRoot::live().is_live() && !root.is_live());
    }

    #[test]
    fn a_kept_file_shows_changes_and_is_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "one").unwrap();
        let mut kept = KeptFile::new(path.clone(), 10_000);
        assert_eq!(kept.read().unwrap(), b"one");
        let long = vec![b'x'; 20_000];
        std::fs::write(&path, &long).unwrap();
        assert_eq!(kept.read().unwrap(), &long[..10_000]);
        std::fs::write(&path, "").unwrap();
        assert_eq!(kept.read().unwrap(), b"");
        let mut missing = KeptFile::new(dir.path().join("missing"), 10);
        assert_eq!(missing.read().unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(dir.path().join("missing"), "now there").unwrap();
        assert_eq!(missing.read().unwrap(), b"now there");
    }
}
