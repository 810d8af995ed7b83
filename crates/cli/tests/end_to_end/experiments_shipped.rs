//! Tests the experiments that need no file, and the confirmation of a cause.

use crate::foreign_programs::free_port;
use crate::plans::{get, group, plan};
use crate::program::{Room, wait_for};
use crate::servers::{Server, answer};

#[test]
fn experiments_are_listed_and_copied() {
    let room = Room::new();
    let listed = room.run_line("experiment list").expect(0);
    for name in [
        "noisy-neighbour",
        "neighbour-sensitivity",
        "cells-load",
        "cells-functional",
        "broker-threshold",
        "broker",
        "web-users",
    ] {
        assert!(listed.stdout.lines().any(|line| line.starts_with(name)), "{name}: {}", listed.stdout);
    }
    assert!(listed.stdout.contains("fills arrays of four times the last-level caches"), "{}", listed.stdout);
    room.run_line("experiment copy cells-load cells").expect(0);
    assert!(room.read("cells/cells-load.toml").contains("plan = \"cells.jmx\""));
    assert!(room.read("cells/cells.jmx").contains("jmeterTestPlan"));
    room.run_line("experiment copy cells-load cells")
        .expect(3)
        .reports(&["exists already", "another directory"]);
    room.run_line("experiment copy web-user").expect(2).reports(&["did you mean web-users"]);
    room.run_line("experiment run web-user").expect(3).reports(&["did you mean web-users"]);
}

#[test]
fn a_dry_run_names_what_its_duration_does_not_include() {
    let room = Room::new();
    let text = "version = 1\n[load]\nurl = \"http://127.0.0.1:1/\"\n[trials]\nduration = \"1s\"\nrepetitions = 2\n\
        [[factor]]\nname = \"neighbour\"\n\
        level = [{ name = \"none\" }, { name = \"stream\", treatments = [\"bully\"] }, { name = \"users\", users = 2 }]\n\
        [[treatment]]\nname = \"bully\"\nkind = \"neighbour\"\nworkload = \"stream\"\n";
    room.file("bully.toml", text);
    let shown = room.run_line("experiment run bully.toml --dry-run").expect(0);
    // Two repetitions show hardly any effect.
    shown.prints(&["Not included: before each of its trials, bully fills arrays", "  > 1000 %"]);
}

#[test]
fn levels_whose_controls_are_missing_are_left_out() {
    let room = Room::new();
    let text = "version = 1\n[load]\nurl = \"http://127.0.0.1:1/\"\n[trials]\nduration = \"1s\"\n\
        [[factor]]\nname = \"limit\"\n\
        level = [{ name = \"none\" }, { name = \"users\", users = 2 }, { name = \"masks\", treatments = [\"masks\"] }]\n\
        [[treatment]]\nname = \"masks\"\nkind = \"masks\"\ntarget = \"/sys/fs/cgroup/missing\"\nl3 = \"0x3\"\n";
    room.file("limit.toml", text);
    room.run_line("experiment run limit.toml --dry-run").expect(3).reports(&["masks", "--skip-unavailable"]);
    let skipped = room.run_line("experiment run limit.toml --dry-run --skip-unavailable").expect(0);
    skipped.reports(&["left out"]).prints(&["2 cases"]);
    room.run_line("experiment run limit.toml --dry-run --short")
        .expect(3)
        .reports(&["no short form", "[short]"]);
}

