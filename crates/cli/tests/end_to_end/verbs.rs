//! Tests the verbs, their old names, and the options that all verbs share.

use crate::plans::{get, group, plan};
use crate::program::Room;
use crate::servers::Server;

/// A directory with a run in `run`, its JTL in `results.jtl`, and one threshold that the run stored.
fn room_with_run() -> (Room, Server) {
    let (room, server) = (Room::new(), Server::quick());
    room.file("plan.jmx", plan(&group("2", "5", &get("checkout", "/"))));
    let port = format!("PORT={}", server.port());
    room.run(["run", "plan.jmx", "-J", &port, "--dir", "run", "--threshold", "errors < 100%"]).expect(0);
    std::fs::copy(room.path().join("run/samples.jtl"), room.path().join("results.jtl")).unwrap();
    (room, server)
}

#[test]
fn old_names_work_as_before_and_print_the_new_one() {
    let (room, _server) = room_with_run();
    room.file("points.csv", "users,throughput_per_s\n10,100\n20,180\n40,300\n");
    room.file("map.toml", "[[page]]\nname = \"Shop\"\nobjects = [\"checkout\"]\n");
    let model = format!("{}/../../plans/models/seed-study.toml", env!("CARGO_MANIFEST_DIR"));
    for (old, new) in [
        ("judge results.jtl --threshold errors<1%", "report --threshold"),
        ("judge run --window 0,60", "report --threshold"),
        ("trend run results.jtl --window 0,60", "compare --history"),
        ("arrivals results.jtl --open --window 0,60 --histogram 5", "report --arrivals"),
        ("plan-load --rate 20 --response 0.05 --think 10", "capacity plan"),
        ("users --jtl results.jtl --think 10,20 --pages map.toml", "capacity users"),
        ("model fit points.csv --think 1", "capacity fit"),
        (&format!("model solve {model} --json -"), "capacity solve"),
        (&format!("model solve {model} --json solution.json"), "capacity solve"),
        (&format!("model export {model} --to jsimg"), "capacity convert"),
        ("model schema", "config schema model"),
    ] {
        let ended = room.type_in(old).expect(0);
        let verb: Vec<&str> = old.split(' ').take(if old.starts_with("model") { 2 } else { 1 }).collect();
        ended.reports(&[&format!("note: `busyhour {}` is now `busyhour {new}`", verb.join(" "))]);
    }
    assert!(room.read("solution.json").starts_with('{'));
    room.type_in("demo-server --help").expect(0);
}

#[test]
fn a_report_evaluates_thresholds() {
    let (room, _server) = room_with_run();
    room.type_in("report results.jtl").expect(0);
    room.type_in("report results.jtl --threshold errors<1%").expect(0).prints(&["✓ errors<1%"]);
    let failed =
        room.run(["report", "results.jtl", "--threshold", "errors < 0%", "-o", "junit.xml"]).expect(6);
    failed.prints(&["failed"]);
    assert!(room.read("junit.xml").contains("<testsuite"));
    room.run(["report", "results.jtl", "--threshold", "errors < 0%", "--fail-on", "none"]).expect(0);
    room.type_in("report run --fail-on threshold").expect(0).prints(&["errors < 100%"]);
    room.type_in("report results.jtl --fail-on threshold").expect(2).reports(&["no thresholds"]);
    room.type_in("report results.jtl -o junit.xml").expect(2).reports(&["--threshold"]);
    let same = room.type_in("judge results.jtl --threshold errors<1%").expect(0);
    assert!(same.stdout.lines().count() < 6, "only the thresholds:\n{}", same.stdout);
}

#[test]
fn a_report_shows_arrivals_and_a_comparison_a_history() {
    let (room, _server) = room_with_run();
    let old = room.type_in("arrivals results.jtl").expect(0).stdout;
    assert_eq!(room.type_in("report results.jtl --arrivals").expect(0).stdout, old);
    room.type_in("report results.jtl --arrivals --label checkout -o a.csv -o a.json -o plots").expect(0);
    assert!(room.read("a.csv").contains("checkout") && room.read("a.json").starts_with('{'));
    assert!(room.read("plots/arrivals.html").contains("<svg"));
    room.type_in("report results.jtl --label checkout").expect(2).reports(&["--label needs --arrivals"]);
    room.type_in("report results.jtl --arrivals --by-group").expect(2).reports(&["--arrivals"]);
    let old = room.type_in("trend run results.jtl").expect(0).stdout;
    assert_eq!(room.type_in("compare --history run results.jtl").expect(0).stdout, old);
    room.type_in("compare --history run results.jtl --fail-on regression -o t.json").expect(11);
    assert!(room.read("t.json").starts_with('{'));
    room.type_in("compare --history run --fail-on slower").expect(2).reports(&["regression or none"]);
    room.type_in("compare run results.jtl --fail-on regression").expect(2).reports(&["--history"]);
}

