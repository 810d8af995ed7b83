//! Sessions with recorded files of the system.

use super::*;
use crate::proc_root::ProcRoot;

struct Agent {
    dir: tempfile::TempDir,
    root: ProcRoot,
    session: AgentSession,
}

impl Agent {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("proc")).unwrap();
        let root = ProcRoot::recorded(dir.path());
        let agent = Agent { dir, root, session: AgentSession::default() };
        agent.write("stat", "cpu  100 0 0 100 0 0 0 0 0 0\n");
        agent.write("meminfo", "MemTotal: 4096 kB\nMemFree: 1024 kB\nMemAvailable: 2048 kB\n");
        agent
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.dir.path().join("proc").join(file), text).unwrap();
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<AgentAction> {
        let mut actions = Vec::new();
        self.session.receive(bytes, &SystemCounters::new(&self.root, Duration::ZERO), &mut actions);
        actions
    }

    fn values(&mut self, seconds: u64) -> String {
        self.session.values_line(&SystemCounters::new(&self.root, Duration::from_secs(seconds)))
    }
}

fn problems(actions: &[AgentAction]) -> Vec<String> {
    let problem = |action: &AgentAction| match action {
        AgentAction::Problem(problem) => Some(problem.to_string()),
        _ => None,
    };
    actions.iter().filter_map(problem).collect()
}

#[test]
fn the_exchange_with_jmeter() {
    let mut agent = Agent::new();
    assert_eq!(agent.receive(b"te"), []);
    assert_eq!(agent.receive(b"st\n"), [AgentAction::Send("Yep\n".to_owned())]);
    assert_eq!(agent.session.interval(), None);
    assert_eq!(agent.receive(b"interval:2\nmetrics:memory:used:unit=mb\tcpu:\t\n"), []);
    assert_eq!(agent.session.interval(), Some(Duration::from_secs(2)));
    agent.write("stat", "cpu  130 0 0 110 0 0 0 0 0 0\n");
    assert_eq!(agent.values(2), "3.0\t75.0\t\n");
    agent.write("stat", "gone");
    let line = agent.values(4);
    assert!(line.starts_with("3.0\t") && line.ends_with("stat has no line `cpu`\t\n"), "{line}");
    agent.write("stat", "cpu  140 0 0 130 0 0 0 0 0 0\n");
    assert!(agent.values(6).starts_with("3.0\t33.33"), "the interval began at the last value");
    assert_eq!(agent.receive(b"exit\n"), [AgentAction::Close]);
}

#[test]
fn a_single_line_has_no_rates() {
    let mut agent = Agent::new();
    assert_eq!(agent.receive(b"metrics-single:cpu:\tmemory:\n"), [AgentAction::SendValues]);
    assert_eq!(agent.values(0), "\t50.0\t\n");
    assert_eq!(agent.session.interval(), None);
}

#[test]
fn refused_metrics_have_their_reason_in_the_line() {
    let mut agent = Agent::new();
    let actions = agent.receive(b"metrics:exec:/bin/sh\tmemory:\tjmx:gc-time\ttail:/etc/shadow\t\n");
    assert_eq!(
        problems(&actions),
        [
            "metric `exec:/bin/sh`: exec is refused: this agent runs no programs",
            "metric `jmx:gc-time`: jmx is not supported; watch the JVM with busyhour observe",
            "metric `tail:/etc/shadow`: tail is refused: this agent reads no files for clients",
        ]
    );
    assert_eq!(
        agent.values(1),
        "exec is refused: this agent runs no programs\t50.0\tjmx is not supported; watch the JVM with busyhour observe\t\
         tail is refused: this agent reads no files for clients\t\n"
    );
}

#[test]
fn bad_commands_are_reported_and_ignored() {
    let mut agent = Agent::new();
    for (command, expected) in [
        ("shutdown\n", "`shutdown` is refused: stop this agent where it was started"),
        ("udp-transmitter:host:1:cpu\n", "`udp-transmitter` is not supported; use TCP"),
        ("interval:soon\n", "bad interval `soon`"),
        ("GET / HTTP/1.1\r\n", "unknown command `GET / HTTP/1.1`"),
    ] {
        assert_eq!(problems(&agent.receive(command.as_bytes())), [expected]);
    }
    assert_eq!(agent.receive(b"\n\r\nmetrics:\n"), []);
    assert_eq!(agent.session.interval(), None);
    assert_eq!(agent.receive(b"test\r\n"), [AgentAction::Send("Yep\n".to_owned())]);
}

#[test]
fn clients_cannot_use_unlimited_memory() {
    let mut agent = Agent::new();
    let actions = agent.receive(&vec![b'x'; 1 << 20]);
    assert_eq!(problems(&actions), ["a line of the protocol is longer than 65536 bytes"]);
    assert_eq!(actions.last(), Some(&AgentAction::Close));
    let many = format!("metrics:{}\n", "swap\t".repeat(5_000));
    assert_eq!(problems(&agent.receive(many.as_bytes())), ["more than 1000 metrics"]);
    assert_eq!(agent.receive(b"interval:99999999\nmetrics:swap\n"), []);
    assert_eq!(agent.session.interval(), Some(INTERVAL_MAX));
}
