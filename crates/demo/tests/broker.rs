//! Tests a broker with its threads; the end-to-end tests of the program also start processes.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use busyhour_demo::{BrokerFront, BrokerOptions, BrokerServer, listen};
use flate2::read::GzDecoder;

/// Timeout for conditions that come true much faster.
const PATIENCE: Duration = Duration::from_secs(60);

fn broker(agents: usize, queue: usize) -> BrokerServer {
    let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let agents = NonZeroUsize::new(agents).unwrap();
    BrokerServer::start(listener, BrokerOptions { agents, queue, front: BrokerFront::Threads }).unwrap()
}

/// A response: the status, the headers with names in lower case, and the body.
struct Response {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl Response {
    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

/// A connection that stays open.
struct Client(BufReader<TcpStream>);

impl Client {
    fn new(broker: &BrokerServer) -> Self {
        Self(BufReader::new(TcpStream::connect(broker.address()).unwrap()))
    }

    fn send(&mut self, text: &str) {
        self.0.get_mut().write_all(text.as_bytes()).unwrap();
    }

    fn receive(&mut self, has_body: bool) -> Response {
        let mut line = || {
            let mut line = String::new();
            self.0.read_line(&mut line).unwrap();
            line.trim_end().to_owned()
        };
        let status = line().split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::new();
        loop {
            let header = line();
            let Some((name, value)) = header.split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = if has_body { headers["content-length"].parse().unwrap() } else { 0 };
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).unwrap();
        Response { status, headers, body }
    }

    fn get(&mut self, target: &str) -> Response {
        self.send(&format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
        self.receive(true)
    }
}

/// The metrics as a map from the name with labels to the value.
fn metrics(broker: &BrokerServer) -> BTreeMap<String, f64> {
    let page = Client::new(broker).get("/metrics");
    assert_eq!(page.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let text = page.text();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.into(), value.parse().unwrap()))
        .collect()
}

fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < PATIENCE, "timeout while waiting for: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn equal_requests_get_equal_records_and_gzip_if_they_accept_it() {
    let broker = broker(2, 10);
    let mut client = Client::new(&broker);
    let target = "/benchmark?numFields=20&numRecords=20";
    let plain = client.get(target);
    assert_eq!((plain.status, plain.headers["content-type"].as_str()), (200, "application/json"));
    assert_eq!(plain.headers.get("content-encoding"), None);
    client.send(&format!("GET {target} HTTP/1.1\r\nHost: h\r\nAccept-Encoding: deflate, gzip\r\n\r\n"));
    let compressed = client.receive(true);
    assert_eq!(compressed.headers["content-encoding"], "gzip");
    assert!(compressed.body.len() < plain.body.len() * 2 / 3, "{}", compressed.body.len());
    let mut text = Vec::new();
    GzDecoder::new(compressed.body.as_slice()).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain.body);
    client.send(&format!("HEAD {target} HTTP/1.1\r\nHost: h\r\n\r\n"));
    let head = client.receive(false);
    assert_eq!(head.headers["content-length"], plain.body.len().to_string());
    assert_eq!(client.get(target).body, plain.body, "the connection is still in order");
    let found = metrics(&broker);
    let transferred = (3 * plain.body.len() + compressed.body.len()) as f64;
    assert_eq!(found["busyhour_broker_response_body_bytes_total"], transferred);
}

#[test]
fn invalid_requests_get_clear_errors_and_no_agent() {
    let broker = broker(1, 1);
    let mut client = Client::new(&broker);
    for (target, status, text) in [
        ("/benchmark?numFields=0", 400, "numFields must be a whole number from 1 to 100, not \"0\"\n"),
        ("/benchmark?numRecords=101", 400, "numRecords must be a whole number from 1 to 100, not \"101\"\n"),
        ("/benchmark?msdelay=1h", 400, "msdelay must be a whole number from 0 to 60000, not \"1h\"\n"),
        ("/benchmark?delay=1", 400, "unknown parameter \"delay\""),
        ("/nothing", 404, "the paths are\n/benchmark?"),
    ] {
        let response = client.get(target);
        assert_eq!(response.status, status, "{target}");
        assert!(response.text().contains(text), "{}", response.text());
    }
    client.send("PUT /benchmark HTTP/1.1\r\nHost: h\r\n\r\n");
    let refused = client.receive(true);
    assert_eq!((refused.status, refused.headers["allow"].as_str()), (405, "GET, HEAD"));
    client.send("GET /benchmark HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc");
    let refused = client.receive(true);
    assert_eq!((refused.status, refused.headers["connection"].as_str()), (400, "close"));
    let mut client = Client::new(&broker);
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.receive(true).status, 400);
    let found = metrics(&broker);
    assert_eq!(found["busyhour_broker_requests_total{code=\"400\"}"], 4.0);
    assert_eq!(
        (found["busyhour_broker_agent_requests_total"], found["busyhour_broker_queue_wait_seconds_count"]),
        (0.0, 0.0)
    );
}

