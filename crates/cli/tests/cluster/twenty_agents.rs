//! Measures a run on 20 agents, each in a network namespace of its own, against a local run. It prints a table.
//!
//! ```text
//! TWENTY_AGENTS=1 cargo test -p busyhour-cli --test cluster -- --nocapture twenty_agents
//! ```
//!
//! Both runs have the same Poisson arrivals at a server that logs them; the report compares them with the log of the server.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::cost::Cost;
use crate::network::Network;
use crate::processes::{Process, code};

const AGENTS: usize = 20;

const ARRIVALS: &str = "poisson(400/s) for 20s";

/// The format of the log: address, start in µs, duration in µs, request line, status, bytes.
const LOG_FORMAT: &str = "%h %{usec}t %D \"%r\" %>s %b";

/// The lines of the log of the server.
type Log = Arc<Mutex<Vec<String>>>;

/// Answers the requests of all connections of a listener. The threads end with the process.
fn serve(listener: TcpListener, log: &Log) {
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let log = Arc::clone(&log);
            std::thread::spawn(move || answer(&connection, &log));
        }
    });
}

fn answer(connection: &TcpStream, log: &Log) {
    let _ = connection.set_nodelay(true);
    let mut input = BufReader::new(connection);
    let mut line = String::new();
    while input.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        let (start, since) = (SystemTime::now().duration_since(UNIX_EPOCH).unwrap(), Instant::now());
        let request = line.trim_end().to_owned();
        loop {
            line.clear();
            if !input.read_line(&mut line).is_ok_and(|bytes| bytes > 0) || line.trim_end().is_empty() {
                break;
            }
        }
        let mut output = connection;
        if output.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err() {
            return;
        }
        let (start, took) = (start.as_micros(), since.elapsed().as_micros());
        log.lock().unwrap().push(format!("127.0.0.1 {start} {took} \"{request}\" 200 2"));
        line.clear();
    }
}

/// The comparison of a run with the log of the server.
fn compare(network: &Network, log: &Log, dir: &str) -> Value {
    let lines = std::mem::take(&mut *log.lock().unwrap());
    std::fs::write(network.room.path().join("access.log"), lines.join("\n") + "\n").unwrap();
    let arguments =
        ["report", dir, "--json", "--server-log", "access.log", "--server-log-format", LOG_FORMAT];
    serde_json::from_str(&network.execute(&arguments)).unwrap()
}

fn eprintln(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// CPU time of a process when it ends, in s.
fn cpu_until_end(run: &mut Process) -> f64 {
    let mut cpu_s = 0.0;
    while run.child.try_wait().unwrap().is_none() {
        if let Some(cost) = Cost::of(run.child.id()) {
            cpu_s = cost.cpu_s;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    cpu_s
}

fn print(what: &str, summary: &Value, cpu_s: f64) {
    let requests = summary["total"]["samples"].as_f64().unwrap();
    eprintln(&format!(
        "{what}: {requests} requests, {:.0} µs of CPU time per request",
        1e6 * cpu_s / requests
    ));
    let claims = summary["claims"].as_array().unwrap().iter().map(|claim| claim.to_string());
    for claim in claims.filter(|claim| claim.contains("rrival")) {
        eprintln(&format!("  {claim}"));
    }
    eprintln(&format!("  {}", summary["server_log"]));
}

/// A measurement for docs/cluster.md.
#[test]
fn twenty_agents() {
    if std::env::var_os("TWENTY_AGENTS").is_none() {
        return eprintln("SKIPPED: TWENTY_AGENTS=1 measures 20 agents in network namespaces");
    }
    let Some(mut network) = Network::start(AGENTS) else { return };
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let log = Log::default();
    network.listen_everywhere(port).into_iter().for_each(|listener| serve(listener, &log));
    for number in 1..=AGENTS {
        network.add_agent(number, "hub/agent.json");
    }
    let url = format!("http://127.0.0.1:{port}/");
    let common = ["run", &url, "--arrivals", ARRIVALS, "--observe", "none", "--seed", "33", "--dir"];

    let mut local = network.process("local", &[&common[..], &["local", "--cores", "1"]].concat());
    let local_cpu_s = cpu_until_end(&mut local);
    assert_eq!(code(&mut local), 0, "{}", local.err());
    let summary = compare(&network, &log, "local");
    print("local", &summary, local_cpu_s);

    let cpu = |network: &Network| -> f64 {
        network.agents.iter().filter_map(|agent| Cost::of(agent.child.id())).map(|cost| cost.cpu_s).sum()
    };
    let before = cpu(&network);
    let on = [&common[..], &["run", "--on", "hub/controller.json"]].concat();
    let mut run = network.process("run", &on);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    let agents_cpu_s = cpu(&network) - before;
    let summary = compare(&network, &log, "run");
    print("20 agents", &summary, agents_cpu_s);
}
