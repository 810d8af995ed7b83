//! Tests `busyhour lab server broker` with both front ends, its plan, and its metrics in a run.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use flate2::read::GzDecoder;
use rustix::process::Signal;

use crate::program::{Room, Running, rows, wait_for};

const FRONTS: [&str; 2] = ["threads", "process"];

/// A running broker.
struct Broker {
    running: Running,
    port: u16,
}

impl Broker {
    fn start(room: &Room, options: &str) -> Self {
        let line = format!("lab server broker --port 0 {options}");
        let running = room.start(line.split_whitespace());
        let port = wait_for("the broker listens", || {
            let printed = running.stdout();
            printed.strip_suffix('\n')?.strip_prefix("listening on http://127.0.0.1:")?.parse().ok()
        });
        Self { running, port }
    }

    /// Sends a request, and returns the connection without waiting for the response.
    fn send(&self, target: &str, accept_encoding: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!(
            "GET {target} HTTP/1.1\r\nHost: b\r\nAccept-Encoding: {accept_encoding}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    fn get(&self, target: &str) -> (u16, Vec<u8>) {
        received(self.send(target, "identity"))
    }

    /// The metrics by name with labels.
    fn metrics(&self) -> BTreeMap<String, f64> {
        let page = String::from_utf8(self.get("/metrics").1).unwrap();
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        let pairs = lines.map(|line| line.rsplit_once(' ').unwrap());
        pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
    }

    /// The value of a metric without its prefix.
    fn metric(&self, name: &str) -> f64 {
        self.metrics()[&format!("busyhour_broker_{name}")]
    }
}

/// Reads a response up to its end, and returns the status and the body.
fn received(mut stream: TcpStream) -> (u16, Vec<u8>) {
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    let end = reply.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = std::str::from_utf8(&reply[..end]).unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), reply[end + 4..].to_vec())
}

#[test]
fn both_front_ends_have_the_same_responses() {
    let room = Room::new();
    let brokers = FRONTS.map(|front| Broker::start(&room, &format!("--agents 2 --front {front}")));
    for (target, status) in [
        ("/benchmark", 200),
        ("/benchmark?numFields=40&numRecords=40&msdelay=5", 200),
        ("/benchmark?numFields=0", 400),
        ("/benchmark?msdelay=60001", 400),
        ("/benchmark?unknown=1", 400),
        ("/static", 200),
        ("/nothing", 404),
    ] {
        let [threads, process] = [&brokers[0], &brokers[1]].map(|broker| broker.get(target));
        assert_eq!((threads.0, &threads.1), (status, &process.1), "{target}");
        assert_eq!(process.0, status, "{target}");
    }
    for broker in &brokers {
        let target = "/benchmark?numFields=20&numRecords=20";
        let (_, compressed) = received(broker.send(target, "gzip"));
        let mut text = Vec::new();
        GzDecoder::new(compressed.as_slice()).read_to_end(&mut text).unwrap();
        assert_eq!(text, broker.get(target).1);
        assert_eq!(broker.metrics()["busyhour_broker_requests_total{code=\"200\"}"], 4.0);
        assert_eq!(broker.metrics()["busyhour_broker_requests_total{code=\"400\"}"], 3.0);
        assert_eq!(broker.metric("agent_requests_total"), 4.0);
    }
    assert_eq!(brokers[1].metric("processes_started_total"), 7.0, "one for each request for records");
    assert_eq!(brokers[1].metric("processes_max"), 1.0);
    for broker in brokers {
        broker.running.signal(Signal::TERM);
        broker.running.end().expect(0);
        assert!(TcpStream::connect(("127.0.0.1", broker.port)).is_err(), "the port is closed");
    }
}

#[test]
fn both_front_ends_reject_requests_if_the_queue_is_full() {
    let room = Room::new();
    for front in FRONTS {
        let broker = Broker::start(&room, &format!("--agents 1 --queue 2 --front {front}"));
        let held: Vec<TcpStream> = (0..3_u32)
            .map(|number| {
                let stream = broker.send("/benchmark?msdelay=60000", "gzip");
                wait_for("the request is in the queue", || {
                    let waiting = broker.metric("queue_depth") + broker.metric("agents_busy");
                    (waiting == f64::from(number + 1)).then_some(())
                });
                stream
            })
            .collect();
        let (status, body) = broker.get("/benchmark");
        assert_eq!(
            (status, body.as_slice()),
            (503, b"all agents are busy, and the queue is full\n".as_slice())
        );
        let found = broker.metrics();
        assert_eq!(found["busyhour_broker_rejected_total{reason=\"queue_full\"}"], 1.0);
        assert_eq!(found["busyhour_broker_requests_total{code=\"503\"}"], 1.0);
        assert_eq!(found["busyhour_broker_queue_depth_max"], 2.0);
        assert_eq!(found[&format!("busyhour_broker_info{{front=\"{front}\"}}")], 1.0);
        drop(held);
    }
}

