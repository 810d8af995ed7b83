//! Tests the outputs of an observed run: figures, comparison, exports, the live page.
#![cfg(target_os = "linux")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use rustix::process::Signal;
use serde_json::Value;

use crate::program::{Room, wait_for};
use crate::servers::Server;

/// Runs 40 requests in 2 s in `dir` and observes the machine and the process of this test ten times per second.
fn observe(room: &Room, server: &Server, dir: &str) {
    let url = format!("http://127.0.0.1:{}/", server.port());
    let sources = format!("os,process:{}", std::process::id());
    let line = ["run", &url, "--rate", "20/s", "--for", "2s", "--dir", dir, "--observe", &sources];
    room.run(line.into_iter().chain(["--observe-interval", "100ms"])).expect(0);
}

fn body(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_run_has_the_figures_of_its_system_and_they_are_compared() {
    let (room, server) = (Room::new(), Server::quick());
    observe(&room, &server, "a");
    observe(&room, &server, "b");
    let summary: Value = serde_json::from_str(&room.read("a/summary.json")).unwrap();
    let subjects = summary["system"]["subjects"].as_array().unwrap();
    let process = subjects.iter().find(|subject| subject["kind"] == "process").unwrap();
    assert_eq!(process["source"], format!("process:{}", std::process::id()));
    assert!(process["figures"]["cpu_per_request_seconds"].as_f64().unwrap() > 0.0, "{process}");
    let machine = subjects.iter().find(|subject| subject["kind"] == "machine").unwrap();
    let busy = machine["figures"]["cpu_utilization_mean_ratio"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&busy), "{machine}");
    // The figures are the same when they are computed again.
    let again: Value = serde_json::from_str(&room.run_line("report a --json").expect(0).stdout).unwrap();
    assert_eq!(again["system"], summary["system"]);
    let report = room.run_line("report a --details").expect(0).stdout;
    assert!(report.contains("System under test") && report.contains("CPU time per request"), "{report}");
    let compared = room.run_line("compare a b --fail-on none -o c.csv -o c.json").expect(0).stdout;
    assert!(compared.contains("differences without a test"), "{compared}");
    assert!(room.read("c.csv").contains(",process,cpu_per_request_seconds,"), "{}", room.read("c.csv"));
    let json: Value = serde_json::from_str(&room.read("c.json")).unwrap();
    assert_eq!(json["system"]["base_observed"], 1);
}

#[test]
fn observed_series_are_exported() {
    let (room, server) = (Room::new(), Server::quick());
    observe(&room, &server, "run");
    room.run_line("export run --series -o series.csv").expect(0).reports(&["series", "wrote series.csv"]);
    let text = room.read("series.csv");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("time_ms,run_s,source,metric,labels,kind,value"));
    assert!(lines.clone().any(|line| line.contains(",os,node_memory_MemTotal_bytes,,gauge,")), "{text}");
    assert!(lines.any(|line| line.contains(",node_cpu_seconds_total,") && line.contains(",counter,")));
    let process =
        room.run_line("export run/series.bho --series --metric process_cpu* --to csv").expect(0).stdout;
    assert!(process.lines().count() > 3, "{process}");
    assert!(process.lines().skip(1).all(|line| line.contains(",process_cpu_")), "{process}");
    if cfg!(feature = "parquet") {
        room.run_line("export run --series -o series.parquet").expect(0);
        assert!(std::fs::read(room.path().join("series.parquet")).unwrap().ends_with(b"PAR1"));
    }
    room.run_line("export run --series -o series.hlog").expect(2).reports(&[".csv and .parquet"]);
    room.run_line("export run --metric x -o series.csv").expect(2).reports(&["--series"]);
    let url = format!("http://127.0.0.1:{}/", server.port());
    room.run(["run", &url, "-n", "1", "--dir", "plain", "--observe", "none"]).expect(0);
    room.run_line("export plain --series -o x.csv").expect(3).reports(&["the run was not observed"]);
}

#[test]
fn a_run_in_progress_exports_and_shows_observed_series() {
    let (room, server) = (Room::new(), Server::quick());
    let url = format!("http://127.0.0.1:{}/", server.port());
    let line = ["run", &url, "--rate", "20/s", "--for", "1h", "--dir", "run", "--observe", "os"];
    let live = ["--observe-interval", "100ms", "--send", "prometheus://127.0.0.1:0", "--live"];
    let running = room.start(line.into_iter().chain(live));
    running.wait_for_stderr("/metrics");
    running.wait_for_stderr("live page: ");
    let after = |text: &str| {
        let stderr = running.stderr();
        stderr.split(text).nth(1).unwrap().lines().next().unwrap().to_owned()
    };
    let metrics = after("metrics at http://").split('/').next().unwrap().to_owned();
    let scraped = wait_for("observed series in a scrape", || {
        let answer = body(&metrics, "/metrics");
        answer.contains("node_memory_MemTotal_bytes{source=\"os\"}").then_some(answer)
    });
    assert!(scraped.contains("# TYPE node_cpu_seconds_total counter"), "{scraped}");
    assert!(scraped.contains("busyhour_run_info{plan="), "{scraped}");
    let page = after("live page: http://");
    let (address, token) = page.split_once("/?token=").unwrap();
    // The stream of events ends with the run; its first event is the whole state.
    let first_event = || {
        let mut stream = TcpStream::connect(address).unwrap();
        let path = format!("/events?token={token}");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let (mut answer, mut part) = (String::new(), [0; 4096]);
        while answer.matches("\n\n").count() < 1 && answer.len() < 1 << 20 {
            let read = stream.read(&mut part).unwrap();
            if read == 0 {
                break;
            }
            answer += &String::from_utf8_lossy(&part[..read]);
        }
        answer
    };
    let shown = wait_for("the machine on the live page", || {
        let event = first_event();
        event.contains("CPU utilization, os").then_some(event)
    });
    // On a busy machine, the share of one interval can be slightly above 1.
    let series = shown.split("\"system\":{\"series\":[{\"top\":1.0").nth(1);
    let points = series.map(|text| text.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    assert!(points.is_some_and(|text| text.starts_with(",\"points\":[[")), "{shown}");
    running.signal(Signal::INT);
    running.end().expect(4);
}
