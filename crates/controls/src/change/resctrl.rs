//! Changes of resctrl groups.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ControlError;
use crate::process::Process;
use crate::reversible::{Reversible, Undone};
use crate::system::System;

/// Attempts to move all threads of a process that starts others.
const ROUNDS_MAX: u32 = 1_000;

const ESRCH: i32 = 3;

/// A change to a resctrl group. Groups are named by their directory below the mount point; the default group has the name "".
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ResctrlChange {
    /// Creates a control group.
    Create {
        /// The mount point.
        mount: PathBuf,
        /// The name of the group.
        group: String,
        /// The group to which tasks in it are moved before it is removed.
        home: String,
    },
    /// Changes the allocation of a resource to a group.
    Allocate {
        /// The mount point.
        mount: PathBuf,
        /// The name of the group.
        group: String,
        /// The line that restores the allocation; `None` if the group is removed.
        before: Option<String>,
        /// The new line.
        after: String,
    },
    /// Moves a process with all its threads.
    Move {
        /// The mount point.
        mount: PathBuf,
        /// The process.
        process: Process,
        /// The groups of its threads before; threads in the default group are left out.
        threads: Vec<(u32, String)>,
        /// The new group.
        to: String,
    },
}

impl fmt::Display for ResctrlChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { group, .. } => write!(f, "new resctrl group {group}"),
            Self::Allocate { group, before, after, .. } => {
                write!(f, "allocation of the resctrl group {group:?}: {after}")?;
                before.as_ref().map_or(Ok(()), |before| write!(f, ", before: {before}"))
            }
            Self::Move { process, to, .. } => {
                write!(f, "process {} in the resctrl group {to:?}", process.pid)
            }
        }
    }
}

impl Reversible for ResctrlChange {
    fn make(&self, system: &dyn System) -> Result<(), ControlError> {
        match self {
            Self::Create { mount, group, .. } => {
                let directory = mount.join(group);
                system.create_directory(&directory).map_err(|source| {
                    let action = if source.kind() == io::ErrorKind::StorageFull {
                        "create (all classes of service of the hardware are in use)"
                    } else {
                        "create"
                    };
                    failed(system, mount, action.to_owned(), &directory, source)
                })
            }
            Self::Allocate { mount, group, after, .. } => allocate(system, mount, group, after),
            Self::Move { mount, process, to, .. } => {
                if !process.is_running(system) {
                    return Err(ControlError::ProcessEnded { pid: process.pid });
                }
                move_threads(
                    system,
                    mount,
                    to,
                    |members| {
                        process
                            .threads(system)
                            .into_iter()
                            .filter(|thread| !members.contains(thread))
                            .collect()
                    },
                    |_| to.clone(),
                )
                .map(|_| ())
            }
        }
    }

    fn undo(&self, system: &dyn System) -> Result<Undone, ControlError> {
        match self {
            Self::Create { mount, group, home } => remove(system, mount, group, home),
            Self::Allocate { before: None, .. } => Ok(Undone::AlreadyRestored),
            Self::Allocate { mount, group, before: Some(before), .. } => {
                if !system.exists(&mount.join(group).join("schemata")) {
                    return Ok(Undone::Gone);
                }
                allocate(system, mount, group, before).map(|()| Undone::Restored)
            }
            Self::Move { mount, process, threads, to } => {
                if !process.is_running(system) || !system.exists(&mount.join(to)) {
                    return Ok(Undone::Gone);
                }
                let moved = move_back(system, mount, process, threads, to)?;
                Ok(if moved { Undone::Restored } else { Undone::AlreadyRestored })
            }
        }
    }
}

