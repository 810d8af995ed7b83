//! Tests stop requests and killed runs.

use busyhour_results::replay_run;
use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;

use busyhour_record::RunDir;
use busyhour_sample::RunEnd;
use rustix::process::Signal;

use crate::plans::{element, get, get_with, group, plan, text};
use crate::program::{Room, Running, rows, wait_for};
use crate::servers::{Gate, Server, answer};

const USERS: usize = 3;

/// A server that delays its responses until the gate opens, and an endless run whose users all wait for it.
struct Held {
    room: Room,
    server: Server,
    gate: Gate,
    running: Running,
}

/// Starts a run; the first `free` requests receive immediate responses.
fn held(free: usize, arguments: &[&str]) -> Held {
    let gate = Gate::default();
    let at_server = gate.clone();
    let served = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |stream, _| {
        if served.fetch_add(1, std::sync::atomic::Ordering::SeqCst) >= free {
            at_server.wait();
        }
        answer(stream)
    });
    let room = Room::new();
    room.file("plan.jmx", plan(&group(&USERS.to_string(), "-1", &get("held", "/"))));
    let port = format!("-JPORT={}", server.port());
    let running = room.start(arguments.iter().copied().chain([port.as_str()]));
    wait_for("every user waits at the server", || (server.requests() >= free + USERS).then_some(()));
    Held { room, server, gate, running }
}

const RUN: [&str; 2] = ["run", "plan.jmx"];

/// Asserts that after a graceful stop every request is recorded and none failed.
fn assert_all_requests_are_recorded(room: &Room, server: &Server) {
    let jtl = room.run_dir().jtl_path();
    let rows = rows(&std::fs::read_to_string(jtl).unwrap());
    assert_eq!(rows.len(), server.requests());
    assert!(rows.iter().all(|row| row["success"] == "true"), "{rows:?}");
    let outcome = room.manifest().outcome.unwrap();
    assert_eq!(outcome.end, RunEnd::Interrupted);
    assert_eq!(outcome.users_finished, USERS as u64);
}

fn stop_gracefully(signal: Signal) {
    let Held { room, server, gate, running } = held(10, &RUN);
    running.signal(signal);
    running.wait_for_stderr("stopping: users finish their current sample");
    gate.open();
    running.end().expect(4).prints(&["stopped early", "report.html"]);
    assert_all_requests_are_recorded(&room, &server);
}

#[test]
fn ctrl_c_lets_users_finish_their_samples() {
    stop_gracefully(Signal::INT);
}

#[test]
fn users_blocked_in_a_synchronizing_timer_are_released() {
    let server = Server::quick();
    let room = Room::new();
    let timer = element("SyncTimer", "meet", &(text("groupSize", "3") + &text("timeoutInMs", "0")), "");
    // Two users wait for a third one, which does not exist.
    room.file(
        "plan.jmx",
        plan(&group("2", "1", &(get("first", "/") + &get_with("second", "/", "", &timer)))),
    );
    let running = room.start(["run", "plan.jmx", &format!("-JPORT={}", server.port())]);
    wait_for("both users have completed the first request", || (server.requests() == 2).then_some(()));
    running.signal(Signal::INT);
    running.end().expect(4);
    assert_eq!(server.requests(), 2);
}

#[test]
fn sigterm_lets_users_finish_their_samples() {
    stop_gracefully(Signal::TERM);
}

/// Asserts that after an immediate stop completed requests are recorded and discarded ones are counted.
fn assert_discarded_requests_are_counted(room: &Room, done: usize) {
    let outcome = room.manifest().outcome.unwrap();
    assert_eq!(outcome.end, RunEnd::Aborted);
    let replay = replay_run(&room.run_dir()).unwrap();
    assert_eq!(replay.end.cut_at, None);
    let good = replay.totals.total.samples - replay.totals.total.errors;
    assert_eq!(good, done as u64);
    assert!(
        outcome.generator.interrupted_samples + replay.totals.total.errors >= USERS as u64,
        "{outcome:?}"
    );
}

#[test]
fn a_second_ctrl_c_ends_the_run_immediately() {
    let Held { room, running, .. } = held(10, &RUN);
    running.signal(Signal::INT);
    running.wait_for_stderr("repeat to stop now");
    running.signal(Signal::INT);
    running.end().expect(4).reports(&["stopping now"]).prints(&["stopped early"]);
    assert_discarded_requests_are_counted(&room, 10);
}

/// Starts a run with JMeter's command line; returns it with its stop port.
fn with_stop_port() -> (Held, u16) {
    let free = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
    let (port, max) = (format!("-Jjmeterengine.nongui.port={free}"), "-Jjmeterengine.nongui.maxport=65535");
    let held = held(10, &["-n", "-t", "plan.jmx", &port, max]);
    let line = wait_for("the stop port's line", || {
        let text = held.running.stdout();
        let (_, rest) = text.split_once("Shutdown/StopTestNow message on port ")?;
        Some(rest.lines().next()?.to_owned())
    });
    (held, line.trim().parse().unwrap())
}

fn order(port: u16, words: &str) {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.send_to(b"What is this?", (Ipv4Addr::LOCALHOST, port)).unwrap();
    socket.send_to(words.as_bytes(), (Ipv4Addr::LOCALHOST, port)).unwrap();
}

