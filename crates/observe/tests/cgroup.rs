//! The probe of a cgroup: recorded trees of both versions, and a cgroup of this machine.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use busyhour_observe::{CgroupPath, CgroupProbe, MarkKind, ProbeRunner, ProcRoot, SeriesStore, SourceState};
use busyhour_program::clock::Clock;

use support::latest;
use support::servers::TestProcess;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(cgroup: &str, mounts: &str) -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        tree.write("proc/7/cgroup", cgroup);
        tree.write("proc/self/mountinfo", mounts);
        tree
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.0.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn root(&self) -> ProcRoot {
        ProcRoot::recorded(self.0.path())
    }
}

fn reason(store: &SeriesStore, metric: &str) -> Option<String> {
    store.status().unavailable.into_iter().find(|entry| entry.metric == metric).map(|entry| entry.reason)
}

const UNIFIED: &str = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

fn version_2() -> Tree {
    let tree = Tree::new("0::/shop.slice/shop.service\n", UNIFIED);
    for (file, text) in [
        (
            "cpu.stat",
            "usage_usec 5000000\nuser_usec 3000000\nsystem_usec 2000000\nnr_periods 100\nnr_throttled 30\nthrottled_usec 1500000\n",
        ),
        ("cpu.max", "150000 100000\n"),
        ("memory.current", "104857600\n"),
        ("memory.stat", "anon 40000000\nfile 60000000\ninactive_file 20000000\nslab 1\n"),
        ("memory.max", "209715200\n"),
        ("memory.events", "low 0\nhigh 1\nmax 22\noom 2\noom_kill 1\n"),
        ("io.stat", "8:0 rbytes=1000 wbytes=2000 rios=3 wios=4 dbytes=0 dios=0\n"),
        (
            "cpu.pressure",
            "some avg10=0 avg60=0 avg300=0 total=2500000\nfull avg10=0 avg60=0 avg300=0 total=500000\n",
        ),
        ("pids.current", "17\n"),
        ("pids.max", "max\n"),
    ] {
        tree.write(&format!("sys/fs/cgroup/shop.slice/shop.service/{file}"), text);
    }
    tree
}

#[test]
fn version_2_is_read() {
    let tree = version_2();
    let store = SeriesStore::in_memory();
    let probe = CgroupProbe::of_process(&tree.root(), 7).unwrap();
    let mut runner = ProbeRunner::new(&store, Box::new(probe));
    let clock = Clock::manual(0);
    runner.read(&clock);
    let source = "cgroup:/shop.slice/shop.service";
    for (name, value) in [
        ("container_cpu_usage_seconds_total", 5.0),
        ("container_cpu_system_seconds_total", 2.0),
        ("container_cpu_cfs_periods_total", 100.0),
        ("container_cpu_cfs_throttled_periods_total", 30.0),
        ("container_cpu_cfs_throttled_seconds_total", 1.5),
        ("busyhour_cgroup_cpu_limit_cores", 1.5),
        ("container_memory_usage_bytes", 104_857_600.0),
        ("container_memory_working_set_bytes", 84_857_600.0),
        ("container_memory_rss", 40_000_000.0),
        ("container_spec_memory_limit_bytes", 209_715_200.0),
        ("container_pressure_cpu_waiting_seconds_total", 2.5),
        ("container_pressure_cpu_stalled_seconds_total", 0.5),
        ("container_threads", 17.0),
    ] {
        assert_eq!(latest(&store, source, name, &[]), Some(value), "{name}");
    }
    let label = |name: &str, label: (&str, &str)| latest(&store, source, name, &[label]);
    assert_eq!(label("container_fs_writes_bytes_total", ("device", "8:0")), Some(2_000.0));
    assert_eq!(label("busyhour_cgroup_memory_events_total", ("event", "max")), Some(22.0));
    assert_eq!(latest(&store, source, "container_threads_max", &[]), None, "no limit");
    assert!(reason(&store, "container_pressure_memory_waiting_seconds_total").is_some());
    assert_eq!(store.marks_since(0).0, []);

    // A process is killed for lack of memory.
    tree.write(
        "sys/fs/cgroup/shop.slice/shop.service/memory.events",
        "low 0\nhigh 1\nmax 25\noom 4\noom_kill 3\n",
    );
    clock.advance(Duration::from_secs(1));
    runner.read(&clock);
    let mark = &store.marks_since(0).0[0].mark;
    assert_eq!(
        (mark.kind, mark.text.as_str()),
        (MarkKind::OutOfMemory, "the kernel killed 2 processes for lack of memory")
    );
    assert_eq!((mark.from.0, mark.to.0), (0, 1_000_000_000));

    // The cgroup is removed, for instance because the service restarts, and is created again.
    let directory = tree.0.path().join("sys/fs/cgroup/shop.slice");
    let other = tree.0.path().join("elsewhere");
    std::fs::rename(&directory, &other).unwrap();
    runner.read(&clock);
    assert!(
        matches!(&store.status().sources[0].state, SourceState::Failed(reason) if reason.contains("it was removed"))
    );
    std::fs::rename(&other, &directory).unwrap();
    runner.read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
}

