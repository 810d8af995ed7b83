//! JVMs in artificial `/proc` trees: restarts, containers and files that other users created.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use busyhour_observe::jvm::{
    AttachError, AttachedJvm, CounterFileLocateError, JvmProbe, ProcessError, find_jvms,
};
use busyhour_observe::{MarkKind, ProbeRunner, ProcRoot, SeriesStore, SourceState};
use busyhour_program::clock::Clock;
use flate2::read::GzDecoder;
use tempfile::TempDir;

/// `createVmBeginTime` of the recording of JDK 21 with G1.
fn created_ms() -> u64 {
    let tree = Tree::new();
    tree.add_jvm(7, "7");
    find_jvms(&tree.root()).expect("a tree").jvms[0].identity.created_ms.expect("stated")
}

fn recording() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/jvm/jdk21-G1.hsperfdata.gz");
    let mut bytes = Vec::new();
    GzDecoder::new(fs::File::open(path).expect("the recording")).read_to_end(&mut bytes).expect("an archive");
    bytes
}

struct Tree {
    dir: TempDir,
    user: u32,
}

impl Tree {
    fn new() -> Tree {
        Tree { dir: tempfile::tempdir().expect("a directory"), user: rustix::process::geteuid().as_raw() }
    }

    fn root(&self) -> ProcRoot {
        ProcRoot::recorded(self.dir.path())
    }

    fn path(&self, pid: u32, file: &str) -> PathBuf {
        self.dir.path().join("proc").join(pid.to_string()).join(file)
    }

    fn write(&self, pid: u32, file: &str, content: &[u8]) {
        let path = self.path(pid, file);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, content).expect("a file");
    }

    /// A process without counters; `inner` are its process IDs in nested namespaces.
    fn add_process(&self, pid: u32, inner: &str, maps: &str) {
        let user = self.user;
        self.write(
            pid,
            "status",
            format!("Name:\tjava\nUid:\t{user}\t{user}\t{user}\t{user}\nGid:\t0\t0\t0\t0\nNSpid:\t{pid}\t{inner}\nSigCgt:\t4\n")
                .as_bytes(),
        );
        self.write(pid, "maps", maps.as_bytes());
        self.write(pid, "cmdline", b"java\0Load\0");
        self.set_state(pid, "S", 1000 + u64::from(pid));
        fs::create_dir_all(self.path(pid, "root/tmp")).expect("a directory");
    }

    fn set_state(&self, pid: u32, state: &str, started: u64) {
        self.write(
            pid,
            "stat",
            format!("{pid} (java) {state} 1{} {started} 0 0", " 0".repeat(17)).as_bytes(),
        );
    }

    fn add_jvm(&self, pid: u32, inner: &str) {
        self.add_process(pid, inner, HOTSPOT);
        let name = inner.split('\t').next_back().expect("a number");
        self.write(pid, &format!("root/tmp/hsperfdata_someone/{name}"), &recording());
    }
}

const HOTSPOT: &str = "7f00-7f01 r-xp 0 08:01 1 /jvm/lib/server/libjvm.so\n";

#[test]
fn a_jvm_in_a_container_has_another_process_id() {
    let tree = Tree::new();
    tree.add_jvm(4711, "12\t1");
    tree.add_process(4712, "4712", "");
    let found = find_jvms(&tree.root()).expect("a tree");
    assert_eq!(found.jvms.iter().map(|jvm| jvm.pid).collect::<Vec<_>>(), [4711]);
    let identity = &found.jvms[0].identity;
    assert_eq!(identity.name.as_deref(), Some("Load"));
    assert_eq!(identity.jdk(), "JDK 21.0.8");

    let store = SeriesStore::in_memory();
    let probe = JvmProbe::open(&tree.root(), 4711).expect("a JVM");
    let mut runner = ProbeRunner::new(&store, Box::new(probe));
    let clock = Clock::manual(created_ms() + 60_000);
    runner.read(&clock);
    let latest = store.latest();
    let value = |name: &str| {
        latest.iter().find(|value| &*value.name == name).unwrap_or_else(|| panic!("{name}")).value
    };
    assert_eq!(&*latest[0].source, "jvm:4711");
    assert!(value("jvm_threads_current") >= 10.0);
    #[expect(clippy::cast_precision_loss, reason = "ms since 1970")]
    let created = created_ms() as f64 / 1e3;
    assert!((value("jvm_start_time_seconds") - created).abs() < 1e-6);
    let labels = &latest.iter().find(|value| &*value.name == "jvm_info").expect("the JVM").labels;
    assert!(labels.contains(&("collector".to_owned(), "G1".to_owned())), "{labels:?}");
    let unavailable = store.status().unavailable;
    assert_eq!(
        unavailable.iter().map(|metric| metric.metric.as_str()).collect::<Vec<_>>(),
        ["jvm_gc_cpu_seconds_total"],
        "JDK 21 does not measure the CPU time of G1"
    );
}

