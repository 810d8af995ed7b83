//! Properties that hold for any content of `/proc` and `/sys`, for all readers. The fuzz target `system_files` and a
//! test with fixed seeds check them.

use std::path::Path;

use busyhour_observe::{
    CgroupProbe, NetworkProbe, OsProbe, Probe, ProbeRunner, ProcRoot, ProcessProbe, SeriesStore, SourceState,
    capabilities, discover,
};
use busyhour_program::clock::Clock;

/// The files of a tree that may have any content; process 7 is watched.
pub const FILES: [&str; 34] = [
    "proc/stat",
    "proc/schedstat",
    "proc/meminfo",
    "proc/vmstat",
    "proc/diskstats",
    "proc/pressure/cpu",
    "proc/net/dev",
    "proc/net/snmp",
    "proc/net/netstat",
    "proc/net/sockstat",
    "proc/net/tcp",
    "proc/net/tcp6",
    "proc/net/fib_trie",
    "proc/net/if_inet6",
    "proc/self/mountinfo",
    "proc/7/stat",
    "proc/7/io",
    "proc/7/cgroup",
    "proc/7/cmdline",
    "proc/7/maps",
    "proc/7/limits",
    "proc/7/smaps_rollup",
    "proc/7/status",
    "proc/7/task/7/schedstat",
    "proc/7/task/7/status",
    "proc/7/task/7/children",
    "proc/7/net/tcp",
    "proc/7/net/dev",
    "proc/sys/kernel/perf_event_paranoid",
    "sys/fs/cgroup/x/cpu.stat",
    "sys/fs/cgroup/x/cpu.max",
    "sys/fs/cgroup/x/memory.stat",
    "sys/fs/cgroup/x/memory.current",
    "sys/fs/cgroup/x/io.stat",
];

/// The initial content of a file of the tree.
fn usual_content(file: &str) -> &'static str {
    match file {
        "proc/stat" => "cpu  1 2 3 4 5 6 7 8 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\nctxt 5\n",
        "proc/7/stat" => "7 (x) S 1 7 7 0 -1 0 1 2 3 4 5 6 7 8 20 0 1 0 100 1000 250 0",
        "proc/7/cgroup" => "0::/x\n",
        "proc/self/mountinfo" => "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
        "proc/net/tcp" => {
            "0: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000 0 0 55 1 0\n"
        }
        "proc/net/fib_trie" => "|-- 127.0.0.1\n/32 host LOCAL\n",
        _ => "",
    }
}

/// A directory for a tree, in memory if possible: the trees of a test consist of thousands of small files.
pub fn tree_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory can be created")
}

/// Writes a tree of usual files; process 7 has the socket that listens on port 8080.
pub fn write_tree(root: &Path) {
    for file in FILES {
        let path = root.join(file);
        std::fs::create_dir_all(path.parent().expect("files are in directories"))
            .expect("the tree can be written");
        std::fs::write(path, usual_content(file)).expect("the tree can be written");
    }
    std::fs::create_dir_all(root.join("proc/7/fd")).expect("the tree can be written");
    let _ = std::os::unix::fs::symlink("socket:[55]", root.join("proc/7/fd/3"));
}

/// Replaces files of the tree, reads everything, and restores the files.
pub fn check(root: &Path, replaced: &[(&str, &[u8])]) {
    for (file, content) in replaced {
        std::fs::write(root.join(file), content).expect("the tree can be written");
    }
    let tree = ProcRoot::recorded(root);
    let store = SeriesStore::in_memory();
    let clock = Clock::manual(0);
    let mut probes: Vec<Box<dyn Probe>> =
        vec![Box::new(OsProbe::new(&tree)), Box::new(NetworkProbe::new(&tree, 7))];
    if let Ok(probe) = ProcessProbe::new(&tree, 7, &[([127, 0, 0, 1], 8080).into()]) {
        probes.push(Box::new(probe));
    }
    if let Ok(probe) = CgroupProbe::of_process(&tree, 7) {
        probes.push(Box::new(probe));
    }
    for probe in probes {
        let mut runner = ProbeRunner::new(&store, probe);
        runner.read(&clock);
        clock.advance(std::time::Duration::from_secs(100));
        runner.read(&clock);
    }
    for source in store.status().sources {
        assert!(!matches!(source.state, SourceState::Ended(_)), "{source:?}");
    }
    for value in store.latest() {
        assert!(value.value.is_finite() && value.value >= 0.0, "{value:?}");
        assert!(value.labels.iter().all(|(_, text)| text.len() <= 256));
    }
    let found = discover(&tree, &[("127.0.0.1", 8080)]);
    assert!(found.len() <= 64 && found.iter().all(|found| !found.origins.is_empty()));
    assert_eq!(capabilities(&tree).len(), 11);
    for (file, _) in replaced {
        std::fs::write(root.join(file), usual_content(file)).expect("the tree can be written");
    }
}
