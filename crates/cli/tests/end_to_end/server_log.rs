//! Compares runs with the log of nginx, and with logs that are written from the results.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::observing_servers::{NGINX_LOG_FORMAT, nginx};
use crate::program::{Room, wait_for};
use crate::servers::Server;

/// The comparison in the JSON of a report.
fn compared(room: &Room, log: &str, options: &[&str]) -> Value {
    let report = ["report", "run", "--json", "--server-log", log];
    let ended = room.run(report.iter().chain(options).copied()).expect(0);
    let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(summary["claims"].as_array().unwrap().iter().any(|claim| claim["kind"] == "server-log"));
    summary["server_log"].clone()
}

#[test]
fn requests_that_nginx_received_are_counted() {
    let room = Room::new();
    let server = Server::quick();
    let Some(nginx) = nginx(&room, server.port()) else { return };
    let url = format!("http://127.0.0.1:{}/shop?article=7", nginx.port);
    room.run(["run", &url, "--rate", "100/s", "--for", "10s", "--dir", "run", "--observe", "none"]).expect(0);
    let summary: Value = serde_json::from_str(&room.read("run/summary.json")).unwrap();
    let sent = summary["total"]["samples"].as_u64().unwrap();
    // nginx writes the last lines after the responses.
    let is_of_run = |line: &&str| line.contains("/shop?article=7");
    let log = wait_for("the lines of nginx", || {
        let log = room.read("access.log");
        (log.lines().filter(is_of_run).count() as u64 == sent).then_some(log)
    });

    let found = compared(&room, "access.log", &["--server-log-format", NGINX_LOG_FORMAT]);
    let counts = &found["counts"];
    assert_eq!((counts["sent"].as_u64(), counts["arrived"].as_u64()), (Some(sent), Some(sent)), "{found}");
    assert_eq!((counts["lost"].as_u64(), counts["repeated"].as_u64()), (Some(0), Some(0)), "{found}");
    // Both programs use the same clock. The start of the run is rounded down to 1 ms.
    let (low, high) =
        (found["offset"]["low_ms"].as_f64().unwrap(), found["offset"]["high_ms"].as_f64().unwrap());
    assert!(low <= 1.5 && high >= -1.5 && high - low < 20.0, "{found}");
    assert_eq!(found["arrivals"]["kind"], "judged", "{found}");
    assert!(found["outside"][0]["requests"].as_u64().unwrap() > 20, "{found}");

    // Three lines are removed, and two are repeated.
    let lines: Vec<&str> = log.lines().filter(is_of_run).collect();
    let mut changed: Vec<&str> = lines.clone();
    changed.extend([lines[300], lines[600]]);
    for at in [700, 500, 100] {
        changed.remove(at);
    }
    room.file("changed.log", changed.join("\n"));
    let found = compared(&room, "changed.log", &["--server-log-format", NGINX_LOG_FORMAT]);
    let counts = &found["counts"];
    let number = |name: &str| counts[name].as_u64().unwrap();
    assert_eq!(number("sent"), sent, "{found}");
    // At this rate, requests overlap rarely.
    assert!(
        (2..=3).contains(&number("answered_elsewhere")) && (1..=2).contains(&number("repeated")),
        "{found}"
    );
    assert_eq!(found["is_complete"], false);

    let text =
        room.run(["report", "run", "--server-log", "access.log", "--server-log-format", NGINX_LOG_FORMAT]);
    let text = text.expect(0);
    for part in
        ["At the server", "arrived at the server", "clock of the server", "CoV of the gaps", "p99 outside"]
    {
        assert!(text.stdout.contains(part), "{part}\n{}", text.stdout);
    }
    let page = ["report", "run", "--server-log", "access.log", "-o", "page.html", "--server-log-format"];
    room.run(page.iter().copied().chain([NGINX_LOG_FORMAT])).expect(0);
    assert!(room.read("page.html").contains("id=\"server-log\""));
}

#[test]
fn mistakes_are_named() {
    let room = Room::new();
    let server = Server::quick();
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["run", &url, "-n", "20", "--dir", "run", "--observe", "none"]).expect(0);
    room.file("other.log", "something else\n".repeat(3));
    room.file("empty.log", "");
    room.run_line("report run --server-log missing.log").expect(3).reports(&["missing.log", "No such file"]);
    room.run_line("report run --server-log empty.log").expect(3).reports(&["empty.log has no lines"]);
    room.run_line("report run --server-log other.log").expect(3).reports(&[
        "no line of other.log can be read",
        "line 1",
        "--server-log-format",
    ]);
    room.run_line("report run --server-log other.log --server-log-format iis").expect(2).reports(&["nginx"]);
    room.run_line("report run --server-log-format nginx").expect(2);
    room.run_line("report run run --server-log other.log").expect(2).reports(&["one run directory"]);
    room.run_line("report run --server-log other.log --server-log-id id")
        .expect(2)
        .reports(&["sample_variables"]);
    // A log without the requests of the run is not a success.
    room.file(
        "foreign.log",
        "10.0.0.1 - - [27/Nov/2020:13:55:36 +0000] \"GET /x HTTP/1.1\" 200 12\n".repeat(5),
    );
    let found = compared(&room, "foreign.log", &[]);
    assert!(found["line"].as_str().unwrap().contains("does not contain the requests of this run"), "{found}");
    assert!(found["is_complete"].is_null(), "{found}");
}
