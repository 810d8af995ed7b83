//! The control of caches and memory bandwidth through resctrl.

mod hardware;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub use self::hardware::Hardware;
use crate::allocation::{Allocation, parse_schemata};
use crate::change::Change;
use crate::change::resctrl::ResctrlChange;
use crate::control::{Control, Created, PREFIX, Plan, token};
use crate::error::ControlError;
use crate::process::Process;
use crate::system::{System, read};

/// The usual mount point.
pub const MOUNT: &str = "/sys/fs/resctrl";

/// The largest number of groups that are read.
const GROUPS_MAX: usize = 10_000;

/// The group whose allocation is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResctrlPlace {
    /// A group that is created, and removed when the control is undone.
    Created,
    /// A group that exists; the default group has the name "".
    Existing(String),
}

/// Allocates parts of caches (CAT, CDP) and of memory bandwidth (MBA) to processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResctrlControl {
    /// The mount point of resctrl.
    pub mount: PathBuf,
    /// The group.
    pub place: ResctrlPlace,
    /// Its allocations.
    pub allocations: Vec<Allocation>,
    /// Processes that are moved to the group, with all their threads. Processes that they start later are in it too.
    pub processes: Vec<u32>,
}

impl ResctrlControl {
    /// A created group for these processes, at the usual mount point.
    #[must_use]
    pub fn new(allocations: Vec<Allocation>, processes: Vec<u32>) -> Self {
        Self { mount: MOUNT.into(), place: ResctrlPlace::Created, allocations, processes }
    }

    /// The group, and the change that creates it.
    fn group(&self, system: &dyn System, home: &str) -> Result<(String, Option<Change>), ControlError> {
        match &self.place {
            ResctrlPlace::Existing(group) => {
                let is_name = !group.contains(['/', '\n', '\0']) && !group.starts_with('.');
                if !is_name || !system.exists(&self.mount.join(group).join("schemata")) {
                    return Err(ControlError::unavailable(
                        format!("there is no group {group:?} in {}", self.mount.display()),
                        "name an existing group, or let one be created",
                    ));
                }
                Ok((group.clone(), None))
            }
            ResctrlPlace::Created => {
                let group = format!("{PREFIX}{}", token(system)?);
                // A monitor group cannot keep tasks of another control group.
                let (home, _) = home.split_once("mon_groups/").unwrap_or((home, ""));
                let home = home.trim_end_matches('/').to_owned();
                let (mount, name) = (self.mount.clone(), group.clone());
                let create = ResctrlChange::Create { mount, group: name, home };
                Ok((group, Some(Change::Resctrl(create))))
            }
        }
    }

    fn allocate(
        &self,
        system: &dyn System,
        group: &str,
        allocation: &Allocation,
    ) -> Result<Change, ControlError> {
        let before = match self.place {
            ResctrlPlace::Created => None,
            ResctrlPlace::Existing(_) => {
                let text = read(system, &self.mount.join(group).join("schemata"))?;
                let lines = parse_schemata(&text);
                let line = lines.iter().find(|line| line.resource == allocation.resource);
                let line = line.ok_or_else(|| {
                    ControlError::invalid(format!("group {group:?} has no {}", allocation.resource.name()))
                })?;
                Some(line.to_string())
            }
        };
        Ok(Change::Resctrl(ResctrlChange::Allocate {
            mount: self.mount.clone(),
            group: group.to_owned(),
            before,
            after: allocation.to_string(),
        }))
    }
}

impl Control for ResctrlControl {
    fn name(&self) -> String {
        let lines: Vec<String> = self.allocations.iter().map(Allocation::to_string).collect();
        format!("allocation of caches and memory bandwidth ({})", lines.join(" "))
    }

    fn plan(&self, system: &dyn System) -> Result<Plan, ControlError> {
        let hardware = Hardware::read(system, &self.mount)?;
        let mut plan = Plan::default();
        for allocation in &self.allocations {
            plan.notes.extend(hardware.check(allocation)?);
        }
        system.check_writable(&self.mount).map_err(|error| {
            ControlError::unavailable(
                format!("{} cannot be changed ({error})", self.mount.display()),
                "run as root, outside of containers that mount it read-only",
            )
        })?;
        let memberships = memberships(system, &self.mount)?;
        let of_thread = |thread: &u32| memberships.get(thread).cloned().unwrap_or_default();
        let home = self.processes.first().map(of_thread).unwrap_or_default();
        let (group, create) = self.group(system, &home)?;
        if let Some(create) = create {
            plan.changes.push(create);
            plan.created.push(Created { kind: "resctrl group", name: group.clone() });
        }
        for allocation in &self.allocations {
            plan.changes.push(self.allocate(system, &group, allocation)?);
        }
        for pid in &self.processes {
            let process = Process::of_pid(system, *pid)?;
            let threads = process.threads(system).into_iter();
            let threads = threads.filter_map(|thread| Some((thread, memberships.get(&thread)?.clone())));
            plan.changes.push(Change::Resctrl(ResctrlChange::Move {
                mount: self.mount.clone(),
                process,
                threads: threads.collect(),
                to: group.clone(),
            }));
        }
        Ok(plan)
    }
}

/// The groups of all threads that are not in the default group: a control group, or a monitor group of one.
fn memberships(system: &dyn System, mount: &Path) -> Result<BTreeMap<u32, String>, ControlError> {
    let list = |path: &Path| system.directories(path).unwrap_or_default();
    let controls = system.directories(mount).map_err(|source| ControlError::file("read", mount, source))?;
    let controls = controls.into_iter().filter(|name| !["info", "mon_groups", "mon_data"].contains(&&**name));
    let mut memberships = BTreeMap::new();
    for control in std::iter::once(String::new()).chain(controls).take(GROUPS_MAX) {
        let below = if control.is_empty() { String::new() } else { format!("{control}/") };
        let monitors = list(&mount.join(&control).join("mon_groups")).into_iter().take(GROUPS_MAX);
        let monitors = monitors.map(|monitor| format!("{below}mon_groups/{monitor}"));
        // The default group is left out. Monitor groups come after their control group, which lists their tasks too.
        for group in std::iter::once(control.clone()).chain(monitors).filter(|group| !group.is_empty()) {
            let tasks = system.read(&mount.join(&group).join("tasks")).unwrap_or_default();
            memberships
                .extend(tasks.lines().filter_map(|line| Some((line.trim().parse().ok()?, group.clone()))));
        }
    }
    Ok(memberships)
}
