//! Tests that `judge` and `export` read the same input as `report` with the same options.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::plans::{get, group, plan};
use crate::program::Room;
use crate::report::{NAMES, rows, with_input};
use crate::servers::Server;

/// Properties for a file without header line, whose columns are not in JMeter's default order.
const COLUMNS: [&str; 8] = [
    "jmeter.save.saveservice.response_message=false",
    "jmeter.save.saveservice.thread_name=false",
    "jmeter.save.saveservice.data_type=false",
    "jmeter.save.saveservice.assertion_results_failure_message=false",
    "jmeter.save.saveservice.sent_bytes=false",
    "jmeter.save.saveservice.url=false",
    "jmeter.save.saveservice.latency=false",
    "jmeter.save.saveservice.connect_time=false",
];

/// `rows` as written with this configuration.
fn unnamed(rows: &str) -> String {
    let row = |row: &str| {
        // A label may contain commas, so the columns after it are counted from the end.
        let cells: Vec<&str> = row.rsplitn(9, ',').collect();
        let [users, _sent, bytes, _failure, success, _thread, _message, code, head] = cells[..] else {
            panic!("{row}")
        };
        format!("{head},{code},{success},{bytes},{users},{users},0\n")
    };
    rows.lines().map(row).collect()
}

/// The number of requests in the summary and in the table of seconds.
fn requests(room: &Room, reading: &[&str]) -> (u64, u64) {
    let report = [&["report"], reading, &["--json", "-"]].concat();
    let summary: Value = serde_json::from_str(&room.run(report).expect(0).stdout).unwrap();
    let samples = summary["total"]["samples"].as_u64().unwrap();
    let csv = room.run([&["export"], reading, &["--to", "csv"]].concat()).expect(0).stdout;
    (samples, total(&csv))
}

/// The number of all samples in a table of seconds.
fn total(csv: &str) -> u64 {
    let totals = csv.lines().filter(|line| line.contains(",total,"));
    let samples = totals.map(|line| {
        let (_, rest) = line.split_once(",total,").unwrap();
        rest.split(',').next().unwrap().parse::<u64>().unwrap()
    });
    samples.sum()
}

/// The sorted lines of a table of seconds, because the order of labels may differ. The column of users is removed,
/// because users of two generators are added up. The CoV is removed, because it depends on the order of reading.
fn without_users(csv: &str) -> Vec<String> {
    let row = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(at, _)| ![8, 25].contains(at));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
    };
    let mut lines: Vec<String> = csv.lines().map(row).collect();
    lines.sort();
    lines
}

#[test]
fn judge_and_export_read_the_same_input_as_report() {
    let room = Room::new();
    let rows = rows();
    let all = rows.lines().count() as u64;
    room.file("named.jtl", format!("{NAMES}{rows}"));
    // The results of two generators of one test.
    let part = |which: usize| {
        let lines = rows.lines().enumerate().filter(|(at, _)| at % 2 == which);
        lines.map(|(_, line)| format!("{line}\n")).collect::<String>()
    };
    room.file("a.jtl", format!("{NAMES}{}", part(0)));
    room.file("b.jtl", format!("{NAMES}{}", part(1)));
    room.file("unnamed.jtl", unnamed(&rows));
    room.file("user.properties", COLUMNS.join("\n"));
    let flags: Vec<String> = COLUMNS.iter().map(|column| format!("-J{column}")).collect();
    let flags: Vec<&str> = ["unnamed.jtl"].into_iter().chain(flags.iter().map(String::as_str)).collect();
    let every: [&[&str]; 4] =
        [&["named.jtl"], &["a.jtl", "b.jtl"], &["unnamed.jtl", "-q", "user.properties"], &flags];
    let hits = format!("hits = {all}");
    for reading in every {
        assert_eq!(requests(&room, reading), (all, all), "{reading:?}");
        let judge =
            [&["judge"], reading, &["--threshold", &hits, "--threshold", "p95 of Home < 2s"]].concat();
        room.run(judge).expect(0).prints(&["Thresholds: all passed"]);
    }
    // Without the properties the columns are unknown.
    room.run(["judge", "unnamed.jtl", "--threshold", &hits])
        .expect(3)
        .reports(&["cannot read unnamed.jtl", "-J NAME=VALUE"]);
    room.run(["export", "unnamed.jtl", "--to", "csv"]).expect(3).reports(&["cannot read unnamed.jtl"]);

    let merged = room.run_line("export a.jtl b.jtl --to csv").expect(0).stdout;
    let named = room.run_line("export named.jtl --to csv").expect(0).stdout;
    assert_eq!(without_users(&merged), without_users(&named), "one test, second by second");
    room.run_line("export a.jtl b.jtl --to parquet -o samples.parquet")
        .expect(0)
        .reports(&[&format!("{all} samples")]);
}

