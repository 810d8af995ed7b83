//! Input and service sections of stations.

use std::collections::BTreeMap;

use busyhour_queueing::network::{Capacity, Queue, Scheduling, StationKind, TimeLaw, WhenFull};

use super::laws::{Service, read_service};
use super::nodes::{Model, Node};
use crate::element::Element;
use crate::findings::Findings;
use crate::per_class::per_class;

/// A queue or a delay as a station, for the classes that come there.
pub(super) fn read(
    model: &Model<'_>,
    node: &Node<'_>,
    here: &[usize],
    is_delay: bool,
    findings: &mut Findings<'_>,
) -> Option<StationKind> {
    let (input, server) = (node.section(0)?, node.section(1)?);
    let own = capacity(model, input, here, findings)?;
    let capacity = within_region(model, node, own, findings)?;
    let mut speeds: Option<Vec<f64>> = None;
    let mut service = Vec::new();
    for class in here {
        let name = &model.classes[*class].name;
        let law = match service_of(server, name, findings)? {
            // Visits by other classes are found by the validation of the network.
            Service::None => continue,
            Service::Law(law) => law,
            Service::ByLoad(law, found) => {
                if speeds.as_ref().is_some_and(|speeds| *speeds != found) || is_delay {
                    findings.error(
                        server,
                        "has load-dependent service that differs by class, or at a delay; the speed of a queue depends \
                         on how many are there, and not on who",
                    );
                    return None;
                }
                speeds = Some(found);
                law
            }
        };
        service.push((name.clone(), law));
    }
    let service = per_class(service, model.classes.len());
    if is_delay {
        return Some(StationKind::Delay { service });
    }
    let servers = match server.parameter("maxJobs") {
        Some(parameter) => findings.number(parameter, parameter.value().unwrap_or_default())?,
        None => 1,
    };
    refuse_extras(server, findings)?;
    let mut queue = Queue::new(servers, service);
    queue.capacity = capacity;
    queue.scheduling = scheduling(model, input, server, here, findings)?;
    if let Some(speeds) = speeds {
        if servers != 1 {
            findings.error(server, "has load-dependent service and several servers");
            return None;
        }
        queue.speeds = speeds;
        findings.note(
            server,
            "has load-dependent service: JMT draws a service time for the number that is there when it begins; here \
             the speed follows the number as it changes",
        );
    }
    Some(StationKind::Queue(queue))
}

/// The law of a class in a service section or a source.
pub(super) fn service_of(section: &Element, class: &str, findings: &mut Findings<'_>) -> Option<Service> {
    let Some(strategies) = section.parameter("ServiceStrategy") else {
        findings.error(section, "has no parameter \"ServiceStrategy\"");
        return None;
    };
    match strategies.of_class(class) {
        Some(strategy) => read_service(strategy, findings),
        None => {
            findings.error(strategies, format!("has no strategy of service for the class {class:?}"));
            None
        }
    }
}

/// The mean of a delay's or a source's law for a class.
pub(super) fn law_of(section: &Element, class: &str, findings: &mut Findings<'_>) -> Option<TimeLaw> {
    match service_of(section, class, findings)? {
        Service::Law(law) => Some(law),
        Service::None | Service::ByLoad(..) => {
            findings.error(section, format!("has no law for the class {class:?}"));
            None
        }
    }
}

/// The capacity of a station, which can be in a region.
fn within_region(
    model: &Model<'_>,
    node: &Node<'_>,
    own: Option<Capacity>,
    findings: &mut Findings<'_>,
) -> Option<Option<Capacity>> {
    let Some(&room) = model.node(&node.name).and_then(|at| model.rooms.get(&at)) else { return Some(own) };
    match own {
        Some(Capacity { when_full: WhenFull::Block, .. }) => {
            findings.error(node.element, "blocks when it is full, and is part of a region that drops");
            None
        }
        Some(Capacity { customers, when_full: WhenFull::Drop }) => {
            Some(Some(Capacity { customers: customers.min(room), when_full: WhenFull::Drop }))
        }
        None => Some(Some(Capacity { customers: room, when_full: WhenFull::Drop })),
    }
}

/// The capacity of a station; the outer option is `None` if it cannot be read.
fn capacity(
    model: &Model<'_>,
    input: &Element,
    here: &[usize],
    findings: &mut Findings<'_>,
) -> Option<Option<Capacity>> {
    if let Some(impatience) = input.parameter("Impatience") {
        findings.error(impatience, "is not supported: customers do not lose their patience");
        return None;
    }
    for name in ["enablingConditions", "inhibitingConditions", "resourceConditions"] {
        if let Some(conditions) = input.parameter(name).filter(|found| found.inner().next().is_some()) {
            findings.error(conditions, "is not supported: there are no Petri nets");
            return None;
        }
    }
    let Some(size) = input.parameter("size") else { return Some(None) };
    let customers: i64 = findings.number(size, size.value().unwrap_or_default())?;
    if customers < 0 {
        return Some(None);
    }
    let rules = input.parameter("dropStrategies");
    let mut found = None;
    for class in here {
        let Some(rule) = rules.and_then(|rules| rules.of_class(&model.classes[*class].name)) else {
            continue;
        };
        let when_full = match rule.value().unwrap_or_default() {
            "drop" => WhenFull::Drop,
            "BAS blocking" => WhenFull::Block,
            other => {
                findings.error(
                    rule,
                    format!("is {other:?}; a full station can drop customers or block (\"BAS blocking\")"),
                );
                return None;
            }
        };
        if found.is_some_and(|known| known != when_full) {
            findings.error(rule, "differs by class; what a full station does is the same for all");
            return None;
        }
        found = Some(when_full);
    }
    let customers = u32::try_from(customers).unwrap_or(u32::MAX);
    Some(Some(Capacity { customers, when_full: found.unwrap_or(WhenFull::Drop) }))
}

