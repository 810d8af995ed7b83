//! Finds the counter files of processes.

use std::collections::hash_map::Entry;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use rustix::fs::{Mode, OFlags, open, openat};

use super::counters::{CounterFileError, CounterIndex, FILE_BYTES_MAX};
use super::identity::JvmIdentity;
use super::process::{LoadedVm, ProcessError, ProcessFacts, has_option, start_ticks};
use crate::proc_root::ProcRoot;
use crate::process_stat::STAT_MAX;

/// Entries of a `/tmp` that are examined; more are ignored.
const TMP_ENTRIES_MAX: usize = 100_000;
/// Files of a `hsperfdata_USER` directory that are examined.
const USER_ENTRIES_MAX: usize = 100_000;
/// Processes that [`find_jvms`] examines.
const PROCESSES_MAX: usize = 100_000;

/// Why the counters of a process cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CounterFileLocateError {
    /// The process does not exist or may not be examined.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The process is not a JVM.
    #[error("process {pid} is not a JVM of HotSpot (it has not loaded libjvm.so)")]
    NotJvm {
        /// The process ID.
        pid: u32,
    },
    /// Eclipse OpenJ9 has no such counters.
    #[error(
        "process {pid} is a JVM of Eclipse OpenJ9, which publishes no counters; scrape its metrics instead"
    )]
    OpenJ9 {
        /// The process ID.
        pid: u32,
    },
    /// An option turns the counters off.
    #[error(
        "the JVM {pid} publishes no counters, because it was started with {option}; start it without this option"
    )]
    TurnedOff {
        /// The process ID.
        pid: u32,
        /// The option of its command line.
        option: &'static str,
    },
    /// There is no file.
    #[error(
        "the JVM {pid} has no counter file in its /tmp: it is still starting, its /tmp was cleaned, or its environment or an \
         argument file contains -XX:-UsePerfData or -XX:+PerfDisableSharedMem"
    )]
    NoFile {
        /// The process ID.
        pid: u32,
    },
    /// Another user may have created the file.
    #[error("{} belongs to user {owner}, but the process runs as user {user}; it is not trusted", path.display())]
    Untrusted {
        /// The file.
        path: PathBuf,
        /// ID of its owner.
        owner: u32,
        /// ID of the user of the process.
        user: u32,
    },
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The file is damaged or not complete yet.
    #[error("{}: {source}", path.display())]
    Counters {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: CounterFileError,
    },
}

impl CounterFileLocateError {
    /// What would make the counters readable.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        match self {
            Self::Process(ProcessError::Denied { .. }) | Self::Untrusted { .. } | Self::Read { .. } => {
                "run as its user or as root"
            }
            Self::Process(
                ProcessError::Missing { .. } | ProcessError::Read { .. } | ProcessError::Format { .. },
            ) => "start it before the run",
            Self::NotJvm { .. } | Self::OpenJ9 { .. } => "scrape its metrics instead",
            Self::TurnedOff { .. } => "start it without the option",
            Self::NoFile { .. } => "wait until it has started, or start it without these options",
            Self::Counters { .. } => "wait until it has started",
        }
    }
}

/// An open counter file. It remains the file of the same process, even if the process ID is used again.
#[derive(Debug)]
pub(super) struct CounterFile {
    file: File,
    pub(super) path: PathBuf,
    bytes: Vec<u8>,
}

impl CounterFile {
    fn open(directory: &Path, name: &str, user: u32) -> Result<CounterFile, CounterFileLocateError> {
        let path = directory.join(name);
        let read_error = |error: rustix::io::Errno| CounterFileLocateError::Read {
            path: path.clone(),
            source: error.into(),
        };
        // Anybody may create names in /tmp: links are not followed, and pipes do not block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let parent = open(directory, flags | OFlags::DIRECTORY, Mode::empty()).map_err(read_error)?;
        let file = File::from(openat(&parent, name, flags, Mode::empty()).map_err(read_error)?);
        let metadata =
            file.metadata().map_err(|source| CounterFileLocateError::Read { path: path.clone(), source })?;
        if !metadata.is_file() || (metadata.uid() != user && metadata.uid() != 0) {
            return Err(CounterFileLocateError::Untrusted { path, owner: metadata.uid(), user });
        }
        Ok(CounterFile { file, path, bytes: Vec::new() })
    }

