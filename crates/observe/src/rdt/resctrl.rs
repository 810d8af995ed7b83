//! Groups of resctrl: their counters, tasks and allocations.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use super::files::ResctrlFiles;
use super::info::{MonitorInfo, RdtInfo, ResourceInfo};
use super::schemata::{SchemaError, SchemataLine, parse_schemata};

/// The largest number of groups that are read.
const GROUPS_MAX: usize = 1_000;

/// The largest number of counters of one group.
const VALUES_MAX: usize = 1_000;

/// Names of directories of resctrl that are not control groups.
const RESERVED: [&str; 3] = ["info", "mon_groups", "mon_data"];

/// An operation on resctrl failed.
#[derive(Debug, thiserror::Error)]
pub enum RdtError {
    /// The file system is not mounted, or this machine has none.
    #[error("resctrl is not available: {advice}")]
    Missing {
        /// Advice on how to provide it.
        advice: &'static str,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Relative to the mount point.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The hardware has no identifiers for a further group.
    #[error("cannot create the group {}: all identifiers of the hardware are in use ({status})", path.display())]
    NoIdentifiers {
        /// Relative to the mount point.
        path: PathBuf,
        /// `info/last_cmd_status`.
        status: String,
    },
    /// The kernel refused a change.
    #[error("cannot change {}: {status}", path.display())]
    Refused {
        /// Relative to the mount point.
        path: PathBuf,
        /// `info/last_cmd_status`.
        status: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The name cannot be that of a directory.
    #[error("`{0}` cannot be the name of a group")]
    Name(String),
    /// The file `schemata` is not in the expected format.
    #[error("cannot read the allocation of {}", path.display())]
    Schemata {
        /// Relative to the mount point.
        path: PathBuf,
        /// The line.
        #[source]
        source: SchemaError,
    },
}

/// A group of tasks or cores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResctrlGroup {
    /// The control group; empty for the default group.
    pub control: String,
    /// The monitor group within it; `None` for the control group itself, whose counters include those of its monitor groups.
    pub monitor: Option<String>,
}

impl ResctrlGroup {
    /// A control group; the default group if `name` is empty.
    pub fn control(name: impl Into<String>) -> Self {
        Self { control: name.into(), monitor: None }
    }

    /// A monitor group within a control group.
    pub fn monitor(control: impl Into<String>, name: impl Into<String>) -> Self {
        Self { control: control.into(), monitor: Some(name.into()) }
    }

    /// The directory, relative to the mount point.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let control = PathBuf::from(&self.control);
        match &self.monitor {
            Some(monitor) => control.join("mon_groups").join(monitor),
            None => control,
        }
    }

    fn check_name(&self) -> Result<(), RdtError> {
        let name = self.monitor.as_ref().unwrap_or(&self.control);
        let is_bad = name.is_empty()
            || name.starts_with('.')
            || name.contains(['/', '\n', '\0'])
            || RESERVED.contains(&name.as_str());
        if is_bad { Err(RdtError::Name(name.clone())) } else { Ok(()) }
    }
}

/// The value of a counter.
#[derive(Clone, Debug, PartialEq)]
pub enum ResctrlValue {
    /// The number in bytes, joules or farads: a total since the group was created, except for the occupancy.
    Number(f64),
    /// There is no number. The text is the kernel's: `Unavailable`, `Unassigned`, `Error`.
    Absent(String),
}

/// A counter of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorValue {
    /// The resource: `L3`, `PERF_PKG`.
    pub resource: String,
    /// Number of the cache or package, as text: `00`.
    pub domain: String,
    /// Number of the NUMA node, if a cache is divided among nodes (sub-NUMA clustering).
    pub node: Option<String>,
    /// The event: `llc_occupancy`, `mbm_total_bytes`.
    pub event: String,
    /// Its value.
    pub value: ResctrlValue,
}

