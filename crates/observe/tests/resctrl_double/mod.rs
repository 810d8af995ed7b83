//! A double of Linux's resctrl file system: a directory whose files follow the kernel's rules.
//!
//! Reading uses the real code ([`MountedFiles`]) on a temporary directory. Creating, removing and writing follow the
//! rules of `fs/resctrl`:
//!
//! - identifiers run out,
//! - masks and values are checked,
//! - a task is in exactly one control group and in at most one of its monitor groups,
//! - the tasks of a removed group are returned to its parent,
//! - `info/last_cmd_status` contains the reason of a failure.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use busyhour_observe::rdt::schemata::parse_schemata;
use busyhour_observe::rdt::{MountedFiles, ResctrlFiles};

/// The hardware of the machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Sockets, each with one cache.
    pub sockets: u32,
    /// NUMA nodes per cache; above 1 with sub-NUMA clustering.
    pub nodes_per_socket: u32,
    /// Ways of a cache.
    pub ways: u32,
    /// Bytes of a cache.
    pub cache_bytes: u64,
    /// The smallest number of ways in a mask.
    pub min_cbm_bits: u32,
    /// Whether masks may have gaps.
    pub sparse_masks: bool,
    /// Whether code and data have separate masks (mounted with `cdp`).
    pub cdp: bool,
    /// The largest number of control groups, the default group included.
    pub closids: u32,
    /// The largest number of monitored groups, the default group included.
    pub rmids: u32,
    /// Smallest value and step of the memory bandwidth in percent; `None` without this control.
    pub bandwidth: Option<(u32, u32)>,
    /// The events of caches: Arm's MPAM lacks `mbm_local_bytes`.
    pub events: &'static [&'static str],
    /// Hardware counters for `mbm_*` events that are assigned to groups; `None` if every group has its own.
    pub assignable: Option<u32>,
    /// Whether packages count `core_energy` and `activity`.
    pub energy: bool,
}

impl Default for Machine {
    /// Two sockets, each with a cache of 20 ways and 55 MiB.
    fn default() -> Self {
        Machine {
            sockets: 2,
            nodes_per_socket: 1,
            ways: 20,
            cache_bytes: 55 << 20,
            min_cbm_bits: 1,
            sparse_masks: false,
            cdp: false,
            closids: 16,
            rmids: 88,
            bandwidth: None,
            events: &["llc_occupancy", "mbm_total_bytes", "mbm_local_bytes"],
            assignable: None,
            energy: false,
        }
    }
}

/// The activity of a task per second.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    /// Socket on which it runs.
    pub socket: u32,
    /// Bytes that it keeps in the cache if there is room.
    pub working_set: u64,
    /// Bytes of memory traffic.
    pub traffic: u64,
    /// Joules.
    pub energy: f64,
}

#[derive(Clone, Debug, Default)]
struct Counters {
    /// One value per domain, as in the following fields.
    occupancy: Vec<f64>,
    total: Vec<u64>,
    local: Vec<u64>,
    energy: Vec<f64>,
    /// Whether a hardware counter is assigned.
    is_assigned: bool,
}

#[derive(Debug)]
struct State {
    machine: Machine,
    dir: tempfile::TempDir,
    /// Control groups with their allocations by resource and domain; the default group has the name "".
    controls: BTreeMap<String, BTreeMap<String, Vec<u64>>>,
    /// Monitored groups by control group and name; a control group itself has the name "".
    monitors: BTreeMap<(String, String), Counters>,
    /// The control and monitor group of each task.
    tasks: BTreeMap<u32, (String, String)>,
}

/// The double. Clones share the state.
#[derive(Clone, Debug)]
pub struct Double(Arc<Mutex<State>>);

fn refuse(errno: i32, status: impl Into<String>) -> (io::Error, String) {
    (io::Error::from_raw_os_error(errno), status.into())
}

const EINVAL: i32 = 22;
const ENOSPC: i32 = 28;
const EEXIST: i32 = 17;
const ENOENT: i32 = 2;
const ESRCH: i32 = 3;
const EPERM: i32 = 1;

type Outcome = Result<(), (io::Error, String)>;

