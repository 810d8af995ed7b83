//! The seconds that agents send, in one file for each agent, so that they are not lost with the agent.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use busyhour_sample::Snapshot;

use crate::messages::Report;
use crate::parts::create_private_dir;
use crate::wire::decode;

/// Maximum length of a message; NATS allows 1 MiB.
const MESSAGE_BYTES_MAX: usize = 8 << 20;

/// The files of all agents; clones refer to the same files.
#[derive(Clone)]
pub(super) struct SecondsFiles {
    dir: PathBuf,
    files: Arc<Mutex<Vec<SecondsFile>>>,
}

struct SecondsFile {
    path: PathBuf,
    file: Option<File>,
}

impl SecondsFiles {
    /// Files in a directory. Each is created when its first second arrives.
    pub(super) fn new(dir: &Path) -> SecondsFiles {
        SecondsFiles { dir: dir.to_owned(), files: Arc::default() }
    }

    /// Adds the file of the next agent.
    pub(super) fn add_agent(&self, name: &str) {
        self.lock().push(SecondsFile { path: self.dir.join(format!("{name}.seconds")), file: None });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SecondsFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends the message with a second of an agent.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn add(&self, agent: usize, message: &[u8]) -> io::Result<()> {
        let mut files = self.lock();
        let Some(file) = files.get_mut(agent) else { return Ok(()) };
        if file.file.is_none() {
            if let Some(parent) = file.path.parent() {
                create_private_dir(parent)?;
            }
            file.file = Some(File::options().create(true).append(true).open(&file.path)?);
        }
        let Some(out) = &mut file.file else { return Ok(()) };
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
        out.write_all(&[&length.to_le_bytes(), message].concat())
    }

    /// Reads the seconds of an agent; returns the length of the complete ones in bytes. A truncated end is ignored.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn read(&self, agent: usize, mut see: impl FnMut(Snapshot)) -> io::Result<u64> {
        let Some(path) = self.path(agent) else { return Ok(0) };
        let mut input = match File::open(&path) {
            Ok(file) => BufReader::new(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(error),
        };
        let mut seen = std::collections::BTreeSet::new();
        let mut complete = 0;
        loop {
            let mut length = [0; 4];
            if input.read_exact(&mut length).is_err() {
                return Ok(complete);
            }
            let length = u32::from_le_bytes(length) as usize;
            let mut message = vec![0; length.min(MESSAGE_BYTES_MAX)];
            if length > MESSAGE_BYTES_MAX || input.read_exact(&mut message).is_err() {
                return Ok(complete);
            }
            complete += 4 + length as u64;
            // A second whose acknowledgement was lost is there twice.
            if let Ok(Report::Second { snapshot }) = decode(&message)
                && seen.insert(snapshot.second)
            {
                see(*snapshot);
            }
        }
    }

    /// Reads the seconds that a controller which has ended stored, and removes a truncated end, so that more can be added.
    ///
    /// # Errors
    /// A file cannot be read or truncated.
    pub(super) fn resume(&self, agent: usize, see: impl FnMut(Snapshot)) -> io::Result<()> {
        let bytes = self.read(agent, see)?;
        match self.path(agent).filter(|path| path.exists()) {
            Some(path) => File::options().write(true).open(path)?.set_len(bytes),
            None => Ok(()),
        }
    }

    /// Removes the file of an agent whose record was fetched.
    pub(super) fn remove(&self, agent: usize) {
        if let Some(path) = self.path(agent) {
            let _ = std::fs::remove_file(path);
        }
    }

    fn path(&self, agent: usize) -> Option<PathBuf> {
        Some(self.lock().get(agent)?.path.clone())
    }
}
