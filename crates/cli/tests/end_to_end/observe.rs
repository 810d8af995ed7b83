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
    let ended = room.run_line("observe gc gc.log -o all.csv -o all.json").expect(0);
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
    let rotated = room.run_line("observe gc gc.log gc.log.0").expect(0).stdout;
    let whole = room.run_line("observe gc whole.log").expect(0).stdout;
    let tables = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(tables(&rotated), tables(&whole));
}

/// The third part is the current one, and the first part was overwritten.
#[test]
fn rotated_parts_of_jdk_8_are_read_in_the_order_of_time() {
    let room = Room::new();
    let part = |number: u32, seconds: [u32; 2]| {
        let pause = |second: u32| {
            let stamp = format!("2024-03-18T10:00:{second:02}.000+0000: {second}.100");
            format!(
                "{stamp}: [GC (Allocation Failure)  {}K->500K(20000K), 0.0{second}00000 secs]\n",
                second * 100 + 600
            )
        };
        let head = format!("2024-03-18 10:00:00 GC log file created /var/log/gc.log.{number}\n");
        head + &seconds.map(pause).concat()
    };
    let parts = [
        ("gc.log.0", part(0, [30, 40])),
        ("gc.log.1.current", part(1, [50, 59])),
        ("gc.log.2", part(2, [10, 20])),
    ];
    for (name, text) in &parts {
        room.file(name, text);
    }
    room.file("whole.log", [&parts[2].1, &parts[0].1, &parts[1].1].map(String::as_str).concat());
    let rotated = room.run_line("observe gc gc.log.0 gc.log.1.current gc.log.2").expect(0);
    let whole = room.run_line("observe gc whole.log").expect(0).stdout;
    let tables = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(tables(&rotated.stdout), tables(&whole));
    assert!(!rotated.stderr.contains("damaged"), "{}", rotated.stderr);
}

#[test]
fn two_gc_logs_are_compared() {
    let room = Room::new();
    room.file("before.log", G1);
    room.file("after.log", G1.replace("12.000ms", "24.000ms"));
    let ended = room.run_line("observe gc before.log -- after.log").expect(0);
    let line = ended.stdout.lines().find(|line| line.starts_with("Longest pause")).unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>().join(" "),
        "Longest pause 0.012 s 0.024 s +100.0 % worse"
    );
    let ended = room.run_line("observe gc before.log --fail-if-worse 50% -- after.log").expect(8);
    assert!(ended.stderr.contains("worse: ") && ended.stderr.contains("Longest pause"), "{}", ended.stderr);
    room.run_line("observe gc before.log --fail-if-worse 50% -- before.log").expect(0);
}

#[test]
fn gc_logs_have_a_page() {
    let room = Room::new();
    room.file("before.log", G1);
    room.file("after.log", G1.replace("12.000ms", "24.000ms"));
    let ended = room.run_line("observe gc before.log -o one.html").expect(0);
    assert!(ended.stderr.contains("wrote one.html"), "{}", ended.stderr);
    let page = room.read("one.html");
    let (text, _) = page.split_once("<script type=\"application/json\"").unwrap();
    // 14.258 ms of young collections and 12 ms of the full one.
    assert!(text.contains("5 pauses stopped the application for 26.3 ms of 0.9 s"), "{text}");
    assert!(text.contains("1 collection reclaimed old objects"), "{text}");
    room.run_line("observe gc before.log -o two.html -- after.log").expect(0);
    let page = room.read("two.html");
    assert!(page.contains("<h1>before.log → after.log</h1>") && page.contains("+100.0 %"), "{page}");
}

#[test]
fn files_that_are_not_gc_logs_are_refused() {
    let room = Room::new();
    room.file("notes.txt", "nothing about collections\n");
    let ended = room.run_line("observe gc notes.txt").expect(3);
    assert!(ended.stderr.contains("notes.txt contains no garbage collection"), "{}", ended.stderr);
    assert!(ended.stderr.contains("-Xlog:gc*"), "{}", ended.stderr);
    let ended = room.run_line("observe gc missing.log").expect(3);
    assert!(ended.stderr.contains("cannot read missing.log"), "{}", ended.stderr);
    room.run_line("observe gc notes.txt --fail-if-worse 5%").expect(2);
}

