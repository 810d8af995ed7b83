//! The directories of a process's cgroup.

use std::io;
use std::path::{Path, PathBuf};

use crate::fields::{fields, lines, text};
use crate::proc_root::ProcRoot;

/// Bytes of `/proc/PID/mountinfo` that are read.
const MOUNTS_MAX: usize = 1 << 20;

/// Why a cgroup cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum CgroupError {
    /// The cgroup of the process cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The process is in no cgroup that is mounted here.
    #[error("no cgroup file system is mounted that contains {path}")]
    NotMounted {
        /// The path in the hierarchy.
        path: String,
    },
}

/// The controllers of version 1 that are read, in the order of `CgroupPath::controllers`.
const CONTROLLERS: [&str; 5] = ["cpu", "cpuacct", "memory", "blkio", "pids"];

/// A cgroup: its path, and its directories in the mounted hierarchies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CgroupPath {
    name: String,
    unified: Option<PathBuf>,
    controllers: [Option<PathBuf>; CONTROLLERS.len()],
}

/// A mounted hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    /// The part of the hierarchy that is mounted, as a path in the hierarchy.
    mounted: String,
    /// The mount point.
    place: String,
    is_unified: bool,
    /// Options of the file system. In version 1, they include the names of the controllers.
    options: String,
}

impl CgroupPath {
    /// The cgroup of a process.
    ///
    /// # Errors
    /// The process does not exist, cgroups are not mounted, or the process is outside the mounted part of the hierarchy.
    pub fn of_process(root: &ProcRoot, pid: u32) -> Result<CgroupPath, CgroupError> {
        let read = |file: PathBuf, bytes_max| {
            crate::proc_root::read_bounded(&file, bytes_max)
                .map_err(|source| CgroupError::Read { path: file, source })
        };
        let own = read(root.process(pid, "cgroup"), 1 << 16)?;
        let mounts = read(root.path("/proc/self/mountinfo"), MOUNTS_MAX)?;
        let mounts: Vec<Mount> = lines(&mounts).filter_map(parse_mount).collect();
        // Mounts are looked up once, because the process has one line per hierarchy.
        let unified = mounts.iter().find(|mount| mount.is_unified);
        let by_controller = CONTROLLERS.map(|name| mounts.iter().find(|mount| mount.has_controller(name)));
        let mut found = CgroupPath::default();
        let mut paths = Vec::new();
        for line in lines(&own) {
            let Some((controllers, path)) = parse_membership(line) else { continue };
            if controllers.is_empty() {
                found.unified = unified.and_then(|mount| mount.directory(root, &path));
            }
            for ((name, mount), place) in CONTROLLERS.iter().zip(by_controller).zip(&mut found.controllers) {
                if controllers.split(',').any(|controller| controller == *name) {
                    *place = mount.and_then(|mount| mount.directory(root, &path));
                }
            }
            paths.push(path);
        }
        // With several hierarchies, the process may be in the root of some: the longest path is the most specific.
        found.name = paths.into_iter().max_by_key(String::len).unwrap_or_default();
        if found.directories().next().is_none() {
            return Err(CgroupError::NotMounted { path: found.name });
        }
        Ok(found)
    }

    /// The path in the hierarchy, such as `/system.slice/nginx.service`; with several hierarchies, the longest path.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this is the root, which contains all processes without a separate cgroup.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.name.trim_matches('/').is_empty()
    }

    /// The directory in the hierarchy of version 2.
    pub(super) fn unified(&self) -> Option<&Path> {
        self.unified.as_deref()
    }

    /// The directory of a controller of version 1.
    pub(super) fn controller(&self, name: &str) -> Option<&Path> {
        let position = CONTROLLERS.iter().position(|controller| *controller == name)?;
        self.controllers[position].as_deref()
    }

    /// The file of version 2 if the directory has it.
    pub(super) fn unified_file(&self, name: &str) -> Option<PathBuf> {
        self.unified().map(|directory| directory.join(name)).filter(|file| file.exists())
    }

    /// The file of a controller of version 1 if the directory has it.
    pub(super) fn controller_file(&self, controller: &str, name: &str) -> Option<PathBuf> {
        self.controller(controller).map(|directory| directory.join(name)).filter(|file| file.exists())
    }

    pub(super) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.unified.iter().chain(self.controllers.iter().flatten()).map(PathBuf::as_path)
    }
}