#[test]
fn a_full_queue_responds_with_503_and_the_metrics_show_it() {
    let broker = broker(2, 3);
    let held = "/benchmark?msdelay=60000";
    let mut waiting = Vec::new();
    for number in 1..=5_usize {
        let mut client = Client::new(&broker);
        client.send(&format!("GET {held} HTTP/1.1\r\nHost: h\r\n\r\n"));
        waiting.push(client);
        wait_until("the request is in the queue", || {
            let found = metrics(&broker);
            let known = (found["busyhour_broker_agents_busy"], found["busyhour_broker_queue_depth"]);
            known == (number.min(2) as f64, number.saturating_sub(2) as f64)
        });
    }
    let full = Client::new(&broker).get(held);
    assert_eq!((full.status, full.headers["retry-after"].as_str()), (503, "1"));
    assert!(full.text().contains("the queue is full"), "{}", full.text());
    let found = metrics(&broker);
    for (name, value) in [
        ("busyhour_broker_info{front=\"threads\"}", 1.0),
        ("busyhour_broker_agents", 2.0),
        ("busyhour_broker_agents_busy", 2.0),
        ("busyhour_broker_queue_limit", 3.0),
        ("busyhour_broker_queue_depth", 3.0),
        ("busyhour_broker_queue_depth_max", 3.0),
        ("busyhour_broker_queue_wait_seconds_count", 2.0),
        ("busyhour_broker_agent_requests_total", 0.0),
        ("busyhour_broker_requests_total{code=\"503\"}", 1.0),
        ("busyhour_broker_request_duration_seconds_count", 1.0),
        ("busyhour_broker_rejected_total{reason=\"queue_full\"}", 1.0),
        ("busyhour_broker_rejected_total{reason=\"connections\"}", 0.0),
    ] {
        assert_eq!(found.get(name), Some(&value), "{name}");
    }
    assert!(found["busyhour_broker_agent_busy_seconds_total"] > 0.0);
    // The connections of earlier scrapes may still be closing.
    assert!(found["busyhour_broker_connections"] >= 6.0);
    assert!(!found.contains_key("busyhour_broker_processes"));
    // The broker does not wait for the requests.
    drop(broker);
}

#[test]
fn the_metrics_agree_with_the_completed_requests() {
    let broker = broker(3, 100);
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                let mut client = Client::new(&broker);
                for _ in 0..5 {
                    assert_eq!(client.get("/benchmark?msdelay=4").status, 200);
                }
            });
        }
    });
    wait_until("the agents are free", || metrics(&broker)["busyhour_broker_agents_busy"] == 0.0);
    let found = metrics(&broker);
    for name in [
        "busyhour_broker_requests_total{code=\"200\"}",
        "busyhour_broker_agent_requests_total",
        "busyhour_broker_queue_wait_seconds_count",
        "busyhour_broker_queue_wait_seconds_bucket{le=\"+Inf\"}",
        "busyhour_broker_request_duration_seconds_count",
    ] {
        assert_eq!(found[name], 60.0, "{name}");
    }
    let (busy, waits) =
        (found["busyhour_broker_agent_busy_seconds_total"], found["busyhour_broker_queue_wait_seconds_sum"]);
    let (durations, longest) = (
        found["busyhour_broker_request_duration_seconds_sum"],
        found["busyhour_broker_queue_wait_seconds_max"],
    );
    assert!(busy >= 60.0 * 0.004, "{busy}");
    assert!(durations >= waits + 60.0 * 0.004, "{durations} {waits}");
    assert!(longest <= waits && longest > 0.0, "{longest} {waits}");
    let depth = found["busyhour_broker_queue_depth_max"];
    assert!((1.0..=9.0).contains(&depth), "12 users and 3 agents: {depth}");
}

#[test]
fn a_static_response_needs_no_agent() {
    let broker = broker(1, 0);
    let mut client = Client::new(&broker);
    assert_eq!(client.get("/static").body.len(), 4_096);
    assert!(client.get("/").text().starts_with("/benchmark?numFields"));
    let found = metrics(&broker);
    assert_eq!(
        (
            found["busyhour_broker_agent_requests_total"],
            found["busyhour_broker_request_duration_seconds_count"]
        ),
        (0.0, 0.0)
    );
}

#[test]
fn options_have_limits() {
    for (agents, queue) in [(257, 0), (1, 10_001)] {
        let listener = listen("127.0.0.1:0".parse().unwrap()).unwrap();
        let agents = NonZeroUsize::new(agents).unwrap();
        let options = BrokerOptions { agents, queue, front: BrokerFront::Threads };
        assert!(BrokerServer::start(listener, options).is_err());
    }
}
