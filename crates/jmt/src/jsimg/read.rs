//! Reads `.jsimg` files.
//!
//! A delay that is the reference station of a class is not a station for this class: it represents the outside, and its service
//! time is the think time. If a class has another reference station, each route to that station is replaced by two
//! routes. The first one leaves the network, where the pass ends and closed customers do not think. The second one leads
//! from outside the network to the station.

use std::collections::{BTreeMap, BTreeSet};

use busyhour_queueing::network::{
    ClassLoad, CustomerClass, PerClass, Place, QueueingNetwork, Route, Station, StationKind, Strategy,
    TimeLaw,
};

use super::nodes::{self, Model, Node, NodeKind};
use super::regions;
use super::routes::{self, Choice};
use super::servers;
use crate::element::Element;
use crate::findings::Findings;

/// Reads the network of a `<sim>`, and reports elements that cannot be read.
pub(crate) fn read(sim: &Element, findings: &mut Findings<'_>) -> QueueingNetwork {
    let mut network = QueueingNetwork::new(Vec::new(), Vec::new());
    network.name = sim.attribute("name").unwrap_or_default().to_owned();
    let Some(mut model) = nodes::read(sim, findings) else { return network };
    model.region_capacities = regions::read(sim, &model.classes, &model.nodes, findings);
    if !findings.errors.is_empty() {
        return network;
    }
    let mut converter = Converter { model: &model, reached: BTreeMap::new(), switches: BTreeMap::new() };
    converter.follow_routes(findings);
    network.classes = (0..model.classes.len()).filter_map(|at| convert_class(&model, at, findings)).collect();
    network.stations = (0..model.nodes.len()).filter_map(|node| converter.station(node, findings)).collect();
    network.routes = converter.routes();
    network
}

fn convert_class(model: &Model<'_>, at: usize, findings: &mut Findings<'_>) -> Option<CustomerClass> {
    let class = &model.classes[at];
    let reference = &model.nodes[class.reference];
    let load = match class.users {
        None => {
            let interarrival = servers::read_class_law(reference.section(0)?, &class.name, findings)?;
            ClassLoad::Open { interarrival }
        }
        Some(users) => ClassLoad::Closed {
            users,
            think: if model.is_thinking(class.reference, at) {
                servers::read_class_law(reference.section(1)?, &class.name, findings)?
            } else {
                TimeLaw::Deterministic { mean_s: 0.0 }
            },
        },
    };
    Some(CustomerClass { name: class.name.clone(), load, priority: class.priority })
}

/// Converts nodes to stations and routes.
struct Converter<'m> {
    model: &'m Model<'m>,
    /// The reachable pairs of a node and a class, with the routing of the class; `None` for forks and sinks.
    reached: BTreeMap<(usize, usize), Option<Choice>>,
    /// Class switches by node and by the class in which customers arrive: the probabilities of the classes in which they
    /// depart.
    switches: BTreeMap<usize, BTreeMap<String, BTreeMap<String, f64>>>,
}

