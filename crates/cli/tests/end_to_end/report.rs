//! Tests `busyhour report`: the same report for every format of results, and errors with their position.

use busyhour_results::replay_run;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use crate::plans::{get, group, plan};
use crate::program::{Room, Running, wait_for};
use crate::servers::Server;

pub(crate) const NAMES: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,sentBytes,allThreads\n";

/// The rows of a test of ten minutes with a ramp-up of two minutes, a ramp-down of one minute, and at most 20 users.
pub(crate) fn rows() -> String {
    let mut state = 5_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut rows = Vec::new();
    for second in 0..600u64 {
        let users = (second / 6 + 1).min(20).min((600 - second) / 3 + 1);
        for _ in 0..users {
            let start = 1_700_000_000_000 + second * 1_000 + random(1_000);
            let label = ["Home", "Search, \"all\"", "Buy"][random(3) as usize];
            let failed = label == "Buy" && random(20) == 0;
            let elapsed = if failed { 3_000 } else { 20 + random(200) + 40 * users };
            let label = if label.contains('"') {
                format!("\"{}\"", label.replace('"', "\"\""))
            } else {
                label.into()
            };
            let (code, message) = if failed { (503, "Service Unavailable") } else { (200, "OK") };
            let row = format!(
                "{start},{elapsed},{label},{code},{message},Users 1-1,{},,{},120,{users}\n",
                !failed,
                elapsed * 3
            );
            rows.push((start + elapsed, row));
        }
    }
    // As in JMeter, in the order of their ends.
    rows.sort();
    rows.into_iter().map(|(_, row)| row).collect()
}

#[test]
fn a_report_of_a_result_file() {
    let room = Room::new();
    room.file("results.jtl", format!("{NAMES}{}", rows()));
    let ended = room.run_line("report results.jtl -o page.html --json summary.json").expect(0);
    // The folder has another name in each run.
    let (text, address) = ended.stdout.split_once("file:///").unwrap();
    assert!(address.trim_end().ends_with("/page.html"), "{address}");
    assert_snapshot!(format!("{text}file:///…/page.html"));
    let ended = ended.reports(&["wrote page.html", "wrote summary.json"]);
    assert!(!ended.stderr.contains("error"));
    let page = room.read("page.html");
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    let summary: serde_json::Value = serde_json::from_str(&room.read("summary.json")).unwrap();
    assert_eq!(summary["version"], 3);
    let samples = summary["total"]["samples"].as_u64().unwrap();
    let heat: u64 = summary["heat"]["columns"].as_array().unwrap().iter().map(ended_in).sum();
    let started: u64 =
        summary["series"]["started"].as_array().unwrap().iter().filter_map(|n| n.as_u64()).sum();
    assert_eq!([heat, started], [samples; 2]);
    assert_eq!(summary["slowest"].as_array().unwrap().len(), 20);
    let apdex = &summary["total"]["apdex"];
    let counted = ["satisfied", "tolerating", "frustrated"].map(|part| apdex[part].as_u64().unwrap());
    assert_eq!(counted.iter().sum::<u64>(), samples);
}

/// Number of requests that ended in a slice.
fn ended_in(column: &serde_json::Value) -> u64 {
    column.as_array().unwrap().iter().map(|band| band[1].as_u64().unwrap()).sum()
}

#[test]
fn ramps_are_excluded_from_tables_and_verdict() {
    let room = Room::new();
    room.file("results.jtl", format!("{NAMES}{}", rows()));
    let steady = room.run_line("report results.jtl --steady auto --json -").expect(0);
    let summary: serde_json::Value = serde_json::from_str(&steady.stdout).unwrap();
    let window = &summary["window"];
    assert_eq!(window["how"], "steady");
    let (from, to) = (window["from_s"].as_f64().unwrap(), window["to_s"].as_f64().unwrap());
    assert!((105.0..=130.0).contains(&from) && (530.0..=550.0).contains(&to), "{window}");
    let left_out = window["before"].as_u64().unwrap() + window["after"].as_u64().unwrap();
    let started: Vec<u64> =
        summary["series"]["started"].as_array().unwrap().iter().filter_map(|n| n.as_u64()).collect();
    let (counted, all) = (summary["total"]["samples"].as_u64().unwrap(), started.iter().sum::<u64>());
    assert_eq!(counted + left_out, all, "excluded requests are counted");
    // 20 requests per second start while the load is steady.
    let rate = summary["total"]["rate_per_s"].as_f64().unwrap();
    assert!((rate - 20.0).abs() < 0.5, "{rate}");
    assert_eq!(summary["arrivals"][0]["observed"]["arrivals"].as_u64(), Some(counted));
    // The same part as an explicit window.
    let line = format!("report results.jtl --window {from}s,{to}s --json -");
    let asked: serde_json::Value = serde_json::from_str(&room.run_line(&line).expect(0).stdout).unwrap();
    assert_eq!((&asked["total"], &asked["window"]["how"]), (&summary["total"], &"asked".into()));
    room.run_line(&format!("report results.jtl --window {from}s,{to}s"))
        .expect(0)
        .prints(&["Part: the tables cover"]);
}

