//! The operations on a machine that controls need; tests replace them with a double.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::ControlError;

/// The result of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Whether its exit code was 0.
    pub is_success: bool,
    /// Its standard output, at most 1 MiB.
    pub stdout: String,
    /// Its standard error, at most 1 MiB.
    pub stderr: String,
}

/// Files, directories and programs of a machine.
pub trait System {
    /// Reads a file.
    ///
    /// # Errors
    /// The system's error.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// The names of the directories in a directory.
    ///
    /// # Errors
    /// The system's error.
    fn directories(&self, path: &Path) -> io::Result<Vec<String>>;

    /// Whether the file or directory exists.
    fn exists(&self, path: &Path) -> bool;

    /// Checks that the file or directory can be changed.
    ///
    /// # Errors
    /// The system's error.
    fn check_writable(&self, path: &Path) -> io::Result<()>;

    /// Writes to an existing file of a control file system, in one piece.
    ///
    /// # Errors
    /// The system's error.
    fn write(&self, path: &Path, text: &str) -> io::Result<()>;

    /// Creates a directory in a control file system.
    ///
    /// # Errors
    /// The system's error; [`io::ErrorKind::AlreadyExists`] if it exists.
    fn create_directory(&self, path: &Path) -> io::Result<()>;

    /// Removes a directory of a control file system.
    ///
    /// # Errors
    /// The system's error.
    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Runs a program to its end.
    ///
    /// # Errors
    /// It cannot be started, or does not end within 30 s.
    fn run(&self, program: &str, arguments: &[String]) -> io::Result<Output>;

    /// Waits until a process has ended, at most for a second.
    fn wait_for_exit(&self, pid: u32);

    /// Lets programs hold the lock of the journal while they run, so that nothing is undone at the same time.
    ///
    /// # Errors
    /// The system's error.
    fn share_lock(&self, _journal: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a program that must succeed, and returns its standard output.
pub(crate) fn run(system: &dyn System, program: &str, arguments: &[String]) -> Result<String, ControlError> {
    let command = || format!("{program} {}", arguments.join(" "));
    let output = system
        .run(program, arguments)
        .map_err(|source| ControlError::Start { command: command(), source })?;
    if output.is_success {
        return Ok(output.stdout);
    }
    // `pqos` reports failures on standard output.
    let text = if output.stderr.trim().is_empty() { &output.stdout } else { &output.stderr };
    let message: String = text.trim().replace('\n', "; ").chars().take(400).collect();
    let message = if message.is_empty() { "it gives no reason".to_owned() } else { message };
    Err(ControlError::Command { command: command(), message })
}

/// Reads a file that must exist.
pub(crate) fn read(system: &dyn System, path: &Path) -> Result<String, ControlError> {
    system.read(path).map_err(|source| ControlError::file("read", path, source))
}

/// A list of words as arguments.
pub(crate) fn arguments(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
