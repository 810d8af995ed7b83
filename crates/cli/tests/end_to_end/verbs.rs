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
        let ended = room.run_line(old).expect(0);
        let verb: Vec<&str> = old.split(' ').take(if old.starts_with("model") { 2 } else { 1 }).collect();
        ended.reports(&[&format!("note: `busyhour {}` is now `busyhour {new}`", verb.join(" "))]);
    }
    assert!(room.read("solution.json").starts_with('{'));
    room.run_line("demo-server --help").expect(0);
}

#[test]
fn a_report_evaluates_thresholds() {
    let (room, _server) = room_with_run();
    room.run_line("report results.jtl").expect(0);
    room.run_line("report results.jtl --threshold errors<1%").expect(0).prints(&["✓ errors<1%"]);
    let failed =
        room.run(["report", "results.jtl", "--threshold", "errors < 0%", "-o", "junit.xml"]).expect(6);
    failed.prints(&["failed"]);
    assert!(room.read("junit.xml").contains("<testsuite"));
    room.run(["report", "results.jtl", "--threshold", "errors < 0%", "--fail-on", "none"]).expect(0);
    room.run_line("report run --fail-on threshold").expect(0).prints(&["errors < 100%"]);
    room.run_line("report results.jtl --fail-on threshold").expect(2).reports(&["no thresholds"]);
    room.run_line("report results.jtl -o junit.xml").expect(2).reports(&["--threshold"]);
    let same = room.run_line("judge results.jtl --threshold errors<1%").expect(0);
    assert!(same.stdout.lines().count() < 6, "only the thresholds:\n{}", same.stdout);
}

#[test]
fn a_report_shows_arrivals_and_a_comparison_a_history() {
    let (room, _server) = room_with_run();
    let old = room.run_line("arrivals results.jtl").expect(0).stdout;
    assert_eq!(room.run_line("report results.jtl --arrivals").expect(0).stdout, old);
    room.run_line("report results.jtl --arrivals --label checkout -o a.csv -o a.json -o plots").expect(0);
    assert!(room.read("a.csv").contains("checkout") && room.read("a.json").starts_with('{'));
    assert!(room.read("plots/arrivals.html").contains("<svg"));
    room.run_line("report results.jtl --label checkout").expect(2).reports(&["--label needs --arrivals"]);
    room.run_line("report results.jtl --arrivals --by-group").expect(2).reports(&["--arrivals"]);
    let old = room.run_line("trend run results.jtl").expect(0).stdout;
    assert_eq!(room.run_line("compare --history run results.jtl").expect(0).stdout, old);
    room.run_line("compare --history run results.jtl --fail-on regression -o t.json").expect(11);
    assert!(room.read("t.json").starts_with('{'));
    room.run_line("compare --history run --fail-on slower").expect(2).reports(&["regression or none"]);
    room.run_line("compare run results.jtl --fail-on regression").expect(2).reports(&["--history"]);
}

#[test]
fn the_extension_of_an_output_file_is_its_kind() {
    let (room, server) = room_with_run();
    room.run_line("report results.jtl -o r.html -o r.json -o r.md -o dashboard")
        .expect(0)
        .reports(&["wrote r.md"]);
    assert!(room.read("r.html").starts_with("<!doctype html>") && room.read("r.json").starts_with('{'));
    assert!(room.read("r.md").contains('|') && room.read("dashboard/statistics.json").contains("checkout"));
    room.run_line("report results.jtl -o r.csv")
        .expect(2)
        .reports(&["-o r.csv: this command writes .html, .json"]);
    let port = server.port();
    let files = "-o a.html -o a.json -o a.md -o a.csv -o a.parquet -o jmeter";
    room.run_line(&format!("run plan.jmx -JPORT={port} --dir again {files}"))
        .expect(0)
        .prints(&["a.parquet"]);
    assert!(
        room.read("a.csv").lines().count() > 1 && room.read("jmeter/statistics.json").contains("checkout")
    );
    assert!(std::fs::read(room.path().join("a.parquet")).unwrap().starts_with(b"PAR1"));
    let json = room.run_line(&format!("run plan.jmx -JPORT={port} --json")).expect(0).stdout;
    assert!(json.starts_with('{') && json.contains("checkout"), "{json}");
    room.run_line("capacity plan --rate 20/s --response 50ms -o plan.json")
        .expect(0)
        .reports(&["wrote plan.json"]);
    room.run_line("compare run again --allow-unlike --fail-on none -o c.html -o c.json -o c.csv").expect(0);
    assert!(room.read("c.json").starts_with('{') && room.read("c.html").contains("<html"));
    room.run_line("export run -o seconds.csv").expect(0).reports(&["wrote seconds.csv"]);
    room.run_line("export run -o x.hgrm --label checkout").expect(0);
    room.run_line("export run -o x.nonsense").expect(2).reports(&["add --to FORMAT"]);
    // The old form of --json.
    room.run_line("report results.jtl --json old.json").expect(0).reports(&["wrote old.json"]);
    assert_eq!(room.read("old.json"), room.read("r.json"));
    assert_eq!(room.run_line("report results.jtl --json -").expect(0).stdout, room.read("r.json"));
    assert_eq!(room.run_line("report results.jtl --json").expect(0).stdout, room.read("r.json"));
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
        room.run_line(line).expect(2).reports(&[&message]);
    }
    room.run_line("report results.jtl --window 0,1min --apdex 300ms,1.2s").expect(0);
}

