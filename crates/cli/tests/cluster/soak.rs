//! Runs with random faults, one after the other, for a long time. It prints a table.
//!
//! ```text
//! SOAK_SECONDS=1800 cargo test -p busyhour-cli --test cluster -- --nocapture soak
//! ```
//!
//! After each run, every request that the server counted must be in the results. Only requests of the last, unreported seconds of
//! an agent that was killed may be missing.

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use rustix::process::Signal;

use crate::processes::{Process, Site, start_hub};
use crate::relay::Link;

const AGENTS: usize = 4;

/// Requests per second of a run, and its length in seconds.
const RATE: u64 = 80;
const LENGTH_S: u64 = 120;

/// Faults begin in this part of the run, so that the last one is over before its end.
const FAULTS_S: std::ops::Range<u64> = 5..80;

/// Seconds of an agent that are lost at most when it is killed: the current one and those on their way.
const UNREPORTED_S: u64 = 3;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Kill(usize),
    Pause(usize, u64),
    RestartServer,
    CutConnections,
}

/// The faults of a run and the pauses before them in seconds. At most one agent is killed.
fn faults(random: &mut StdRng) -> Vec<(u64, Fault)> {
    let mut faults = Vec::new();
    let mut at = FAULTS_S.start;
    let mut was_killed = false;
    while at < FAULTS_S.end {
        let agent = random.random_range(0..AGENTS);
        let fault = match random.random_range(0..4) {
            0 if !was_killed => Fault::Kill(agent),
            0 | 1 => Fault::Pause(agent, random.random_range(1..=30)),
            2 => Fault::RestartServer,
            _ => Fault::CutConnections,
        };
        was_killed |= matches!(fault, Fault::Kill(_));
        faults.push((at, fault));
        at += random.random_range(8..20) + if let Fault::Pause(_, seconds) = fault { seconds } else { 0 };
    }
    faults
}

/// Half of the agents reach the hub over a relay.
fn start(link: &Arc<Link>) -> Option<Site> {
    let mut site = Site::start(AGENTS / 2)?;
    let mut invitation = site.json("hub/agent.json");
    let url = invitation["url"].as_str().unwrap().to_owned();
    let hub = url.split_once("://").unwrap().1.parse().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    invitation["url"] = format!("tls://{}", listener.local_addr().unwrap()).into();
    link.relay(listener, hub, None);
    std::fs::write(site.dir().join("relayed.json"), invitation.to_string()).unwrap();
    for number in AGENTS / 2 + 1..=AGENTS {
        let agent = start_agent(&site, number);
        site.agents.push(agent);
    }
    Some(site)
}

/// Starts the agent number `number` (from 1) and waits until it is ready.
fn start_agent(site: &Site, number: usize) -> Process {
    let (name, dir) = (format!("agent{number}"), format!("work{number}"));
    let invitation = if number > AGENTS / 2 { "relayed.json" } else { "hub/agent.json" };
    let arguments =
        ["cluster", "agent", "--join", invitation, "--name", &name, "--dir", &dir, "--cores", "1"];
    let mut agent = site.process(&name, &arguments);
    agent.says("is waiting for work");
    agent
}

fn inject(site: &mut Site, link: &Link, fault: Fault) {
    match fault {
        Fault::Kill(agent) => {
            let _ = site.agents[agent].child.kill();
            let _ = site.agents[agent].child.wait();
            // It takes no part in the run any more.
            site.agents[agent] = start_agent(site, agent + 1);
        }
        Fault::Pause(agent, seconds) => {
            site.agents[agent].signal(Signal::STOP);
            std::thread::sleep(Duration::from_secs(seconds));
            site.agents[agent].signal(Signal::CONT);
        }
        Fault::RestartServer => {
            let address = site.json("hub/controller.json")["url"].as_str().unwrap().to_owned();
            let port: u16 = address.rsplit_once(':').unwrap().1.parse().unwrap();
            site.hub.signal(Signal::TERM);
            site.hub.ends();
            site.hub = start_hub(site.room.path(), port);
        }
        Fault::CutConnections => link.cut(),
    }
}

fn follow(run: &mut Process, site: &mut Site, link: &Link, faults: &[(u64, Fault)]) {
    run.says("4 agents start together");
    let start = Instant::now();
    for (at, fault) in faults {
        std::thread::sleep(Duration::from_secs(*at).saturating_sub(start.elapsed()));
        inject(site, link, *fault);
    }
    while run.child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// A measurement for docs/cluster.md.
#[test]
fn soak() {
    let mut err = std::io::stderr();
    let Ok(seconds) = std::env::var("SOAK_SECONDS") else {
        let _ = writeln!(err, "SKIPPED: SOAK_SECONDS=1800 executes runs with random faults for half an hour");
        return;
    };
    let seconds: u64 = seconds.parse().unwrap();
    let seed: u64 = std::env::var("SOAK_SEED").map_or(33, |text| text.parse().unwrap());
    let _ =
        writeln!(err, "| run | faults | requests at the server | samples | missing | allowed | exit code |");
    let _ = writeln!(err, "|---|---|---|---|---|---|---|");
    let begin = Instant::now();
    let (mut number, mut wrong) = (0, Vec::new());
    while begin.elapsed() < Duration::from_secs(seconds) {
        number += 1;
        let mut random = StdRng::seed_from_u64(seed + number);
        let faults = faults(&mut random);
        let link = Arc::<Link>::default();
        let Some(mut site) = start(&link) else { return };
        let (url, rate, length) = (site.url(), format!("{RATE}/s"), format!("{LENGTH_S}s"));
        let mut run = site.run(&[&url, "--rate", &rate, "--for", &length, "--agent-lease", "60s"]);
        follow(&mut run, &mut site, &link, &faults);
        let exit = run.ends().code();
        let requests = site.server.take_requests().len() as u64;
        let samples = site.json("run/summary.json")["total"]["samples"].as_u64().unwrap();
        let was_killed = faults.iter().any(|(_, fault)| matches!(fault, Fault::Kill(_)));
        let allowed = u64::from(was_killed) * UNREPORTED_S * RATE / AGENTS as u64;
        let missing = i128::from(requests) - i128::from(samples);
        let _ = writeln!(
            err,
            "| {number} | {faults:?} | {requests} | {samples} | {missing} | {allowed} | {} |",
            exit.map_or("signal".to_owned(), |code| code.to_string())
        );
        if !(0..=i128::from(allowed)).contains(&missing) {
            wrong.push(number);
            let _ = writeln!(err, "{}", run.err());
        }
    }
    assert!(wrong.is_empty(), "requests of the runs {wrong:?} are not accounted for");
}
