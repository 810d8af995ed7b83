//! Tests thresholds: messages, exit codes, stopping, and files.

use busyhour_results::replay_run;
use std::io::Write as _;

use busyhour_sample::RunEnd;
use serde_json::Value;

use crate::plans::{get, group, plan};
use crate::program::{Ended, Room};
use crate::servers::Server;

/// A plan with two users and 25 iterations of two requests each.
fn hundred() -> String {
    plan(&group("2", "25", &(get("home", "/") + &get("cart", "/cart"))))
}

/// A server that responds to all requests with 503.
fn busy() -> Server {
    Server::start(|stream, _| stream.write_all(b"HTTP/1.1 503 Busy\r\nContent-Length: 2\r\n\r\nno").is_ok())
}

fn run(room: &Room, server: &Server, more: &[&str]) -> Ended {
    let port = format!("-JPORT={}", server.port());
    room.run(["run", "plan.jmx", port.as_str()].iter().chain(more))
}

#[test]
fn passed_thresholds_are_reported_in_every_format() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", hundred());
    room.file(
        "thresholds.toml",
        "require = [\"p95 of cart < 30s\", \"errors = 0\"]\n[named]\n\"all there\" = \"hits = 100\"\n",
    );
    room.file("summary.md", "# of an earlier step\n");
    let files = ["--junit", "t.xml", "--thresholds-json", "t.json", "--summary-md", "summary.md"];
    let more = ["--thresholds", "thresholds.toml", "--threshold", "rc2xx of each = 100%"];
    run(&room, &server, &[&more[..], &files].concat()).expect(0).prints(&[
        "Thresholds: all passed",
        "all there: hits = 100",
        "p95 of cart < 30s",
        "t.xml",
        "t.json",
    ]);

    let json: Value = serde_json::from_str(&room.read("t.json")).unwrap();
    assert_eq!((&json["version"], &json["passed"]), (&Value::from(1), &Value::from(true)));
    let of =
        |key: &str| json["thresholds"].as_array().unwrap().iter().map(|t| t[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("text"), ["p95 of cart < 30s", "errors = 0", "hits = 100", "rc2xx of each = 100%"]);
    assert_eq!(of("observed")[1..], [Value::from(0.0), Value::from(100.0), Value::from(100.0)]);
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(room.run_dir().summary_path()).unwrap()).unwrap();
    assert_eq!(summary["thresholds"], json["thresholds"]);

    let junit = room.read("t.xml");
    assert!(junit.contains(r#"tests="4" failures="0" errors="0" skipped="0""#), "{junit}");
    assert!(junit.contains(r#"name="all there""#) && !junit.contains("<failure"), "{junit}");
    let markdown = room.read("summary.md");
    assert!(markdown.starts_with("# of an earlier step\n## "), "{markdown}");
    assert!(
        markdown.contains("4 thresholds passed") && markdown.contains("| cart | 50 | 0.00 % |"),
        "{markdown}"
    );

    // The written results are judged again: with the stored thresholds, and from the log.
    let dir = room.run_dir().path().display().to_string();
    room.run(["judge", &dir]).expect(0).prints(&["Thresholds: all passed", "all there: hits = 100"]);
    let jtl = room.run_dir().jtl_path().display().to_string();
    room.run(["judge", &jtl, "--threshold", "hits of cart = 50"])
        .expect(0)
        .prints(&["✓ hits of cart = 50  50"]);
}

#[test]
fn a_failed_threshold_exits_with_6() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", hundred());
    let more = ["--threshold", "hits < 100", "--threshold", "p95 of typo < 1s", "--threshold", "errors = 0"];
    run(&room, &server, &[&more[..], &["--junit", "t.xml"]].concat()).expect(6).prints(&[
        "Thresholds: 2 of 3 failed",
        "✗ hits < 100  100",
        "✗ p95 of typo < 1s  nothing to measure",
        "✓ errors = 0  0",
    ]);
    assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::Completed);
    let junit = room.read("t.xml");
    assert!(junit.contains(r#"<failure type="threshold" message="hits &lt; 100: 100">"#), "{junit}");
    assert!(junit.contains(r#"<failure type="no data""#) && junit.contains(r#"failures="2""#), "{junit}");
    let dir = room.run_dir().path().display().to_string();
    room.run(["judge", &dir]).expect(6).prints(&["✗ hits < 100  100"]);
    room.run(["judge", &dir, "--threshold", "hits = 100"]).expect(0);
}

#[test]
fn a_failed_threshold_stops_an_endless_run() {
    let (room, server) = (Room::new(), busy());
    room.file("plan.jmx", plan(&group("2", "-1", &get("home", "/"))));
    run(&room, &server, &["--fail-if", "rc5xx of home>0 for 1s", "--threshold", "errors of home < 1%"])
        .expect(7)
        .reports(&["stopping: the threshold `fail if rc5?? of 'home' > 0 for 1s, stop as failed` failed at"])
        .prints(&["stopped early", "it stopped the run", "Thresholds: 2 of 2 failed"]);
    let manifest = room.manifest();
    let outcome = manifest.outcome.unwrap();
    assert_eq!(outcome.end, RunEnd::StoppedByThreshold);
    assert_eq!(outcome.stopped_by.as_ref(), manifest.thresholds.last());
    // The stop is graceful: users finish their samples.
    assert_eq!(replay_run(&room.run_dir()).unwrap().totals.total.samples, server.requests() as u64);
    let dir = room.run_dir().path().display().to_string();
    room.run(["judge", &dir]).expect(6).prints(&["it stopped the run"]);
}

#[test]
fn a_threshold_can_stop_a_run_without_failing_it() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("2", "-1", &get("home", "/"))));
    run(&room, &server, &["--threshold", "hits>0 for 1s, stop as non-failed"])
        .expect(0)
        .prints(&["Thresholds: all passed", "it stopped the run"]);
    assert_eq!(room.manifest().outcome.unwrap().end, RunEnd::StoppedByThreshold);
}

#[test]
fn a_stall_is_visible_in_response_times_from_the_intended_start() {
    let room = Room::new();
    let how = ["--stall", "1500ms@1ms", "--until-stdin-closes"];
    let (mut child, address, _out) = crate::planning::start_probe(&room, &how);
    // Most arrivals of two seconds wait until the end of the stall.
    let url = format!("http://{address}/");
    let load = ["run", &url, "--arrivals", "even(50/s) for 2s"];
    let thresholds = ["--threshold", "p50 < 100ms", "--threshold", "max < 60s"];
    room.run(load.iter().chain(&thresholds)).expect(6).prints(&["✗ p50 < 100ms", "✓ max < 60s"]);
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn jmeters_command_line_accepts_thresholds() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", hundred());
    let port = format!("-JPORT={}", server.port());
    let jmeter = ["-n", "-t", "plan.jmx", "-l", "x.jtl", "-Jjmeterengine.nongui.port=0", port.as_str()];
    let own = [
        "--threshold",
        "hits = 100",
        "--fail-if=errors>50%",
        "--junit",
        "t.xml",
        "--dir",
        "here",
        "--seed",
        "7",
    ];
    room.run(jmeter.iter().chain(&own)).expect(0).prints(&[
        "Starting standalone test @ ",
        "Thresholds: all passed",
        "✓ hits = 100  100",
        "... end of run\n",
    ]);
    assert!(room.read("t.xml").contains(r#"tests="2" failures="0""#));
    let manifest = busyhour_record::RunDir::open(room.path().join("here")).read_manifest().unwrap();
    assert_eq!((manifest.seed, manifest.thresholds.len()), (7, 2));
    room.run(jmeter.iter().chain(&["-f", "--threshold", "hits < 100"]))
        .expect(6)
        .prints(&["✗ hits < 100  100"]);
    let requests = server.requests();
    for (more, shown_text) in [
        (["--threshold", "p95 off cart < 1s"], "--threshold: column 5: expected `of LABEL`"),
        (["--seed", "seven"], "invalid value 'seven' for '--seed <SEED>'"),
        (["--treshold", "hits < 1"], "--treshold"),
    ] {
        room.run(jmeter.iter().chain(&more)).expect(2).reports(&[shown_text]);
    }
    room.run(["-g", "x.jtl", "-o", "report", "--threshold", "hits < 1"])
        .expect(2)
        .reports(&["busyhour report --threshold"]);
    assert_eq!(server.requests(), requests, "nothing was sent");
}

/// A log with a minute of `rate` requests per second with exponential gaps and three labels; times in whole ms, rows in the order
/// of their ends.
fn poisson(rate: f64) -> String {
    let mut state = 1_u64;
    let mut roll = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let (mut at, mut rows) = (0.0, Vec::new());
    while at < 60.0 {
        let (stamp, elapsed) = (1_700_000_000_000 + (at * 1e3) as u64, (-roll().ln() * 80.0) as u64);
        rows.push((stamp + elapsed, stamp, elapsed, ["home", "cart", "pay"][(roll() * 3.0) as usize]));
        at -= roll().ln() / rate;
    }
    rows.sort();
    let names = String::from("timeStamp,elapsed,label,responseCode,threadName,success\n");
    rows.into_iter().fold(names, |text, (_, stamp, elapsed, label)| {
        let number = stamp % 1_000;
        let fails = number == 7;
        text + &format!(
            "{stamp},{elapsed},{label},{},Users 1-{},{}\n",
            if fails { 503 } else { 200 },
            number % 20 + 1,
            !fails
        )
    })
}

#[test]
fn result_files_of_every_format_are_judged() {
    let room = Room::new();
    room.file("results.jtl", poisson(50.0));
    room.file(
        "thresholds.toml",
        "require = [\"p95 of each < 300ms\", \"max < 200ms over 10s\"]\nfail-if = [\"rc5xx>0 for 1s, continue as non-failed\"]\n\
         [named]\n\"pay | <fast>\" = \"service mean of pay < 1s\"\n",
    );
    let judge = "judge results.jtl --thresholds thresholds.toml --junit t.xml --thresholds-json t.json --summary-md t.md";
    let more = ["--threshold", "p95 of typo < 1s", "--threshold", "p50 of typo < 1s, if any"];
    let ended = room.run(judge.split(' ').chain(more)).expect(6);
    insta::assert_snapshot!("judged_for_a_terminal", ended.stdout);
    insta::assert_snapshot!("judged_as_junit", room.read("t.xml"));
    insta::assert_snapshot!("judged_as_json", room.read("t.json"));
    insta::assert_snapshot!("judged_as_markdown", room.read("t.md"));
}

#[test]
fn arrivals_of_a_result_file_are_judged_as_far_as_its_resolution_allows() {
    let room = Room::new();
    room.file("results.jtl", poisson(100.0));
    let near_one = ["--threshold", "arrivals-cov > 0.93", "--threshold", "arrivals-cov < 1.07"];
    let windows = ["--fail-if", "arrivals-cov > 1.3 for 5s", "--fail-if", "arrivals-cov < 0.7 for 5s"];
    room.run(["judge", "results.jtl"].iter().chain(&near_one).chain(&windows)).expect(0);
    room.run(["judge", "results.jtl", "--threshold", "arrivals-cov < 0.5"]).expect(6);
    room.run(["judge", "results.jtl", "--fail-if", "arrivals-cov > 0.5 for 5s"]).expect(6);
    // Two thousand arrivals per second cannot be resolved in whole milliseconds.
    room.file("busy.jtl", poisson(2_000.0));
    let ended = room.run(["judge", "busy.jtl"].iter().chain(&near_one[2..])).expect(6);
    let ended = ended.prints(&["✗ arrivals-cov < 1.07  nothing to measure"]);
    ended.reports(&["note: arrivals-cov is unavailable: the time stamps are whole milliseconds"]);
}

#[test]
fn invalid_thresholds_are_reported_before_the_first_request() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", hundred());
    room.file("bad.toml", "require = [\n  \"p95 of cart < 800\",\n]\n");
    let ended = run(&room, &server, &["--threshold", "p95 off cart < 1s", "--thresholds", "bad.toml"]);
    ended.expect(2).reports(&[
        "--threshold: column 5: expected `of LABEL` or one of < <= > >= =",
        "  p95 off cart < 1s\n      ^^^",
        "bad.toml:2:18",
        "write 800ms or 800s",
    ]);
    assert_eq!(server.requests(), 0);
    assert!(!room.has_run_dir());
    room.run(["judge", "nothing"]).expect(3).reports(&["no such file or run directory: nothing"]);
    room.file("plan.jtl", "no log\n");
    room.run(["judge", "plan.jtl", "--threshold", "errors = 0"]).expect(3);
    room.run(["judge", "plan.jtl"]).expect(2).reports(&["no thresholds; add --threshold"]);
}

#[test]
fn the_schema_in_docs_is_current() {
    let printed = Room::new().run(["judge", "--schema"]).expect(0).stdout;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/thresholds.schema.json");
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(written, printed, "update it: busyhour judge --schema > docs/thresholds.schema.json");
}

#[test]
fn the_message_for_an_unknown_label_lists_the_labels() {
    let room = Room::new();
    room.file("results.jtl", poisson(50.0));
    let ended = room.run(["judge", "results.jtl", "--threshold", "p95 of typo < 1s"]).expect(6);
    ended.prints(&["no sample has the label 'typo'; the labels are '"]);
    let known = room.run(["judge", "results.jtl", "--threshold", "p95 of pay < 100s"]).expect(0);
    assert!(!known.stdout.contains("the labels are"), "{}", known.stdout);
}
