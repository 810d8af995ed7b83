//! The network of a `.jsimg` file.
//!
//! A delay that is the reference station of a class is outside for that class, and its service time is the think
//! time. Customers that go to any other reference station go outside first, where closed customers do not think, and
//! from there to the station.

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

/// The network of a `<sim>`; what cannot be read is found.
pub(crate) fn read(sim: &Element, findings: &mut Findings<'_>) -> QueueingNetwork {
    let mut network = QueueingNetwork::new(Vec::new(), Vec::new());
    network.name = sim.attribute("name").unwrap_or_default().to_owned();
    let Some(mut model) = nodes::read(sim, findings) else { return network };
    model.rooms = regions::read(sim, &model.classes, &model.nodes, findings);
    if !findings.errors.is_empty() {
        return network;
    }
    let mut walk = Walk { model: &model, reached: BTreeMap::new(), switches: BTreeMap::new() };
    walk.all(findings);
    network.classes = (0..model.classes.len()).filter_map(|at| class(&model, at, findings)).collect();
    network.stations = (0..model.nodes.len()).filter_map(|node| walk.station(node, findings)).collect();
    network.routes = walk.routes();
    network
}

fn class(model: &Model<'_>, at: usize, findings: &mut Findings<'_>) -> Option<CustomerClass> {
    let class = &model.classes[at];
    let reference = &model.nodes[class.reference];
    let load = match class.users {
        None => {
            ClassLoad::Open { interarrival: servers::law_of(reference.section(0)?, &class.name, findings)? }
        }
        Some(users) => ClassLoad::Closed {
            users,
            think: if model.is_thinking(class.reference, at) {
                servers::law_of(reference.section(1)?, &class.name, findings)?
            } else {
                TimeLaw::Deterministic { mean_s: 0.0 }
            },
        },
    };
    Some(CustomerClass { name: class.name.clone(), load, priority: class.priority })
}

/// Where customers get to, by class and node.
struct Walk<'m> {
    model: &'m Model<'m>,
    /// The routes between nodes; forks and sinks have no choice.
    reached: BTreeMap<(usize, usize), Option<Choice>>,
    /// By node: the class that comes and those that leave.
    switches: BTreeMap<usize, BTreeMap<String, BTreeMap<String, f64>>>,
}

impl Walk<'_> {
    fn all(&mut self, findings: &mut Findings<'_>) {
        let model = self.model;
        let mut next: Vec<(usize, usize)> =
            model.classes.iter().enumerate().map(|(at, class)| (class.reference, at)).collect();
        while let Some((node, class)) = next.pop() {
            if self.reached.contains_key(&(node, class)) {
                continue;
            }
            self.reached.insert((node, class), None);
            let read = &model.nodes[node];
            match read.kind {
                NodeKind::Sink => continue,
                NodeKind::Fork => {
                    next.extend(read.targets.iter().map(|target| (*target, class)));
                    continue;
                }
                NodeKind::ClassSwitch => {
                    for leaving in self.switched(node, class, findings) {
                        if leaving != class {
                            // The customer leaves as one of the other class, by the route of that class.
                            next.push((node, leaving));
                        }
                    }
                }
                _ => {}
            }
            let choice = routes::read(model, read, class, findings);
            next.extend(choice.iter().flat_map(|choice| &choice.nodes).map(|target| (*target, class)));
            self.reached.insert((node, class), choice);
        }
    }

    /// The classes that leave a class switch.
    fn switched(&mut self, node: usize, class: usize, findings: &mut Findings<'_>) -> Vec<usize> {
        let model = self.model;
        let name = &model.classes[class].name;
        let Some(section) = model.nodes[node].section(1) else { return Vec::new() };
        let Some(row) = section.parameter("matrix").and_then(|matrix| matrix.of_class(name)) else {
            return Vec::new();
        };
        let mut shares = BTreeMap::new();
        for (to, cell) in row.by_class() {
            let share: Option<f64> = findings.number(cell, cell.value().unwrap_or_default());
            match (model.class(to), share) {
                (None, _) => findings.error(cell, format!("is for a class {to:?} that is not there")),
                (Some(_), Some(share)) if share > 0.0 => {
                    shares.insert(to.to_owned(), share);
                }
                _ => {}
            }
        }
        let leaving = shares.keys().filter_map(|name| model.class(name)).collect();
        self.switches.entry(node).or_default().insert(name.clone(), shares);
        leaving
    }

    /// The classes that come to a node which is a station for them.
    fn here(&self, node: usize) -> Vec<usize> {
        let classes = 0..self.model.classes.len();
        classes
            .filter(|class| {
                self.reached.contains_key(&(node, *class)) && !self.model.is_thinking(node, *class)
            })
            .collect()
    }

    fn station(&mut self, node: usize, findings: &mut Findings<'_>) -> Option<Station> {
        let read = &self.model.nodes[node];
        let here = self.here(node);
        if here.is_empty() {
            return None;
        }
        let kind = match read.kind {
            NodeKind::Source | NodeKind::Sink => return None,
            NodeKind::Delay => servers::read(self.model, read, &here, true, findings)?,
            NodeKind::Queue => servers::read(self.model, read, &here, false, findings)?,
            NodeKind::Router => StationKind::Router,
            NodeKind::ClassSwitch => {
                StationKind::ClassSwitch { to: self.switches.remove(&node).unwrap_or_default() }
            }
            NodeKind::Fork => fork(self.model, read, findings)?,
            NodeKind::Join => join(read, findings)?,
        };
        Some(Station { name: read.name.clone(), kind, visits: PerClass::Same(1.0) })
    }

    fn routes(&self) -> Vec<Route> {
        let model = self.model;
        let mut routes = Vec::new();
        let classes = || 0..model.classes.len();
        // From outside: from the source, the delay in which customers think, or directly to the reference station.
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
        self.add(&mut routes, Place::Outside, from_outside.collect());
        for (node, read) in model.nodes.iter().enumerate() {
            let from_here = self.here(node).into_iter().filter_map(|class| {
                let choice = self.reached.get(&(node, class))?.as_ref()?;
                Some((class, choice.strategy.clone()))
            });
            if read.kind != NodeKind::Source {
                self.add(&mut routes, Place::Station(read.name.clone()), from_here.collect());
            }
        }
        routes
    }

    /// Routes from a place: one for all classes that go the same way.
    fn add(&self, routes: &mut Vec<Route>, from: Place, choices: Vec<(usize, Strategy)>) {
        let mut groups: Vec<(Strategy, BTreeSet<usize>)> = Vec::new();
        for (class, strategy) in choices {
            match groups.iter_mut().find(|(known, _)| *known == strategy) {
                Some((_, classes)) => {
                    classes.insert(class);
                }
                None => groups.push((strategy, BTreeSet::from([class]))),
            }
        }
        // In JMT a common choice of several classes has a state per class (whose turn it is), as separate routes have
        // here.
        let remembers = |strategy: &Strategy| {
            matches!(strategy, Strategy::RoundRobin(_) | Strategy::WeightedRoundRobin(_))
        };
        let alone = groups.len() == 1;
        for (strategy, classes) in groups {
            let name = |class: &usize| self.model.classes[*class].name.clone();
            let route = |classes| Route { from: from.clone(), classes, strategy: strategy.clone() };
            if remembers(&strategy) && classes.len() > 1 {
                routes.extend(classes.iter().map(|class| route(vec![name(class)])));
            } else if alone {
                routes.push(route(Vec::new()));
            } else {
                routes.push(route(classes.iter().map(name).collect()));
            }
        }
    }
}

