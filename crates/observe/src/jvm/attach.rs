//! Commands to a JVM, through HotSpot's attach protocol.
//!
//! The protocol, as HotSpot's `attachListener_posix.cpp` implements it:
//!
//! 1. The JVM listens on the socket `.java_pidPID` in its `/tmp`, where PID is its process ID in its own container. It
//!    creates the socket when it receives SIGQUIT while a file `.attach_pidPID` is in its working directory or in `/tmp`
//!    (`trigger`).
//! 2. A client connects, sends one request and reads the answer up to the end of the stream: a number, a line feed, a text.
//!    0 is success (`exchange`).
//!
//! The requests are those of `jcmd`. They are only sent if the user requests it, because most of them stop the application.

mod deadline;
mod error;
mod exchange;
mod trigger;

use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

pub use error::AttachError;

use super::process::{LoadedVm, ProcessError, ProcessFacts};
use crate::proc_root::ProcRoot;
use deadline::Deadline;
use exchange::ProtocolVersion;

/// A JVM that accepts commands.
///
/// Each command is one connection. The call blocks until the JVM has answered or the timeout has passed; after a timeout, the JVM
/// still finishes the command. Answers are limited to 64 MiB.
///
/// # Example
/// ```no_run
/// use std::time::Duration;
/// use busyhour_observe::ProcRoot;
/// use busyhour_observe::jvm::AttachedJvm;
///
/// let jvm = AttachedJvm::connect(&ProcRoot::live(), 4711, Duration::from_secs(10))?;
/// let dump = jvm.thread_dump(false)?;
/// println!("{} threads wait for locks", dump.blocked().len());
/// # Ok::<(), busyhour_observe::jvm::AttachError>(())
/// ```
#[derive(Debug)]
pub struct AttachedJvm {
    pid: u32,
    socket: PathBuf,
    /// The user that must own the socket.
    user: u32,
    version: ProtocolVersion,
    timeout: Duration,
}

impl AttachedJvm {
    /// Prepares a JVM for commands. If the JVM does not listen for commands yet, SIGQUIT makes it listen, which takes 20 to 70 ms.
    ///
    /// SIGQUIT ends processes that do not handle it, and has other effects on programs other than HotSpot. It is only sent to a
    /// process that has loaded HotSpot's library and handles the signal. `timeout` applies to this call and to each command.
    ///
    /// # Errors
    /// The process is not a JVM of HotSpot, belongs to another user, does not accept commands, or does not answer in time.
    pub fn connect(root: &ProcRoot, pid: u32, timeout: Duration) -> Result<AttachedJvm, AttachError> {
        if !root.is_live() {
            return Err(AttachError::Recorded);
        }
        let deadline = Deadline::after(timeout)?;
        // The process is opened before the checks, so that the signal cannot reach a later process with the same ID.
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(ProcessError::Missing { pid })?;
        let process = pidfd_open(number, PidfdFlags::empty())
            .map_err(|error| ProcessError::new(pid, root.process(pid, ""), error.into()))?;
        let facts = ProcessFacts::read(root, pid)?;
        check_user(&facts)?;
        match LoadedVm::of(root, pid)? {
            LoadedVm::HotSpot => {}
            LoadedVm::OpenJ9 => return Err(AttachError::NotHotSpot { pid, what: "Eclipse OpenJ9" }),
            LoadedVm::None => return Err(AttachError::NotHotSpot { pid, what: "no JVM" }),
        }
        let socket = root.process(pid, "root/tmp").join(format!(".java_pid{}", facts.inner_pid));
        let mut attach =
            AttachedJvm { pid, socket, user: facts.effective_uid, version: ProtocolVersion::One, timeout };
        attach.version = match attach.negotiate(&deadline) {
            // There is no socket, or an earlier JVM with this process ID left one.
            Err(AttachError::Socket { source, .. })
                if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused) =>
            {
                trigger::trigger(root, &facts, &process, &attach.socket, &deadline)?;
                attach.negotiate(&deadline)?
            }
            other => other?,
        };
        Ok(attach)
    }

    /// The process ID.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends a diagnostic command, such as `VM.uptime`, and returns its text.
    ///
    /// # Errors
    /// The JVM refuses the command, or does not answer in time.
    pub fn command(&self, command: &str) -> Result<String, AttachError> {
        let deadline = Deadline::after(self.timeout)?;
        self.exchange("jcmd", command, self.version, &deadline)
    }

    /// Asks for version 2 of the protocol, which JDK 24 introduced for long arguments.
    fn negotiate(&self, deadline: &Deadline) -> Result<ProtocolVersion, AttachError> {
        match self.exchange("getversion", "", ProtocolVersion::One, deadline) {
            Ok(version) if version.trim() == "2" => Ok(ProtocolVersion::Two),
            // Older versions do not support the request.
            Ok(_) | Err(AttachError::Refused { .. }) => Ok(ProtocolVersion::One),
            Err(error) => Err(error),
        }
    }

    fn exchange(
        &self,
        operation: &str,
        argument: &str,
        version: ProtocolVersion,
        deadline: &Deadline,
    ) -> Result<String, AttachError> {
        let request = exchange::request(operation, argument, version)?;
        let socket = |source| AttachError::Socket { path: self.socket.clone(), source };
        // Other users can create files in /tmp, but not files that belong to the user of the JVM.
        let metadata = self.socket.symlink_metadata().map_err(socket)?;
        if !metadata.file_type().is_socket() || metadata.uid() != self.user {
            return Err(AttachError::Untrusted {
                path: self.socket.clone(),
                owner: metadata.uid(),
                user: self.user,
            });
        }
        let stream = exchange::connect(&self.socket, deadline)?;
        let answer = exchange::exchange(stream, &request, deadline, self.pid)?;
        exchange::parse_answer(&answer, argument)
    }
}

/// HotSpot accepts commands only from its own user and group, and from root.
fn check_user(facts: &ProcessFacts) -> Result<(), AttachError> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let is_own = user == facts.effective_uid && group == facts.effective_gid;
    if user == 0 || is_own {
        return Ok(());
    }
    Err(AttachError::OtherUser { pid: facts.pid, user: facts.effective_uid, group: facts.effective_gid })
}
