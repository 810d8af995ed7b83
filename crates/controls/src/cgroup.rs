//! Limits of control groups of version 1 and 2.

mod hierarchy;
mod limits;

use std::path::{Path, PathBuf};

pub use self::hierarchy::Hierarchy;
pub use self::limits::{CgroupLimits, CpuQuota, IoMax};
use self::limits::{Setting, parse_list};
use crate::change::Change;
use crate::change::cgroup::CgroupChange;
use crate::control::{Control, Created, PREFIX, Plan, token};
use crate::error::ControlError;
use crate::process::Process;
use crate::system::{System, read};

/// The group that is limited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CgroupPlace {
    /// A group that is created in this group, and removed when the control is undone.
    CreatedIn(String),
    /// A group that exists: `/system.slice/shop.service`.
    Existing(String),
}

/// Limits the CPU time, CPUs, memory and disk traffic of processes. Without limits, it only moves processes to a group that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CgroupControl {
    /// The group.
    pub place: CgroupPlace,
    /// Its limits.
    pub limits: CgroupLimits,
    /// Processes that are moved to the group. Processes that they start later are in it too.
    pub processes: Vec<u32>,
}

impl CgroupControl {
    /// A created group for these processes.
    #[must_use]
    pub fn new(limits: CgroupLimits, processes: Vec<u32>) -> Self {
        Self { place: CgroupPlace::CreatedIn("/".to_owned()), limits, processes }
    }

    /// The hierarchies in which the group exists, for a control without limits.
    fn hierarchies_of_group<'h>(
        &self,
        system: &dyn System,
        all: &'h [Hierarchy],
    ) -> Result<Vec<&'h Hierarchy>, ControlError> {
        let CgroupPlace::Existing(group) = &self.place else {
            return Err(ControlError::invalid("the control has no limits"));
        };
        if self.processes.is_empty() {
            return Err(ControlError::invalid("the control has neither limits nor processes"));
        }
        let exists = |hierarchy: &&Hierarchy| {
            hierarchy.directory(group).is_ok_and(|directory| system.exists(&directory.join("cgroup.procs")))
        };
        let found: Vec<&Hierarchy> = all.iter().filter(exists).collect();
        if found.is_empty() {
            return Err(ControlError::unavailable(
                format!("there is no control group {group}"),
                "create it with `mkdir` below /sys/fs/cgroup, or name another one",
            ));
        }
        Ok(found)
    }

    /// The changes in one hierarchy.
    fn plan_in(
        &self,
        system: &dyn System,
        hierarchy: &Hierarchy,
        token: &str,
        plan: &mut Plan,
    ) -> Result<(), ControlError> {
        let settings = self.settings(hierarchy);
        let group = match &self.place {
            CgroupPlace::Existing(group) => {
                let directory = hierarchy.directory(group)?;
                check_numbers(system, hierarchy, &hierarchy.mount, &self.limits)?;
                let mut changes = Vec::new();
                if self.limits.controllers().is_empty() {
                    check_writable(system, &directory.join("cgroup.procs"))?;
                }
                for setting in &settings {
                    changes.push(change_existing(system, &directory, setting)?);
                }
                order_quota(&mut changes);
                plan.changes.extend(changes.into_iter().map(Change::Cgroup));
                directory
            }
            CgroupPlace::CreatedIn(parent) => {
                let parent = hierarchy.directory(&relative(hierarchy, parent))?;
                check_numbers(system, hierarchy, &parent, &self.limits)?;
                self.plan_created(system, hierarchy, &parent, &settings, token, plan)?
            }
        };
        for pid in &self.processes {
            let process = Process::of_pid(system, *pid)?;
            let from = hierarchy.of_process(system, *pid)?;
            if from == group {
                continue;
            }
            check_writable(system, &from.join("cgroup.procs"))?;
            let mount = hierarchy.mount.clone();
            plan.changes.push(Change::Cgroup(CgroupChange::Move { mount, process, from, to: group.clone() }));
        }
        Ok(())
    }

    /// The settings whose controllers a hierarchy has.
    fn settings(&self, hierarchy: &Hierarchy) -> Vec<Setting> {
        let has = |setting: &Setting| {
            Hierarchy::with_controller(std::slice::from_ref(hierarchy), setting.controller).is_ok()
        };
        self.limits.settings(hierarchy.is_unified).into_iter().filter(has).collect()
    }

    fn plan_created(
        &self,
        system: &dyn System,
        hierarchy: &Hierarchy,
        parent: &Path,
        settings: &[Setting],
        token: &str,
        plan: &mut Plan,
    ) -> Result<PathBuf, ControlError> {
        check_writable(system, parent)?;
        if hierarchy.is_unified {
            plan.changes.extend(enable(system, parent, settings)?);
        }
        let directory = parent.join(format!("{PREFIX}{token}"));
        let home = match self.processes.first() {
            Some(pid) => hierarchy.of_process(system, *pid)?,
            None => parent.to_owned(),
        };
        let create = CgroupChange::Create { directory: directory.clone(), home };
        plan.changes.push(Change::Cgroup(create));
        plan.created.push(Created { kind: "cgroup", name: directory.display().to_string() });
        let set = |file: &str, after: String| {
            Change::Cgroup(CgroupChange::Set { file: directory.join(file), before: None, after })
        };
        if !hierarchy.is_unified && settings.iter().any(|setting| setting.controller == "cpuset") {
            // In version 1, a new group has no CPUs and no memory, and accepts no process.
            for file in ["cpuset.cpus", "cpuset.mems"] {
                if !settings.iter().any(|setting| setting.files.contains(&file)) {
                    let of_parent = read(system, &parent.join(file))?;
                    plan.changes.push(set(file, of_parent.trim_end().to_owned()));
                }
            }
        }
        for setting in settings {
            // The root of version 2 lacks the files of settings, but that of version 1 has them.
            let file = setting.files.iter().find(|file| system.exists(&parent.join(file)));
            let file = match file {
                Some(file) => file,
                None if hierarchy.is_unified => setting.files[0],
                None => return Err(missing_file(setting, parent)),
            };
            plan.changes.push(set(file, setting.value.clone()));
        }
        Ok(directory)
    }
}

