//! Marks that the user makes while a run is in progress (`busyhour observe mark`).
//!
//! The command appends a line to a file in the run directory, and a probe of the run reads new lines. No connection between the two
//! processes is needed. The probe holds a lock on the file. The kernel releases it even if the run is killed, so that the command
//! recognizes runs that no longer read marks.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_observe::{Probe, ProbeError, Reading};
use busyhour_program::clock::Clock;
use busyhour_sample::Nanos;
use busyhour_series::{Mark, MarkKind};

use crate::log_redaction::log_redactor;

/// The name of the file in the run directory.
pub const MARKS_FILE_NAME: &str = "marks.txt";

/// Maximum length of the text of a mark, in bytes. Longer texts are shortened.
pub const MARK_TEXT_BYTES_MAX: usize = 400;

/// Maximum number of bytes that one reading takes from the file. The rest follows at the next reading.
const READ_BYTES_MAX: u64 = 1 << 16;

/// Appends a mark with the current time to the file of a run. Secrets in the text are removed, unless they are kept.
///
/// # Errors
/// The file does not exist, because the run is not observed, or cannot be written.
pub fn append_mark(run_dir: &Path, text: &str, keep_secrets: bool) -> io::Result<()> {
    let now_ms = Clock::start().wall_start_ms();
    let text = log_redactor(keep_secrets).redact(&text.replace(['\n', '\r'], " "));
    let line = format!("{now_ms} {}\n", busyhour_series::shorten(&text, MARK_TEXT_BYTES_MAX));
    File::options().append(true).open(run_dir.join(MARKS_FILE_NAME))?.write_all(line.as_bytes())
}

/// Whether a process still reads the marks of this run; `None` if this is unknown, because the platform or the file system has no
/// such locks.
///
/// # Errors
/// The file does not exist, because the run is not observed, or cannot be opened.
pub fn marks_are_read(run_dir: &Path) -> io::Result<Option<bool>> {
    let file = File::open(run_dir.join(MARKS_FILE_NAME))?;
    // Locks of Windows would prevent the command from writing, so that the run has none there.
    if !cfg!(unix) {
        return Ok(None);
    }
    // A shared lock, so that two commands at the same time do not take each other for the run.
    Ok(match file.try_lock_shared() {
        Ok(()) => Some(false),
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    })
}

/// Reads the marks of a run; source `user`.
#[derive(Debug)]
pub(crate) struct MarksProbe {
    path: PathBuf,
    file: File,
    /// The beginning of a line that is not complete yet.
    rest: Vec<u8>,
    position: u64,
}

impl MarksProbe {
    /// Creates the file of a run. It is locked before it has its name, so that it is never visible without the lock.
    pub(crate) fn create(run_dir: &Path) -> io::Result<MarksProbe> {
        let path = run_dir.join(MARKS_FILE_NAME);
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let unnamed = run_dir.join(format!("{MARKS_FILE_NAME}.new"));
        let file = File::options().read(true).append(true).create_new(true).open(&unnamed)?;
        // Without a lock, marks are accepted after the run was killed.
        let _ = if cfg!(unix) { file.try_lock() } else { Ok(()) };
        std::fs::rename(&unnamed, &path)?;
        Ok(MarksProbe { path, file, rest: Vec::new(), position: 0 })
    }
}

impl Probe for MarksProbe {
    fn source(&self) -> &str {
        "user"
    }

    fn interval_min(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let error = |source| ProbeError::Read { path: self.path.clone(), source };
        self.file.seek(SeekFrom::Start(self.position)).map_err(error)?;
        let read = (&mut self.file).take(READ_BYTES_MAX).read_to_end(&mut self.rest).map_err(error)?;
        self.position += read as u64;
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else {
            // The command does not write such long lines, so that this is not a mark.
            if self.rest.len() > READ_BYTES_MAX as usize {
                self.rest.clear();
            }
            return Ok(());
        };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        for line in String::from_utf8_lossy(&lines).lines() {
            let Some((stamp, text)) = line.split_once(' ') else { continue };
            let Ok(wall_ms) = stamp.parse::<u64>() else { continue };
            let time = reading.at_wall_ms(wall_ms).unwrap_or(Nanos(0)).min(reading.time());
            let text = busyhour_series::shorten(text, MARK_TEXT_BYTES_MAX).to_owned();
            reading.mark(Mark { kind: MarkKind::User, from: time, to: time, text });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use busyhour_observe::{ProbeRunner, SeriesStore};

    use super::*;

    #[test]
    fn each_mark_is_read_once_when_its_line_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(append_mark(dir.path(), "early", false).unwrap_err().kind(), io::ErrorKind::NotFound);
        let store = SeriesStore::in_memory();
        let clock = Clock::start();
        let mut probe = ProbeRunner::new(&store, Box::new(MarksProbe::create(dir.path()).unwrap()));
        append_mark(dir.path(), "deployed 1.4\nsecond line", false).unwrap();
        assert_ne!(marks_are_read(dir.path()).unwrap(), Some(false));
        let path = dir.path().join(MARKS_FILE_NAME);
        let mut file = File::options().append(true).open(&path).unwrap();
        file.write_all(b"no stamp\n99999999999999999999999999 far\n123 ").unwrap();
        probe.read(&clock);
        file.write_all(b"before the run\n").unwrap();
        probe.read(&clock);
        probe.read(&clock);
        let (marks, _) = store.marks_since(0);
        let texts: Vec<&str> = marks.iter().map(|mark| mark.mark.text.as_str()).collect();
        assert_eq!(texts, ["deployed 1.4 second line", "before the run"]);
        assert!(marks.iter().all(|mark| mark.mark.kind == MarkKind::User && mark.mark.from <= clock.now()));
        assert_eq!(marks[1].mark.from, Nanos(0));
        drop(probe);
        assert_ne!(marks_are_read(dir.path()).unwrap(), Some(true));
    }

    #[test]
    fn secrets_are_removed_from_marks_unless_they_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let _probe = MarksProbe::create(dir.path()).unwrap();
        for keep_secrets in [false, true] {
            append_mark(dir.path(), "deploy password=S3CRET", keep_secrets).unwrap();
        }
        let text = std::fs::read_to_string(dir.path().join(MARKS_FILE_NAME)).unwrap();
        let texts: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once(' ')?.1)).collect();
        assert_eq!(texts, ["deploy password=[redacted]", "deploy password=S3CRET"]);
    }

    #[test]
    fn a_file_of_marks_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(marks_are_read(dir.path()).unwrap_err().kind(), io::ErrorKind::NotFound);
        std::fs::write(dir.path().join(MARKS_FILE_NAME), "1 old\n").unwrap();
        let error = MarksProbe::create(dir.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
