//! Scrapes of pages over HTTP: values, stamps, histograms, limits and failures.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use busyhour_observe::prometheus::{
    FetchOptions, MetricSelection, MetricsServer, MetricsServerOptions, ScrapeProbe, ServerTls,
    exposition_text,
};
use busyhour_observe::{
    LatestValue, Metric, Probe, ProbeError, ProbeRunner, Reading, SeriesStore, SourceState,
};
use busyhour_program::clock::Clock;
use flate2::Compression;
use flate2::write::GzEncoder;

/// A server that answers each connection with the next of its responses, and stores the requests.
struct Pages {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
    thread: Option<JoinHandle<()>>,
}

impl Pages {
    fn serve(responses: Vec<Vec<u8>>) -> Pages {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://me:pass@{}/metrics", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stored = Arc::clone(&requests);
        let thread = std::thread::spawn(move || {
            for response in responses {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = Vec::new();
                let mut buffer = [0; 4096];
                while !request.ends_with(b"\r\n\r\n") {
                    let read = stream.read(&mut buffer).unwrap();
                    assert!(read > 0, "the client closed the connection");
                    request.extend_from_slice(&buffer[..read]);
                }
                stored.lock().unwrap().push(String::from_utf8(request).unwrap());
                // The client may close the connection early, if it refuses the answer.
                let _ = stream.write_all(&response);
            }
        });
        Pages { url, requests, thread: Some(thread) }
    }

    fn requests(mut self) -> Vec<String> {
        self.thread.take().unwrap().join().unwrap();
        self.requests.lock().unwrap().clone()
    }
}