impl Control for CgroupControl {
    fn name(&self) -> String {
        match &self.place {
            CgroupPlace::CreatedIn(_) => format!("limits of a new cgroup ({})", self.limits),
            CgroupPlace::Existing(group) => format!("limits of the cgroup {group} ({})", self.limits),
        }
    }

    fn plan(&self, system: &dyn System) -> Result<Plan, ControlError> {
        self.limits.check()?;
        let controllers = self.limits.controllers();
        let all = Hierarchy::all(system)?;
        let mut hierarchies: Vec<&Hierarchy> = Vec::new();
        if controllers.is_empty() {
            hierarchies = self.hierarchies_of_group(system, &all)?;
        }
        for controller in controllers {
            let hierarchy = Hierarchy::with_controller(&all, controller)?;
            if !hierarchies.contains(&hierarchy) {
                hierarchies.push(hierarchy);
            }
        }
        let mut plan = Plan::default();
        let token = token(system)?;
        for hierarchy in hierarchies {
            self.plan_in(system, hierarchy, &token, &mut plan)?;
        }
        Ok(plan)
    }
}

/// In a container, `/` is the group that is mounted.
fn relative(hierarchy: &Hierarchy, parent: &str) -> String {
    if parent == "/" { hierarchy.mounted.clone() } else { parent.to_owned() }
}

fn change_existing(
    system: &dyn System,
    directory: &Path,
    setting: &Setting,
) -> Result<CgroupChange, ControlError> {
    let files = setting.files.iter().map(|file| directory.join(file));
    let file = files.into_iter().find(|file| system.exists(file));
    let file = file.ok_or_else(|| missing_file(setting, directory))?;
    check_writable(system, &file)?;
    let before = setting.restore.text(&read(system, &file)?);
    let after = setting.value.clone();
    Ok(CgroupChange::Set { file, before: Some(before), after })
}

