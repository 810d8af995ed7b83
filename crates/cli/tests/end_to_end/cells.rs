//! Tests the cells emulator, which needs a JDK.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Ended, Room, Running, rows, wait_for};
use crate::servers::Server;

/// Whether there is a Java compiler; prints a note if not.
pub(crate) fn has_jdk() -> bool {
    let found = Command::new("javac").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_found = found.is_ok_and(|status| status.success());
    if !is_found {
        // Visible with `cargo test -- --nocapture`, and when the test fails.
        let words = b"SKIPPED: there is no javac, so the cells emulator is not started\n";
        std::io::stderr().write_all(words).unwrap();
    }
    is_found
}

/// A running emulator with its logs in `logs`.
struct Emulator {
    running: Running,
    port: u16,
}

impl Emulator {
    fn start(room: &Room, options: &[&str]) -> Self {
        let fixed = ["lab", "server", "cells", "--port", "0", "--dir", "logs"];
        let running = room.start(fixed.iter().chain(options));
        let port = wait_for("the emulator listens", || {
            let printed = running.stdout();
            printed.trim_end().strip_prefix("listening on http://127.0.0.1:")?.parse().ok()
        });
        Self { running, port }
    }

    /// Sends a request; returns the status and the body.
    fn send(&self, method: &str, path: &str) -> (u16, String) {
        exchange(self.port, method, path).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request in another thread.
    fn send_aside(&self, path: &'static str) -> JoinHandle<std::io::Result<(u16, String)>> {
        let port = self.port;
        std::thread::spawn(move || exchange(port, "GET", path))
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.send("GET", "/status").1).unwrap()
    }

    /// Bytes on the heap after a full collection.
    fn live_bytes(&self) -> i64 {
        let reply: Value = serde_json::from_str(&self.send("POST", "/gc").1).unwrap();
        reply["heap_used_bytes"].as_i64().unwrap()
    }

    fn pid(&self) -> u32 {
        // It is printed shortly after the address.
        wait_for("the process is named", || {
            let printed = self.running.stderr();
            printed.split("process ").nth(1)?.split_once(';')?.0.parse().ok()
        })
    }

    /// Ends it with a signal.
    fn end(self, signal: Signal) -> Ended {
        self.running.signal(signal);
        let port = self.port;
        let ended = self.running.end();
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "the port is closed");
        ended
    }
}

