//! Makes a JVM listen for commands.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::event::PollFlags;
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Uid, fchown, open, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::{Signal, geteuid, pidfd_send_signal};

use super::deadline::Deadline;
use super::error::AttachError;
use crate::jvm::process::{ProcessFacts, has_option};
use crate::proc_root::ProcRoot;

/// Asks the JVM to create its socket, and waits for it.
pub(super) fn trigger(
    root: &ProcRoot,
    facts: &ProcessFacts,
    process: &OwnedFd,
    socket: &Path,
    deadline: &Deadline,
) -> Result<(), AttachError> {
    let pid = facts.pid;
    if has_option(root, pid, "-XX:+DisableAttachMechanism") {
        return Err(AttachError::TurnedOff { pid });
    }
    if !facts.catches_quit {
        return Err(AttachError::QuitNotHandled { pid });
    }
    let _announcement = Announcement::create(root, facts)?;
    pidfd_send_signal(process, Signal::QUIT)
        .map_err(|error| AttachError::Signal { pid, source: error.into() })?;
    // The JVM renames the socket to this name when it is ready.
    while !socket.exists() {
        // The descriptor of a process becomes readable when the process ends.
        if deadline.wait_briefly(process.as_fd(), PollFlags::IN, pid)? {
            return Err(AttachError::Ended { pid });
        }
    }
    Ok(())
}

/// The file by which the JVM distinguishes SIGQUIT for a command from SIGQUIT for a thread dump. Deleted when dropped.
#[derive(Debug)]
struct Announcement {
    directory: OwnedFd,
    name: String,
    /// Whether this client created the file; another client may have done so before.
    is_own: bool,
}

impl Announcement {
    fn create(root: &ProcRoot, facts: &ProcessFacts) -> Result<Announcement, AttachError> {
        let name = format!(".attach_pid{}", facts.inner_pid);
        let mut result = Err(Errno::NOENT);
        for directory in ["cwd", "root/tmp"] {
            result = Announcement::create_in(&root.process(facts.pid, directory), &name, facts);
            if result.is_ok() {
                break;
            }
        }
        result.map_err(|error| AttachError::Announce { pid: facts.pid, name, source: io::Error::from(error) })
    }

    fn create_in(directory: &Path, name: &str, facts: &ProcessFacts) -> Result<Announcement, Errno> {
        let directory = open(directory, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let created = openat(&directory, name, flags, Mode::RUSR | Mode::WUSR);
        let announcement = Announcement { directory, name: name.to_owned(), is_own: created.is_ok() };
        match created {
            Ok(file) if geteuid().as_raw() != facts.effective_uid => {
                // JDK 8 and 11 only accept a file that belongs to their user.
                let (user, group) = (Uid::from_raw(facts.effective_uid), Gid::from_raw(facts.effective_gid));
                fchown(&file, Some(user), Some(group))?;
            }
            Ok(_) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
        Ok(announcement)
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        if self.is_own {
            // The JVM does not delete the file. A file that cannot be deleted does no harm.
            let _ = unlinkat(&self.directory, &self.name, AtFlags::empty());
        }
    }
}