    /// The current content of the file.
    pub(super) fn read(&mut self) -> Result<&[u8], CounterFileLocateError> {
        let error = |source| CounterFileLocateError::Read { path: self.path.clone(), source };
        let length = self.file.metadata().map_err(error)?.len();
        let length = usize::try_from(length).unwrap_or(usize::MAX).min(FILE_BYTES_MAX);
        self.bytes.resize(length, 0);
        let mut filled = 0;
        while filled < length {
            match self.file.read_at(&mut self.bytes[filled..], filled as u64) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(CounterFileLocateError::Read { path: self.path.clone(), source }),
            }
        }
        self.bytes.truncate(filled);
        Ok(&self.bytes)
    }

    /// The content of the last [`Self::read`].
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether the JVM has removed the file, which it does when it ends.
    pub(super) fn is_removed(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }
}

/// A JVM whose counters are open.
#[derive(Debug)]
pub(super) struct OpenJvm {
    pub(super) facts: ProcessFacts,
    /// Start of the process in clock ticks since boot.
    pub(super) started: u64,
    pub(super) file: CounterFile,
    pub(super) index: CounterIndex,
    pub(super) identity: JvmIdentity,
}

impl OpenJvm {
    /// Opens the counters of a process: those in the `/tmp` that the process sees, under the process ID in its own namespace.
    pub(super) fn open(root: &ProcRoot, pid: u32) -> Result<OpenJvm, CounterFileLocateError> {
        let facts = ProcessFacts::read(root, pid)?;
        let files = TmpFiles::list(root, pid)?;
        OpenJvm::open_listed(root, facts, &files)
    }

    fn open_listed(
        root: &ProcRoot,
        facts: ProcessFacts,
        files: &TmpFiles,
    ) -> Result<OpenJvm, CounterFileLocateError> {
        let pid = facts.pid;
        let started = process_start(root, pid)?;
        let name = facts.inner_pid.to_string();
        let tmp = root.process(pid, "root/tmp");
        let mut refusal = None;
        for directory in files.directories.get(&facts.inner_pid).into_iter().flatten() {
            let opened =
                CounterFile::open(&tmp.join(directory), &name, facts.effective_uid).and_then(|mut file| {
                    let bytes = file.read()?;
                    let index = CounterIndex::parse(bytes).map_err(|source| {
                        CounterFileLocateError::Counters { path: file.path.clone(), source }
                    })?;
                    Ok((file, index))
                });
            match opened {
                Ok((file, index)) => {
                    let identity = JvmIdentity::read(&index, file.bytes());
                    return Ok(OpenJvm { facts, started, file, index, identity });
                }
                Err(error) => refusal = Some(error),
            }
        }
        Err(refusal.unwrap_or_else(|| missing_file(root, pid)))
    }
}

/// Whether the counters of a process can be read now.
///
/// # Errors
/// The process is not a JVM, publishes no counters or belongs to another user.
pub fn check_counters(root: &ProcRoot, pid: u32) -> Result<(), CounterFileLocateError> {
    OpenJvm::open(root, pid).map(drop)
}

/// The start of a process in clock ticks since boot.
pub(super) fn process_start(root: &ProcRoot, pid: u32) -> Result<u64, ProcessError> {
    let path = root.process(pid, "stat");
    let stat = root
        .read(format!("/proc/{pid}/stat"), STAT_MAX)
        .map_err(|error| ProcessError::new(pid, path.clone(), error))?;
    start_ticks(&stat).ok_or(ProcessError::Missing { pid })
}

/// Why a process has no counter file.
fn missing_file(root: &ProcRoot, pid: u32) -> CounterFileLocateError {
    match LoadedVm::of(root, pid) {
        Err(error) => error.into(),
        Ok(LoadedVm::None) => CounterFileLocateError::NotJvm { pid },
        Ok(LoadedVm::OpenJ9) => CounterFileLocateError::OpenJ9 { pid },
        Ok(LoadedVm::HotSpot) => {
            let options = ["-XX:-UsePerfData", "-XX:+PerfDisableSharedMem"];
            match options.into_iter().find(|option| has_option(root, pid, option)) {
                Some(option) => CounterFileLocateError::TurnedOff { pid, option },
                None => CounterFileLocateError::NoFile { pid },
            }
        }
    }
}

/// The counter files of one `/tmp`: for each process ID, the directories that contain a file with this ID as its name.
#[derive(Debug, Default)]
struct TmpFiles {
    directories: FxHashMap<u32, Vec<PathBuf>>,
}