#[test]
fn a_window_selects_the_same_samples_in_all_commands() {
    let room = Room::new();
    room.file("results.jtl", format!("{NAMES}{}", rows()));
    for part in [&["--window", "60s,120s"][..], &["--steady", "auto"]] {
        let reading = [&["results.jtl"], part].concat();
        let (reported, exported) = requests(&room, &reading);
        assert!(reported > 100 && reported < 10_000, "{reported}");
        assert_eq!(exported, reported, "{part:?}");
        let hits = format!("hits = {reported}");
        room.run([&["judge"], &reading[..], &["--threshold", &hits]].concat())
            .expect(0)
            .reports(&["evaluated only a part of the run: "]);
        let parquet = ["--to", "parquet", "-o", "part.parquet"];
        room.run([&["export"], &reading[..], &parquet].concat())
            .expect(0)
            .reports(&[&format!("{reported} samples")]);
    }
}

#[test]
fn standard_input_and_pipes_are_read_like_files() {
    let room = Room::new();
    let rows = rows();
    room.file("results.jtl", format!("{NAMES}{rows}"));
    let hits = format!("hits = {}", rows.lines().count());
    let judged = with_input(&room, &["--quiet", "judge", "-", "--threshold", &hits], "results.jtl");
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    let exported = with_input(&room, &["export", "-", "--to", "csv"], "results.jtl");
    assert_eq!(total(&String::from_utf8_lossy(&exported.stdout)), rows.lines().count() as u64);
    let named = Command::new("sh")
        .args(["-c", "mkfifo pipe; cat results.jtl > pipe & exec \"$0\" judge pipe --threshold \"$1\""])
        .args([env!("CARGO_BIN_EXE_busyhour"), &hits])
        .current_dir(room.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(named.status.success(), "{}", String::from_utf8_lossy(&named.stderr));
    room.run_line("judge - - --threshold errors<1%").expect(2).reports(&["give - once"]);
}

#[test]
fn several_run_directories_are_merged_as_one_test() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("2", "5", &get("home", "/"))));
    let port = format!("-JPORT={}", server.port());
    for dir in ["one", "two"] {
        room.run(["run", "plan.jmx", &port, "--dir", dir, "--threshold", "hits of home = 10"]).expect(0);
    }
    // Together they have twice as many requests as each of them.
    room.run(["judge", "one", "two"]).expect(6).prints(&["1 of 1 failed", "hits of home = 10  20"]);
    assert_eq!(total(&room.run(["export", "one", "two", "--to", "csv"]).expect(0).stdout), 20);
    room.run(["export", "one", "two/samples.jtl", "--to", "parquet", "-o", "both.parquet"])
        .expect(2)
        .reports(&["cannot be written to the same Parquet file"]);
    assert!(!room.path().join("both.parquet").exists());
}

#[test]
fn a_run_that_was_cut_off_is_judged_with_a_warning() {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("2", "5", &get("home", "/"))));
    let port = format!("-JPORT={}", server.port());
    room.run(["run", "plan.jmx", &port, "--dir", "here", "--threshold", "errors < 1%"]).expect(0);
    let judged = room.run_line("judge here").expect(0);
    assert!(!judged.stderr.contains("warning"), "{}", judged.stderr);
    // The directory of a killed run contains no outcome.
    let mut manifest: Value = serde_json::from_str(&room.read("here/run.json")).unwrap();
    assert!(manifest.as_object_mut().unwrap().remove("outcome").is_some());
    room.file("here/run.json", manifest.to_string());
    for (verb, done) in [("judge here", "judged"), ("export here --to csv", "exported")] {
        let words = format!("the run here was cut off or is still running; the recorded part was {done}");
        room.run_line(verb).expect(0).reports(&[&words]);
    }
}