#[test]
fn missing_counters_have_a_reason() {
    let tree = Tree::new();
    let error = |pid| JvmProbe::open(&tree.root(), pid).map(drop).expect_err("no counters");
    assert!(matches!(error(1), CounterFileLocateError::Process(ProcessError::Missing { pid: 1 })));
    tree.add_process(2, "2", "7f00-7f01 r-xp 0 08:01 1 /usr/lib/libc.so.6\n");
    assert!(matches!(error(2), CounterFileLocateError::NotJvm { pid: 2 }));
    tree.add_process(3, "3", HOTSPOT);
    assert!(matches!(error(3), CounterFileLocateError::NoFile { pid: 3 }));
    tree.write(3, "cmdline", b"java\0-XX:+PerfDisableSharedMem\0Load\0");
    assert!(matches!(
        error(3),
        CounterFileLocateError::TurnedOff { option: "-XX:+PerfDisableSharedMem", .. }
    ));
    tree.add_process(4, "4", "7f00-7f01 r-xp 0 08:01 1 /j9/libj9vm29.so\n");
    assert!(matches!(error(4), CounterFileLocateError::OpenJ9 { pid: 4 }));
    tree.add_process(5, "5", HOTSPOT);
    tree.set_state(5, "Z", 1);
    assert!(matches!(error(5), CounterFileLocateError::Process(ProcessError::Missing { pid: 5 })));
    let attach = AttachedJvm::connect(&tree.root(), 3, Duration::from_secs(1)).expect_err("a recorded tree");
    assert!(matches!(attach, AttachError::Recorded));
}