impl Double {
    /// A freshly mounted file system with these tasks in the default group.
    pub fn mount(machine: Machine, tasks: &[u32]) -> Double {
        let mut state = State {
            dir: tempfile::tempdir().unwrap(),
            controls: BTreeMap::new(),
            monitors: BTreeMap::new(),
            tasks: tasks.iter().map(|task| (*task, (String::new(), String::new()))).collect(),
            machine,
        };
        state.add_control("");
        state.write_info();
        state.write_all();
        Double(Arc::new(Mutex::new(state)))
    }

    /// Advances the time by a second, in which tasks have these demands.
    pub fn tick(&self, demands: &[(u32, Demand)]) {
        let mut state = self.0.lock().unwrap();
        state.tick(demands);
        state.write_all();
    }

    /// Replaces the value of a counter by a text, until the next tick.
    pub fn overwrite(&self, path: &str, text: &str) {
        let state = self.0.lock().unwrap();
        fs::write(state.dir.path().join(path), text).unwrap();
    }

    /// Assigns a hardware counter to a control group.
    pub fn assign_counter(&self, control: &str) -> bool {
        let mut state = self.0.lock().unwrap();
        let used = state.monitors.values().filter(|counters| counters.is_assigned).count();
        let is_free = state.machine.assignable.is_some_and(|counters| used < counters as usize);
        if is_free {
            let counters = state.monitors.get_mut(&(control.to_owned(), String::new())).unwrap();
            counters.is_assigned = true;
            state.write_all();
        }
        is_free
    }

    fn files(&self) -> MountedFiles {
        MountedFiles::new(self.0.lock().unwrap().dir.path())
    }

    /// Makes a change, sets `last_cmd_status`, and writes all files.
    fn change(&self, change: impl FnOnce(&mut State) -> Outcome) -> io::Result<()> {
        let mut state = self.0.lock().unwrap();
        let outcome = change(&mut state);
        let status = outcome.as_ref().err().map_or("ok", |(_, status)| status);
        fs::write(state.dir.path().join("info/last_cmd_status"), format!("{status}\n")).unwrap();
        state.write_all();
        outcome.map_err(|(error, _)| error)
    }
}

impl ResctrlFiles for Double {
    fn read(&self, path: &Path) -> io::Result<String> {
        self.files().read(path)
    }

    fn directories(&self, path: &Path) -> io::Result<Vec<String>> {
        self.files().directories(path)
    }

    fn files(&self, path: &Path) -> io::Result<Vec<String>> {
        ResctrlFiles::files(&self.files(), path)
    }

    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let (group, file) = (path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap());
        let (control, monitor) = split(group);
        self.change(|state| {
            if !state.monitors.contains_key(&(control.clone(), monitor.clone())) {
                return Err(refuse(ENOENT, "ok"));
            }
            match file {
                "tasks" => state.move_task(&control, &monitor, text),
                "schemata" if monitor.is_empty() => state.allocate(&control, text),
                _ => Err(refuse(EPERM, "ok")),
            }
        })
    }

    fn create_directory(&mut self, path: &Path) -> io::Result<()> {
        let (control, monitor) = split(path);
        self.change(|state| state.create(&control, &monitor))
    }

    fn remove_directory(&mut self, path: &Path) -> io::Result<()> {
        let (control, monitor) = split(path);
        self.change(|state| state.remove(&control, &monitor))
    }
}

/// The control group and the monitor group of a directory.
fn split(path: &Path) -> (String, String) {
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap()).collect();
    match parts[..] {
        [] => (String::new(), String::new()),
        ["mon_groups", monitor] => (String::new(), monitor.to_owned()),
        [control] => (control.to_owned(), String::new()),
        [control, "mon_groups", monitor] => (control.to_owned(), monitor.to_owned()),
        _ => panic!("no group: {}", path.display()),
    }
}

impl State {
    fn full_mask(&self) -> u64 {
        (1 << self.machine.ways) - 1
    }

