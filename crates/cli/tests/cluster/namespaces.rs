//! Faults of networks and disks: agents in network namespaces of their own.
//!
//! These tests need root, `ip` and `mount`; elsewhere they are skipped with a message.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;

use crate::network::Network;
use crate::processes::{code, wait_for};
use crate::relay::Link;

/// Number of samples in the results of the run.
fn total(network: &Network) -> u64 {
    network.json("run/summary.json")["total"]["samples"].as_u64().unwrap()
}

/// A fact of an agent in `cluster.json`; agents are numbered from 1.
fn fact(network: &Network, agent: usize, name: &str) -> Value {
    network.json("run/cluster.json")["agents"][agent - 1][name].clone()
}

fn start(agents: usize) -> Option<Network> {
    let mut network = Network::start(agents)?;
    for number in 1..=agents {
        network.add_agent(number, "hub/agent.json");
    }
    Some(network)
}

#[test]
fn an_agent_that_is_cut_off_for_some_seconds_returns_and_nothing_is_lost() {
    let Some(network) = start(2) else { return };
    let mut run = network.run(&["--rate", "50/s", "--for", "16s"]);
    run.says("2 agents start together");
    network.wait_for_seconds("agent2", 2);
    network.set_connected(2, false);
    run.says("the agent agent2 is lost since");
    network.wait_for_seconds("agent1", 6);
    network.set_connected(2, true);
    run.says("the agent agent2 is back");
    assert_eq!(code(&mut run), 0, "{}", run.err());
    assert_eq!(total(&network), network.server.take_requests().len() as u64);
    assert!(network.json("run/run.json")["notes"].to_string().contains("agent-silent"));
    assert_eq!(fact(&network, 2, "losses").as_array().unwrap().len(), 1);
}

#[test]
fn an_agent_that_is_cut_off_longer_than_its_lease_stops_and_keeps_its_record() {
    let Some(mut network) = start(2) else { return };
    let mut run = network.run(&["--rate", "50/s", "--for", "11s", "--agent-lease", "3s"]);
    run.says("2 agents start together");
    network.wait_for_seconds("agent2", 2);
    network.set_connected(2, false);
    network.agents[1].says("the run is stopped");
    network.agents[1].says("its records remain in");
    assert_eq!(code(&mut run), 12, "{}", run.err());
    assert!(
        run.err().contains("a part of the load is missing: the share 2/2 of the agent agent2"),
        "{}",
        run.err()
    );
    let runs = std::fs::read_dir(network.room.path().join("work2")).unwrap().flatten();
    let record = runs.map(|run| run.path().join("record")).find(|path| path.is_dir()).unwrap();
    let kept = network.execute(&["report", "--json", &record.display().to_string()]);
    let kept: Value = serde_json::from_str(&kept).unwrap();
    let kept = kept["total"]["samples"].as_u64().unwrap();
    let (first, second) = (fact(&network, 1, "samples"), fact(&network, 2, "samples"));
    assert!(kept >= second.as_u64().unwrap(), "{kept} {second}");
    // All requests are in one of the two records.
    assert_eq!(first.as_u64().unwrap() + kept, network.server.take_requests().len() as u64);
}

#[test]
fn over_a_slow_link_records_are_complete_and_the_clock_is_known_less_exactly() {
    let Some(mut network) = Network::start(2) else { return };
    let link = Link::slow(Duration::from_millis(100), 100_000);
    let relayed = network.relay_hub(&link);
    network.add_agent(1, "hub/agent.json");
    network.add_agent(2, relayed);
    let mut run = network.run(&["--rate", "40/s", "--for", "9s"]);
    run.says("2 agents start together");
    network.wait_for_seconds("agent1", 2);
    link.set_stalled(true);
    run.says("the agent agent2 is lost since");
    network.wait_for_seconds("agent1", 1);
    link.set_stalled(false);
    assert_eq!(code(&mut run), 0, "{}", run.err());
    assert_eq!(total(&network), network.server.take_requests().len() as u64);
    let problems = [1, 2].map(|agent| fact(&network, agent, "problem"));
    assert_eq!(problems, ["", ""]);
    let bound = |agent: usize| {
        let offsets = fact(&network, agent, "clock")["offsets"].clone();
        offsets.as_array().unwrap().iter().map(|offset| offset["bound_ns"].as_i64().unwrap()).max().unwrap()
    };
    // A message and its answer are delayed by 100 ms each, so that the offset is known to half of that.
    assert!(bound(2) >= 100_000_000, "{}", bound(2));
    assert!(network.json("run/run.json")["notes"].to_string().contains("clock-bound"));
}

#[test]
fn a_full_disk_on_an_agent_is_named_and_the_others_are_complete() {
    let Some(mut network) = Network::start(2) else { return };
    if let Err(reason) = network.limit_disk("work2", 4 << 20) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: no file system can be mounted: {reason}");
        return;
    }
    network.add_agent(1, "hub/agent.json");
    network.add_agent(2, "hub/agent.json");
    let mut run = network.run(&["--rate", "200/s", "--for", "8s"]);
    run.says("2 agents start together");
    network.wait_for_seconds("agent2", 2);
    fill_disk(&network);
    run.says("agent2: results cannot be written");
    assert_eq!(code(&mut run), 5, "{}", run.err());
    assert!(run.err().contains("agent2: some of its results could not be written there"), "{}", run.err());
    assert_eq!(fact(&network, 1, "problem"), "");
    assert_ne!(fact(&network, 2, "problem"), "", "{}", run.err());
    let (first, second) = (fact(&network, 1, "samples"), fact(&network, 2, "samples"));
    let (first, second) = (first.as_u64().unwrap(), second.as_u64().unwrap());
    // The samples that could not be written come from the seconds that the agent sent.
    assert_eq!(first + second, network.server.take_requests().len() as u64);
    assert!(network.json("run/run.json")["notes"].to_string().contains("agent-record"));
    // The record of the first agent agrees with its own count of arrivals.
    let id = fact(&network, 1, "id").as_str().unwrap().to_owned();
    let record = network.json(&format!("run/agents/{id}/run.json"));
    assert_eq!(record["outcome"]["arrivals"]["begun"], first, "{record}");
    assert!(second > 0);
}

/// Fills the file system of the second agent.
fn fill_disk(network: &Network) {
    let mut filler = std::fs::File::create(network.room.path().join("work2/filler")).unwrap();
    while filler.write_all(&[1; 4_096]).is_ok() {}
    while filler.write_all(&[1]).is_ok() {}
}

/// Reports whose acknowledgement is lost are sent again; they count once.
#[test]
fn reports_that_are_repeated_over_cut_connections_count_once() {
    let Some(mut network) = Network::start(2) else { return };
    let link = Arc::<Link>::default();
    let relayed = network.relay_hub(&link);
    network.add_agent(1, relayed);
    network.add_agent(2, relayed);
    let mut run = network.run(&["--rate", "100/s", "--for", "10s"]);
    run.says("2 agents start together");
    let connections = link.accepted.load(Ordering::Relaxed);
    let mut random = StdRng::seed_from_u64(20_261_128);
    for _ in 0..6 {
        let at = link.bytes.load(Ordering::Relaxed) + random.random_range(500..6_000);
        wait_for("bytes", || (link.bytes.load(Ordering::Relaxed) >= at).then_some(()));
        link.cut();
    }
    assert_eq!(code(&mut run), 0, "{}", run.err());
    assert!(link.accepted.load(Ordering::Relaxed) >= connections + 6);
    assert_eq!(total(&network), network.server.take_requests().len() as u64);
}
