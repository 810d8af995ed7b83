//! Exports one small run in every format and checks the exported data.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use busyhour_export::{
    BackendSettings, CsvExporter, ExportError, Exporter, Exposition, GraphiteExporter, HistogramForm,
    HistogramLogExporter, HttpPost, InfluxExporter, InfluxNames, NowMs, OtlpExporter, PercentileExporter,
    RemoteWriteExporter, SamplerFilter, ScrapeServer, Sender, TcpText, TimeClock, TimeOrigin, TimeSeries,
    WriteRequest, follow,
};
use busyhour_sample::{
    ArrivalsInSecond, CodeCount, FailureCount, LiveArrivals, OutcomeTimes, SampleKind, SecondUsers, Snapshot,
    SnapshotRow, TimeCounts, snapshot_channel,
};

const ORIGIN: TimeOrigin = TimeOrigin { wall_anchor_ms: 1_700_000_000_000 };

const SHOP: InfluxNames<'_> =
    InfluxNames { measurement: "jmeter", application: "shop", title: "Shop", event_tags: "", tags: &[] };

/// A clock that is always later than the end of the run.
fn later() -> NowMs {
    Arc::new(|| i64::MAX)
}

fn times(passed_ms: &[u64], failed_ms: &[u64]) -> OutcomeTimes {
    let of = |ms: &[u64]| TimeCounts::from_ns(ms.iter().map(|ms| ms * 1_000_000));
    OutcomeTimes { passed: of(passed_ms), failed: of(failed_ms) }
}

/// Two seconds: a label that needs escaping everywhere, a transaction, a failure.
fn run() -> Vec<Snapshot> {
    let home = |n: u64| SnapshotRow {
        samples: 4,
        errors: 1,
        bytes: 4_000 + n,
        sent_bytes: 400,
        response: times(&[10, 20, 30], &[600]),
        service: times(&[8, 18, 28], &[598]),
        codes: vec![
            CodeCount { code: "200".into(), samples: 3, errors: 0 },
            CodeCount { code: "503".into(), samples: 1, errors: 1 },
        ],
        failures: vec![FailureCount {
            code: "503".into(),
            message: "Service Unavailable".into(),
            assertion: false,
            errors: 1,
        }],
        ..SnapshotRow::new("GET \"home\", a=b", SampleKind::Request)
    };
    let all = SnapshotRow {
        samples: 1,
        response: times(&[700], &[]),
        service: times(&[700], &[]),
        codes: vec![CodeCount { code: "200".into(), samples: 1, errors: 0 }],
        ..SnapshotRow::new("all.of it", SampleKind::Transaction)
    };
    (0..2)
        .map(|second| Snapshot {
            second,
            whole: true,
            rows: if second == 0 { vec![home(0)] } else { vec![home(1), all.clone()] },
            users: Some(SecondUsers { at_end: 3, min: 1, max: 3, sum: 8, samples: 4 }),
            arrivals: Some(ArrivalsInSecond { scheduled: 5, begun: 4, waited: 1, dropped: 1 }),
            regularity: (second > 0).then_some(LiveArrivals { cov: 0.987_654, gaps: 99 }),
            late_samples: 0,
        })
        .collect()
}

fn export(exporter: &mut dyn Exporter) {
    for second in run() {
        exporter.second(&second).unwrap();
    }
    exporter.finish().unwrap();
}

/// A destination that stores the text that is sent to it.
#[derive(Clone, Default)]
struct SentText(Arc<Mutex<String>>);

impl Sender for SentText {
    fn send(&mut self, text: &str) -> Result<(), ExportError> {
        self.0.lock().unwrap().push_str(text);
        Ok(())
    }
}

fn settings(interval_s: u64) -> BackendSettings {
    BackendSettings {
        summary_only: false,
        samplers: SamplerFilter::all(),
        percentiles: BackendSettings::percentiles_of("90; 99.9;x"),
        interval_s,
        users: Arc::new(|| Some((5, 2))),
    }
}

#[test]
fn csv_by_the_second() {
    let mut text = Vec::new();
    export(&mut CsvExporter::new(&mut text, ORIGIN));
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}