/// In version 1, quota and period are separate files, and the kernel refuses a larger share than that of the parent
/// group. The share must not be larger between the two changes: a shorter period follows the quota.
fn order_quota(changes: &mut [CgroupChange]) {
    let is_shorter = |change: &CgroupChange| match change {
        CgroupChange::Set { file, before: Some(before), after } if file.ends_with("cpu.cfs_period_us") => {
            after.parse::<u64>().ok() < before.parse::<u64>().ok()
        }
        _ => false,
    };
    if let Some(at) = changes.iter().position(is_shorter)
        && at + 1 < changes.len()
    {
        changes.swap(at, at + 1);
    }
}

/// Checks that the CPUs, NUMA nodes and block devices exist.
fn check_numbers(
    system: &dyn System,
    hierarchy: &Hierarchy,
    around: &Path,
    limits: &CgroupLimits,
) -> Result<(), ControlError> {
    for (list, new, old) in [
        (&limits.cpus, "cpuset.cpus.effective", "cpuset.effective_cpus"),
        (&limits.memory_nodes, "cpuset.mems.effective", "cpuset.effective_mems"),
    ] {
        let file = around.join(if hierarchy.is_unified { new } else { old });
        let existing = system.read(&file).ok().and_then(|text| parse_list(text.trim()));
        let (Some(list), Some(existing)) = (list, existing) else { continue };
        let missing =
            parse_list(list).unwrap_or_default().into_iter().find(|number| !existing.contains(number));
        if let Some(number) = missing {
            return Err(ControlError::unavailable(
                format!("{} does not contain {number}", file.display()),
                "choose CPUs and NUMA nodes that the parent of the new group has",
            ));
        }
    }
    for limit in &limits.io_max {
        if !system.exists(&Path::new("/sys/dev/block").join(&limit.device)) {
            return Err(ControlError::unavailable(
                format!("there is no block device {}", limit.device),
                "`lsblk` lists the block devices",
            ));
        }
    }
    Ok(())
}

fn missing_file(setting: &Setting, directory: &Path) -> ControlError {
    let remedy = match setting.files[0] {
        "blkio.weight" | "io.weight" => {
            "weights of disks need the I/O scheduler bfq, or the kernel's io.cost"
        }
        _ => "name an existing group below the root, or enable its controller in its parent group",
    };
    ControlError::unavailable(
        format!("{} has no {}", directory.display(), setting.files.join(" or ")),
        remedy,
    )
}

fn check_writable(system: &dyn System, path: &Path) -> Result<(), ControlError> {
    system.check_writable(path).map_err(|error| {
        ControlError::unavailable(
            format!("{} cannot be changed ({error})", path.display()),
            "run as root or as the owner of the group, outside of containers that mount cgroups read-only",
        )
    })
}

/// The changes that enable the controllers of the settings for the child groups of a group of version 2.
fn enable(system: &dyn System, parent: &Path, settings: &[Setting]) -> Result<Vec<Change>, ControlError> {
    let file = parent.join("cgroup.subtree_control");
    let enabled = read(system, &file)?;
    let offered = read(system, &parent.join("cgroup.controllers"))?;
    let has = |list: &str, name: &str| list.split_ascii_whitespace().any(|other| other == name);
    let mut changes = Vec::new();
    let mut names: Vec<&str> = settings.iter().map(|setting| setting.controller).collect();
    names.dedup();
    for controller in names.into_iter().filter(|name| !has(&enabled, name)) {
        if !has(&offered, controller) {
            return Err(ControlError::unavailable(
                format!("{} does not have the controller {controller}", parent.display()),
                format!("enable it with `echo +{controller} > cgroup.subtree_control` in its parent groups"),
            ));
        }
        // The root has no such file, and may contain processes.
        let is_root = !system.exists(&parent.join("cgroup.type"));
        let is_populated =
            || read(system, &parent.join("cgroup.procs")).is_ok_and(|text| !text.trim().is_empty());
        if !is_root && is_populated() {
            return Err(ControlError::unavailable(
                format!(
                    "{} contains processes, so its groups cannot get the controller {controller}",
                    parent.display()
                ),
                "create the group in the root or in a group without processes",
            ));
        }
        check_writable(system, &file)?;
        let (directory, controller) = (parent.to_owned(), controller.to_owned());
        changes.push(Change::Cgroup(CgroupChange::Enable { directory, controller }));
    }
    Ok(changes)
}
