//! Tests `busyhour capacity`: capacity models in files.

use insta::assert_snapshot;
use serde_json::Value;

use crate::program::Room;

/// An example model of the repository.
fn example(name: &str) -> String {
    format!("{}/../../plans/models/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

/// Copies an example to the directory of the test, so that messages do not contain other directories.
fn copy(room: &Room, name: &str) {
    room.file(&format!("{name}.toml"), std::fs::read_to_string(example(name)).unwrap());
}

#[test]
fn the_examples_are_solved() {
    let room = Room::new();
    for name in ["mm1", "web-shop", "two-classes", "seed-study", "seed-study-two-servers"] {
        copy(&room, name);
        let ended = room.run_line(&format!("capacity solve {name}.toml")).expect(0);
        assert_eq!(ended.stderr, "");
        assert_snapshot!(format!("solved_{name}"), ended.stdout);
    }
}

#[test]
fn a_solution_is_json_and_csv() {
    let room = Room::new();
    copy(&room, "two-classes");
    let ended = room.run_line("capacity solve two-classes.toml --json -").expect(0);
    let json: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((json["version"].as_u64(), json["exact"].as_bool()), (Some(1), Some(true)));
    let people = &json["classes"][0];
    let cycle_s = people["response_s"].as_f64().unwrap() + people["think_s"].as_f64().unwrap();
    assert!((people["throughput_per_s"].as_f64().unwrap() * cycle_s - 60.0).abs() < 1e-9);
    assert!(json["classes"][1]["bounds"].is_null());

    room.run_line("capacity solve two-classes.toml --json solution.json").expect(0);
    assert_eq!(serde_json::from_str::<Value>(&room.read("solution.json")).unwrap(), json);

    let csv = room.run_line("capacity solve two-classes.toml --csv").expect(0).stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let rest: Vec<&str> = rows.iter().skip(1).map(|row| row[1]).collect();
    assert_eq!(rest, ["*", "*", "application", "application", "database", "database"]);
}

#[test]
fn methods_can_be_chosen() {
    let room = Room::new();
    room.file(
        "m.toml",
        "version = 1\n[[class]]\nname = \"c\"\nusers = 20\nthink = 4\n\
         [[station]]\nname = \"a\"\ndemand = 0.125\n[[station]]\nname = \"b\"\ndemand = 0.3\n\
         [[station]]\nname = \"d\"\ndemand = 0.2\n",
    );
    let x = |method: &str| {
        let ended = room.run_line(&format!("capacity solve m.toml --method {method} --json -")).expect(0);
        let json: Value = serde_json::from_str(&ended.stdout).unwrap();
        let x = json["classes"][0]["throughput_per_s"].as_f64().unwrap();
        (format!("{x:.4}"), json["exact"].as_bool().unwrap())
    };
    assert_eq!(x("auto"), ("3.1275".into(), true));
    assert_eq!(x("exact"), ("3.1275".into(), true));
    assert_eq!(x("schweitzer"), ("2.9905".into(), false));
    // Approximations are near the exact solution.
    let (linearizer, pdq) = (x("linearizer").0, x("pdq").0);
    assert!(linearizer.starts_with("3.1") && pdq.starts_with("2.99"), "{linearizer} {pdq}");
}

#[test]
fn a_note_is_printed_for_a_long_exact_solution() {
    let room = Room::new();
    let classes: String =
        (0..8).map(|at| format!("[[class]]\nname = \"c{at}\"\nusers = 50\nthink = \"{at}s\"\n")).collect();
    room.file("many.toml", format!("version = 1\n{classes}[[station]]\nname = \"q\"\nservice = \"10ms\"\n"));
    let text = room.run_line("capacity solve many.toml").expect(0).stdout;
    assert!(
        text.contains("Linearizer, approximate\nAn exact solution would evaluate 4.6e13 populations"),
        "{text}"
    );
    let ended = room.run_line("capacity solve many.toml --method exact").expect(3);
    assert!(ended.stderr.contains("4.577e13 populations, which is too many"), "{}", ended.stderr);
    assert!(ended.stderr.contains("hint: --method linearizer"), "{}", ended.stderr);
}

#[test]
fn unsolvable_models_are_reported() {
    let room = Room::new();
    room.file(
        "full.toml",
        "version = 1\n[[class]]\nname = \"c\"\nrate = \"12/s\"\n[[station]]\nname = \"db\"\nservice = \"100ms\"\n",
    );
    let ended = room.run_line("capacity solve full.toml").expect(9);
    assert_eq!(ended.stdout, "");
    assert_snapshot!("saturated", ended.stderr);

    copy(&room, "seed-study-two-servers");
    let text = room.read("seed-study-two-servers.toml").replace("\"random\"", "\"join-shortest-queue\"");
    room.file("jsq.toml", text);
    let ended = room.run_line("capacity solve jsq.toml").expect(3);
    assert_snapshot!("no_product_form", ended.stderr);
    let ended = room.run_line("capacity solve jsq.toml --approximate").expect(0);
    assert!(
        ended.stdout.contains("Approximate: customers leaving \"outside\" are routed by join-shortest-queue")
    );

    room.file("wrong.toml", "version = 1\n[[class]]\nname = \"c\"\nuser = 12\n");
    let ended = room.run_line("capacity solve wrong.toml").expect(3);
    assert!(ended.stderr.contains("wrong.toml:4:1") && ended.stderr.contains("did you mean `users`?"));
    let ended = room.run_line("capacity solve nowhere.toml").expect(3);
    assert!(ended.stderr.contains("cannot read the model nowhere.toml"));
}

/// Files of Java Modelling Tools can be used as models.
#[test]
fn models_of_java_modelling_tools_are_read_and_written() {
    let room = Room::new();
    copy(&room, "two-classes");
    let wanted = room.run_line("capacity solve two-classes.toml --json -").expect(0).stdout;
    let wanted: Value = serde_json::from_str(&wanted).unwrap();
    for format in ["jsimg", "jmva"] {
        let ended = room
            .run_line(&format!("capacity convert two-classes.toml --to {format} -o m.{format}"))
            .expect(0);
        assert_eq!(ended.stderr, format!("wrote m.{format}\n"));
        let ended = room.run_line(&format!("capacity solve m.{format} --json -")).expect(0);
        assert_eq!(ended.stderr, "");
        let found: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(found["model"], "Two classes");
        for (at, key) in [(0, "throughput_per_s"), (0, "response_s"), (1, "response_s"), (1, "in_system")] {
            let value = |of: &Value| of["classes"][at][key].as_f64().unwrap();
            assert!((value(&found) / value(&wanted) - 1.0).abs() < 1e-9, "{format} {key}");
        }
        let ended = room.run_line(&format!("capacity convert m.{format} --to toml")).expect(0);
        assert!(ended.stdout.starts_with("version = 1\nname = \"Two classes\"\n"), "{}", ended.stdout);
    }
    let line = "capacity what-if m.jmva --vary class.people.users=10,20 --vary station.database.servers=1,2 --json -";
    let json: Value = serde_json::from_str(&room.run_line(line).expect(0).stdout).unwrap();
    assert_eq!(json["points"].as_array().unwrap().len(), 4);

    let broken = room.read("m.jmva").replace("<listation name=\"database\"", "<cache name=\"database\"");
    room.file("broken.jmva", broken.replace("</listation>\n</stations>", "</cache>\n</stations>"));
    let ended = room.run_line("capacity solve broken.jmva").expect(3);
    assert!(
        ended.stderr.contains("<cache name=\"database\"> is not a station")
            && ended.stderr.contains("broken.jmva:30:1"),
        "{}",
        ended.stderr
    );
}

#[test]
fn parameters_are_varied() {
    let room = Room::new();
    copy(&room, "seed-study");
    let line = "capacity what-if seed-study.toml --vary class.users.users=50..250:50 --plot";
    assert_snapshot!("what_if", room.run_line(line).expect(0).stdout);

    copy(&room, "web-shop");
    let line = "capacity what-if web-shop.toml --vary class.buyers.users=100,400 \
                --vary station.database.servers=1,2,4 --json -";
    let json: Value = serde_json::from_str(&room.run_line(line).expect(0).stdout).unwrap();
    let points = json["points"].as_array().unwrap();
    assert_eq!(points.len(), 6);
    assert_eq!(points[5]["values"]["station.database.servers"].as_f64(), Some(4.0));
    let x = |at: usize| points[at]["solution"]["classes"][0]["throughput_per_s"].as_f64().unwrap();
    assert!(x(3) < x(4) && x(4) <= x(5) && x(0) < x(3), "more servers, more throughput");

    // A point without a steady state is a row with that text.
    room.file(
        "open.toml",
        "version = 1\n[[class]]\nname = \"c\"\nrate = \"12/s\"\n[[station]]\nname = \"db\"\nservice = \"100ms\"\n",
    );
    let ended = room.run_line("capacity what-if open.toml --vary class.c.rate=5/s..15/s:5/s").expect(0);
    assert_snapshot!("what_if_saturated", ended.stdout);
    let ended = room.run_line("capacity what-if open.toml --vary class.d.rate=5").expect(2);
    assert!(ended.stderr.contains("there is no \"class.d\" in the model"), "{}", ended.stderr);
}

/// The page contains plots of both models.
#[test]
fn a_what_if_page_compares_two_models() {
    let room = Room::new();
    copy(&room, "web-shop");
    let text = room
        .read("web-shop.toml")
        .replace("name = \"Web shop\"", "name = \"Planned\"")
        .replace("servers = 4", "servers = 8");
    room.file("planned.toml", text);
    let line = "capacity what-if web-shop.toml --compare planned.toml --vary class.buyers.users=100,400 --html w.html --json w.json";
    let ended = room.run_line(line).expect(0);
    assert_eq!(ended.stderr, "wrote w.html\nwrote w.json\n");
    assert!(
        ended.stdout.starts_with("Web shop\n") && ended.stdout.contains("\n\nPlanned\n"),
        "{}",
        ended.stdout
    );
    let json: Value = serde_json::from_str(&room.read("w.json")).unwrap();
    assert_eq!(
        (json["model"].as_str(), json["compared"]["model"].as_str()),
        (Some("Web shop"), Some("Planned"))
    );
    let u = |of: &Value| of["points"][1]["solution"]["stations"][0]["utilization"].as_f64().unwrap();
    assert!(u(&json["compared"]) < u(&json), "with twice the servers the web is less busy");
    let page = room.read("w.html");
    for shown_text in ["Web shop and Planned: what if", "data-page=\"what-if\"", "web · Planned", "plot-u"] {
        assert!(page.contains(shown_text), "{shown_text}");
    }
}

/// The seed study's two servers with 150 users: published figures for each strategy, within the accuracy of a short
/// simulation.
#[test]
fn strategies_are_compared() {
    let room = Room::new();
    copy(&room, "seed-study-two-servers");
    let line = "capacity what-if seed-study-two-servers.toml --precision 2% --json - --vary \
                route.outside.strategy=random,round-robin,join-shortest-queue";
    let json: Value = serde_json::from_str(&room.run_line(line).expect(0).stdout).unwrap();
    let points = json["points"].as_array().unwrap();
    let exact = points[0]["solution"]["classes"][0]["throughput_per_s"].as_f64().unwrap();
    assert!((exact - 205.857).abs() < 0.001, "a random choice is solved, not simulated: {exact}");
    for (point, wanted) in points[1..].iter().zip([207.77, 209.00]) {
        let x = &point["simulation"]["classes"][0]["throughput_per_s"];
        let x = x["value"].as_f64().unwrap();
        assert!((x / wanted - 1.0).abs() < 0.02, "{x} {wanted}");
    }
    let line = "capacity what-if seed-study-two-servers.toml --precision 2% --vary \
                route.outside.strategy=random,join-shortest-queue";
    let text = room.run_line(line).expect(0).stdout;
    assert!(text.contains("mean value analysis, exact; simulation, ± at 95 % confidence"), "{text}");
    assert!(text.lines().any(|line| line.contains("join-shortest-queue") && line.contains('±')), "{text}");
}

#[test]
fn a_model_is_written_for_jmt() {
    let room = Room::new();
    copy(&room, "two-classes");
    let text = room.run_line("capacity convert two-classes.toml --to jsimg").expect(0).stdout;
    assert_snapshot!("jsimg", text);
    // The file is well-formed, and all references are to existing nodes.
    let mut reader = quick_xml::Reader::from_str(&text);
    let (mut nodes, mut named) = (Vec::new(), Vec::new());
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Eof => break,
            quick_xml::events::Event::Start(tag) | quick_xml::events::Event::Empty(tag) => {
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    let value =
                        attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap().into_owned();
                    match (tag.name().as_ref(), attribute.key.as_ref()) {
                        (b"node", b"name") => nodes.push(value),
                        (b"connection", _) | (_, b"referenceSource" | b"stationName") => named.push(value),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    assert!(named.len() > 8 && named.iter().all(|name| nodes.contains(name)), "{nodes:?} {named:?}");

    copy(&room, "seed-study-two-servers");
    let text = room.read("seed-study-two-servers.toml").replace("\"random\"", "\"power-of-k\"");
    room.file("power.toml", text);
    let ended = room.run_line("capacity convert power.toml --to jsimg").expect(3);
    assert!(ended.stderr.contains("the strategy power-of-k from \"outside\""), "{}", ended.stderr);
}

#[test]
fn exporting_a_model_in_its_own_notation_preserves_it() {
    let room = Room::new();
    for name in ["web-shop", "two-classes", "seed-study-two-servers"] {
        copy(&room, name);
        room.run_line(&format!("capacity convert {name}.toml --to toml -o again.toml")).expect(0);
        let solved = |file: &str| room.run_line(&format!("capacity solve {file} --csv")).expect(0).stdout;
        assert_eq!(solved("again.toml"), solved(&format!("{name}.toml")));
    }
}

#[test]
fn the_schema_in_docs_is_current() {
    let printed = Room::new().run_line("config schema model").expect(0).stdout;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/capacity-models.schema.json");
    let written = std::fs::read_to_string(path).unwrap();
    assert_eq!(
        written, printed,
        "update it: busyhour config schema model > docs/capacity-models.schema.json"
    );
}
