//! Tests `capacity simulate`.

use serde_json::Value;

use crate::program::Room;

/// M/M/1 with a utilization of 75 %.
const QUEUE: &str = "version = 1\nname = \"One queue\"\n\n[[class]]\nname = \"jobs\"\nrate = \"75/s\"\n\n\
    [[station]]\nname = \"server\"\nservice = \"10ms\"\n";

/// Two servers with two classes, one of them with a small capacity.
const SHOP: &str = "version = 1\nname = \"Shop\"\n\n[[class]]\nname = \"buyers\"\nusers = 30\nthink = \"1s\"\npriority = 1\n\n\
    [[class]]\nname = \"robots\"\nrate = \"10/s\"\n\n\
    [[station]]\nname = \"web\"\nscheduling = \"priority-preemptive\"\nservice = \"erlang(15ms, 3)\"\n\n\
    [[station]]\nname = \"mail\"\nservers = 2\nservice = \"40ms\"\ncapacity = 3\nwhen-full = \"drop\"\n";

fn room_with(model: &str) -> Room {
    let room = Room::new();
    room.file("model.toml", model);
    room
}

#[test]
fn the_result_of_a_simulation_is_printed() {
    let ended = room_with(SHOP).run_line("capacity simulate model.toml --precision 5% --seed 3").expect(0);
    // The last digits may differ between platforms, but the text must not.
    let lines: Vec<Vec<&str>> = ended.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let first_words = |from: usize, count: usize| -> Vec<String> {
        lines[from..].iter().map(|words| words[..count.min(words.len())].join(" ")).collect()
    };
    assert_eq!(first_words(0, 1)[..3], ["Shop", "Simulated:", "All"], "{}", ended.stdout);
    assert_eq!(first_words(4, 1)[..3], ["class", "buyers", "robots"], "{}", ended.stdout);
    let stations =
        ["station class", "web buyers", "web robots", "web all", "mail buyers", "mail robots", "mail all"];
    assert_eq!(first_words(8, 2), stations, "{}", ended.stdout);
    let heading = "X per s U % Q R ms residence ms p95 ms lost per s lost %";
    assert!(lines[8].join(" ").ends_with(heading), "{}", ended.stdout);
    // Each row has eight values; all except the losses of the class web have intervals.
    let intervals = |at: usize| lines[at].iter().filter(|word| **word == "±").count();
    assert_eq!((9..15).map(intervals).collect::<Vec<_>>(), [6, 6, 6, 8, 8, 8], "{}", ended.stdout);
}

#[test]
fn the_result_can_be_json() {
    let room = room_with(QUEUE);
    let line = "capacity simulate model.toml --precision 3% --confidence 99% --json";
    let ended = room.run_line(&format!("{line} - --cores 1")).expect(0);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((&found["version"], &found["model"]), (&Value::from(1), &Value::from("One queue")));
    assert_eq!((&found["ending"], &found["seed"]), (&Value::from("precise"), &Value::from(1)));
    let response = &found["classes"][0]["response_s"];
    let number = |name: &str| response[name].as_f64().unwrap();
    assert!(number("low") < 0.04 && number("high") > 0.04 && number("confidence") == 0.99, "{response}");
    assert_eq!(response["method"], "spectral");
    assert_eq!(found["stations"][0]["total"]["lost_per_s"], Value::Null);
    // The same seed on a different number of cores.
    room.run_line(&format!("{line} found.json --cores 2")).expect(0);
    let again: Value = serde_json::from_str(&room.read("found.json")).unwrap();
    assert_eq!(found, again);
}

/// With a capacity of one and as many arrivals as service completions, half of the arrivals are lost.
const LOSSES: &str = "version = 1\nname = \"Losses\"\n[[class]]\nname = \"calls\"\nrate = \"10/s\"\n\
    [[station]]\nname = \"line\"\nservice = \"100ms\"\ncapacity = 1\nwhen-full = \"drop\"\n";

#[test]
fn losses_have_the_same_names_and_units_solved_and_simulated() {
    let room = room_with(LOSSES);
    let data = |line: &str| -> Value { serde_json::from_str(&room.run_line(line).expect(0).stdout).unwrap() };
    let solved = data("capacity solve model.toml --json -");
    let simulated = data("capacity simulate model.toml --precision 5% --json -");
    for (name, expected) in [("lost_share", 0.5), ("lost_per_s", 5.0)] {
        let exact = solved["classes"][0][name].as_f64().unwrap();
        assert!((exact / expected - 1.0).abs() < 1e-9, "{name} {exact}");
        let found = simulated["classes"][0][name]["value"].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 0.1, "{name} {found}");
    }
    for line in ["capacity solve model.toml", "capacity simulate model.toml --precision 5%"] {
        let printed = room.run_line(line).expect(0).stdout;
        assert!(printed.contains("lost per s") && printed.contains("lost %"), "{printed}");
    }
}

