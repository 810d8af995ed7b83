//! The CPU time of all processes that are no part of the system under test.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};

use busyhour_detection::{SuspectId, Use, Who};
use busyhour_sample::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::budget::Budget;
use crate::fields::{lines, text};
use crate::proc_root::{ProcRoot, read_bounded};
use crate::process::process_cpu_ns;
use crate::process_stat::{PROCESSES_MAX, read_process};

use super::allowed_cpus::AllowedCpus;

/// The number of all processes together that are not listed.
const SHORT_PROCESSES: SuspectId = SuspectId(u64::MAX);

/// Set in the numbers of control groups; those of processes are smaller.
const GROUP: u64 = 1 << 63;

/// The parent of the kernel's threads, which work for all processes.
const KERNEL: u32 = 2;

/// CPU time in cores from which a process is reported to the detector.
const USE_MIN: f64 = 0.002;

/// New processes are found every two seconds, or less often if that takes a quarter percent of a core.
const LIST: Budget = Budget::new(2_000_000_000, 400);

/// A process that is followed.
#[derive(Debug)]
struct Other {
    parent: u32,
    name: Box<str>,
    cgroup: Option<u64>,
    cpu_ns: u64,
    is_seen: bool,
}

/// All other processes.
#[derive(Debug)]
pub(super) struct Others {
    processes: FxHashMap<u32, Other>,
    /// The paths of control groups by their numbers, without the root.
    groups: FxHashMap<u64, Box<str>>,
    list: Budget,
    listed: Option<Nanos>,
    last: Option<Nanos>,
    own_pid: u32,
    uses: Vec<Use>,
}

impl Others {
    pub(super) fn new(root: &ProcRoot) -> Others {
        Others {
            processes: FxHashMap::default(),
            groups: FxHashMap::default(),
            list: LIST,
            listed: None,
            last: None,
            own_pid: if root.is_live() { std::process::id() } else { 0 },
            uses: Vec::new(),
        }
    }

    /// Reads the CPU times. `watched` are the first processes of the system; `used` is the CPU time of the machine in cores.
    pub(super) fn read(&mut self, root: &ProcRoot, now: Nanos, watched: &[u32], used: Option<f64>) {
        let mut list = std::mem::replace(&mut self.list, LIST);
        list.run(now, || self.update_list(root, now));
        self.list = list;
        let elapsed = self.last.map(|last| now.0.saturating_sub(last.0) as f64);
        self.last = Some(now);
        self.uses.clear();
        let own = self.own_processes(watched);
        let (mut all_ns, mut by_group) = (0, FxHashMap::<u64, u64>::default());
        self.processes.retain(|pid, process| {
            let Some(cpu_ns) = process_cpu_ns(*pid).filter(|_| root.is_live()) else { return false };
            let used_ns = cpu_ns.saturating_sub(process.cpu_ns);
            process.cpu_ns = cpu_ns;
            all_ns += used_ns;
            if own.contains(pid) || process.parent == KERNEL {
                return true;
            }
            if let Some(elapsed) = elapsed.filter(|elapsed| *elapsed > 0.0) {
                let cores = used_ns as f64 / elapsed;
                if cores >= USE_MIN {
                    self.uses.push(Use { id: SuspectId(u64::from(*pid)), cores });
                }
                if let Some(group) = process.cgroup {
                    *by_group.entry(group).or_default() += used_ns;
                }
            }
            true
        });
        // The order of a hash map is arbitrary.
        self.uses.sort_unstable_by_key(|one| one.id);
        let Some(elapsed) = elapsed.filter(|elapsed| *elapsed > 0.0) else { return };
        let mut groups: Vec<Use> = by_group
            .into_iter()
            .map(|(group, ns)| Use { id: SuspectId(group), cores: ns as f64 / elapsed })
            .filter(|one| one.cores >= USE_MIN)
            .collect();
        groups.sort_unstable_by_key(|one| one.id);
        self.uses.extend(groups);
        let rest = used.map_or(0.0, |used| used - all_ns as f64 / elapsed);
        // The CPU time of the machine is counted in ticks, which differ by some percent of a core.
        const TICKS: f64 = 0.05;
        if rest > TICKS {
            self.uses.push(Use { id: SHORT_PROCESSES, cores: rest });
        }
    }