/// Runs the program with `input` as its standard input.
pub(crate) fn with_input(room: &Room, arguments: &[&str], input: &str) -> std::process::Output {
    let input = std::fs::File::open(room.path().join(input)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_busyhour"));
    command.args(arguments).current_dir(room.path()).stdin(Stdio::from(input)).output().unwrap()
}

#[test]
fn every_format_yields_the_same_table() {
    let room = Room::new();
    let rows = rows();
    room.file("named", format!("{NAMES}{rows}"));
    let expected = room.run_line("report named").expect(0).stdout;
    let same = |reported: &str, name: &str| {
        let words = reported.replacen(name, "named", 1);
        // The first line contains the name of the file.
        assert_eq!(words, expected, "{name}");
    };
    let columns = [
        "jmeter.save.saveservice.data_type=false",
        "jmeter.save.saveservice.url=false",
        "jmeter.save.saveservice.latency=false",
        "jmeter.save.saveservice.idle_time=false",
        "jmeter.save.saveservice.connect_time=false",
    ];
    // JMeter writes grpThreads together with allThreads.
    let row = |row: &str| match row.rsplit_once(',') {
        Some((head, users)) => format!("{head},{users},{users}\n"),
        None => String::new(),
    };
    room.file("unnamed", rows.lines().map(row).collect::<String>());
    room.file("user.properties", columns.join("\n"));
    let ended = room.run_line("report unnamed -q user.properties").expect(0);
    same(&ended.stdout, "unnamed");
    let flags: Vec<String> = columns.iter().map(|column| format!("-J{column}")).collect();
    let ended = room.run(["report", "unnamed"].into_iter().chain(flags.iter().map(String::as_str))).expect(0);
    same(&ended.stdout, "unnamed");
    let refused = room.run_line("report unnamed").expect(3);
    let refused =
        refused.reports(&["cannot read unnamed", "line 1: 12 columns without names", "-J NAME=VALUE"]);
    assert!(refused.stdout.is_empty());

    let output = with_input(&room, &["report", "-"], "named");
    assert!(output.status.success());
    same(&String::from_utf8_lossy(&output.stdout), "standard input");
    // Detecting the steady part requires a second pass.
    let output = with_input(&room, &["report", "-", "--steady", "auto"], "named");
    assert!(output.status.success());
    let steady = room.run_line("report named --steady auto").expect(0).stdout;
    assert_eq!(String::from_utf8_lossy(&output.stdout).replacen("standard input", "named", 1), steady);

    // The files of two generators have the same samples per label.
    let (one, two): (Vec<_>, Vec<_>) = rows.lines().enumerate().partition(|(at, _)| at % 3 == 0);
    for (name, part) in [("one", one), ("two", two)] {
        let lines: String = part.into_iter().flat_map(|(_, line)| [line, "\n"]).collect();
        room.file(name, format!("{NAMES}{lines}"));
    }
    let both = room.run_line("report one two --json -").expect(0).stdout;
    let whole = room.run_line("report named --json -").expect(0).stdout;
    let [both, whole] = [both, whole].map(|text| serde_json::from_str::<serde_json::Value>(&text).unwrap());
    for key in ["total", "errors", "slowest", "distribution", "heat", "span_s"] {
        assert_eq!(both[key], whole[key], "{key}");
    }
    assert_eq!(both["run"]["source"], "one and two");
    assert_eq!(both["labels"].as_array().map(Vec::len), whole["labels"].as_array().map(Vec::len));
}

#[test]
fn unreadable_rows_are_reported_with_their_position() {
    let room = Room::new();
    room.file("empty", "");
    room.file("page", "<html></html>");
    room.file("text", "hello, world\n");
    room.file(
        "damaged",
        format!("{NAMES}1,2,a,200,OK,T 1-1,true,,1,1,1\n3,x,a,200,OK,T 1-1,true,,1,1,1\n5,6,cu"),
    );
    for (line, words) in [
        ("report missing", "no such file or run directory: missing"),
        ("report empty", "the file is empty"),
        ("report page", "its root element is <html>"),
        ("report text", "neither JMeter's column names"),
        ("report .", "no samples.bhs"),
        ("report damaged empty", "cannot read empty"),
    ] {
        let ended = room.run_line(line).expect(3).reports(&["error", words]);
        assert!(ended.stdout.is_empty(), "{line}");
    }
    for line in [
        "report",
        "report damaged --window 5s,1s",
        "report damaged --apdex 5",
        "report damaged --window 1s,2s --steady auto",
        "report damaged -o .",
        "report - -",
        "report damaged -Jjmeter.reportgenerator.apdex_satisfied_threshold=soon",
    ] {
        room.run_line(line).expect(2);
    }
    // The readable part is reported with a caveat.
    let ended = room.run_line("report damaged").expect(0);
    ended.prints(&[
        "1 row of damaged could not be read; the first: line 3, column elapsed: \"x\" is not a duration",
        "the tail of the record is missing",
    ]);
}

#[test]
fn jmeters_command_line_uses_the_same_reader() {
    let room = Room::new();
    room.file("results.jtl", format!("{NAMES}{}", rows()));
    room.run_line("-g results.jtl -o dashboard")
        .expect(0)
        .prints(&["dashboard/index.html", "dashboard/statistics.json"]);
    let statistics: serde_json::Value =
        serde_json::from_str(&room.read("dashboard/statistics.json")).unwrap();
    let summary = room.run_line("report results.jtl --json -").expect(0).stdout;
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(statistics["Total"]["sampleCount"], summary["total"]["samples"]);
    room.run_line("-g missing.jtl -o other").expect(3).reports(&["cannot read missing.jtl", "No such file"]);
}

/// Seeded random numbers of further requests before the kill.
struct Moments(u64);

impl Moments {
    fn next(&mut self, below: u64) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % below) as usize
    }
}

