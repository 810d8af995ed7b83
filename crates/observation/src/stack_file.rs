//! The file of stacks of a run, which its probes share.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use busyhour_record::RunPart;
use busyhour_stacks::{STACKS_FILE_NAME, STACKS_FILE_VERSION, STACKS_PART_KIND, StackDump, StackWriter};

/// A file of stacks that is being written.
#[derive(Debug)]
pub(crate) struct StackFile {
    path: PathBuf,
    /// `None` after the end of the observation.
    writer: Mutex<Option<StackWriter<File>>>,
    ended: Condvar,
}

impl StackFile {
    /// Creates the file of a run.
    pub(crate) fn create(run_dir: &Path) -> io::Result<StackFile> {
        let path = run_dir.join(STACKS_FILE_NAME);
        let file = File::options().append(true).create_new(true).open(&path)?;
        Ok(StackFile { path, writer: Mutex::new(Some(StackWriter::new(file)?)), ended: Condvar::new() })
    }

    /// The entry of the manifest.
    pub(crate) fn part() -> RunPart {
        RunPart::new(STACKS_PART_KIND, STACKS_FILE_NAME, STACKS_FILE_VERSION)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn writer(&self) -> MutexGuard<'_, Option<StackWriter<File>>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits; returns false as soon as the observation ends.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let (writer, _) = self
            .ended
            .wait_timeout_while(self.writer(), time, |writer| writer.is_some())
            .unwrap_or_else(PoisonError::into_inner);
        writer.is_some()
    }

    /// Appends a dump, unless the observation has ended. Returns the number of dumps that were not stored.
    pub(crate) fn write(&self, dump: &StackDump<'_>) -> io::Result<u64> {
        let mut writer = self.writer();
        let Some(writer) = writer.as_mut() else { return Ok(0) };
        writer.write(dump)?;
        Ok(writer.lost())
    }

    /// Ends the file. A dump that is still in progress is not stored.
    pub(crate) fn finish(&self) -> io::Result<()> {
        let writer = self.writer().take();
        self.ended.notify_all();
        writer.map_or(Ok(()), |mut writer| writer.finish())
    }
}