impl TmpFiles {
    /// Lists the files that a process sees.
    fn list(root: &ProcRoot, pid: u32) -> Result<TmpFiles, CounterFileLocateError> {
        let tmp = root.process(pid, "root/tmp");
        let mut files = TmpFiles::default();
        let entries = match fs::read_dir(&tmp) {
            Ok(entries) => entries,
            // A container may have no /tmp. A process that has ended has none either; this is noticed when the process
            // is examined.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(files),
            Err(error) => return Err(ProcessError::new(pid, tmp, error).into()),
        };
        for entry in entries.take(TMP_ENTRIES_MAX).flatten() {
            let name = entry.file_name();
            if !name.as_encoded_bytes().starts_with(b"hsperfdata_") {
                continue;
            }
            // A directory of another user may not be listed.
            let Ok(entries) = fs::read_dir(entry.path()) else { continue };
            for entry in entries.take(USER_ENTRIES_MAX).flatten() {
                if let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) {
                    files.directories.entry(pid).or_default().push(PathBuf::from(&name));
                }
            }
        }
        Ok(files)
    }
}

/// A JVM of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundJvm {
    /// Its process ID.
    pub pid: u32,
    /// ID of the user it runs as.
    pub user: u32,
    /// Its name, version and collector.
    pub identity: JvmIdentity,
}

/// The result of [`find_jvms`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundJvms {
    /// The JVMs whose counters can be read, in ascending order of process IDs.
    pub jvms: Vec<FoundJvm>,
    /// Processes that could not be examined, because they belong to other users.
    pub denied: usize,
}

impl FoundJvms {
    /// The advice if a JVM that should be observed was not found.
    #[must_use]
    pub fn advice_if_missing(&self) -> &'static str {
        advice_if_missing(self.denied, rustix::process::geteuid().is_root())
    }
}

/// More permissions help only if processes could not be examined. Root can examine all processes, except in a container.
const fn advice_if_missing(denied: usize, is_root: bool) -> &'static str {
    match (denied, is_root) {
        (0, _) => "start it before the run and without -XX:-UsePerfData, or name it with jvm:PID or jvm:NAME",
        (_, false) => "run as its user or as root",
        (_, true) => "run outside of the container, or with the capability CAP_SYS_PTRACE",
    }
}

/// Finds all JVMs whose counters can be read, in this and other containers. A JVM that publishes no counters is not found.
///
/// Costs one system call per process, and a few more per JVM; each `/tmp` is listed once. Examines at most 100,000 processes.
///
/// # Errors
/// `/proc` cannot be read.
pub fn find_jvms(root: &ProcRoot) -> io::Result<FoundJvms> {
    let mut found = FoundJvms::default();
    let mut scan = TmpScan::default();
    for pid in root.pids(PROCESSES_MAX)? {
        match scan.open(root, pid) {
            Ok(Some(jvm)) => {
                found.jvms.push(FoundJvm { pid, user: jvm.facts.effective_uid, identity: jvm.identity });
            }
            Err(CounterFileLocateError::Process(ProcessError::Denied { .. })) => found.denied += 1,
            Ok(None) | Err(_) => {}
        }
    }
    found.jvms.sort_by_key(|jvm| jvm.pid);
    Ok(found)
}

/// Lists each `/tmp` once, although many processes see it.
#[derive(Debug, Default)]
pub(super) struct TmpScan {
    /// By device and inode of the directory.
    known: FxHashMap<(u64, u64), TmpFiles>,
}

impl TmpScan {
    /// Opens the counters of a process; `None` if it has no counter file, for any reason.
    pub(super) fn open(
        &mut self,
        root: &ProcRoot,
        pid: u32,
    ) -> Result<Option<OpenJvm>, CounterFileLocateError> {
        let tmp = root.process(pid, "root/tmp");
        let metadata = match fs::metadata(&tmp) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(ProcessError::new(pid, tmp, error).into()),
        };
        let files = match self.known.entry((metadata.dev(), metadata.ino())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(TmpFiles::list(root, pid)?),
        };
        if files.directories.is_empty() {
            return Ok(None);
        }
        let facts = ProcessFacts::read(root, pid)?;
        if !files.directories.contains_key(&facts.inner_pid) {
            return Ok(None);
        }
        OpenJvm::open_listed(root, facts, files).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_not_advised_to_run_as_root() {
        assert!(advice_if_missing(3, false).contains("as root"));
        for (denied, is_root) in [(0, false), (0, true), (3, true)] {
            assert!(!advice_if_missing(denied, is_root).contains("as root"), "{denied} {is_root}");
        }
    }
}
