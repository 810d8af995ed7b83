//! The mounted cgroup hierarchies, and the groups of processes in them.

use std::path::{Path, PathBuf};

use crate::error::ControlError;
use crate::system::{System, read};

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    /// The mount point.
    pub mount: PathBuf,
    /// The group that is mounted there; `/` except in containers.
    pub mounted: String,
    /// Whether it is the unified hierarchy of version 2.
    pub is_unified: bool,
    /// The names of its controllers.
    pub controllers: Vec<String>,
}

impl Hierarchy {
    /// All hierarchies.
    ///
    /// # Errors
    /// The list of mounts cannot be read.
    pub fn all(system: &dyn System) -> Result<Vec<Self>, ControlError> {
        let mounts = read(system, Path::new("/proc/self/mountinfo"))?;
        Ok(mounts.lines().filter_map(|line| parse_mount(system, line)).collect())
    }

    /// The hierarchy with a controller, which has another name in version 1: `io` and `blkio`.
    ///
    /// # Errors
    /// There is none.
    pub fn with_controller<'a>(all: &'a [Self], controller: &str) -> Result<&'a Self, ControlError> {
        let old = if controller == "io" { "blkio" } else { controller };
        let has = |hierarchy: &&Self| {
            let name = if hierarchy.is_unified { controller } else { old };
            hierarchy.controllers.iter().any(|other| other == name)
        };
        all.iter().find(has).ok_or_else(|| {
            ControlError::unavailable(
                format!("no mounted cgroup hierarchy has the controller {controller}"),
                "mount cgroup2 with `mount -t cgroup2 none /sys/fs/cgroup`, or enable the controller in the kernel",
            )
        })
    }

    /// The directory of a group.
    ///
    /// # Errors
    /// The group is outside of the mounted part.
    pub fn directory(&self, group: &str) -> Result<PathBuf, ControlError> {
        let rest = match self.mounted.as_str() {
            "/" => Some(group),
            mounted => group.strip_prefix(mounted),
        };
        let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match rest {
            Some(rest) if !rest.split('/').any(|part| part == "..") => {
                Ok(join(&self.mount, rest.trim_matches('/')))
            }
            _ => Err(ControlError::unavailable(
                format!("the group {group} is not visible below {}", self.mount.display()),
                "run outside of the container, in the cgroup namespace of the host",
            )),
        }
    }

    /// The directory of the group of a process.
    ///
    /// # Errors
    /// The process ended, or its group is outside of the mounted part.
    pub fn of_process(&self, system: &dyn System, pid: u32) -> Result<PathBuf, ControlError> {
        let path = PathBuf::from(format!("/proc/{pid}/cgroup"));
        let text = system.read(&path).map_err(|_| ControlError::ProcessEnded { pid })?;
        let group = text.lines().find_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, group) = rest.split_once(':')?;
            let is_this = if self.is_unified {
                controllers.is_empty()
            } else {
                controllers.split(',').any(|name| self.controllers.iter().any(|other| other == name))
            };
            is_this.then_some(group)
        });
        self.directory(group.ok_or(ControlError::ProcessEnded { pid })?)
    }
}

fn join(mount: &Path, group: &str) -> PathBuf {
    if group.is_empty() { mount.to_owned() } else { mount.join(group) }
}

/// Parses a line of `mountinfo`: `31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw`.
fn parse_mount(system: &dyn System, line: &str) -> Option<Hierarchy> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let mounted = unescape(fields.nth(3)?);
    let mount = PathBuf::from(unescape(fields.next()?));
    let mut kinds = after.split(' ');
    let is_unified = match kinds.next()? {
        "cgroup2" => true,
        "cgroup" => false,
        _ => return None,
    };
    let controllers = if is_unified {
        let text = system.read(&mount.join("cgroup.controllers")).ok()?;
        text.split_ascii_whitespace().map(str::to_owned).collect()
    } else {
        // Options of the mount besides the controllers (`rw`) match no controller.
        kinds.nth(1)?.split(',').map(str::to_owned).collect()
    };
    Some(Hierarchy { mount, mounted, is_unified, controllers })
}

/// Replaces the octal escapes of blanks, tabs, line ends and backslashes.
fn unescape(field: &str) -> String {
    let mut path = field.to_owned();
    for (escape, character) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        path = path.replace(escape, character);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hierarchy(mounted: &str) -> Hierarchy {
        Hierarchy {
            mount: "/sys/fs/cgroup".into(),
            mounted: mounted.to_owned(),
            is_unified: true,
            controllers: vec!["cpu".to_owned()],
        }
    }

    #[test]
    fn groups_outside_of_the_mounted_part_are_refused() {
        let directory = |mounted, group| hierarchy(mounted).directory(group).ok();
        assert_eq!(directory("/", "/a/b"), Some("/sys/fs/cgroup/a/b".into()));
        assert_eq!(directory("/", "/"), Some("/sys/fs/cgroup".into()));
        assert_eq!(directory("/docker/x", "/docker/x/y"), Some("/sys/fs/cgroup/y".into()));
        assert_eq!(directory("/docker/x", "/docker/x"), Some("/sys/fs/cgroup".into()));
        for group in ["/docker/xy", "/other", "/docker/x/../y"] {
            assert_eq!(directory("/docker/x", group), None, "{group}");
        }
    }
}
