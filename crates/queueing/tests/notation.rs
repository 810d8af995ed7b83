//! The notation of networks: networks round-trip through it, and validation reports inconsistencies.

use busyhour_queueing::network::{Place, QueueingNetwork, StationKind, Strategy};
use serde_json::{Value, json};

fn read(value: Value) -> serde_json::Result<QueueingNetwork> {
    serde_json::from_value(value)
}

fn read_error(value: Value) -> String {
    read(value).unwrap_err().to_string()
}

fn network_with_all_features() -> Value {
    json!({
        "version": 1,
        "name": "all of it",
        "class": [
            { "name": "web", "users": 10, "think": "erlang(2s, 3)", "priority": 2 },
            { "name": "api", "rate": "20/s" },
            { "name": "batch", "interarrival": "mmpp2(1, 9, 0.5, 2)" },
        ],
        "station": [
            { "name": "a", "servers": 2, "scheduling": "dps", "weights": { "web": 3 }, "service": "50ms" },
            { "name": "b", "service": { "web": "10ms", "api": "uniform(1ms, 3ms)" }, "visits": 1.0,
              "capacity": 5, "when-full": "block" },
            { "name": "c", "demand": 0.25, "speeds": [1, 1.5] },
            { "name": "d", "kind": "delay", "service": "lognormal(1s, cv=2)" },
            { "name": "f", "kind": "fork", "to": ["a", "b"], "tasks": 2 },
            { "name": "j", "kind": "join" },
            { "name": "r", "kind": "router" },
            { "name": "s", "kind": "class-switch", "switch": { "api": { "api": 0.5, "batch": 0.5 } } },
            { "name": "p", "scheduling": "priority-preemptive", "service": 1 },
        ],
        "route": [
            { "from": "outside", "to": "r" },
            { "from": "r", "classes": ["web"], "to": ["a", "b"], "strategy": "power-of-k", "k": 2, "with-memory": true },
            { "from": "r", "to": { "a": 1, "b": 3 }, "strategy": "weighted-round-robin" },
            { "from": "a", "to": { "outside": 0.25, "c": 0.75 } },
            { "from": "c", "strategy": "load-dependent",
              "ranges": [{ "from": 1, "to": { "a": 1 } }, { "from": 5, "to": { "outside": 1 } }] },
            { "from": "b", "to": ["a", "c"], "strategy": "join-shortest-queue" },
        ],
    })
}

#[test]
fn networks_round_trip_through_their_notation() {
    let network = read(network_with_all_features()).unwrap();
    let again = read(serde_json::to_value(&network).unwrap()).unwrap();
    assert_eq!(again, network);
    assert_eq!(network.classes[1].rate_per_s(), Some(20.0));
    assert!((network.classes[0].think_s().unwrap() - 2.0).abs() < 1e-12);
    assert!((network.stations[2].service("web").unwrap().mean_s() - 0.25).abs() < 1e-12);
    assert_eq!(network.stations[1].service("batch"), None);
    let strategy = |class| &network.route(&Place::named("r"), class).unwrap().strategy;
    assert!(matches!(strategy("web"), Strategy::PowerOfK { k: 2, with_memory: true, .. }));
    assert!(matches!(strategy("api"), Strategy::WeightedRoundRobin(_)));
}

#[test]
fn invalid_keys_are_rejected() {
    let station = |station: Value| {
        read_error(json!({ "version": 1, "class": [{ "name": "c", "users": 1 }], "station": [station] }))
    };
    assert_eq!(
        station(json!({ "name": "d", "kind": "delay", "service": 1, "servers": 2 })),
        "the station \"d\" has the key `servers`, which is valid for the kind queue only"
    );
    assert!(station(json!({ "name": "q" })).contains("has no service time"));
    assert!(station(json!({ "name": "q", "demand": 1, "visits": 2 })).contains("a demand covers all visits"));
    assert!(station(json!({ "name": "q", "service": 1, "when-full": "drop" })).contains("no `capacity`"));
    assert!(station(json!({ "name": "q", "service": 1, "weights": { "c": 1 } })).contains("is not \"dps\""));
    assert!(station(json!({ "name": "q", "service": "5 apples" })).contains("not a unit of time"));
    let class = |class: Value| read_error(json!({ "version": 1, "class": [class] }));
    assert!(class(json!({ "name": "c" })).contains("has no load"));
    assert!(class(json!({ "name": "c", "rate": 1, "think": 1 })).contains("only closed classes have one"));
    assert!(class(json!({ "name": "c", "rate": 1, "users": 1 })).contains("users and a rate"));
    let route = |route: Value| read_error(json!({ "version": 1, "route": [route] }));
    assert!(
        route(json!({ "from": "a", "strategy": "probabilities", "to": ["b"] })).contains("needs a table")
    );
    assert!(route(json!({ "from": "a", "to": [] })).contains("has no targets"));
    assert!(route(json!({ "from": "a", "to": "b", "k": 2 })).contains("not `power-of-k`"));
    assert!(route(json!({ "from": "a", "strategy": "load-dependent", "to": "b" })).contains("has `ranges`"));
}