impl Converter<'_> {
    /// Follows the routes of all classes from their reference nodes.
    fn follow_routes(&mut self, findings: &mut Findings<'_>) {
        let model = self.model;
        let mut next: Vec<(usize, usize)> =
            model.classes.iter().enumerate().map(|(at, class)| (class.reference, at)).collect();
        while let Some((node, class)) = next.pop() {
            if self.reached.contains_key(&(node, class)) {
                continue;
            }
            self.reached.insert((node, class), None);
            let file_node = &model.nodes[node];
            match file_node.kind {
                NodeKind::Sink => continue,
                NodeKind::Fork => {
                    next.extend(file_node.targets.iter().map(|target| (*target, class)));
                    continue;
                }
                NodeKind::ClassSwitch => {
                    for departing in self.read_switch(node, class, findings) {
                        if departing != class {
                            // The customer departs by the route of its new class.
                            next.push((node, departing));
                        }
                    }
                }
                _ => {}
            }
            let choice = routes::read(model, file_node, class, findings);
            next.extend(choice.iter().flat_map(|choice| &choice.nodes).map(|target| (*target, class)));
            self.reached.insert((node, class), choice);
        }
    }

    /// Reads the probabilities of one arriving class at a class switch. Returns the classes in which its customers depart.
    fn read_switch(&mut self, node: usize, class: usize, findings: &mut Findings<'_>) -> Vec<usize> {
        let model = self.model;
        let name = &model.classes[class].name;
        let Some(section) = model.nodes[node].section(1) else { return Vec::new() };
        let Some(row) = section.parameter("matrix").and_then(|matrix| matrix.for_class(name)) else {
            return Vec::new();
        };
        let mut shares = BTreeMap::new();
        for (to, cell) in row.by_class() {
            let share: Option<f64> = findings.number(cell, cell.value().unwrap_or_default());
            match (model.class(to), share) {
                (None, _) => findings.error(cell, format!("refers to a class {to:?} that does not exist")),
                (Some(_), Some(share)) if share > 0.0 => {
                    shares.insert(to.to_owned(), share);
                }
                _ => {}
            }
        }
        let departing = shares.keys().filter_map(|name| model.class(name)).collect();
        self.switches.entry(node).or_default().insert(name.clone(), shares);
        departing
    }

    /// The classes whose customers visit a node and do not think there.
    fn visiting_classes(&self, node: usize) -> Vec<usize> {
        let classes = 0..self.model.classes.len();
        classes
            .filter(|class| {
                self.reached.contains_key(&(node, *class)) && !self.model.is_thinking(node, *class)
            })
            .collect()
    }

    fn station(&mut self, node: usize, findings: &mut Findings<'_>) -> Option<Station> {
        let file_node = &self.model.nodes[node];
        let classes = self.visiting_classes(node);
        if classes.is_empty() {
            return None;
        }
        let kind = match file_node.kind {
            NodeKind::Source | NodeKind::Sink => return None,
            NodeKind::Delay => servers::read(self.model, file_node, &classes, true, findings)?,
            NodeKind::Queue => servers::read(self.model, file_node, &classes, false, findings)?,
            NodeKind::Router => StationKind::Router,
            NodeKind::ClassSwitch => {
                StationKind::ClassSwitch { to: self.switches.remove(&node).unwrap_or_default() }
            }
            NodeKind::Fork => read_fork(self.model, file_node, findings)?,
            NodeKind::Join => read_join(file_node, findings)?,
        };
        Some(Station { name: file_node.name.clone(), kind, visits: PerClass::Same(1.0) })
    }

    fn routes(&self) -> Vec<Route> {
        let model = self.model;
        let mut routes = Vec::new();
        let classes = || 0..model.classes.len();
        // The route from outside is that of the source, or that of the delay at which customers think. Otherwise it leads to
        // the reference station.
        let from_outside = classes().filter_map(|class| {
            let reference = model.classes[class].reference;
            let found = self.reached.get(&(reference, class))?;
            let kind = model.nodes[reference].kind;
            let strategy = if kind == NodeKind::Source || kind == NodeKind::Delay {
                found.as_ref()?.strategy.clone()
            } else {
                Strategy::Random(vec![Place::Station(model.nodes[reference].name.clone())])
            };
            Some((class, strategy))
        });
        self.add_routes(&mut routes, Place::Outside, from_outside.collect());
        for (node, file_node) in model.nodes.iter().enumerate() {
            let from_node = self.visiting_classes(node).into_iter().filter_map(|class| {
                let choice = self.reached.get(&(node, class))?.as_ref()?;
                Some((class, choice.strategy.clone()))
            });
            if file_node.kind != NodeKind::Source {
                self.add_routes(&mut routes, Place::Station(file_node.name.clone()), from_node.collect());
            }
        }
        routes
    }

    /// Adds the routes from a place. Classes with the same strategy share one route.
    fn add_routes(&self, routes: &mut Vec<Route>, from: Place, choices: Vec<(usize, Strategy)>) {
        let mut groups: Vec<(Strategy, BTreeSet<usize>)> = Vec::new();
        for (class, strategy) in choices {
            match groups.iter_mut().find(|(known, _)| *known == strategy) {
                Some((_, classes)) => {
                    classes.insert(class);
                }
                None => groups.push((strategy, BTreeSet::from([class]))),
            }
        }
        // In JMT, round robin has a state per class, so each class needs a separate route here.
        let has_state = |strategy: &Strategy| {
            matches!(strategy, Strategy::RoundRobin(_) | Strategy::WeightedRoundRobin(_))
        };
        let is_only_group = groups.len() == 1;
        for (strategy, classes) in groups {
            let name = |class: &usize| self.model.classes[*class].name.clone();
            let route = |classes| Route { from: from.clone(), classes, strategy: strategy.clone() };
            if has_state(&strategy) && classes.len() > 1 {
                routes.extend(classes.iter().map(|class| route(vec![name(class)])));
            } else if is_only_group {
                routes.push(route(Vec::new()));
            } else {
                routes.push(route(classes.iter().map(name).collect()));
            }
        }
    }
}