#[test]
fn the_stop_port_accepts_shutdown() {
    let (Held { room, server, gate, running }, port) = with_stop_port();
    order(port, "Shutdown");
    running.wait_for_stderr("stopping");
    gate.open();
    running.end().expect(4);
    assert_all_requests_are_recorded(&room, &server);
}

#[test]
fn the_stop_port_accepts_stop_test_now() {
    let (Held { room, running, .. }, port) = with_stop_port();
    order(port, "StopTestNow");
    running.end().expect(4);
    assert_discarded_requests_are_counted(&room, 10);
}

#[test]
fn a_killed_run_can_be_read() {
    read_after_kill(&RUN, None);
}

#[test]
fn the_results_file_of_a_killed_run_is_compared_with_the_record_wherever_it_is() {
    read_after_kill(&["run", "plan.jmx", "-l", "other.jtl"], Some("other.jtl"));
}

fn read_after_kill(arguments: &[&str], results: Option<&str>) {
    let Held { room, running, .. } = held(1_000, arguments);
    // The record is written to disk every second.
    let dir = room.run_dir();
    wait_for("a segment on disk", || {
        replay_run(&dir).is_ok_and(|replay| replay.totals.total.samples == 1_000).then_some(())
    });
    running.signal(Signal::KILL);
    drop(running);
    let replay = replay_run(&RunDir::open(dir.path())).unwrap();
    assert_eq!(replay.totals.total.samples, 1_000);
    assert_eq!(replay.totals.total.errors, 0);
    let manifest = dir.read_manifest().unwrap();
    assert!(manifest.outcome.is_none(), "the outcome was not written");
    let path = results.map_or_else(|| dir.jtl_path(), |name| room.path().join(name));
    let jtl = std::fs::read_to_string(&path).unwrap();
    assert_eq!(rows(&jtl).len(), 1_000);
    let report = || room.run(["report".to_owned(), dir.path().display().to_string()]).expect(0);
    let reported =
        report().prints(&["the run was cut off", "the record ends at", "in the last second before"]);
    assert!(!reported.stdout.contains("ended later"), "{}", reported.all());
    // The results file may contain later samples than the record.
    let (_, last) = jtl.trim_end().rsplit_once('\n').unwrap();
    let (stamp, rest) = last.split_once(',').unwrap();
    let later = stamp.parse::<u64>().unwrap() + 3_600_000;
    std::fs::write(&path, format!("{jtl}{later},{rest}\n")).unwrap();
    report().prints(&[
        &format!("{} has 1 sample that ended later", path.file_name().unwrap().display()),
        "busyhour report",
    ]);
}

/// A plan that would take an hour and sends only one request.
fn long(kind: &str) -> String {
    let hour = text("ConstantTimer.delay", "3600000");
    let first = get("first", "/");
    match kind {
        "timer" => group("2", "1", &(first + &element("ConstantTimer", "Pause", &hour, ""))),
        "action" => {
            let pause = "<intProp name=\"ActionProcessor.action\">1</intProp>\n".to_owned()
                + "<intProp name=\"ActionProcessor.target\">0</intProp>\n"
                + &text("ActionProcessor.duration", "3600000");
            group("2", "1", &(first + &element("TestAction", "Pause", &pause, "")))
        }
        "ramp-up" => group("50", "1", &first)
            .replace(&text("ThreadGroup.ramp_time", "0"), &text("ThreadGroup.ramp_time", "3600000")),
        "delay" => group("2", "1", &first).replace(
            &text("ThreadGroup.ramp_time", "0"),
            &(text("ThreadGroup.ramp_time", "0")
                + "<boolProp name=\"ThreadGroup.scheduler\">true</boolProp>\n"
                + &text("ThreadGroup.delay", "3600")
                + &text("ThreadGroup.duration", "3600")),
        ),
        _ => {
            let never = "<boolProp name=\"IfController.useExpression\">true</boolProp>\n".to_owned()
                + &text("IfController.condition", "false");
            group("2", "-1", &element("IfController", "Never", &never, &first))
        }
    }
}

#[test]
fn waiting_users_stop_immediately() {
    let server = Server::quick();
    for kind in ["timer", "action", "ramp-up", "delay", "spin"] {
        let room = Room::new();
        room.file("plan.jmx", plan(&long(kind)));
        let running = room.start(["run", "plan.jmx", &format!("-JPORT={}", server.port())]);
        // From here on signals are handled in every phase of the run.
        wait_for("the run directory", || room.has_run_dir().then_some(()));
        running.signal(Signal::INT);
        let ended = running.end().expect(4);
        assert!(ended.stderr.contains("stopping"), "{kind}: {}", ended.all());
        assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::Interrupted, "{kind}");
        assert_eq!(replay_run(&room.run_dir()).unwrap().end.cut_at, None, "{kind}");
    }
}

#[test]
fn a_closed_standard_output_does_not_end_a_run() {
    let server = Server::quick();
    let room = Room::new();
    room.file("plan.jmx", plan(&group("2", "3", &get("a", "/"))));
    let mut command = Command::new("sh");
    let program = env!("CARGO_BIN_EXE_busyhour");
    command.args(["-c", &format!("'{program}' run plan.jmx -JPORT={} | :", server.port())]);
    room.start_command(command).end().expect(0);
    assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::Completed);
    assert_eq!(server.requests(), 6);
}
