//! Reads the classes, nodes and connections of a file.

use std::collections::BTreeMap;

use crate::element::Element;
use crate::findings::Findings;

/// A class of customers.
pub(super) struct Class {
    pub(super) name: String,
    /// Number of customers of a closed class; `None` for an open class.
    pub(super) users: Option<u64>,
    pub(super) priority: i32,
    /// The reference node: the source of an open class, or the node that customers of a closed class visit once per pass.
    pub(super) reference: usize,
}

/// The kind of a node, which is determined by its three sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Source,
    Sink,
    Delay,
    Queue,
    Router,
    ClassSwitch,
    Fork,
    Join,
}

/// A node.
pub(super) struct Node<'e> {
    pub(super) element: &'e Element,
    pub(super) name: String,
    pub(super) kind: NodeKind,
    pub(super) sections: Vec<&'e Element>,
    /// The targets of its connections, in the order of the file.
    pub(super) targets: Vec<usize>,
}

impl Node<'_> {
    /// The section with this index: 0 input, 1 service, 2 output.
    pub(super) fn section(&self, at: usize) -> Option<&Element> {
        self.sections.get(at).copied()
    }
}

/// The content of the file.
pub(super) struct Model<'e> {
    pub(super) classes: Vec<Class>,
    pub(super) nodes: Vec<Node<'e>>,
    /// The capacity of each node that is alone in a finite capacity region which drops further customers.
    pub(super) region_capacities: BTreeMap<usize, u32>,
}

impl Model<'_> {
    pub(super) fn class(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.name == name)
    }

    pub(super) fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Whether customers of a class think at a node. They do if it is a delay and the reference node of the class.
    pub(super) fn is_thinking(&self, node: usize, class: usize) -> bool {
        self.nodes[node].kind == NodeKind::Delay && self.classes[class].reference == node
    }
}

/// Reads a `<sim>`. Returns `None` and adds findings if a part of it cannot be read.
pub(super) fn read<'e>(sim: &'e Element, findings: &mut Findings<'_>) -> Option<Model<'e>> {
    for child in &sim.children {
        match child.name.as_str() {
            // Measures are ignored because all measures are computed. Preloads are ignored because they do not affect the
            // steady state.
            "userClass" | "node" | "connection" | "measure" | "preload" | "blockingRegion" => {}
            _ => findings.error(child, "is not supported"),
        }
    }
    let mut nodes: Vec<Node<'e>> =
        sim.children_named("node").filter_map(|element| read_node(element, findings)).collect();
    let all_read = nodes.len() == sim.children_named("node").count();
    for connection in sim.children_named("connection") {
        let mut end = |key: &str| {
            let name = findings.attribute(connection, key)?;
            let found = nodes.iter().position(|node| node.name == name);
            if found.is_none() && all_read {
                findings.error(connection, format!("refers to a node {name:?} that does not exist"));
            }
            found
        };
        if let (Some(source), Some(target)) = (end("source"), end("target"))
            && !nodes[source].targets.contains(&target)
        {
            nodes[source].targets.push(target);
        }
    }
    let classes: Vec<Class> = sim
        .children_named("userClass")
        .filter_map(|element| read_class(element, &nodes, all_read, findings))
        .collect();
    findings.errors.is_empty().then_some(Model { classes, nodes, region_capacities: BTreeMap::new() })
}

fn read_node<'e>(element: &'e Element, findings: &mut Findings<'_>) -> Option<Node<'e>> {
    let name = findings.attribute(element, "name")?.to_owned();
    let sections: Vec<&Element> = element.children_named("section").collect();
    let names: Vec<&str> =
        sections.iter().map(|section| section.attribute("className").unwrap_or_default()).collect();
    let kind = match names[..] {
        ["RandomSource", _, "Router"] => NodeKind::Source,
        ["JobSink", ..] => NodeKind::Sink,
        ["Queue", "Delay", "Router"] => NodeKind::Delay,
        ["Queue", "Server" | "PSServer" | "PreemptiveServer", "Router"] => NodeKind::Queue,
        // A logger only records the customers that pass through it.
        ["Queue", "ServiceTunnel" | "LogTunnel", "Router"] => NodeKind::Router,
        ["Queue", "ClassSwitch", "Router"] => NodeKind::ClassSwitch,
        ["Queue", "ServiceTunnel", "Fork"] => NodeKind::Fork,
        ["Join", "ServiceTunnel", "Router"] => NodeKind::Join,
        _ => {
            let known =
                ["RandomSource", "JobSink", "Queue", "Delay", "Server", "PSServer", "PreemptiveServer"];
            let more = ["ServiceTunnel", "LogTunnel", "ClassSwitch", "Fork", "Join", "Router"];
            let unknown =
                sections.iter().zip(&names).find(|(_, name)| !known.contains(*name) && !more.contains(*name));
            match unknown {
                Some((section, _)) => {
                    findings.error(section, format!("of the node {name:?} is not supported"))
                }
                None => findings.error(
                    element,
                    format!("is not a supported kind of node: its sections are {}", names.join(", ")),
                ),
            }
            return None;
        }
    };
    Some(Node { element, name, kind, sections, targets: Vec::new() })
}

fn read_class(
    element: &Element,
    nodes: &[Node<'_>],
    all_read: bool,
    findings: &mut Findings<'_>,
) -> Option<Class> {
    let name = findings.attribute(element, "name")?.to_owned();
    let users = match findings.attribute(element, "type")? {
        "closed" => Some(findings.number_attribute(element, "customers")?),
        "open" => None,
        other => {
            findings.error(element, format!("has the type {other:?}; it must be \"closed\" or \"open\""));
            return None;
        }
    };
    let priority = match element.attribute("priority") {
        Some(_) => findings.number_attribute(element, "priority")?,
        None => 0,
    };
    let reference = findings.attribute(element, "referenceSource")?;
    let Some(reference) = nodes.iter().position(|node| node.name == reference) else {
        // Errors in nodes have already been reported.
        if all_read {
            findings.error(element, format!("refers to a node {reference:?} that does not exist"));
        }
        return None;
    };
    let kind = nodes[reference].kind;
    if users.is_none() != (kind == NodeKind::Source) || kind == NodeKind::Sink {
        findings.error(
            element,
            "has the wrong reference: it must be a source for an open class, and another station for a closed class",
        );
        return None;
    }
    Some(Class { name, users, priority, reference })
}
