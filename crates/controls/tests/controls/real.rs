//! Controls on this machine. Tests are skipped, with the reason, where they are not permitted.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use busyhour_controls::cgroup::{CgroupControl, CgroupLimits, CpuQuota};
use busyhour_controls::control::{Availability, Control};
use busyhour_controls::journal::JournalError;
use busyhour_controls::linux::LinuxSystem;
use busyhour_controls::netem::{Addresses, Emulation, NetemControl};
use busyhour_controls::pqos::PqosControl;
use busyhour_controls::treatments::{Treatments, restore};

use crate::programs::write_program;

/// The variable that contains the process to move or the `pqos` to run, and the journal, for a test that is run as a program to be killed.
const TO_BE_KILLED: &str = "BUSYHOUR_CONTROLS_TO_BE_KILLED";

fn system() -> Box<LinuxSystem> {
    Box::new(LinuxSystem::new())
}

/// A process that waits until it is dropped.
struct Waiting(Child);

impl Waiting {
    fn start() -> Self {
        // It ends when its input is closed.
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn cgroups(&self) -> String {
        fs::read_to_string(format!("/proc/{}/cgroup", self.0.id())).unwrap()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn limits() -> CgroupLimits {
    CgroupLimits {
        cpu_quota: Some(CpuQuota { quota_us: 20_000, period_us: 100_000 }),
        cpus: Some("0".to_owned()),
        cpu_weight: Some(50),
        ..CgroupLimits::default()
    }
}

/// Whether the control is available here; if not, the reason is printed.
fn is_available(control: &dyn Control) -> bool {
    match control.check(&LinuxSystem::new()) {
        Availability::Available { .. } => true,
        Availability::Unavailable { reason } => {
            eprintln!("SKIPPED: {}: {reason}", control.name());
            false
        }
    }
}

#[test]
fn a_real_cgroup_is_created_and_removed() {
    let process = Waiting::start();
    let control = CgroupControl::new(limits(), vec![process.0.id()]);
    if !is_available(&control) {
        return;
    }
    let before = process.cgroups();
    let dir = tempfile::tempdir().unwrap();
    let mut treatments = Treatments::begin(system(), &dir.path().join("journal")).unwrap();
    let (applied, created) = control.apply(&mut treatments).unwrap();
    assert_ne!(process.cgroups(), before);
    let read = |file: &str| {
        created.iter().find_map(|group| fs::read_to_string(Path::new(&group.name).join(file)).ok())
    };
    let quota = read("cpu.max").or_else(|| read("cpu.cfs_quota_us")).unwrap();
    assert!(quota.starts_with("20000"), "{quota}");
    assert_eq!(read("cpuset.cpus").unwrap(), "0\n");
    let restoration = control.undo(&mut treatments, &applied);
    assert!(restoration.is_complete(), "{restoration:?}");
    assert_eq!(process.cgroups(), before);
    assert!(!created.iter().any(|group| Path::new(&group.name).exists()));
}

#[test]
fn a_real_cgroup_is_removed_while_its_processes_end() {
    let mut processes: Vec<Waiting> = (0..5).map(|_| Waiting::start()).collect();
    let pids = processes.iter().map(|process| process.0.id()).collect();
    let control = CgroupControl::new(limits(), pids);
    if !is_available(&control) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut treatments = Treatments::begin(system(), &dir.path().join("journal")).unwrap();
    control.apply(&mut treatments).unwrap();
    for process in &mut processes {
        process.0.kill().unwrap();
    }
    let restoration = treatments.undo_all();
    assert!(restoration.is_complete(), "{restoration:?}");
}

#[test]
fn a_real_cgroup_is_restored_after_kill_9() {
    let process = Waiting::start();
    if !is_available(&CgroupControl::new(limits(), vec![process.0.id()])) {
        return;
    }
    let before = process.cgroups();
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let mut program = start(&format!("{} {}", process.0.id(), journal.display()));
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with("applied")), "the program did not apply the control");
    let during = process.cgroups();
    assert_ne!(during, before);
    // `kill` sends SIGKILL.
    program.kill().unwrap();
    program.wait().unwrap();
    assert_eq!(process.cgroups(), during);

    let restoration = restore(system(), &journal).unwrap();
    assert!(restoration.is_complete() && restoration.changes.len() > 4, "{restoration:?}");
    assert_eq!(process.cgroups(), before);
    let group = during.lines().find_map(|line| line.split_once("busyhour-")).unwrap().1;
    assert_eq!(directories_with(group), Vec::<PathBuf>::new());
    assert!(restore(system(), &journal).unwrap().changes.is_empty());
}

#[test]
fn a_journal_is_not_restored_while_a_command_runs() {
    let dir = tempfile::tempdir_in(std::env::temp_dir()).unwrap();
    let (journal, fifo, program) =
        (dir.path().join("journal"), dir.path().join("fifo"), dir.path().join("pqos"));
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    // Changing an association waits until the test writes to the pipe.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in\n-s) echo 'Core 0, L2ID 0, L3ID 0 => COS0';;\n\
         *core:1=0) echo started > {0}; read line < {0};;\nesac\n",
        fifo.display()
    );
    write_program(&program, &script);
    let mut parent = start(&format!("{} {}", program.display(), journal.display()));
    let mut line = String::new();
    BufReader::new(fs::File::open(&fifo).unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    parent.kill().unwrap();
    parent.wait().unwrap();

    assert!(matches!(restore(system(), &journal), Err(JournalError::InUse { .. })));
    fs::write(&fifo, "end\n").unwrap();
    // The lock is free when the command has ended.
    drop(fs::File::open(&journal).unwrap().lock());
    let restoration = restore(system(), &journal).unwrap();
    assert!(restoration.is_complete() && restoration.changes.len() == 1, "{restoration:?}");
}

