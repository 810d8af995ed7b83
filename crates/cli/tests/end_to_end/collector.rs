//! Tests the OTLP export with an OpenTelemetry Collector.
//!
//! The collector is `otelcol` on the PATH, or the path in `BUSYHOUR_OTELCOL`. Without one, the test is skipped with a message. The
//! collector forwards the decoded metrics as JSON.

use std::process::{Command, Stdio};

use rustix::process::Signal;
use serde_json::Value;

use crate::export::database;
use crate::program::{Room, Running, wait_for};
use crate::servers::Server;

/// Names of the exporter in different versions of the collector.
const EXPORTERS: [&str; 2] = ["otlp_http", "otlphttp"];

/// Starts a collector that forwards to a port; returns it with its address, or `None` if there is no collector.
fn collector(room: &Room, sink: u16) -> Option<(Running, String)> {
    let program = std::env::var_os("BUSYHOUR_OTELCOL").unwrap_or_else(|| "otelcol".into());
    let there = Command::new(&program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        #[allow(clippy::print_stderr, reason = "a skipped test must be visible")]
        {
            eprintln!(
                "NOT CHECKED: there is no OpenTelemetry Collector (otelcol on the PATH, or BUSYHOUR_OTELCOL), so nothing \
                 was sent to one"
            );
        }
        return None;
    }
    for exporter in EXPORTERS {
        let config = format!(
            "receivers: {{otlp: {{protocols: {{http: {{endpoint: '127.0.0.1:0'}}}}}}}}\n\
             exporters: {{{exporter}: {{metrics_endpoint: 'http://127.0.0.1:{sink}/', encoding: json, compression: none,\n\
             \x20 sending_queue: {{enabled: false}}, retry_on_failure: {{enabled: false}}}}}}\n\
             service:\n\
             \x20 telemetry: {{metrics: {{level: none}}}}\n\
             \x20 pipelines: {{metrics: {{receivers: [otlp], exporters: [{exporter}]}}}}\n"
        );
        let config = room.file("collector.yaml", config);
        let mut command = Command::new(&program);
        command.arg("--config").arg(config);
        let running = room.start_command(command);
        let printed = wait_for("the collector", || {
            let printed = running.stderr();
            (printed.contains("Everything is ready") || printed.contains("unknown type")).then_some(printed)
        });
        if let Some(line) = printed.lines().find(|line| line.contains("Starting HTTP server")) {
            let (_, address) = line.split_once("\"endpoint\": \"").unwrap();
            return Some((running, address.split('"').next().unwrap().to_owned()));
        }
    }
    panic!("the collector has none of the exporters {EXPORTERS:?}");
}

/// Parses a number; 64-bit integers are strings in JSON.
fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .or_else(|| value.as_str()?.parse().ok())
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is not a list"))
}

