//! The probe of a process: processes of this machine, restarts, missing permission, hostile trees.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stderr, reason = "a test that is skipped prints why")]

mod support;

use std::process::Command;
use std::time::Duration;

use busyhour_observe::{MarkKind, ProbeRunner, ProcRoot, ProcessProbe, SeriesStore, SourceState};
use busyhour_program::clock::Clock;
use proptest::prelude::*;

use support::latest;
use support::servers::TestProcess;

/// A probe of a process with a clock that the test advances.
struct Watched {
    store: SeriesStore,
    runner: ProbeRunner,
    clock: Clock,
    source: String,
}

impl Watched {
    fn new(pid: u32, listens_on: &[std::net::SocketAddr]) -> Watched {
        let store = SeriesStore::in_memory();
        let probe = ProcessProbe::new(&ProcRoot::live(), pid, listens_on).unwrap();
        let runner = ProbeRunner::new(&store, Box::new(probe));
        Watched { store, runner, clock: Clock::manual(0), source: format!("process:{pid}") }
    }

    /// Reads a minute after the previous reading, so that the costly parts, which are read less often, are due, too.
    fn read(&mut self) {
        self.clock.advance(Duration::from_secs(60));
        self.runner.read(&self.clock);
    }

    fn value(&self, name: &str) -> Option<f64> {
        latest(&self.store, &self.source, name, &[])
    }

    fn state(&self) -> SourceState {
        self.store.status().sources[0].state.clone()
    }

    fn marks(&self) -> Vec<(MarkKind, String)> {
        self.store.marks_since(0).0.into_iter().map(|mark| (mark.mark.kind, mark.mark.text)).collect()
    }
}

#[test]
fn cpu_time_is_that_of_usr_bin_time_with_descendants_that_ended() {
    // A child that ends, a grandchild that ends, and work of the shell itself.
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    // Within double quotes, the shell in between must not replace the variables.
    let nested = work.replace('$', "\\$");
    let script =
        format!("sh -c '{work}'; sh -c \"sh -c '{nested}'; true\"; {work}; echo done; read line; true");
    let mut command = Command::new("/usr/bin/time");
    command.args(["-f", "%U %S", "-o", "/dev/stdout", "sh", "-c", &script]);
    let Some(process) = TestProcess::start(&mut command) else { return };
    assert_eq!(process.ready, "done");
    let mut watched = Watched::new(process.pid(), &[]);
    watched.read();
    let cpu = watched.value("process_cpu_seconds_total").unwrap();
    let by_mode = watched.value("process_cpu_user_seconds_total").unwrap()
        + watched.value("process_cpu_system_seconds_total").unwrap();
    let times = process.end();
    let expected: f64 = times.split_whitespace().map(|time| time.parse::<f64>().unwrap()).sum();
    // Times of children that ended have ticks of 10 ms.
    for measured in [cpu, by_mode] {
        assert!((measured - expected).abs() <= 0.02 * expected + 0.03, "{measured} instead of {expected}");
    }
}