fn response(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

fn page(body: &str) -> Vec<u8> {
    response("200 OK", "Content-Type: text/plain; version=0.0.4\r\n", body.as_bytes())
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    response("200 OK", "Content-Encoding: gzip\r\n", &encoder.finish().unwrap())
}

fn runner(store: &SeriesStore, url: &str, patterns: &[&str]) -> ProbeRunner {
    let options = FetchOptions { timeout: Some(Duration::from_secs(20)), ..FetchOptions::default() };
    let selection = MetricSelection::parse(patterns.iter().copied()).unwrap();
    ProbeRunner::new(store, Box::new(ScrapeProbe::new(url, &options, selection).unwrap()))
}

/// The latest values without those about scraping itself, as `name{label=value}`.
fn latest(store: &SeriesStore) -> Vec<(String, f64, u64)> {
    let shown = |value: LatestValue| {
        let labels: Vec<String> = value.labels.iter().map(|(name, text)| format!("{name}={text}")).collect();
        (format!("{}{{{}}}", value.name, labels.join(",")), value.value, value.time.0)
    };
    let values = store.latest().into_iter().filter(|value| !value.name.starts_with("busyhour_scrape_"));
    values.map(shown).collect()
}

#[test]
fn stamps_are_used_and_histograms_become_quantiles() {
    let histogram = |low, high| {
        format!(
            "# TYPE h histogram\nh_bucket{{le=\"1\"}} {low}\nh_bucket{{le=\"+Inf\"}} {high}\nh_sum 3\nh_count {high}\n"
        )
    };
    let first =
        format!("# TYPE c counter\nc 4 1700000010000\nold 1 1600000000000\nnow 5\n{}", histogram(3, 3));
    let second = format!("c 9 1700000010000\nold 1 1600000000000\nnow 6\n{}", histogram(13, 13));
    let pages = Pages::serve(vec![page(&first), gzip(second.as_bytes())]);
    let clock = Clock::manual(1_700_000_000_000);
    let store = SeriesStore::in_memory();
    let mut runner = runner(&store, &pages.url, &[]);

    clock.advance(Duration::from_secs(20));
    runner.read(&clock);
    let expected = [("c{}", 4.0, 10), ("now{}", 5.0, 20), ("h_sum{}", 3.0, 20), ("h_count{}", 3.0, 20)];
    let seconds = |values: Vec<(String, f64, u64)>| -> Vec<(String, f64, u64)> {
        values.into_iter().map(|(name, value, time)| (name, value, time / 1_000_000_000)).collect()
    };
    assert_eq!(seconds(latest(&store)), expected.map(|(name, value, time)| (name.to_owned(), value, time)));

    clock.advance(Duration::from_secs(1));
    runner.read(&clock);
    let values = seconds(latest(&store));
    let value =
        |name: &str| values.iter().find(|(known, ..)| known == name).map(|(_, value, time)| (*value, *time));
    assert_eq!(value("c{}"), Some((4.0, 10)), "the same stamp is the same value");
    assert_eq!(value("now{}"), Some((6.0, 21)));
    assert_eq!(value("h{quantile=0.5}"), Some((0.5, 21)));
    assert_eq!(value("h{quantile=0.99}"), Some((0.99, 21)));
    assert_eq!(store.status().sources[0].state, SourceState::Watching);

    let requests = pages.requests();
    let has = |header: &str| requests[0].to_ascii_lowercase().contains(&header.to_ascii_lowercase());
    assert!(has("authorization: Basic bWU6cGFzcw=="), "{}", requests[0]);
    assert!(has("accept-encoding: gzip") && has("accept: application/openmetrics-text;version=1.0.0,"));
}

#[test]
fn failures_are_named_and_contain_no_secrets() {
    // 200 MiB of zeros, which compress to 200 KiB.
    let mut bomb = GzEncoder::new(Vec::new(), Compression::fast());
    let zeros = vec![0; 1 << 20];
    for _ in 0..200 {
        bomb.write_all(&zeros).unwrap();
    }
    let bomb = response("200 OK", "Content-Encoding: gzip\r\n", &bomb.finish().unwrap());
    let open_metrics = response("200 OK", "Content-Type: application/openmetrics-text\r\n", b"a 1\n");
    let pages = Pages::serve(vec![
        response("503 Busy", "", b"come back later\n"),
        page("<html>welcome</html>\n"),
        page(""),
        open_metrics,
        bomb,
        response("200 OK", "Content-Encoding: gzip\r\n", b"this is not compressed at all"),
        response("200 OK", "Content-Length: 100\r\n", b"a 1\n"),
        page("a 1\n"),
    ]);
    let shown = pages.url.replace("me:pass@", "");
    let clock = Clock::manual(0);
    for expected in [
        "answered 503: come back later",
        "has no metrics in Prometheus's text format: line 1: expected the name of a metric",
        "has no metrics in Prometheus's text format",
        "was cut: it does not end with # EOF",
        "is longer than 128 MiB",
        "cannot be read: invalid gzip header",
        "cannot be read: ",
    ] {
        let store = SeriesStore::in_memory();
        runner(&store, &pages.url, &[]).read(&clock);
        let SourceState::Failed(reason) = store.status().sources[0].state.clone() else {
            panic!("{expected}: not failed");
        };
        assert!(reason.contains(expected) && reason.contains(&shown), "{reason}\n{expected}");
        assert!(!reason.contains("pass"), "{reason}");
        assert_eq!(latest(&store), []);
    }
    let store = SeriesStore::in_memory();
    runner(&store, &pages.url, &[]).read(&clock);
    assert_eq!(store.status().sources[0].state, SourceState::Watching);
    assert_eq!(latest(&store).len(), 1);
    pages.requests();
}

#[test]
fn an_unreachable_server_is_named() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let store = SeriesStore::in_memory();
    runner(&store, &format!("http://{address}"), &[]).read(&Clock::manual(0));
    let SourceState::Failed(reason) = store.status().sources[0].state.clone() else { panic!("not failed") };
    assert!(reason.contains(&format!("no answer from http://{address}/metrics: ")), "{reason}");
}

/// A probe with one series of each kind.
struct Two;

impl Probe for Two {
    fn source(&self) -> &str {
        "two"
    }