    fn caches(&self) -> &'static [&'static str] {
        if self.machine.cdp { &["L3CODE", "L3DATA"] } else { &["L3"] }
    }

    fn closids(&self) -> usize {
        // Code and data need an identifier each.
        (self.machine.closids / if self.machine.cdp { 2 } else { 1 }) as usize
    }

    fn domains(&self) -> usize {
        self.machine.sockets as usize
    }

    fn add_control(&mut self, name: &str) {
        let full = vec![self.full_mask(); self.domains()];
        let mut allocation: BTreeMap<String, Vec<u64>> =
            self.caches().iter().map(|cache| ((*cache).to_owned(), full.clone())).collect();
        if self.machine.bandwidth.is_some() {
            allocation.insert("MB".to_owned(), vec![100; self.domains()]);
        }
        self.controls.insert(name.to_owned(), allocation);
        self.add_monitor(name, "");
    }

    fn add_monitor(&mut self, control: &str, monitor: &str) {
        let domains = self.domains();
        let counters = Counters {
            occupancy: vec![0.0; domains],
            total: vec![0; domains],
            local: vec![0; domains],
            energy: vec![0.0; domains],
            is_assigned: false,
        };
        self.monitors.insert((control.to_owned(), monitor.to_owned()), counters);
    }

    fn create(&mut self, control: &str, monitor: &str) -> Outcome {
        let reserved = ["info", "mon_groups", "mon_data"];
        let is_known = self.monitors.contains_key(&(control.to_owned(), monitor.to_owned()));
        if is_known || reserved.contains(&control) {
            return Err(refuse(EEXIST, "ok"));
        }
        if !monitor.is_empty() && !self.controls.contains_key(control) {
            return Err(refuse(ENOENT, "ok"));
        }
        if monitor.is_empty() && self.controls.len() == self.closids() {
            return Err(refuse(ENOSPC, "Out of CLOSIDs"));
        }
        if self.monitors.len() == self.machine.rmids as usize {
            return Err(refuse(ENOSPC, "Out of RMIDs"));
        }
        if monitor.is_empty() {
            self.add_control(control);
        } else {
            self.add_monitor(control, monitor);
        }
        Ok(())
    }

    fn remove(&mut self, control: &str, monitor: &str) -> Outcome {
        if control.is_empty() && monitor.is_empty() {
            return Err(refuse(EPERM, "ok"));
        }
        if self.monitors.remove(&(control.to_owned(), monitor.to_owned())).is_none() {
            return Err(refuse(ENOENT, "ok"));
        }
        if monitor.is_empty() {
            self.controls.remove(control);
            self.monitors.retain(|(of, _), _| of != control);
        }
        for group in self.tasks.values_mut().filter(|group| group.0 == control) {
            if monitor.is_empty() {
                *group = (String::new(), String::new());
            } else if group.1 == monitor {
                group.1.clear();
            }
        }
        fs::remove_dir_all(self.dir.path().join(directory(control, monitor))).unwrap();
        Ok(())
    }

    fn move_task(&mut self, control: &str, monitor: &str, text: &str) -> Outcome {
        let task: u32 =
            text.trim().parse().map_err(|_| refuse(EINVAL, format!("Task list parsing error pid {text}")))?;
        let group = self.tasks.get_mut(&task).ok_or_else(|| refuse(ESRCH, format!("No task {task}")))?;
        if !monitor.is_empty() && group.0 != control {
            return Err(refuse(EINVAL, "Can't move task to different control group"));
        }
        *group = (control.to_owned(), monitor.to_owned());
        Ok(())
    }

    fn allocate(&mut self, control: &str, text: &str) -> Outcome {
        if !text.ends_with('\n') {
            return Err(refuse(EINVAL, "ok"));
        }
        let schemata = parse_schemata(text).map_err(|error| refuse(EINVAL, error.to_string()))?;
        let mut allocation = self.controls[control].clone();
        for schema in schemata {
            let resource = schema.resource.as_str();
            let unknown = || refuse(EINVAL, format!("Unknown or unsupported resource name '{resource}'"));
            let values = allocation.get_mut(resource).ok_or_else(unknown)?;
            for (domain, value) in schema.domains {
                let place = values.get_mut(domain as usize);
                let place = place.ok_or_else(|| refuse(EINVAL, format!("Unknown domain {domain}")))?;
                *place =
                    if resource == "MB" { self.check_bandwidth(&value)? } else { self.check_mask(&value)? };
            }
        }
        self.controls.insert(control.to_owned(), allocation);
        Ok(())
    }

    fn check_mask(&self, text: &str) -> Result<u64, (io::Error, String)> {
        let mask = u64::from_str_radix(text, 16)
            .map_err(|_| refuse(EINVAL, format!("Non-hex character in the mask {text}")))?;
        if mask == 0 || mask > self.full_mask() {
            return Err(refuse(EINVAL, "Mask out of range"));
        }
        let shifted = mask >> mask.trailing_zeros();
        if !self.machine.sparse_masks && shifted & (shifted + 1) != 0 {
            return Err(refuse(EINVAL, format!("The mask {mask:x} has non-consecutive 1-bits")));
        }
        if mask.count_ones() < self.machine.min_cbm_bits {
            return Err(refuse(
                EINVAL,
                format!("Need at least {} bits in the mask", self.machine.min_cbm_bits),
            ));
        }
        Ok(mask)
    }

    fn check_bandwidth(&self, text: &str) -> Result<u64, (io::Error, String)> {
        let (min, step) = self.machine.bandwidth.unwrap();
        let value: u32 = text.parse().map_err(|_| refuse(EINVAL, format!("Invalid MB value {text}")))?;
        if !(min..=100).contains(&value) {
            return Err(refuse(EINVAL, format!("MB value {value} out of range [{min},100]")));
        }
        Ok(u64::from(value.next_multiple_of(step).min(100)))
    }

    /// The share of the cache that a group may fill.
    fn allowed_bytes(&self, control: &str, socket: usize) -> f64 {
        let cache = self.caches().last().unwrap();
        let ways = self.controls[control][*cache][socket].count_ones();
        self.machine.cache_bytes as f64 * f64::from(ways) / f64::from(self.machine.ways)
    }

    fn tick(&mut self, demands: &[(u32, Demand)]) {
        let mut wanted: BTreeMap<(String, String), Vec<f64>> = BTreeMap::new();
        for (task, demand) in demands {
            let group = self.tasks[task].clone();
            let socket = demand.socket as usize;
            let counters = self.monitors.get_mut(&group).unwrap();
            let is_counted = self.machine.assignable.is_none() || counters.is_assigned;
            if is_counted {
                counters.total[socket] += demand.traffic;
                counters.local[socket] += demand.traffic / 4 * 3;
            }
            counters.energy[socket] += demand.energy;
            wanted.entry(group).or_insert_with(|| vec![0.0; self.machine.sockets as usize])[socket] +=
                demand.working_set as f64;
        }
        for (group, wanted) in wanted {
            for (socket, wanted) in wanted.into_iter().enumerate() {
                let goal = wanted.min(self.allowed_bytes(&group.0, socket));
                // A cache fills and drains slowly.
                let occupancy = &mut self.monitors.get_mut(&group).unwrap().occupancy[socket];
                *occupancy += (goal - *occupancy) / 4.0;
            }
        }
    }

    fn write(&self, path: impl AsRef<Path>, text: impl AsRef<str>) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text.as_ref()).unwrap();
    }

    fn write_info(&self) {
        let machine = &self.machine;
        for cache in self.caches() {
            let file = |name: &str| format!("info/{cache}/{name}");
            self.write(file("num_closids"), format!("{}\n", self.closids()));
            self.write(file("cbm_mask"), format!("{:x}\n", self.full_mask()));
            self.write(file("min_cbm_bits"), format!("{}\n", machine.min_cbm_bits));
            self.write(file("shareable_bits"), "0\n");
            self.write(file("sparse_masks"), format!("{}\n", u8::from(machine.sparse_masks)));
        }
        if let Some((min, step)) = machine.bandwidth {
            self.write("info/MB/num_closids", format!("{}\n", self.closids()));
            self.write("info/MB/min_bandwidth", format!("{min}\n"));
            self.write("info/MB/bandwidth_gran", format!("{step}\n"));
            self.write("info/MB/delay_linear", "1\n");
        }
        self.write("info/L3_MON/num_rmids", format!("{}\n", machine.rmids));
        self.write("info/L3_MON/mon_features", format!("{}\n", machine.events.join("\n")));
        self.write("info/L3_MON/max_threshold_occupancy", "65536\n");
        if let Some(counters) = machine.assignable {
            self.write("info/L3_MON/mbm_assign_mode", "[mbm_event]\ndefault\n");
            self.write("info/L3_MON/num_mbm_cntrs", format!("0={counters};1={counters}\n"));
        }
        if machine.energy {
            self.write("info/PERF_PKG_MON/num_rmids", format!("{}\n", machine.rmids));
            self.write("info/PERF_PKG_MON/mon_features", "core_energy\nactivity\nuops_retired\n");
        }
        self.write("info/last_cmd_status", "ok\n");
    }

    fn write_all(&self) {
        for (control, monitor) in self.monitors.keys() {
            let dir = directory(control, monitor);
            let is_member =
                |group: &(String, String)| group.0 == *control && (monitor.is_empty() || group.1 == *monitor);
            let tasks: String = self
                .tasks
                .iter()
                .filter(|(_, group)| is_member(group))
                .map(|(task, _)| format!("{task}\n"))
                .collect();
            self.write(dir.join("tasks"), tasks);
            self.write(dir.join("cpus"), "0\n");
            self.write(dir.join("cpus_list"), "\n");
            if monitor.is_empty() {
                fs::create_dir_all(self.dir.path().join(&dir).join("mon_groups")).unwrap();
                self.write(dir.join("mode"), "shareable\n");
                self.write(dir.join("schemata"), self.schemata(control));
            }
            self.write_counters(control, monitor, &dir.join("mon_data"));
        }
    }

    fn schemata(&self, control: &str) -> String {
        let line = |(resource, values): (&String, &Vec<u64>)| {
            let values = values.iter().enumerate().map(|(domain, value)| {
                if resource == "MB" { format!("{domain}={value:4}") } else { format!("{domain}={value:05x}") }
            });
            format!("{resource:>6}:{}\n", values.collect::<Vec<_>>().join(";"))
        };
        self.controls[control].iter().map(line).collect()
    }

    /// The counters of a group; a control group includes its monitor groups.
    fn write_counters(&self, control: &str, monitor: &str, dir: &Path) {
        let is_part =
            |(of, name): &(String, String)| *of == control && (monitor.is_empty() || name == monitor);
        let parts: Vec<&Counters> =
            self.monitors.iter().filter(|(key, _)| is_part(key)).map(|(_, counters)| counters).collect();
        let own = &self.monitors[&(control.to_owned(), monitor.to_owned())];
        for socket in 0..self.domains() {
            for event in self.machine.events {
                let value = match *event {
                    "llc_occupancy" => parts.iter().map(|part| part.occupancy[socket]).sum::<f64>() as u64,
                    "mbm_total_bytes" => parts.iter().map(|part| part.total[socket]).sum(),
                    _ => parts.iter().map(|part| part.local[socket]).sum(),
                };
                let is_unassigned =
                    event.starts_with("mbm") && self.machine.assignable.is_some() && !own.is_assigned;
                let text = if is_unassigned { "Unassigned\n".to_owned() } else { format!("{value}\n") };
                let domain = dir.join(format!("mon_L3_{socket:02}"));
                self.write(domain.join(event), &text);
                for node in 0..self.machine.nodes_per_socket {
                    if self.machine.nodes_per_socket > 1 {
                        let number = socket as u32 * self.machine.nodes_per_socket + node;
                        let share = value / u64::from(self.machine.nodes_per_socket);
                        self.write(
                            domain.join(format!("mon_sub_L3_{number:02}")).join(event),
                            format!("{share}\n"),
                        );
                    }
                }
            }
            if self.machine.energy {
                let energy: f64 = parts.iter().map(|part| part.energy[socket]).sum();
                let domain = dir.join(format!("mon_PERF_PKG_{socket:02}"));
                self.write(domain.join("core_energy"), format!("{energy:.6}\n"));
                self.write(domain.join("activity"), format!("{:.6}\n", energy / 2.0));
                self.write(domain.join("uops_retired"), format!("{}\n", (energy * 1e9) as u64));
            }
        }
    }
}

fn directory(control: &str, monitor: &str) -> PathBuf {
    let control = PathBuf::from(control);
    if monitor.is_empty() { control } else { control.join("mon_groups").join(monitor) }
}