/// Starts the test below as a program.
fn start(argument: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "real::a_program_that_is_killed", "--nocapture"])
        .env(TO_BE_KILLED, argument)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Groups below the mount points of cgroups whose name contains a text.
fn directories_with(text: &str) -> Vec<PathBuf> {
    let root = fs::read_dir("/sys/fs/cgroup").unwrap().flatten().map(|entry| entry.path());
    let below = |path: PathBuf| {
        let entries = fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.chain([path.clone()]).collect::<Vec<_>>()
    };
    root.flat_map(below).filter(|path| path.display().to_string().contains(text)).collect()
}

/// Applies a control, reports it and waits. It does nothing unless another test starts it.
#[test]
fn a_program_that_is_killed() {
    let Ok(argument) = std::env::var(TO_BE_KILLED) else { return };
    let (what, journal) = argument.split_once(' ').unwrap();
    let mut treatments = Treatments::begin(system(), journal.as_ref()).unwrap();
    let control: Box<dyn Control> = match what.parse() {
        Ok(pid) => Box::new(CgroupControl::new(limits(), vec![pid])),
        Err(_) => {
            Box::new(PqosControl { program: what.to_owned(), ..PqosControl::new(1, Vec::new(), vec![0]) })
        }
    };
    control.apply(&mut treatments).unwrap();
    let mut output = std::io::stdout();
    output.write_all(b"applied\n").unwrap();
    output.flush().unwrap();
    let _ = std::io::stdin().read(&mut [0]);
}

#[test]
fn a_real_network_is_created_and_removed() {
    // Addresses that differ from the default ones, for a machine where those are in use.
    let addresses = Addresses { outside: "198.19.254.1".to_owned(), inside: "198.19.254.2".to_owned() };
    let delay = Emulation { delay: Duration::from_millis(30), ..Emulation::default() };
    let control =
        NetemControl { addresses: addresses.clone(), to_namespace: delay, ..NetemControl::default() };
    if !is_available(&control) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let journal = dir.path().join("journal");
    let mut treatments = Treatments::begin(system(), &journal).unwrap();
    let created = match control.apply(&mut treatments) {
        Ok((_, created)) => created,
        Err(error) => {
            eprintln!("SKIPPED: {}: {error}", control.name());
            return;
        }
    };
    let [namespace, interface, _] = &created[..] else { panic!("{created:?}") };
    let show = Command::new("tc").args(["qdisc", "show", "dev", &interface.name]).output().unwrap();
    let show = String::from_utf8(show.stdout).unwrap();
    assert!(show.contains("netem") && show.contains("delay 30ms"), "{show}");
    // The namespace is reachable: it refuses a connection, because nothing listens there.
    let address = format!("{}:9", addresses.inside).parse().unwrap();
    let error = TcpStream::connect_timeout(&address, Duration::from_secs(10)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused, "{error}");
    assert!(TcpListener::bind((addresses.outside.as_str(), 0)).is_ok());

    // As after a kill: the journal is restored by another program.
    let content = fs::read(&journal).unwrap();
    let other = dir.path().join("other");
    fs::write(&other, content).unwrap();
    let restoration = restore(system(), &other).unwrap();
    assert!(restoration.is_complete(), "{restoration:?}");
    assert!(!Path::new("/run/netns").join(&namespace.name).exists());
    assert!(!Path::new("/sys/class/net").join(&interface.name).exists());
    // Undoing again finds nothing.
    assert!(treatments.undo_all().is_complete());
}
