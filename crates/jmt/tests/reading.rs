//! Reading of files in the form in which JMT writes them, and error messages.

use busyhour_jmt::{is_xml, read, to_jsimg};
use busyhour_queueing::network::{CustomerClass, QueueingNetwork, Station};
use busyhour_queueing::solve::{SolveSettings, solve};
use busyhour_simulation::{SimulationSettings, simulate};

const CENTRAL: &str = include_str!("files/central-server.jmva");
const BALANCED: &str = include_str!("files/balanced.jsimg");

fn reported(text: &str) -> Vec<String> {
    let errors = read(text.as_bytes(), "m.xml").unwrap_err();
    errors.iter().map(|error| format!("{} {}", error.location().unwrap_or_default(), error.message)).collect()
}

#[test]
fn an_analytic_model_is_read() {
    let model = read(CENTRAL.as_bytes(), "central-server.jmva").unwrap();
    let network = model.network;
    assert_eq!(network.name, "Central server");
    assert_eq!(network.classes[0].name, "jobs & more");
    // The reference station is a delay with two visits: it becomes the think time, and all other visits are halved.
    assert_eq!((network.classes[0].users(), network.classes[0].think_s()), (Some(4), Some(1.5)));
    let names: Vec<&str> = network.stations.iter().map(|station| station.name.as_str()).collect();
    assert_eq!(names, ["cache", "disks"]);
    assert_eq!([0, 1].map(|at| network.stations[at].visits("jobs & more")), [1.0, 4.0]);
    assert_eq!(model.notes.len(), 1, "the what-if is ignored: {:?}", model.notes);

    // The product form calculated by hand: the weights of n jobs are 1, .04, .04·.02, … at the cache, 1, .12, .12·.06, …
    // at the disks, and 1.5ⁿ/n! for thinking.
    let weights = |mean: [f64; 4]| {
        let mut all = vec![1.0];
        for time in mean {
            all.push(all[all.len() - 1] * time);
        }
        all
    };
    let cache = weights([0.04, 0.02, 0.02, 0.02]);
    let disks = weights([0.12, 0.06, 0.06, 0.06]);
    let think = weights([1.5, 0.75, 0.5, 0.375]);
    let sum = |jobs: usize| -> f64 {
        (0..=jobs)
            .flat_map(|a| (0..=jobs - a).map(move |b| (a, b)))
            .map(|(a, b)| cache[a] * disks[b] * think[jobs - a - b])
            .sum()
    };
    let x = solve(&network, SolveSettings::default()).unwrap().classes[0].throughput_per_s;
    let expected = sum(3) / sum(4);
    assert!((x - expected).abs() < 1e-12 * expected, "{x} {expected}");
}

#[test]
fn a_pass_has_one_visit_to_the_reference_station() {
    let text = CENTRAL.replace("refStation=\"terminals\"", "refStation=\"disks\"");
    let network = read(text.as_bytes(), "m").unwrap().network;
    assert_eq!(network.classes[0].think_s(), Some(0.0));
    let visits: Vec<f64> = network.stations.iter().map(|station| station.visits("jobs & more")).collect();
    assert_eq!(visits, [0.25, 0.25, 1.0]);
    let by_disk = solve(&network, SolveSettings::default()).unwrap();
    let by_terminal =
        solve(&read(CENTRAL.as_bytes(), "m").unwrap().network, SolveSettings::default()).unwrap();
    let x = |solution: &busyhour_queueing::solve::Solution| solution.classes[0].throughput_per_s;
    assert!((x(&by_disk) - 4.0 * x(&by_terminal)).abs() < 1e-9);
}

#[test]
fn a_simulation_model_is_read_and_simulated() {
    let model = read(BALANCED.as_bytes(), "balanced.jsimg").unwrap();
    assert_eq!((model.notes.len(), model.network.validate().len()), (0, 0));
    let expected: QueueingNetwork = toml::from_str(include_str!("files/balanced.toml")).unwrap();
    assert_eq!(model.network, expected);
    let settings = SimulationSettings { precision: 0.05, ..SimulationSettings::default() };
    let found = simulate(&model.network, &settings).unwrap();
    let (web, staff) = (&found.classes[0], &found.classes[1]);
    // Throughput equals the arrival rate of the open class, and N = X(R + Z) for the closed class.
    assert!((web.throughput_per_s.unwrap().value - 9.0).abs() < 0.3);
    let cycle_s = staff.response_s.unwrap().value + 2.0;
    assert!((staff.throughput_per_s.unwrap().value * cycle_s - 12.0).abs() < 0.3);
}

/// The delay in which the class `staff` thinks is a station for other classes.
#[test]
fn a_reference_delay_is_a_station_for_other_classes() {
    let goes = "<value>gone</value></subParameter><subParameter classPath=\"java.lang.Double\" name=\"probability\"><value>1.0</value>";
    let text = BALANCED.replacen(goes, &goes.replace("gone", "desk"), 1);
    let network = read(text.as_bytes(), "m").unwrap().network;
    let desk = network.station("desk").expect("customers of the class web visit the desk");
    assert!(
        network.stations[desk].service("web").is_some() && network.stations[desk].service("staff").is_none()
    );
}

