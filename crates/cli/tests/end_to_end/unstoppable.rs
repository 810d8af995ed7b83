//! Tests that a run can be stopped while something blocks: a core, a pipe without a reader, a full pipe, standard output.

use busyhour_results::replay_run;
use std::fs::File;
use std::io::Write as _;
use std::process::{Command, Stdio};

use busyhour_sample::{RecorderEvent, RunEnd};
use rustix::process::Signal;

use crate::plans::{element, get, get_with, group, named_group, plan, text};
use crate::program::{Room, Running, wait_for};
use crate::servers::{Gate, Server, answer};

fn make_pipe(room: &Room, name: &str) {
    let path = room.path().join(name);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn port(server: &Server) -> String {
    format!("-JPORT={}", server.port())
}

/// A CSV Data Set Config whose file is a pipe without a writer, so that opening it blocks the thread.
fn blocking_data() -> String {
    let properties = text("filename", "data.pipe")
        + &text("variableNames", "a")
        + &text("delimiter", ",")
        + &text("shareMode", "shareMode.all");
    element("CSVDataSet", "Data", &properties, "")
}

/// Sends the stop signal twice, the second time after the response to the first.
fn stop_twice(running: &Running) {
    running.signal(Signal::INT);
    running.wait_for_stderr("repeat to stop now");
    running.signal(Signal::INT);
}

#[test]
fn a_blocked_core_is_abandoned_and_other_results_are_stored() {
    let server = Server::quick();
    let room = Room::new();
    make_pipe(&room, "data.pipe");
    // The first user of the second group blocks its core; the users of the first group are on both cores.
    let blocked = named_group("Blocked", "1", "1", &(blocking_data() + &get("never", "/never")));
    room.file("plan.jmx", plan(&(named_group("Free", "2", "-1", &get("free", "/")) + &blocked)));
    let running = room.start(["run", "plan.jmx", "--cores", "2", "-l", "out.jtl", &port(&server)]);
    wait_for("rows of the core that is free", || {
        let rows = std::fs::read_to_string(room.path().join("out.jtl")).unwrap_or_default();
        (rows.lines().count() > 2).then_some(())
    });
    stop_twice(&running);
    running.end().expect(4).prints(&[
        "stopped early",
        "did not respond when the run was forced to end",
        "report.html",
    ]);
    let outcome = room.manifest().outcome.unwrap();
    assert_eq!(outcome.end, RunEnd::Aborted);
    assert_eq!(outcome.generator.abandoned.len(), 1);
    let replay = replay_run(&room.run_dir()).unwrap();
    assert_eq!(replay.end.cut_at, None);
    assert!(replay.totals.total.samples > 0);
}

#[test]
fn the_grace_period_ends_without_a_second_signal() {
    let gate = Gate::default();
    let at_server = gate.clone();
    let server = Server::start(move |stream, _| {
        at_server.wait();
        answer(stream)
    });
    let room = Room::new();
    room.file("plan.jmx", plan(&group("1", "-1", &get("held", "/"))));
    let running = room.start(["run", "plan.jmx", "--grace", "100ms", &port(&server)]);
    wait_for("the user waits at the server", || (server.requests() == 1).then_some(()));
    running.signal(Signal::TERM);
    running.end().expect(4).reports(&["for at most 0.1 s", "the grace period of 0.1 s is over"]);
    assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::Aborted);
    gate.open();
}

#[test]
fn signals_are_handled_while_a_pipe_has_no_reader() {
    let server = Server::quick();
    for option in ["-l", "-j"] {
        let room = Room::new();
        make_pipe(&room, "pipe");
        room.file("plan.jmx", plan(&group("1", "-1", &get("a", "/"))));
        let running = room.start(["run", "plan.jmx", option, "pipe", &port(&server)]);
        wait_for("the run directory", || room.has_run_dir().then_some(()));
        running.signal(Signal::TERM);
        let ended = running.end().expect(4);
        if option == "-l" {
            ended.reports(&["waiting for a program that reads the pipe pipe", "pipe"]);
        }
    }
}