#[test]
fn the_extension_of_an_output_file_is_its_kind() {
    let (room, server) = room_with_run();
    room.type_in("report results.jtl -o r.html -o r.json -o r.md -o dashboard")
        .expect(0)
        .reports(&["wrote r.md"]);
    assert!(room.read("r.html").starts_with("<!doctype html>") && room.read("r.json").starts_with('{'));
    assert!(room.read("r.md").contains('|') && room.read("dashboard/statistics.json").contains("checkout"));
    room.type_in("report results.jtl -o r.csv")
        .expect(2)
        .reports(&["-o r.csv: this command writes .html, .json"]);
    let port = server.port();
    let files = "-o a.html -o a.json -o a.md -o a.csv -o a.parquet -o jmeter";
    room.type_in(&format!("run plan.jmx -JPORT={port} --dir again {files}")).expect(0).prints(&["a.parquet"]);
    assert!(
        room.read("a.csv").lines().count() > 1 && room.read("jmeter/statistics.json").contains("checkout")
    );
    assert!(std::fs::read(room.path().join("a.parquet")).unwrap().starts_with(b"PAR1"));
    let json = room.type_in(&format!("run plan.jmx -JPORT={port} --json")).expect(0).stdout;
    assert!(json.starts_with('{') && json.contains("checkout"), "{json}");
    room.type_in("capacity plan --rate 20/s --response 50ms -o plan.json")
        .expect(0)
        .reports(&["wrote plan.json"]);
    room.type_in("compare run again --allow-unlike --fail-on none -o c.html -o c.json -o c.csv").expect(0);
    assert!(room.read("c.json").starts_with('{') && room.read("c.html").contains("<html"));
    room.type_in("export run -o seconds.csv").expect(0).reports(&["wrote seconds.csv"]);
    room.type_in("export run -o x.hgrm --label checkout").expect(0);
    room.type_in("export run -o x.nonsense").expect(2).reports(&["add --to FORMAT"]);
    // The old form of --json.
    room.type_in("report results.jtl --json old.json").expect(0).reports(&["wrote old.json"]);
    assert_eq!(room.read("old.json"), room.read("r.json"));
    assert_eq!(room.type_in("report results.jtl --json -").expect(0).stdout, room.read("r.json"));
    assert_eq!(room.type_in("report results.jtl --json").expect(0).stdout, room.read("r.json"));
}

#[test]
fn times_need_a_unit() {
    let (room, _server) = room_with_run();
    for (line, number) in [
        ("report results.jtl --window 0,60", "60"),
        ("report results.jtl --apdex 300,1200", "300"),
        ("compare run results.jtl --window 1s,60", "60"),
        ("capacity plan --rate 20/s --response 0.05", "0.05"),
        ("capacity fit points.csv --think 10", "10"),
        ("run http://127.0.0.1:1/ --for 10", "10"),
        ("run http://127.0.0.1:1/ --think 10", "10"),
        ("run http://127.0.0.1:1/ --ramp 10", "10"),
        ("run plan.jmx --grace 10", "10"),
        ("run plan.jmx --request-deadline 10", "10"),
        ("demo --for 10", "10"),
        ("lab server probe --delay 10", "10"),
        ("lab server probe --stall 10@5s", "10"),
    ] {
        let message = format!("`{number}` has no unit; write {number}s or {number}ms");
        room.type_in(line).expect(2).reports(&[&message]);
    }
    room.type_in("report results.jtl --window 0,1min --apdex 300ms,1.2s").expect(0);
}

#[test]
fn metrics_are_sent_to_urls_and_their_old_options_work() {
    let (room, server) = room_with_run();
    let run = format!("run plan.jmx -JPORT={}", server.port());
    for target in ["--send prometheus://127.0.0.1:0", "--prometheus 127.0.0.1:0"] {
        room.type_in(&format!("{run} {target}")).expect(0).reports(&["http://127.0.0.1:"]);
    }
    for (url, words) in [
        ("http://127.0.0.1:1/", "otlp+http://127.0.0.1:1/"),
        ("prometeus://:1", "did you mean prometheus?"),
        ("127.0.0.1:9646", "not a URL"),
    ] {
        room.type_in(&format!("{run} --send {url}")).expect(2).reports(&[words]);
    }
}

#[test]
fn quiet_and_verbose_select_messages() {
    let (room, server) = room_with_run();
    let quiet = room.type_in("report results.jtl -o r.html --quiet").expect(0);
    assert!(quiet.stderr.is_empty() && !quiet.stdout.is_empty(), "{}", quiet.all());
    assert_eq!(room.type_in("--quiet judge results.jtl --threshold errors<1%").expect(0).stderr, "");
    room.type_in("-v report results.jtl").expect(0).reports(&["read results.jtl in "]);
    let verbose = format!("run plan.jmx -JPORT={} -v", server.port());
    room.type_in(&verbose).expect(0).reports(&["phase: running"]);
    room.type_in("check plan.jmx --quiet").expect(0).prints(&["plan.jmx: supported"]);
}