#[test]
fn version_1_is_read_and_missing_metrics_are_stated() {
    let mounts = "32 31 0:29 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct\n35 31 0:32 / /cg/memory rw - cgroup cgroup rw,memory\n";
    let tree = Tree::new("4:memory:/shop\n3:cpu,cpuacct:/shop\n1:name=systemd:/\n", mounts);
    for (file, text) in [
        ("cpu/shop/cpuacct.usage", "5000000000\n"),
        ("cpu/shop/cpu.stat", "nr_periods 10\nnr_throttled 3\nthrottled_time 1500000000\n"),
        ("cpu/shop/cpu.cfs_quota_us", "-1\n"),
        ("cpu/shop/cpu.cfs_period_us", "100000\n"),
        ("memory/shop/memory.usage_in_bytes", "1000000\n"),
        ("memory/shop/memory.limit_in_bytes", "9223372036854771712\n"),
        ("memory/shop/memory.failcnt", "5\n"),
        ("memory/shop/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"),
        (
            "memory/shop/memory.stat",
            "cache 1\ninactive_file 7\ntotal_inactive_file 400000\ntotal_rss 300000\ntotal_cache 500000\n",
        ),
    ] {
        tree.write(&format!("cg/{file}"), text);
    }
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(CgroupProbe::of_process(&tree.root(), 7).unwrap()));
    runner.read(&Clock::manual(0));
    let value = |name: &str| latest(&store, "cgroup:/shop", name, &[]);
    assert_eq!(value("container_cpu_usage_seconds_total"), Some(5.0));
    assert_eq!(value("container_cpu_cfs_throttled_seconds_total"), Some(1.5));
    assert_eq!(value("busyhour_cgroup_cpu_limit_cores"), None, "no quota");
    assert_eq!(value("container_memory_working_set_bytes"), Some(600_000.0));
    assert_eq!(value("container_spec_memory_limit_bytes"), None, "no limit");
    let event =
        |name| latest(&store, "cgroup:/shop", "busyhour_cgroup_memory_events_total", &[("event", name)]);
    assert_eq!((event("max"), event("oom_kill")), (Some(5.0), Some(1.0)));
    for metric in [
        "container_pressure_cpu_waiting_seconds_total",
        "container_fs_reads_bytes_total",
        "container_threads",
    ] {
        assert!(reason(&store, metric).is_some(), "{metric}");
    }
}

#[test]
fn odd_files_have_no_values() {
    for text in ["", "\n", "x y\n", "-1\n", "max max\n", "1 0\n", "\0\u{7f}\n", "99999999999999999999\n"] {
        let tree = version_2();
        for file in [
            "cpu.stat",
            "cpu.max",
            "memory.current",
            "memory.stat",
            "memory.max",
            "memory.events",
            "io.stat",
            "cpu.pressure",
            "pids.current",
        ] {
            tree.write(&format!("sys/fs/cgroup/shop.slice/shop.service/{file}"), text);
        }
        let store = SeriesStore::in_memory();
        ProbeRunner::new(&store, Box::new(CgroupProbe::of_process(&tree.root(), 7).unwrap()))
            .read(&Clock::manual(0));
        let names: Vec<_> =
            store.latest().iter().map(|value| (value.name.to_string(), value.value)).collect();
        // `1 0` is a memory of 1 byte and 1 process.
        let expected = if text == "1 0\n" { 3 } else { 0 };
        assert_eq!(names.len(), expected, "{text:?}: {names:?}");
    }
}

