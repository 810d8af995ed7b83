//! Performance counters of live processes.
#![cfg(target_os = "linux")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use busyhour_observe::perf::{PerfProbe, PerfTarget};
use busyhour_observe::{LatestValue, ProbeRunner, SeriesStore, SourceState};
use busyhour_program::clock::{Clock, thread_cpu_ns};

const CPU_TIME: &str = "busyhour_perf_task_clock_seconds_total";

fn value(store: &SeriesStore, name: &str) -> Option<f64> {
    store.latest().iter().find(|value: &&LatestValue| &*value.name == name).map(|value| value.value)
}

/// Uses this much CPU time in a new thread.
fn burn(ns: u64) {
    let thread = std::thread::spawn(move || {
        let start = thread_cpu_ns().expect("Linux has CPU times of threads");
        let mut sum = 0_u64;
        while thread_cpu_ns().expect("Linux has CPU times of threads") - start < ns {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(7));
        }
    });
    thread.join().expect("the thread ends");
}

#[test]
fn threads_that_start_later_are_counted() {
    let store = SeriesStore::in_memory();
    let mut runner =
        ProbeRunner::new(&store, Box::new(PerfProbe::new(PerfTarget::Process(std::process::id()))));
    let clock = Clock::start();
    runner.read(&clock);
    let Some(before) = value(&store, CPU_TIME) else {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("SKIPPED: perf events cannot be counted here: {:?}", store.status().unavailable);
        }
        return;
    };
    burn(50_000_000);
    runner.read(&clock);
    let after = value(&store, CPU_TIME).expect("it was counted before");
    assert!(after - before >= 0.049, "{before} {after}");
    // Either the processor's counters work, or there is a reason and no value.
    let reasons = store.status().unavailable;
    for (metric, name) in [
        ("busyhour_perf_cycles_total", "busyhour_perf_cycles_per_instruction"),
        ("busyhour_perf_cache_misses_total", "busyhour_perf_cache_misses_per_kiloinstruction"),
    ] {
        let reason = reasons.iter().find(|entry| entry.metric == metric);
        match value(&store, metric) {
            Some(count) => assert!(count > 0.0 && reason.is_none_or(|_| value(&store, name).is_some())),
            None => assert!(reason.is_some() && value(&store, name).is_none(), "{reasons:?}"),
        }
    }
}

#[test]
fn a_process_that_ends_is_noticed() {
    let mut child =
        Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat starts");
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(PerfProbe::new(PerfTarget::Process(child.id()))));
    let clock = Clock::start();
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
    drop(child.stdin.take());
    child.wait().expect("cat ends");
    runner.read(&clock);
    let SourceState::Ended(reason) = store.status().sources[0].state.clone() else { panic!("not ended") };
    assert_eq!(reason, format!("process {} has ended", child.id()));
    assert!(runner.has_ended());
}

#[test]
fn a_directory_that_is_no_cgroup_is_refused() {
    let dir = tempfile::tempdir().expect("a directory can be made");
    let store = SeriesStore::in_memory();
    let probe = PerfProbe::new(PerfTarget::Cgroup(dir.path().to_owned()));
    ProbeRunner::new(&store, Box::new(probe)).read(&Clock::start());
    assert_eq!(store.latest(), []);
    assert!(!store.status().unavailable.is_empty());
    let missing = PerfProbe::new(PerfTarget::Cgroup(dir.path().join("missing")));
    let store = SeriesStore::in_memory();
    ProbeRunner::new(&store, Box::new(missing)).read(&Clock::start());
    assert!(matches!(store.status().sources[0].state, SourceState::Failed(_)));
}

/// A cgroup of version 2 that exists until it is dropped.
struct OwnCgroup(PathBuf);

impl OwnCgroup {
    /// Creates a cgroup; `None` without version 2 or without permission.
    fn create() -> Option<OwnCgroup> {
        let roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map(Path::new);
        let root = roots.into_iter().find(|root| root.join("cgroup.controllers").exists())?;
        let path = root.join(format!("busyhour-test-{}", std::process::id()));
        std::fs::create_dir(&path).ok().map(|()| OwnCgroup(path))
    }
}

impl Drop for OwnCgroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_cgroup_is_counted_on_all_cores() {
    let cgroup = OwnCgroup::create();
    let Some(cgroup) = cgroup else {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!("SKIPPED: there is no cgroup of version 2 in which this user may create another");
        }
        return;
    };
    let script = "read start; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read end";
    let mut child = Command::new("sh")
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sh starts");
    std::fs::write(cgroup.0.join("cgroup.procs"), child.id().to_string()).expect("the child can be moved");
    let store = SeriesStore::in_memory();
    let probe = PerfProbe::new(PerfTarget::Cgroup(cgroup.0.clone()));
    let mut runner = ProbeRunner::new(&store, Box::new(probe));
    let clock = Clock::start();
    runner.read(&clock);
    let before = value(&store, CPU_TIME);
    let mut stdin = child.stdin.take().expect("it is a pipe");
    stdin.write_all(b"\n").expect("the child reads");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("it is a pipe"))
        .read_line(&mut line)
        .expect("the child writes");
    runner.read(&clock);
    let after = value(&store, CPU_TIME);
    drop(stdin);
    child.wait().expect("the child ends");
    match (before, after) {
        (Some(before), Some(after)) => assert!(before < 1.0 && after > before, "{before} {after}"),
        _ => assert!(!store.status().unavailable.is_empty(), "neither a value nor a reason"),
    }
}
