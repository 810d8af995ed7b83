//! A double of a machine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use busyhour_controls::resctrl::MOUNT;
use busyhour_controls::system::{Output, System};
use busyhour_observe::rdt::ResctrlFiles;

use crate::cgroup_double::Cgroups;
use crate::program_double::Programs;
use crate::resctrl_double::{self, Double};

#[derive(Debug)]
pub struct State {
    pub cgroups: Cgroups,
    pub programs: Programs,
    /// The threads of each process.
    pub processes: BTreeMap<u32, Vec<u32>>,
    /// The groups of resctrl, and the lines that were written to `schemata`.
    pub resctrl: Option<Double>,
    pub schemata: Vec<String>,
    pub boot: &'static str,
    tokens: u32,
}

/// The double. Clones share the state.
#[derive(Clone, Debug)]
pub struct Machine(pub Rc<RefCell<State>>);

/// The threads of the processes that a machine has.
const PROCESSES: [(u32, &[u32]); 3] = [(100, &[100, 101, 102]), (200, &[200]), (300, &[300, 301])];

impl Machine {
    /// Without resctrl.
    pub fn new(mut cgroups: Cgroups) -> Self {
        cgroups.pids.extend(PROCESSES.map(|(pid, _)| pid));
        Self(Rc::new(RefCell::new(State {
            cgroups,
            programs: Programs::default(),
            processes: PROCESSES.map(|(pid, threads)| (pid, threads.to_vec())).into(),
            resctrl: None,
            schemata: Vec::new(),
            boot: "boot 1",
            tokens: 0,
        })))
    }

    /// Process 100 has a thread in the control group `shop`, and one in a monitor group of it.
    pub fn with_resctrl(hardware: resctrl_double::Machine) -> Self {
        // The double writes many files. Its counters are of no use here.
        let _ = tempfile::env::override_temp_dir(Path::new("/dev/shm"));
        let hardware = resctrl_double::Machine { events: &[], ..hardware };
        // Task 400 is started later.
        let mut resctrl = Double::mount(hardware, &[100, 101, 102, 200, 300, 301, 400]);
        resctrl.create_directory(Path::new("shop")).unwrap();
        resctrl.create_directory(Path::new("shop/mon_groups/web")).unwrap();
        for (group, task) in [("shop", 101), ("shop", 102), ("shop/mon_groups/web", 102)] {
            resctrl.write(&Path::new(group).join("tasks"), &format!("{task}")).unwrap();
        }
        let machine = Self::new(Cgroups::version_2());
        machine.0.borrow_mut().resctrl = Some(resctrl);
        machine
    }

    /// The double of resctrl, which the machine must have.
    pub fn resctrl(&self) -> Double {
        self.0.borrow().resctrl.clone().unwrap()
    }

    pub fn version_1() -> Self {
        Self::new(Cgroups::version_1().with_group("/sys/fs/cgroup/cpu/shop", &[100]))
    }

    pub fn version_2() -> Self {
        Self::new(Cgroups::version_2().with_group("/sys/fs/cgroup/shop", &[100]))
    }

    pub fn boxed(&self) -> Box<dyn System> {
        Box::new(self.clone())
    }

    /// Everything that controls can change.
    pub fn snapshot(&self) -> BTreeMap<String, String> {
        let state = self.0.borrow();
        let mut snapshot = state.cgroups.snapshot();
        snapshot.extend(state.programs.snapshot());
        let Some(resctrl) = &state.resctrl else { return snapshot };
        for control in ["".to_owned()].into_iter().chain(groups(resctrl, Path::new(""))) {
            let monitors = groups(resctrl, &Path::new(&control).join("mon_groups"));
            let monitors =
                monitors.into_iter().map(|monitor| Path::new(&control).join("mon_groups").join(monitor));
            for group in [PathBuf::from(&control)].into_iter().chain(monitors) {
                for file in ["tasks", "schemata"] {
                    let text = resctrl.read(&group.join(file)).unwrap_or_default();
                    snapshot.insert(format!("resctrl {} {file}", group.display()), text);
                }
            }
        }
        snapshot
    }

    /// The task 400 is started in the resctrl group of a process, as a thread of it.
    pub fn start_thread(&self, pid: u32, group: &str) {
        let mut state = self.0.borrow_mut();
        state.processes.get_mut(&pid).unwrap().push(400);
        state.resctrl().unwrap().write(&Path::new(group).join("tasks"), "400").unwrap();
    }

