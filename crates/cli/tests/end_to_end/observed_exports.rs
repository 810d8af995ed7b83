//! Tests the export of observed series during a run with a receiver that decodes both protocols with other libraries.
//!
//! The receiver is a Python program. It needs the packages `opentelemetry-proto` and `cramjam` in `python3`, or in the interpreter that
//! `BUSYHOUR_TEST_PYTHON` names. Without them, the test is skipped with a note.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::foreign_programs::works;
use crate::program::{Room, wait_for};
use crate::servers::Server;

const RECEIVER: &str = include_str!("metrics_receiver.py");

/// A value as the receiver decoded it, or as the run recorded it.
#[derive(Clone, Debug, PartialEq)]
struct Value {
    kind: String,
    value: f64,
    time_ns: u64,
}

/// Values by source, metric, and labels.
type Values = BTreeMap<(String, String, String), Vec<Value>>;

/// The values that were received in one form. Metrics of the run itself have no label `source`.
fn received(printed: &str, form: &str) -> Values {
    let mut values = Values::new();
    // The last line may be incomplete.
    let complete = printed.rfind('\n').map_or("", |end| &printed[..end]);
    for line in complete.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [found, name, kind, labels, value, time_ns] = columns[..] else { panic!("{line:?}") };
        let labels: BTreeMap<&str, &str> =
            labels.split('\x1f').filter_map(|label| label.split_once('=')).collect();
        let (Some(source), true) = (labels.get("source"), found == form) else { continue };
        let is_own = |name: &str| name == "source" || (form == "remote-write" && name == "run");
        let others = labels.iter().filter(|(name, _)| !is_own(name));
        let labels: Vec<String> = others.map(|(name, text)| format!("{name}=\"{text}\"")).collect();
        let key = ((*source).to_owned(), name.to_owned(), labels.join(","));
        let value =
            Value { kind: kind.to_owned(), value: value.parse().unwrap(), time_ns: time_ns.parse().unwrap() };
        values.entry(key).or_default().push(value);
    }
    values
}

/// The values that the run recorded, from the export of its series.
fn recorded(room: &Room) -> Values {
    room.run_line("export run --series -o series.csv").expect(0);
    let mut values = Values::new();
    let text = room.read("series.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    for row in reader.records() {
        let row = row.unwrap();
        let mut labels: Vec<&str> =
            row[4].split_inclusive("\",").map(|label| label.trim_end_matches(',')).collect();
        labels.sort_unstable();
        // The label `source` of the costs is the name of another source; the receiver cannot have both.
        let key = (row[2].to_owned(), row[3].to_owned(), labels.join(","));
        let time_ns = (row[0].parse::<f64>().unwrap() * 1e6) as u64;
        let value = Value { kind: row[5].to_owned(), value: row[6].parse().unwrap(), time_ns };
        values.entry(key).or_default().push(value);
    }
    values
}

/// The series of a source without those of the observation's costs, which have a label `source` of their own.
fn keys<'v>(values: &'v Values, source: &str) -> BTreeSet<&'v (String, String, String)> {
    values.keys().filter(|(of, name, _)| of == source && !name.starts_with("busyhour_observe_")).collect()
}

#[test]
fn observed_series_arrive_with_names_labels_and_values() {
    let python = std::env::var("BUSYHOUR_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    if !works(
        &python,
        &["-c", "import cramjam, opentelemetry.proto.collector.metrics.v1.metrics_service_pb2"],
    ) {
        return;
    }
    let (room, server) = (Room::new(), Server::quick());
    let mut command = Command::new(python);
    command.args(["-c", RECEIVER]);
    let receiver = room.start_command(command);
    let port: u16 = wait_for("the port of the receiver", || receiver.stdout().lines().next()?.parse().ok());
    let process = format!("process:{}", std::process::id());
    let url = format!("http://127.0.0.1:{}/", server.port());
    let targets = [
        format!("otlp+http://127.0.0.1:{port}/v1/metrics"),
        format!("remote-write+http://127.0.0.1:{port}/api/v1/write"),
    ];
    let line = ["run", &url, "--rate", "20/s", "--for", "4s", "--dir", "run", "--send", &targets[0]];
    let sources = format!("os,{process}");
    room.run(line.into_iter().chain(["--send", &targets[1], "--observe", &sources])).expect(0);
    assert_eq!(receiver.stderr(), "", "the receiver checks the requests");

    let (printed, recorded) = (receiver.stdout(), recorded(&room));
    for form in ["otlp", "remote-write"] {
        let received = received(&printed, form);
        for source in ["os", process.as_str()] {
            let names = keys(&received, source);
            assert!(names.len() > 10, "{form} {source}: {names:?}");
            let unknown: Vec<_> = names.difference(&keys(&recorded, source)).copied().collect();
            assert!(unknown.is_empty(), "{form} {source}: {unknown:?}");
            for key in names {
                let known = &recorded[key];
                for value in &received[key] {
                    let is_same = |known: &Value| {
                        // Only OTLP sends the time of the reading and the kind.
                        let kind = if value.kind == "sum" { "counter" } else { "gauge" };
                        let is_reading = form != "otlp"
                            || (known.kind == kind && known.time_ns.abs_diff(value.time_ns) < 1_000_000);
                        known.value == value.value && is_reading
                    };
                    assert!(known.iter().any(is_same), "{form} {key:?}: {value:?} is not in {known:?}");
                }
            }
        }
        let memory = ("os".to_owned(), "node_memory_MemTotal_bytes".to_owned(), String::new());
        assert!(received[&memory].len() >= 2, "{form}: once per second");
        assert!(
            received.keys().any(|(_, name, labels)| {
                name == "node_cpu_seconds_total"
                    && labels.contains("mode=\"idle\"")
                    && labels.contains("cpu=\"")
            }),
            "{form}"
        );
    }
}
