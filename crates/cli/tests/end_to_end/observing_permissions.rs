//! Tests sources that become unreadable while a run observes them.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;
use std::process::Command;

use busyhour_series::{SeriesSet, SourceState, StateChange};
use rustix::process::Signal;

use crate::foreign_programs::{NOBODY, is_root, open_to_all, works};
use crate::observing::series;
use crate::program::{Room, Running, wait_for};
use crate::servers::Server;

/// A command that runs as the user `nobody`.
fn as_nobody(program: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", program]);
    command
}

/// A room that `nobody` can use; `None`, with a note, if the test cannot change the user.
fn room_of_nobody() -> Option<Room> {
    let can_change =
        is_root() && works("setpriv", &["--reuid=65534", "--regid=65534", "--clear-groups", "true"]);
    let room = Room::new();
    open_to_all(&room);
    can_change.then_some(room)
}

/// Observes sources as `nobody` in the directory `run`.
fn observe(room: &Room, server: &Server, sources: &str) -> Running {
    let url = format!("http://127.0.0.1:{}/", server.port());
    let mut command = as_nobody(env!("CARGO_BIN_EXE_busyhour"));
    command.args(["run", &url, "--rate", "20/s", "--for", "1h", "--dir", "run", "--observe", sources]);
    command.args(["--observe-interval", "100ms"]);
    room.start_command(command)
}

/// The series so far; `None` before the file has its head.
fn series_so_far(room: &Room) -> Option<SeriesSet> {
    let dir = room.path().join("run");
    let query = busyhour_series::SeriesQuery::default();
    busyhour_series::read_series(&dir.join("series.bho"), &query).ok()
}

fn last(set: &SeriesSet, source: &str, name: &str) -> Option<(u64, f64)> {
    set.find(source, name, &[]).next()?.last.map(|(time, value)| (time.0, value))
}

/// Ends the run, in which no request may have failed.
fn end(running: Running, dir: &Path) -> SeriesSet {
    running.signal(Signal::INT);
    let ended = running.end().expect(4);
    assert!(ended.stdout.contains("none failed") || ended.stderr.contains("none failed"), "{}", ended.all());
    series(dir)
}

fn changes(set: &SeriesSet, source: &str) -> Vec<StateChange> {
    let of_source = |change: &&StateChange| set.sources[change.source as usize] == source;
    set.states.iter().filter(of_source).cloned().collect()
}

#[test]
fn a_process_that_changes_its_user_is_observed_without_denied_values() {
    let Some(room) = room_of_nobody() else { return };
    let found = Command::new("sh").args(["-c", "command -v sleep"]).output().unwrap().stdout;
    let program = room.path().join("sleeper");
    fs::copy(String::from_utf8(found).unwrap().trim(), &program).unwrap();
    // It runs as its owner, root.
    fs::set_permissions(&program, fs::Permissions::from_mode(0o4711)).unwrap();
    let mut command = as_nobody("sh");
    command.args(["-c", "until [ -e go ]; do sleep 0.05; done; exec ./sleeper 3600"]);
    let target = room.start_command(command);
    let (server, source) = (Server::quick(), format!("process:{}", target.pid()));
    let status = format!("/proc/{}/status", target.pid());
    let is_of = |user: u32| {
        let user = format!("Uid:\t{user}\t{user}\t");
        fs::read_to_string(&status).unwrap_or_default().contains(&user).then_some(())
    };
    wait_for("the user", || is_of(NOBODY));
    let running = observe(&room, &server, &source);
    wait_for("input and output", || last(&series_so_far(&room)?, &source, "process_io_read_bytes_total"));
    room.file("go", "");
    let denied = wait_for("the reason", || {
        let set = series_so_far(&room)?;
        set.unavailable.iter().find(|reason| reason.metric == "process_io_read_bytes_total").cloned()
    });
    assert!(denied.reason.starts_with("no permission to read /proc/PID/io"), "{denied:?}");
    // Later readings have the CPU time.
    wait_for("later readings", || {
        let (time, _) = last(&series_so_far(&room)?, &source, "process_cpu_seconds_total")?;
        (time > denied.time.0 + 1_000_000_000).then_some(())
    });
    let set = end(running, &room.path().join("run"));
    let reasons = set.unavailable.iter().filter(|reason| reason.metric == "process_io_read_bytes_total");
    assert_eq!(reasons.count(), 1, "it is stated once");
    let (time, value) = last(&set, &source, "process_io_read_bytes_total").unwrap();
    assert!(time <= denied.time.0 && value > 0.0, "{time} {value}: no value after the permission was lost");
    assert_eq!(changes(&set, &source), [], "the source itself is still readable");
    assert!(room.read("run/report.html").contains("no permission to read /proc/PID/io"));
}

#[test]
fn a_log_that_becomes_unreadable_is_reported_once_and_read_later() {
    let Some(room) = room_of_nobody() else { return };
    let log = room.file("server.log", "");
    let permit = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let append = |text: &str| {
        use std::io::Write as _;
        fs::OpenOptions::new().append(true).open(&log).unwrap().write_all(text.as_bytes()).unwrap();
    };
    permit(&log, 0o644);
    chown(&log, Some(0), Some(0)).unwrap();
    let (server, source) = (Server::quick(), "log:server.log");
    let running = observe(&room, &server, source);
    let has_lines = |lines: f64| {
        wait_for(&format!("{lines} lines"), || {
            let (_, read) = last(&series_so_far(&room)?, source, "busyhour_log_lines_total")?;
            (read == lines).then_some(())
        });
    };
    let has_changes = |count: usize| {
        wait_for(&format!("{count} changes"), || {
            let found = changes(&series_so_far(&room)?, source);
            (found.len() == count).then_some(found)
        })
    };
    has_lines(0.0);
    append("ERROR first\n");
    has_lines(1.0);
    // The file is open already, so that it remains readable.
    permit(&log, 0);
    append("ERROR second\n");
    has_lines(2.0);
    // The file that replaces it is not readable.
    fs::rename(&log, room.path().join("server.log.1")).unwrap();
    fs::write(&log, "ERROR third\n").unwrap();
    permit(&log, 0);
    let found = has_changes(1);
    let SourceState::Failed(reason) = &found[0].state else { panic!("{found:?}") };
    assert!(
        reason.starts_with("no permission to read the log server.log: permit this user to read it: setfacl"),
        "{reason}"
    );
    permit(&log, 0o644);
    has_lines(3.0);
    let set = end(running, &room.path().join("run"));
    let states: Vec<SourceState> = changes(&set, source).into_iter().map(|change| change.state).collect();
    assert_eq!(states, [SourceState::Failed(reason.clone()), SourceState::Watching]);
}