/// A fork that sends as many siblings to each node it is connected with.
fn fork(model: &Model<'_>, node: &Node<'_>, findings: &mut Findings<'_>) -> Option<StationKind> {
    let section = node.section(2)?;
    let value = |name: &str| section.parameter(name).and_then(Element::value);
    let to = node.targets.iter().map(|target| Place::Station(model.nodes[*target].name.clone())).collect();
    if value("isSimplifiedFork") != Some("true") && !is_plain(section) {
        findings.error(
            section,
            format!(
                "of the node {:?} is not supported: siblings go to all nodes it is connected with",
                node.name
            ),
        );
        return None;
    }
    let tasks = match section.parameter("jobsPerLink") {
        // The branches of a strategy define the targets.
        Some(tasks) if value("isSimplifiedFork") == Some("true") => {
            findings.number(tasks, tasks.value().unwrap_or_default())?
        }
        _ => 1,
    };
    Some(StationKind::Fork { to, tasks })
}

/// Whether all branches of a fork are taken, by one sibling each.
fn is_plain(section: &Element) -> bool {
    let Some(strategies) = section.parameter("ForkStrategy") else { return true };
    let is_one = |value: Option<&str>| value.and_then(|value| value.parse().ok()) == Some(1.0);
    strategies.by_class().all(|(_, strategy)| {
        strategy.java_class() == "ProbabilitiesFork"
            && strategy.inner().flat_map(Element::inner).all(|branch| {
                let taken =
                    branch.inner_named("outUnitProbability").and_then(|out| out.inner_named("probability"));
                let numbers: Vec<&Element> =
                    branch.inner_named("JobsPerLinkDis").into_iter().flat_map(Element::inner).collect();
                let single = |entry: &&Element| is_one(entry.inner_named("numbers").and_then(Element::value));
                is_one(taken.and_then(Element::value)) && numbers.len() == 1 && numbers.iter().all(single)
            })
    })
}

/// A join that waits for all siblings.
fn join(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<StationKind> {
    let section = node.section(0)?;
    let strategies = section.parameter("JoinStrategy");
    for (_, strategy) in strategies.into_iter().flat_map(Element::by_class) {
        let waits_for = strategy.inner_named("numRequired").and_then(Element::value);
        if strategy.java_class() != "NormalJoin" || waits_for.is_some_and(|number| number != "-1") {
            findings.error(
                strategy,
                format!("of the node {:?} is not supported: a join waits for all siblings", node.name),
            );
            return None;
        }
    }
    Some(StationKind::Join)
}
