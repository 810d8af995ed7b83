//! Tests `busyhour lab neighbour`: work, limits, and the end by a signal or with the parent.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use rustix::thread::{CpuSet, sched_getaffinity};
use serde_json::{Value, json};

use crate::program::{Room, Running, wait_for};

/// The cores that the tests may use.
fn allowed_cores() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect()
}

/// The summary of a neighbour that ended.
fn summary(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Starts a neighbour that ends only when it is asked to, and waits for its first line.
fn start(room: &Room, options: &str) -> Running {
    let line = format!("lab neighbour {options} --for 24h --json");
    let running = room.start(line.split_whitespace());
    running.wait_for_stderr("ends with its parent");
    running
}

/// Waits until a process has ended; a zombie process has an empty command line.
fn wait_for_end(pid: u64) {
    wait_for("the process has ended", || {
        let command = std::fs::read(format!("/proc/{pid}/cmdline"));
        command.map_or(true, |command| command.is_empty()).then_some(())
    });
}

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

#[test]
fn every_neighbour_works_until_its_time_is_over() {
    let room = Room::new();
    let cases = [
        ("cpu", "xorshift numbers"),
        ("cache --size 1m", "cache lines"),
        ("cache --size 1m --pattern chase", "cache lines"),
        ("memory --size 8m", "page writes"),
        ("disk --dir . --size 1m --block 4k", "writes with fsync"),
        ("network", "writes"),
        ("network --protocol udp", "datagrams"),
    ];
    // All of them run at the same time, long enough for each to get a turn on a busy machine.
    let running = cases.map(|(options, operation)| {
        let line = format!("lab neighbour {options} --intensity 10 --for 3s --json");
        (room.start(line.split_whitespace()), options, operation)
    });
    for (running, options, operation) in running {
        let found = summary(&running.end().expect(0).stdout);
        assert_eq!((&found["ended_by"], &found["operation"]), (&json!("time_limit"), &json!(operation)));
        assert_eq!((&found["intensity_percent"], &found["limit_s"]), (&json!(10), &json!(3.0)));
        assert_eq!(found["parent"], json!(std::process::id()), "{options}");
        assert!(found["operations"].as_u64() > Some(0), "{options}: {found}");
        let moves_data = !options.starts_with("cpu") && !options.starts_with("memory");
        assert_eq!(found["bytes"].as_u64() > Some(0), moves_data, "{options}: {found}");
    }
    assert_eq!(files(room.path()), 0, "the files of the disk neighbour are removed");
    let highest = allowed_cores().last().unwrap().to_string();
    let text = room.run_line("lab neighbour cpu --for 100ms").expect(0);
    text.prints(&[&format!("neighbour cpu on core {highest}: "), "its time is over", "busy "]);
}

#[test]
fn without_intensity_nothing_is_done() {
    let room = Room::new();
    for options in ["cpu", "disk --dir . --size 1m", "memory --size 8m", "network"] {
        let line = format!("lab neighbour {options} --intensity 0 --for 150ms --json");
        let found = summary(&room.run_line(&line).expect(0).stdout);
        assert_eq!((&found["operations"], &found["busy_s"]), (&json!(0), &json!(0.0)), "{line}");
    }
}

#[test]
fn stream_prints_its_results_as_the_original_does() {
    let room = Room::new();
    let ended = room.run_line("lab neighbour stream --for 300ms --repetitions 2");
    // It needs twelve times the cache.
    if ended.status.code() == Some(3) || ended.stderr.contains("last-level cache is unavailable") {
        let words = format!("SKIPPED: STREAM does not run on this machine: {}", ended.stderr);
        std::io::stderr().write_all(words.as_bytes()).unwrap();
        return;
    }
    let ended = ended.expect(0).reports(&["neighbour stream on core ", ": 3 arrays of "]);
    ended.prints(&[
        "Function    Best Rate MB/s  Avg time     Min time     Max time\nCopy:      ",
        "Each kernel will be executed 2 times.",
        "neighbour stream on core ",
    ]);
    let running = start(&room, "stream");
    running.signal(Signal::INT);
    let found = summary(&running.end().expect(4).stdout);
    assert_eq!(found["ended_by"], json!("signal"));
    let names: Vec<_> = found["detail"]["kernels"].as_array().unwrap().iter().map(|k| &k["name"]).collect();
    assert_eq!(names, ["Copy", "Scale", "Add", "Triad"]);
}

#[test]
fn all_threads_run_on_the_given_cores_only() {
    let room = Room::new();
    let core = allowed_cores()[0].to_string();
    let running = start(&room, &format!("cpu --cores {core} --intensity 1"));
    let mut threads = 0;
    for task in std::fs::read_dir(format!("/proc/{}/task", running.pid())).unwrap() {
        let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
        let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
        assert_eq!(list.trim(), core, "{status}");
        threads += 1;
    }
    assert!(threads >= 3, "the main thread, the one for signals and a worker");
    running.signal(Signal::TERM);
    assert_eq!(summary(&running.end().expect(4).stdout)["cores"], json!([allowed_cores()[0]]));
}

#[test]
fn signals_end_it_with_its_summary_and_without_its_files() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let room = Room::new();
        std::fs::create_dir(room.path().join("data")).unwrap();
        let running = start(&room, "disk --dir data --size 1m --block 4k --intensity 20");
        assert_eq!(files(&room.path().join("data")), 1, "one file per core");
        running.signal(signal);
        let found = summary(&running.end().expect(4).stdout);
        assert_eq!(found["ended_by"], json!("signal"));
        assert_eq!(files(&room.path().join("data")), 0, "{signal:?}");
    }
}

