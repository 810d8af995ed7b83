//! Tests `busyhour observe` and `busyhour doctor`.

use insta::assert_snapshot;
use serde_json::Value;

use crate::program::Room;

/// Four young collections and a full one.
const G1: &str = "[0.005s][info][gc] Using G1
[0.104s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 6M->1M(96M) 4.086ms
[0.189s][info][gc] GC(1) Pause Young (Normal) (G1 Evacuation Pause) 10M->2M(96M) 2.140ms
[0.506s][info][gc] GC(2) Pause Young (Normal) (G1 Evacuation Pause) 42M->5M(96M) 4.488ms
[0.824s][info][gc] GC(3) Pause Young (Normal) (G1 Evacuation Pause) 44M->7M(96M) 3.544ms
[1.024s][info][gc] GC(4) Pause Full (System.gc()) 9M->4M(96M) 12.000ms
";

#[test]
fn a_gc_log_is_summarised() {
    let room = Room::new();
    room.file("gc.log", G1);
    let ended = room.type_in("observe gc gc.log -o all.csv -o all.json").expect(0);
    assert_snapshot!(ended.stdout);
    assert!(ended.stderr.contains("wrote all.csv"), "{}", ended.stderr);
    let csv = room.read("all.csv");
    assert!(csv.contains("fullGcPauseCount; 1; -\n"), "{csv}");
    let json: Value = serde_json::from_str(&room.read("all.json")).unwrap();
    let figures = json["logs"][0]["summary"]["figures"].as_array().unwrap();
    let freed = figures.iter().find(|figure| figure["name"] == "freedMemory").unwrap();
    // 5 + 8 + 37 + 37 + 5 MiB.
    assert_eq!(freed["value"].as_f64(), Some(92.0 * 1024.0 * 1024.0));
    assert!(json["comparison"].is_null());
}

#[test]
fn parts_of_a_rotated_log_are_read_in_the_order_of_time() {
    let room = Room::new();
    let (first, second) = G1.split_at(G1.find("[0.506s]").unwrap());
    room.file("whole.log", G1);
    room.file("gc.log", second);
    room.file("gc.log.0", first);
    let rotated = room.type_in("observe gc gc.log gc.log.0").expect(0).stdout;
    let whole = room.type_in("observe gc whole.log").expect(0).stdout;
    let tables = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(tables(&rotated), tables(&whole));
}

#[test]
fn two_gc_logs_are_compared() {
    let room = Room::new();
    room.file("before.log", G1);
    room.file("after.log", G1.replace("12.000ms", "24.000ms"));
    let ended = room.type_in("observe gc before.log -- after.log").expect(0);
    let line = ended.stdout.lines().find(|line| line.starts_with("Longest pause")).unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>().join(" "),
        "Longest pause 0.012 s 0.024 s +100.0 % worse"
    );
    let ended = room.type_in("observe gc before.log --fail-if-worse 50% -- after.log").expect(8);
    assert!(ended.stderr.contains("worse: ") && ended.stderr.contains("Longest pause"), "{}", ended.stderr);
    room.type_in("observe gc before.log --fail-if-worse 50% -- before.log").expect(0);
}

#[test]
fn gc_logs_have_a_page() {
    let room = Room::new();
    room.file("before.log", G1);
    room.file("after.log", G1.replace("12.000ms", "24.000ms"));
    let ended = room.type_in("observe gc before.log -o one.html").expect(0);
    assert!(ended.stderr.contains("wrote one.html"), "{}", ended.stderr);
    let page = room.read("one.html");
    let (text, _) = page.split_once("<script type=\"application/json\"").unwrap();
    // 14.258 ms of young collections and 12 ms of the full one.
    assert!(text.contains("5 pauses stopped the application for 26.3 ms of 0.9 s"), "{text}");
    assert!(text.contains("1 collection reclaimed old objects"), "{text}");
    room.type_in("observe gc before.log -o two.html -- after.log").expect(0);
    let page = room.read("two.html");
    assert!(page.contains("<h1>before.log → after.log</h1>") && page.contains("+100.0 %"), "{page}");
}

#[test]
fn files_that_are_not_gc_logs_are_refused() {
    let room = Room::new();
    room.file("notes.txt", "nothing about collections\n");
    let ended = room.type_in("observe gc notes.txt").expect(3);
    assert!(ended.stderr.contains("notes.txt contains no garbage collection"), "{}", ended.stderr);
    assert!(ended.stderr.contains("-Xlog:gc*"), "{}", ended.stderr);
    let ended = room.type_in("observe gc missing.log").expect(3);
    assert!(ended.stderr.contains("cannot read missing.log"), "{}", ended.stderr);
    room.type_in("observe gc notes.txt --fail-if-worse 5%").expect(2);
}

#[test]
fn damaged_lines_are_reported() {
    let room = Room::new();
    room.file("gc.log", format!("{G1}[1.1s][info][gc] GC(5) Pause Young (Normal) (G1 Evac\n"));
    let ended = room.type_in("observe gc gc.log").expect(0);
    assert!(ended.stderr.contains("1 damaged line"), "{}", ended.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn doctor_lists_each_source_with_what_to_do() {
    let room = Room::new();
    let text = room.type_in("doctor").expect(0).stdout;
    let json: Value = serde_json::from_str(&room.type_in("doctor --json").expect(0).stdout).unwrap();
    let sources = json["sources"].as_array().unwrap();
    assert!(sources.iter().any(|source| source["name"] == "cgroup"), "{json:#}");
    for source in sources {
        let name = source["name"].as_str().unwrap();
        assert!(text.lines().any(|line| line.starts_with(name)), "{name}: {text}");
        let is_available = source["state"] == "available";
        assert_eq!(source["advice"].is_null(), is_available, "{source:#}");
        assert_eq!(source["reason"].is_null(), is_available, "{source:#}");
    }
}