    fn interval_min(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn read(&mut self, reading: &mut Reading<'_>) -> Result<(), ProbeError> {
        let counter = Metric::counter("a_total", "Counts \"a\".");
        let gauge = Metric::gauge("b_ratio", "Share of b.");
        let series = reading.series(&counter, &[("device", "x\"y")]);
        reading.set(series, 1e9 + 1.0);
        let series = reading.series(&gauge, &[("source", "own")]);
        reading.set(series, 0.25);
        Ok(())
    }
}

#[test]
fn a_served_watch_can_be_scraped() {
    let store = SeriesStore::in_memory();
    let clock = Clock::manual(0);
    ProbeRunner::new(&store, Box::new(Two)).read(&clock);
    let text = exposition_text(&store.latest());
    let expected = "# HELP a_total Counts \"a\".\n# TYPE a_total counter\na_total{device=\"x\\\"y\",source=\"two\"} 1000000001\n\
                    # HELP b_ratio Share of b.\n# TYPE b_ratio gauge\nb_ratio{source=\"own\"} 0.25\n";
    assert_eq!(text, expected);

    let options = MetricsServerOptions {
        token: Some("secret".into()),
        age_max: Duration::from_secs(5),
        ..MetricsServerOptions::default()
    };
    assert!(!format!("{options:?}").contains("secret"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = MetricsServer::start(listener, store, clock.clone(), options).unwrap();
    let url = format!("http://{}", server.address());
    let scrape = |token: Option<&str>| {
        let options = FetchOptions { bearer_token: token.map(str::to_owned), ..FetchOptions::default() };
        let store = SeriesStore::in_memory();
        let probe = ScrapeProbe::new(&url, &options, MetricSelection::parse([]).unwrap()).unwrap();
        ProbeRunner::new(&store, Box::new(probe)).read(&clock);
        (latest(&store), store.status().sources[0].state.clone())
    };
    let (values, state) = scrape(Some("secret"));
    assert_eq!(state, SourceState::Watching);
    let values: Vec<_> = values.iter().map(|(name, value, _)| (name.as_str(), *value)).collect();
    assert_eq!(values, [("a_total{device=x\"y,source=two}", 1e9 + 1.0), ("b_ratio{source=own}", 0.25)]);
    for token in [None, Some("secre"), Some("secret2")] {
        let SourceState::Failed(reason) = scrape(token).1 else { panic!("{token:?} is accepted") };
        assert!(reason.contains("answered 401: send the token"), "{reason}");
    }
    clock.advance(Duration::from_secs(6));
    let SourceState::Failed(reason) = scrape(Some("secret")).1 else { panic!("old values are served") };
    assert!(reason.contains("has no metrics"), "{reason}");
}

#[test]
fn a_watch_is_served_with_encryption() {
    let tls =
        ServerTls::from_pem(include_bytes!("tls/certificate.pem"), include_bytes!("tls/key.pem")).unwrap();
    let store = SeriesStore::in_memory();
    let clock = Clock::manual(0);
    ProbeRunner::new(&store, Box::new(Two)).read(&clock);
    let options = MetricsServerOptions { tls: Some(tls), ..MetricsServerOptions::default() };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = MetricsServer::start(listener, store, clock.clone(), options).unwrap();
    let url = format!("https://localhost:{}", server.address().port());
    let scrape = |authorities: Option<Vec<u8>>| {
        let options = FetchOptions { authorities, ..FetchOptions::default() };
        let store = SeriesStore::in_memory();
        let probe = ScrapeProbe::new(&url, &options, MetricSelection::parse([]).unwrap()).unwrap();
        ProbeRunner::new(&store, Box::new(probe)).read(&clock);
        (latest(&store).len(), store.status().sources[0].state.clone())
    };
    assert_eq!(scrape(Some(include_bytes!("tls/authority.pem").to_vec())), (2, SourceState::Watching));
    let (_, SourceState::Failed(reason)) = scrape(None) else { panic!("an unknown authority is trusted") };
    assert!(reason.contains("no answer from https://localhost:"), "{reason}");
}