fn attribute<'v>(of: &'v Value, name: &str) -> &'v str {
    let found = list(&of["attributes"]).iter().find(|known| known["key"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {of}"))["value"]["stringValue"].as_str().unwrap()
}

/// The metrics of one second of the run.
struct Second(Vec<Value>);

impl Second {
    fn metric(&self, name: &str) -> &Value {
        self.0.iter().find(|metric| metric["name"] == name).unwrap_or_else(|| panic!("no metric {name}"))
    }

    /// The points of a counter or of a histogram.
    fn points(&self, name: &str) -> &[Value] {
        let metric = self.metric(name);
        let data = ["sum", "exponentialHistogram", "gauge"].map(|kind| &metric[kind]);
        let data = data.into_iter().find(|data| !data.is_null()).unwrap();
        list(&data["dataPoints"])
    }

    /// The count of the one point with this value of an attribute.
    fn count(&self, name: &str, (key, value): (&str, &str)) -> f64 {
        let mut points = self.points(name).iter().filter(|point| attribute(point, key) == value);
        let point = points.next().unwrap_or_else(|| panic!("no {key}={value} in {name}"));
        assert!(points.next().is_none());
        number(&point["asInt"])
    }
}

/// Checks that all times are in buckets, and that the minimum and the maximum are in the outermost buckets.
fn check_histogram(point: &Value, samples: f64) {
    assert_eq!(number(&point["count"]), samples, "{point}");
    assert_eq!(number(&point["scale"]), 4.0, "{point}");
    let zero = point.get("zeroCount").map_or(0.0, number);
    let counts: Vec<f64> = list(&point["positive"]["bucketCounts"]).iter().map(number).collect();
    assert_eq!(zero + counts.iter().sum::<f64>(), samples, "{point}");
    let offset = point["positive"].get("offset").map_or(0.0, number);
    let bound = |bucket: f64| 2_f64.powf((offset + bucket) / 16.0);
    let (min, max, sum) = (number(&point["min"]), number(&point["max"]), number(&point["sum"]));
    // A time counts in the run's histograms as the lower edge of its band, in whole microseconds.
    let counted = |s: f64| s * 0.999 - 1e-6;
    assert!(bound(counts.len() as f64) >= counted(max) && bound(counts.len() as f64 - 1.0) < max, "{point}");
    assert!(zero > 0.0 || (bound(0.0) < min && bound(1.0) >= counted(min)), "{point}");
    assert!(samples * min <= sum && sum <= samples * max, "{point}");
}

#[test]
fn a_collector_decodes_every_metric_of_a_run() {
    let room = Room::new();
    let (sink, came) = database();
    let Some((collector, address)) = collector(&room, sink) else { return };
    let server = Server::quick();
    let url = format!("http://127.0.0.1:{}/", server.port());
    let otlp = format!("http://{address}");
    let before_ns = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as f64;
    let line =
        ["run", &url, "--arrivals", "poisson(200/s) for 3s", "--otlp", &otlp, "--export-name", "a shop"];
    // Observed series have the times of their readings.
    let line = line.into_iter().chain(["--observe", "none"]);
    let ended = room.run(line).expect(0);
    assert!(!ended.stderr.contains("the export otlp failed"), "{}", ended.stderr);
    let after_ns = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as f64;
    collector.signal(Signal::INT);
    collector.end().expect(0);

    let came = came.lock().unwrap();
    let seconds: Vec<Second> = came
        .iter()
        .map(|request| {
            let (_, body) = request.split_once('\n').unwrap();
            let body: Value = serde_json::from_str(body).unwrap();
            let [of_resource] = list(&body["resourceMetrics"]) else { panic!("{body}") };
            let resource = &of_resource["resource"];
            assert_eq!(attribute(resource, "service.name"), "busyhour");
            assert_eq!(attribute(resource, "service.instance.id").len(), 36);
            assert_eq!(attribute(resource, "busyhour.run"), "a shop");
            let [of_scope] = list(&of_resource["scopeMetrics"]) else { panic!("{body}") };
            assert_eq!(of_scope["scope"]["name"], "busyhour");
            Second(list(&of_scope["metrics"]).to_vec())
        })
        .collect();
    assert!(seconds.len() >= 3, "one a second");

    let mut last_ns = 0.0;
    for second in &seconds {
        let mut stamps = Vec::new();
        for metric in &second.0 {
            let name = metric["name"].as_str().unwrap();
            assert!(metric["description"].as_str().is_some_and(|text| !text.is_empty()), "{metric}");
            assert!(metric["unit"].as_str().is_some_and(|text| !text.is_empty()), "{metric}");
            for kind in ["sum", "exponentialHistogram"] {
                if !metric[kind].is_null() {
                    assert_eq!(metric[kind]["aggregationTemporality"], 2, "cumulative: {metric}");
                }
            }
            if !metric["sum"].is_null() {
                assert_eq!(metric["sum"]["isMonotonic"], true, "{metric}");
            }
            assert!(!second.points(name).is_empty(), "{metric}");
            for point in second.points(name) {
                stamps.push(number(&point["timeUnixNano"]));
                if metric["gauge"].is_null() {
                    let start = number(&point["startTimeUnixNano"]);
                    // The start of the run is given in whole milliseconds.
                    assert!((before_ns - 1e6..after_ns).contains(&start), "{point}");
                }
            }
        }
        assert!(stamps.iter().all(|stamp| *stamp == stamps[0]), "{stamps:?}");
        assert!(stamps[0] > last_ns && stamps[0] <= after_ns, "{} after {last_ns}, {after_ns}", stamps[0]);
        last_ns = stamps[0];
    }

    let all = seconds.last().unwrap();
    let summary: Value =
        serde_json::from_str(&std::fs::read_to_string(room.run_dir().summary_path()).unwrap()).unwrap();
    let samples = number(&summary["total"]["samples"]);
    assert!(samples > 300.0);
    assert_eq!(all.count("busyhour.samples", ("outcome", "passed")), samples);
    assert_eq!(all.count("busyhour.samples", ("outcome", "failed")), 0.0);
    assert_eq!(all.count("busyhour.response_codes", ("code", "200")), samples);
    assert_eq!(all.count("busyhour.arrivals", ("fate", "scheduled")), samples, "a session is a request here");
    assert_eq!(all.count("busyhour.arrivals", ("fate", "begun")), samples);
    assert_eq!(all.count("busyhour.received", ("kind", "request")), server_bytes(samples));
    for name in ["busyhour.response_time", "busyhour.service_time"] {
        let [point] = all.points(name) else { panic!("{name}") };
        assert_eq!((attribute(point, "label"), attribute(point, "kind")), ("GET /", "request"));
        check_histogram(point, samples);
        assert_eq!(all.metric(name)["unit"], "s");
    }
    assert_eq!(all.metric("busyhour.samples")["unit"], "{sample}");
    assert_eq!(all.metric("busyhour.sent")["unit"], "By");
    let [users] = all.points("busyhour.users") else { panic!("one value") };
    assert!(number(&users["asDouble"]) >= 1.0);
}

/// Number of bytes that the server sends for this number of requests.
fn server_bytes(requests: f64) -> f64 {
    requests * "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len() as f64
}