#[test]
fn a_full_pipe_loses_rows_but_does_not_block_the_end() {
    let server = Server::quick();
    let room = Room::new();
    make_pipe(&room, "pipe");
    // The pipe is opened for reading and writing, so it has a reader that never reads.
    let _reader = File::options().read(true).write(true).open(room.path().join("pipe")).unwrap();
    room.file("plan.jmx", plan(&group("4", "-1", &get("a", "/"))));
    let running = room.start(["run", "plan.jmx", "-l", "pipe", "--grace", "1s", &port(&server)]);
    wait_for("more rows than the pipe holds", || (server.requests() > 2_000).then_some(()));
    stop_twice(&running);
    running.end().expect(4);
    let outcome = room.manifest().outcome.unwrap();
    let lost: Vec<u64> = outcome
        .recorder_events
        .iter()
        .filter_map(|event| match event {
            RecorderEvent::LostOutput { file, lost, .. } if file == "pipe" => Some(*lost),
            _ => None,
        })
        .collect();
    assert!(matches!(lost[..], [rows] if rows > 0), "{:?}", outcome.recorder_events);
    let replay = replay_run(&room.run_dir()).unwrap();
    assert_eq!(replay.end.cut_at, None);
    assert!(replay.totals.total.samples >= lost[0], "the record contains the lost rows");
}

#[test]
fn a_blocked_standard_output_does_not_delay_the_stop() {
    let server = Server::quick();
    let room = Room::new();
    make_pipe(&room, "out");
    let out = File::options().read(true).write(true).open(room.path().join("out")).unwrap();
    // The pipe is full from the beginning, because this thread writes more than its capacity.
    let mut filler = out.try_clone().unwrap();
    std::thread::spawn(move || filler.write_all(&vec![0; 1 << 20]));
    room.file("plan.jmx", plan(&group("1", "-1", &get("a", "/"))));
    let mut child = Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args([
            "-n",
            "-t",
            "plan.jmx",
            "-Jsummariser.interval=1",
            "-Jjmeterengine.nongui.port=0",
            &port(&server),
        ])
        .current_dir(room.path())
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the run", || (server.requests() > 10).then_some(()));
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, Signal::HUP).unwrap();
    let status = wait_for("its end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(4));
    assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::Interrupted);
}

#[test]
fn sighup_stops_the_run_and_sigusr1_prints_progress() {
    let server = Server::quick();
    let room = Room::new();
    let hour = element("ConstantTimer", "Pause", &text("ConstantTimer.delay", "3600000"), "");
    room.file("plan.jmx", plan(&group("1", "1", &(get("a", "/") + &get_with("b", "/", "", &hour)))));
    let running = room.start(["run", "plan.jmx", &port(&server)]);
    wait_for("the first request", || (server.requests() == 1).then_some(()));
    running.signal(Signal::USR2);
    running.signal(Signal::USR1);
    running.wait_for_stderr("1 user");
    running.signal(Signal::HUP);
    running.end().expect(4).reports(&["stopping: users finish"]);
    assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::Interrupted);
}

#[test]
fn a_suspended_process_raises_a_stall_caveat() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "-1", &get("a", "/"))));
    let running = room.start(["run", "plan.jmx", &port(&server)]);
    wait_for("a second of the run", || (room.has_run_dir() && server.requests() > 100).then_some(()));
    running.signal(Signal::STOP);
    let requests = server.requests();
    // The reported length must be at least the length of the suspension.
    std::thread::sleep(std::time::Duration::from_millis(900));
    running.signal(Signal::CONT);
    wait_for("more requests", || (server.requests() > requests + 100).then_some(()));
    running.signal(Signal::INT);
    running.end().expect(4).prints(&["this process did not run for"]);
    let stalls = room.manifest().outcome.unwrap().generator.stalls;
    let longest = stalls.iter().filter(|stall| stall.core.is_none()).map(|stall| stall.length_ns).max();
    assert!(longest.is_some_and(|ns| ns >= 500_000_000), "{stalls:?}");
}
