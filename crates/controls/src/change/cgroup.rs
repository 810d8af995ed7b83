//! Changes of control groups.

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ControlError;
use crate::process::Process;
use crate::reversible::{Reversible, Undone};
use crate::system::System;

/// Attempts to empty or remove a group whose processes start others.
const ROUNDS_MAX: u32 = 1_000;

/// Waits of at most a second for processes that are ending.
const WAITS_MAX: u32 = 60;

const ESRCH: i32 = 3;

/// A change of a control group, of version 1 or 2.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum CgroupChange {
    /// Creates a group.
    Create {
        /// Its directory.
        directory: PathBuf,
        /// The group to which processes in it are moved before it is removed.
        home: PathBuf,
    },
    /// Enables a controller for the child groups of a group (version 2).
    Enable {
        /// The group.
        directory: PathBuf,
        /// The controller.
        controller: String,
    },
    /// Changes a setting of a group.
    Set {
        /// The file of the setting.
        file: PathBuf,
        /// The text that restores the value before the change; `None` if the group is removed.
        before: Option<String>,
        /// The new value.
        after: String,
    },
    /// Moves a process with all its threads.
    Move {
        /// The mount point of the hierarchy.
        mount: PathBuf,
        /// The process.
        process: Process,
        /// The group before.
        from: PathBuf,
        /// The new group.
        to: PathBuf,
    },
}

impl fmt::Display for CgroupChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { directory, .. } => write!(f, "new cgroup {}", directory.display()),
            Self::Enable { directory, controller } => {
                write!(f, "controller {controller} for the groups in {}", directory.display())
            }
            Self::Set { file, before, after } => {
                write!(f, "{}: {after}", file.display())?;
                before.as_ref().map_or(Ok(()), |before| write!(f, ", before: {before}"))
            }
            Self::Move { process, from, to, .. } => {
                write!(f, "process {} in {}, before: {}", process.pid, to.display(), from.display())
            }
        }
    }
}

impl Reversible for CgroupChange {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        match self {
            Self::Create { directory, .. } => system
                .create_directory(directory)
                .map_err(|source| ControlError::file("create", directory, source)),
            Self::Enable { directory, controller } => {
                set(system, &directory.join("cgroup.subtree_control"), &format!("+{controller}"))
            }
            Self::Set { file, after, .. } => set(system, file, after),
            Self::Move { process, to, .. } => {
                if !process.is_running(system) {
                    return Err(ControlError::ProcessEnded { pid: process.pid });
                }
                set(system, &to.join("cgroup.procs"), &process.pid.to_string())
            }
        }
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        match self {
            Self::Create { directory, home } => remove(system, directory, home),
            Self::Enable { directory, controller } => {
                let file = directory.join("cgroup.subtree_control");
                let Ok(enabled) = system.read(&file) else { return Ok(Undone::Gone) };
                if !enabled.split_ascii_whitespace().any(|name| name == controller) {
                    return Ok(Undone::AlreadyRestored);
                }
                set(system, &file, &format!("-{controller}")).map(|()| Undone::Restored)
            }
            Self::Set { before: None, .. } => Ok(Undone::AlreadyRestored),
            Self::Set { file, before: Some(before), .. } => match system.read(file) {
                Ok(value) if value.trim_end() == before.trim_end() => Ok(Undone::AlreadyRestored),
                Ok(_) => set(system, file, before).map(|()| Undone::Restored),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Undone::Gone),
                Err(error) => Err(ControlError::file("read", file, error)),
            },
            Self::Move { process, from, to, .. } => move_back(system, process, from, to),
        }
    }
}

/// Writes a value. The kernel ignores a write without a byte, so an empty value is a line end.
fn set(system: &dyn System, file: &Path, value: &str) -> Result<(), ControlError> {
    let text = if value.is_empty() { "\n" } else { value };
    system.write(file, text).map_err(|source| ControlError::file(format!("write {value:?} to"), file, source))
}

/// The processes of a group.
fn processes(system: &dyn System, directory: &Path) -> Vec<u32> {
    let text = system.read(&directory.join("cgroup.procs")).unwrap_or_default();
    // Processes of other PID namespaces have the number 0.
    let pids: BTreeSet<u32> = text.lines().filter_map(|line| line.trim().parse().ok()).collect();
    pids.into_iter().filter(|pid| *pid > 0).collect()
}

fn move_back(system: &dyn System, process: &Process, from: &Path, to: &Path) -> Result<Undone, ControlError> {
    if !process.is_running(system) {
        return Ok(Undone::Gone);
    }
    if !processes(system, to).contains(&process.pid) {
        return Ok(Undone::AlreadyRestored);
    }
    let home = existing(system, from);
    match system.write(&home.join("cgroup.procs"), &process.pid.to_string()) {
        Ok(()) => Ok(Undone::Restored),
        Err(error) if error.raw_os_error() == Some(ESRCH) => Ok(Undone::Gone),
        Err(error) => Err(ControlError::file(format!("move process {} to", process.pid), home, error)),
    }
}

/// The group, or its closest ancestor that still exists.
fn existing<'a>(system: &dyn System, group: &'a Path) -> &'a Path {
    let found = group.ancestors().find(|directory| system.exists(&directory.join("cgroup.procs")));
    found.unwrap_or(group)
}

/// Removes a group after moving the remaining processes, such as children of moved processes.
fn remove(system: &dyn System, directory: &Path, home: &Path) -> Result<Undone, ControlError> {
    let mut waits = 0;
    for _ in 0..ROUNDS_MAX {
        if !system.exists(directory) {
            return Ok(Undone::Gone);
        }
        let moved = empty(system, directory, home)?;
        match system.remove_directory(directory) {
            Ok(()) => return Ok(Undone::Restored),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Undone::Gone),
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                let others = system.directories(directory).unwrap_or_default();
                if !others.is_empty() {
                    let action = format!("remove, because it contains the groups {},", others.join(", "));
                    return Err(ControlError::file(action, directory, error));
                }
            }
            Err(error) => return Err(ControlError::file("remove", directory, error)),
        }
        // A process that is ending cannot be moved, and may need long to release its memory.
        let ending = processes(system, directory).into_iter().find(|pid| moved.contains(pid));
        if let Some(pid) = ending {
            waits += 1;
            if waits > WAITS_MAX {
                break;
            }
            system.wait_for_exit(pid);
        }
        std::thread::yield_now();
    }
    Err(ControlError::KeepsGrowing { path: directory.to_owned() })
}

/// Moves the processes of a group. Returns those that were moved, or would have been if they were not ending.
fn empty(system: &dyn System, directory: &Path, home: &Path) -> Result<BTreeSet<u32>, ControlError> {
    let home = existing(system, home).join("cgroup.procs");
    let mut moved = BTreeSet::new();
    for pid in processes(system, directory) {
        match system.write(&home, &pid.to_string()) {
            Ok(()) => {
                moved.insert(pid);
            }
            Err(error) if error.raw_os_error() == Some(ESRCH) => {
                moved.insert(pid);
            }
            Err(error) => return Err(ControlError::file(format!("move process {pid} to"), home, error)),
        }
    }
    Ok(moved)
}