/// A cgroup that is removed at the end.
struct LiveCgroup(Vec<PathBuf>);

impl LiveCgroup {
    /// Creates a cgroup with a quota of 20 % of a CPU; `None`, with a note, if that is not possible.
    fn create() -> Option<LiveCgroup> {
        let name = format!("busyhour-test-{}", std::process::id());
        let unified = Path::new("/sys/fs/cgroup").join(&name);
        if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
            let _ = std::fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+cpu");
            let created = std::fs::create_dir(&unified)
                .and_then(|()| std::fs::write(unified.join("cpu.max"), "20000 100000"));
            return Self::or_note(created, vec![unified]);
        }
        let [cpu, account] =
            ["cpu", "cpuacct"].map(|controller| Path::new("/sys/fs/cgroup").join(controller).join(&name));
        let mut created = std::fs::create_dir(&cpu)
            .and_then(|()| std::fs::write(cpu.join("cpu.cfs_period_us"), "100000"))
            .and_then(|()| std::fs::write(cpu.join("cpu.cfs_quota_us"), "20000"));
        if !account.exists() {
            created = created.and_then(|()| std::fs::create_dir(&account));
        }
        Self::or_note(created, vec![cpu, account])
    }

    fn or_note(created: std::io::Result<()>, directories: Vec<PathBuf>) -> Option<LiveCgroup> {
        match created {
            Ok(()) => Some(LiveCgroup(directories)),
            Err(error) => {
                eprintln!("SKIPPED: cannot create a cgroup: {error}");
                drop(LiveCgroup(directories));
                None
            }
        }
    }
}

impl Drop for LiveCgroup {
    fn drop(&mut self) {
        for directory in &self.0 {
            let _ = std::fs::remove_dir(directory);
        }
    }
}

/// The number of throttled periods that the kernel states.
fn throttled_periods(cgroup: &LiveCgroup) -> f64 {
    let stat = std::fs::read_to_string(cgroup.0[0].join("cpu.stat")).unwrap();
    let periods = stat.lines().find_map(|line| line.strip_prefix("nr_throttled "));
    periods.unwrap().parse().unwrap()
}

#[test]
fn a_quota_of_this_machine_throttles() {
    let Some(cgroup) = LiveCgroup::create() else { return };
    // Works for longer than the quota of a period, which is 20 ms.
    let script = "read go; echo working; i=0; while [ $i -lt 100 ]; do j=0; while [ $j -lt 4000 ]; do j=$((j+1)); done; i=$((i+1)); done; echo done; read line";
    let mut command = Command::new("sh");
    let Some(mut process) = TestProcess::start(command.args(["-c", &format!("echo ready; {script}")])) else {
        return;
    };
    for directory in &cgroup.0 {
        std::fs::write(directory.join("cgroup.procs"), process.pid().to_string()).unwrap();
    }
    let path = CgroupPath::of_process(&ProcRoot::live(), process.pid()).unwrap();
    assert!(!path.is_root());
    let store = SeriesStore::in_memory();
    let mut runner = ProbeRunner::new(&store, Box::new(CgroupProbe::new(&path)));
    process.send("go");
    assert_eq!((process.line(), process.line()), ("working".into(), "done".into()));
    let before = throttled_periods(&cgroup);
    runner.read(&Clock::manual(0));
    let after = throttled_periods(&cgroup);
    let source = format!("cgroup:{}", path.name());
    let value = |name: &str| latest(&store, &source, name, &[]);
    assert_eq!(value("busyhour_cgroup_cpu_limit_cores"), Some(0.2));
    assert!(value("container_cpu_usage_seconds_total") > Some(0.01));
    let periods = value("container_cpu_cfs_throttled_periods_total").unwrap();
    assert!((before..=after).contains(&periods), "{periods} is not between {before} and {after}");
    if after == 0.0 {
        eprintln!("SKIPPED: the machine is so busy that the quota was never used up");
    } else {
        assert!(value("container_cpu_cfs_throttled_seconds_total") > Some(0.0));
    }
    process.end();
}