/// The resctrl file system.
#[derive(Debug)]
pub struct Resctrl {
    files: Box<dyn ResctrlFiles>,
}

impl Resctrl {
    /// Uses these files.
    #[must_use]
    pub fn new(files: Box<dyn ResctrlFiles>) -> Self {
        Self { files }
    }

    /// The capabilities of the hardware.
    ///
    /// # Errors
    /// The file system is not mounted, or may not be read.
    pub fn info(&self) -> Result<RdtInfo, RdtError> {
        let root = Path::new("info");
        let names = self.files.directories(root).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => RdtError::Missing {
                advice: "mount it with `mount -t resctrl resctrl /sys/fs/resctrl`; it needs a processor with RDT, \
                         PQOS or MPAM, on a physical machine",
                source,
            },
            _ => RdtError::Read { path: root.to_owned(), source },
        })?;
        let mut info = RdtInfo::default();
        for name in names {
            let files = self.texts(&root.join(&name))?;
            match name.strip_suffix("_MON") {
                Some(monitor) => {
                    info.monitors.insert(monitor.to_owned(), MonitorInfo::of_files(&files));
                }
                None => {
                    info.resources.insert(name, ResourceInfo { files });
                }
            }
        }
        Ok(info)
    }

    /// Files of a directory, by name. Files that may not be read are left out.
    fn texts(&self, path: &Path) -> Result<BTreeMap<String, String>, RdtError> {
        let names =
            self.files.files(path).map_err(|source| RdtError::Read { path: path.to_owned(), source })?;
        let read = |name: String| {
            let text = self.files.read(&path.join(&name)).ok()?;
            Some((name, text.trim().to_owned()))
        };
        Ok(names.into_iter().filter_map(read).collect())
    }

    /// All groups, at most 1,000: the default group first, each control group before its monitor groups.
    ///
    /// # Errors
    /// The root of the file system cannot be read.
    pub fn groups(&self) -> Result<Vec<ResctrlGroup>, RdtError> {
        let root = Path::new("");
        let names = self
            .files
            .directories(root)
            .map_err(|source| RdtError::Read { path: root.to_owned(), source })?;
        let controls = names.into_iter().filter(|name| !RESERVED.contains(&name.as_str()));
        let mut groups = Vec::new();
        for control in std::iter::once(String::new()).chain(controls) {
            let monitors =
                self.files.directories(&Path::new(&control).join("mon_groups")).unwrap_or_default();
            groups.push(ResctrlGroup::control(control.as_str()));
            groups
                .extend(monitors.into_iter().map(|monitor| ResctrlGroup::monitor(control.as_str(), monitor)));
            if groups.len() >= GROUPS_MAX {
                groups.truncate(GROUPS_MAX);
                break;
            }
        }
        Ok(groups)
    }

    /// The counters of a group.
    ///
    /// # Errors
    /// The group does not exist, or has no counters.
    pub fn values(&self, group: &ResctrlGroup) -> Result<Vec<MonitorValue>, RdtError> {
        let path = group.path().join("mon_data");
        let domains =
            self.files.directories(&path).map_err(|source| RdtError::Read { path: path.clone(), source })?;
        let mut values = Vec::new();
        for directory in domains {
            // mon_L3_00, mon_PERF_PKG_01
            let Some((resource, domain)) =
                directory.strip_prefix("mon_").and_then(|name| name.rsplit_once('_'))
            else {
                continue;
            };
            let path = path.join(&directory);
            self.push_values(&path, resource, domain, None, &mut values);
            for node in self.files.directories(&path).unwrap_or_default() {
                let number = node.strip_prefix("mon_sub_").and_then(|name| name.rsplit_once('_'));
                if let Some((_, number)) = number {
                    self.push_values(&path.join(&node), resource, domain, Some(number), &mut values);
                }
            }
        }
        Ok(values)
    }

    fn push_values(
        &self,
        path: &Path,
        resource: &str,
        domain: &str,
        node: Option<&str>,
        values: &mut Vec<MonitorValue>,
    ) {
        for event in self.files.files(path).unwrap_or_default() {
            if values.len() == VALUES_MAX {
                return;
            }
            let value = match self.files.read(&path.join(&event)) {
                Ok(text) => parse_value(&text),
                Err(error) => ResctrlValue::Absent(error.to_string()),
            };
            values.push(MonitorValue {
                resource: resource.to_owned(),
                domain: domain.to_owned(),
                node: node.map(str::to_owned),
                event,
                value,
            });
        }
    }

    /// The IDs of the tasks of a group.
    ///
    /// # Errors
    /// The group does not exist.
    pub fn tasks(&self, group: &ResctrlGroup) -> Result<Vec<u32>, RdtError> {
        let path = group.path().join("tasks");
        let text = self.files.read(&path).map_err(|source| RdtError::Read { path, source })?;
        Ok(text.lines().filter_map(|line| line.trim().parse().ok()).collect())
    }

    /// The allocation of a control group.
    ///
    /// # Errors
    /// The group does not exist, or its file is not in the expected format.
    pub fn schemata(&self, control: &str) -> Result<Vec<SchemataLine>, RdtError> {
        let path = Path::new(control).join("schemata");
        let text = self.files.read(&path).map_err(|source| RdtError::Read { path: path.clone(), source })?;
        parse_schemata(&text).map_err(|source| RdtError::Schemata { path, source })
    }

    /// Creates a group.
    ///
    /// # Errors
    /// It exists, its name is not allowed, or the hardware has no identifier left.
    pub fn create(&mut self, group: &ResctrlGroup) -> Result<(), RdtError> {
        group.check_name()?;
        let path = group.path();
        self.files.create_directory(&path).map_err(|source| {
            let status = self.last_status();
            if source.kind() == io::ErrorKind::StorageFull {
                RdtError::NoIdentifiers { path, status }
            } else {
                RdtError::Refused { path, status, source }
            }
        })
    }

    /// Removes a group; its tasks return to the default group, those of a monitor group to its control group.
    ///
    /// # Errors
    /// It does not exist.
    pub fn remove(&mut self, group: &ResctrlGroup) -> Result<(), RdtError> {
        group.check_name()?;
        let path = group.path();
        self.files.remove_directory(&path).map_err(|source| self.refused(path, source))
    }

    /// Moves a task to a group. A thread that the task starts later begins in the same group.
    ///
    /// # Errors
    /// The task does not exist, or a monitor group belongs to another control group than the task.
    pub fn move_task(&mut self, group: &ResctrlGroup, task: u32) -> Result<(), RdtError> {
        self.write(group.path().join("tasks"), &task.to_string())
    }

    /// Changes the allocation of one resource to a control group. Domains that are not named keep their allocation.
    ///
    /// # Errors
    /// The kernel refuses a mask or value, with the reason in the error.
    pub fn allocate(&mut self, control: &str, schema: &SchemataLine) -> Result<(), RdtError> {
        self.write(Path::new(control).join("schemata"), &format!("{schema}\n"))
    }

    fn write(&mut self, path: PathBuf, text: &str) -> Result<(), RdtError> {
        self.files.write(&path, text).map_err(|source| self.refused(path, source))
    }

    fn refused(&self, path: PathBuf, source: io::Error) -> RdtError {
        RdtError::Refused { path, status: self.last_status(), source }
    }

    fn last_status(&self) -> String {
        let status = self.files.read(Path::new("info/last_cmd_status")).unwrap_or_default();
        match status.trim() {
            "" | "ok" => "the kernel gives no reason".to_owned(),
            status => status.replace('\n', "; "),
        }
    }
}

fn parse_value(text: &str) -> ResctrlValue {
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => ResctrlValue::Number(number),
        _ => ResctrlValue::Absent(text.chars().take(80).collect()),
    }
}
