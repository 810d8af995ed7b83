//! Access to the files of resctrl.

use std::fmt::Debug;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Longest file that is read, in bytes: the tasks of a machine with many processes.
const FILE_MAX: u64 = 4 << 20;

/// The largest number of entries of a directory that are read.
const ENTRIES_MAX: usize = 10_000;

/// The operations on the mounted file system that are needed. Paths are relative to its root.
///
/// Tests replace the mounted file system by a double that follows the kernel's rules.
pub trait ResctrlFiles: Debug + Send {
    /// Reads a file.
    ///
    /// # Errors
    /// It does not exist, or reading is not permitted.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Writes a text into a file with one system call, as the kernel requires.
    ///
    /// # Errors
    /// The kernel refuses the text; `info/last_cmd_status` contains the reason.
    fn write(&mut self, path: &Path, text: &str) -> io::Result<()>;

    /// Names of the directories in a directory, in alphabetical order.
    ///
    /// # Errors
    /// It does not exist, or reading is not permitted.
    fn directories(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Names of the files in a directory, in alphabetical order.
    ///
    /// # Errors
    /// It does not exist, or reading is not permitted.
    fn files(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Creates a group.
    ///
    /// # Errors
    /// It exists, or the hardware has no identifier left (`ENOSPC`).
    fn create_directory(&mut self, path: &Path) -> io::Result<()>;

    /// Removes a group.
    ///
    /// # Errors
    /// It does not exist.
    fn remove_directory(&mut self, path: &Path) -> io::Result<()>;
}

/// The mounted file system, usually at `/sys/fs/resctrl`.
#[derive(Clone, Debug)]
pub struct MountedFiles {
    root: PathBuf,
}

impl MountedFiles {
    /// The file system mounted at `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    fn entries(&self, path: &Path, directories: bool) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(self.root.join(path))?.take(ENTRIES_MAX) {
            let entry = entry?;
            if entry.file_type()?.is_dir() == directories
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

impl Default for MountedFiles {
    fn default() -> Self {
        Self::new("/sys/fs/resctrl")
    }
}

impl ResctrlFiles for MountedFiles {
    fn read(&self, path: &Path) -> io::Result<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.root.join(path))?.take(FILE_MAX).read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut file = std::fs::File::options().write(true).open(self.root.join(path))?;
        file.write_all(text.as_bytes())
    }

    fn directories(&self, path: &Path) -> io::Result<Vec<String>> {
        self.entries(path, true)
    }

    fn files(&self, path: &Path) -> io::Result<Vec<String>> {
        self.entries(path, false)
    }

    fn create_directory(&mut self, path: &Path) -> io::Result<()> {
        std::fs::create_dir(self.root.join(path))
    }

    fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(self.root.join(path))
    }
}