impl Mount {
    fn has_controller(&self, name: &str) -> bool {
        !self.is_unified && self.options.split(',').any(|option| option == name)
    }

    /// The directory for a path in the hierarchy; `None` if the path is outside the mounted part. A path with `..` is
    /// outside the cgroup namespace.
    fn directory(&self, root: &ProcRoot, path: &str) -> Option<PathBuf> {
        if path.split('/').any(|part| part == "..") {
            return None;
        }
        let rest = path.strip_prefix(self.mounted.trim_end_matches('/'))?;
        if !rest.is_empty() && !rest.starts_with('/') {
            return None;
        }
        Some(root.path(&self.place).join(rest.trim_start_matches('/')))
    }
}

/// Parses `4:memory:/path` or `0::/path`: controllers and path.
fn parse_membership(line: &[u8]) -> Option<(String, String)> {
    let line = text(line);
    let (_, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    path.starts_with('/').then(|| (controllers.to_owned(), path.to_owned()))
}

/// Parses a line of `mountinfo`: `31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw`.
fn parse_mount(line: &[u8]) -> Option<Mount> {
    let all: Vec<&[u8]> = fields(line).collect();
    let dash = all.iter().position(|field| *field == b"-")?;
    let (kind, options) = (*all.get(dash + 1)?, *all.get(dash + 3)?);
    let is_unified = kind == b"cgroup2";
    if !is_unified && kind != b"cgroup" {
        return None;
    }
    Some(Mount {
        mounted: unescape(all.get(3)?),
        place: unescape(all.get(4)?),
        is_unified,
        options: text(options).into_owned(),
    })
}

/// Replaces the octal escapes that `mountinfo` contains for spaces, tabs, line ends and backslashes.
fn unescape(field: &[u8]) -> String {
    let mut path = text(field).into_owned();
    for (escape, character) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        path = path.replace(escape, character);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(cgroup: &str, mounts: &str) -> (tempfile::TempDir, ProcRoot) {
        let dir = tempfile::tempdir().unwrap();
        for (file, text) in [("proc/7/cgroup", cgroup), ("proc/self/mountinfo", mounts)] {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = ProcRoot::recorded(dir.path());
        (dir, root)
    }

    #[test]
    fn version_2_has_one_directory() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";
        let (_dir, root) = tree("0::/system.slice/a b.service\n", mounts);
        let path = CgroupPath::of_process(&root, 7).unwrap();
        assert_eq!(path.name(), "/system.slice/a b.service");
        assert_eq!(path.unified(), Some(&*root.path("/sys/fs/cgroup/system.slice/a b.service")));
        assert_eq!(path.controller("memory"), None);
    }

    #[test]
    fn version_1_and_hybrid_hierarchies_have_several() {
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
                      35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n\
                      20 1 0:20 / / rw - ext4 /dev/root rw\n";
        let (_dir, root) = tree("4:memory:/docker/abc/x\n3:cpu,cpuacct:/\n0::/\n1:name=systemd:/\n", mounts);
        let path = CgroupPath::of_process(&root, 7).unwrap();
        assert_eq!(path.name(), "/docker/abc/x");
        assert_eq!(path.controller("memory"), Some(&*root.path("/sys/fs/cgroup/memory/x")));
        assert_eq!(path.controller("cpu"), Some(&*root.path("/sys/fs/cgroup/cpu,cpuacct")));
        assert_eq!(path.controller("cpuacct"), path.controller("cpu"));
        assert_eq!(path.unified(), Some(&*root.path("/sys/fs/cgroup/unified")));
        assert!(!path.is_root());
    }

    #[test]
    fn paths_outside_the_mounted_part_are_refused() {
        let mounts = "35 31 0:32 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        for path in ["/docker/abcdef", "/other", "/../../x", "/docker/abc/../x"] {
            let (_dir, root) = tree(&format!("0::{path}\n"), mounts);
            let error = CgroupPath::of_process(&root, 7).unwrap_err();
            assert!(matches!(error, CgroupError::NotMounted { .. }), "{path}: {error}");
        }
        let (_dir, root) = tree("0::/\n", "");
        assert!(CgroupPath::of_process(&root, 7).is_err());
        assert!(matches!(CgroupPath::of_process(&root, 8), Err(CgroupError::Read { .. })));
        let (_dir, root) = tree("nonsense\n:\n::\n", "x\n- cgroup2\n1 2 3 4 5 - cgroup2\n");
        assert!(CgroupPath::of_process(&root, 7).is_err());
    }
}