    /// Finds new processes.
    fn update_list(&mut self, root: &ProcRoot, now: Nanos) {
        let Ok(pids) = root.pids(PROCESSES_MAX) else { return };
        self.processes.values_mut().for_each(|process| process.is_seen = false);
        let is_first = self.listed.replace(now).is_none();
        for pid in pids {
            if let Some(known) = self.processes.get_mut(&pid) {
                known.is_seen = true;
                continue;
            }
            let Some(entry) = read_process(root, pid) else { continue };
            let cgroup = cgroup_path(root, pid);
            let group = cgroup.as_deref().map(|path| {
                let mut hasher = DefaultHasher::new();
                path.hash(&mut hasher);
                (hasher.finish() | GROUP) & !1
            });
            if let Some((group, path)) = group.zip(cgroup) {
                self.groups.entry(group).or_insert_with(|| path.into());
            }
            // The CPU time of a process that has just started is new.
            let cpu_ns = if is_first { process_cpu_ns(pid).unwrap_or(0) } else { 0 };
            self.processes.insert(
                pid,
                Other {
                    parent: entry.stat.parent,
                    name: entry.command,
                    cgroup: group,
                    cpu_ns,
                    is_seen: true,
                },
            );
        }
        self.processes.retain(|_, process| process.is_seen);
        let used: FxHashSet<u64> = self.processes.values().filter_map(|process| process.cgroup).collect();
        self.groups.retain(|group, _| used.contains(group));
    }

    /// The processes of the system, and this program, with all descendants.
    fn own_processes(&self, watched: &[u32]) -> FxHashSet<u32> {
        let mut children: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (pid, process) in &self.processes {
            children.entry(process.parent).or_default().push(*pid);
        }
        let mut own: FxHashSet<u32> = watched.iter().copied().collect();
        let mut next: Vec<u32> = watched.to_vec();
        while let Some(pid) = next.pop() {
            next.extend(children.remove(&pid).into_iter().flatten().filter(|child| own.insert(*child)));
        }
        own.insert(self.own_pid);
        own
    }

    /// The CPU time since the reading before; processes come before control groups.
    pub(super) fn uses(&self) -> &[Use] {
        &self.uses
    }

    /// Which process or control group a suspect is; `None` if it has ended and is unknown.
    pub(super) fn who(&self, root: &ProcRoot, suspect: SuspectId) -> Option<Who> {
        if suspect == SHORT_PROCESSES {
            return Some(Who::ShortProcesses);
        }
        if suspect.0 & GROUP != 0 {
            return self.groups.get(&suspect.0).map(|path| Who::Cgroup { path: path.to_string() });
        }
        let pid = u32::try_from(suspect.0).ok()?;
        let process = self.processes.get(&pid)?;
        // A program may have been started in the process since it was found.
        let name = read_process(root, pid).map_or_else(|| process.name.clone(), |entry| entry.command);
        let cgroup = process.cgroup.and_then(|group| self.groups.get(&group)).map(ToString::to_string);
        Some(Who::Process { pid, name: name.into(), cgroup })
    }

    /// Whether a suspect may use a CPU that the system may use, too; true if that is unknown.
    pub(super) fn shares_cpus(&self, root: &ProcRoot, suspect: SuspectId, watched: &[u32]) -> bool {
        let Some(pid) = u32::try_from(suspect.0).ok() else { return true };
        let Some(allowed) = AllowedCpus::of_process(root, pid) else { return true };
        watched
            .iter()
            .any(|pid| AllowedCpus::of_process(root, *pid).is_none_or(|watched| watched.overlaps(&allowed)))
    }
}

/// The control group of a process: its path in version 2, or in the hierarchy with the CPU controller; `None` for the root.
fn cgroup_path(root: &ProcRoot, pid: u32) -> Option<String> {
    let bytes = read_bounded(&root.process(pid, "cgroup"), 1 << 14).ok()?;
    let of = |line: &[u8]| -> Option<(bool, String)> {
        let line = text(line);
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next()?, parts.next()?);
        let is_of_cpu = controllers.is_empty() || controllers.split(',').any(|name| name == "cpu");
        Some((is_of_cpu, path.to_owned()))
    };
    lines(&bytes).filter_map(of).find(|(is_of_cpu, path)| *is_of_cpu && path != "/").map(|(_, path)| path)
}