#[test]
fn suggested_commands_and_options_exist() {
    let room = Room::new();
    for (line, words) in [
        ("plan.jmx", "busyhour run plan.jmx"),
        ("http://127.0.0.1:1/ -c 5", "busyhour run http://127.0.0.1:1/"),
        ("-z 10s http://127.0.0.1:1/", "busyhour run http://127.0.0.1:1/"),
        ("--rate 5 http://127.0.0.1:1/", "busyhour run http://127.0.0.1:1/"),
        ("run http://127.0.0.1:1/ --live 10.1.2.3:80", "--live=10.1.2.3:80"),
        ("run http://127.0.0.1:1/ --concurrency 5", "'--users'"),
        ("run http://127.0.0.1:1/ --qps 5", "'--rate'"),
        ("completions", "busyhour config completions"),
        ("solve model.toml", "busyhour capacity solve"),
        ("reprot a.jtl", "'report'"),
        ("capacity slove a.toml", "'solve'"),
        ("--seed 7 run plan.jmx", "after the verb"),
    ] {
        room.type_in(line).expect(2).reports(&[words]);
    }
    for (line, wrong) in [
        ("run http://127.0.0.1:1/ --duration", "--data"),
        ("run http://127.0.0.1:1/ --nonsense", "did you mean"),
        ("fly", "did you mean"),
    ] {
        let ended = room.type_in(line).expect(2);
        assert!(!ended.stderr.contains(wrong), "{}", ended.all());
    }
}

#[test]
fn a_body_that_looks_like_a_time_is_a_warning() {
    let (room, server) = (Room::new(), Server::quick());
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["run", &url, "-n", "1", "-d", "10s"])
        .expect(0)
        .reports(&["warning: -d sends the body", "--for 10s"]);
}

#[test]
fn files_of_other_programs_are_named() {
    let room = Room::new();
    room.file(
        "k6.json",
        "{\"type\":\"Metric\",\"data\":{\"name\":\"http_reqs\"},\"metric\":\"http_reqs\"}\n",
    );
    room.file("k6.csv", "metric_name,timestamp,metric_value,check\nhttp_reqs,1,1,\n");
    room.file("simulation.log", "RUN\tShop\tshop\t1700000000000\t \t3.9.5\n");
    room.file("oha.json", "{\n  \"summary\": {\n    \"successRate\": 1.0\n  }\n}\n");
    for (file, named) in [
        ("k6.json", "this is a k6 file (--out json), which is not supported"),
        ("k6.csv", "this is a k6 file (--out csv)"),
        ("simulation.log", "this is a Gatling simulation.log"),
        ("oha.json", "this is the JSON output of oha"),
    ] {
        for line in
            [format!("report {file}"), format!("report --arrivals {file}"), format!("compare {file} {file}x")]
        {
            room.type_in(&line).expect(3).reports(&[file, named, "hint: "]);
        }
    }
}

#[test]
fn the_short_help_of_run_fits_on_a_screen() {
    let room = Room::new();
    let short = room.type_in("run -h").expect(0).stdout;
    assert!(short.lines().count() <= 45, "{} lines:\n{short}", short.lines().count());
    let options = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!((14..=20).contains(&options), "{options} options:\n{short}");
    insta::assert_snapshot!(short);
    let long = room.type_in("run --help").expect(0).stdout;
    for heading in [
        "Load:",
        "Output:",
        "Run:",
        "Thresholds:",
        "Request to a URL:",
        "Observation and control:",
        "Examples:",
        "Exit codes:",
    ] {
        assert!(long.lines().any(|line| line == heading), "{heading}");
    }
    assert!(long.contains("--send") && !long.contains("--prometheus "), "{long}");
}

#[test]
fn the_help_shows_verbs_in_groups() {
    let room = Room::new();
    let help = room.type_in("--help").expect(0).stdout;
    insta::assert_snapshot!(help);
    for old in ["judge", "trend", "arrivals ", "plan-load", "demo-server", "users "] {
        assert!(!help.lines().any(|line| line.trim_start().starts_with(old)), "{old}");
    }
}

#[test]
fn completions_man_pages_and_schemas_are_printed() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = room.type_in(&format!("config completions {shell}")).expect(0).stdout;
        assert!(script.contains("capacity") && !script.contains("plan-load"), "{shell}");
    }
    room.type_in("config man").expect(0).prints(&[".TH", "busyhour"]);
    room.type_in("config man -o pages").expect(0).reports(&["pages"]);
    assert!(room.read("pages/busyhour-run.1").contains("PLAN"));
    room.type_in("config schema thresholds").expect(0).prints(&["\"type\": \"object\""]);
    room.type_in("config schema model").expect(0).prints(&["\"type\": \"object\""]);
}
