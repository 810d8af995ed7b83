//! Reads input and service sections of stations.

use std::collections::BTreeMap;

use busyhour_queueing::network::{Capacity, Queue, Scheduling, StationKind, TimeLaw, WhenFull};

use super::laws::{Service, read_service};
use super::nodes::{Model, Node};
use crate::element::Element;
use crate::findings::Findings;
use crate::per_class::per_class;

/// Reads a queue or a delay, with its properties for each visiting class.
pub(super) fn read(
    model: &Model<'_>,
    node: &Node<'_>,
    classes: &[usize],
    is_delay: bool,
    findings: &mut Findings<'_>,
) -> Option<StationKind> {
    let (input, server) = (node.section(0)?, node.section(1)?);
    let own = read_capacity(model, input, classes, findings)?;
    let capacity = apply_region(model, node, own, findings)?;
    let mut speeds: Option<Vec<f64>> = None;
    let mut service = Vec::new();
    for class in classes {
        let name = &model.classes[*class].name;
        let law = match read_class_service(server, name, findings)? {
            // If a class visits a station without service, the validation of the network reports it.
            Service::None => continue,
            Service::Law(law) => law,
            Service::LoadDependent(law, class_speeds) => {
                if speeds.as_ref().is_some_and(|speeds| *speeds != class_speeds) || is_delay {
                    findings.error(
                        server,
                        "has load-dependent service at a delay, or with speeds that differ by class; only queues with \
                         equal speeds for all classes are supported",
                    );
                    return None;
                }
                speeds = Some(class_speeds);
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
    check_unsupported(server, findings)?;
    let mut queue = Queue::new(servers, service);
    queue.capacity = capacity;
    queue.scheduling = read_scheduling(model, input, server, classes, findings)?;
    if let Some(speeds) = speeds {
        if servers != 1 {
            findings.error(server, "has load-dependent service and several servers");
            return None;
        }
        queue.speeds = speeds;
        findings.note(
            server,
            "has load-dependent service: in JMT, the service time depends on the number of customers at the start of the \
             service; here the speed changes during the service with the number of customers",
        );
    }
    Some(StationKind::Queue(queue))
}

/// Reads the service of a class from a service section or a source.
fn read_class_service(section: &Element, class: &str, findings: &mut Findings<'_>) -> Option<Service> {
    let Some(strategies) = section.parameter("ServiceStrategy") else {
        findings.error(section, "has no parameter \"ServiceStrategy\"");
        return None;
    };
    match strategies.for_class(class) {
        Some(strategy) => read_service(strategy, findings),
        None => {
            findings.error(strategies, format!("has no service strategy for the class {class:?}"));
            None
        }
    }
}

/// Reads the distribution of times of a class from a delay or a source; it must be load-independent.
pub(super) fn read_class_law(section: &Element, class: &str, findings: &mut Findings<'_>) -> Option<TimeLaw> {
    match read_class_service(section, class, findings)? {
        Service::Law(law) => Some(law),
        Service::None | Service::LoadDependent(..) => {
            findings.error(section, format!("has no load-independent distribution for the class {class:?}"));
            None
        }
    }
}

/// The capacity of a station, limited by the capacity of its region.
fn apply_region(
    model: &Model<'_>,
    node: &Node<'_>,
    own: Option<Capacity>,
    findings: &mut Findings<'_>,
) -> Option<Option<Capacity>> {
    let region = model.node(&node.name).and_then(|at| model.region_capacities.get(&at));
    let Some(&region_capacity) = region else { return Some(own) };
    match own {
        Some(Capacity { when_full: WhenFull::Block, .. }) => {
            findings
                .error(node.element, "blocks when it is full, but is part of a region that drops customers");
            None
        }
        Some(Capacity { customers, when_full: WhenFull::Drop }) => {
            Some(Some(Capacity { customers: customers.min(region_capacity), when_full: WhenFull::Drop }))
        }
        None => Some(Some(Capacity { customers: region_capacity, when_full: WhenFull::Drop })),
    }
}

/// Reads the capacity of a station. The result is `None` if it cannot be read, and `Some(None)` if the capacity is unlimited.
fn read_capacity(
    model: &Model<'_>,
    input: &Element,
    classes: &[usize],
    findings: &mut Findings<'_>,
) -> Option<Option<Capacity>> {
    if let Some(impatience) = input.parameter("Impatience") {
        findings.error(
            impatience,
            "is not supported: in Busyhour's models, customers do not leave before they are served",
        );
        return None;
    }
    for name in ["enablingConditions", "inhibitingConditions", "resourceConditions"] {
        if let Some(conditions) = input.parameter(name).filter(|found| found.inner().next().is_some()) {
            findings.error(conditions, "is not supported: Busyhour's models have no Petri nets");
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
    for class in classes {
        let Some(rule) = rules.and_then(|rules| rules.for_class(&model.classes[*class].name)) else {
            continue;
        };
        let when_full = match rule.value().unwrap_or_default() {
            "drop" => WhenFull::Drop,
            "BAS blocking" => WhenFull::Block,
            other => {
                findings.error(
                    rule,
                    format!(
                        "has the value {other:?}; the supported values are \"drop\" and \"BAS blocking\""
                    ),
                );
                return None;
            }
        };
        if found.is_some_and(|known| known != when_full) {
            findings.error(rule, "differs by class; a full station must treat all classes in the same way");
            return None;
        }
        found = Some(when_full);
    }
    let customers = u32::try_from(customers).unwrap_or(u32::MAX);
    Some(Some(Capacity { customers, when_full: found.unwrap_or(WhenFull::Drop) }))
}

/// Reports unsupported parameters of servers.
fn check_unsupported(server: &Element, findings: &mut Findings<'_>) -> Option<()> {
    let before = findings.errors.len();
    for parameter in server.children_named("parameter") {
        let values = || parameter.by_class().filter_map(|(_, parameter)| parameter.value());
        match parameter.attribute("name").unwrap_or_default() {
            "maxRunning" if parameter.value().is_some_and(|value| value != "-1") => {
                findings.error(
                    parameter,
                    "is not supported: in Busyhour's models, all customers share the servers",
                );
            }
            "classParallelism" if values().any(|value| value != "1") => {
                findings.error(
                    parameter,
                    "is not supported: in Busyhour's models, a customer needs exactly one server",
                );
            }
            "SwitchoverStrategy" | "SetupStrategy" | "delayOffTime" | "setUpTime" => {
                findings.error(
                    parameter,
                    "is not supported: in Busyhour's models, servers have no set-up or switchover times",
                );
            }
            "serverNames" if parameter.inner().count() > 1 => {
                findings.error(
                    parameter,
                    "is not supported: in Busyhour's models, the servers of a station are identical",
                );
            }
            "PSPriorityUsed" if parameter.value() == Some("true") => {
                findings.error(
                    parameter,
                    "is not supported: in Busyhour's models, processor sharing has no priorities",
                );
            }
            _ => {}
        }
    }
    (findings.errors.len() == before).then_some(())
}

fn read_scheduling(
    model: &Model<'_>,
    input: &Element,
    server: &Element,
    classes: &[usize],
    findings: &mut Findings<'_>,
) -> Option<Scheduling> {
    let names = classes.iter().map(|class| model.classes[*class].name.as_str());
    if server.attribute("className") == Some("PSServer") {
        return read_sharing(server, names, findings);
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
        let Some(strategy) = put.and_then(|put| put.for_class(name)) else { continue };
        let scheduling = match strategy.java_class() {
            // Without priorities, these strategies do not preempt customers.
            "TailStrategy" | "FCFSPRStrategy" => Scheduling::Fcfs,
            "TailStrategyPriority" => Scheduling::Priority,
            "HeadStrategy" => Scheduling::Lcfs,
            "RandStrategy" => Scheduling::Random,
            "SJFStrategy" => Scheduling::ShortestJobFirst,
            "LCFSPRStrategy" => Scheduling::LcfsPreemptiveResume,
            "FCFSPRStrategyPriority" => Scheduling::PriorityPreemptive,
            other => {
                findings.error(strategy, format!("is not supported as a queueing discipline: {other}"));
                return None;
            }
        };
        if found.as_ref().is_some_and(|known| *known != scheduling) {
            findings.error(strategy, "differs by class; a station must have one queueing discipline");
            return None;
        }
        found = Some(scheduling);
    }
    Some(found.unwrap_or(Scheduling::Fcfs))
}

/// Reads the discipline of a station with processor sharing.
fn read_sharing<'n>(
    server: &Element,
    names: impl Iterator<Item = &'n str>,
    findings: &mut Findings<'_>,
) -> Option<Scheduling> {
    let strategies = server.parameter("PSStrategy");
    let given = server.parameter("serviceWeights");
    let mut by_weight = None;
    let mut weights = BTreeMap::new();
    for name in names {
        if let Some(strategy) = strategies.and_then(|strategies| strategies.for_class(name)) {
            let is_weighted = match strategy.java_class() {
                "EPSStrategy" => false,
                "DPSStrategy" => true,
                other => {
                    findings.error(
                        strategy,
                        format!("is not supported as a discipline of processor sharing: {other}"),
                    );
                    return None;
                }
            };
            if by_weight.is_some_and(|known| known != is_weighted) {
                findings.error(strategy, "differs by class; a station must have one queueing discipline");
                return None;
            }
            by_weight = Some(is_weighted);
        }
        if let Some(weight) = given.and_then(|given| given.for_class(name)) {
            weights.insert(name.to_owned(), findings.number(weight, weight.value().unwrap_or_default())?);
        }
    }
    Some(match by_weight {
        Some(true) => Scheduling::DiscriminatoryProcessorSharing { weights },
        _ => Scheduling::ProcessorSharing,
    })
}
