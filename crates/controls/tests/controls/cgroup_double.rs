//! A double of cgroup hierarchies of both versions, with the kernel's rules that matter for controls.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

pub const EBUSY: i32 = 16;
const EINVAL: i32 = 22;
const ENOENT: i32 = 2;
const ENOSPC: i32 = 28;
const ESRCH: i32 = 3;

pub fn errno(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// A mounted hierarchy. The double has no controllers of version 1 that share a hierarchy.
#[derive(Clone, Debug)]
pub struct Mounted {
    pub mount: PathBuf,
    pub is_unified: bool,
    pub controllers: Vec<&'static str>,
}

#[derive(Clone, Debug, Default)]
pub struct Cgroups {
    pub hierarchies: Vec<Mounted>,
    /// The settings of each group by its directory.
    groups: BTreeMap<PathBuf, BTreeMap<String, String>>,
    /// The group of each process by the mount point of the hierarchy.
    members: BTreeMap<(PathBuf, u32), PathBuf>,
    pub pids: BTreeSet<u32>,
    /// Processes that are ending: they cannot be moved, but the kernel reports no error.
    pub ending: BTreeSet<u32>,
}

/// The settings of a new group.
fn defaults(controller: &str, is_unified: bool) -> Vec<(&'static str, &'static str)> {
    match (controller, is_unified) {
        ("cpu", true) => vec![("cpu.max", "max 100000\n"), ("cpu.weight", "100\n")],
        ("cpuset", _) => vec![("cpuset.cpus", "\n"), ("cpuset.mems", "\n")],
        ("io", true) => vec![("io.max", ""), ("io.weight", "default 100\n")],
        ("cpu", false) => {
            vec![("cpu.cfs_period_us", "100000\n"), ("cpu.cfs_quota_us", "-1\n"), ("cpu.shares", "1024\n")]
        }
        ("blkio", false) => {
            vec![("blkio.throttle.write_bps_device", ""), ("blkio.bfq.weight", "100\n")]
        }
        other => panic!("no defaults for {other:?}"),
    }
}

impl Cgroups {
    pub fn version_1() -> Self {
        let mut cgroups = Self::default();
        for controller in ["cpu", "cpuset", "blkio"] {
            let mount = PathBuf::from("/sys/fs/cgroup").join(controller);
            let mut files: BTreeMap<String, String> = texts(defaults(controller, false));
            if controller == "cpuset" {
                files = texts(vec![
                    ("cpuset.cpus", "0-7\n"),
                    ("cpuset.mems", "0-1\n"),
                    ("cpuset.effective_cpus", "0-7\n"),
                ]);
            }
            cgroups.groups.insert(mount.clone(), files);
            cgroups.hierarchies.push(Mounted { mount, is_unified: false, controllers: vec![controller] });
        }
        cgroups
    }

    pub fn version_2() -> Self {
        let mount = PathBuf::from("/sys/fs/cgroup");
        let mut cgroups = Self::default();
        let root = [
            ("cgroup.controllers", "cpuset cpu io pids\n"),
            ("cgroup.subtree_control", "pids\n"),
            ("cpuset.cpus.effective", "0-7\n"),
        ];
        cgroups.groups.insert(mount.clone(), texts(root.to_vec()));
        cgroups.hierarchies.push(Mounted {
            mount,
            is_unified: true,
            controllers: vec!["cpu", "cpuset", "io"],
        });
        cgroups
    }

    /// Adds a group and moves processes to it, without the rules.
    pub fn with_group(mut self, directory: &str, pids: &[u32]) -> Self {
        let directory = PathBuf::from(directory);
        if !self.groups.contains_key(&directory) {
            self.create(&directory).unwrap();
        }
        for pid in pids {
            let mount = self.hierarchy(&directory).unwrap().mount.clone();
            self.members.insert((mount, *pid), directory.clone());
        }
        self
    }

    pub fn with_setting(mut self, file: &str, value: &str) -> Self {
        let path = Path::new(file);
        let group = self.groups.get_mut(path.parent().unwrap()).unwrap();
        group.insert(path.file_name().unwrap().to_str().unwrap().to_owned(), value.to_owned());
        self
    }

    fn hierarchy(&self, directory: &Path) -> Option<&Mounted> {
        self.hierarchies.iter().find(|hierarchy| directory.starts_with(&hierarchy.mount))
    }

    pub fn contains(&self, path: &Path) -> bool {
        self.groups.contains_key(path) || self.read(path).is_ok()
    }

    pub fn mountinfo(&self) -> String {
        let line = |hierarchy: &Mounted| {
            let mount = hierarchy.mount.display();
            match hierarchy.is_unified {
                true => format!("30 23 0:26 / {mount} rw shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"),
                false => format!("32 31 0:29 / {mount} rw - cgroup cgroup rw,{}\n", hierarchy.controllers[0]),
            }
        };
        self.hierarchies.iter().map(line).collect()
    }

    fn group_of(&self, hierarchy: &Mounted, pid: u32) -> PathBuf {
        self.members.get(&(hierarchy.mount.clone(), pid)).unwrap_or(&hierarchy.mount).clone()
    }

    /// `/proc/PID/cgroup`
    pub fn memberships(&self, pid: u32) -> String {
        let line = |(at, hierarchy): (usize, &Mounted)| {
            let group = self.group_of(hierarchy, pid);
            let group = group.strip_prefix(&hierarchy.mount).unwrap().display().to_string();
            let (id, name) = if hierarchy.is_unified { (0, "") } else { (at + 1, hierarchy.controllers[0]) };
            format!("{id}:{name}:/{group}\n")
        };
        self.hierarchies.iter().enumerate().map(line).collect()
    }

    pub fn fork(&mut self, parent: u32, child: u32) {
        self.pids.insert(child);
        for hierarchy in self.hierarchies.clone() {
            let group = self.group_of(&hierarchy, parent);
            self.members.insert((hierarchy.mount, child), group);
        }
    }

    pub fn end(&mut self, pid: u32) {
        self.pids.remove(&pid);
        self.members.retain(|(_, other), _| *other != pid);
    }

    pub fn read(&self, path: &Path) -> io::Result<String> {
        let directory = path.parent().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let group = self.groups.get(directory).ok_or_else(|| errno(ENOENT))?;
        if name == "cgroup.procs" {
            return Ok(self.processes(directory).iter().map(|pid| format!("{pid}\n")).collect());
        }
        group.get(name).cloned().ok_or_else(|| errno(ENOENT))
    }

    fn processes(&self, directory: &Path) -> Vec<u32> {
        let hierarchy = self.hierarchy(directory).unwrap();
        self.pids.iter().copied().filter(|pid| self.group_of(hierarchy, *pid) == directory).collect()
    }

    /// The groups in a group or in a directory of mount points.
    pub fn children(&self, directory: &Path) -> Vec<String> {
        let children = self.groups.keys().filter(|group| group.parent() == Some(directory));
        children.map(|group| group.file_name().unwrap().to_str().unwrap().to_owned()).collect()
    }

    pub fn create(&mut self, directory: &Path) -> io::Result<()> {
        if self.groups.contains_key(directory) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let hierarchy = self.hierarchy(directory).ok_or_else(|| errno(ENOENT))?.clone();
        let parent = self.groups.get(directory.parent().unwrap()).ok_or_else(|| errno(ENOENT))?;
        let mut files = BTreeMap::new();
        if hierarchy.is_unified {
            let enabled = parent["cgroup.subtree_control"].clone();
            for controller in enabled.split_ascii_whitespace().filter(|name| *name != "pids") {
                files.extend(texts(defaults(controller, true)));
            }
            files.insert("cgroup.type".to_owned(), "domain\n".to_owned());
            files.insert("cgroup.subtree_control".to_owned(), "\n".to_owned());
            files.insert("cgroup.controllers".to_owned(), enabled);
        } else {
            files = texts(defaults(hierarchy.controllers[0], false));
        }
        self.groups.insert(directory.to_owned(), files);
        Ok(())
    }

    pub fn remove(&mut self, directory: &Path) -> io::Result<()> {
        if !self.groups.contains_key(directory) {
            return Err(errno(ENOENT));
        }
        if !self.processes(directory).is_empty() || !self.children(directory).is_empty() {
            return Err(errno(EBUSY));
        }
        self.groups.remove(directory);
        Ok(())
    }

    pub fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let directory = path.parent().unwrap().to_owned();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let group = self.groups.get(&directory).ok_or_else(|| errno(ENOENT))?.clone();
        let hierarchy = self.hierarchy(&directory).unwrap().clone();
        match name.as_str() {
            "cgroup.procs" => {
                let pid: u32 = text.trim().parse().map_err(|_| errno(EINVAL))?;
                if !self.pids.contains(&pid) {
                    return Err(errno(ESRCH));
                }
                let is_empty = |file: &str| group.get(file).is_some_and(|value| value.trim().is_empty());
                if !hierarchy.is_unified && (is_empty("cpuset.cpus") || is_empty("cpuset.mems")) {
                    return Err(errno(ENOSPC));
                }
                let is_inner =
                    group.get("cgroup.subtree_control").is_some_and(|text| !text.trim().is_empty());
                if is_inner && directory != hierarchy.mount {
                    return Err(errno(EBUSY));
                }
                if !self.ending.contains(&pid) {
                    self.members.insert((hierarchy.mount, pid), directory);
                }
                Ok(())
            }
            "cgroup.subtree_control" => self.enable(&directory, text),
            _ => {
                let value = group.get(&name).ok_or_else(|| errno(ENOENT))?;
                let value = updated(&name, value, text)?;
                if name.starts_with("cpu.cfs_") {
                    self.check_share(&directory, &name, &value)?;
                }
                self.groups.get_mut(&directory).unwrap().insert(name, value);
                Ok(())
            }
        }
    }

    /// In version 1, the share of the CPUs must not be larger than that of the parent group.
    fn check_share(&self, directory: &Path, name: &str, value: &str) -> io::Result<()> {
        let share = |directory: &Path, name: &str, value: &str| {
            let group = self.groups.get(directory)?;
            let number = |file: &str| {
                let text = if file == name { value } else { group.get(file)? };
                text.trim().parse::<f64>().ok()
            };
            let (quota, period) = (number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?);
            (quota > 0.0).then(|| quota / period)
        };
        let around = directory.parent().and_then(|parent| share(parent, "", "")).unwrap_or(f64::INFINITY);
        if share(directory, name, value).is_some_and(|share| share > around) {
            Err(errno(EINVAL))
        } else {
            Ok(())
        }
    }

    fn enable(&mut self, directory: &Path, text: &str) -> io::Result<()> {
        let (sign, controller) = text.trim().split_at(1);
        let group = &self.groups[directory];
        let mut enabled: BTreeSet<String> =
            group["cgroup.subtree_control"].split_ascii_whitespace().map(str::to_owned).collect();
        let is_offered = group["cgroup.controllers"].split_ascii_whitespace().any(|name| name == controller);
        if !is_offered {
            return Err(errno(ENOENT));
        }
        let is_root = self.hierarchies.iter().any(|hierarchy| hierarchy.mount == directory);
        if sign == "+" && !is_root && !self.processes(directory).is_empty() {
            return Err(errno(EBUSY));
        }
        if sign == "+" {
            enabled.insert(controller.to_owned())
        } else {
            enabled.remove(controller)
        };
        let list = enabled.into_iter().collect::<Vec<_>>().join(" ") + "\n";
        for child in self.children(directory) {
            let child = self.groups.get_mut(&directory.join(child)).unwrap();
            child.insert("cgroup.controllers".to_owned(), list.clone());
            for (file, value) in texts(defaults(controller, true)) {
                if sign == "+" {
                    child.insert(file, value)
                } else {
                    child.remove(&file)
                };
            }
        }
        self.groups.get_mut(directory).unwrap().insert("cgroup.subtree_control".to_owned(), list);
        Ok(())
    }

    /// Groups, settings and memberships.
    pub fn snapshot(&self) -> BTreeMap<String, String> {
        let mut state = BTreeMap::new();
        for (group, files) in &self.groups {
            state.insert(group.display().to_string(), format!("{:?}", self.processes(group)));
            for (file, value) in files {
                state.insert(group.join(file).display().to_string(), value.clone());
            }
        }
        state
    }
}