/// Moves the threads of a process back. Returns whether there were any.
fn move_back(
    system: &dyn System,
    mount: &Path,
    process: &Process,
    threads: &[(u32, String)],
    to: &str,
) -> Result<bool, ControlError> {
    let groups: BTreeMap<u32, &str> = threads.iter().map(|(thread, group)| (*thread, &**group)).collect();
    // A thread that was started since then belongs to the group of the main thread.
    let of_process = groups.get(&process.pid).copied().unwrap_or_default();
    let of_thread = |thread: u32| groups.get(&thread).copied().unwrap_or(of_process).to_owned();
    let moved = move_threads(
        system,
        mount,
        to,
        |members| process.threads(system).into_iter().filter(|thread| members.contains(thread)).collect(),
        of_thread,
    )?;
    // A program that was killed may have moved a thread to its control group, but not to its monitor group.
    let mut is_incomplete = false;
    let running: BTreeSet<u32> = process.threads(system).into_iter().collect();
    for (thread, group) in threads.iter().filter(|(thread, _)| running.contains(thread)) {
        let (control, monitor) = split(group);
        let is_between = monitor
            && members(system, mount, control).contains(thread)
            && !members(system, mount, group).contains(thread);
        if is_between {
            move_thread(system, mount, group, *thread)?;
            is_incomplete = true;
        }
    }
    Ok(moved || is_incomplete)
}

/// The control group of a group, and whether the group is a monitor group.
fn split(group: &str) -> (&str, bool) {
    match group.split_once("mon_groups/") {
        Some((control, _)) => (control.trim_end_matches('/'), true),
        None => (group, false),
    }
}

/// Moves threads until `select` finds none among the members of a group. Returns whether there were any.
fn move_threads(
    system: &dyn System,
    mount: &Path,
    group: &str,
    select: impl Fn(&BTreeSet<u32>) -> Vec<u32>,
    target: impl Fn(u32) -> String,
) -> Result<bool, ControlError> {
    for round in 0..ROUNDS_MAX {
        let threads = select(&members(system, mount, group));
        if threads.is_empty() {
            return Ok(round > 0);
        }
        for thread in threads {
            move_thread(system, mount, &target(thread), thread)?;
        }
    }
    Err(ControlError::KeepsGrowing { path: mount.join(group) })
}

/// The threads of a group.
fn members(system: &dyn System, mount: &Path, group: &str) -> BTreeSet<u32> {
    let text = system.read(&mount.join(group).join("tasks")).unwrap_or_default();
    text.lines().filter_map(|line| line.trim().parse().ok()).collect()
}

/// Moves a thread to a control group or, after its control group, to a monitor group. If the group is gone, the thread is moved to
/// its control group or to the default group.
fn move_thread(system: &dyn System, mount: &Path, group: &str, thread: u32) -> Result<(), ControlError> {
    let (control, _) = split(group);
    let control = if system.exists(&mount.join(control)) { control } else { "" };
    let mut places = vec![mount.join(control).join("tasks")];
    let monitor = mount.join(group).join("tasks");
    if monitor != places[0] && system.exists(&monitor) {
        places.push(monitor);
    }
    for place in places {
        match system.write(&place, &thread.to_string()) {
            Ok(()) => {}
            Err(error) if error.raw_os_error() == Some(ESRCH) => return Ok(()),
            Err(error) => {
                return Err(failed(system, mount, format!("move thread {thread} to"), &place, error));
            }
        }
    }
    Ok(())
}

fn allocate(system: &dyn System, mount: &Path, group: &str, line: &str) -> Result<(), ControlError> {
    let file = mount.join(group).join("schemata");
    system
        .write(&file, &format!("{line}\n"))
        .map_err(|source| failed(system, mount, format!("write {line} to"), &file, source))
}

/// Removes a group. The kernel moves remaining tasks to the default group, so others are moved first.
fn remove(system: &dyn System, mount: &Path, group: &str, home: &str) -> Result<Undone, ControlError> {
    let directory = mount.join(group);
    if !system.exists(&directory) {
        return Ok(Undone::Gone);
    }
    if !home.is_empty() {
        let all = |members: &BTreeSet<u32>| members.iter().copied().collect();
        move_threads(system, mount, group, all, |_| home.to_owned())?;
    }
    match system.remove_directory(&directory) {
        Ok(()) => Ok(Undone::Restored),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Undone::Gone),
        Err(error) => Err(failed(system, mount, "remove".to_owned(), &directory, error)),
    }
}

/// An error with the kernel's reason.
fn failed(system: &dyn System, mount: &Path, action: String, path: &Path, source: io::Error) -> ControlError {
    let status = system.read(&mount.join("info/last_cmd_status")).unwrap_or_default();
    let reason = match status.trim() {
        "" | "ok" => None,
        status => Some(status.replace('\n', "; ").chars().take(400).collect()),
    };
    ControlError::File { action, path: path.to_owned(), reason, source }
}