/// The process IDs of the children of a process.
#[cfg(target_os = "linux")]
fn children(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let of_task = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.ok()?.path().join("children")).ok()
    };
    let texts: Vec<String> = tasks.filter_map(of_task).collect();
    texts.iter().flat_map(|text| text.split_whitespace()).map(|pid| pid.parse().unwrap()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn processes_of_requests_end_with_a_killed_broker() {
    let room = Room::new();
    let broker = Broker::start(&room, "--agents 1 --queue 2 --front process");
    let _held = ["", ""].map(|_| broker.send("/benchmark?msdelay=60000", ""));
    wait_for("both requests have a process that asked for records", || {
        (broker.metric("queue_depth") == 1.0).then_some(())
    });
    let pids = children(broker.running.pid());
    assert_eq!(pids.len(), 2, "{pids:?}");
    broker.running.signal(Signal::KILL);
    for pid in pids {
        wait_for("the process of a request has ended", || {
            let command = std::fs::read(format!("/proc/{pid}/cmdline"));
            command.map_or(true, |command| command.is_empty()).then_some(())
        });
    }
}

#[test]
fn a_broker_ends_with_its_standard_input() {
    let mut child: Child = Command::new(env!("CARGO_BIN_EXE_busyhour"))
        .args(["lab", "server", "broker", "--port", "0", "--until-stdin-closes"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.starts_with("listening on http://127.0.0.1:"), "{line}");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn options_of_the_broker_have_limits_and_belong_to_it() {
    let room = Room::new();
    for (line, message) in [
        ("lab server broker --agents 0", "1..=256"),
        ("lab server broker --queue 10001", "0..=10000"),
        ("lab server broker --front fork", "threads, process"),
        ("lab server shop --agents 2", "--agents, --queue and --front are for the server broker"),
        ("lab server broker --small", "are for the server shop, not for the broker"),
    ] {
        room.run_line(line).expect(2).reports(&[message]);
    }
}

#[test]
fn a_run_of_the_plan_agrees_with_the_metrics_it_observed() {
    let plan = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/broker.jmx");
    for front in FRONTS {
        let room = Room::new();
        let broker = Broker::start(&room, &format!("--agents 2 --queue 1 --front {front}"));
        let source = format!("prometheus:http://127.0.0.1:{}/metrics", broker.port);
        let line = format!(
            "run {} --dir run -J port={} -J users=8 -J rampup=0 -J duration=4 -J think=5 -J think_random=10 \
             -J numFields=5 -J numRecords=5 -J msdelay=20 --observe {source}",
            plan.display(),
            broker.port
        );
        let ended = room.run_line(&line);
        assert!(ended.status.code() == Some(0), "{}", ended.all());
        let jtl = rows(&room.read("run/samples.jtl"));
        let found = broker.metrics();
        for code in ["200", "503"] {
            let sent = jtl.iter().filter(|row| row["label"] == "benchmark" && row["responseCode"] == code);
            let counted = found[&format!("busyhour_broker_requests_total{{code=\"{code}\"}}")];
            assert_eq!(sent.count() as f64, counted, "{front} {code}");
        }
        assert_eq!(found["busyhour_broker_agents_busy"], 0.0);
        assert_eq!(found["busyhour_broker_queue_depth_max"], 1.0);
        let completed = found["busyhour_broker_agent_requests_total"];
        assert_eq!(completed, found["busyhour_broker_requests_total{code=\"200\"}"]);
        assert!(found["busyhour_broker_agent_busy_seconds_total"] >= completed * 0.02);
        let series = "export run --series --metric busyhour_broker_* --to csv";
        let series = room.run_line(series).expect(0).stdout;
        for name in ["queue_depth", "agents_busy", "queue_wait_seconds", "requests_total"] {
            assert!(series.contains(&format!("busyhour_broker_{name}")), "{name}: {series}");
        }
        room.run_line("report run -o report.html").expect(0);
        assert!(room.read("report.html").contains("busyhour_broker_queue_depth"));
    }
}