    pub fn end_process(&self, pid: u32) {
        let mut state = self.0.borrow_mut();
        state.processes.remove(&pid);
        state.cgroups.end(pid);
    }
}

fn groups(resctrl: &Double, directory: &Path) -> Vec<String> {
    let names = resctrl.directories(directory).unwrap_or_default().into_iter();
    names.filter(|name| !["info", "mon_groups", "mon_data"].contains(&name.as_str())).collect()
}

/// A directory for journals, in memory if possible: tests write many, and each write waits for the disk.
pub fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The path in resctrl.
fn in_resctrl(path: &Path) -> Option<&Path> {
    path.strip_prefix(MOUNT).ok()
}

impl State {
    fn resctrl(&mut self) -> io::Result<&mut Double> {
        self.resctrl.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn proc_file(&mut self, path: &str) -> Option<String> {
        match path {
            "sys/kernel/random/boot_id" => return Some(format!("{}\n", self.boot)),
            "sys/kernel/random/uuid" => {
                self.tokens += 1;
                return Some(format!("{:08x}-0000-4000-8000-000000000000\n", self.tokens));
            }
            "self/mountinfo" => return Some(self.cgroups.mountinfo()),
            "self/status" => return Some("Name:\ttest\nCapEff:\t000001ffffffffff\n".to_owned()),
            _ => {}
        }
        let (pid, file) = path.split_once('/')?;
        let pid = pid.parse().ok().filter(|pid| self.processes.contains_key(pid))?;
        match file {
            "stat" => {
                Some(format!("{pid} (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0\n", pid * 7))
            }
            "cgroup" => Some(self.cgroups.memberships(pid)),
            _ => None,
        }
    }
}

impl System for Machine {
    fn read(&self, path: &Path) -> io::Result<String> {
        let mut state = self.0.borrow_mut();
        if let Ok(file) = path.strip_prefix("/proc") {
            return state.proc_file(file.to_str().unwrap()).ok_or_else(|| io::ErrorKind::NotFound.into());
        }
        match in_resctrl(path) {
            Some(path) => state.resctrl()?.read(path),
            None => state.cgroups.read(path),
        }
    }

    fn directories(&self, path: &Path) -> io::Result<Vec<String>> {
        let mut state = self.0.borrow_mut();
        if let Ok(file) = path.strip_prefix("/proc") {
            let pid = file.iter().next().unwrap().to_str().unwrap().parse().unwrap();
            let threads: &Vec<u32> = state.processes.get(&pid).ok_or(io::ErrorKind::NotFound)?;
            return Ok(threads.iter().map(u32::to_string).collect());
        }
        match in_resctrl(path) {
            Some(path) => state.resctrl()?.directories(path),
            None if state.cgroups.contains(path) => Ok(state.cgroups.children(path)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn exists(&self, path: &Path) -> bool {
        let state = self.0.borrow();
        let name = || path.file_name().unwrap().to_str().unwrap();
        if path.starts_with("/sys/dev/block") {
            return name() == "8:0";
        }
        if path.starts_with("/run/netns") {
            return state.programs.namespaces.contains(name());
        }
        if path.starts_with("/sys/class/net") {
            return state.programs.pairs.contains_key(name());
        }
        match in_resctrl(path) {
            Some(path) => {
                let has = |resctrl: &Double| resctrl.directories(path).is_ok() || resctrl.read(path).is_ok();
                state.resctrl.as_ref().is_some_and(has)
            }
            None => state.cgroups.contains(path),
        }
    }

    fn check_writable(&self, path: &Path) -> io::Result<()> {
        if self.exists(path) { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn write(&self, path: &Path, text: &str) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        match in_resctrl(path) {
            Some(path) => {
                if path.ends_with("schemata") {
                    state.schemata.push(text.to_owned());
                }
                state.resctrl()?.write(path, text)
            }
            None => state.cgroups.write(path, text),
        }
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        match in_resctrl(path) {
            Some(path) => state.resctrl()?.create_directory(path),
            None => state.cgroups.create(path),
        }
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        let mut state = self.0.borrow_mut();
        match in_resctrl(path) {
            Some(path) => state.resctrl()?.remove_directory(path),
            None => state.cgroups.remove(path),
        }
    }

    fn run(&self, program: &str, arguments: &[String]) -> io::Result<Output> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Ok(self.0.borrow_mut().programs.run(program, &words))
    }

    fn wait_for_exit(&self, pid: u32) {
        assert!(self.0.borrow().cgroups.ending.contains(&pid), "process {pid} is not ending");
        self.end_process(pid);
    }
}
