//! Tests the demo.

use busyhour_results::replay_run;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::cells::has_jdk;
use crate::program::{Room, wait_for};

#[test]
fn the_demo_runs_and_leaves_nothing_running() {
    let room = Room::new();
    let ended = room.run_line("demo --seconds 2 --rate 100 --seed 1").expect(0);
    let ended = ended.reports(&["started a ticket shop at http://127.0.0.1:", "visitors arrive at random"]);
    let ended = ended.prints(&["Add booking", "Total", "none failed", "report.html", "Next steps:"]);
    let things = ended.stdout.split("Next steps:").nth(1).unwrap();
    assert_eq!(
        things.lines().filter(|line| line.trim_start().starts_with("busyhour ")).count(),
        4,
        "{things}"
    );
    let report = std::fs::read_to_string(room.run_dir().report_path()).unwrap();
    assert!(report.contains("Add booking") && report.contains("</html>"));
    let totals = replay_run(&room.run_dir()).unwrap().totals;
    assert!(totals.total.samples > 50 && totals.total.errors == 0);
    // The shop has ended: its port refuses connections.
    let (_, rest) = ended.stderr.split_once("http://127.0.0.1:").unwrap();
    let port: u16 = rest.split('/').next().unwrap().parse().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

/// Ends a demo with a signal during the run; returns the port of its shop.
fn end_by_signal(signal: Signal, code: Option<i32>) -> u16 {
    let room = Room::new();
    let running = room.start(["demo", "--closed", "--seconds", "1000", "--users", "3", "--rate", "30"]);
    running.wait_for_stderr("users start within");
    let port = {
        let printed = running.stderr();
        printed.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap().parse().unwrap()
    };
    wait_for("the run has begun", || room.has_run_dir().then_some(()));
    running.signal(signal);
    let ended = running.end();
    assert_eq!(ended.status.code(), code, "{}", ended.all());
    port
}

#[test]
fn a_closed_demo_is_described_without_a_complaint_about_bursts() {
    let room = Room::new();
    let ended = room.run_line("demo --closed --seconds 6 --users 20 --rate 200 --seed 1").expect(0);
    let ended = ended.reports(&["20 users start within"]).prints(&["closed load of 20 users"]);
    assert!(!ended.stdout.contains("burstier"), "{}", ended.stdout);
    assert!(ended.stdout.contains("paced by the plan's Constant Throughput Timer"), "{}", ended.stdout);
    room.run_line("demo --users 20").expect(2).reports(&["--closed"]);
}

#[test]
fn ctrl_c_ends_the_demo_and_its_shop() {
    let port = end_by_signal(Signal::INT, Some(4));
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn the_shop_does_not_outlive_a_demo_that_is_killed() {
    let port = end_by_signal(Signal::KILL, None);
    wait_for("the shop closes", || TcpStream::connect(("127.0.0.1", port)).is_err().then_some(()));
}

#[test]
fn the_cells_are_loaded_and_observed() {
    if !has_jdk() {
        return;
    }
    let room = Room::new();
    let line = "demo --system cells --for 6s --users 20 --configurations 3,4,7 --collector serial --seed 1";
    let ended = room.run_line(line).expect(0);
    let ended = ended.reports(&["started the cells emulator at http://127.0.0.1:", "20 users start within"]);
    let ended =
        ended.prints(&["config 3", "config 7", "500: Internal Server Error (config 4", "Next steps:"]);
    assert!(!ended.stdout.contains("config 1 "), "{}", ended.stdout);
    let totals = replay_run(&room.run_dir()).unwrap().totals;
    // One of three configurations fails.
    let (samples, errors) = (totals.total.samples, totals.total.errors);
    assert!(samples > 30 && errors > samples / 4 && errors < samples / 2, "{errors} of {samples}");
    #[cfg(target_os = "linux")]
    {
        for source in ["os", "process:", "jvm:", "gc:busyhour-lab", "server.log", "access.log"] {
            let is_watched = |line: &str| line.contains(source) && line.ends_with(": watched");
            assert!(ended.stderr.lines().any(is_watched), "{source}: {}", ended.stderr);
        }
        let report = std::fs::read_to_string(room.run_dir().report_path()).unwrap();
        assert!(
            report.contains("Java virtual machine") && report.contains("fails in configuration"),
            "the report"
        );
    }
    // The page of its GC log can be made with the printed line.
    let step = ended.stdout.lines().find(|line| line.contains("observe gc")).unwrap();
    room.run_line(step.trim().trim_start_matches("busyhour ")).expect(0);
    assert!(room.read("gc.html").contains("garbage collection"));
    // The emulator has ended: its port refuses connections.
    let (_, rest) = ended.stderr.split_once("http://127.0.0.1:").unwrap();
    let port: u16 = rest.split(';').next().unwrap().parse().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[test]
fn options_for_another_system_and_a_missing_jdk_are_named() {
    let room = Room::new();
    for (options, code, words) in [
        ("--configurations 3", 2, "busyhour demo --system cells"),
        ("--system cells --rate 100/s", 2, "--closed and --rate are for the shop"),
        ("--system cells --configurations 11", 2, "11"),
        ("--system cells --users 0", 2, "must be at least 1"),
        ("--system cells --java-home nowhere", 1, "install a JDK, version 11 or later"),
    ] {
        room.run_line(&format!("demo {options}")).expect(code).reports(&[words]);
    }
    assert_eq!(std::fs::read_dir(room.path().join("busyhour-lab")).unwrap().count(), 0, "no empty directory");
}

#[test]
fn the_shop_can_be_started_without_the_demo() {
    let room = Room::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args(["lab", "server", "shop", "--port", "0", "--small"])
        .current_dir(room.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /ticket-monster/rest/venues HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut status = String::new();
    BufReader::new(stream).read_line(&mut status).unwrap();
    assert_eq!(status, "HTTP/1.1 200 OK\r\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::TERM).unwrap();
    let status = wait_for("the shop closes", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0));
}
