//! The machine itself.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Access, access, statfs};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::system::{Output, System};

/// The largest part of a file that is read.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// The largest part of a program's output that is read.
const BYTES_MAX: u64 = 1 << 20;

/// The time after which a program is ended.
const PROGRAM_TIME_MAX: Duration = Duration::from_secs(30);

/// The largest number of directories in a directory.
const DIRECTORIES_MAX: usize = 100_000;

/// The numbers of cgroup 1, cgroup 2 and resctrl: changes are limited to these file systems.
const CONTROL_FILE_SYSTEMS: [u64; 3] = [0x0027_e0eb, 0x6367_7270, 0x0765_5821];

/// The machine on which the program runs.
///
/// Only files and directories of cgroup and resctrl file systems are changed; other paths are refused, so that a damaged
/// journal cannot change other files.
#[derive(Debug, Default)]
pub struct LinuxSystem {
    /// The locked journal, which programs hold open.
    journal: Mutex<Option<File>>,
}

impl LinuxSystem {
    /// The machine.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn journal_for_program(&self) -> io::Result<Stdio> {
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match &*journal {
            // The journal is opened for writing only, so that a program cannot read from it.
            Some(file) => Stdio::from(file.try_clone()?),
            None => Stdio::null(),
        })
    }
}

impl System for LinuxSystem {
    fn read(&self, path: &Path) -> io::Result<String> {
        let mut bytes = Vec::new();
        File::open(path)?.take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
        // The name of a program can contain any bytes.
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn directories(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)?.take(DIRECTORIES_MAX) {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                names.extend(entry.file_name().into_string());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        Ok(access(path, Access::WRITE_OK)?)
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        check_file_system(path)?;
        OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        check_file_system(path.parent().unwrap_or(path))?;
        fs::create_dir(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        check_file_system(path)?;
        fs::remove_dir(path)
    }

    fn run(&self, program: &str, arguments: &[String]) -> io::Result<Output> {
        let mut child = Command::new(program)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(self.journal_for_program()?)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let output = read_output(&mut child);
        if output.is_err() {
            child.kill()?;
        }
        let is_success = child.wait()?.success();
        let (stdout, stderr) = output?;
        Ok(Output { is_success, stdout, stderr })
    }

    fn wait_for_exit(&self, pid: u32) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let Some(process) = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else { return };
        let timeout = Timespec { tv_sec: 1, tv_nsec: 0 };
        // The caller checks again, even after an error.
        let _ = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
    }

    fn share_lock(&self, journal: &File) -> io::Result<()> {
        *self.journal.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal.try_clone()?);
        Ok(())
    }
}

fn check_file_system(path: &Path) -> io::Result<()> {
    let kind = statfs(path)?.f_type;
    // The type of the field differs between processors.
    #[allow(clippy::unnecessary_cast)]
    let kind = kind as u64;
    if CONTROL_FILE_SYSTEMS.contains(&(kind & 0xffff_ffff)) {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::PermissionDenied,
        "it is not in a cgroup or resctrl file system, and controls change no other files",
    ))
}

/// Reads both outputs of a program until it closes them.
fn read_output(child: &mut Child) -> io::Result<(String, String)> {
    let (sender, receiver) = mpsc::channel();
    let outputs: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|output| Box::new(output) as _),
        child.stderr.take().map(|output| Box::new(output) as _),
    ];
    for (at, output) in outputs.into_iter().enumerate() {
        let sender = sender.clone();
        thread::spawn(move || {
            let _ = sender.send((at, output.map(read_to_end).unwrap_or_default()));
        });
    }
    let mut texts = [String::new(), String::new()];
    for _ in 0..2 {
        let (at, text) = receiver
            .recv_timeout(PROGRAM_TIME_MAX)
            .map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "it did not end within 30 s"))?;
        texts[at] = text;
    }
    let [stdout, stderr] = texts;
    Ok((stdout, stderr))
}

/// The first mebibyte; the rest is read and discarded, so that the program does not wait.
fn read_to_end(mut output: Box<dyn Read + Send>) -> String {
    let mut bytes = Vec::new();
    let _ = output.by_ref().take(BYTES_MAX).read_to_end(&mut bytes);
    let _ = io::copy(&mut output, &mut io::sink());
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_file_systems_are_not_changed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "before").unwrap();
        let system = LinuxSystem::new();
        let error = system.write(&file, "after").unwrap_err();
        assert!(error.to_string().contains("controls change no other files"), "{error}");
        assert!(system.create_directory(&dir.path().join("group")).is_err());
        assert!(system.remove_directory(dir.path()).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "before");
    }

    #[test]
    fn programs_return_their_outputs() {
        let system = LinuxSystem::new();
        let output = system.run("sh", &["-c".to_owned(), "echo a; echo b >&2; exit 3".to_owned()]).unwrap();
        assert_eq!(output, Output { is_success: false, stdout: "a\n".to_owned(), stderr: "b\n".to_owned() });
        assert!(system.run("/no/such/program", &[]).is_err());
    }
}