#[test]
fn validation_reports_inconsistencies_with_their_path() {
    let found = |network: Value| -> Vec<String> {
        read(network).unwrap().validate().iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        found(json!({ "version": 2 })),
        [
            "version: version 2 of the notation is not supported; use version 1",
            "class: there is no class of customers: add a [[class]]",
            "station: there is no station: add a [[station]]",
        ]
    );
    assert_eq!(
        found(json!({
            "version": 1,
            "class": [{ "name": "web", "users": 1, "think": "pareto(1s, shape=1)" }, { "name": "web", "users": 1 }],
            "station": [
                { "name": "q", "servers": 3, "service": { "wev": 1 }, "capacity": 2 },
                { "name": "outside", "service": 1, "visits": -1 },
            ],
        })),
        [
            "class[0].think: the shape of a Pareto law must be greater than 1, not 1: its mean would be infinite",
            "class[1].name: the class \"web\" is already defined",
            "station[0].service.wev: there is no class \"wev\" (did you mean \"web\"?)",
            "station[0].capacity: the capacity of 2 is less than the 3 servers",
            "station[1].name: a station needs a name other than \"outside\"",
            "station[1].visits: visits must be a number of at least 0, not -1",
        ]
    );
    let routed = |routes: Value| {
        found(json!({
            "version": 1,
            "class": [{ "name": "c", "users": 1 }],
            "station": [{ "name": "a", "service": 1 }, { "name": "b", "service": 1 }],
            "route": routes,
        }))
    };
    assert_eq!(
        routed(
            json!([{ "from": "outside", "to": { "a": 0.5, "b": 0.4 } }, { "from": "a", "to": "outside" }])
        ),
        [
            "route[0].to: the probabilities sum to 0.9, not to 1",
            "class[0].name: customers of the class \"c\" have no route from \"b\" (add a [[route]] with from = \"b\")",
        ]
    );
    assert_eq!(
        routed(
            json!([{ "from": "outside", "to": "a" }, { "from": "a", "to": "b" }, { "from": "b", "to": "a" }])
        ),
        ["class[0].name: customers of the class \"c\" never return to \"outside\": no pass ends"]
    );
    assert_eq!(
        routed(json!([
            { "from": "outside", "to": "a" },
            { "from": "a", "to": "outside" },
            { "from": "a", "to": "b" },
            { "from": "b", "to": "outsid" },
        ])),
        [
            "route[2].from: a route from \"a\" for the same class is already defined",
            "route[3].to: there is no station \"outsid\" (did you mean \"outside\"?)",
        ]
    );
}

#[test]
fn replays_contain_the_file_name() {
    let mut network = read(json!({
        "version": 1,
        "class": [{ "name": "c", "users": 1, "think": "replay(think.txt)" }],
        "station": [{ "name": "q", "service": { "c": "replay(\"service.txt\")" } }],
    }))
    .unwrap();
    assert_eq!(network.validate().len(), 2, "the values have not been loaded");
    for (file, values_s) in network.replays_mut() {
        *values_s = if file == "think.txt" { vec![1.0, 3.0] } else { vec![0.5] };
    }
    assert_eq!(network.validate(), []);
    assert_eq!(network.classes[0].think_s(), Some(2.0));
    assert!(matches!(network.stations[0].kind, StationKind::Queue(_)));
}