/// Anybody may create names in `/tmp`: links, pipes, damaged and huge files, many files.
#[test]
fn files_of_others_do_no_harm() {
    let tree = Tree::new();
    let error = |pid| JvmProbe::open(&tree.root(), pid).map(drop).expect_err("no counters");
    let file = |pid: u32| tree.path(pid, &format!("root/tmp/hsperfdata_x/{pid}"));

    tree.add_jvm(2, "2");
    let real = tree.path(2, "root/tmp/hsperfdata_someone/2");
    tree.add_process(3, "3", HOTSPOT);
    fs::create_dir_all(file(3).parent().expect("a directory")).expect("a directory");
    symlink(&real, file(3)).expect("a link");
    assert!(matches!(error(3), CounterFileLocateError::Read { .. }), "links to files are not followed");

    tree.add_process(4, "4", HOTSPOT);
    symlink(real.parent().expect("a directory"), tree.path(4, "root/tmp/hsperfdata_x")).expect("a link");
    fs::copy(&real, real.with_file_name("4")).expect("a copy");
    assert!(matches!(error(4), CounterFileLocateError::Read { .. }), "links to directories are not followed");

    tree.add_process(5, "5", HOTSPOT);
    fs::create_dir_all(file(5)).expect("a directory");
    assert!(matches!(error(5), CounterFileLocateError::Untrusted { .. }), "a directory instead of a file");

    tree.add_process(6, "6", HOTSPOT);
    fs::create_dir_all(file(6).parent().expect("a directory")).expect("a directory");
    rustix::fs::mknodat(rustix::fs::CWD, file(6), rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .expect("a pipe");
    assert!(matches!(error(6), CounterFileLocateError::Untrusted { .. }), "a pipe does not block");

    tree.add_process(7, "7", HOTSPOT);
    tree.write(7, "root/tmp/hsperfdata_x/7", b"short");
    assert!(matches!(error(7), CounterFileLocateError::Counters { .. }));
    fs::File::create(file(7)).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    assert!(matches!(error(7), CounterFileLocateError::Counters { .. }), "a terabyte of zeros");

    // A file of another user is not trusted, but the right file in another directory is found.
    if tree.user == 0 {
        tree.add_jvm(8, "8");
        fs::create_dir_all(file(8).parent().expect("a directory")).expect("a directory");
        fs::copy(&real, file(8)).expect("a copy");
        std::os::unix::fs::chown(file(8), Some(65_534), None).expect("another owner");
        assert!(JvmProbe::open(&tree.root(), 8).is_ok());
        fs::remove_file(tree.path(8, "root/tmp/hsperfdata_someone/8")).expect("removed");
        assert!(matches!(error(8), CounterFileLocateError::Untrusted { owner: 65_534, .. }));
    } else {
        eprintln!("note: files of another user are not tested without root");
    }
    assert_eq!(find_jvms(&tree.root()).expect("a tree").jvms.len(), 1);
}

#[test]
fn many_processes_and_files_are_listed_in_linear_time() {
    let tree = Tree::new();
    tree.add_jvm(1, "1");
    for number in 2..300 {
        tree.write(1, &format!("root/tmp/hsperfdata_u{number}/{number}"), b"");
        tree.write(number, "status", b"");
        fs::create_dir_all(tree.path(number, "root")).expect("a directory");
        symlink(tree.path(1, "root/tmp"), tree.path(number, "root/tmp")).expect("a link");
    }
    let found = find_jvms(&tree.root()).expect("a tree");
    assert_eq!(found.jvms.len(), 1);
}

struct Run {
    store: SeriesStore,
    runner: ProbeRunner,
    clock: Clock,
}

impl Run {
    fn start(tree: &Tree, wall_start_ms: u64) -> Run {
        let store = SeriesStore::in_memory();
        let probe = JvmProbe::open(&tree.root(), 7).expect("a JVM");
        let runner = ProbeRunner::new(&store, Box::new(probe));
        let mut run = Run { store, runner, clock: Clock::manual(wall_start_ms) };
        run.read();
        run
    }

    fn read(&mut self) {
        self.runner.read(&self.clock);
    }

    fn state(&self) -> SourceState {
        self.store.status().sources[0].state.clone()
    }

    fn marks(&self) -> Vec<(MarkKind, String)> {
        self.store.marks_since(0).0.into_iter().map(|mark| (mark.mark.kind, mark.mark.text)).collect()
    }
}

#[test]
fn a_restarted_jvm_is_followed() {
    let tree = Tree::new();
    tree.add_jvm(7, "7");
    let mut run = Run::start(&tree, created_ms());
    assert_eq!(run.state(), SourceState::Watching);
    tree.set_state(7, "Z", 1007);
    run.read();
    let SourceState::Failed(reason) = run.state() else { panic!("{:?}", run.state()) };
    assert_eq!(
        reason,
        "Load (process 7) is not available: it has ended; a JVM that starts with the same command line and user will be watched"
    );
    // This is another process with the same ID, whose file does not exist yet.
    fs::remove_file(tree.path(7, "root/tmp/hsperfdata_someone/7")).expect("removed");
    tree.set_state(7, "S", 2000);
    run.read();
    assert!(matches!(run.state(), SourceState::Failed(_)));
    tree.add_jvm(9, "9");
    run.read();
    assert_eq!(run.state(), SourceState::Watching);
    assert_eq!(
        run.marks(),
        [
            (MarkKind::End, "Load (process 7) ended".to_owned()),
            (MarkKind::Restart, "Load (process 9) started".to_owned())
        ]
    );
    let count = run.store.latest().iter().filter(|value| &*value.name == "jvm_threads_current").count();
    assert_eq!(count, 1, "the successor continues the series");
}

/// A cleaner of `/tmp` deletes files that a JVM still writes.
#[test]
fn a_deleted_file_is_still_read() {
    let tree = Tree::new();
    tree.add_jvm(7, "7");
    let mut run = Run::start(&tree, created_ms());
    fs::remove_file(tree.path(7, "root/tmp/hsperfdata_someone/7")).expect("removed");
    for _ in 0..3 {
        run.read();
        assert_eq!(run.state(), SourceState::Watching);
    }
    assert_eq!(run.marks(), []);
    // The process has become another program.
    tree.write(7, "maps", b"7f00-7f01 r-xp 0 08:01 1 /usr/lib/libc.so.6\n");
    for _ in 0..60 {
        run.read();
    }
    assert!(matches!(run.state(), SourceState::Failed(reason) if reason.contains("not a JVM")));
}

#[test]
fn a_jvm_that_ran_at_the_same_time_is_no_successor() {
    let tree = Tree::new();
    tree.add_jvm(7, "7");
    tree.add_jvm(8, "8");
    // The run begins after both were created.
    let mut run = Run::start(&tree, created_ms() + 60_000);
    tree.set_state(7, "Z", 1007);
    run.read();
    run.read();
    assert!(matches!(run.state(), SourceState::Failed(_)));
    assert_eq!(run.marks().len(), 1);
}

/// A JVM with another command has the process ID of the JVM that ended.
#[test]
fn a_reused_process_id_is_another_process() {
    let tree = Tree::new();
    tree.add_jvm(7, "7");
    let mut run = Run::start(&tree, created_ms());
    let mut other = recording();
    let at = other.windows(5).position(|bytes| bytes == b"Load\0").expect("the command");
    other[at..at + 4].copy_from_slice(b"Shop");
    tree.set_state(7, "S", 2000);
    tree.write(7, "root/tmp/hsperfdata_someone/7", &other);
    run.read();
    assert!(matches!(run.state(), SourceState::Failed(_)));
    assert_eq!(run.marks(), [(MarkKind::End, "Load (process 7) ended".to_owned())]);
}

#[test]
fn steps_of_the_safepoint_counters_are_marked() {
    let tree = Tree::new();
    tree.add_jvm(7, "7");
    let mut run = Run::start(&tree, created_ms());
    let file = "root/tmp/hsperfdata_someone/7";
    let place = |name: &str| {
        let bytes = recording();
        let name: Vec<u8> = [name.as_bytes(), b"\0"].concat();
        let at = bytes.windows(name.len()).position(|part| part == name).expect("the counter");
        // The name follows the 20 bytes of the entry's head, which states the offset of the value.
        let entry = at - 20;
        let offset = u32::from_le_bytes(bytes[entry + 16..entry + 20].try_into().expect("4 bytes"));
        entry + offset as usize
    };
    let step = |bytes: &mut Vec<u8>, name: &str, change: &dyn Fn(i64) -> i64| {
        let at = place(name);
        let value = i64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        bytes[at..at + 8].copy_from_slice(&change(value).to_le_bytes());
    };
    // A full collection of 42 ms, which ended 8.5 s after the creation of the JVM.
    let mut bytes = recording();
    step(&mut bytes, "sun.rt.safepointTime", &|ns| ns + 40_000_000);
    step(&mut bytes, "sun.rt.safepointSyncTime", &|ns| ns + 2_000_000);
    step(&mut bytes, "sun.gc.collector.1.invocations", &|count| count + 1);
    step(&mut bytes, "sun.gc.collector.1.lastExitTime", &|_| 8_500_000_000);
    tree.write(7, file, &bytes);
    run.clock.advance(Duration::from_secs(9));
    run.read();
    let mark = run.store.marks_since(0).0.pop().expect("a mark").mark;
    assert_eq!((mark.from.0, mark.to.0), (8_458_000_000, 8_500_000_000));
    assert_eq!(
        (mark.kind, mark.text.as_str()),
        (MarkKind::GcPause, "stopped for 42.0 ms: G1 Old Generation")
    );

    // Several collections: somewhere between the reading before and the end of the last.
    step(&mut bytes, "sun.rt.safepointTime", &|ns| ns + 30_000_000);
    step(&mut bytes, "sun.gc.collector.0.invocations", &|count| count + 3);
    step(&mut bytes, "sun.gc.collector.0.lastExitTime", &|_| 9_700_000_000);
    tree.write(7, file, &bytes);
    run.clock.advance(Duration::from_secs(1));
    run.read();
    let mark = run.store.marks_since(0).0.pop().expect("a mark").mark;
    assert_eq!((mark.from.0, mark.to.0), (9_000_000_000, 9_700_000_000));
    assert_eq!(mark.text, "stopped for 30.0 ms: 3 x G1 Young Generation");

    // Below 10 ms nothing is marked. A stop without a collection is not a pause of a collector.
    for (ns, kind) in [(9_000_000, None), (11_000_000, Some(MarkKind::Other))] {
        let before = run.store.marks_since(0).0.len();
        step(&mut bytes, "sun.rt.safepointTime", &|value| value + ns);
        tree.write(7, file, &bytes);
        run.clock.advance(Duration::from_secs(1));
        run.read();
        let marks = run.store.marks_since(0).0;
        assert_eq!(marks.get(before).map(|mark| mark.mark.kind), kind);
    }
}