#[test]
fn the_percentile_distribution() {
    let mut text = Vec::new();
    export(&mut PercentileExporter::new(&mut text, None, TimeClock::Response));
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
    let error =
        PercentileExporter::new(Vec::new(), Some("none".into()), TimeClock::Service).finish().unwrap_err();
    assert!(error.to_string().contains("no sample of the label \"none\""), "{error}");
}

#[test]
fn hdrhistogram_can_read_the_histogram_log() {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let mut text = Vec::new();
    export(&mut HistogramLogExporter::new(&mut text, ORIGIN));
    let mut seen = Vec::new();
    for entry in IntervalLogIterator::new(&text) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            use base64::Engine as _;
            let bytes =
                base64::engine::general_purpose::STANDARD.decode(interval.encoded_histogram()).unwrap();
            let histogram: hdrhistogram::Histogram<u64> =
                hdrhistogram::serialization::Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            let tag = interval.tag().unwrap().as_str().to_owned();
            seen.push((interval.start_timestamp().as_secs(), tag, histogram.len(), histogram.min()));
        }
    }
    let home =
        |second, clock: &str, min| (second, format!("{clock}/request/GET%20\"home\"%2C%20a=b"), 4, min);
    let all = |clock: &str| (1, format!("{clock}/transaction/all.of%20it"), 1, 700_000);
    // The lowest value of the histogram's band that contains a time.
    let around =
        |us: u64| us >> (u64::BITS - us.leading_zeros() - 11) << (u64::BITS - us.leading_zeros() - 11);
    let expected = [
        home(0, "response", around(10_000)),
        home(0, "service", around(8_000)),
        home(1, "response", around(10_000)),
        home(1, "service", around(8_000)),
        (all("response").0, all("response").1, 1, around(700_000)),
        (all("service").0, all("service").1, 1, around(700_000)),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn prometheus_exposition() {
    let mut exposition = Exposition::new("Shop \"A\"");
    for second in run() {
        exposition.second(&second).unwrap();
    }
    insta::assert_snapshot!(exposition.text());
}

#[test]
fn a_scrape_returns_the_totals_so_far() {
    let (server, mut exporter) = ScrapeServer::start("127.0.0.1:0", "Shop").unwrap();
    let get = |request: &str| {
        let mut stream = TcpStream::connect(server.address()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let scrape = "GET /metrics?x=1 HTTP/1.1\r\nHost: here\r\n\r\n";
    assert!(!get(scrape).contains("busyhour_samples_total{"));
    exporter.second(&run()[0]).unwrap();
    let answer = get(scrape);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4"), "{answer}");
    assert!(answer.contains("kind=\"request\",outcome=\"failed\"} 1\n"), "{answer}");
    // Prometheus requests the protobuf format if native histograms are enabled.
    let accept = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,*/*";
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nHost: here\r\naccept: {accept}\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.contains("\r\ncontent-type: application/vnd.google.protobuf; proto="), "{answer}");
    assert!(answer.contains("busyhour_response_time_seconds"), "{answer}");
    assert!(get("GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
    assert!(get("POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400 "));
    assert!(get("rubbish\r\n\r\n").starts_with("HTTP/1.1 400 "));
}

#[test]
fn influx_lines_as_jmeter_names_them() {
    let sent = SentText::default();
    let tags = [("build".to_owned(), "1 2".to_owned())];
    export(&mut InfluxExporter::new(
        sent.clone(),
        ORIGIN,
        settings(5),
        InfluxNames { application: "my shop", title: "Shop \"A\"", tags: &tags, ..SHOP },
    ));
    insta::assert_snapshot!(sent.0.lock().unwrap());
}

#[test]
fn graphite_lines_as_jmeter_names_them() {
    let sent = SentText::default();
    let listed = BackendSettings { samplers: SamplerFilter::Named(vec!["all.of it".into()]), ..settings(1) };
    export(&mut GraphiteExporter::new(sent.clone(), ORIGIN, listed, "jmeter."));
    insta::assert_snapshot!(sent.0.lock().unwrap());
}

/// A server that answers one request per connection with this status. Returns its address, and the heads and bodies of the
/// requests that it has received.
fn receiver(status: &'static str) -> (String, Arc<Mutex<Vec<(String, Vec<u8>)>>>) {
    answering(status, b"word")
}

/// Like [`receiver`], with this response body.
fn answering(status: &'static str, answer: &'static [u8]) -> (String, Arc<Mutex<Vec<(String, Vec<u8>)>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let came: Arc<Mutex<Vec<(String, Vec<u8>)>>> = Arc::default();
    let kept = Arc::clone(&came);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut bytes = Vec::new();
            let mut chunk = [0; 4_096];
            let whole = loop {
                let read = stream.read(&mut chunk).unwrap_or(0);
                if read == 0 {
                    break None;
                }
                bytes.extend_from_slice(&chunk[..read]);
                let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
                let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
                let length = head
                    .lines()
                    .find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok())
                    .unwrap_or(0);
                if bytes.len() >= end + 4 + length {
                    break Some((head, bytes[end + 4..end + 4 + length].to_vec()));
                }
            };
            let Some(whole) = whole else { continue };
            kept.lock().unwrap().push(whole);
            let length = answer.len();
            let _ =
                write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(answer);
        }
    });
    (address, came)
}

#[test]
fn influx_receives_posts_and_its_errors_are_reported() {
    let (address, came) = receiver("204 No Content");
    let url = format!("http://{address}/write?db=jmeter");
    let token = vec![("Authorization".to_owned(), "Token abc".to_owned())];
    let sender = HttpPost::new(url, token);
    export(&mut InfluxExporter::new(sender, ORIGIN, settings(1), SHOP));
    let came = came.lock().unwrap();
    assert_eq!(came.len(), 4, "one request each for the start, two seconds, and the end");
    assert!(came[0].0.starts_with("post /write?db=jmeter http/1.1\r\n"), "{}", came[0].0);
    assert!(came[0].0.contains("authorization: token abc"));
    assert!(came[0].1.starts_with(b"events,application=shop,title=ApacheJMeter text=\"Shop started\" "));
    assert!(came[1].1.starts_with(b"jmeter,application=shop,transaction="));

    let (address, _) = receiver("400 Bad Request");
    let (sender, receiver) = snapshot_channel(10);
    run().into_iter().for_each(|second| sender.send(&Arc::new(second)));
    drop(sender);
    let post = HttpPost::new(format!("http://me:secret@{address}/write?p=secret"), Vec::new());
    let mut exporter = InfluxExporter::new(post, ORIGIN, settings(1), SHOP);
    let followed = follow(&receiver, &mut exporter);
    assert_eq!((followed.seconds, followed.failed, followed.lost), (2, 3, 0));
    let reported = followed.first_error.unwrap().to_string();
    assert_eq!(reported, format!("http://{address}/write answered 400: word"));
}

#[test]
fn graphite_receives_complete_lines_over_one_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sender = TcpText::new(listener.local_addr().unwrap().to_string());
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        text
    });
    let mut exporter = GraphiteExporter::new(sender, ORIGIN, settings(1), "jmeter.");
    export(&mut exporter);
    drop(exporter);
    let text = reader.join().unwrap();
    assert!(text.lines().all(|line| line.split(' ').count() == 3), "{text}");
    assert!(
        text.contains("jmeter.all.a.count 4 1700000001\n")
            && text.contains("jmeter.all.a.count 5 1700000002\n")
    );
}

#[test]
fn remote_write_requests_follow_the_protocol() {
    let (address, came) = receiver("204 No Content");
    export(&mut RemoteWriteExporter::new(
        &format!("http://{address}/api/v1/write"),
        ORIGIN,
        "Shop",
        HistogramForm::Classic,
        later(),
    ));
    let came = came.lock().unwrap();
    assert_eq!(came.len(), 2);
    for header in [
        "content-encoding: snappy",
        "content-type: application/x-protobuf",
        "x-prometheus-remote-write-version: 0.1.0",
    ] {
        assert!(came[0].0.contains(header), "{}", came[0].0);
    }
    let request = written(&came[1].1);
    let mut text = String::new();
    for series in &request.timeseries {
        let names: Vec<_> = series.labels.iter().map(|label| label.name.as_str()).collect();
        assert!(names.is_sorted() && names.contains(&"__name__"), "{names:?}");
        assert_eq!(series.samples.len(), 1);
        assert_eq!(series.samples[0].timestamp, 1_700_000_002_000);
        let labels: Vec<_> =
            series.labels.iter().map(|label| format!("{}={}", label.name, label.value)).collect();
        text.push_str(&format!("{} {}\n", labels.join(" "), series.samples[0].value));
    }
    insta::assert_snapshot!(text);
}

/// Decodes the body of a remote write request.
fn written(body: &[u8]) -> WriteRequest {
    use prost::Message as _;
    WriteRequest::decode(snap::raw::Decoder::new().decompress_vec(body).unwrap().as_slice()).unwrap()
}

#[test]
fn native_histograms_contain_every_time_in_its_bucket() {
    let (address, came) = receiver("204 No Content");
    let url = format!("http://{address}/api/v1/write");
    export(&mut RemoteWriteExporter::new(&url, ORIGIN, "Shop", HistogramForm::Native, later()));
    let came = came.lock().unwrap();
    let request = written(&came[1].1);
    let name = |series: &TimeSeries| series.labels[0].value.clone();
    assert!(request.timeseries.iter().all(|series| !name(series).ends_with("_bucket")));
    let histograms: Vec<_> =
        request.timeseries.iter().filter(|series| !series.histograms.is_empty()).collect();
    assert_eq!(histograms.len(), 4, "two labels, two clocks");
    let home = histograms[0];
    assert_eq!((name(home).as_str(), home.samples.len()), ("busyhour_response_time_seconds", 0));
    let histogram = &home.histograms[0];
    assert_eq!((histogram.count_int, histogram.zero_count_int), (Some(8), Some(0)));
    assert_eq!((histogram.sum, histogram.timestamp), (1.32, 1_700_000_002_000));
    // Both seconds had 10, 20, 30 and 600 ms: two in each bucket, whose upper bound is 2^(number / 2^schema) s.
    let (mut number, mut count, mut deltas) = (0, 0, histogram.positive_deltas.iter());
    let mut buckets = Vec::new();
    for span in &histogram.positive_spans {
        number += span.offset;
        for _ in 0..span.length {
            count += deltas.next().unwrap();
            buckets.push((number, count));
            number += 1;
        }
    }
    assert_eq!(buckets.len(), 4, "{histogram:?}");
    let growth = 2_f64.powf(0.5_f64.powi(histogram.schema));
    for ((number, count), seconds) in buckets.into_iter().zip([0.01, 0.02, 0.03, 0.6]) {
        let upper = growth.powi(number);
        // A time is represented by the lowest value of its band, which is at most 0.1 % below the time.
        assert!(upper >= seconds * 0.999 && upper / growth < seconds, "{seconds} in bucket {number}");
        assert_eq!(count, 2);
    }
}

#[test]
fn otlp_is_posted_each_second() {
    let (address, came) = receiver("200 OK");
    export(&mut OtlpExporter::new(&format!("http://{address}"), ORIGIN, "Shop", later()));
    let came = came.lock().unwrap();
    assert_eq!(came.len(), 2);
    assert!(came[0].0.starts_with("post /v1/metrics http/1.1\r\n"));
    assert!(came[0].0.contains("content-type: application/x-protobuf"));
    let holds = |second: usize, text: &[u8]| came[second].1.windows(text.len()).any(|part| part == text);
    for name in [
        "busyhour.samples",
        "busyhour.response_time",
        "busyhour.arrivals.cov",
        "service.name",
        "service.instance.id",
    ] {
        assert!(holds(1, name.as_bytes()), "{name}");
    }
}

#[test]
fn otlp_omits_metrics_without_data_points() {
    let (address, came) = receiver("200 OK");
    let mut exporter = OtlpExporter::new(&format!("http://{address}/v1/metrics"), ORIGIN, "Shop", later());
    exporter.second(&Snapshot { whole: true, ..Snapshot::default() }).unwrap();
    let came = came.lock().unwrap();
    assert!(!came[0].1.windows(16).any(|part| part == b"busyhour.samples"), "no sample has ended yet");
}

#[test]
fn otlp_reports_rejected_values_and_sends_the_last_second_again() {
    // The field `partial_success` of the response: 3 data points were rejected, with the message "no room".
    let (address, _) = answering("200 OK", b"\x0a\x0b\x08\x03\x12\x07no room");
    let mut exporter = OtlpExporter::new(&format!("http://{address}"), ORIGIN, "Shop", later());
    let reported = exporter.second(&run()[0]).unwrap_err().to_string();
    assert_eq!(reported, format!("http://{address}/v1/metrics refused 3 of the values: no room"));
    exporter.finish().unwrap();

    for (status, times) in [("503 Service Unavailable", 3), ("400 Bad Request", 2)] {
        let (address, came) = answering(status, b"word");
        let mut exporter = OtlpExporter::new(&format!("http://{address}"), ORIGIN, "Shop", later());
        for second in run() {
            assert!(exporter.second(&second).is_err());
        }
        // Values that the server rejected permanently are not sent again.
        assert_eq!(exporter.finish().is_err(), times == 3, "{status}");
        let came = came.lock().unwrap();
        assert_eq!(came.len(), times, "{status}");
        assert_eq!(came[1].1, came[times - 1].1);
    }
}

#[test]
fn the_dashboard_queries_exposed_metrics() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana-dashboard.json");
    let text = std::fs::read_to_string(path).unwrap();
    let mut exposition = Exposition::new("Shop");
    run().iter().for_each(|second| exposition.second(second).unwrap());
    let exposed = exposition.text();
    let names = text.split("busyhour_").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_')).unwrap_or(rest.len());
        format!("busyhour_{}", &rest[..end])
    });
    let names: std::collections::BTreeSet<_> = names.collect();
    assert!(names.len() > 7, "{names:?}");
    for name in names {
        let native = format!("# TYPE {name} histogram\n");
        assert!(
            exposed.contains(&format!("\n{name}{{"))
                || exposed.contains(&format!("\n{name} "))
                || exposed.contains(&native),
            "{name}"
        );
    }
}

/// Checks the rules of Grafana's linter for dashboards, and mistakes that would make a panel show wrong values.
#[test]
fn the_dashboard_is_valid() {
    use std::collections::BTreeSet;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana-dashboard.json");
    let dashboard: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(dashboard["schemaVersion"].as_u64().unwrap() >= 36);
    assert!(
        !dashboard["title"].as_str().unwrap().is_empty() && !dashboard["uid"].as_str().unwrap().is_empty()
    );
    let variables = dashboard["templating"]["list"].as_array().unwrap();
    let variables: BTreeSet<&str> = variables.iter().map(|known| known["name"].as_str().unwrap()).collect();
    let mut ids = BTreeSet::new();
    let mut taken: BTreeSet<(u64, u64)> = BTreeSet::new();
    for panel in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
        for wanted in ["type", "title", "description"] {
            assert!(panel[wanted].as_str().is_some_and(|text| !text.is_empty()), "{wanted}: {panel}");
        }
        assert!(panel["fieldConfig"]["defaults"]["unit"].is_string(), "{panel}");
        let place = |name: &str| panel["gridPos"][name].as_u64().unwrap();
        assert!(place("x") + place("w") <= 24, "the grid has 24 columns: {panel}");
        for x in place("x")..place("x") + place("w") {
            for y in place("y")..place("y") + place("h") {
                assert!(taken.insert((x, y)), "panels overlap: {panel}");
            }
        }
        let mut names = BTreeSet::new();
        for target in panel["targets"].as_array().unwrap() {
            assert!(names.insert(target["refId"].as_str().unwrap()), "{target}");
            assert_eq!(target["datasource"]["uid"], "${datasource}", "{target}");
            let query = target["expr"].as_str().unwrap();
            assert_eq!(query.matches('(').count(), query.matches(')').count(), "{query}");
            for used in query.split('$').skip(1) {
                let end = used.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(used.len());
                let name = &used[..end];
                assert!(name == "__rate_interval" || variables.contains(name), "${name} in {query}");
            }
            for counter in query.match_indices("_total").map(|(at, _)| &query[..at]) {
                let call = counter.rfind('(').map(|at| &counter[..at]).unwrap_or_default();
                assert!(call.ends_with("rate"), "a counter is shown by its rate: {query}");
            }
        }
    }
}
