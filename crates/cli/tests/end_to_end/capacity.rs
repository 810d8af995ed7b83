//! Tests `capacity fit` and `capacity verify`: parameters are estimated from logs, and input errors are reported.

use std::fmt::Write as _;
use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::program::Room;

/// Reproducible random numbers.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.roll().ln()
    }
}

/// The JTL of users with a think time of half a second and one server with a mean service time of 10 ms. The knee is at 51 users.
fn log(users: usize, seed: u64, seconds: f64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (think_ms, service_ms) = (500.0, 10.0);
    let mut ready: Vec<f64> = (0..users).map(|_| dice.exponential(think_ms)).collect();
    let mut server_free = 0.0_f64;
    let mut rows = Vec::new();
    loop {
        // The queue is served in the order of arrivals.
        let (user, at) = ready.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        if at > seconds * 1e3 {
            break;
        }
        let end = server_free.max(at) + dice.exponential(service_ms);
        server_free = end;
        ready[user] = end + dice.exponential(think_ms);
        rows.push((at as u64, end as u64, user));
    }
    rows.sort_by_key(|row| row.1);
    let mut text =
        String::from("timeStamp,elapsed,label,responseCode,threadName,success,grpThreads,allThreads\n");
    for (start, end, user) in rows {
        let _ = writeln!(
            text,
            "{},{},get,200,Users 1-{},true,{users},{users}",
            1_700_000_000_000 + start,
            end - start,
            user + 1
        );
    }
    text
}