#[test]
fn descendants_threads_memory_and_descriptors_are_added_up() {
    let program = "import threading\n\
                   children = []\n\
                   stop = threading.Event()\n\
                   for i in range(3): threading.Thread(target=stop.wait, daemon=True).start()\n\
                   files = [open('/dev/null') for i in range(20)]\n\
                   block = bytearray(64 << 20)\n\
                   for i in range(0, len(block), 4096): block[i] = 1\n\
                   me = os.getpid()\n\
                   ready('ready'); wait()\n\
                   for i in range(2):\n\
                   \x20   pid = os.fork()\n\
                   \x20   if pid == 0:\n\
                   \x20       child(me)\n\
                   \x20   children.append(pid)\n\
                   ready('forked'); wait()\n\
                   for pid in children: os.kill(pid, 9); os.waitpid(pid, 0)\n\
                   ready('killed'); wait()";
    let Some(mut process) = TestProcess::python(program) else { return };
    let mut watched = Watched::new(process.pid(), &[]);
    watched.read();
    assert_eq!(watched.state(), SourceState::Watching);
    assert_eq!(watched.value("process_processes"), Some(1.0));
    assert_eq!(watched.value("process_threads"), Some(4.0));
    let resident = watched.value("process_resident_memory_bytes").unwrap();
    assert!((64e6..500e6).contains(&resident), "{resident}");
    let proportional = watched.value("process_proportional_memory_bytes").unwrap();
    assert!((64e6..=resident + 1e6).contains(&proportional), "{proportional} {resident}");
    assert!(watched.value("process_open_fds") >= Some(23.0));
    assert!(watched.value("process_max_fds") >= Some(23.0));
    assert!(watched.value("process_minor_page_faults_total") >= Some(16_384.0));
    assert!(watched.value("process_io_read_bytes_total") > Some(0.0));
    assert!(watched.value("process_run_queue_wait_seconds_total").is_some());
    let switches =
        latest(&watched.store, &watched.source, "process_context_switches_total", &[("kind", "voluntary")]);
    assert!(switches >= Some(1.0));

    process.send("");
    assert_eq!(process.line(), "forked");
    watched.read();
    assert_eq!(watched.value("process_processes"), Some(3.0));
    let shared = watched.value("process_proportional_memory_bytes").unwrap();
    let resident = watched.value("process_resident_memory_bytes").unwrap();
    assert!(shared < resident - 100e6, "the block is shared: {shared} {resident}");
    let cpu = watched.value("process_cpu_seconds_total").unwrap();

    process.send("");
    assert_eq!(process.line(), "killed");
    watched.read();
    assert_eq!(watched.value("process_processes"), Some(1.0));
    assert!(watched.value("process_cpu_seconds_total").unwrap() >= cpu);
    assert_eq!(watched.marks(), []);
}

#[test]
fn a_restart_is_found_by_the_listening_address() {
    let program = |port: u16| format!("s = listen(port={port})\nready(s.getsockname()[1]); wait()");
    let Some(first) = TestProcess::python(&program(0)) else { return };
    let port: u16 = first.ready.parse().unwrap();
    let first_pid = first.pid();
    let mut watched = Watched::new(first_pid, &[([127, 0, 0, 1], port).into()]);
    watched.read();
    watched.read();
    first.end();
    watched.read();
    let expected = format!("process {first_pid} (python3) ended");
    assert_eq!(watched.marks(), [(MarkKind::End, expected.clone())]);
    let SourceState::Failed(reason) = watched.state() else { panic!("not failed") };
    assert!(reason.contains("it has ended"), "{reason}");
    watched.read();
    assert_eq!(watched.marks().len(), 1, "the end is marked once");

    let Some(second) = TestProcess::python(&program(port)) else { return };
    watched.read();
    let text =
        format!("process {first_pid} (python3) ended, process {} (python3) took its place", second.pid());
    assert_eq!(watched.marks(), [(MarkKind::End, expected), (MarkKind::Restart, text)]);
    assert_eq!(watched.state(), SourceState::Watching);
    assert_eq!(watched.value("process_processes"), Some(1.0));
}

#[test]
fn a_restart_is_found_by_the_command() {
    let unique = format!("echo busyhour-{}; read line", std::process::id());
    let shell = || TestProcess::start(Command::new("sh").args(["-c", &unique]));
    let Some(first) = shell() else { return };
    let mut watched = Watched::new(first.pid(), &[]);
    watched.read();
    first.end();
    // The second process already runs when the end of the first is noticed.
    let Some(second) = shell() else { return };
    watched.read();
    let marks = watched.marks();
    assert_eq!(marks.len(), 2, "{marks:?}");
    assert!(marks[1].1.ends_with(&format!("process {} (sh) took its place", second.pid())), "{marks:?}");
    assert_eq!(watched.state(), SourceState::Watching);
}

