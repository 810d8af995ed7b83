//! Tests runs of a URL: the amount of load, and the reduced load while all requests fail.

use crate::program::{Room, rows};
use crate::servers::{ClosedPort, Server};

#[test]
fn the_number_of_requests_can_be_given() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["run", &url, "-n", "20", "-c", "5", "--dir", "here"]).expect(0);
    assert_eq!((server.requests(), rows(&room.read("here/samples.jtl")).len()), (20, 20));
    room.run(["run", &url, "-n", "21", "-c", "5"]).expect(2).reports(&["use 20 or 25"]);
    room.run(["run", &url, "-n", "3", "-c", "5"]).expect(2).reports(&["use 5"]);
    room.run(["run", &url, "-n", "20", "--rate", "5"]).expect(2).reports(&["-n is for users"]);
}

#[test]
fn other_names_of_rate_and_duration_are_understood() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    for (number, options) in [
        "--rate 200 --for 1s",
        "--rate 200/s --duration 1s",
        "-c 1 --think 50ms -z 1s",
        "-c 2 --ramp 1s --for 1s",
    ]
    .iter()
    .enumerate()
    {
        let dir = format!("run-{number}");
        room.run_line(&format!("run {url} {options} --dir {dir}")).expect(0);
        let manifest = room.read(&format!("{dir}/run.json"));
        assert_eq!(manifest.contains("poisson(200/s) for 1s"), number < 2, "{manifest}");
    }
    room.run_line(&format!("run {url} --rate fast")).expect(2).reports(&["--rate \"fast\" is not a rate"]);
    room.run_line(&format!("run {url} --rate 5 --arrivals even(5/s)"))
        .expect(2)
        .reports(&["cannot be used with"]);
}

#[test]
fn mistakes_get_helpful_advice() {
    let room = Room::new();
    room.file("plan.jmx", "");
    for (line, advice, wrong) in [
        ("run plan.jmx --concurrency 5", "'--users'", "--cores"),
        ("run plan.jmx --qps 5", "'--rate'", "--propfile"),
        ("run plan.jmx --timeout 5s", "'--request-deadline'", "did you mean '--think'"),
        ("run plan.jmx --nonsense", "--nonsense", "tip:"),
        ("completions", "busyhour config completions", "compare"),
        ("comprae", "'compare'", "similar"),
        ("plan.jmx", "busyhour run plan.jmx", "similar"),
        ("http://127.0.0.1/a", "busyhour run http://127.0.0.1/a", "similar"),
        ("run plan.jmx --live 10.1.2.3:80", "--live=10.1.2.3:80", "similar"),
        ("-q run plan.jmx", "hint: write busyhour run plan.jmx", "not understood"),
        ("--seed 7 run plan.jmx", "hint: write busyhour run plan.jmx", "not understood"),
    ] {
        let ended = room.run_line(line).expect(2).reports(&[advice]);
        assert!(!ended.stderr.contains(wrong), "{line}: {}", ended.stderr);
    }
}

#[test]
fn a_body_that_looks_like_a_duration_raises_a_warning() {
    let server = Server::quick();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["run", &url, "-n", "1", "-d", "10s"]).expect(0).reports(&["write --for 10s"]);
    let ended = room.run(["run", &url, "-n", "1", "-d", "a=10s"]).expect(0);
    assert!(!ended.stderr.contains("--for"), "{}", ended.stderr);
}

#[test]
fn users_slow_down_while_everything_fails() {
    let nobody = ClosedPort::new();
    let room = Room::new();
    let url = format!("http://127.0.0.1:{}/", nobody.port());
    let ended = room.run(["run", &url, "-c", "5", "--for", "14s", "--dir", "here"]).expect(0);
    let ended = ended.reports(&["each user now waits 1 s after a failure"]);
    ended.prints(&["all requests failed for 10 s, so from 00:00:1"]);
    // Each of the five users now sends about one request per second.
    let rows = rows(&room.read("here/samples.jtl"));
    let stamp = |row: &std::collections::BTreeMap<String, String>| row["timeStamp"].parse::<u64>().unwrap();
    let last = rows.iter().map(stamp).max().unwrap();
    let late = rows.iter().filter(|row| stamp(row) + 1_000 > last).count();
    assert!(late <= 15, "{late} requests in the last second");
    let summary = room.read("here/summary.json");
    assert!(summary.contains("backed-off") || summary.contains("each user waited 1 s after a failure"));
}