/// What servers can do in JMT beyond serving.
fn refuse_extras(server: &Element, findings: &mut Findings<'_>) -> Option<()> {
    let before = findings.errors.len();
    for parameter in server.children_named("parameter") {
        let values = || parameter.by_class().filter_map(|(_, one)| one.value());
        match parameter.attribute("name").unwrap_or_default() {
            "maxRunning" if parameter.value().is_some_and(|value| value != "-1") => {
                findings.error(parameter, "is not supported: all customers share the servers");
            }
            "classParallelism" if values().any(|value| value != "1") => {
                findings.error(parameter, "is not supported: a customer takes one server");
            }
            "SwitchoverStrategy" | "SetupStrategy" | "delayOffTime" | "setUpTime" => {
                findings.error(parameter, "is not supported: servers change between customers in no time");
            }
            "serverNames" if parameter.inner().count() > 1 => {
                findings.error(parameter, "is not supported: the servers of a station are alike");
            }
            "PSPriorityUsed" if parameter.value() == Some("true") => {
                findings.error(parameter, "is not supported: sharing goes without priorities");
            }
            _ => {}
        }
    }
    (findings.errors.len() == before).then_some(())
}

fn scheduling(
    model: &Model<'_>,
    input: &Element,
    server: &Element,
    here: &[usize],
    findings: &mut Findings<'_>,
) -> Option<Scheduling> {
    let names = here.iter().map(|class| model.classes[*class].name.as_str());
    if server.attribute("className") == Some("PSServer") {
        return sharing(server, names, findings);
    }
    if let Some(get) = input.children_named("parameter").find(|parameter| {
        parameter.attribute("classPath").is_some_and(|path| path.contains("QueueGetStrategies"))
    }) && get.java_class() != "FCFSstrategy"
    {
        findings.error(get, format!("is not supported: {}", get.java_class()));
        return None;
    }
    let put = input.parameter("QueuePutStrategy");
    let mut found = None;
    for name in names {
        let Some(strategy) = put.and_then(|put| put.of_class(name)) else { continue };
        let scheduling = match strategy.java_class() {
            // Without priorities no customer is preempted.
            "TailStrategy" | "FCFSPRStrategy" => Scheduling::Fcfs,
            "TailStrategyPriority" => Scheduling::Priority,
            "HeadStrategy" => Scheduling::Lcfs,
            "RandStrategy" => Scheduling::Random,
            "SJFStrategy" => Scheduling::ShortestJobFirst,
            "LCFSPRStrategy" => Scheduling::LcfsPreemptiveResume,
            "FCFSPRStrategyPriority" => Scheduling::PriorityPreemptive,
            other => {
                findings.error(strategy, format!("is a scheduling that is not supported: {other}"));
                return None;
            }
        };
        if found.as_ref().is_some_and(|known| *known != scheduling) {
            findings.error(strategy, "differs by class; a station has one scheduling");
            return None;
        }
        found = Some(scheduling);
    }
    Some(found.unwrap_or(Scheduling::Fcfs))
}

/// How customers share servers.
fn sharing<'n>(
    server: &Element,
    names: impl Iterator<Item = &'n str>,
    findings: &mut Findings<'_>,
) -> Option<Scheduling> {
    let strategies = server.parameter("PSStrategy");
    let given = server.parameter("serviceWeights");
    let mut by_weight = None;
    let mut weights = BTreeMap::new();
    for name in names {
        if let Some(strategy) = strategies.and_then(|strategies| strategies.of_class(name)) {
            let weighted = match strategy.java_class() {
                "EPSStrategy" => false,
                "DPSStrategy" => true,
                other => {
                    findings.error(strategy, format!("is a way of sharing that is not supported: {other}"));
                    return None;
                }
            };
            if by_weight.is_some_and(|known| known != weighted) {
                findings.error(strategy, "differs by class; a station has one scheduling");
                return None;
            }
            by_weight = Some(weighted);
        }
        if let Some(weight) = given.and_then(|given| given.of_class(name)) {
            weights.insert(name.to_owned(), findings.number(weight, weight.value().unwrap_or_default())?);
        }
    }
    Some(match by_weight {
        Some(true) => Scheduling::DiscriminatoryProcessorSharing { weights },
        _ => Scheduling::ProcessorSharing,
    })
}