#[test]
fn permission_that_is_lost_is_stated_and_the_rest_continues() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can give permission up");
        return;
    }
    let Some(process) = TestProcess::start(Command::new("sh").args(["-c", "echo ready; read line"])) else {
        return;
    };
    let mut watched = Watched::new(process.pid(), &[]);
    watched.read();
    let before = watched.value("process_io_read_bytes_total");
    assert!(before.is_some());
    // Only this thread becomes another user.
    let thread = std::thread::spawn(move || {
        let (root, nobody) = (rustix::process::Uid::ROOT, rustix::process::Uid::from_raw(65_534));
        rustix::thread::set_thread_res_uid(root, nobody, root).unwrap();
        watched.read();
        watched
    });
    let watched = thread.join().unwrap();
    assert_eq!(watched.state(), SourceState::Watching);
    assert_eq!(watched.value("process_io_read_bytes_total"), before, "no newer value");
    let reason = |metric: &str| {
        let unavailable = watched.store.status().unavailable;
        unavailable.into_iter().find(|entry| entry.metric == metric).map(|entry| entry.reason)
    };
    let io = reason("process_io_read_bytes_total").unwrap();
    assert!(io.starts_with("no permission"), "{io}");
    let memory = reason("process_proportional_memory_bytes").unwrap();
    assert!(memory.contains("no permission"), "{memory}");
    assert_eq!(watched.value("process_processes"), Some(1.0));
}

#[test]
fn a_missing_process_is_an_error() {
    let error = ProcessProbe::new(&ProcRoot::live(), 4_194_305, &[]).unwrap_err();
    assert_eq!(error.to_string(), "process 4194305 has ended");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: proptest::test_runner::RngSeed::Fixed(31), failure_persistence: None, ..ProptestConfig::default() })]

    /// Reads files of processes with any content: reading ends, and unreadable content has no value.
    #[test]
    fn hostile_trees_are_read(
        stats in prop::collection::vec((1u32..6, any_stat()), 1..6),
        other in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        for (pid, stat) in &stats {
            let process = dir.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(process.join(format!("task/{pid}"))).unwrap();
            std::fs::create_dir_all(process.join("fd")).unwrap();
            std::fs::write(process.join("stat"), stat).unwrap();
            for file in ["io", "cmdline", "limits", "smaps_rollup", "task/children"] {
                std::fs::write(process.join(file), &other).unwrap();
            }
            for file in ["schedstat", "status", "children"] {
                std::fs::write(process.join(format!("task/{pid}/{file}")), &other).unwrap();
            }
        }
        let root = ProcRoot::recorded(dir.path());
        for pid in 1..6 {
            if let Ok(probe) = ProcessProbe::new(&root, pid, &[]) {
                let store = SeriesStore::in_memory();
                let mut runner = ProbeRunner::new(&store, Box::new(probe));
                runner.read(&Clock::manual(0));
                runner.read(&Clock::manual(0));
                let state = &store.status().sources[0].state;
                prop_assert!(!matches!(state, SourceState::Ended(_)), "{:?}", state);
            }
        }
    }
}

/// Lines of `stat`: correct, with extreme numbers, cut or not text at all.
fn any_stat() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![Just(0u64), Just(1), Just(u64::MAX), 0u64..6, any::<u64>()];
    let line = (
        prop::collection::vec(any::<u8>(), 0..20),
        prop::collection::vec(number, 0..30),
        any::<prop::sample::Index>(),
    )
        .prop_map(|(name, numbers, cut)| {
            let mut line = b"1 (".to_vec();
            line.extend(name);
            line.extend(b") S");
            for number in numbers {
                line.extend(format!(" {number}").into_bytes());
            }
            let length = line.len();
            line.truncate(length - cut.index(length) / 4);
            line
        });
    prop_oneof![4 => line, 1 => prop::collection::vec(any::<u8>(), 0..100)]
}
