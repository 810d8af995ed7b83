//! Tests `busyhour capacity find`: a system with a sharp limit, continuation, and wrong arguments.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::foreign_programs::free_port;
use crate::plans::{get, group, plan};
use crate::program::{Room, wait_for};
use crate::servers::{Server, answer};

/// The number of requests that are served at the same time. The server rejects others.
const PLACES: usize = 8;

/// A server that takes 50 ms for a request, and rejects requests if more than [`PLACES`] are in progress.
fn limited() -> Server {
    let active = Arc::new(AtomicUsize::new(0));
    Server::start(move |stream, _| {
        let before = active.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(50));
        active.fetch_sub(1, Ordering::SeqCst);
        if before < PLACES {
            return answer(stream);
        }
        stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno").is_ok()
    })
}

fn arguments(server: &Server) -> Vec<String> {
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line = "--users 1..40 --precision 15% --budget 30s --trial 1s --trial-min 1s --confirmations 2 --from-above 2 \
                --observe none --dir out";
    let mut words: Vec<String> = ["capacity", "find", "--url", &url].map(str::to_owned).to_vec();
    words.extend(line.split_whitespace().map(str::to_owned));
    words.extend(["--threshold", "errors < 5%", "--threshold", "p50 < 2s"].map(str::to_owned));
    words
}

/// The lines of the journal for trials that ended.
fn trials(room: &Room) -> Vec<Value> {
    let text = std::fs::read_to_string(room.path().join("out/search.jsonl")).unwrap_or_default();
    // A line may be incomplete while the search writes it.
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["event"] == "trial").collect()
}

#[test]
fn a_search_finds_a_sharp_limit_and_continues_after_a_kill() {
    let room = Room::new();
    let server = limited();
    let running = room.start(arguments(&server));
    wait_for("three trials", || (trials(&room).len() >= 3).then_some(()));
    // Another process must not execute the same search.
    room.run(arguments(&server)).expect(3).reports(&["is in use by another process"]);
    running.signal(Signal::KILL);
    assert!(running.end().status.code().is_none());
    let before = trials(&room);

    let mut again = arguments(&server);
    again.extend(["-o", "found.json", "-o", "found.html"].map(str::to_owned));
    let running = room.start(again);
    // The whole search may take longer than other tests wait.
    let mut known = 0;
    while !running.stdout().contains("Trials\n") {
        known = wait_for("the end of a trial, or of the search", || {
            let now = trials(&room).len();
            (now > known || running.stdout().contains("Trials\n")).then_some(now)
        });
    }
    let ended = running.end();
    assert_eq!(trials(&room)[..before.len()], before[..], "finished trials are not repeated");
    let found: Value = serde_json::from_str(&room.read("found.json")).unwrap();
    let search = &found["search"];
    if search["void_not_delivered"].as_u64().unwrap() + search["void_host_spoiled"].as_u64().unwrap() > 3 {
        std::io::stderr().write_all(b"NOT TESTED: the machine is too busy for a search\n").unwrap();
        return;
    }
    let ended = ended.expect(0);
    let ended =
        ended.prints(&["The largest load is ", "The threshold that binds is `errors < 5%`", "from above"]);
    let load = search["largest_load"]["load"].as_f64().unwrap();
    assert!((5.0..=8.0).contains(&load), "{load}\n{}", ended.all());
    assert!(room.read("found.html").contains("<polyline"));
    assert!(room.read("out/report.html").contains("href=\"trials/"));

    // A finished search is shown again without further trials.
    let count = trials(&room).len();
    room.run(arguments(&server)).expect(0).prints(&["The largest load is "]);
    assert_eq!(trials(&room).len(), count);
    let mut other = arguments(&server);
    other.extend(["--seed", "2"].map(str::to_owned));
    room.run(other).expect(3).reports(&["contains trials of another search: the seed changed", "--dir"]);
}

#[test]
fn a_server_that_is_down_does_not_pass() {
    let room = Room::new();
    let line = format!(
        "capacity|find|--url|http://127.0.0.1:{}/|--rate|20..60|--threshold|p95 < 1s|--trial|1s|--trial-min|1s|\
         --budget|15s|--confirmations|0|--from-above|0|--observe|none|--dir|out",
        free_port()
    );
    let ended = room.run(line.split('|').map(str::trim)).expect(6);
    ended
        .reports(&["the threshold `errors < 1%` is added"])
        .prints(&["The largest load is unavailable", "errors < 1%: 100 % (failed)"]);
}

#[test]
fn a_search_that_was_stopped_shows_its_state() {
    let room = Room::new();
    let server = limited();
    let running = room.start(arguments(&server));
    wait_for("a trial", || (!trials(&room).is_empty()).then_some(()));
    running.signal(Signal::INT);
    running.end().expect(4).reports(&["run the same command again to continue"]);
}

#[test]
fn wrong_arguments_are_explained() {
    let room = Room::new();
    let find = |line: &str| room.run(line.split('|').map(str::trim));
    let url = "capacity | find | --url | http://127.0.0.1:9/";
    for (line, message) in [
        (format!("{url} | --rate | 1..9"), "a search needs a threshold"),
        (format!("{url} | --threshold | p95 < 1s"), "<--users <A..B>|--rate <A..B>>"),
        ("capacity | find".to_owned(), "<PLAN|--url <URL>>"),
        (format!("{url} | --users | 9..1 | --threshold | p95 < 1s"), "the smaller one first"),
        (format!("{url} | --rate | 9 | --threshold | p95 < 1s"), "expected A..B, such as 10..500"),
        (format!("{url} | --rate | 1..9 | --users | 1..9 | --threshold | p95 < 1s"), "cannot be used with"),
        (format!("{url} | --rate | 1..9 | --threshold | p95 < 1q"), "p95 < 1q"),
        (
            format!("{url} | --rate | 1..9 | --threshold | p95 < 1s | --budget | 10s"),
            "at least twice --trial",
        ),
        (
            format!("{url} | --rate | 1..9 | --threshold | p95 < 1s | --trial-min | 40s"),
            "--trial-min from 500ms",
        ),
        (
            format!("{url} | --rate | 1..9 | --threshold | p95 < 1s | --precision | 90%"),
            "the precision of 90 % is not from 0.1 % to 50 %",
        ),
        (format!("{url} | --rate | 1..9 | --threshold | p95 < 1s | --run-option=--no-such"), "--no-such"),
        (
            "capacity | find | no.jmx | --rate | 1..9 | --threshold | p95 < 1s".to_owned(),
            "cannot read the plan no.jmx",
        ),
        (
            "capacity | find | --url | shop | --rate | 1..9 | --threshold | p95 < 1s".to_owned(),
            "begins with http://",
        ),
    ] {
        find(&line).expect(2).reports(&[message]);
    }
    let help = room.run_line("capacity find --help").expect(0);
    help.prints(&["Examples:", "--rate 5..99", "Exit codes:"]);
}

#[test]
fn a_plan_that_ignores_the_properties_is_refused() {
    let room = Room::new();
    let server = Server::quick();
    let fixed = plan(&group("3", "5", &get("home", "/")));
    room.file("fixed.jmx", fixed.replace("${__P(PORT)}", &server.port().to_string()));
    let line =
        "capacity find fixed.jmx --users 7..40 --budget 60s --trial 1s --observe none --dir out --threshold";
    let ended = room.run(line.split_whitespace().chain(["p50 < 2s"])).expect(1);
    ended.reports(&["3 trials in succession failed", "instead of"]);
}