#[test]
fn unsupported_content_is_reported_with_its_line() {
    let line = |text: &str, reported: &str| -> String {
        let line: usize = reported.split(':').nth(1).unwrap().parse().unwrap();
        text.lines().nth(line - 1).unwrap().to_owned()
    };
    for (from, to, message) in [
        (
            "className=\"PSServer\"",
            "className=\"GatedPollingServer\"",
            "GatedPollingServer\"> of the node \"store\" is not supported",
        ),
        (
            "QueuePutStrategies.TailStrategy\"",
            "QueuePutStrategies.LEPTStrategy\"",
            "is not supported as a queueing discipline: LEPTStrategy",
        ),
        ("random.GammaDistr\"", "random.StudentT\"", "is not supported as a distribution: StudentT"),
        (
            "ShortestQueueLengthRoutingStrategy",
            "MyStrategy",
            "is not supported as a routing strategy: MyStrategy",
        ),
        (
            "EPSStrategy\"",
            "QBPSStrategy\"",
            "is not supported as a discipline of processor sharing: QBPSStrategy",
        ),
        ("<value>20.0</value>", "<value>fast</value>", "has \"fast\", which is not a valid number"),
        ("target=\"balancer\"", "target=\"nowhere\"", "refers to a node \"nowhere\" that does not exist"),
        ("referenceSource=\"desk\"", "referenceSource=\"gone\"", "has the wrong reference"),
    ] {
        let text = BALANCED.replace(from, to);
        assert_ne!(text, BALANCED, "{from}");
        let errors = reported(&text);
        assert!(errors[0].contains(message), "{errors:?}");
        assert!(line(&text, &errors[0]).contains(to), "{errors:?}");
    }
    let with_region = BALANCED.replace("<preload>", "<blockingRegion name=\"R\"/>\n<preload>");
    assert!(reported(&with_region)[0].contains("<blockingRegion name=\"R\"> is not supported"));

    for (from, to, message) in [
        ("0.04;0.02", "0.04;0", "has a time of 0 in a table"),
        ("population=\"4.0\"", "population=\"4.5\"", "has a population of 4.5, which is not a whole number"),
        (
            "refStation=\"terminals\"",
            "refStation=\"unused\"",
            "never visit their reference station \"unused\"",
        ),
        (
            "refStation=\"terminals\"",
            "refStation=\"there\"",
            "refers to a station \"there\" that does not exist",
        ),
        ("<delaystation", "<waitstation", "this is not well-formed XML"),
        (
            "customerclass=\"jobs &amp; more\">8.0",
            "customerclass=\"x\">8.0",
            "refers to a class that does not exist",
        ),
    ] {
        let text = CENTRAL.replacen(from, to, 1);
        assert_ne!(text, CENTRAL, "{from}");
        let errors = reported(&text);
        assert!(errors[0].contains(message), "{errors:?}");
    }
}

#[test]
fn other_documents_are_rejected() {
    assert!(is_xml(b"\xef\xbb\xbf  <?xml version='1.0'?>") && !is_xml(b"version = 1\n") && !is_xml(b""));
    assert_eq!(
        reported("<jmeterTestPlan/>"),
        [
            "m.xml:1:1 <jmeterTestPlan> is not a model of JMT: the supported root elements are <model> (.jmva), \
             <archive> and <sim> (.jsimg)"
        ]
    );
    assert!(reported("<archive/>")[0].contains("has no model"));
    assert!(reported("<model/>")[0].contains("has no <parameters>"));
    assert!(reported("<model><parameters>")[0].contains("is not closed"));
}

#[test]
fn a_region_with_one_queue_is_read_as_its_capacity() {
    let network =
        QueueingNetwork::new(vec![CustomerClass::open("jobs", 9.0)], vec![Station::queue("desk", 1, 0.1)]);
    let plain = to_jsimg(&network, "M/M/1").unwrap();
    let region = |nodes: &str, limits: &str, drops: bool| {
        let element = format!(
            "<blockingRegion name=\"R\">{nodes}{limits}<dropRules dropThisClass=\"{drops}\" jobClass=\"jobs\"/></blockingRegion>\n</sim>"
        );
        let text = plain.replace("</sim>", &element);
        assert_ne!(text, plain);
        text
    };
    let desk = "<regionNode nodeName=\"desk\"/>";
    let all = "<globalConstraint maxJobs=\"-1\"/><classConstraint jobClass=\"jobs\" maxJobsPerClass=\"3\"/>";
    let found = read(region(desk, all, true).as_bytes(), "m").unwrap().network;
    let solution = solve(&found, SolveSettings::default()).unwrap();
    // M/M/1/3 with ρ = 0.9: ρ³(1 − ρ)/(1 − ρ⁴).
    let lost = 0.9_f64.powi(3) * 0.1 / (1.0 - 0.9_f64.powi(4));
    assert!((solution.classes[0].lost_share.unwrap() - lost).abs() < 1e-12, "{solution:?}");
    assert!((solution.classes[0].lost_per_s.unwrap() - 9.0 * lost).abs() < 1e-12, "{solution:?}");
    for (nodes, limits, drops, reason) in [
        ("", all, true, "it does not contain exactly one station"),
        (desk, all, false, "customers wait in front of it"),
        (desk, "<globalConstraint maxJobs=\"-1\"/>", true, "it has no limit"),
        (desk, "<globalMemoryConstraint maxMemory=\"5\"/>", true, "it limits memory"),
    ] {
        let errors = reported(&region(nodes, limits, drops));
        assert!(errors[0].contains(&format!("is not supported: {reason}")), "{errors:?}");
    }
}