fn texts(pairs: Vec<(&str, &str)>) -> BTreeMap<String, String> {
    pairs.into_iter().map(|(file, text)| (file.to_owned(), text.to_owned())).collect()
}

/// The content of a file after a write.
fn updated(name: &str, content: &str, text: &str) -> io::Result<String> {
    let text = text.trim();
    match name {
        "cpu.max" => {
            let (quota, period) = text.split_once(' ').ok_or_else(|| errno(EINVAL))?;
            let is_valid = quota == "max" || quota.parse::<u64>().is_ok_and(|quota| quota >= 1_000);
            if !is_valid || period.parse::<u64>().is_err() {
                return Err(errno(EINVAL));
            }
            Ok(format!("{text}\n"))
        }
        "io.max" | "blkio.throttle.write_bps_device" => {
            let (device, limits) = text.split_once(' ').ok_or_else(|| errno(EINVAL))?;
            let mut lines: BTreeMap<&str, String> =
                content.lines().filter_map(|line| Some((line.split_once(' ')?.0, line.to_owned()))).collect();
            if limits == "0" {
                lines.remove(device);
            } else if name == "io.max" {
                let before = lines.get(device).cloned().unwrap_or_default();
                let mut values: BTreeMap<&str, &str> =
                    ["rbps", "wbps", "riops", "wiops"].iter().map(|name| (*name, "max")).collect();
                let words = before.split(' ').chain(limits.split(' '));
                values.extend(words.filter_map(|word| word.split_once('=')));
                let line: Vec<String> =
                    values.iter().map(|(name, value)| format!("{name}={value}")).collect();
                lines.remove(device);
                if values.values().any(|value| *value != "max") {
                    lines.insert(device, format!("{device} {}", line.join(" ")));
                }
            } else {
                lines.insert(device, text.to_owned());
            }
            Ok(lines.into_values().map(|line| line + "\n").collect())
        }
        _ => Ok(format!("{text}\n")),
    }
}