fn logs(room: &Room, users: &[usize]) -> String {
    let files: Vec<String> = users
        .iter()
        .map(|&users| {
            let name = format!("users-{users}.jtl");
            room.file(&name, log(users, users as u64, 60.0));
            name
        })
        .collect();
    files.join(" ")
}

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[test]
fn a_model_fitted_to_logs_predicts_other_loads_and_rejects_another_system() {
    let room = Room::new();
    let files = logs(&room, &[10, 25, 40, 55, 75, 100]);
    let line = format!(
        "capacity fit {files} --service-law --response-max 200ms -o model.toml -o fit.json -o capacity.html"
    );
    let ended = room.run_line(&line).expect(0);
    assert!(ended.stdout.contains("Distribution of the times of users-10.jtl"), "{}", ended.stdout);
    assert!(ended.stdout.contains("have a mean response time within 200 ms"), "{}", ended.stdout);
    let fit: Value = serde_json::from_str(&room.read("fit.json")).unwrap();
    let capacity = &fit["headroom"]["capacity_per_s"];
    let of = |key: &str| capacity[key].as_f64().unwrap();
    assert!((of("value") / 100.0 - 1.0).abs() < 0.05 && of("low") < 102.0 && of("high") > 98.0, "{capacity}");
    let knee = fit["headroom"]["knee_users"]["value"].as_f64().unwrap();
    assert!((knee / 51.0 - 1.0).abs() < 0.1, "{knee}");
    let contradictions: Vec<&Value> = fit["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|reported| reported["weight"] == "contradiction")
        .collect();
    assert_eq!(contradictions, Vec::<&Value>::new());
    let page = room.read("capacity.html");
    assert!(page.contains("data-page=\"capacity\"") && page.contains("users-100.jtl"));

    // A load near the knee that was not used for the fit.
    room.file("held-out.jtl", log(48, 4_711, 60.0));
    for model in ["model.toml", "fit.json"] {
        let kept = room.run_line(&format!("capacity verify {model} held-out.jtl --json")).expect(0);
        let judged: Value = serde_json::from_str(&kept.stdout).unwrap();
        assert_eq!(judged["verdict"], "kept", "{model}: {}", kept.stdout);
        let point = &judged["points"][0];
        let off = |of: &str| point[of]["off"].as_f64().unwrap().abs();
        assert!(off("throughput") < 0.10 && off("response") < 0.25, "{point}");
    }
    // Fitted parameters are rounded to their significant digits.
    let model = room.read("model.toml");
    for line in model.lines().filter(|line| line.starts_with("service") || line.starts_with("think")) {
        let digits = line.chars().filter(char::is_ascii_digit).count();
        assert!(digits <= 10, "{line}");
    }
    // The written model can be solved.
    room.run_line("capacity solve model.toml").expect(0);

    // A system with half the service time is rejected.
    let station = "[[station]]\nname = \"server\"\nservice = \"5ms\"\n";
    room.file(
        "wrong.toml",
        format!("version = 1\n[[class]]\nname = \"users\"\nusers = 1\nthink = \"500ms\"\n{station}"),
    );
    let rejected = room.run_line("capacity verify wrong.toml held-out.jtl users-75.jtl").expect(9);
    assert!(
        rejected.stdout.contains("Rejected: the model does not describe the measurements"),
        "{}",
        rejected.stdout
    );
}

/// Loads far from the knee leave several models possible, whose service times differ.
#[test]
fn intervals_that_include_other_models_have_a_note() {
    let note = "belongs to another model, so it does not determine the interval of the capacity.";
    for (users, is_noted) in [(&[5, 10, 15, 20][..], true), (&[10, 25, 40], false)] {
        let room = Room::new();
        let files = logs(&room, users);
        let ended = room.run_line(&format!("capacity fit {files} -o fit.json -o fit.html")).expect(0);
        let fit: Value = serde_json::from_str(&room.read("fit.json")).unwrap();
        let parameters = fit["parameters"].as_array().unwrap();
        let includes_others = parameters.iter().any(|of| of["includes_other_models"] == true);
        assert_eq!(includes_others, is_noted, "{parameters:?}");
        assert_eq!(ended.stdout.contains(note), is_noted, "{}", ended.stdout);
        assert_eq!(room.read("fit.html").contains(note), is_noted);
    }
}

#[test]
fn errors_in_the_data_of_the_seed_study_are_found() {
    let room = Room::new();
    let study = repository().join("plans/models/seed-study");
    let file = |name: &str| study.join(name).display().to_string();
    let fitted = room.run(["capacity", "fit", &file("config-3.csv")]).expect(0);
    assert_snapshot!("seed_study_config_3", fitted.stdout);
    let refused = room.run(["capacity", "fit", &file("as-entered.csv")]).expect(3);
    assert_snapshot!("seed_study_as_entered", refused.stderr);
    // The measurements have no standard errors. With 3 %, the response times reject even the correct model.
    let model = repository().join("plans/models/seed-study.toml").display().to_string();
    let unjudged = room.run(["capacity", "verify", &model, &file("config-3.csv")]).expect(0);
    assert!(unjudged.stdout.contains("Not judged"), "{}", unjudged.stdout);
    let judged = room
        .run(["capacity", "verify", &model, &file("config-3.csv"), "--measurement-error", "3%"])
        .expect(9);
    assert_snapshot!("seed_study_compared", judged.stdout);
}

#[test]
fn the_scalability_law_is_fitted_with_its_peak() {
    let room = Room::new();
    // A Sun SPARCcenter 2000 in SPEC SDM 91 (Gunther, "Guerrilla Capacity Planning", table 5.3).
    room.file("sdm91.csv", "users,throughput_per_s\n1,64.9\n18,995.9\n36,1652.4\n72,1853.2\n108,1828.9\n144,1775.0\n216,1702.2\n");
    let fitted = room.run_line("capacity fit sdm91.csv --think 0 --model usl").expect(0);
    assert!(fitted.stdout.contains("Peak: 97 (75 to 125) users"), "{}", fitted.stdout);
    assert!(fitted.stdout.contains("0.0277") && !fitted.stdout.contains("excluded"), "{}", fitted.stdout);
    let ended = room.run_line("capacity fit sdm91.csv --model usl -o model.toml").expect(2);
    assert!(ended.stderr.contains("not a queueing network"), "{}", ended.stderr);
}

#[test]
fn invalid_measurements_are_reported_with_their_position() {
    let room = Room::new();
    room.file("bad.csv", "users,throughput_per_s\n10,5\n20,many\n");
    room.file("open.csv", "users,throughput_per_s\n");
    for (line, code, printed) in [
        ("capacity fit bad.csv", 3, "bad.csv:3:4: column throughput_per_s: \"many\" is not a number"),
        ("capacity fit open.csv", 3, "there is no measurement after the first line"),
        ("capacity fit nowhere.jtl", 3, "nowhere.jtl"),
        ("capacity fit", 2, "required"),
        ("capacity fit bad.csv -o model.txt", 2, "this command writes .toml, .html or .json"),
        ("capacity verify bad.csv bad.csv", 3, "bad.csv"),
    ] {
        let ended = room.run_line(line).expect(code);
        assert!(ended.stderr.contains(printed), "{line}: {}", ended.stderr);
    }
}

#[test]
fn recorded_utilization_is_preferred() {
    let room = Room::new();
    let files = logs(&room, &[10, 30, 45]);
    // The server is busy for 10 ms per request, so its utilization in each second follows from the throughput.
    for (users, share) in [(10, 0.196), (30, 0.584), (45, 0.86)] {
        let rows: String = (0..60).map(|second| format!("{second},{:.1}\n", share * 100.0)).collect();
        room.file(&format!("cpu-{users}.csv"), format!("seconds,server_percent\n{rows}"));
    }
    let line = format!("capacity fit {files} --cpu cpu-10.csv --cpu cpu-30.csv --cpu cpu-45.csv --json");
    let fit: Value = serde_json::from_str(&room.run_line(&line).expect(0).stdout).unwrap();
    assert_eq!(fit["method"], "utilization_law");
    let demand_s = fit["demands"][0]["demand_s"]["value"].as_f64().unwrap();
    assert!((demand_s / 0.01 - 1.0).abs() < 0.05, "{demand_s}");
    let ended = room.run_line(&format!("capacity fit {files} --cpu cpu-10.csv --cpu cpu-30.csv")).expect(2);
    assert!(
        ended.stderr.contains("--cpu is given 2 times for 3 runs: give it once per run"),
        "{}",
        ended.stderr
    );
}

/// A run with three steps is one file with a load for each number of users.
#[test]
fn the_steps_of_a_run_are_separate_loads() {
    let room = Room::new();
    let mut rows = Vec::new();
    for (step, users) in [15, 35, 60, 90].into_iter().enumerate() {
        let text = log(users, users as u64, 40.0);
        for line in text.lines().skip(1) {
            let (stamp, rest) = line.split_once(',').unwrap();
            rows.push((stamp.parse::<u64>().unwrap() + step as u64 * 40_000, rest.to_owned()));
        }
    }
    let mut text = log(1, 1, 0.0);
    text.truncate(text.find('\n').unwrap() + 1);
    for (stamp, rest) in rows {
        let _ = writeln!(text, "{stamp},{rest}");
    }
    room.file("stairs.jtl", text);
    let ended = room.run_line("capacity fit stairs.jtl --json").expect(0);
    let fit: Value = serde_json::from_str(&ended.stdout).unwrap();
    let names: Vec<&str> = fit["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| point["point"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["stairs.jtl@15 users", "stairs.jtl@35 users", "stairs.jtl@60 users", "stairs.jtl@90 users"]
    );
    assert_eq!(fit["method"], "least_squares");
    let capacity = fit["headroom"]["capacity_per_s"]["value"].as_f64().unwrap();
    assert!((capacity / 100.0 - 1.0).abs() < 0.06, "{capacity}");
    let errors = &fit["points"][2]["point"];
    assert!(errors["throughput_error"].as_f64().is_some_and(|error| error > 0.0), "{errors}");
    let one = room.run_line("capacity fit stairs.jtl --one-load --json").expect(0);
    let one: Value = serde_json::from_str(&one.stdout).unwrap();
    assert_eq!(one["points"].as_array().unwrap().len(), 1);
}
