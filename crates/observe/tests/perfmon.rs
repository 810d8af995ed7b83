//! The PerfMon agent and the collector, connected over TCP.
#![cfg(target_os = "linux")]

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use busyhour_observe::ProcRoot;
use busyhour_observe::perfmon::client_session::MetricRow;
use busyhour_observe::perfmon::sample::PerfMonSample;
use busyhour_observe::perfmon::{AgentServer, PerfMonCollector};
use busyhour_program::clock::Clock;

/// Maximum time to wait for a sample.
const WAIT: Duration = Duration::from_secs(60);

fn row(port: u16, metric: &str, parameters: &str) -> MetricRow {
    MetricRow { host: "127.0.0.1".into(), port, metric: metric.into(), parameters: parameters.into() }
}

fn collect(rows: &[MetricRow]) -> (PerfMonCollector, Receiver<PerfMonSample>) {
    let (send, samples) = channel();
    let sink = Box::new(move |_: &str, sample: &PerfMonSample| drop(send.send(sample.clone())));
    let collector = PerfMonCollector::start(rows, PerfMonCollector::interval(500), &Clock::start(), sink);
    (collector.expect("threads can be started"), samples)
}

#[test]
fn values_of_this_machine_arrive() {
    let (problems, reported) = channel();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let sink = Box::new(move |problem: &_| drop(problems.send(format!("{problem}"))));
    let agent = AgentServer::start(listener, ProcRoot::default(), Clock::start(), sink).unwrap();
    let port = agent.address().port();
    let rows = [row(port, "CPU", "idle"), row(port, "Memory", "usedperc"), row(port, "EXEC", "/bin/true")];
    let (collector, samples) = collect(&rows);
    let mut found = [false; 3];
    while found != [true; 3] {
        let sample = samples.recv_timeout(WAIT).expect("a sample arrives");
        let at = rows.iter().position(|row| row.label() == sample.label).expect("a label of the table");
        found[at] = true;
        if at == 2 {
            let expected = "java.lang.NumberFormatException: For input string: \"exec is refused: this agent runs no programs\"";
            assert_eq!((sample.elapsed, sample.error.as_deref()), (-1000, Some(expected)));
        } else {
            assert!((0..=100_000).contains(&sample.elapsed) && sample.error.is_none(), "{sample:?}");
        }
    }
    collector.stop();
    drop(agent);
    let reported: Vec<String> = reported.iter().collect();
    assert_eq!(reported, ["metric `exec:/bin/true`: exec is refused: this agent runs no programs"]);
}

#[test]
fn an_unreachable_agent_yields_failed_samples_until_it_starts() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let (collector, samples) = collect(&[row(address.port(), "Memory", ""), row(address.port(), "Swap", "")]);
    for _ in 0..4 {
        let sample = samples.recv_timeout(WAIT).expect("a sample arrives");
        let expected = "java.net.ConnectException: Connection refused";
        assert_eq!((sample.label.as_str(), sample.error.as_deref()), (expected, Some(expected)));
        assert_eq!(sample.elapsed, -1000);
    }
    let Ok(listener) = TcpListener::bind(address) else {
        // Another process has taken the port since.
        return;
    };
    let agent = AgentServer::start(
        listener,
        ProcRoot::default(),
        Clock::start(),
        Box::new(|problem| panic!("{problem}")),
    );
    let agent = agent.unwrap();
    while samples.recv_timeout(WAIT).expect("a sample arrives").error.is_some() {}
    drop(agent);
    while samples.recv_timeout(WAIT).expect("a sample arrives").error.is_none() {}
    collector.stop();
}