#[test]
fn metrics_are_sent_to_urls_and_their_old_options_work() {
    let (room, server) = room_with_run();
    let run = format!("run plan.jmx -JPORT={}", server.port());
    for target in ["--send prometheus://127.0.0.1:0", "--prometheus 127.0.0.1:0"] {
        room.run_line(&format!("{run} {target}")).expect(0).reports(&["http://127.0.0.1:"]);
    }
    for (url, words) in [
        ("http://127.0.0.1:1/", "otlp+http://127.0.0.1:1/"),
        ("prometeus://:1", "did you mean prometheus?"),
        ("127.0.0.1:9646", "not a URL"),
    ] {
        room.run_line(&format!("{run} --send {url}")).expect(2).reports(&[words]);
    }
}

#[test]
fn quiet_and_verbose_select_messages() {
    let (room, server) = room_with_run();
    let quiet = room.run_line("report results.jtl -o r.html --quiet").expect(0);
    assert!(quiet.stderr.is_empty() && !quiet.stdout.is_empty(), "{}", quiet.all());
    assert_eq!(room.run_line("--quiet judge results.jtl --threshold errors<1%").expect(0).stderr, "");
    room.run_line("-v report results.jtl").expect(0).reports(&["read results.jtl in "]);
    let verbose = format!("run plan.jmx -JPORT={} -v", server.port());
    room.run_line(&verbose).expect(0).reports(&["phase: running"]);
    room.run_line("check plan.jmx --quiet").expect(0).prints(&["plan.jmx: supported"]);
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
        room.run_line(line).expect(2).reports(&[words]);
    }
    for (line, wrong) in [
        ("run http://127.0.0.1:1/ --duration", "--data"),
        ("run http://127.0.0.1:1/ --nonsense", "did you mean"),
        ("fly", "did you mean"),
    ] {
        let ended = room.run_line(line).expect(2);
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
fn files_of_other_tools_are_reported_with_reasons_to_doubt_them() {
    let room = Room::new();
    let start = 1_793_527_200_000_u64;
    let requests: String = (0..300)
        .map(|number| {
            format!("REQUEST\t\thome\t{}\t{}\tOK\t \n", start + number * 50, start + number * 50 + 9)
        })
        .collect();
    room.file("simulation.log", format!("RUN\tShop\tshop\t{start}\t \t3.9.5\n{requests}"));
    room.file(
        "locust_stats.csv",
        "Type,Name,Request Count,Failure Count,50%,95%,99%\nGET,/,500,0,10,20,30\n,Aggregated,500,0,10,20,30\n",
    );
    room.run_line("report simulation.log -o page.html --json")
        .expect(0)
        .prints(&["\"doubt\":\"Doubt these numbers: 300 samples give a p99 of ", "Gatling log (text)"]);
    assert!(room.read("page.html").contains("<p class=\"headline\">Doubt these numbers: 300 samples"));
    room.run_line("report simulation.log").expect(0).prints(&["Doubt these numbers: ", "300 requests in "]);
    room.run_line("report --arrivals simulation.log").expect(0).prints(&["home"]);
    room.run_line("report locust_stats.csv -o small.html").expect(0).prints(&[
        "Doubt these numbers: ",
        "statistics of Locust",
        "Aggregated",
        "contains no samples",
    ]);
    assert!(room.read("small.html").contains("Doubt these numbers: "));
    room.run_line("report locust_stats.csv --json").expect(0).prints(&["\"kind\":\"percentiles\""]);
    room.run(["report", "locust_stats.csv", "--threshold", "p95 < 1s"])
        .expect(3)
        .reports(&["contains no samples", "hint: "]);
    room.run_line("compare locust_stats.csv simulation.log")
        .expect(3)
        .reports(&["contains percentiles, but no samples"]);
}

#[test]
fn files_of_other_programs_that_cannot_be_read_are_named() {
    let room = Room::new();
    room.file("log.hlog", "#[Histogram log format version 1.3]\n");
    for line in ["report log.hlog", "report --arrivals log.hlog", "compare log.hlog log.hlogx"] {
        room.run_line(line).expect(3).reports(&["log.hlog", "this is a log of HdrHistogram", "hint: "]);
    }
}

#[test]
fn the_short_help_of_run_fits_on_a_screen() {
    let room = Room::new();
    let short = room.run_line("run -h").expect(0).stdout;
    assert!(short.lines().count() <= 45, "{} lines:\n{short}", short.lines().count());
    let options = short.lines().filter(|line| line.trim_start().starts_with('-')).count();
    assert!((14..=20).contains(&options), "{options} options:\n{short}");
    insta::assert_snapshot!(short);
    let long = room.run_line("run --help").expect(0).stdout;
    for heading in [
        "Load:",
        "Output:",
        "Run:",
        "Thresholds:",
        "Request to a URL:",
        "Observation and control:",
        "Several machines:",
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
    let help = room.run_line("--help").expect(0).stdout;
    insta::assert_snapshot!(help);
    for old in ["judge", "trend", "arrivals ", "plan-load", "demo-server", "users "] {
        assert!(!help.lines().any(|line| line.trim_start().starts_with(old)), "{old}");
    }
}

#[test]
fn completions_man_pages_and_schemas_are_printed() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = room.run_line(&format!("config completions {shell}")).expect(0).stdout;
        assert!(script.contains("capacity") && !script.contains("plan-load"), "{shell}");
    }
    room.run_line("config man").expect(0).prints(&[".TH", "busyhour"]);
    room.run_line("config man -o pages").expect(0).reports(&["pages"]);
    assert!(room.read("pages/busyhour-run.1").contains("PLAN"));
    room.run_line("config schema thresholds").expect(0).prints(&["\"type\": \"object\""]);
    room.run_line("config schema model").expect(0).prints(&["\"type\": \"object\""]);
}