#[test]
fn damaged_lines_are_reported() {
    let room = Room::new();
    room.file("gc.log", format!("{G1}[1.1s][info][gc] GC(5) Pause Young (Normal) (G1 Evac\n"));
    let ended = room.run_line("observe gc gc.log").expect(0);
    assert!(ended.stderr.contains("1 damaged line"), "{}", ended.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn doctor_lists_each_source_with_advice() {
    let room = Room::new();
    let text = room.run_line("doctor").expect(0).stdout;
    let json: Value = serde_json::from_str(&room.run_line("doctor --json").expect(0).stdout).unwrap();
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

/// A log of ten minutes with an entry every five seconds, one error per minute, and further lines at some seconds.
fn server_log(more: impl Fn(usize) -> String) -> String {
    let mut out = String::new();
    for second in (0..600).step_by(5) {
        let stamp = format!("2026-03-18 10:{:02}:{:02},250", second / 60, second % 60);
        out += &format!("{stamp} INFO  [worker-1] shop.Booking - booking {second} accepted\n");
        if second % 60 == 30 {
            out += &format!(
                "{stamp} ERROR [worker-2] shop.Payment - payment {second} failed, password=S3CRET\n"
            );
        }
        out += &more(second).replace("STAMP", &stamp);
    }
    out
}

/// A problem with a stack trace, twice every ten seconds.
fn no_seat(second: usize) -> String {
    if !second.is_multiple_of(10) {
        return String::new();
    }
    format!(
        "STAMP ERROR [worker-1] shop.Seats - no seat for booking {second}\n\
         java.lang.IllegalStateException: no seat\n\
         \tat shop.Seats.take(Seats.java:{second})\n\
         \tat shop.Booking.book(Booking.java:7)\n\
         STAMP ERROR [worker-1] shop.Seats - no seat for booking {}\n",
        second + 1
    )
}

#[test]
fn a_log_is_summarised_by_its_problems() {
    let room = Room::new();
    room.file("server.log", server_log(no_seat));
    let ended = room.run_line("observe logs server.log -o all.json -o all.csv").expect(0);
    assert_snapshot!(ended.stdout);
    let (json, csv) = (room.read("all.json"), room.read("all.csv"));
    for text in [&ended.stdout, &json, &csv] {
        assert!(!text.contains("CRET"), "{text}");
    }
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["log"]["counts"]["matching"], 130);
    assert_eq!(json["log"]["severities"]["error"], 130);
    assert!(json["comparison"].is_null());
    assert!(csv.starts_with("template,severity,logger,count,first_s,last_s,"), "{csv}");
    let kept = room.run_line("observe logs server.log --keep-secrets --json").expect(0).stdout;
    assert!(kept.contains("password=S3CRET"));
    let part = room
        .run_line("observe logs server.log --from 2026-03-18T10:05 --to 2026-03-18T10:06 --json")
        .expect(0);
    let part: Value = serde_json::from_str(&part.stdout).unwrap();
    assert_eq!(part["log"]["counts"]["matching"], 13);
    assert_eq!(part["log"]["counts"]["length_s"], 60.0);
}

#[test]
fn a_log_has_a_page_with_plots_bursts_and_examples() {
    let room = Room::new();
    room.file("quiet.log", server_log(|_| String::new()));
    room.file("server.log", server_log(no_seat));
    let ended = room.run_line("observe logs server.log --baseline quiet.log -o logs.html").expect(0);
    assert!(ended.stderr.contains("wrote logs.html"), "{}", ended.stderr);
    let page = room.read("logs.html");
    let (text, _) = page.split_once("<script type=\"application/json\"").unwrap();
    for words in [
        "<h1>quiet.log → server.log</h1>",
        "130 of 250 entries report a problem",
        "<code>level&gt;=error</code></th><td>130</td>",
        "<code>exception</code></th><td>60</td>",
        "no seat for booking &lt;*&gt;",
        "\n    at shop.Booking.book(Booking.java:7)",
        "password=[redacted]",
    ] {
        assert!(text.contains(words), "{words}");
    }
    assert!(!page.contains("CRET"));
    let json: Value =
        serde_json::from_str(&room.run_line("observe logs server.log --json").expect(0).stdout).unwrap();
    assert_eq!(json["bursts"], serde_json::json!([]));
    let exception = &json["log"]["counts"]["rules"][0];
    assert_eq!((&exception["rule"]["word"], &exception["count"]), (&"exception".into(), &60.into()));
}

#[test]
fn a_window_limits_the_lines_that_are_counted() {
    let room = Room::new();
    room.file("server.log", server_log(no_seat));
    for window in ["5min,6min", "10:05,10:06", "2026-03-18T10:05,2026-03-18T10:06"] {
        let part = room.run_line(&format!("observe logs server.log --window {window} --json")).expect(0);
        let part: Value = serde_json::from_str(&part.stdout).unwrap();
        assert_eq!(part["log"]["counts"]["matching"], 13, "{window}");
        assert_eq!(part["log"]["counts"]["length_s"], 60.0, "{window}");
    }
    room.file("plain.log", "ERROR no seat for 12\n");
    let ended = room.run_line("observe logs plain.log --window 0,1min").expect(3);
    assert!(ended.stderr.contains("the entries of plain.log have no times"), "{}", ended.stderr);
}

#[test]
fn problems_that_are_not_in_the_baseline_come_first() {
    let room = Room::new();
    room.file("quiet.log", server_log(|_| String::new()));
    room.file("server.log", server_log(no_seat));
    let ended = room.run_line("observe logs server.log --baseline quiet.log --fail-if-worse").expect(8);
    let compared = ended.stdout.split("\n\nserver.log: ").next().unwrap();
    assert_snapshot!(compared);
    assert!(ended.stderr.contains("worse: 1 problem is new or more frequent"), "{}", ended.stderr);
    room.run_line("observe logs server.log --baseline server.log --fail-if-worse").expect(0);
}

#[test]
fn logs_that_are_too_short_are_not_judged() {
    let room = Room::new();
    let whole = server_log(no_seat);
    let end = whole.find("10:00:40").unwrap();
    let short = &whole[..whole[..end].rfind('\n').unwrap() + 1];
    room.file("short.log", short);
    room.file("quiet.log", server_log(|_| String::new()));
    let ended = room.run_line("observe logs short.log --baseline quiet.log --fail-if-worse").expect(0);
    assert!(
        ended.stdout.contains("note: too short to tell: each log should last 1 min 00 s"),
        "{}",
        ended.stdout
    );
    let line = ended.stdout.lines().find(|line| line.starts_with("no seat")).unwrap();
    assert!(line.contains("too short to tell"), "{line}");
}

#[test]
fn files_that_are_not_logs_are_refused() {
    let room = Room::new();
    room.file("empty.log", "");
    room.file("binary.log", "a\0b");
    room.file("server.log", server_log(no_seat));
    for (command, exit, message) in [
        ("missing.log", 3, "cannot read missing.log"),
        ("empty.log", 3, "empty.log is empty"),
        ("binary.log", 3, "binary.log is not a text file\n  hint: decompress"),
        ("server.log --baseline empty.log", 3, "empty.log is empty"),
        (
            "server.log --from 2027-01-01",
            3,
            "has no entry in the selected time; its first entry is at 2026-03-18 10:00:00",
        ),
        ("server.log --zone Atlantis", 2, "unknown time zone `Atlantis`"),
        ("server.log --query level>=loud", 2, "unknown severity `loud`"),
        ("server.log --from noon", 2, "--from noon: not a time"),
        ("server.log --from 2026-03-19 --to 2026-03-18", 2, "--from is not before --to"),
        ("server.log --fail-if-worse", 2, "--baseline"),
        ("server.log -o x.md", 2, "this command writes .html, .json or .csv"),
        ("server.log --window 2min", 2, "--window 2min: expected two times"),
        ("server.log --window 0,1min --from 2026-03-18", 2, "cannot be used with"),
        (
            "server.log --window 20min,30min",
            3,
            "has no entry in the selected time; its first entry is at 2026-03-18 10:00:00",
        ),
    ] {
        let ended = room.run_line(&format!("observe logs {command}")).expect(exit);
        assert!(ended.stderr.contains(message), "{command}: {}", ended.stderr);
    }
}

#[test]
fn a_log_without_times_is_counted_and_not_compared() {
    let room = Room::new();
    room.file("plain.log", "started\nERROR no seat for 12\nERROR no seat for 13\n");
    let ended = room.run_line("observe logs plain.log").expect(0);
    assert!(ended.stdout.starts_with("plain.log: 3 lines, 3 entries, without times\n"), "{}", ended.stdout);
    assert!(ended.stdout.contains("no seat for <*>  2"), "{}", ended.stdout);
    let ended = room.run_line("observe logs plain.log --baseline plain.log").expect(3);
    assert!(ended.stderr.contains("the length of the baseline is unknown"), "{}", ended.stderr);
}

#[test]
fn sources_that_cannot_be_read_are_reported_and_are_a_failure() {
    let room = Room::new();
    let sources = "prometheus:http://127.0.0.1:2/metrics,mysql://bob:S3CRET@127.0.0.1:2/shop";
    let watched = room.run(["observe", "--sources", sources, "--for", "2s", "--dir", "watched"]).expect(1);
    watched.reports(&[
        "observing prometheus:http://127.0.0.1:2/metrics: failed, because ",
        "observing mysql://127.0.0.1:2/shop: failed, because ",
        "none of the sources could be read",
    ]);
    let listed = room.read("watched/sources.json");
    assert!(listed.contains("it cannot be read: ") && !listed.contains("S3CRET"), "{listed}");
    assert!(!listed.contains("\"watched\""), "{listed}");
    let exported = room.run(["export", "watched", "-o", "seconds.csv"]).expect(3);
    exported.reports(&["watched has no requests", "add --series"]);
    room.run(["observe", "--pid", "999999999", "--for", "1s"])
        .expect(2)
        .reports(&["there is no such process"]);
    room.run(["observe", "--sources", "perf:999999999", "--for", "1s"])
        .expect(2)
        .reports(&["there is no process 999999999"]);
}