fn endless(room: &Room, server: &Server) -> Running {
    room.file("plan.jmx", plan(&group("4", "-1", &get("page", "/"))));
    room.start(["run", "plan.jmx", &format!("-JPORT={}", server.port())])
}

#[test]
fn a_run_killed_at_any_time_can_be_reported() {
    let mut moments = Moments(20_261_122);
    for round in 0..4 {
        let (room, server) = (Room::new(), Server::quick());
        let running = endless(&room, &server);
        let reached = |count: usize| wait_for("requests", || (server.requests() >= count).then_some(()));
        reached(1 + moments.next(3_000));
        // Completed requests are written to disk during the run.
        let answered = server.requests().saturating_sub(4) as u64;
        let dir = room.run_dir();
        let on_disk = || replay_run(&dir).map_or(0, |replay| replay.totals.total.samples);
        wait_for("the record on disk", || (on_disk() >= answered).then_some(()));
        reached(server.requests() + moments.next(5_000));
        running.signal(rustix::process::Signal::KILL);
        drop(running);
        let path = dir.path().display().to_string();
        let ended = room.run(["report", &path, "-o", "page.html", "--json", "summary.json"]).expect(0);
        ended
            .prints(&["the run was cut off: its manifest contains no outcome"])
            .reports(&["wrote page.html"]);
        assert!(room.read("page.html").ends_with("</html>\n"));
        let summary: serde_json::Value = serde_json::from_str(&room.read("summary.json")).unwrap();
        let recorded = summary["total"]["samples"].as_u64().unwrap();
        assert!(
            recorded >= answered,
            "round {round}: {recorded} recorded, {answered} answered before the last flush"
        );
        assert!(recorded <= server.requests() as u64, "round {round}: only sent requests are recorded");
    }
}

#[test]
fn a_run_killed_at_its_beginning_is_read_or_refused_with_a_message() {
    let server = Server::quick();
    for _ in 0..3 {
        let room = Room::new();
        let running = endless(&room, &server);
        wait_for("the run directory", || room.has_run_dir().then_some(()));
        running.signal(rustix::process::Signal::KILL);
        drop(running);
        let path = room.run_dir().path().display().to_string();
        let ended = room.run(["report", &path]);
        match ended.status.code() {
            Some(0) => assert!(ended.stdout.contains("the run was cut off"), "{}", ended.all()),
            Some(3) => assert!(ended.stderr.contains("error"), "{}", ended.all()),
            _ => panic!("{}", ended.all()),
        }
    }
}

/// A log with one minute of a group that fills a shop, and nine minutes of a measured group; they share a label.
fn groups() -> String {
    let mut rows = String::from(NAMES);
    for second in 0..600u64 {
        let (thread, elapsed) =
            if second < 60 { ("Data Injection 1-1", 100) } else { ("Throughput test 2-3", 20) };
        for part in 0..10 {
            let start = 1_700_000_000_000 + second * 1_000 + part * 100;
            rows += &format!("{start},{},Add booking,200,OK,{thread},true,,300,120,1\n", elapsed + part);
        }
    }
    rows
}

/// The quartiles, rounded to the histogram's accuracy of 0.1 %.
fn quartiles(times: &serde_json::Value) -> [String; 2] {
    ["p25", "p75"].map(|name| format!("{:.1}", times[name].as_f64().unwrap()))
}

