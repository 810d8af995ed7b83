//! Tests `busyhour experiment`: a small experiment, faults of the system under test, and continuation.

use std::path::Path;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::foreign_programs::free_port;
use crate::program::{Room, Running, wait_for};
use crate::servers::Server;

/// A system that responds after `$DELAY`, and writes its process ID to a file.
pub(crate) fn probe(port: u16) -> String {
    let busyhour = env!("CARGO_BIN_EXE_busyhour");
    format!("echo $$ >> pids; exec {busyhour} lab server probe --port {port} --delay $DELAY")
}

/// An experiment with two delays. `more` is appended to the file.
pub(crate) fn experiment(start: &str, port: u16, trials: &str, more: &str) -> String {
    format!(
        "version = 1\nresponses = [\"p95\", \"errors\"]\n\
         [system]\nstart = '''{start}'''\nready = \"http://127.0.0.1:{port}/\"\n\
         [load]\nurl = \"http://127.0.0.1:{port}/\"\nschedule = \"even(20/s)\"\noptions = [\"--observe\", \"none\"]\n\
         [trials]\nwarm-up = 0\nattempts = 20\norder = \"mirrored\"\n{trials}\n\
         [[factor]]\nname = \"delay\"\n\
         [[factor.level]]\nname = \"10ms\"\nenvironment = {{ DELAY = \"10ms\" }}\n{more}\n\
         [[factor.level]]\nname = \"80ms\"\nenvironment = {{ DELAY = \"80ms\" }}\n{more}\n"
    )
}