#[test]
fn it_ends_with_its_parent() {
    let room = Room::new();
    std::fs::create_dir(room.path().join("data")).unwrap();
    let mut shell = Command::new("sh");
    let line = "\"$BUSYHOUR\" lab neighbour disk --dir data --size 1m --block 4k --intensity 20 --for 24h --json \
                >summary.json 2>messages.txt & wait";
    shell.args(["-c", line]).env("BUSYHOUR", env!("CARGO_BIN_EXE_busyhour"));
    let parent = room.start_command(shell);
    wait_for("it works", || {
        let messages = std::fs::read_to_string(room.path().join("messages.txt")).unwrap_or_default();
        messages.contains(&format!("ends with its parent, process {})", parent.pid())).then_some(())
    });
    parent.signal(Signal::KILL);
    let found = wait_for("its summary", || serde_json::from_str::<Value>(&room.read("summary.json")).ok());
    assert_eq!((&found["ended_by"], &found["parent"]), (&json!("parent_ended"), &json!(parent.pid())));
    wait_for_end(found["process"].as_u64().unwrap());
    assert_eq!(files(&room.path().join("data")), 0);
}

#[test]
fn it_does_not_outlive_a_parent_that_ends_at_once() {
    let room = Room::new();
    for round in 0..8 {
        let mut shell = Command::new("sh");
        let line = "\"$BUSYHOUR\" lab neighbour cpu --intensity 1 --for 24h --parent $$ >out.txt 2>err.txt &";
        let line =
            line.replace("out.txt", &format!("out-{round}")).replace("err.txt", &format!("err-{round}"));
        shell.args(["-c", &line]).env("BUSYHOUR", env!("CARGO_BIN_EXE_busyhour"));
        room.start_command(shell).end().expect(0);
    }
    for round in 0..8 {
        wait_for("the neighbour ends", || {
            let read = |name| std::fs::read_to_string(room.path().join(format!("{name}-{round}")));
            let printed = read("out").ok()? + &read("err").ok()?;
            let ends = ["its parent ended", "the parent process has ended"];
            ends.iter().any(|end| printed.contains(end)).then_some(())
        });
    }
}

#[test]
fn it_outlives_the_thread_that_started_it() {
    let room = Room::new();
    // The kernel sends its signal also at the end of this thread, although the parent continues.
    let running =
        std::thread::scope(|scope| scope.spawn(|| start(&room, "cpu --intensity 1")).join().unwrap());
    running.signal(Signal::USR2);
    running.signal(Signal::TERM);
    assert_eq!(summary(&running.end().expect(4).stdout)["ended_by"], json!("signal"));
}

#[test]
fn a_process_that_is_not_the_parent_is_refused() {
    let room = Room::new();
    let own = std::process::id();
    room.run_line(&format!("lab neighbour cpu --for 10ms --parent {own}")).expect(0);
    let ended = room.run_line("lab neighbour cpu --for 24h --parent 1").expect(3);
    ended.reports(&["the parent process has ended or is not the one given with --parent"]);
}

#[test]
fn mistakes_and_missing_resources_are_reported() {
    let room = Room::new();
    room.file("file", "");
    for (line, code, words) in [
        ("cpu --cores 0-x", 2, "\"0-x\" is neither a core nor a range of cores"),
        ("cpu --cores 2-1", 2, "the range 2-1 ends before it starts"),
        ("cpu --cores 1023", 2, "this process cannot run on core 1023; it may use "),
        ("cpu --cores 1024", 2, "core 1024 is too large"),
        ("cpu --intensity 101", 2, "from 0 to 100"),
        ("cpu --intensity -5", 2, "from 0 to 100"),
        ("cpu --for 25h", 2, "at most 24h"),
        ("cpu --for 0s", 2, "greater than 0"),
        ("stream --size 1m", 2, "smaller than the rule of STREAM allows"),
        ("stream --repetitions 1", 2, "2..=200"),
        ("stream --size 1000000g", 3, "(MemAvailable"),
        ("cache --size 1000000g", 3, "of memory are needed, but "),
        ("memory", 2, "--size <SIZE>"),
        ("memory --size 1000000g", 3, "of which 64.0 MiB remain unused"),
        ("memory --size 1m", 2, "1048576 bytes are too little for 1 thread: each needs at least 4194304"),
        ("disk", 2, "--dir <DIR>"),
        ("disk --dir missing", 2, "--dir: missing is not a directory"),
        ("disk --dir file --size 1m", 2, "--dir: file is not a directory"),
        ("disk --dir . --size 1000000g", 3, "are needed in ., but "),
        ("disk --dir . --block 65m", 2, "at most 64m"),
        ("disk --dir . --size 1k --block 4k", 2, "too little"),
        ("network --protocol sctp", 2, "tcp, udp"),
        ("strem", 2, "did you mean 'stream'?"),
    ] {
        let ended = room.run_line(&format!("lab neighbour {line}")).expect(code).reports(&[words]);
        assert!(ended.stdout.is_empty(), "{}", ended.all());
    }
    assert_eq!(files(room.path()), 1, "no other files");
    room.run_line("neighbour cpu").expect(2).reports(&["did you mean 'busyhour lab neighbour'?"]);
}
