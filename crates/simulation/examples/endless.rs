//! Simulates a model for a given number of events and prints the throughput, to measure the speed of the simulator.
//!
//! `cargo run --release -p busyhour-simulation --example endless -- mm1 20000000`
#![allow(clippy::print_stdout, reason = "a command-line program")]

use std::process::ExitCode;

use busyhour_queueing::network::{
    CustomerClass, PerClass, Place, Queue, QueueingNetwork, Route, Scheduling, Station, StationKind,
    Strategy, TimeLaw,
};
use busyhour_simulation::{SimulationSettings, simulate};

/// The models by name.
const MODELS: [(&str, fn() -> QueueingNetwork); 7] = [
    ("mm1", mm1),
    ("mm1-ps", || one_server(Scheduling::ProcessorSharing, 0.8)),
    ("priorities", || one_server(Scheduling::PriorityPreemptive, 0.8)),
    ("three-tiers", || closed(200, ["web", "app", "db"].map(|name| Station::queue(name, 2, 0.008)).to_vec())),
    ("shortest-of-16", shortest_queue),
    ("closed-10000", || closed(10_000, vec![Station::queue("app", 64, 0.005)])),
    ("100-classes", hundred_classes),
];

fn mm1() -> QueueingNetwork {
    QueueingNetwork::new(vec![CustomerClass::open("jobs", 0.75)], vec![Station::queue("server", 1, 1.0)])
}

fn one_server(scheduling: Scheduling, utilization: f64) -> QueueingNetwork {
    let service = PerClass::Same(TimeLaw::Exponential { mean_s: 1.0 });
    let queue = Queue { scheduling, ..Queue::new(1, service) };
    let rate_per_s = utilization / 2.0;
    let mut classes = vec![CustomerClass::open("gold", rate_per_s), CustomerClass::open("iron", rate_per_s)];
    classes[0].priority = 1;
    let station =
        Station { name: "server".into(), kind: StationKind::Queue(queue), visits: PerClass::Same(1.0) };
    QueueingNetwork::new(classes, vec![station])
}

fn closed(users: u64, stations: Vec<Station>) -> QueueingNetwork {
    QueueingNetwork::new(vec![CustomerClass::closed("users", users, 1.0)], stations)
}

fn shortest_queue() -> QueueingNetwork {
    let names: Vec<String> = (1..=16).map(|number| format!("server {number}")).collect();
    let stations = names.iter().map(|name| Station::queue(name, 1, 1.0)).collect();
    let mut network = QueueingNetwork::new(vec![CustomerClass::open("jobs", 14.0)], stations);
    let route = |from: Place, strategy: Strategy| Route { from, classes: Vec::new(), strategy };
    let places = names.iter().map(|name| Place::named(name)).collect();
    network.routes = vec![route(Place::Outside, Strategy::JoinShortestQueue(places))];
    for name in &names {
        network.routes.push(route(Place::named(name), Strategy::Random(vec![Place::Outside])));
    }
    network
}

fn hundred_classes() -> QueueingNetwork {
    let classes = (0..100).map(|number| CustomerClass::open(format!("class {number}"), 0.08)).collect();
    let stations = (0..10).map(|number| Station::queue(format!("station {number}"), 1, 0.1)).collect();
    QueueingNetwork::new(classes, stations)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let request = match arguments.as_slice() {
        [name, events] => {
            let model = MODELS.iter().find(|(known, _)| known == name);
            model.zip(events.parse::<u64>().ok()).map(|((_, model), events)| (model(), events))
        }
        _ => None,
    };
    let Some((network, events_max)) = request else {
        let names: Vec<&str> = MODELS.iter().map(|(name, _)| *name).collect();
        println!("usage: endless MODEL EVENTS; models: {}", names.join(", "));
        return ExitCode::from(2);
    };
    // The precision is never reached, so that all events are simulated.
    let settings = SimulationSettings {
        precision: 1e-9,
        replications: 1,
        threads: Some(1),
        events_max,
        ..SimulationSettings::default()
    };
    match simulate(&network, &settings) {
        Ok(found) => {
            let rate: f64 =
                found.classes.iter().filter_map(|class| class.throughput_per_s).map(|rate| rate.value).sum();
            println!("{} events, X = {rate}", found.events);
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