/// The lines of the journal.
pub(crate) fn journal(room: &Room) -> Vec<Value> {
    room.read("out/journal.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The trials that ended with an outcome.
pub(crate) fn trials(room: &Room, outcome: &str) -> Vec<String> {
    let lines = journal(room);
    let ended = lines.iter().filter(|line| line["event"] == "ended" && line["outcome"] == outcome);
    ended.map(|line| line["trial"].as_str().unwrap().to_owned()).collect()
}

/// Waits until all processes whose IDs are in the file `pids` have ended, and returns their number.
pub(crate) fn wait_for_pids(room: &Path) -> usize {
    let text = std::fs::read_to_string(room.join("pids")).unwrap_or_default();
    let pids: Vec<&str> = text.split_whitespace().collect();
    for pid in &pids {
        wait_for("the process has ended", || {
            let command = std::fs::read(format!("/proc/{pid}/cmdline"));
            command.map_or(true, |command| command.is_empty()).then_some(())
        });
    }
    pids.len()
}

pub(crate) const RUN: [&str; 5] = ["experiment", "run", "delay.toml", "--dir", "out"];

/// Waits until the run of a trial has begun.
pub(crate) fn wait_for_load(room: &Room, trial: &str) {
    let path = room.path().join(format!("out/trials/{trial}/run.json"));
    wait_for("the run has begun", || path.exists().then_some(()));
}

#[test]
fn an_experiment_finds_the_effect_of_a_delay() {
    let room = Room::new();
    let port = free_port();
    let more = "treatments = [\"neighbour\", \"mark\"]";
    let treatments = "[[treatment]]\nname = \"neighbour\"\nkind = \"neighbour\"\nworkload = \"cpu\"\nintensity = \"1%\"\n\
        [[treatment]]\nname = \"mark\"\nkind = \"command\"\napply = \"mkdir applied\"\nundo = \"rmdir applied; echo undone >> undone\"\n";
    let text = experiment(&probe(port), port, "duration = \"2s\"\nrepetitions = 3", more) + treatments;
    room.file("delay.toml", &text);
    let running = room.start(RUN.into_iter().chain(["-o", "delay.csv"]));
    // A busy machine can spoil many trials, so that only the time for each trial is limited.
    let mut attempts = 0;
    while !running.stdout().contains("trials finished") {
        attempts = wait_for("the end of a trial, or of the experiment", || {
            let journal = std::fs::read_to_string(room.path().join("out/journal.jsonl")).unwrap_or_default();
            let now = journal.matches("\"event\":\"ended\"").count();
            (now > attempts || running.stdout().contains("trials finished")).then_some(now)
        });
    }
    let ended = running.end().expect(0);
    ended.prints(&["p95 is ", " % higher with delay=80ms than with delay=10ms", "6 trials finished"]);
    assert_eq!(trials(&room, "finished").len(), 6);
    let attempts = journal(&room).iter().filter(|line| line["event"] == "ended").count();
    assert_eq!(room.read("undone").lines().count(), attempts, "each trial undid its treatment");
    assert!(wait_for_pids(room.path()) >= 6);
    assert_eq!(room.read("delay.csv").lines().count(), 1 + attempts);
    let seed = |trial: &str| -> Value {
        let manifest = room.read(&format!("out/trials/{trial}/run.json"));
        serde_json::from_str::<Value>(&manifest).unwrap()["seed"].clone()
    };
    let of_block = |block: &str| -> Vec<String> {
        trials(&room, "finished").into_iter().filter(|trial| trial.starts_with(block)).collect()
    };
    let first = of_block("b01");
    assert_eq!(seed(&first[0]), seed(&first[1]), "all cases of a block have the same arrivals");
    assert_ne!(seed(&first[0]), seed(&of_block("b02")[0]));

    // Run again, nothing is executed.
    let again = room.run(RUN).expect(0);
    assert!(!again.stderr.contains("trial 1 of"), "{}", again.all());
    assert_eq!(journal(&room).iter().filter(|line| line["event"] == "ended").count(), attempts);
    // Another response is computed from the recorded runs.
    let changed = text.replace("\"errors\"", "\"median\", \"throughput\"");
    room.file("out/experiment.toml", &changed);
    let report = room.run(["experiment", "report", "out", "--json", "-o", "page/delay.html"]);
    assert_eq!(report.status.code(), Some(1), "the directory of the page does not exist: {}", report.all());
    let report = room.run(["experiment", "report", "out", "--json", "-o", "delay.html"]).expect(0);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["responses"][1]["response"], json!("p50"));
    let change = report["responses"][1]["analysis"]["effects"][0]["change"].as_f64().unwrap();
    assert!(change > 200.0, "{change}");
    let page = room.read("delay.html");
    let link =
        format!("{}/out/trials/{}/report.html", room.path().canonicalize().unwrap().display(), first[0]);
    assert!(page.contains("higher with delay=80ms") && page.contains(&link), "{page}");
    assert!(room.read("out/report.html").contains(&format!("href=\"trials/{}/report.html\"", first[0])));

    // Another level is another experiment.
    room.file("delay.toml", text.replace("80ms", "90ms"));
    room.run(RUN).expect(3).reports(&["contains trials of another experiment", "--dir"]);
}

#[test]
fn a_dry_run_shows_trials_and_errors() {
    let room = Room::new();
    let good = experiment("exec true", 9, "duration = \"2s\"\nrepetitions = 4", "");
    room.file("delay.toml", &good);
    let shown = room.run_line("experiment run delay.toml --dry-run").expect(0);
    shown.prints(&[
        "2 cases and 4 repetitions: 8 trials, with 0 warm-up trials",
        "Smallest increase of p95 that 4 repetitions find in 9 of 10 experiments",
        "(assumed)",
        "    1  b01-c",
        "    8  b04-c",
    ]);
    assert!(!room.path().join("busyhour-experiments").exists());
    let masks = "[[treatment]]\nname = \"ways\"\nkind = \"masks\"\ntarget = \"system\"\nl3 = \"0x3\"\n";
    let used = good.replace("name = \"80ms\"", "name = \"80ms\"\ntreatments = [\"ways\"]");
    room.file("delay.toml", used + masks);
    room.run_line("experiment run delay.toml")
        .expect(3)
        .reports(&["treatment \"ways\" (masks) is not available"]);
    for (from, to, message) in [
        ("even(20/s)", "evn(20/s)", "--arrivals"),
        ("even(20/s)", "even(20/s) for 5s", "the schedule lasts 5 s, and `duration` of [trials] is 2 s"),
        ("\"--observe\", \"none\"", "\"--observe\", \"nothing\"", "--observe"),
        ("\"--observe\", \"none\"", "\"--no-such-option\"", "--no-such-option"),
        ("\"--observe\", \"none\"", "\"--seed\", \"7\"", "--seed"),
        ("responses", "thresholds = [\"p95 of < 1\"]\nresponses", "--threshold"),
        (
            "[load]\nurl = \"http://127.0.0.1:9/\"",
            "[load]\nplan = \"none.jmx\"",
            "the plan none.jmx is not a file",
        ),
    ] {
        assert!(good.contains(from));
        room.file("delay.toml", good.replace(from, to));
        room.run_line("experiment run delay.toml --dry-run")
            .expect(3)
            .reports(&["error: delay.toml", message]);
    }
    let schema = room.run_line("experiment schema").expect(0).stdout;
    assert_eq!(schema, room.run_line("config schema experiment").expect(0).stdout);
    assert!(serde_json::from_str::<Value>(&schema).unwrap()["properties"]["factor"].is_object());
}

#[test]
fn a_system_that_is_never_ready_is_named_with_its_log() {
    let room = Room::new();
    let port = free_port();
    let text =
        experiment("echo $$ >> pids; echo no database; exec sleep 1000", port, "duration = \"2s\"", "");
    room.file("delay.toml", text.replace("[load]", "ready-within = \"300ms\"\n[load]"));
    let dir = room.path().join("out/trials/b01-c");
    let ended = room.run(RUN).expect(1).reports(&[
        "3 trials in succession failed; the last one is b01-c",
        &format!(
            "the system was not ready within 0.3 s: waited for a code below 400 from http://127.0.0.1:{port}/"
        ),
        "system.log: no database",
        &dir.display().to_string(),
    ]);
    assert!(ended.stdout.contains("3 failed"), "{}", ended.all());
    assert_eq!(wait_for_pids(room.path()), 3);
}

#[test]
fn a_trial_fails_if_the_system_ends_during_it() {
    let room = Room::new();
    let port = free_port();
    let busyhour = env!("CARGO_BIN_EXE_busyhour");
    // The system ends when the run has begun.
    let start = format!(
        "{busyhour} lab server probe --port {port} & echo $! >> pids; \
         until ls out/trials/*/samples.bhs; do sleep 0.05; done; kill $!; rm out/trials/*/samples.bhs; exit 3"
    );
    room.file("delay.toml", experiment(&start, port, "duration = \"30s\"", ""));
    room.run(RUN).expect(1).reports(&["the system ended during the trial with exit code 3", "system.log"]);
    assert_eq!((trials(&room, "failed").len(), wait_for_pids(room.path())), (3, 3));
}

/// Leaves a process behind, which writes its process ID to a file. That of the first trial ignores SIGTERM.
pub(crate) const DAEMON: &str = "(setsid sh -c \"test -e stubborn || { trap : TERM; touch stubborn; }; \
    echo \\$\\$ >> pids; while :; do sleep 1000; done\" &); ";

#[test]
fn processes_that_a_system_leaves_behind_are_ended() {
    let room = Room::new();
    let port = free_port();
    let start = format!("{DAEMON}{}", probe(port));
    room.file("delay.toml", experiment(&start, port, "duration = \"1s\"\nrepetitions = 2", ""));
    room.run(RUN).expect(0);
    assert!(wait_for_pids(room.path()) >= 8, "two processes of each trial");
}

#[test]
fn trials_whose_load_was_not_delivered_are_repeated_and_counted() {
    let room = Room::new();
    let port = free_port();
    // The only user is busy for longer than the time between arrivals if the delay is 80 ms.
    let text = experiment(&probe(port), port, "duration = \"1s\"\nrepetitions = 2", "")
        .replace("attempts = 20", "attempts = 2")
        .replace("\"none\"]", "\"none\", \"--no-free-user\", \"drop\", \"-c\", \"1\"]");
    room.file("delay.toml", text);
    let ended = room
        .run(RUN)
        .expect(1)
        .reports(&["(delay=80ms) is spoiled: load not delivered: ", "no result after all attempts"]);
    ended.prints(&["Block 1 has no result for delay=80ms: 0 attempts failed, 2 were spoiled."]);
    let spoiled = trials(&room, "spoiled");
    for trial in ["b01-c02-a1", "b01-c02-a2", "b02-c02-a1", "b02-c02-a2"] {
        assert!(spoiled.iter().any(|spoiled| spoiled == trial), "{trial} is missing in {spoiled:?}");
    }
}

#[test]
fn a_port_that_is_taken_is_named() {
    let room = Room::new();
    let server = Server::quick();
    room.file("delay.toml", experiment("exec sleep 1000", server.port(), "duration = \"1s\"", ""));
    room.run(RUN).expect(1).reports(&["is taken by another process before the system starts", "ss -ltnp"]);
}

/// Starts an experiment with long trials, and waits until the load of the first trial has begun.
fn start_long(room: &Room) -> (Running, String) {
    let port = free_port();
    let more = "treatments = [\"mark\"]\npatch = [{ file = \"conf\", find = \"old\", replace = \"new\" }]";
    let treatment = "[[treatment]]\nname = \"mark\"\nkind = \"command\"\napply = \"mkdir applied\"\nundo = \"rmdir applied\"\n";
    let text = experiment(&probe(port), port, "duration = \"30s\"\nrepetitions = 2", more) + treatment;
    room.file("delay.toml", &text);
    room.file("conf", "an old value");
    let running = room.start(RUN);
    let first = wait_for("the first trial", || {
        let text = std::fs::read_to_string(room.path().join("out/journal.jsonl")).ok()?;
        let line: Value = serde_json::from_str(text.lines().nth(1)?).ok()?;
        Some(line["trial"].as_str()?.to_owned())
    });
    wait_for_load(room, &first);
    assert_eq!(room.read("conf"), "an new value");
    (running, first)
}

#[test]
fn signals_stop_the_trial_and_the_system() {
    for signal in [Signal::INT, Signal::TERM] {
        let room = Room::new();
        let (running, first) = start_long(&room);
        running.signal(signal);
        running.end().expect(4).reports(&["run the same command again to continue"]);
        assert_eq!((trials(&room, "interrupted"), wait_for_pids(room.path())), (vec![first], 1));
        assert!(room.read("conf") == "an old value" && !room.path().join("applied").exists());
    }
}

#[test]
fn an_experiment_that_was_killed_restores_and_continues() {
    let room = Room::new();
    let (running, first) = start_long(&room);
    running.signal(Signal::KILL);
    assert!(running.end().status.code().is_none());
    assert_eq!(wait_for_pids(room.path()), 1, "the keeper ends the system");
    assert!(room.path().join("applied").is_dir());
    let running = room.start(RUN);
    running.wait_for_stderr("undid the treatment \"mark\" of the interrupted trial");
    running.wait_for_stderr(&format!("the trial {first} was interrupted and is repeated"));
    let second = format!("{}2", first.strip_suffix('1').unwrap());
    wait_for_load(&room, &second);
    // Another process must not execute the same experiment.
    room.run(RUN).expect(3).reports(&["is in use by another process"]);
    running.signal(Signal::TERM);
    running.end().expect(4);
    assert_eq!(trials(&room, "interrupted"), [first, second]);
    assert!(room.read("conf") == "an old value" && !room.path().join("applied").exists());
    wait_for_pids(room.path());
}