/// M/G/1 whose service time has an infinite third moment.
const HEAVY: &str = "version = 1\nname = \"Heavy\"\n[[class]]\nname = \"jobs\"\nrate = \"0.5/s\"\n\
    [[station]]\nname = \"server\"\nservice = \"pareto(1s, shape=2.3)\"\n";

#[test]
fn a_mean_without_a_variance_has_no_interval() {
    let room = room_with(HEAVY);
    let ended = room.run_line("capacity simulate model.toml --precision 20% --events-max 1M").expect(0);
    let printed = &ended.stdout;
    let why = "the variance is infinite: service times at server have finite moments only below order 2.3";
    assert!(printed.contains(&format!("class jobs: R interval not valid, {why}")), "{printed}");
    assert!(!printed.contains("All measures have a precision"), "{printed}");
    // S + λE[S²]/2(1 − ρ) with E[S²] = 1 + 1/(2.3 · 0.3).
    assert!(printed.contains("`busyhour capacity solve` computes the means exactly"), "{printed}");
    assert!(printed.contains("R of jobs 2224.64 ms"), "{printed}");
    let ended =
        room.run_line("capacity simulate model.toml --precision 20% --events-max 1M --json -").expect(0);
    let found: Value = serde_json::from_str(&ended.stdout).unwrap();
    let class = &found["classes"][0];
    assert!(class["response_s"]["value"].is_number() && class["response_s"]["high"].is_null(), "{class}");
    assert!(class["throughput_per_s"]["high"].is_number(), "{class}");
    let reasons: Vec<&str> =
        found["unconverged"].as_array().unwrap().iter().filter_map(|one| one["reason"].as_str()).collect();
    assert_eq!(reasons, ["infinite-variance"; 3], "R of the class, R and Q of the station");
}

#[test]
fn measures_without_valid_intervals_are_reported() {
    let room = room_with(QUEUE);
    let ended = room.run_line("capacity simulate model.toml --precision 0.5% --events-max 100k").expect(0);
    let printed = &ended.stdout;
    assert!(printed.contains("Ended at the maximum number of events"), "{printed}");
    assert!(printed.contains("Less precise than requested:\n  class jobs: X ± "), "{printed}");
    assert!(printed.contains("--events-max"), "{printed}");
}

#[test]
fn a_model_without_a_steady_state_fails() {
    let room = room_with(&QUEUE.replace("75/s", "120/s"));
    let ended = room.run_line("capacity simulate model.toml --events-max 300k").expect(9);
    assert!(ended.stdout.contains("station server: Q still changed at the end"), "{}", ended.stdout);
    // Three users at two stations with capacity one block each other.
    let station = |name: &str| {
        format!(
            "[[station]]\nname = \"{name}\"\nservice = \"10ms\"\ncapacity = 1\nwhen-full = \"block\"\n\n\
             [[route]]\nfrom = \"{name}\"\nto = [\"a\", \"b\", \"outside\"]\n\n"
        )
    };
    let stuck = format!(
        "version = 1\n\n[[class]]\nname = \"users\"\nusers = 3\nthink = \"10ms\"\n\n{}{}[[route]]\nfrom = \"outside\"\nto = \"a\"\n",
        station("a"),
        station("b")
    );
    let ended = room_with(&stuck).run_line("capacity simulate model.toml").expect(9);
    assert!(ended.stderr.contains("deadlock after"), "{}", ended.stderr);
    assert!(ended.stderr.contains("at a, b"), "{}", ended.stderr);
}

#[test]
fn ctrl_c_prints_the_results_so_far() {
    let room = room_with(QUEUE);
    let running =
        room.start(["capacity", "simulate", "model.toml", "--precision", "0.0001%", "--events-max", "1000G"]);
    running.wait_for_stderr("million events of at most");
    running.signal(rustix::process::Signal::INT);
    let ended = running.end().expect(4);
    assert!(ended.stdout.contains("STOPPED before the requested precision"), "{}", ended.stdout);
    assert!(ended.stdout.contains("server"), "{}", ended.stdout);
}

#[test]
fn invalid_settings_are_reported() {
    let room = room_with(QUEUE);
    for (arguments, printed) in [
        ("--confidence 0", "the confidence must be between 0 and 1"),
        ("--precision 0%", "the precision must be greater than 0"),
        ("--replications 0", "the number of replications must be from 1 to 10,000"),
        ("--events-max many", "is not a count such as 500k or 20M"),
    ] {
        let ended = room.run_line(&format!("capacity simulate model.toml {arguments}")).expect(2);
        assert!(ended.stderr.contains(printed), "{arguments}: {}", ended.stderr);
    }
    let ended = room.run_line("capacity simulate nowhere.toml").expect(3);
    assert!(ended.stderr.contains("nowhere.toml"), "{}", ended.stderr);
}
