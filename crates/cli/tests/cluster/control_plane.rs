//! Measures the cost of the control plane with many simulated agents. It checks nothing and prints a table.
//!
//! ```text
//! SIMULATED_AGENTS=10,100,300,1000 cargo test --release -p busyhour-cli --test cluster -- --nocapture control_plane
//! ```
//!
//! The environment variables `SIMULATED_AGENTS` (default: `10,100,300,1000`), `SIMULATED_SECONDS` (60), `SIMULATED_LABELS` (20) and
//! `SIMULATED_RATE` (100 requests per second of each agent) change the measurement.

use std::io::Write as _;
use std::time::Duration;

use busyhour_cluster::Invitation;
use busyhour_cluster::simulated::{SimulatedAgents, SimulatedLoad, SimulatedSettings};

use crate::cost::Cost;
use crate::processes::{Process, Site};

/// The child of a process.
fn child(pid: u32) -> u32 {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let children = std::fs::read_to_string(path).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

/// The measured cost for a number of agents.
struct Measured {
    controller: Phases,
    server: Phases,
    late_seconds: u64,
    losses: usize,
    clock_bound_ms: f64,
    bytes: u64,
    samples: u64,
}

/// The cost at the start of the load, at its end, and at the end of the process.
#[derive(Default)]
struct Phases {
    started: Cost,
    loaded: Cost,
    ended: Cost,
}

/// Follows the costs of controller and server until the controller has ended.
fn follow(run: &mut Process, server: u32) -> (Phases, Phases) {
    let (mut controller, mut nats) = (Phases::default(), Phases::default());
    let (mut has_started, mut has_loaded) = (false, false);
    while run.child.try_wait().unwrap().is_none() {
        let said = run.err();
        let (own, other) = (Cost::of(run.child.id()), Cost::of(server));
        let (Some(own), Some(other)) = (own, other) else { continue };
        if !has_started {
            has_started = said.contains("agents start together");
            (controller.started, nats.started) = (own, other);
        }
        if !has_loaded {
            has_loaded = said.contains("stays there");
            (controller.loaded, nats.loaded) = (own, other);
        }
        if own.cpu_s > 0.0 {
            (controller.ended, nats.ended) = (own, other);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    (controller, nats)
}

fn measure(agents: usize, load: SimulatedLoad) -> Option<Measured> {
    let site = Site::start(0)?;
    let invitation = Invitation::read(&site.dir().join("hub/agent.json").display().to_string()).unwrap();
    let settings = SimulatedSettings { invitation, agents, load, dir: None };
    let _agents = SimulatedAgents::start(settings, eprintln).unwrap();
    let (url, number) = (site.url(), agents.to_string());
    let mut run =
        site.run(&[&url, "--rate", "1000/s", "--for", "60s", "--agents", &number, "--leave-records"]);
    let (controller, server) = follow(&mut run, child(site.hub.child.id()));
    let status = run.ends();
    if status.code() != Some(0) {
        let err = run.err();
        let shown: Vec<&str> = err.lines().filter(|line| !line.contains("stays there")).take(12).collect();
        eprintln(&format!("{agents} agents: {status}\n{}", shown.join("\n")));
    }
    let cluster = site.json("run/cluster.json");
    let members = cluster["agents"].as_array().unwrap();
    let bounds = members.iter().flat_map(|agent| agent["clock"]["offsets"].as_array().unwrap());
    let bound_ns = bounds.map(|offset| offset["bound_ns"].as_f64().unwrap()).fold(0.0, f64::max);
    let files = std::fs::read_dir(site.dir().join("run/agents")).unwrap().flatten();
    let seconds = files.filter(|file| file.path().extension().is_some_and(|end| end == "seconds"));
    Some(Measured {
        controller,
        server,
        late_seconds: cluster["late_seconds"].as_u64().unwrap(),
        losses: members.iter().map(|agent| agent["losses"].as_array().map_or(0, Vec::len)).sum(),
        clock_bound_ms: bound_ns / 1e6,
        bytes: seconds.map(|file| file.metadata().unwrap().len()).sum(),
        samples: members.iter().map(|agent| agent["samples"].as_u64().unwrap()).sum(),
    })
}

fn eprintln(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn variable(name: &str, default: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| default.to_owned())
}

/// A measurement of several minutes for docs/cluster.md.
#[test]
fn control_plane() {
    let Ok(numbers) = std::env::var("SIMULATED_AGENTS") else {
        return eprintln("SKIPPED: SIMULATED_AGENTS=10,100,300,1000 measures the cost of the control plane");
    };
    let number = |name: &str, default: &str| variable(name, default).parse::<u32>().unwrap();
    let load = SimulatedLoad {
        seconds: number("SIMULATED_SECONDS", "60").into(),
        labels: number("SIMULATED_LABELS", "20"),
        rate: number("SIMULATED_RATE", "100"),
        seed: 1,
    };
    eprintln(
        "| agents | controller, start | per second of load | results | memory | server, per second | memory | bytes/s | late | losses | clocks |",
    );
    eprintln("|---|---|---|---|---|---|---|---|---|---|---|");
    for agents in numbers.split(',') {
        let agents: usize = agents.trim().parse().unwrap();
        let Some(measured) = measure(agents, load.clone()) else { return };
        let per_second =
            |phases: &Phases| 1_000.0 * (phases.loaded.cpu_s - phases.started.cpu_s) / load.seconds as f64;
        let Measured { controller, server, .. } = &measured;
        eprintln(&format!(
            "| {agents} | {:.2} s | {:.1} ms | {:.2} s | {:.0} MB | {:.1} ms | {:.0} MB | {:.0} | {} | {} | {:.2} ms |",
            controller.started.cpu_s,
            per_second(controller),
            controller.ended.cpu_s - controller.loaded.cpu_s,
            controller.ended.memory_mb,
            per_second(server),
            server.ended.memory_mb,
            measured.bytes as f64 / load.seconds as f64,
            measured.late_seconds,
            measured.losses,
            measured.clock_bound_ms,
        ));
        let expected = agents as u64 * load.seconds * u64::from(load.rate);
        if measured.samples != expected {
            eprintln(&format!("{agents} agents: {} samples of {expected}", measured.samples));
        }
    }
}