#[test]
fn a_cause_is_confirmed_by_removing_it() {
    let room = Room::new();
    let port = free_port();
    let start = format!(
        "exec {} lab server shop --small --port {port} --backend \"${{CONNECTIONS:-1}} x exponential(20ms)\"",
        env!("CARGO_BIN_EXE_busyhour")
    );
    let ready = format!("http://127.0.0.1:{port}/ticket-monster/rest/venues");
    let url = format!("http://127.0.0.1:{port}/ticket-monster/rest/ticketcategories");
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &start]);
    let mut shop = room.start_command(command);
    wait_for("the shop listens", || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok().then_some(()));
    room.run(["run", &url, "--rate", "40/s", "-z", "3s", "--dir", "slow", "--observe", "none"]).expect(0);
    shop.terminate();
    drop(shop);

    room.run(["experiment", "confirm", "slow"])
        .expect(2)
        .reports(&["nothing was observed", "--observe auto"]);
    room.run(["experiment", "confirm", "slow", "--environment", "CONNECTIONS=3"])
        .expect(2)
        .reports(&["--start"]);
    room.run(["experiment", "confirm", "missing", "--pause", "4711"]).expect(3);

    let confirm = ["experiment", "confirm", "slow", "--start", &start, "--ready", &ready];
    let removed = ["--environment", "CONNECTIONS=3", "--repetitions", "2", "--dir", "out", "-o", "out.json"];
    let running = room.start(confirm.into_iter().chain(removed));
    // A busy machine can spoil trials, so that only the time for each trial is limited.
    let mut ended = 0;
    while !room.path().join("out.json").exists() {
        ended = wait_for("the end of a trial, or of the experiment", || {
            let journal = std::fs::read_to_string(room.path().join("out/journal.jsonl")).unwrap_or_default();
            let now = journal.matches("\"event\":\"ended\"").count();
            (now > ended || room.path().join("out.json").exists()).then_some(now)
        });
    }
    let end = running.end();
    let report: serde_json::Value = serde_json::from_str(&room.read("out.json")).unwrap();
    assert_eq!(report["case_names"], serde_json::json!(["base", "cause=removed"]));
    let file = room.read("out/files/confirm.toml");
    assert!(file.contains("schedule = \"poisson(40/s)\"") && file.contains(&url), "{file}");
    if end.status.success() {
        let cases = &report["responses"][1]["analysis"]["cases"];
        let of = |case: usize| cases[case]["value"].as_f64().unwrap();
        assert!(of(1) < of(0), "the median with one connection is {}, with three {}", of(0), of(1));
    }
}

#[test]
fn the_load_of_any_command_line_is_repeated() {
    let room = Room::new();
    let server = Server::start(|stream, _| answer(stream));
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["--quiet", "run", "--rate", "20/s", "-z1s", &url, "--dir", "slow", "--observe", "none"])
        .expect(0);
    let own = std::process::id().to_string();
    let confirm = ["experiment", "confirm", "slow", "--dry-run", "--dir", "out"];
    room.run(confirm.into_iter().chain(["--pause", &own])).expect(0);
    let file = room.read("out/files/confirm.toml");
    assert!(file.contains("schedule = \"poisson(20/s)\"") && file.contains(&url), "{file}");
    // Larger than the largest process ID of Linux.
    room.run(confirm.into_iter().chain(["--pause", "4194305"]))
        .expect(2)
        .reports(&["--pause 4194305: there is no process 4194305"]);
    room.run(confirm.into_iter().chain(["--property", "POOL=50"]))
        .expect(2)
        .reports(&["--property has no effect", "requested a URL"]);

    let text = plan(&group("1", "2", &get("A", "/")));
    std::fs::create_dir(room.path().join("plans")).unwrap();
    room.file("plans/shop.jmx", &text);
    let port = format!("-JPORT={}", server.port());
    room.run(["-n", "-t", "plans/shop.jmx", "-l", "x.jtl", &port, "--dir", "planned"]).expect(0);
    let confirm = ["experiment", "confirm", "planned", "--dry-run", "--dir", "of-plan", "--pause", &own];
    room.run(confirm.into_iter().chain(["--property", "POOL=50"]))
        .expect(0)
        .reports(&["the plan does not contain the property POOL"]);
    room.run(confirm).expect(0);
    let file = room.read("of-plan/files/confirm.toml");
    assert!(file.contains("plans/shop.jmx") && file.contains(&port[2..]), "{file}");
    room.file("plans/shop.jmx", text + "<!-- changed -->\n");
    room.run(confirm).expect(0).reports(&["plans/shop.jmx was changed or is not here"]);
    assert!(room.read("of-plan/files/confirm.toml").contains("planned/plan.jmx"));
}