/// Reads a fork, which must send the same number of siblings to all connected nodes.
fn read_fork(model: &Model<'_>, node: &Node<'_>, findings: &mut Findings<'_>) -> Option<StationKind> {
    let section = node.section(2)?;
    let value = |name: &str| section.parameter(name).and_then(Element::value);
    let to = node.targets.iter().map(|target| Place::Station(model.nodes[*target].name.clone())).collect();
    if value("isSimplifiedFork") != Some("true") && !has_one_task_per_link(section) {
        findings.error(
            section,
            format!(
                "of the node {:?} is not supported: a fork must send one sibling to each connected node",
                node.name
            ),
        );
        return None;
    }
    let tasks = match section.parameter("jobsPerLink") {
        Some(tasks) if value("isSimplifiedFork") == Some("true") => {
            findings.number(tasks, tasks.value().unwrap_or_default())?
        }
        // `has_one_task_per_link` is true, or the parameter is missing and the default is one task.
        _ => 1,
    };
    Some(StationKind::Fork { to, tasks })
}

/// Whether a fork strategy sends exactly one sibling to each connected node.
fn has_one_task_per_link(section: &Element) -> bool {
    let Some(strategies) = section.parameter("ForkStrategy") else { return true };
    let is_one = |value: Option<&str>| value.and_then(|value| value.parse().ok()) == Some(1.0);
    strategies.by_class().all(|(_, strategy)| {
        strategy.java_class() == "ProbabilitiesFork"
            && strategy.inner().flat_map(Element::inner).all(|branch| {
                let probability =
                    branch.inner_named("outUnitProbability").and_then(|out| out.inner_named("probability"));
                let numbers: Vec<&Element> =
                    branch.inner_named("JobsPerLinkDis").into_iter().flat_map(Element::inner).collect();
                let single = |entry: &&Element| is_one(entry.inner_named("numbers").and_then(Element::value));
                is_one(probability.and_then(Element::value))
                    && numbers.len() == 1
                    && numbers.iter().all(single)
            })
    })
}

/// Reads a join, which must wait for all siblings.
fn read_join(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<StationKind> {
    let section = node.section(0)?;
    let strategies = section.parameter("JoinStrategy");
    for (_, strategy) in strategies.into_iter().flat_map(Element::by_class) {
        let required = strategy.inner_named("numRequired").and_then(Element::value);
        if strategy.java_class() != "NormalJoin" || required.is_some_and(|number| number != "-1") {
            findings.error(
                strategy,
                format!("of the node {:?} is not supported: a join must wait for all siblings", node.name),
            );
            return None;
        }
    }
    Some(StationKind::Join)
}