#[test]
fn results_are_split_by_thread_group() {
    let room = Room::new();
    room.file("results.jtl", groups());
    let ended = room.run_line("report results.jtl --by-group -o page.html --json summary.json").expect(0);
    let shown = ended.prints(&[
        "Thread group Data Injection: 0.0 s to 1 min 00 s\n",
        "Thread group Throughput test: 1 min 00 s to 10 min 00 s\n",
        "All thread groups",
        "the totals mix thread groups that ran at different times: Data Injection (0.0 s to 60.0 s, 600 requests)",
        "several thread groups use the same label",
    ]);
    let row = |name: &str| shown.stdout.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    // Count, errors, rate, traffic, mean, p25, p50, p75: 100 to 109 ms and 20 to 29 ms.
    let cells =
        |name: &str| row(name)[name.len()..].split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(cells("Data Injection ")[5..9], ["105", "102", "104", "107"].map(str::to_owned));
    assert_eq!(cells("Throughput test ")[5..9], ["24.5", "22.0", "24.0", "27.0"].map(str::to_owned));
    let page = room.read("page.html");
    assert!(page.contains("id=\"groups\"") && page.contains(">Data Injection</h3>"));
    let summary: serde_json::Value = serde_json::from_str(&room.read("summary.json")).unwrap();
    let group = &summary["groups"][1];
    assert_eq!((&group["name"], &group["total"]["samples"]), (&"Throughput test".into(), &5_400.into()));
    let response = &group["labels"][0]["response"];
    assert_eq!(quartiles(response), ["22.0", "27.0"]);
}

#[test]
fn a_window_without_the_first_group_raises_no_caveat() {
    let room = Room::new();
    room.file("results.jtl", groups());
    let ended = room.run_line("report results.jtl --window 60s,600s --json -").expect(0);
    let summary: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    let total = &summary["total"]["response"];
    assert_eq!(quartiles(total), ["22.0", "27.0"]);
    assert!(summary.get("groups").is_none(), "one group is left");
    let whole = room.run_line("report results.jtl").expect(0).stdout;
    let part = room.run_line("report results.jtl --window 60s,600s").expect(0).stdout;
    assert!(whole.contains("the totals mix thread groups") && !part.contains("thread groups"), "{part}");
}

#[test]
fn long_labels_are_shortened_except_in_json() {
    let room = Room::new();
    let label = |n: u32| format!("item {n} {} end {n}", "x".repeat(20_000));
    let row = |n: u32| {
        format!("{},5,{},200,OK,Users 1-1,true,,300,120,1\n", 1_700_000_000_000_u64 + u64::from(n), label(n))
    };
    room.file("results.jtl", format!("{NAMES}{}", (0..50).map(row).collect::<String>()));
    let ended = room.run_line("report results.jtl --by-group -o page.html --json summary.json").expect(0);
    assert!(ended.stdout.lines().all(|line| line.chars().count() < 400), "{}", ended.stdout.len());
    assert!(ended.stdout.contains("end 7 "), "{}", ended.stdout);
    assert!(room.read("page.html").len() < 1_000_000, "{}", room.read("page.html").len());
    assert!(room.read("summary.json").contains(&label(7)));
    let compared = room.run_line("compare results.jtl results.jtl -o compared.html").expect(0);
    assert!(compared.stdout.len() < 100_000, "{}", compared.stdout.len());
    assert!(room.read("compared.html").len() < 2_000_000, "{}", room.read("compared.html").len());
}

#[test]
fn only_users_that_generate_load_are_counted() {
    let server = Server::quick();
    let room = Room::new();
    let idle = crate::plans::named_group("Idle", "1", "0", &get("never", "/"));
    let set_up = crate::plans::named_group("First", "1", "1", &get("login", "/"));
    let set_up =
        set_up.replace("ThreadGroup", "SetupThreadGroup").replace("SetupThreadGroup.", "ThreadGroup.");
    room.file("plan.jmx", plan(&(set_up + &idle + &group("3", "2", &get("page", "/")))));
    let line = format!("run plan.jmx --dir here --by-group -JPORT={}", server.port());
    let ended =
        room.run_line(&line).expect(0).prints(&["3 users, ", "Thread group First", "setUp or tearDown"]);
    assert!(!ended.stdout.contains("5 users"), "{}", ended.stdout);
    let page = room.read("here/report.html");
    assert!(page.contains("<span class=\"much\">3 users</span>"), "the request");
    // The record contains the same groups as the run.
    let again = room.run_line("report here --by-group").expect(0).stdout;
    let table =
        |text: &str| text.split_once("Thread group First").map(|(_, rest)| rest.lines().take(4).count());
    assert_eq!(table(&again), table(&ended.stdout));
}
