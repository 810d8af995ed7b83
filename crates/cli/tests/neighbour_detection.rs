//! A neighbour on the CPU of a lab server is named while the run is in progress, and in its results.
//!
//! The test has a program of its own, so that no other test loads the machine at the same time. It is skipped with a note if the server
//! cannot be tied to a CPU, if there is no JDK for it, if the machine has no second CPU for the load, or if other processes keep the machine
//! busy, because they are neighbours, too. It asserts no times: it waits until the neighbour is named.
#![cfg(all(target_os = "linux", feature = "demo"))]
#![allow(clippy::print_stderr, reason = "skipped tests must be visible")]

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde_json::Value;

/// Timeout for a detection that hangs. Usually it takes half a minute.
const PATIENCE: Duration = Duration::from_secs(180);

/// Readings of the system before the neighbour starts.
const READINGS_BEFORE: usize = 25;

/// The share of the machine's CPU time that must be idle before the neighbour starts.
const IDLE_MIN: f64 = 0.5;

/// A process that is killed at the end of the test.
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program on a CPU. Its output is written to files in `dir`.
fn start(dir: &Path, name: &str, cpu: usize, line: &str) -> Guarded {
    let file = |kind: &str| File::create(dir.join(format!("{name}.{kind}"))).unwrap();
    let child = Command::new("taskset")
        .args(["-c", &cpu.to_string(), env!("CARGO_BIN_EXE_busyhour")])
        .args(line.split(' '))
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(file("out"))
        .stderr(file("err"))
        .spawn();
    Guarded(child.unwrap())
}

fn wait_for<T>(what: &str, dir: &Path, mut condition: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(value) = condition() {
            return value;
        }
        let log = || std::fs::read_to_string(dir.join("run.err")).unwrap_or_default();
        assert!(began.elapsed() < PATIENCE, "timeout while waiting for: {what}\n{}", log());
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// The CPUs of the server and of the load; `None` with a note if the server cannot have a CPU of its own.
fn cpus() -> Option<(usize, usize)> {
    let set = sched_getaffinity(None).ok()?;
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect();
    let [server, load, ..] = cpus[..] else {
        eprintln!("SKIPPED: the detection of a neighbour needs two CPUs");
        return None;
    };
    let pinned = Command::new("taskset").args(["-c", &server.to_string(), "true"]).status();
    if !pinned.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: a server cannot be tied to a CPU: taskset is missing or not permitted");
        return None;
    }
    Some((server, load))
}

/// Ticks of all CPUs: idle, and all of them.
fn ticks() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/stat").unwrap();
    let first = text.lines().next().unwrap();
    let all: Vec<f64> =
        first.split_whitespace().skip(1).take(8).map(|field| field.parse().unwrap()).collect();
    (all[3], all.iter().sum())
}

/// The number of readings of the server's time of waiting.
fn readings(dir: &Path) -> usize {
    let line = "export run --series --metric process_run_queue_wait_seconds_total --to csv";
    let exported =
        Command::new(env!("CARGO_BIN_EXE_busyhour")).args(line.split(' ')).current_dir(dir).output().unwrap();
    exported.stdout.split(|byte| *byte == b'\n').filter(|line| line.contains(&b',')).count().saturating_sub(1)
}

#[test]
fn a_neighbour_on_the_cpu_of_the_server_is_named() {
    let Some((server_cpu, load_cpu)) = cpus() else { return };
    if std::fs::read("/proc/self/schedstat").is_err() {
        eprintln!("SKIPPED: the kernel does not count the time in which threads wait for a CPU");
        return;
    }
    if Command::new("javac").arg("-version").output().is_err() {
        eprintln!("SKIPPED: there is no javac, so the cells emulator is not started");
        return;
    }
    let room = tempfile::tempdir().unwrap();
    let dir = room.path();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    // The emulator uses CPU time in pieces of some milliseconds. A server with short pieces is hardly slowed down by a neighbour.
    let _server = start(dir, "server", server_cpu, "lab server cells --port 0 --dir logs");
    let (port, pid) = wait_for("the server listens", dir, || {
        let (printed, told) = (read("server.out"), read("server.err"));
        let port = printed.trim_end().strip_prefix("listening on http://127.0.0.1:")?.to_owned();
        let pid = told.split("process ").nth(1)?.split(';').next()?.to_owned();
        Some((port, pid))
    });
    let url = format!("http://127.0.0.1:{port}/cells?config=2");
    let line = format!("run {url} --rate 30/s --for 30min --dir run --observe os,process:{pid}");
    let mut run = start(dir, "run", load_cpu, &line);
    let (idle, all) = ticks();
    wait_for("readings without a neighbour", dir, || (readings(dir) >= READINGS_BEFORE).then_some(()));
    let (idle, all) = (ticks().0 - idle, ticks().1 - all);
    if idle < IDLE_MIN * all {
        eprintln!(
            "SKIPPED: other processes keep the machine busy; only {:.0} % are idle",
            100.0 * idle / all
        );
        return;
    }
    let neighbour =
        start(dir, "neighbour", server_cpu, &format!("lab neighbour cpu --cores {server_cpu} --for 10min"));
    let who = format!("while process {} (busyhour)", neighbour.0.id());
    let line = wait_for("the neighbour is named", dir, || {
        read("run.err").lines().find(|line| line.contains(&who)).map(str::to_owned)
    });
    assert!(line.contains("Neighbour: ") && line.contains("for a CPU instead of "), "{line}");
    kill_process(Pid::from_child(&run.0), Signal::INT).unwrap();
    run.0.wait().unwrap();
    let summary: Value = serde_json::from_str(&read("run/summary.json")).unwrap();
    let Some(found) = summary["neighbours"]["found"].as_array() else {
        panic!(
            "no neighbour is in the summary: {}\n{}\n{line}",
            summary["neighbours"],
            read("run/neighbours.json")
        )
    };
    let named = found.iter().find(|one| one["who"]["pid"] == neighbour.0.id());
    let named = named.unwrap_or_else(|| panic!("process {} is not among {found:?}", neighbour.0.id()));
    assert_eq!((&named["damage"], &named["who"]["name"]), (&"cpu-wait".into(), &"busyhour".into()));
    assert!(named["harm_with"].as_f64() > named["harm_without"].as_f64(), "{named}");
    let chance = named["chance"].as_f64().unwrap();
    assert!(chance > 0.0 && chance < 0.06, "{named}");
    // The same line is on the terminal and on the page, and the event is a mark of the series.
    let printed = read("run.out").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(printed.contains("Neighbour: "), "{printed}");
    assert!(read("run/report.html").contains(&who), "the page names the neighbour");
    assert_eq!(serde_json::from_str::<Value>(&read("run/neighbours.json")).unwrap(), summary["neighbours"]);
}