fn exchange(port: u16, method: &str, path: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    let length = if method == "POST" { "Content-Length: 0\r\n" } else { "" };
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: cells\r\n{length}Connection: close\r\n\r\n")?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    let status = reply.split(' ').nth(1).and_then(|word| word.parse().ok());
    let (_, body) = reply.split_once("\r\n\r\n").unwrap_or_default();
    status.map(|status| (status, body.to_owned())).ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

/// Waits until a log has `count` lines.
fn wait_for_lines(room: &Room, log: &str, count: usize) -> Vec<String> {
    let lines = || room.read(log).lines().map(str::to_owned).collect::<Vec<String>>();
    wait_for(log, || Some(lines()).filter(|lines| lines.len() >= count))
}

#[test]
fn every_configuration_behaves_as_described_and_is_logged() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    let options = ["--cpu-factor", "0.01", "--workers", "3", "--collector", "serial", "--heap", "64m"];
    let emulator = Emulator::start(&room, &options);
    for (number, calls) in [
        (1, r#"["TB1","TB2"]"#),
        (2, r#"["TB1","TB3"]"#),
        (3, r#"["TB1","TB2","TB4","TB6"]"#),
        (5, r#"["TB1","TB2","TB5","TB3","TB6"]"#),
        (6, r#"["TB1","TB2","TB4","TB5"]"#),
        (7, r#"["TB1","TB3"]"#),
        (8, r#"["TB1","TB2","TB4","TB5","TB6"]"#),
        (10, r#"["TB1","TB2","TB4","TB5","TB6","TB3"]"#),
    ] {
        let (status, body) = emulator.send("GET", &format!("/cells?config={number}"));
        assert_eq!(status, 200, "{number}: {body}");
        assert!(body.starts_with(&format!("{{\"config\":{number},\"calls\":{calls},")), "{body}");
    }
    for (number, cell) in [(4, "TB5"), (9, "TB4")] {
        let (status, body) = emulator.send("GET", &format!("/cells?config={number}"));
        let message = format!("java.lang.RuntimeException: {cell} fails in configuration {number}\n");
        assert_eq!((status, body), (500, message));
    }
    for (method, path, status, words) in [
        ("GET", "/cells?config=11", 400, "config must be one of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], not 11"),
        ("GET", "/cells?config=99999999999", 400, "not 99999999999"),
        ("GET", "/cells", 400, "config is missing"),
        ("POST", "/cells?config=1", 405, "GET, HEAD"),
        ("GET", "/gc", 405, "POST"),
        ("GET", "/nothing", 404, "/cells?config=N"),
    ] {
        let (found, body) = emulator.send(method, path);
        assert!(found == status && body.contains(words), "{method} {path}: {found} {body}");
    }
    let status = emulator.status();
    assert_eq!((status["failures"].as_i64(), status["workers"].as_i64()), (Some(2), Some(3)), "{status}");
    assert_eq!(status["heap_max_bytes"].as_i64().unwrap() >> 20, 61, "64 MiB without a survivor space");
    emulator.live_bytes();
    check_logs(&room);
    assert_eq!(emulator.pid(), u32::try_from(status["pid"].as_i64().unwrap()).unwrap());
    emulator.end(Signal::TERM).expect(0).reports(&["server.log, access.log and gc.log are in logs"]);
    let log = room.read("logs/server.log");
    assert!(log.trim_end().ends_with("cells.Server - stopping after 18 requests"), "{log}");
}

/// The logs of the requests of [`every_configuration_behaves_as_described_and_is_logged`].
fn check_logs(room: &Room) {
    let access = wait_for_lines(room, "logs/access.log", 18);
    let form = regex::Regex::new(
        r#"^127\.0\.0\.1 - - \[\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "([A-Z]+ \S+) HTTP/1\.1" (\d{3}) (\d+) (\d+)$"#,
    )
    .unwrap();
    let entries: Vec<_> =
        access.iter().map(|line| form.captures(line).unwrap_or_else(|| panic!("{line}"))).collect();
    let statuses = |status: &str| -> Vec<&str> {
        entries
            .iter()
            .filter(|entry| &entry[2] == status)
            .map(|entry| entry.get(1).unwrap().as_str())
            .collect()
    };
    // The worker of the second request may write its line before that of the first one.
    let mut failed = statuses("500");
    failed.sort_unstable();
    assert_eq!(failed, ["GET /cells?config=4", "GET /cells?config=9"]);
    assert_eq!((statuses("200").len(), statuses("400").len(), statuses("404").len()), (10, 3, 1));
    assert!(entries.iter().all(|entry| entry[4].parse::<u64>().unwrap() > 0), "durations in µs");
    let log = room.read("logs/server.log");
    let entry = regex::Regex::new(
        r"(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ERROR \[worker-\d+\] cells\.Server - GET /cells\?config=(\d+) failed
java\.lang\.RuntimeException: (TB\d) fails in configuration \d+
	at busyhour\.cells\.Cells\$Bean\.work\(Cells\.java:\d+\)
	at busyhour\.cells\.Cells\$Cell\.call\(Cells\.java:\d+\)\n",
    )
    .unwrap();
    let failed: Vec<_> =
        entry.captures_iter(&log).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
    let expected = [("4", "TB5"), ("9", "TB4")].map(|(number, cell)| (number.to_owned(), cell.to_owned()));
    assert_eq!(failed, expected, "{log}");
    assert_eq!(log.matches(" ERROR ").count(), 2, "{log}");
    // The line number in the stack trace refers to the source file next to the log.
    let line: usize =
        log.split("Bean.work(Cells.java:").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    let source = room.read("logs/Cells.java");
    assert!(source.lines().nth(line - 1).unwrap().contains("new Throwable()"));
    let gc = room.read("logs/gc.log");
    assert!(gc.contains("Using Serial") && gc.contains("Pause Full (System.gc())"), "{gc}");
}

#[test]
fn leaks_grow_by_the_bytes_of_their_arrays_and_survive_collections() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    let emulator = Emulator::start(&room, &["--cpu-factor", "0", "--heap", "64m", "--log-level", "error"]);
    let send = |number: u32, count: u32| {
        for _ in 0..count {
            emulator.send("GET", &format!("/cells?config={number}"));
        }
    };
    // These requests load classes and allocate buffers of the server itself.
    (1..=10).for_each(|number| send(number, 20));
    let leaked = || {
        let status = emulator.status();
        (status["leaked_arrays"].as_i64().unwrap(), status["leaked_bytes"].as_i64().unwrap())
    };
    for (number, count, bytes) in [(3, 400, 0), (1, 400, 2_048), (2, 400, 4_096), (7, 400, 8_192)] {
        let ((arrays, leaked_bytes), live) = (leaked(), emulator.live_bytes());
        send(number, count);
        let growth = (leaked().0 - arrays, leaked().1 - leaked_bytes);
        let expected = i64::from(count) * bytes;
        assert_eq!(growth, (if bytes > 0 { i64::from(count) } else { 0 }, expected), "{number}");
        let live_growth = emulator.live_bytes() - live;
        // An array has a header of 16 bytes; the server's own objects vary by less than half a megabyte.
        let slack = 512 * 1024;
        assert!(
            (expected - slack..=expected + expected / 50 + slack).contains(&live_growth),
            "configuration {number}: {live_growth} bytes instead of {expected}"
        );
    }
    let log = room.read("logs/server.log");
    assert!(!log.contains(" INFO ") && log.contains(" ERROR "), "{log}");
    emulator.end(Signal::INT).expect(0);
}

#[test]
fn a_bean_serves_one_request_at_a_time() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    room.file("own.toml", "[[configuration]]\nnumber = 1\ncells.TB1 = { cpu = 2_000_000_000 }\n");
    let options =
        ["--configurations", "own.toml", "--beans", "1", "--bean-wait", "1ms", "--cpu-factor", "100"];
    let emulator = Emulator::start(&room, &options);
    assert_eq!(room.read("logs/cells.toml"), room.read("own.toml"));
    // This request is not answered before the end of the test.
    let busy = emulator.send_aside("/cells?config=1");
    wait_for("the bean is in use", || (emulator.status()["pools"][0]["busy"] == 1).then_some(()));
    let (status, body) = emulator.send("GET", "/cells?config=1");
    assert_eq!(status, 500);
    assert!(body.contains("no bean of TB1 became free within 1 ms; all 1 are in use"), "{body}");
    let pool = emulator.status()["pools"][0].clone();
    assert_eq!((pool["beans"].as_i64(), pool["waits"].as_i64()), (Some(1), Some(1)), "{pool}");
    emulator.end(Signal::TERM).expect(0);
    assert!(busy.join().unwrap().is_err(), "the connection was closed");
}

#[test]
fn the_java_process_does_not_outlive_its_parent() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    room.file("own.toml", "[[configuration]]\nnumber = 1\ncells.TB1 = { cpu = 2_000_000_000 }\n");
    let emulator = Emulator::start(&room, &["--configurations", "own.toml"]);
    let (pid, port) = (emulator.pid(), emulator.port);
    let java = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let group = rustix::process::getpgid(java).unwrap();
    assert_ne!(
        group,
        rustix::process::getpgid(None).unwrap(),
        "a Ctrl-C of the terminal does not reach Java"
    );
    let busy = emulator.send_aside("/cells?config=1");
    wait_for("a request is served", || (emulator.status()["pools"][0]["busy"] == 1).then_some(()));
    emulator.running.signal(Signal::KILL);
    emulator.running.end();
    wait_for("the port is closed", || TcpStream::connect(("127.0.0.1", port)).is_err().then_some(()));
    if cfg!(target_os = "linux") {
        wait_for("the process has ended", || {
            // A zombie process has an empty command line.
            let command = std::fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline"));
            command.map_or(true, |command| command.is_empty()).then_some(())
        });
    }
    assert!(busy.join().unwrap().is_err());
}

#[test]
fn a_full_heap_ends_the_emulator_with_an_error() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    room.file("own.toml", "[[configuration]]\nnumber = 5\ncells.TB1 = { leak = 1_000_000 }\n");
    let options = ["--configurations", "own.toml", "--heap", "32m", "--collector", "serial"];
    let emulator = Emulator::start(&room, &options);
    let sent = (0..100).take_while(|_| exchange(emulator.port, "GET", "/cells?config=5").is_ok()).count();
    assert!((10..32).contains(&sent), "{sent} MB on a heap of 32 MiB");
    let ended = emulator.running.end().expect(1);
    ended.reports(&["ran out of memory", "these configurations leak on purpose: 5"]);
}

#[test]
fn the_plan_of_the_cells_runs() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    let emulator = Emulator::start(&room, &["--cpu-factor", "0.01"]);
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plans/cells.jmx");
    let port = format!("PORT={}", emulator.port);
    let load =
        ["-J", "USERS=3", "-J", "RAMPUP=0", "-J", "DURATION=5", "-J", "THINK=0", "-J", "THINK_RANDOM=2"];
    room.run(["run", plan, "-l", "all.jtl", "-J", &port].iter().chain(&load)).expect(0);
    let all = rows(&room.read("all.jtl"));
    for number in 1..=10 {
        let label = format!("config {number}");
        let of_label: Vec<_> = all.iter().filter(|row| row["label"] == label).collect();
        assert!(!of_label.is_empty(), "{label} is missing");
        let code = if [4, 9].contains(&number) { "500" } else { "200" };
        assert!(of_label.iter().all(|row| row["responseCode"] == code), "{label} responds {code}");
    }
    let load =
        ["-J", "USERS=1", "-J", "RAMPUP=0", "-J", "DURATION=1", "-J", "THINK=0", "-J", "CONFIGURATIONS=3"];
    room.run(["run", plan, "-l", "three.jtl", "-J", &port].iter().chain(&load)).expect(0);
    let three = rows(&room.read("three.jtl"));
    assert!(!three.is_empty() && three.iter().all(|row| row["label"] == "config 3"), "{three:?}");
    emulator.end(Signal::TERM).expect(0);
}

#[test]
fn mistakes_in_options_are_reported() {
    let room = Room::new();
    let one = |cell: &str| format!("[[configuration]]\nnumber = 3\ncells.TB1 = {cell}\n");
    room.file("down.toml", one("{ calls = [\"TB1\"] }"));
    room.file("unknown.toml", one("{ cqu = 1 }"));
    for (options, code, words) in [
        ("--configurations missing.toml", 3, "cannot read missing.toml"),
        ("--configurations down.toml", 3, "down.toml: configuration 3: TB1 calls TB1"),
        ("--configurations unknown.toml", 3, "unknown field `cqu`"),
        ("--workers 0", 2, "--workers"),
        ("--beans 0", 2, "--beans"),
        ("--bean-wait 10", 2, "`10` has no unit; write 10s or 10ms"),
        ("--cpu-factor -1", 2, "from 0 to 1000"),
        ("--heap 64", 2, "expected a whole number with a unit: 64m, 1g"),
        ("--collector cms", 2, "shenandoah"),
        ("--small", 2, "are for the server shop, not for the cells"),
        ("--stall 2s@10s", 2, "are for the server probe, not for the cells"),
        ("--java-home nowhere", 1, "install a JDK, version 11 or later"),
    ] {
        let line =
            format!("lab server cells --port 0 --dir logs {options}").replace("-factor -", "-factor=-");
        room.run_line(&line).expect(code).reports(&[words]);
    }
    room.run_line("lab server shop --port 0 --heap 64m").expect(2).reports(&["lab server cells"]);
    // Without a compiler on the path.
    let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
    command.args(["lab", "server", "cells", "--port", "0"]).env("PATH", "/nowhere").env_remove("JAVA_HOME");
    let ended = room.start_command(command).end().expect(1);
    ended.reports(&["the Java compiler cannot be started: javac", "--java-home DIR"]);
    assert_eq!(std::fs::read_dir(room.path().join("busyhour-lab")).unwrap().count(), 0, "no empty directory");
}

#[test]
fn errors_of_java_are_reported() {
    if !has_jdk() {
        return;
    }
    let (room, server) = (Room::new(), Server::quick());
    let port = server.port();
    for (name, exception) in
        [("missing", "x.NoSuch"), ("text", "java.lang.String"), ("abstract", "java.lang.VirtualMachineError")]
    {
        let text = format!("[[configuration]]\nnumber = 3\ncells.TB1 = {{ exception = \"{exception}\" }}\n");
        room.file(&format!("{name}.toml"), text);
    }
    for (options, code, words) in [
        ("--port 0 --configurations missing.toml", 3, "configuration 3: there is no class x.NoSuch"),
        ("--port 0 --configurations text.toml", 3, "java.lang.String is not an exception"),
        ("--port 0 --configurations abstract.toml", 3, "cannot be created from a message"),
        ("--port 0 --java-option -XX:+NoSuchOption", 1, "NoSuchOption"),
        (&format!("--port {port}"), 1, &format!("cannot listen on 127.0.0.1:{port}")),
    ] {
        let line = format!("lab server cells --dir logs {options}");
        let ended = room.run_line(&line).expect(code).reports(&[words]);
        assert!(ended.stdout.is_empty(), "{}", ended.all());
    }
}

#[test]
fn the_class_that_leaks_is_found_in_rounds_of_load() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    let emulator =
        Emulator::start(&room, &["--cpu-factor", "0.001", "--collector", "serial", "--heap", "128m"]);
    let (pid, port) = (emulator.pid().to_string(), emulator.port);
    let search = |config: u32, more: &[&str]| {
        let url = format!("http://127.0.0.1:{port}/cells?config={config}");
        let fixed =
            ["observe", "leak", "--jvm", &pid, "--plan", &url, "--rounds", "10", "--idle", "0s", "--json"];
        room.run(fixed.iter().chain(&["--", "-n", "100"]).chain(more))
    };
    let leaking = search(7, &[]).expect(8);
    let found: Value = serde_json::from_str(&leaking.stdout).unwrap();
    assert_eq!(found.pointer("/report/outcome/outcome"), Some(&Value::from("leak")), "{found}");
    let suspect = &found["report"]["suspects"][0];
    let growth = suspect["bytes_per_request"]["slope"].as_f64().unwrap();
    assert!(suspect["class"] == "[B" && (8_192.0..9_000.0).contains(&growth), "{suspect}");
    leaking.reports(&["round 10 of 10: 100 requests"]);
    let clean = search(6, &[]).expect(0);
    let found: Value = serde_json::from_str(&clean.stdout).unwrap();
    assert_eq!(found.pointer("/report/suspects"), Some(&Value::Array(Vec::new())), "{found}");
    let failed = search(7, &["--unknown-option"]).expect(1);
    failed.reports(&["round 1: the run ended with"]);
    let nobody = room.run(["observe", "leak", "--jvm", "999999999", "--plan", "http://127.0.0.1:1/"]);
    nobody.expect(3).reports(&["process 999999999"]);
    emulator.end(Signal::TERM);
}
